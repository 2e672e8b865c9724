"""The sandbox with a planted change: a service that answers differently than before."""

import re
from collections.abc import Callable
from dataclasses import replace

from entrez_kit.local.eutils.replies import HTML, LocalReply, answer_failure
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.local.eutils.service import Endpoint
from entrez_kit.sandbox.server import Sandbox

Change = Callable[[LocalReply, LocalRequest], LocalReply]

MAINTENANCE = b"<!DOCTYPE html>\n<html><head><title>Maintenance</title></head><body><p>Back soon.</p></body></html>"


def drift(sandbox: Sandbox, endpoint: str, change: Change) -> None:
    """Make an endpoint answer differently from now on."""

    def changed(original: Endpoint) -> Endpoint:
        def change_reply(request: LocalRequest, state: LocalState) -> LocalReply:
            return change(original(request, state), request)

        return change_reply

    for path, (name, original) in list(sandbox._routes.items()):  # the endpoints that were registered
        if name == endpoint:
            sandbox.route(path, name, changed(original))


def replace_text(before: str, after: str) -> Change:
    """Replace the matches of a regular expression; there must be one."""

    def change(reply: LocalReply, request: LocalRequest) -> LocalReply:
        body, times = re.subn(before.encode(), after.encode(), reply.body)
        return replace(reply, body=body) if times else reply

    return change


def reverse_records(record: str) -> Change:
    """Send the records in the opposite order."""

    def change(reply: LocalReply, request: LocalRequest) -> LocalReply:
        found = list(re.finditer(record.encode(), reply.body, re.DOTALL))
        if not found:
            return reply
        body = b"".join(one[0] for one in reversed(found))
        return replace(reply, body=reply.body[: found[0].start()] + body + reply.body[found[-1].end() :])

    return change


def repeat_first_reply() -> Change:
    """Send the first reply again and again."""
    sent: list[LocalReply] = []

    def change(reply: LocalReply, request: LocalRequest) -> LocalReply:
        sent.append(reply)
        return sent[0]

    return change


def send_status(number: int, body: bytes = b"", *headers: tuple[str, str]) -> Change:
    """Answer with a status and an empty reply."""
    return lambda reply, request: LocalReply(body, HTML, number, headers)


def send_page(reply: LocalReply, request: LocalRequest) -> LocalReply:
    """Answer with a web page."""
    return LocalReply(MAINTENANCE, HTML)


def send_error(endpoint: str, text: str, number: int = 200) -> Change:
    """Answer with an error."""
    return lambda reply, request: answer_failure(endpoint, text, retmode=request.retmode, status=number)

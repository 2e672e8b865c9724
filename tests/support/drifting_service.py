"""The sandbox with a planted change: a service that does not answer any more as it did."""

import re
from collections.abc import Callable
from dataclasses import replace

from entrez_kit.sandbox.replies import HTML, SandboxReply, failure
from entrez_kit.sandbox.requesting import SandboxRequest, SandboxState
from entrez_kit.sandbox.server import Endpoint, Sandbox

Change = Callable[[SandboxReply, SandboxRequest], SandboxReply]

MAINTENANCE = b"<!DOCTYPE html>\n<html><head><title>Maintenance</title></head><body><p>Back soon.</p></body></html>"


def drift(sandbox: Sandbox, endpoint: str, change: Change) -> None:
    """Let an endpoint answer otherwise from now on."""

    def changed(original: Endpoint) -> Endpoint:
        def answer(request: SandboxRequest, state: SandboxState) -> SandboxReply:
            return change(original(request, state), request)

        return answer

    for path, (name, original) in list(sandbox._routes.items()):
        if name == endpoint:
            sandbox.route(path, name, changed(original))


def written(before: str, after: str) -> Change:
    """Write something else wherever a regular expression matches; it has to match."""

    def change(reply: SandboxReply, request: SandboxRequest) -> SandboxReply:
        body, times = re.subn(before.encode(), after.encode(), reply.body)
        return replace(reply, body=body) if times else reply

    return change


def reversed_records(record: str) -> Change:
    """Send the records in the opposite order."""

    def change(reply: SandboxReply, request: SandboxRequest) -> SandboxReply:
        found = list(re.finditer(record.encode(), reply.body, re.DOTALL))
        if not found:
            return reply
        body = b"".join(one[0] for one in reversed(found))
        return replace(reply, body=reply.body[: found[0].start()] + body + reply.body[found[-1].end() :])

    return change


def repeated() -> Change:
    """Send the first reply again and again."""
    sent: list[SandboxReply] = []

    def change(reply: SandboxReply, request: SandboxRequest) -> SandboxReply:
        sent.append(reply)
        return sent[0]

    return change


def status(number: int, body: bytes = b"", *headers: tuple[str, str]) -> Change:
    """Answer with a status and nothing else that counts."""
    return lambda reply, request: SandboxReply(body, HTML, number, headers)


def page(reply: SandboxReply, request: SandboxRequest) -> SandboxReply:
    """Answer with a page for people."""
    return SandboxReply(MAINTENANCE, HTML)


def words(endpoint: str, text: str, number: int = 200) -> Change:
    """Answer with an error."""
    return lambda reply, request: failure(endpoint, text, retmode=request.retmode, status=number)

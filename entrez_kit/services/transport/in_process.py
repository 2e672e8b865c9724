"""Answer calls in this process: no connection, rate limit, cache or retries, but all checks of replies."""

import time
from collections.abc import Callable
from urllib.parse import urlencode

from entrez_kit.base import tracing
from entrez_kit.base.redaction import Redactor
from entrez_kit.base.settings import Settings
from entrez_kit.services.transport import (
    Call,
    Outgoing,
    Reply,
    Responder,
    T,
    in_flight,
    list_credentials,
    replies,
)
from entrez_kit.services.transport.retry import Retryable


def answer_call(
    outgoing: Outgoing[T],
    respond: Responder,
    settings: Settings,
    shown_url: str,
    watch: Callable[[Call, replies.Incoming], None] | None,
) -> Reply[T]:
    """Return the checked reply of a responder.

    Raises:
        EntrezKitError: the responder refuses the call, or its answer is an error or fails the checks.
    """
    call = outgoing.call
    in_flight.stop_if_unneeded()
    outgoing.sent += 1
    credentials = list_credentials(settings, call.service, call.url)
    query = "&".join(part for part in (call.query, urlencode(credentials)) if part)
    answer = (
        respond("POST", call.url, query)
        if call.method == "POST"
        else respond("GET", f"{call.url}?{query}" if query else call.url, "")
    )
    in_flight.mark_sent()
    redactor = Redactor(settings.secrets, settings.keys)
    headers = {**dict(answer.headers), "Content-Type": answer.content_type}
    incoming = replies.redact(call, replies.Incoming(answer.status, headers, answer.body), redactor)
    body = incoming.body
    if watch is not None:
        watch(call, incoming)
    in_flight.add_received(len(body))
    fidelity = headers.get(tracing.FIDELITY_HEADER, "")
    try:
        checked = replies.check_reply(call, incoming, redactor, frozenset(name for name, _ in credentials))
    except Retryable as exc:  # the same request gets the same answer
        exc.error.details["attempts"] = outgoing.sent
        raise exc.error from None
    if (trace := tracing.get_current_trace()) is not None:
        trace.limit_fidelity(fidelity or tracing.FIDELITIES[0])
        trace.copy = settings.copy_label
    return Reply(
        content=body,
        value=checked.value,
        url=shown_url,
        method=call.method,
        from_cache=False,
        status=200,
        attempts=1,
        created=time.time(),
        content_type=incoming.content_type,
        fidelity=fidelity,
    )

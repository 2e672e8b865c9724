"""OpenTelemetry spans of operations and requests.

This module does not import OpenTelemetry. It is imported only if the program has already imported OpenTelemetry: the
server, a command with OTEL_EXPORTER_OTLP_ENDPOINT, or a Python program with a tracer provider.
"""

import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.redaction import Redactor

if TYPE_CHECKING:
    from entrez_kit.base.settings import Settings
    from entrez_kit.services.transport import Outgoing


@contextmanager
def open_span(name: str, *, is_request: bool = False, **attributes: Any) -> Iterator[Any]:
    """Start a span and make it the current one."""
    trace: Any = sys.modules["opentelemetry.trace"]
    with trace.get_tracer("entrez_kit").start_as_current_span(
        name,
        kind=trace.SpanKind.CLIENT if is_request else trace.SpanKind.INTERNAL,
        record_exception=False,
        set_status_on_exception=False,
        attributes=attributes,
    ) as span:
        yield span


@contextmanager
def operation_span(name: str, settings: "Settings") -> Iterator[None]:
    """Open the span of an operation, and record the outcome of the operation on it."""

    def list_ids() -> dict[str, Any]:
        call = tracing.get_current_trace()
        return {"entrez_kit.request_id": call.request_id} if call is not None else {}

    with open_span(name) as span, _record_outcome(span, Redactor(settings.secrets), list_ids):
        yield


@contextmanager
def request_span(outgoing: "Outgoing[Any]", redactor: "Redactor") -> Iterator[None]:
    """Open the span of a request, and record its outcome on it."""
    call = outgoing.call

    def describe_reply() -> dict[str, Any]:
        reply = outgoing.reply
        if reply is None:
            return {}
        return {
            "entrez_kit.from_cache": reply.from_cache,
            "entrez_kit.attempts": reply.attempts,
            "http.response.status_code": reply.status,
            "http.response.body.size": len(reply.content),
        }

    attributes = {"entrez_kit.service": call.service, "entrez_kit.endpoint": call.endpoint}
    name = f"{call.service} {call.endpoint}"
    with open_span(name, is_request=True, **attributes) as span, _record_outcome(span, redactor, describe_reply):
        yield


@contextmanager
def _record_outcome(span: Any, redactor: "Redactor", list_attributes: Callable[[], dict[str, Any]]) -> Iterator[None]:
    """Record the outcome of the block on a span."""
    started = time.monotonic()
    error: EntrezKitError | None = None
    try:
        yield
    except EntrezKitError as exc:
        error = exc
        raise
    finally:
        record_outcome(span, error, redactor, seconds=time.monotonic() - started, **list_attributes())


def record_outcome(
    span: Any, error: EntrezKitError | None, redactor: "Redactor | None", *, seconds: float, **attributes: Any
) -> None:
    """Record the outcome of a call on its span. The caller handles the error itself.

    The texts of an error may quote the caller and the service, so they are redacted and truncated.
    """
    span.set_attributes(
        {
            "entrez_kit.success": error is None,
            "entrez_kit.duration_ms": round(1000 * seconds, 1),
            **({"entrez_kit.error.code": error.code} if error is not None else {}),
            **({"entrez_kit.error.reason": error.reason} if error is not None and error.reason else {}),
            **attributes,
        }
    )
    if error is not None:
        redactor = redactor or Redactor(())
        trace_text = redactor.redact_traceback("".join(traceback.format_exception(error)))
        message = redactor.redact_field(error.message)
        span.record_exception(error, {"exception.message": message, "exception.stacktrace": trace_text})
        span.set_status(sys.modules["opentelemetry.trace"].StatusCode.ERROR, f"{error.code}: {message}")

"""Spans: what OpenTelemetry is told about a call, and where it sends that. Imports nothing of the server itself.

The MCP SDK opens a span per message. Here its tool calls get an outcome, and requests to services spans of their own.
The exporter is the extra ``entrez-kit[otel]``; where to and how is set by OpenTelemetry's own OTEL_* variables.
"""

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from opentelemetry import context, trace
from opentelemetry.trace import NonRecordingSpan, ProxyTracerProvider, Span, SpanContext, StatusCode, TraceFlags

from entrez_kit._version import __version__
from entrez_kit.errors import EntrezKitError

SERVICE: Final = "entrez-kit"

logger = logging.getLogger("entrez_kit.server")


def set_up_exporter() -> bool:
    """Send spans to an OTLP collector where the extra is installed; return whether it is.

    To be called before anything of the MCP SDK is imported. A provider that is there already stays.
    """
    if not isinstance(trace.get_tracer_provider(), ProxyTracerProvider):
        return True
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        return False
    resource = Resource.create({"service.name": SERVICE, "service.version": __version__})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return True


def shut_down_exporter(seconds: float) -> None:
    """Send what is still held back, but do not wait longer than this."""
    provider: Any = trace.get_tracer_provider()
    flush = getattr(provider, "force_flush", None)
    if flush is not None:
        flush(int(1000 * seconds))


def record_success(span: Span, *, seconds: float, **attributes: Any) -> None:
    """Note on a span that its call went well."""
    span.set_attributes({"entrez_kit.success": True, "entrez_kit.duration_ms": _milliseconds(seconds), **attributes})


def record_error(span: Span, error: EntrezKitError, *, seconds: float, **attributes: Any) -> None:
    """Note on a span that its call failed, and how; the error itself was dealt with elsewhere."""
    span.set_attributes(
        {
            "entrez_kit.success": False,
            "entrez_kit.duration_ms": _milliseconds(seconds),
            "entrez_kit.error.code": error.code,
            **({"entrez_kit.error.reason": error.reason} if error.reason else {}),
            **attributes,
        }
    )
    span.record_exception(error)
    span.set_status(StatusCode.ERROR, f"{error.code}: {error.message}")


def _milliseconds(seconds: float) -> float:
    return round(1000 * seconds, 1)


@contextmanager
def traceable() -> Iterator[None]:
    """Give a message a trace id even where nothing records spans, so that its log lines can be told apart.

    Does nothing where spans are recorded.
    """
    if not isinstance(trace.get_tracer_provider(), ProxyTracerProvider):
        yield
        return
    invented = SpanContext(
        trace_id=secrets.randbits(128) or 1,
        span_id=secrets.randbits(64) or 1,
        is_remote=False,
        trace_flags=TraceFlags(TraceFlags.DEFAULT),
    )
    token = context.attach(trace.set_span_in_context(NonRecordingSpan(invented)))
    try:
        yield
    finally:
        context.detach(token)


def current_ids() -> tuple[str, str] | None:
    """Return trace id and span id of the running call, as log lines show them."""
    found = trace.get_current_span().get_span_context()
    if not found.is_valid:
        return None
    return trace.format_trace_id(found.trace_id), trace.format_span_id(found.span_id)

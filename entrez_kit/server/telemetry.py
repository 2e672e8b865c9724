"""OpenTelemetry spans of calls and their exporter. Imports no other module of the server.

The MCP SDK opens a span per message. This module adds the outcome of tool calls, and a span for each request to a
service. The exporter is the extra ``entrez-kit[otel]``; it also reads OpenTelemetry's OTEL_* variables.
"""

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final
from urllib.parse import urlsplit

from opentelemetry import context, trace
from opentelemetry.trace import NonRecordingSpan, ProxyTracerProvider, SpanContext, TraceFlags

from entrez_kit.base import __version__
from entrez_kit.base.extras import install_line
from entrez_kit.base.logs import call_ids
from entrez_kit.base.redaction import MAX_FIELD
from entrez_kit.base.settings import Settings

SERVICE: Final = "entrez-kit"
TRACES_PATH: Final = "/v1/traces"
"""The path for spans on a collector."""

_message: ContextVar[str | None] = ContextVar("entrez_kit_message", default=None)


def set_up_exporter(settings: Settings) -> str | None:
    """Export spans to the configured collector; return a message if that is not possible.

    Call it before importing the MCP SDK. An existing tracer provider is not replaced.
    """
    endpoint = settings.otel_exporter_otlp_endpoint
    if endpoint is None or not isinstance(trace.get_tracer_provider(), ProxyTracerProvider):
        return None
    if urlsplit(endpoint).scheme not in ("http", "https"):
        return "OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https address, so no spans are sent."
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import SpanLimits, TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        return f"OTEL_EXPORTER_OTLP_ENDPOINT is set, but sending spans needs the extra: {install_line('otel')}."
    resource = Resource.create({"service.name": SERVICE, "service.version": __version__})
    # At exit the server sends the last spans itself, without waiting for an unreachable collector.
    limits = SpanLimits(max_attribute_length=MAX_FIELD * 10)  # also for spans of the SDK and its libraries
    provider = TracerProvider(resource=resource, shutdown_on_exit=False, span_limits=limits)
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}{TRACES_PATH}")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return None


def flush(seconds: float) -> None:
    """Send the remaining spans, for at most ``seconds``."""
    provider: Any = trace.get_tracer_provider()
    force_flush = getattr(provider, "force_flush", None)
    if force_flush is not None:
        sender = threading.Thread(target=force_flush, name="entrez-kit spans", daemon=True)
        sender.start()
        sender.join(seconds)


@contextmanager
def answering(message_id: str) -> Iterator[None]:
    """Add the ids of a message to the lines logged in this block.

    The message has a trace id even if no spans are recorded, so that its lines can be found.
    """
    message = _message.set(message_id)
    span = None
    if isinstance(trace.get_tracer_provider(), ProxyTracerProvider):
        invented = SpanContext(
            trace_id=secrets.randbits(128) or 1,
            span_id=secrets.randbits(64) or 1,
            is_remote=False,
            trace_flags=TraceFlags(TraceFlags.DEFAULT),
        )
        span = context.attach(trace.set_span_in_context(NonRecordingSpan(invented)))
    try:
        yield
    finally:
        if span is not None:
            context.detach(span)
        _message.reset(message)


def list_line_ids() -> dict[str, str]:
    """Return the ids of a log line: call, message and span.

    ``request_id`` is the id of the call, ``parent_request_id`` that of the message; outside a call, ``request_id`` is
    the id of the message.
    """
    ids, message = call_ids(), _message.get()
    if message is not None:
        ids["parent_request_id" if ids else "request_id"] = message
    span = trace.get_current_span().get_span_context()
    if span.is_valid:
        ids |= {"trace_id": trace.format_trace_id(span.trace_id), "span_id": trace.format_span_id(span.span_id)}
    return ids

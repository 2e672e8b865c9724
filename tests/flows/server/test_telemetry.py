"""Spans: nested from message to request, with outcome, duration and error code."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli
from fixture_types import KitFor
from mcp_helpers import ServicesFor, connect, read_tool_error

from entrez_kit.base import logs
from entrez_kit.base.errors import EntrezKitError, UpstreamError
from entrez_kit.base.settings import load_settings
from entrez_kit.local.eutils.listener import LoopbackServer
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.telemetry import list_line_ids, set_up_exporter

pytest.importorskip("opentelemetry.sdk", reason="the extra `otel` is not installed")

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    """Record spans; each process has one provider, which cannot be replaced."""
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider(shutdown_on_exit=False)
        trace.set_tracer_provider(provider)
    kept = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    return kept


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[InMemorySpanExporter]:
    """Record the spans of one test."""
    exporter.clear()
    yield exporter
    exporter.clear()


def find_span(exporter: InMemorySpanExporter, name: str) -> ReadableSpan:
    """Return the only server or client span with a name."""
    found = [span for span in exporter.get_finished_spans() if span.name == name]
    assert len(found) == 1, [span.name for span in exporter.get_finished_spans()]
    return found[0]


def get_attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


@pytest.mark.long
@pytest.mark.anyio
async def test_requests_to_ncbi_are_spans_below_the_tools(
    services_for: ServicesFor, sandbox: Sandbox, spans: InMemorySpanExporter, era: str
) -> None:
    arguments = {"query_term": "crispr", "fetch_brief_summaries": 2}
    async with connect(services_for(sandbox), era=era) as client:
        spans.clear()
        result = await client.call_tool("pubmed_search_articles", arguments)
        first = {name: find_span(spans, name) for name in ("eutils esearch", "eutils esummary")}
        tool = find_span(spans, "tools/call pubmed_search_articles")
        spans.clear()
        await client.call_tool("pubmed_search_articles", {**arguments, "fetch_brief_summaries": 1})
        cached = get_attributes(find_span(spans, "eutils esearch"))
        spans.clear()
        await client.call_tool("pubmed_search_articles", arguments)
        again = get_attributes(find_span(spans, "tools/call pubmed_search_articles"))

    assert again["entrez_kit.success"] is True
    assert result.meta is not None
    assert tool.context is not None
    for span in first.values():
        assert span.parent is not None
        assert span.context is not None
        assert span.parent.span_id == tool.context.span_id
        assert span.context.trace_id == tool.context.trace_id
        found = get_attributes(span)
        assert found["entrez_kit.success"] is True
        assert found["entrez_kit.duration_ms"] > 0
        assert (found["entrez_kit.from_cache"], found["entrez_kit.attempts"]) == (False, 1)
        assert found["http.response.status_code"] == 200
    whole = get_attributes(tool)
    assert whole["entrez_kit.success"] is True
    assert whole["entrez_kit.duration_ms"] >= get_attributes(first["eutils esearch"])["entrez_kit.duration_ms"]
    assert whole["entrez_kit.request_id"] == result.meta["request_id"]
    assert (cached["entrez_kit.from_cache"], cached["entrez_kit.attempts"]) == (True, 0)


@pytest.mark.anyio
async def test_texts_of_an_error_on_a_span_are_redacted_and_shortened(
    services_for: ServicesFor, sandbox: Sandbox, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = services_for(sandbox, ncbi_api_key="canary0123456789abcdef0123456789abcd")
    hostile = "a\nforged\x1b[2J canary0123456789abcdef0123456789abcd " + "x" * 1_000_000

    def fail(*arguments: object, **parameters: object) -> None:
        raise UpstreamError(hostile)

    monkeypatch.setattr(type(services.eutils), "esearch", fail)
    async with connect(services) as client:
        spans.clear()
        await client.call_tool("pubmed_search_articles", {"query_term": "crispr"})
    span = find_span(spans, "tools/call pubmed_search_articles")
    (event,) = span.events

    for text in (span.status.description or "", *(str(value) for value in (event.attributes or {}).values())):
        assert "canary" not in text
        assert "\x1b" not in text
        assert len(text) < 30_000


@pytest.mark.anyio
async def test_handled_errors_are_recorded_on_the_spans(
    services_for: ServicesFor, spans: InMemorySpanExporter, era: str
) -> None:
    with Sandbox(faults={"500": 1.0}, enforce_limits=False) as failing:
        async with connect(services_for(failing, ncbi_max_retries=1), era=era) as client:
            spans.clear()
            error = read_tool_error(await client.call_tool("pubmed_search_articles", {"query_term": "crispr"}))

    for name in ("tools/call pubmed_search_articles", "eutils esearch"):
        span = find_span(spans, name)
        found = get_attributes(span)
        assert span.status.status_code is StatusCode.ERROR
        assert (found["entrez_kit.success"], found["entrez_kit.error.code"]) == (False, "UPSTREAM_ERROR")
        assert found["entrez_kit.duration_ms"] > 0
        (event,) = [event for event in span.events if event.name == "exception"]
        assert "UpstreamError" in str((event.attributes or {})["exception.type"])
    assert error["code"] == "UPSTREAM_ERROR"


@pytest.mark.anyio
async def test_invalid_arguments_are_recorded_as_well(
    services_for: ServicesFor, sandbox: Sandbox, spans: InMemorySpanExporter
) -> None:
    async with connect(services_for(sandbox)) as client:
        await client.call_tool("pubmed_search_articles", {})
        await client.call_tool("nothing", {})

    for name, reason in (("pubmed_search_articles", "invalid_arguments"), ("nothing", "unknown_tool")):
        span = find_span(spans, f"tools/call {name}")
        assert span.status.status_code is StatusCode.ERROR
        assert get_attributes(span)["entrez_kit.error.reason"] == reason


@pytest.mark.anyio
async def test_the_callers_trace_continues_in_our_spans(
    services_for: ServicesFor, sandbox: Sandbox, spans: InMemorySpanExporter
) -> None:
    meta: Any = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    async with connect(services_for(sandbox), era="2025-11-25") as client:
        await client.call_tool("pubmed_search_articles", {"query_term": "crispr"}, meta=meta)

    context = find_span(spans, "eutils esearch").context
    assert context is not None
    own = find_span(spans, "MCP send tools/call pubmed_search_articles").context
    assert own is not None
    assert context.trace_id in (own.trace_id, 0x0AF7651916CD43DD8448EB211C80319C)


@pytest.mark.anyio
async def test_log_lines_name_the_spans(
    services_for: ServicesFor, sandbox: Sandbox, spans: InMemorySpanExporter, tmp_path: Path
) -> None:
    stream = io.StringIO()
    with logs.logging_to(load_settings({"mcp_log_level": "debug"}), stream, ids=list_line_ids):
        async with connect(services_for(sandbox)) as client:
            await client.call_tool("pubmed_search_articles", {"query_term": "crispr"})
    entries = [json.loads(line) for line in stream.getvalue().splitlines()]
    tool, request = (
        find_span(spans, "tools/call pubmed_search_articles").context,
        find_span(spans, "eutils esearch").context,
    )
    assert tool is not None
    assert request is not None

    (answered,) = [entry for entry in entries if "tool" in entry]
    (message,) = [entry for entry in entries if entry.get("method") == "tools/call"]
    (sent,) = [entry for entry in entries if "esearch answered" in entry["message"]]
    assert answered["trace_id"] == message["trace_id"] == sent["trace_id"] == trace.format_trace_id(tool.trace_id)
    assert answered["span_id"] == message["span_id"] == trace.format_span_id(tool.span_id)
    assert sent["span_id"] == trace.format_span_id(request.span_id)


@pytest.mark.anyio
async def test_spans_have_no_secrets(services_for: ServicesFor, sandbox: Sandbox, spans: InMemorySpanExporter) -> None:
    canaries = {"ncbi_api_key": "canary-key-1234", "ncbi_admin_email": "canary@example.org"}
    services = services_for(sandbox, ncbi_max_retries=0, **canaries)
    async with connect(services) as client:
        await client.call_tool("pubmed_search_articles", {"query_term": "crispr"})
        sandbox.stop()
        await client.call_tool("pubmed_search_articles", {"query_term": "insulin"})
    everything = "".join(span.to_json() for span in spans.get_finished_spans())

    assert "exception" in everything
    assert "canary" not in everything


# The exporter


class Collector:
    """Receives spans like an OTLP collector."""

    def __init__(self) -> None:
        received: list[tuple[str, bytes]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                received.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *arguments: object) -> None:
                """Print nothing."""

        self.received = received
        self._server = LoopbackServer(Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "Collector":
        self._server.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.end()


@pytest.mark.process
def test_the_real_program_sends_its_spans_before_it_ends(sandbox: Sandbox) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra `otel` is not installed")
    from mcp_helpers import QUICK, Host, make_command, make_environment

    with Collector() as collector:
        host = Host.start(make_command("serve"), make_environment(sandbox, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url))
        try:
            host.greet()
            host.call("pubmed_search_articles", {"query_term": "crispr"})
            status, seconds = host.leave()
        finally:
            host.close()

    assert (status, seconds < QUICK) == (0, True)
    (path, body) = collector.received[0]
    assert path == "/v1/traces"
    for word in (b"entrez-kit", b"tools/call pubmed_search_articles", b"eutils esearch", b"entrez_kit.success"):
        assert word in body


@pytest.mark.process
def test_an_unreachable_collector_causes_no_delay(sandbox: Sandbox) -> None:
    from mcp_helpers import QUICK, Host, make_command, make_environment

    host = Host.start(
        make_command("serve"), make_environment(sandbox, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    )
    try:
        host.greet()
        host.call("pubmed_search_articles", {"query_term": "crispr"})
        status, seconds = host.leave()
    finally:
        host.close()

    assert (status, seconds < QUICK) == (0, True)


@pytest.mark.process
def test_without_an_endpoint_no_exporter_is_created() -> None:
    code = (
        "from entrez_kit.server.telemetry import set_up_exporter\n"
        "from entrez_kit.base.settings import load_settings\n"
        "from opentelemetry import trace\n"
        "import sys\n"
        "assert set_up_exporter(load_settings(environ={'HOME': '/nonexistent'})) is None\n"
        "assert type(trace.get_tracer_provider()).__name__ == 'ProxyTracerProvider'\n"
        "assert 'mcp.shared' not in sys.modules\n"  # where the SDK gets its tracer
        "assert 'opentelemetry.sdk' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, encoding="utf-8")

    assert done.returncode == 0, done.stderr


@pytest.mark.process
def test_without_the_extra_a_remark_is_logged() -> None:
    code = (
        "import sys\n"
        "sys.modules['opentelemetry.exporter'] = None\n"
        "from entrez_kit.server.telemetry import set_up_exporter\n"
        "from entrez_kit.base.settings import load_settings\n"
        "print(set_up_exporter(load_settings({'otel_exporter_otlp_endpoint': 'http://127.0.0.1:9'})))\n"
        "print(set_up_exporter(load_settings({'otel_exporter_otlp_endpoint': 'collector'})))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")

    assert "entrez-kit[otel]" in done.stdout.splitlines()[0]
    assert "not an http or https address" in done.stdout.splitlines()[1]


def test_an_existing_provider_is_not_replaced(exporter: InMemorySpanExporter) -> None:
    before = trace.get_tracer_provider()
    assert set_up_exporter(load_settings({"otel_exporter_otlp_endpoint": "http://127.0.0.1:9"})) is None
    assert trace.get_tracer_provider() is before


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_a_command_is_a_span_above_its_requests(cli: Cli, spans: InMemorySpanExporter, form: str) -> None:
    assert cli("fetch", "99000001", "-f", form).status == 0

    operation, request = find_span(spans, "pubmed_fetch_contents"), find_span(spans, "eutils efetch")
    assert operation.context is not None
    assert request.parent is not None
    assert request.parent.span_id == operation.context.span_id
    assert get_attributes(operation)["entrez_kit.success"] is True
    assert get_attributes(request)["entrez_kit.endpoint"] == "efetch"


def test_a_call_in_python_is_a_span_with_its_error(
    kit_for: KitFor, sandbox: Sandbox, spans: InMemorySpanExporter
) -> None:
    kit = kit_for(sandbox)
    kit.search_articles(query_term="crispr")
    assert find_span(spans, "eutils esearch").parent is not None
    spans.clear()

    with pytest.raises(EntrezKitError):
        kit.get_gene(entrez_id="NCBIGene:999999999")

    operation = find_span(spans, "get_gene")
    assert operation.status.status_code is StatusCode.ERROR
    assert get_attributes(operation)["entrez_kit.error.code"] == "ENTITY_NOT_FOUND"


def test_log_lines_name_the_call_and_its_operation(kit_for: KitFor, sandbox: Sandbox) -> None:
    stream = io.StringIO()
    with logs.logging_to(load_settings({"mcp_log_level": "debug"}), stream):
        kit_for(sandbox).search_articles(query_term="crispr")
    entries = [json.loads(line) for line in stream.getvalue().splitlines()]

    assert entries
    assert {entry["operation"] for entry in entries} == {"pubmed_search_articles"}
    assert len({entry["request_id"] for entry in entries}) == 1

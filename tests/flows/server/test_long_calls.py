"""Long calls report progress and can be cancelled; many simultaneous calls share one queue."""

import threading
import time
from typing import Any

import anyio
import pytest
from loopback_transport import hold_first_caller
from mcp_helpers import (
    ProgressLog,
    ServicesFor,
    collect_progress,
    connect,
    read_structured,
    read_tool_error,
)

from entrez_kit.base.errors import RateLimited
from entrez_kit.base.progress import Cancelled, report_progress
from entrez_kit.core.model import Request, Result
from entrez_kit.core.operation import DocumentOperation
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.app import Options
from entrez_kit.server.clients import MAX_WAITING
from entrez_kit.server.workers import Workers
from entrez_kit.services import Services

pytestmark = pytest.mark.anyio


async def wait_until(condition: Any, seconds: float = 5.0) -> None:
    """Wait until a condition is true."""
    with anyio.fail_after(seconds):
        while not condition():
            await anyio.sleep(0.01)


async def make_history(client: Any) -> dict[str, Any]:
    """Search and store the result set; return the arguments that fetch a thousand records of it."""
    found = read_structured(
        await client.call_tool("pubmed_search_articles", {"query_term": "all[sb]", "use_history": True})
    )
    assert found["total_found"] >= 1_000
    return {"query_key": found["query_key"], "web_env": found["web_env"], "retmax": 1_000}


# Progress


@pytest.mark.long
async def test_a_long_call_reports_progress(services_for: ServicesFor, era: str) -> None:
    progress = ProgressLog()
    with Sandbox(records=1_000, enforce_limits=False) as sandbox:
        async with connect(services_for(sandbox), era=era) as client:
            arguments = {**await make_history(client), "reply_limit": 10_000_000}
            result = await client.call_tool("pubmed_fetch_contents", arguments, progress_callback=progress.record)

    assert len(read_structured(result)["articles"]) == 1_000
    assert progress.steps == [(0, 1_000), (500, 1_000), (1_000, 1_000)]


@pytest.mark.long
async def test_no_progress_is_reported_to_a_caller_who_did_not_request_it(services_for: ServicesFor) -> None:
    messages: list[Any] = []

    async def record_progress(message: Any) -> None:
        messages.append(message)

    with Sandbox(records=1_000, enforce_limits=False) as sandbox:
        async with connect(services_for(sandbox), era="2025-11-25") as client:
            client.message_handler = record_progress
            await client.call_tool("pubmed_fetch_contents", await make_history(client))

    assert messages == []


async def test_progress_never_decreases() -> None:
    def work() -> None:
        for done in (0, 5, 5, 3, 8):
            report_progress(done, 8)

    assert await collect_progress(work) == [(0, 8), (5, 8), (8, 8)]


# Cancellation


@pytest.mark.long
async def test_a_cancelled_call_sends_no_further_request(services_for: ServicesFor, era: str) -> None:
    with Sandbox(records=1_000, latency_ms=150, enforce_limits=False) as sandbox:
        async with connect(services_for(sandbox), era=era) as client:
            arguments = await make_history(client)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "pubmed_fetch_contents", arguments)
                await wait_until(lambda: sandbox.requests("efetch") >= 1)
                tasks.cancel_scope.cancel()
            await anyio.sleep(0.6)
            after = sandbox.requests("efetch")
            again = await client.call_tool("pubmed_search_articles", {"query_term": "all[sb]"})

    assert after <= 2, "of five requests"
    assert not again.is_error


async def test_the_queue_slot_of_a_disconnected_caller_is_released() -> None:
    workers = Workers(max_calls=1)
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait(30)
        try:
            report_progress(1, 2)
        except Cancelled:
            ended.set()
            raise

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(workers.run, FakeContext(), work)  # type: ignore[arg-type]
        await wait_until(begun.is_set)
        started = time.monotonic()
        tasks.cancel_scope.cancel()
    assert time.monotonic() - started < 10
    assert workers.running == 1
    with pytest.raises(RateLimited) as caught:
        await workers.run(FakeContext(), lambda: None)  # type: ignore[arg-type]
    assert caught.value.reason == "queue_full"
    go_on.set()
    await wait_until(ended.is_set)
    await wait_until(lambda: workers.running == 0)
    assert await workers.run(FakeContext(), lambda: "served") == "served"  # type: ignore[arg-type]


class FakeSession:
    """A connection whose client did not request progress."""

    async def report_progress(self, done: float, total: float | None) -> None:
        """Discard the report."""


class FakeContext:
    """A message of such a client."""

    session = FakeSession()


# The queue


async def test_identical_simultaneous_calls_send_one_request(
    services_for: ServicesFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_first_caller(monkeypatch, others=19)
    with Sandbox(enforce_limits=False) as sandbox:
        services = services_for(sandbox, no_cache=True)
        documents = []

        async def ask(client: Any) -> None:
            documents.append(
                read_structured(await client.call_tool("pubmed_search_articles", {"query_term": "crispr"}))
            )

        async with connect(services) as one, connect(services) as other, anyio.create_task_group() as tasks:
            for client in (one, other) * 10:
                tasks.start_soon(ask, client)
        assert sandbox.requests("esearch") == 1

    assert len(documents) == 20
    assert all(document == documents[0] for document in documents)


class WaitRequest(Request):
    """A request with a number."""

    number: int


class WaitResult(Result):
    """A result with a number."""

    number: int


def wait_for_ncbi(services: Services, request: WaitRequest) -> WaitResult:
    """Search for a number."""
    services.eutils.esearch(db="pubmed", term=f"{request.number}[uid]")
    return WaitResult(number=request.number)


WAIT = DocumentOperation(
    name="wait_for_ncbi",
    request=WaitRequest,
    result=WaitResult,
    function=wait_for_ncbi,
    command=("wait",),
    toolset="pubmed",
    title="Wait",
)


@pytest.mark.long
async def test_a_hundred_requests_wait_and_the_next_is_refused_at_once(
    services_for: ServicesFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_now = threading.Event()
    with Sandbox(enforce_limits=False) as sandbox:
        services = services_for(sandbox, no_cache=True)
        monkeypatch.setattr(
            "entrez_kit.services.transport.limiter.RateLimiter.acquire",
            lambda self, deadline=None: open_now.wait(20) and None,
        )
        answered: list[Any] = []

        async def ask(client: Any, number: int) -> None:
            answered.append(await client.call_tool("wait_for_ncbi", {"number": number}))

        options = Options(operations=(WAIT,))
        async with connect(services, options) as client, anyio.create_task_group() as tasks:
            for number in range(MAX_WAITING):
                tasks.start_soon(ask, client, number)
            await wait_until(lambda: services.watched.waiting == MAX_WAITING, 15)
            info = await client.read_resource("pubmed-connect://info")
            started = time.monotonic()
            error = read_tool_error(await client.call_tool("wait_for_ncbi", {"number": 1_000}))
            seconds = time.monotonic() - started
            open_now.set()

    assert '"internal_queue_length": 100' in info.contents[1].text  # type: ignore[union-attr]
    assert (error["code"], error["details"]["reason"]) == ("RATE_LIMITED", "queue_full")
    assert "NCBI_API_KEY" in error["recovery_hint"]
    assert seconds < 15  # the others wait for up to 20 seconds
    assert len(answered) == MAX_WAITING
    assert not any(result.is_error for result in answered)

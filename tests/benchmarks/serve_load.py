"""Load on `entrez-kit serve` over HTTP: many callers for a minute. Every call is answered within limit and memory.

    python tests/benchmarks/serve_load.py [--callers 64] [--seconds 60] [--pause 1.0] [--command ...]

Half of the callers use a session (2025-11-25), half send independent requests (2026-07-28). Most questions are repeated
by others, so that the cache answers; one call in ten is a new question and must wait for its slot. The sandbox refuses
requests faster than NCBI's limit, and records the time of every request. Linux only: it reads /proc.
"""

import argparse
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from entrez_kit.base.settings import load_settings
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.auth import issue_token
from entrez_kit.server.toolsets import SCOPES

SECRET = "a-secret-of-the-benchmark-well-over-32-bytes"
EARLY, GROWTH = 10, 1.10
LIMIT = 10
"""Requests per second with an API key."""
POPULAR = 60
SHARES = {"p50": 0.5, "p95": 0.95, "max": 1.0}


class Tally:
    """The results of all calls."""

    def __init__(self) -> None:
        self.begun = 0
        self.outcomes: Counter[str] = Counter()
        self.seconds: list[float] = []

    @property
    def lost(self) -> int:
        """Calls without an answer."""
        return self.begun - sum(self.outcomes.values())


def read_resident_kb(process: int) -> int:
    """Return the memory a process occupies."""
    for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise RuntimeError("no VmRSS")


async def run_caller(
    number: int, url: str, token: str, pmids: list[str], tally: Tally, until: float, pause: float
) -> None:
    """Connect, and call tools until the time is over."""
    chance = random.Random(number)
    async with AsyncExitStack() as stack:
        timeout = httpx2.Timeout(30, read=120)
        http_client = await stack.enter_async_context(
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=timeout)
        )
        transport = streamable_http_client(url, http_client=http_client)
        client = await stack.enter_async_context(Client(transport, mode="legacy" if number % 2 else "2026-07-28"))
        await client.list_tools()
        turn = 0
        while time.monotonic() < until:
            turn += 1
            tool, arguments = make_question(chance, number, turn, pmids)
            tally.begun += 1
            started = time.monotonic()
            result = await client.call_tool(tool, arguments)
            tally.seconds.append(time.monotonic() - started)
            document: Any = result.structured_content
            tally.outcomes["ok" if not result.is_error else document["error"]["code"]] += 1
            await anyio.sleep(pause * chance.uniform(0.5, 1.5))


async def list_known_pmids(url: str, token: str) -> list[str]:
    """Return PMIDs that exist."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http_client,
        Client(streamable_http_client(url, http_client=http_client)) as client,
    ):
        found: Any = await client.call_tool("pubmed_search_articles", {"query_term": "all[sb]", "max_results": POPULAR})
        pmids: list[str] = found.structured_content["pmids"]
        return pmids


def make_question(chance: random.Random, caller: int, turn: int, pmids: list[str]) -> tuple[str, dict[str, Any]]:
    """Return a call, usually one that others make too."""
    if chance.random() < 0.1:
        return "pubmed_search_articles", {"query_term": f"cancer OR caller{caller}turn{turn}", "max_results": 50}
    if chance.random() < 0.5:
        return "pubmed_search_articles", {"query_term": f"cancer OR popular{chance.randrange(POPULAR)}"}
    return "pubmed_fetch_contents", {"pmids": [chance.choice(pmids)]}


def count_busiest_second(times: list[float]) -> int:
    """Return the largest number of requests that arrived within any second."""
    most, first = 0, 0
    for last, at in enumerate(times):
        while at - times[first] >= 1.0:
            first += 1
        most = max(most, last - first + 1)
    return most


def serve_records(ours: Any) -> None:
    """Serve generated records from a separate process, whose clock does not depend on the callers' work."""
    with Sandbox(records=2_000, enforce_limits=True) as sandbox:
        ours.send(sandbox.url)
        ours.recv()
        ours.send([(entry.at, entry.status) for entry in sandbox.log])


@contextmanager
def run_sandbox() -> Iterator[tuple[str, Any]]:
    """Run the sandbox as a separate process; yield its address and a function that returns its log."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve_records, args=(theirs,), daemon=True)
    process.start()

    def read_log() -> list[tuple[float, int]]:
        ours.send(None)
        found: list[tuple[float, int]] = sorted(ours.recv())
        return found

    try:
        yield ours.recv(), read_log
    finally:
        process.join(5)


def start_server(command: list[str], sandbox_url: str, home: str) -> tuple["subprocess.Popen[bytes]", str]:
    """Start the server; return it and its address."""
    environment = {
        **os.environ,
        "HOME": home,
        "TMPDIR": home,
        "ENTREZ_KIT_HOME": home,
        "ENTREZ_KIT_EUTILS_URL": f"{sandbox_url}/entrez/eutils",
        "NCBI_API_KEY": "load-test",
        "MCP_AUTH_SECRET_KEY": SECRET,
        "MCP_LOG_LEVEL": "info",
    }
    process = subprocess.Popen(
        [*command, "serve", "--transport", "http", "--port", "0"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    for line in process.stderr:
        entry = json.loads(line)
        if entry.get("message") == "listening":
            threading.Thread(target=lambda: all(process.stderr or ()), daemon=True).start()  # keep the pipe empty
            return process, entry["url"]
    raise RuntimeError("the server did not start")


async def run_callers(options: argparse.Namespace, url: str, process: int, tally: Tally) -> list[tuple[float, int]]:
    """Run all callers; return the server's memory over time."""
    settings = load_settings({"mcp_auth_secret_key": SECRET})
    token = issue_token(settings, subject="load", ttl=3_600, scopes=SCOPES).token
    pmids = await list_known_pmids(url, token)
    began = time.monotonic()
    memory: list[tuple[float, int]] = []
    async with anyio.create_task_group() as tasks:
        for number in range(options.callers):
            tasks.start_soon(run_caller, number, url, token, pmids, tally, began + options.seconds, options.pause)
        while (elapsed := time.monotonic() - began) < options.seconds:
            memory.append((elapsed, read_resident_kb(process)))
            await anyio.sleep(min(1.0, options.seconds - elapsed + 0.01))
        memory.append((time.monotonic() - began, read_resident_kb(process)))
    return memory


def main() -> int:
    """Run the load and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--callers", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pause", type=float, default=1.0, help="between two calls of one caller, on average")
    parser.add_argument("--command", nargs="+", default=[sys.executable, "-m", "entrez_kit"])
    options = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as home, run_sandbox() as (sandbox_url, log):
        process, url = start_server(options.command, sandbox_url, home)
        try:
            memory = anyio.run(run_callers, options, url, process.pid, tally)
        finally:
            process.terminate()
            status = process.wait(10)
        arrived = log()
    busiest = count_busiest_second([at for at, _ in arrived])
    refused = sum(http_status == 429 for _, http_status in arrived)
    early = next(kb for at, kb in memory if at >= min(EARLY, options.seconds / 2))
    late = memory[-1][1]
    times = sorted(tally.seconds)
    report = {
        "callers": options.callers,
        "seconds": options.seconds,
        "calls": tally.begun,
        "lost": tally.lost,
        "outcomes": dict(tally.outcomes),
        "latency_ms": {name: round(1000 * times[int(share * (len(times) - 1))]) for name, share in SHARES.items()},
        "requests_to_ncbi": len(arrived),
        "busiest_second": busiest,
        "refused_by_ncbi": refused,
        "rss_kb_early": early,
        "rss_kb_late": late,
        "rss_growth": round(late / early, 3),
        "exit_status": status,
    }
    print(json.dumps(report, indent=2))
    good = (
        tally.lost == 0
        and set(tally.outcomes) <= {"ok"}
        and busiest <= LIMIT
        and refused == 0
        and late <= GROWTH * early
        and status == 0
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

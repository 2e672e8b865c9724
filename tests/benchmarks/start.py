"""Measure the start of the program, and a call to a running server. Run by hand:

    python tests/benchmarks/start.py [--rounds 9] [--calls 2000] [--command entrez-kit]

The sandbox answers once, then the cache. CPU seconds of whole processes, children included; rounds alternate between
all rows, and the best of each counts, because other programs only add time. Ratios are to a bare start of the same
interpreter, so they are the same on a slow machine. `serve` is started, lists its tools, and is ended.
Calls per second are counted from outside, one after another, over 20 repeated questions.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from entrez_kit.base.settings import load_settings
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.auth import issue_token
from entrez_kit.server.toolsets import SCOPES

SECRET = "a-secret-of-the-benchmark-well-over-32-bytes"
QUESTIONS = [{"query_term": f"cancer OR question{number}"} for number in range(20)]
SEARCH, FETCH = ["search", "cancer", "--json"], ["fetch", "-f", "json"]
Environment = dict[str, str]


def measure_cpu(command: list[str], environment: Environment, *, told: bytes = b"", until: int = 0) -> float:
    """Run a program to its end and return its CPU seconds; with input, it is ended after this number of reply lines."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, bufsize=0
        )
        assert process.stdin is not None
        assert process.stdout is not None
        output = os.fdopen(os.dup(process.stdout.fileno()), "rb")
        if told:
            process.stdin.write(told)
            for _ in range(until):
                output.readline()
        process.stdin.close()
        output.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {errors.read()[-2000:]!r}")
    return used.ru_utime + used.ru_stime


def write_message(method: str, number: int | None = None, **params: Any) -> bytes:
    """Return a message of the protocol as a line."""
    said: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(said if number is None else {**said, "id": number}).encode() + b"\n"


GREETING = write_message(
    "initialize",
    0,
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "benchmark", "version": "1"},
) + write_message("notifications/initialized")


def write_call(number: int, arguments: dict[str, Any]) -> bytes:
    """Return a call of the search tool."""
    return write_message("tools/call", number, name="pubmed_search_articles", arguments=arguments)


def expect_answer(line: bytes, number: int) -> None:
    """Reject an invalid answer."""
    reply = json.loads(line)
    if reply.get("id") != number or reply["result"].get("isError"):
        raise RuntimeError(f"no answer to call {number}: {line[:500]!r}")


def measure_rate(ask: Callable[[int, dict[str, Any]], bytes], calls: int) -> float:
    """Return how many calls per second are answered, one after another."""
    for number, question in enumerate(QUESTIONS, 1):
        expect_answer(ask(number, question), number)
    questions = cycle(QUESTIONS)
    started = time.monotonic()
    for number in range(100, 100 + calls):
        expect_answer(ask(number, next(questions)), number)
    return calls / (time.monotonic() - started)


def measure_stdio_rate(command: list[str], environment: Environment, calls: int) -> float:
    """Return how many calls per second a server answers over stdio."""
    process = subprocess.Popen(
        [*command, "serve"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    source, output = process.stdin, os.fdopen(os.dup(process.stdout.fileno()), "rb")
    source.write(GREETING)
    output.readline()

    def ask(number: int, arguments: dict[str, Any]) -> bytes:
        source.write(write_call(number, arguments))
        return output.readline()

    try:
        return measure_rate(ask, calls)
    finally:
        source.close()
        output.read()
        process.wait(10)


@contextmanager
def serve_http(command: list[str], environment: Environment) -> Iterator[str]:
    """Run a server over HTTP; yield its address."""
    with tempfile.TemporaryFile() as log:  # reading a pipe would slow down the measured process
        process = subprocess.Popen(
            [*command, "serve", "--transport", "http", "--port", "0"],
            env={**environment, "MCP_AUTH_SECRET_KEY": SECRET},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
        )
        try:
            until = time.monotonic() + 30
            while b'"listening"' not in (lines := os.pread(log.fileno(), 65_536, 0)) and time.monotonic() < until:
                time.sleep(0.1)
            (line,) = [line for line in lines.splitlines() if b'"listening"' in line]
            yield json.loads(line)["url"]
        finally:
            process.terminate()
            process.wait(10)


def measure_http_rate(command: list[str], environment: Environment, calls: int) -> float:
    """Return how many calls per second a server answers over HTTP, in one session."""
    with serve_http(command, {**environment, "MCP_LOG_LEVEL": "info"}) as url:
        token = issue_token(load_settings({"mcp_auth_secret_key": SECRET}), subject="b", ttl=600, scopes=SCOPES).token
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
        headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }

        def post(body: bytes) -> bytes:
            connection.request("POST", parts.path, body, headers)
            response = connection.getresponse()
            if session := response.getheader("mcp-session-id"):
                headers["mcp-session-id"] = session
            data = response.read()
            events = [line.removeprefix(b"data:").strip() for line in data.splitlines() if line.startswith(b"data:")]
            return next((event for event in events if event.startswith(b"{")), data)

        for line in GREETING.splitlines():
            post(line)
        return measure_rate(lambda number, arguments: post(write_call(number, arguments)), calls)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=2_000, help="calls of the running servers")
    parser.add_argument("--command", nargs="+", default=[sys.executable, "-m", "entrez_kit"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, Sandbox(enforce_limits=False) as sandbox:
        environment = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            "PYTHONPYCACHEPREFIX": str(Path(home) / "compiled"),  # every row runs code that is already compiled
            "HOME": home,
            "TMPDIR": home,
            "ENTREZ_KIT_HOME": home,
            "ENTREZ_KIT_EUTILS_URL": f"{sandbox.url}/entrez/eutils",
            "NCBI_API_KEY": "benchmark",
        }
        found = subprocess.run([*options.command, *SEARCH], env=environment, check=True, stdout=subprocess.PIPE)
        pmid = json.loads(found.stdout)["pmids"][0]
        listing = GREETING + write_message("tools/list", 1)
        rows: dict[str, Callable[[], float]] = {
            "bare interpreter": lambda: measure_cpu([sys.executable, "-c", "pass"], environment),
            "import typer": lambda: measure_cpu([sys.executable, "-c", "import typer"], environment),
            "--help": lambda: measure_cpu([*options.command, "--help"], environment),
            "search --json, cached": lambda: measure_cpu([*options.command, *SEARCH], environment),
            "fetch of one, cached": lambda: measure_cpu([*options.command, *FETCH, pmid], environment),
            "serve to tools/list": lambda: measure_cpu([*options.command, "serve"], environment, told=listing, until=2),
        }
        best = dict.fromkeys(rows, float("inf"))
        for turn in range(1 + options.rounds):
            for name, measure in rows.items():
                seconds = measure()
                if turn:  # the first round fills caches
                    best[name] = min(best[name], seconds)
        print(f"{'':24} {'CPU s':>7} {'bare':>6} {'typer':>6}")
        for name, seconds in best.items():
            ratios = f"{seconds / best['bare interpreter']:6.1f} {seconds / best['import typer']:6.1f}"
            print(f"{name:24} {seconds:7.3f} {ratios}")
        print(f"{'calls/s over stdio':24} {measure_stdio_rate(options.command, environment, options.calls):7.0f}")
        print(f"{'calls/s over HTTP':24} {measure_http_rate(options.command, environment, options.calls):7.0f}")


if __name__ == "__main__":
    main()

"""The MCP server in this process over a sandbox, or the real program as another process.

A test module imports the fixtures that it uses; pytest finds them there under these names.
"""

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import pytest

from entrez_kit.server.app import EntrezServer, Options
from entrez_kit.server.clients import ServerServices
from entrez_kit.server.workers import Workers

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult

    from entrez_kit.sandbox.server import Sandbox

SECRET: Final = "a-secret-of-the-tests-well-over-32-bytes"
ERAS: Final = ("2025-03-26", "2025-11-25", "2026-07-28")
MODERN: Final = "2026-07-28"

NO_MESSAGES: Final[tuple[tuple[bytes, int, object], ...]] = (
    (b"{", -32700, None),
    (b"hello", -32700, None),
    (b"[" * 5_000, -32700, None),
    (b'{"jsonrpc": "2.0", "id": 3, "method": "ping"', -32700, None),
    (b'{"jsonrpc": "2.0", "id": 3, "method": "ping"} {}', -32700, None),
    (b'{"jsonrpc": "2.0", "id": 3, "method": "\xff"}', -32700, None),
    ('{"jsonrpc": "2.0", "id": 3, "method": "ping"}'.encode("utf-16"), -32700, None),
    (b"[]", -32600, None),
    (b'[{"jsonrpc": "2.0", "id": 3, "method": "ping"}]', -32600, None),
    (b"7", -32600, None),
    (b"null", -32600, None),
    (b'"ping"', -32600, None),
    (b"{}", -32600, None),
    (b'{"id": "a", "method": "ping"}', -32600, "a"),
    (b'{"jsonrpc": "1.0", "id": 9, "method": "ping"}', -32600, 9),
    (b'{"jsonrpc": 2.0, "id": 9, "method": "ping"}', -32600, 9),
    (b'{"jsonrpc": "2.0", "id": 9, "method": 7}', -32600, 9),
    (b'{"jsonrpc": "2.0", "id": 9}', -32600, 9),
    (b'{"jsonrpc": "2.0", "id": 9, "method": "ping", "params": [1]}', -32600, 9),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": ' + b"9" * 400 + b', "method": 7}', -32600, int("9" * 400)),
    (b'{"jsonrpc": "2.0", "id": ' + b"9" * 5_000 + b', "method": "ping"}', -32700, None),
)
"""Invalid messages, the error code of each answer, and the id that the answer repeats."""


@dataclass
class ProgressLog:
    """The progress that a client received; `record` is its callback."""

    steps: list[tuple[float, float | None]] = field(default_factory=list)

    async def record(self, progress: float, total: float | None, message: str | None) -> None:
        """Add one step."""
        self.steps.append((progress, total))


class ProgressSession:
    """A session of the protocol that only records the progress of a call."""

    def __init__(self) -> None:
        self.steps: list[tuple[float, float | None]] = []

    async def report_progress(self, progress: float, total: float | None) -> None:
        """Add one step."""
        self.steps.append((progress, total))


async def collect_progress(work: Callable[[], object]) -> list[tuple[float, float | None]]:
    """Run a function as a call of the server, and return the progress that its caller receives."""
    session = ProgressSession()
    await Workers().run(SimpleNamespace(session=session), work)  # type: ignore[arg-type]  # only its session is used
    return session.steps


ServicesFor = Callable[..., ServerServices]
Json = dict[str, Any]


@pytest.fixture(name="anyio_backend")
def anyio_backend_fixture() -> str:
    """Run asynchronous tests on asyncio."""
    return "asyncio"


@pytest.fixture(name="services_for")
def services_for_fixture(no_waiting: None, tmp_path: Path) -> Iterator[ServicesFor]:
    """Build a server's clients that talk to a sandbox and do not wait for slots or retries."""
    from entrez_kit import load_settings

    with ExitStack() as stack:

        def build(sandbox: "Sandbox | None", **overrides: Any) -> ServerServices:
            settings = load_settings({"home": tmp_path / "home", **overrides})
            if "eutils_url" not in overrides:
                settings = settings.use_sandbox(sandbox.url if sandbox else "http://127.0.0.1:9")
                settings = replace(settings, demo=False)  # addresses as the terminal shows them
            return stack.enter_context(ServerServices(replace(settings, state_dir=tmp_path / "state")))

        yield build


@pytest.fixture(name="services")
def services_fixture(services_for: ServicesFor, sandbox: "Sandbox") -> ServerServices:
    """Return a server's clients over the demo corpus."""
    return services_for(sandbox)


@asynccontextmanager
async def connect(
    services: ServerServices, options: Options | None = None, *, era: str = MODERN
) -> "AsyncIterator[Client]":
    """Connect a client to a server in this process, in one of the protocol's eras."""
    from mcp import Client

    with speaking(era):
        async with Client(EntrezServer(services, options).build(), mode=choose_mode(era)) as client:
            assert client.protocol_version == era
            yield client


def choose_mode(era: str) -> str:
    """Return the mode in which the SDK's client speaks a version."""
    return "auto" if era == MODERN else "legacy"


@pytest.fixture(name="era", params=ERAS)
def era_fixture(request: pytest.FixtureRequest) -> str:
    """Return each of the protocol's eras."""
    return str(request.param)


class speaking:  # noqa: N801  # used like a function
    """Let the SDK's client offer an older version than its newest while the block runs."""

    def __init__(self, era: str) -> None:
        self._patch = pytest.MonkeyPatch()
        self._era = era

    def __enter__(self) -> None:
        if self._era != MODERN:
            self._patch.setattr("mcp.client.session.LATEST_HANDSHAKE_VERSION", self._era)

    def __exit__(self, *exc: object) -> None:
        self._patch.undo()


def read_structured(result: "CallToolResult") -> Json:
    """Return a result's document, after a check that text and structured content agree.

    The text is Markdown if people read it. A remark about a closed document is one more text after it, which is not a
    document.
    """
    block, *remarks = result.content
    assert block.type == "text"
    document: Json = result.structured_content or {}
    if block.text.startswith("{"):
        assert json.loads(block.text) == document
    else:
        missing = [fact for fact in list_facts(document) if fact not in block.text]
        assert not missing, missing
    assert len(remarks) <= 1
    for remark in remarks:
        assert not result.is_error
        assert remark.type == "text"
        assert not remark.text.startswith(("{", "["))
    return document


def list_own_lines(text: str) -> list[str]:
    """Return the lines of a Markdown text outside its code fences, as CommonMark reads them."""
    own: list[str] = []
    fence = ""
    for line in re.split(r"\r\n|\r|\n", text):
        opened = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if fence:
            if re.fullmatch(rf" {{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*", line):
                fence = ""
        elif opened:
            fence = opened[1]
        else:
            own.append(line)
    assert not fence, "a fence is open"
    return own


def list_facts(value: Any) -> Iterator[str]:
    """Yield every value of a document in the form of the text, without empty ones."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from list_facts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from list_facts(inner)
    elif value not in ("", None):
        yield str(value).lower() if isinstance(value, bool) else str(value)


def read_tool_error(result: "CallToolResult") -> Json:
    """Return the error of a call, after a check of the form of the envelope."""
    document = read_structured(result)
    assert result.is_error is True
    assert set(document) == {"success", "error"}
    assert document["success"] is False
    error: Json = document["error"]
    assert {"code", "message", "recovery_hint", "invalid_input"} <= set(error)
    assert set(error) <= {"code", "message", "recovery_hint", "invalid_input", "details"}
    return error


class SilentService:
    """A service that accepts every connection and never answers."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._taken: list[socket.socket] = []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> "SilentService":
        return self

    def __exit__(self, *exc: object) -> None:
        for taken in (*self._taken, self._listener):
            taken.close()

    def wait_for_caller(self) -> None:
        """Wait until a client has sent a request."""
        self._listener.settimeout(15)
        self._taken.append(self._listener.accept()[0])
        self._taken[-1].settimeout(15)
        assert self._taken[-1].recv(1)


# The real program

QUICK = 20.0
"""Seconds within which a program ends on a busy machine. The timeout of a request is longer, so it waits for none."""


def make_environment(sandbox: "Sandbox | SilentService | None", **more: str) -> dict[str, str]:
    """Return the environment of a program that talks to a sandbox."""
    url = sandbox.url if sandbox is not None else "http://127.0.0.1:9"
    return {
        **os.environ,
        "ENTREZ_KIT_EUTILS_URL": f"{url}/entrez/eutils",
        "ENTREZ_KIT_IDCONV_URL": f"{url}/idconv",
        "ENTREZ_KIT_EUROPEPMC_URL": f"{url}/europepmc",
        "ENTREZ_KIT_UNPAYWALL_URL": f"{url}/unpaywall",
        "ENTREZ_KIT_CROSSREF_URL": f"{url}/crossref",
        "ENTREZ_KIT_OPENALEX_URL": f"{url}/openalex",
        "ENTREZ_KIT_PMC_OA_URL": f"{url}/pmc-oa",
        **more,
    }


def make_command(*arguments: str) -> list[str]:
    """Return the command line of the program."""
    return [sys.executable, "-m", "entrez_kit", *arguments]


@dataclass
class Host:
    """A host that speaks to the program over its standard streams, line by line."""

    process: "subprocess.Popen[bytes]"
    lines: list[bytes]
    number: int = 0

    @classmethod
    def start(cls, command: list[str], environment: Mapping[str, str]) -> "Host":
        """Start the program."""
        pipe = subprocess.PIPE
        return cls(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=dict(environment)), [])

    def write(self, text: str | bytes) -> None:
        """Send a line unchanged."""
        assert self.process.stdin is not None
        self.process.stdin.write((text if isinstance(text, bytes) else text.encode()) + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, params: Json | None = None, *, notify: bool = False) -> int:
        """Send a message; return its number."""
        message: Json = {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})}
        if not notify:
            self.number += 1
            message["id"] = self.number
        self.write(json.dumps(message))
        return self.number

    def receive(self, seconds: float = 20.0) -> Json:
        """Return the next message."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        assert ready, "the server sends nothing"
        line = self.process.stdout.readline()
        assert line, f"the server is gone: {self.errors()}"
        self.lines.append(line)
        document: Json = json.loads(line)
        return document

    def ask(self, method: str, params: Json | None = None) -> Json:
        """Send a request and return its answer, without the notifications before it."""
        number = self.send(method, params)
        while (answer := self.receive()).get("id") != number:
            assert "method" in answer
        return answer

    def greet(self, era: str = "2025-11-25") -> Json:
        """Initialize the session."""
        client = {"name": "tests", "version": "1"}
        answer = self.ask("initialize", {"protocolVersion": era, "capabilities": {}, "clientInfo": client})
        self.send("notifications/initialized", notify=True)
        result: Json = answer["result"]
        return result

    def call(self, tool: str, arguments: Json) -> Json:
        """Call a tool and return the result."""
        result: Json = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result

    def leave(self) -> tuple[int, float]:
        """Close the program's input; return its exit status and how long it took to end."""
        assert self.process.stdin is not None
        started = time.monotonic()
        self.process.stdin.close()
        return self.wait_for_end(started)

    def kill(self, number: signal.Signals) -> tuple[int, float]:
        """Send a signal, the program's input open; return its exit status and how long it took to end."""
        started = time.monotonic()
        self.process.send_signal(number)
        return self.wait_for_end(started)

    def wait_for_end(self, started: float) -> tuple[int, float]:
        """Wait for the end; check that standard output had only messages."""
        assert self.process.stdout is not None
        status = self.process.wait(60)
        seconds = time.monotonic() - started
        self.lines += self.process.stdout.read().splitlines(keepends=True)
        for line in self.lines:
            assert json.loads(line)["jsonrpc"] == "2.0"
        return status, seconds

    def errors(self) -> str:
        """Return the text of standard error; only after the program has ended."""
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()

    def log(self) -> list[Json]:
        """Return the log; only after the program has ended."""
        return [json.loads(line) for line in self.errors().splitlines()]

    def close(self) -> None:
        """End the program, if it still runs."""
        self.process.kill()
        self.process.wait(10)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


HostFor = Callable[..., Host]


@pytest.fixture(name="host_for")
def host_for_fixture(sandbox: "Sandbox") -> Iterator[HostFor]:
    """Start hosts whose program talks to the sandbox over the demo corpus."""
    hosts: list[Host] = []

    def start(
        *arguments: str, command: list[str] | None = None, at: "Sandbox | SilentService | None" = sandbox, **more: str
    ) -> Host:
        host = Host.start(command or make_command("serve", *arguments), make_environment(at, **more))
        hosts.append(host)
        return host

    yield start
    for host in hosts:
        host.close()

"""The program as an HTTP server: started on a free port, with plain requests or the SDK's client."""

import http.client
import json
import signal
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import jwt
import pytest
from mcp_helpers import SECRET, Json, SilentService, choose_mode, make_command, make_environment, speaking

if TYPE_CHECKING:
    from mcp import Client

    from entrez_kit.sandbox.server import Sandbox

ALL_SCOPES: Final = "entrez-kit:pubmed entrez-kit:gene entrez-kit:corpus.read entrez-kit:entrez"


def make_claims(**changes: Any) -> Json:
    """Return the claims of a valid token; a value of None removes a claim."""
    now = int(time.time())
    good = {"iss": "entrez-kit", "aud": "entrez-kit", "sub": "tests", "iat": now, "exp": now + 600, "scope": ALL_SCOPES}
    return {name: value for name, value in {**good, **changes}.items() if value is not None}


def make_bearer(secret: str = SECRET, algorithm: str = "HS256", **changes: Any) -> str:
    """Return the header with a token; a valid one unless changed."""
    return f"Bearer {jwt.encode(make_claims(**changes), secret, algorithm=algorithm)}"


MODERN: dict[str, str] = {"Mcp_Protocol_Version": "2026-07-28"}


def make_modern_request(method: str, params: Json | None = None) -> tuple[Json, dict[str, str]]:
    """Return the body and the headers of a request of the newest era."""
    prefix = "io.modelcontextprotocol/"
    meta = {
        f"{prefix}protocolVersion": "2026-07-28",
        f"{prefix}clientInfo": {"name": "tests", "version": "1"},
        f"{prefix}clientCapabilities": {},
    }
    named = (params or {}).get("name") or (params or {}).get("uri")
    headers = {**MODERN, "Mcp_Method": method, **({"Mcp_Name": named} if named else {})}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**(params or {}), "_meta": meta}}, headers


class Reply:
    """The response."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def message(self) -> Json:
        """The JSON-RPC message in the reply: JSON, or the last of a stream of events."""
        text = self.body.decode()
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            text = [line[6:] for line in text.splitlines() if line.startswith("data: ")][-1]
        document: Json = json.loads(text)
        return document


class HttpHost:
    """The program serving HTTP."""

    def __init__(self, environment: Mapping[str, str], *arguments: str, command: Sequence[str] | None = None) -> None:
        self.process = subprocess.Popen(
            [*(command or make_command()), "serve", "--transport", "http", "--port", "0", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
        )
        self.entries: list[Json] = []
        self.other: list[str] = []
        self._listening = threading.Event()
        self.url = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            try:
                entry = json.loads(line)
            except ValueError:
                self.other.append(line.decode())
                continue
            self.entries.append(entry)
            if entry.get("message") == "listening":
                self.url = entry["url"]
                self._listening.set()
        self._listening.set()

    def ready(self) -> "HttpHost":
        """Wait until the program listens."""
        assert self._listening.wait(30)
        assert self.url, f"{self.entries} {self.other}"
        return self

    def wait_for(self, words: str) -> None:
        """Wait until the log contains a text."""
        deadline = time.monotonic() + 5
        while not any(words in entry["message"] for entry in list(self.entries)):
            assert time.monotonic() < deadline, f"{words!r} is not in {self.entries}"
            time.sleep(0.02)

    def request(self, method: str = "POST", path: str | None = None, body: Any = None, **headers: str | None) -> Reply:
        """Send a request with valid headers; given headers replace them, None removes one."""
        parts = urlsplit(self.url)
        good: dict[str, str | None] = {
            "Host": parts.netloc,
            "Authorization": make_bearer(),
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        sent = {**good, **{name.replace("_", "-"): value for name, value in headers.items()}}
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
        try:
            connection.putrequest(method, path or parts.path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if "Content-Length" not in sent:
                connection.putheader("Content-Length", str(len(data)))
            connection.endheaders()
            with suppress(ConnectionError):  # the server need not read a refused body to its end
                connection.send(data)
            return Reply(connection.getresponse())
        finally:
            connection.close()

    @asynccontextmanager
    async def connect(self, era: str, authorization: str | None = None) -> "AsyncIterator[Client]":
        """Connect the SDK's client in an era."""
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        headers = {"Authorization": authorization or make_bearer()}
        with speaking(era):
            async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(30, read=60)) as http_client:
                transport = streamable_http_client(self.url, http_client=http_client)
                async with Client(transport, mode=choose_mode(era)) as client:
                    assert client.protocol_version == era
                    yield client

    def kill(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, float]:
        """Send a signal; return the exit status and the seconds until the end."""
        started = time.monotonic()
        self.process.send_signal(number)
        status = self.process.wait(60)
        seconds = time.monotonic() - started
        self._reader.join(5)
        return status, seconds

    def close(self) -> bytes:
        """End the program in any state; return what it wrote to standard output."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(60)
        self._reader.join(5)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        written = self.process.stdout.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return written


HttpHostFor = Callable[..., HttpHost]


@pytest.fixture(name="http_host_for")
def http_host_for_fixture(sandbox: "Sandbox") -> Iterator[HttpHostFor]:
    """Start programs that serve HTTP over the demo corpus; check that standard output stays empty."""
    hosts: list[HttpHost] = []

    def start(*arguments: str, at: "Sandbox | SilentService | None" = sandbox, **more: str) -> HttpHost:
        hosts.append(HttpHost(make_environment(at, **{"MCP_AUTH_SECRET_KEY": SECRET, **more}), *arguments))
        return hosts[-1].ready()

    yield start
    for host in hosts:
        assert host.close() == b""


@pytest.fixture(name="http_host", scope="module")
def http_host_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHost]:
    """Serve HTTP for all tests of a module that change nothing; NCBI cannot be reached."""
    home = str(tmp_path_factory.mktemp("home"))
    environment = make_environment(None, MCP_AUTH_SECRET_KEY=SECRET, ENTREZ_KIT_HOME=home, NCBI_MAX_RETRIES="0")
    host = HttpHost(environment)
    try:
        yield host.ready()
    finally:
        assert host.close() == b""


@pytest.fixture(name="demo_host", scope="module")
def demo_host_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHost]:
    """Serve HTTP over the demo corpus for all tests of a module that change nothing."""
    from entrez_kit.sandbox.server import Sandbox

    home = str(tmp_path_factory.mktemp("home"))
    with Sandbox(enforce_limits=False) as sandbox:
        host = HttpHost(make_environment(sandbox, MCP_AUTH_SECRET_KEY=SECRET, ENTREZ_KIT_HOME=home))
        try:
            yield host.ready()
        finally:
            assert host.close() == b""

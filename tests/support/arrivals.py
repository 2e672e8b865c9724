"""A loopback server that stamps arrivals, and clients in processes of their own (run as a script, this is one)."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

WINDOW_SECONDS = 1.0


@dataclass(frozen=True)
class Arrival:
    """One request at the server: who sent it, and when its head had been read."""

    client: str
    at: float


def most_in_a_second(times: list[float]) -> int:
    """Return the largest number of arrivals in any half-open window of one second."""
    times = sorted(times)
    most = first = 0
    for last, at in enumerate(times):
        while at - times[first] >= WINDOW_SECONDS:
            first += 1
        most = max(most, last - first + 1)
    return most


class ArrivalServer(ThreadingHTTPServer):
    """Answers anything with two bytes and notes when it came."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.arrivals: list[Arrival] = []

    @property
    def times(self) -> list[float]:
        """When requests arrived, in order."""
        return sorted(arrival.at for arrival in self.arrivals)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet about clients that were killed in the middle of a request."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ArrivalServer

    def do_GET(self) -> None:
        self.server.arrivals.append(Arrival(urlsplit(self.path).path.strip("/"), time.monotonic()))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def arrival_server() -> Iterator[ArrivalServer]:
    """Run a server in a thread of this process."""
    server = ArrivalServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Client:
    """A process that sends request after request, each through the limiter."""

    process: subprocess.Popen[str]
    waits: list[float] = field(default_factory=list)

    def go(self) -> None:
        """Let it begin."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def finish(self, timeout: float) -> None:
        """Wait for its end and collect how long it waited for each slot, in seconds."""
        output, _ = self.process.communicate(timeout=timeout)
        assert self.process.returncode == 0, f"a client ended with {self.process.returncode}"
        self.waits = json.loads(output)

    def kill(self) -> None:
        """End it at once, wherever it is."""
        self.process.kill()
        with suppress(ValueError):  # communicate() has closed the pipes already
            self.process.communicate()


@contextmanager
def clients(count: int, server: ArrivalServer, **options: Any) -> Iterator[list[Client]]:
    """Start clients and yield them once all are ready; options are those of ``run_client``."""
    started: list[Client] = []
    try:
        for number in range(count):
            settings = json.dumps({"url": f"{server.url}/{number}", **options})
            command = [sys.executable, str(Path(__file__)), settings]
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
            started.append(Client(process))
        for client in started:
            assert client.process.stdout is not None
            assert client.process.stdout.readline() == "ready\n"
        yield started
    finally:
        for client in started:
            client.kill()


def run_client(
    *,
    url: str,
    state_file: str,
    per_second: float,
    seconds: float,
    threads: int = 1,
    min_interval_ms: int | None = None,
) -> list[float]:
    """Send requests for so many seconds; return how long each waited for its slot."""
    import requests

    from entrez_kit.transport.limiter import RateLimiter

    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    stop = time.monotonic() + seconds
    waits: list[float] = []

    def work() -> None:
        limiter = RateLimiter(Path(state_file), per_second=per_second, min_interval_ms=min_interval_ms)
        with requests.Session() as session:
            session.trust_env = False  # whoever runs this may have a proxy set
            while (begun := time.monotonic()) < stop:
                limiter.acquire()
                waits.append(time.monotonic() - begun)
                session.get(url, timeout=30)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return waits


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run_client(**json.loads(sys.argv[1]))))

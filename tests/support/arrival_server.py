"""A loopback server that records arrival times, and clients in separate processes (run as a script, this is one)."""

import json
import selectors
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

WINDOW_SECONDS = 1.0


TIMESTAMPS: Final = 35 if sys.platform == "linux" else None
"""Linux' SO_TIMESTAMPNS, for which Python has no name: with it the kernel reports when bytes arrived."""


@dataclass(frozen=True)
class Arrival:
    """One request at the server: who sent it, and when the last byte of its head came."""

    client: str
    at: float


def count_most_in_a_second(times: list[float]) -> int:
    """Return the largest number of arrivals in any half-open window of one second."""
    times = sorted(times)
    most = first = 0
    for last, at in enumerate(times):
        while at - times[first] >= WINDOW_SECONDS:
            first += 1
        most = max(most, last - first + 1)
    return most


def _listen() -> socket.socket:
    """Return a socket that listens on loopback.

    Its connections inherit the option of the timestamps, which the bytes of a client may need before it is accepted.
    """
    listening = socket.create_server(("127.0.0.1", 0), backlog=256)
    if TIMESTAMPS is not None:
        listening.setsockopt(socket.SOL_SOCKET, TIMESTAMPS, 1)
    return listening


class ArrivalServer:
    """Answers every request with two bytes and records its arrival time by the kernel's clock, if the kernel has one.

    A busy machine wakes this server late, and not always equally late. Requests that came more than a second apart
    could then appear within one second. So the arrival of the bytes counts, not the moment when the server read them.
    """

    def __init__(self) -> None:
        self._listening = _listen()
        self._listening.setblocking(False)
        self._stopped = False
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.arrivals: list[Arrival] = []

    @property
    def times(self) -> list[float]:
        """When requests arrived, in order."""
        return sorted(arrival.at for arrival in self.arrivals)

    def serve(self) -> None:
        """Answer until stopped."""
        with selectors.DefaultSelector() as selector, self._listening:
            selector.register(self._listening, selectors.EVENT_READ, None)
            while not self._stopped:
                ready = selector.select(0.05)
                for key, _ in ready:
                    if key.data is None:
                        connection, _ = self._listening.accept()
                        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        selector.register(connection, selectors.EVENT_READ, bytearray())
                    elif isinstance(key.fileobj, socket.socket) and not self._answer(key.fileobj, key.data):
                        selector.unregister(key.fileobj)
                        key.fileobj.close()
            for key in list(selector.get_map().values()):
                if isinstance(key.fileobj, socket.socket):
                    key.fileobj.close()

    def stop(self) -> None:
        """Stop answering soon."""
        self._stopped = True

    def _answer(self, connection: socket.socket, begun: bytearray) -> bool:
        """Read the data from a connection; return whether it stays open."""
        try:
            data, said, _, _ = connection.recvmsg(65_536, socket.CMSG_SPACE(struct.calcsize("ll")))
            begun += data
            if data and begun.endswith(b"\r\n\r\n"):
                path = begun.split(b" ", 2)[1].decode("ascii")
                self.arrivals.append(Arrival(urlsplit(path).path.strip("/"), _read_arrival_time(said)))
                begun.clear()
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        except OSError:  # a client was killed during a request
            return False
        return bool(data)


def _read_arrival_time(said: list[tuple[int, int, bytes]]) -> float:
    for level, kind, content in said:
        if (level, kind) == (socket.SOL_SOCKET, TIMESTAMPS):
            seconds, nanoseconds = struct.unpack("ll", content)
            return float(seconds + nanoseconds / 1e9)
    return time.time()


class ArrivalRelay:
    """Passes requests on to another server, and records by the kernel's clock when each arrived.

    A context manager. The other server may be busy; its own clock would show when it read a request.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = (parts.hostname, parts.port)
        self._listening = _listen()
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.times: list[float] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:  # it was closed
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        with client, suppress(OSError), socket.create_connection(self._target) as server:
            answered = True
            with selectors.DefaultSelector() as selector:
                for connection in (client, server):
                    selector.register(connection, selectors.EVENT_READ)
                while True:
                    for key, _ in selector.select():
                        if key.fileobj is client:
                            data, said, _, _ = client.recvmsg(65_536, socket.CMSG_SPACE(struct.calcsize("ll")))
                            if data and answered:
                                self.times.append(_read_arrival_time(said))
                            answered = False
                            server.sendall(data)
                        else:
                            data = server.recv(65_536)
                            answered = True
                            client.sendall(data)
                        if not data:
                            return


@contextmanager
def arrival_server() -> Iterator[ArrivalServer]:
    """Run a server in a thread of this process."""
    server = ArrivalServer()
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()


@dataclass
class Client:
    """A process that sends request after request, each through the limiter."""

    process: subprocess.Popen[str]
    waits: list[float] = field(default_factory=list)

    def go(self) -> None:
        """Let the process begin."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def finish(self, timeout: float) -> None:
        """Wait for the end of the process and collect how long it waited for each slot, in seconds."""
        output, _ = self.process.communicate(timeout=timeout)
        assert self.process.returncode == 0, f"a client ended with {self.process.returncode}"
        self.waits = json.loads(output)

    def kill(self) -> None:
        """End the process at once, in any state."""
        self.process.kill()
        with suppress(ValueError):  # communicate() has closed the pipes already
            self.process.communicate()


@contextmanager
def start_clients(count: int, server: ArrivalServer, **options: Any) -> Iterator[list[Client]]:
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


@contextmanager
def keep_cores_busy(count: int) -> Iterator[None]:
    """Keep this number of cores busy meanwhile."""
    with ExitStack() as stack:
        for _ in range(count):
            loop = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(loop.wait)
            stack.callback(loop.kill)
        yield


def run_client(
    *,
    url: str,
    state_file: str,
    per_second: float,
    seconds: float,
    threads: int = 1,
    min_interval_ms: int | None = None,
    drains: bool = True,
) -> list[float]:
    """Send requests through a transport for some seconds; return how long each waited for its slot.

    ``drains`` is true if requests that wait for their slot at the end are still sent.
    """
    import entrez_kit.services.transport.wire  # noqa: F401  # loaded before the clock runs
    from entrez_kit.base.errors import RateLimited, UpstreamError
    from entrez_kit.base.settings import Settings
    from entrez_kit.services.transport import Call, Expect
    from entrez_kit.services.transport.client import Transport
    from entrez_kit.services.transport.limiter import RateLimiter

    waits: list[float] = []

    class Timed(RateLimiter):
        def acquire(self, deadline: float | None = None) -> AbstractContextManager[None]:
            begun = time.monotonic()
            slot = super().acquire(deadline)
            waits.append(time.monotonic() - begun)
            return slot

    limiter = Timed(Path(state_file), per_second=per_second, min_interval_ms=min_interval_ms)
    settings = Settings(state_dir=Path(state_file).parent, no_cache=True, ncbi_total_deadline_ms=600_000)
    transport = Transport(settings, limiters=lambda settings, service: limiter)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    stop = time.monotonic() + seconds

    def work(number: int) -> None:
        sent = 0
        while (left := stop - time.monotonic()) > 0:
            sent += 1
            params = (("n", f"{number}-{sent}"),)  # all different, because identical ones would be sent once
            limit = None if drains else max(1, round(left * 1000))
            try:
                transport.send(Call("eutils", "esearch", url, params, Expect("any"), deadline_ms=limit))
            except (RateLimited, UpstreamError):
                if drains:
                    raise
                return  # the time was over

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    transport.close()
    return waits


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run_client(**json.loads(sys.argv[1]))))

"""A transport over a loopback server, with new folders, short waits and a limiter that counts."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from limiter_threads import wait_until
from loopback_server import Answer, Loopback
from pydantic import SecretStr

from entrez_kit.base.settings import Settings
from entrez_kit.services.eutils import EUtils
from entrez_kit.services.transport.client import SingleFlight, Transport, _SharedRequest
from entrez_kit.services.transport.limiter import SlotUnavailable
from entrez_kit.services.transport.retry import Backoff

QUICK = Backoff(first=0.01, cap=0.02)
KEY = "canary0123456789abcdef0123456789abcd"
EMAIL = "canary.person+test@example.org"


class CountingLimiter:
    """Accepts everything and counts it, or refuses everything."""

    def __init__(self, refuse_seconds: float | None = None) -> None:
        self.taken = 0
        self.refuse_seconds = refuse_seconds

    def acquire(self, deadline: float | None = None) -> None:
        """Count a slot."""
        if self.refuse_seconds is not None:
            raise SlotUnavailable(self.refuse_seconds)
        self.taken += 1


@dataclass
class TransportBench:
    """A transport with its server, settings and limiter."""

    server: Loopback
    settings: Settings
    transport: Transport
    eutils: EUtils
    limiter: CountingLimiter

    @contextmanager
    def open_another(self, **changes: Any) -> "Iterator[TransportBench]":
        """Open a second transport on the same folders and server, with other settings."""
        with open_bench(self.server, replace(self.settings, **changes)) as bench:
            yield bench

    def cache_bytes(self) -> bytes:
        """Return all bytes of all files in the cache and state folders."""
        folders = (self.settings.cache_dir, self.settings.state_dir)
        return b"".join(path.read_bytes() for folder in folders for path in sorted(folder.rglob("*")) if path.is_file())


class _CountedEvent(threading.Event):
    """Counts the calls of `wait`."""

    def __init__(self) -> None:
        super().__init__()
        self.waits = 0

    def wait(self, timeout: float | None = None) -> bool:
        self.waits += 1
        return super().wait(timeout)


def hold_first_caller(monkeypatch: pytest.MonkeyPatch, others: int) -> None:
    """Let the first of identical calls send its request only when this number of others waits for its reply."""
    do, create = SingleFlight.do, _SharedRequest.__init__

    def create_counted(self: Any) -> None:
        create(self)
        self.done = _CountedEvent()

    def do_late(self: Any, key: str, work: Callable[[], Any], deadline: float) -> Any:
        def work_late() -> Any:
            wait_until(lambda: self._flights[key].done.waits >= others)
            return work()

        return do(self, key, work_late, deadline)

    monkeypatch.setattr(_SharedRequest, "__init__", create_counted)
    monkeypatch.setattr(SingleFlight, "do", do_late)


def find_free_port() -> int:
    """Return a port on which no program listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def make_settings(server: Loopback, folder: Path, **changes: Any) -> Settings:
    """Return settings that point at a loopback server and keep everything in a folder."""
    return replace(
        Settings(
            eutils_url=server.eutils_url,
            idconv_url=server.idconv_url,
            europepmc_url=f"{server.root}/europepmc",
            cache_dir=folder / "cache",
            state_dir=folder / "state",
            ncbi_max_retries=3,
        ),
        **changes,
    )


def read_search(bench: TransportBench, term: str = "asthma") -> bytes:
    """Search PubMed, and return the bytes of the reply."""
    return bench.eutils.esearch(db="pubmed", term=term).content


def add_secrets() -> dict[str, Any]:
    """Return settings that hold an api key and an e-mail address."""
    return {"ncbi_api_key": SecretStr(KEY), "ncbi_admin_email": SecretStr(EMAIL)}


@contextmanager
def open_bench(server: Loopback, settings: Settings, **options: Any) -> Iterator[TransportBench]:
    """Open a transport with ready settings."""
    limiter = CountingLimiter()
    options = {"limiters": lambda settings, service: limiter, "backoff": QUICK, **options}
    transport = Transport(settings, **options)
    try:
        yield TransportBench(server, settings, transport, EUtils(transport, settings), limiter)
    finally:
        transport.close()


@contextmanager
def open_workbench(
    folder: Path, *, always: Answer | None = None, options: Any = None, **changes: Any
) -> Iterator[TransportBench]:
    """Start a server and open a transport to it."""
    with (
        Loopback(always) as server,
        open_bench(server, make_settings(server, folder, **changes), **(options or {})) as bench,
    ):
        yield bench

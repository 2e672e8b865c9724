"""Helpers for tests of the response cache: a search, the entries of the file, and a clock that a test moves."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from loopback_server import ESEARCH, Answer, Loopback
from loopback_transport import CountingLimiter, TransportBench, make_settings

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.services import Services
from entrez_kit.services.transport import Reply
from entrez_kit.services.transport.cache import cache_file

ARTICLE = (
    b'<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">1</PMID></MedlineCitation></PubmedArticle>'
    b"</PubmedArticleSet>"
)
NO_ARTICLE = b"<PubmedArticleSet></PubmedArticleSet>"
NOTHING_FOUND = ESEARCH.replace(b"<Count>2", b"<Count>0").replace(b"<Id>11</Id>\n<Id>12</Id>", b"")


def search(bench: TransportBench, term: str = "asthma") -> Reply:
    """Search PubMed."""
    return bench.eutils.esearch(db="pubmed", term=term)


def count_requests(bench: TransportBench) -> int:
    """Return the number of requests that the server received."""
    return len(bench.server.seen)


def read_entries(bench: TransportBench) -> list[tuple[bytes, int]]:
    """Return each entry of the file: its value and the seconds until it expires."""
    with closing(sqlite3.connect(cache_file(bench.settings))) as connection:
        rows = connection.execute("SELECT value, expires FROM responses").fetchall()
    return [(value, expires - int(time.time())) for value, expires in rows]


def change_rows(bench: TransportBench, statement: str, *values: object) -> None:
    """Change the file, as another program could."""
    with closing(sqlite3.connect(cache_file(bench.settings))) as connection, connection:
        connection.execute(statement, values)


def advance_clock(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Advance the clock, that of requests-cache too."""
    moment = time.time
    monkeypatch.setattr(time, "time", lambda: moment() + seconds)
    monkeypatch.setattr("requests_cache.backends.sqlite.time", time.time)
    for module in ("policy.actions", "policy.expiration", "models.response"):
        monkeypatch.setattr(f"requests_cache.{module}.utcnow", lambda: datetime.fromtimestamp(time.time(), UTC))


def assert_only_cached(accepted: bytes, rejected: bytes, call: Callable[[Services], object], folder: Path) -> None:
    """Make a call twice with each reply; check that only the accepted reply is cached."""
    with Loopback(Answer(body=rejected)) as server:
        settings = make_settings(
            server, folder, pmc_oa_url=f"{server.root}/bucket", ncbi_max_retries=0, europepmc_max_retries=0
        )
        with Services(settings) as services:
            services.transport._limiters = lambda *_: CountingLimiter()  # Services has no such argument
            with suppress(EntrezKitError):
                call(services)
            before = len(server.seen)
            assert before
            with suppress(EntrezKitError):
                call(services)
            assert len(server.seen) > before, "it came from the cache"

            server.always = Answer(body=accepted)
            call(services)
            before = len(server.seen)
            call(services)
            assert len(server.seen) == before, "it did not come from the cache"

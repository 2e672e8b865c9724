"""Requests of the gene tools: within NCBI's rate limit, with retries, and once for identical calls."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from arrival_server import ArrivalRelay, count_most_in_a_second
from gene_helpers import Genes, write_record

from entrez_kit import EntrezKit, load_settings
from entrez_kit.sandbox.fixture_database import FixtureDatabase
from entrez_kit.sandbox.server import Sandbox

INVENTED = [write_record(number, f"ABC{number}") for number in range(990_000_100, 990_000_120)]
IDS = [f"NCBIGene:{gene['uid']}" for gene in INVENTED]


@pytest.fixture(name="timed")
def _timed(tmp_path: Path) -> Callable[..., Any]:
    """Serve invented genes, to a kit that waits in real time, through a relay that records when requests arrive."""

    @contextmanager
    def build(**overrides: Any) -> Iterator[tuple[Genes, ArrivalRelay]]:
        with Sandbox(enforce_limits=False) as sandbox, ArrivalRelay(sandbox.url) as relay:
            sandbox.register(FixtureDatabase("gene", sandbox.collection, INVENTED))
            settings = load_settings({"home": tmp_path / "home", **overrides}).use_sandbox(relay.url)
            with EntrezKit(replace(settings, state_dir=tmp_path / "state")) as kit:
                yield Genes(kit, sandbox), relay

    return build


def _get_all(genes: Genes, ids: list[str]) -> list[str]:
    with ThreadPoolExecutor(len(ids)) as pool:
        return [gene.id for gene in pool.map(genes.get, ids)]


@pytest.mark.long
def test_at_most_three_requests_a_second_are_sent_without_a_key(timed: Callable[..., Any]) -> None:
    with timed() as (genes, relay):
        assert _get_all(genes, IDS[:7]) == IDS[:7]
        assert len(relay.times) == genes.sandbox.requests()
        assert count_most_in_a_second(relay.times) <= 3


@pytest.mark.long
def test_at_most_ten_requests_a_second_are_sent_with_a_key(timed: Callable[..., Any]) -> None:
    with timed(ncbi_api_key="a-key-of-the-test") as (genes, relay):
        assert _get_all(genes, IDS) == IDS
        assert len(relay.times) == genes.sandbox.requests()
        assert count_most_in_a_second(relay.times) <= 10
        assert max(relay.times) - min(relay.times) < len(IDS) / 3  # faster than without a key
        assert all(entry.keyed for entry in genes.sandbox.entries())


def test_a_429_causes_retries_with_growing_waits(genes: Genes, monkeypatch: pytest.MonkeyPatch) -> None:
    from entrez_kit.services.transport.retry import Backoff

    requested: list[int] = []

    def record_wait(self: Backoff, failures: int, wait: float | None) -> float:
        requested.append(failures)
        return 0.001

    monkeypatch.setattr(Backoff, "compute_wait", record_wait)
    genes.sandbox.fail_next("429", "efetch", times=3)

    assert genes.get("NCBIGene:7157").symbol == "TP53"
    assert requested == [1, 2, 3]
    assert genes.sandbox.requests("efetch") == 4


def test_simultaneous_calls_for_the_same_gene_send_one_request(genes: Genes) -> None:
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(genes.get, ["NCBIGene:7157"] * 12))

    assert {gene.symbol for gene in found} == {"TP53"}
    assert genes.sandbox.requests("efetch") == 1


def test_a_repeated_call_sends_no_request(genes: Genes) -> None:
    first = genes.search("TP53", organism="human")
    before = genes.sandbox.requests()

    assert genes.search("TP53", organism="human") == first
    assert genes.sandbox.requests() == before


def test_a_search_takes_four_requests_and_a_lookup_one(genes: Genes) -> None:
    genes.search("TP53", organism="human")
    assert genes.sandbox.requests() == 4

    genes.get("NCBIGene:7157")
    assert genes.sandbox.requests() == 5

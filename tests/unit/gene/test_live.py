"""The acceptance scenarios against the real services: ``ENTREZ_KIT_LIVE=1 pytest -m live``; never in the gate.

They check what cannot change from one day to the next: ids, symbols, species, codes.
"""

import os
import socket
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from entrez_kit import EntrezKit, load_settings
from entrez_kit.errors import AmbiguousQuery, EntityNotFound, UnresolvedEntity
from entrez_kit.gene.links import GET_PUBMED_LINKS
from entrez_kit.gene.lookup import GET_GENE
from entrez_kit.gene.models import Gene, GenePage, PubMedLinks
from entrez_kit.gene.search import SEARCH_GENES

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(os.environ.get("ENTREZ_KIT_LIVE") != "1", reason="ENTREZ_KIT_LIVE=1 is not set"),
]
_CONNECT = socket.socket.connect


@pytest.fixture(name="kit")
def _kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EntrezKit]:
    """Build a kit for the real services, with an empty cache and the network open again."""
    monkeypatch.setattr(socket.socket, "connect", _CONNECT)
    with EntrezKit(load_settings({"home": tmp_path / "home"})) as kit:
        yield kit


def _search(kit: EntrezKit, query: str, **arguments: Any) -> GenePage:
    return SEARCH_GENES.run(kit.services, {"query": query, **arguments})


def _get(kit: EntrezKit, entrez_id: str, **arguments: Any) -> Gene:
    return GET_GENE.run(kit.services, {"entrez_id": entrez_id, **arguments})


def _links(kit: EntrezKit, entrez_id: str, **arguments: Any) -> PubMedLinks:
    return GET_PUBMED_LINKS.run(kit.services, {"entrez_id": entrez_id, **arguments})


def test_live_us1_scenario_1_brca1_gives_ranked_candidates(kit: EntrezKit) -> None:
    page = _search(kit, "BRCA1")

    assert "NCBIGene:672" in {item.id for item in page.items[:5]}
    assert page.items[0].match == "symbol"
    assert len(page.items) == 50
    assert (page.pagination.total_count or 0) > 50
    assert all(earlier.score > later.score for earlier, later in pairwise(page.items))


def test_live_us1_scenario_2_words_give_candidates(kit: EntrezKit) -> None:
    page = _search(kit, "tumor suppressor", page_size=10)

    assert len(page.items) == 10
    assert (page.pagination.total_count or 0) > 100


def test_live_us1_scenario_3_only_human_genes(kit: EntrezKit) -> None:
    page = _search(kit, "TP53", organism="human")

    assert page.items[0].id == "NCBIGene:7157"
    assert {item.organism.split()[0] for item in page.items} == {"Homo"}


def test_live_pages_join_without_gap_or_overlap(kit: EntrezKit) -> None:
    whole = _search(kit, "TP53", organism="mouse", page_size=20)
    first = _search(kit, "TP53", organism="mouse", page_size=10)
    second = _search(kit, "TP53", organism="mouse", page_size=10, cursor=first.pagination.cursor)

    assert [item.id for item in (*first.items, *second.items)] == [item.id for item in whole.items]


def test_live_edge_cases_of_search(kit: EntrezKit) -> None:
    assert _search(kit, "qqzzxxyvvkkw").pagination.total_count == 0
    assert [item.symbol for item in _search(kit, "YFL039C", organism="yeast").items][:1] == ["ACT1"]
    assert _search(kit, "lacZ", organism="Escherichia coli").items
    with pytest.raises(AmbiguousQuery):
        _search(kit, "TP53", organism="klingon")
    with pytest.raises(AmbiguousQuery):
        _search(kit, "TP53", organism="txid999999999")


def test_live_us2_scenario_1_tp53_is_complete(kit: EntrezKit) -> None:
    gene = _get(kit, "NCBIGene:7157")

    assert gene.symbol == "TP53"
    assert gene.summary
    assert gene.map_location == "17p13.1"
    assert gene.chromosome == "17"
    assert "P53" in {alias.upper() for alias in gene.aliases}
    references = gene.cross_references
    assert references.hgnc == "HGNC:11998"
    assert references.ensembl_gene == "ENSG00000141510"
    assert "P04637" in references.uniprot
    assert "NM_000546" in references.refseq
    assert references.omim == "191170"
    assert references.entrez == "7157"


def test_live_us2_scenario_2_a_symbol_is_unresolved(kit: EntrezKit) -> None:
    with pytest.raises(UnresolvedEntity) as caught:
        _get(kit, "TP53")
    assert "search_genes" in caught.value.recovery_hint


def test_live_us2_scenario_3_an_id_without_a_gene_is_not_found(kit: EntrezKit) -> None:
    for call in (_get, _links):
        with pytest.raises(EntityNotFound):
            call(kit, "NCBIGene:999999999")


def test_live_genes_of_other_species_and_states(kit: EntrezKit) -> None:
    assert _get(kit, "NCBIGene:22059").cross_references.ensembl_gene == "ENSMUSG00000059552"
    assert _get(kit, "NCBIGene:945803").symbol == "thrA"
    replaced = _get(kit, "NCBIGene:60454")
    assert (replaced.status, replaced.replaced_by) == ("replaced", "NCBIGene:6622")


def test_live_us3_literature_links(kit: EntrezKit) -> None:
    links = _links(kit, "NCBIGene:7157", limit=10)

    assert len(links.pmids) == 10
    assert links.total_count > 1000
    assert all(pmid.isdigit() for pmid in links.pmids)


def test_live_us4_every_hint_leads_on(kit: EntrezKit) -> None:
    with pytest.raises(UnresolvedEntity) as caught:
        _get(kit, "BRCA1")
    assert 'search_genes(query="BRCA1")' in caught.value.recovery_hint
    assert _get(kit, _search(kit, "BRCA1", organism="human").items[0].id).symbol == "BRCA1"


def test_live_sc_001_searches_are_quick(kit: EntrezKit) -> None:
    seconds = []
    for query in ("TP53", "BRCA2", "insulin receptor", "EGFR", "hemoglobin"):
        started = time.monotonic()
        _search(kit, query, organism="human", page_size=10)
        seconds.append(time.monotonic() - started)
        time.sleep(1)

    assert sorted(seconds)[len(seconds) // 2] < 3

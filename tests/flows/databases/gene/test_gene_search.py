"""search_genes: arguments, ranking, paging and errors."""

import base64
import json
import threading
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import pytest
from canned_services import write_esearch_xml
from gene_helpers import CannedGenes, Genes, write_docsum, write_esummary_xml, write_record

from entrez_kit.base.errors import AmbiguousQuery, EntityNotFound, UpstreamError
from entrez_kit.databases.gene.gene_candidates import classify_match, score_rank
from entrez_kit.databases.gene.gene_records import parse_summaries
from entrez_kit.databases.gene.models import GenePage
from entrez_kit.databases.gene.organisms import COMMON
from entrez_kit.databases.gene.search_genes import SEARCH_GENES, search_genes
from entrez_kit.databases.gene.search_request import SearchGenesRequest, decode_cursor, encode_cursor
from entrez_kit.sandbox.fixture_database import FixtureRecord
from entrez_kit.services.esummary_reply import parse_esummary

GenesOf = Callable[[Iterable[FixtureRecord]], Genes]
NOTHING = write_esearch_xml(0)


def _write_genes() -> list[FixtureRecord]:
    """Return 30 genes with the symbol, 25 with it as an alias, 20 that only mention it, and others."""
    records = [write_record(1000 + n, "ABC1", name=f"first {n}") for n in range(30)]
    records += [write_record(2000 + n, f"XY{n}", synonyms=["ABC1"]) for n in range(25)]
    records += [write_record(3000 + n, f"ZZ{n}", summary=f"Works with ABC1 in case {n}.") for n in range(20)]
    return records + [write_record(4000 + n, f"QQ{n}") for n in range(10)]


def _read_all_pages(genes: Genes, query: str, page_size: int) -> list[GenePage]:
    pages = [genes.search(query, page_size=page_size)]
    while pages[-1].pagination.cursor:
        pages.append(genes.search(query, page_size=page_size, cursor=pages[-1].pagination.cursor))
    return pages


def test_search_genes_takes_query_organism_page_size_and_cursor(genes: Genes) -> None:
    page = genes.search("tumor suppressor", organism="human", page_size=1, cursor=encode_cursor(1))

    assert [item.symbol for item in page.items] == ["BRCA1"]
    specified = {"query", "organism", "page_size", "cursor"}
    assert set(SearchGenesRequest.model_fields) == specified | {"include_discontinued", "broader_results"}


def test_a_symbol_gives_ranked_candidates_with_entrez_ids(genes: Genes) -> None:
    page = genes.search("BRCA1")

    assert page.items[0].id == "NCBIGene:672"
    assert {item.organism for item in page.items} == {"Homo sapiens", "Mus musculus"}
    assert page.pagination.total_count == len(page.items) == 2


def test_words_give_several_ranked_candidates(genes: Genes) -> None:
    page = genes.search("tumor suppressor")

    assert len(page.items) > 1
    assert page.items[0].symbol == "TP53"
    assert page.items[0].match == "name"


def test_an_organism_filter_returns_genes_of_that_organism_only(genes: Genes) -> None:
    everywhere = genes.search("Trp53")
    human = genes.search("TP53", organism="human")

    assert {item.taxon_id for item in everywhere.items} == {9606, 10090}
    assert {item.taxon_id for item in human.items} == {9606}


def test_candidates_have_id_name_description_and_score(genes: Genes) -> None:
    (item,) = genes.search("TP53").items

    assert item.model_dump() == {
        "id": "NCBIGene:7157",
        "symbol": "TP53",
        "name": "tumor protein p53",
        "description": "cellular tumor antigen p53; antigen NY-CO-13; mutant tumor protein 53; p53 tumor suppressor; "
        "phosphoprotein p53; transformation-related protein 53; tumor protein 53; tumor supressor p53",
        "organism": "Homo sapiens",
        "taxon_id": 9606,
        "match": "symbol",
        "score": 1.0,
    }


def test_all_organisms_unless_one_is_named(genes: Genes) -> None:
    assert {item.taxon_id for item in genes.search("BRCA1").items} == {9606, 10090}
    assert {item.taxon_id for item in genes.search("BRCA1", organism="mouse").items} == {10090}


def test_pages_have_50_genes_by_default(genes_of: GenesOf) -> None:
    genes = genes_of(_write_genes())
    page = genes.search("ABC1")

    assert page.pagination.page_size == 50
    assert len(page.items) == 50
    assert page.pagination.cursor == "eyJvZmZzZXQiOiA1MH0="
    assert len(genes.search("ABC1", cursor=page.pagination.cursor).items) == 25


@pytest.mark.long
@pytest.mark.parametrize("page_size", [1, 7, 30, 55, 100])
def test_pages_of_any_size_join_into_the_same_list(genes_of: GenesOf, page_size: int) -> None:
    pages = _read_all_pages(genes_of(_write_genes()), "ABC1", page_size)
    items = [item for page in pages for item in page.items]

    assert len(items) == 75
    assert len({item.id for item in items}) == 75
    assert {page.pagination.total_count for page in pages} == {75}
    assert all(len(page.items) == page_size for page in pages[:-1])
    assert [item.match for item in items] == ["symbol"] * 30 + ["alias"] * 25 + ["other"] * 20
    assert [item.score for item in items] == [score_rank(rank) for rank in range(75)]


def test_results_come_in_the_canonical_envelope(genes: Genes) -> None:
    document = genes.search("TP53").model_dump()

    assert set(document) == {"items", "pagination"}
    assert document["pagination"] == {"cursor": None, "total_count": 1, "page_size": 50}


def test_replies_are_requested_and_read_as_xml() -> None:
    services = CannedGenes(
        esearch=[write_esearch_xml(1, [7157]), NOTHING, NOTHING],
        esummary=[write_esummary_xml(write_docsum(7157, "TP53"))],
    )
    search_genes(services, SearchGenesRequest(query="TP53"))  # type: ignore[arg-type]

    assert [name for name, _ in services.asked] == ["esearch"] * 3 + ["esummary"]
    assert all(parameters.get("retmode", "xml") == "xml" for _, parameters in services.asked)
    assert services.asked[-1][1]["version"] == "2.0"


@pytest.mark.parametrize(("offset", "cursor"), [(5, "eyJvZmZzZXQiOiA1fQ=="), (100, "eyJvZmZzZXQiOiAxMDB9")])
def test_a_cursor_is_base64_of_its_offset(offset: int, cursor: str) -> None:
    assert encode_cursor(offset) == cursor
    assert decode_cursor(cursor) == offset


def _encode(document: object) -> str:
    return base64.b64encode(json.dumps(document).encode()).decode()


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "eyJvZmZzZXQiOiA1MH0",
        "!!!!",
        "é",
        _encode({"offset": -1}),
        _encode({"offset": "5"}),
        _encode({"offset": 5.0}),
        _encode({"offset": True}),
        _encode({"offset": 5, "more": 1}),
        _encode({"offset": 10**30}),
        _encode([5]),
        _encode(5),
        "W" * 5000,
    ],
)
def test_an_invalid_cursor_is_rejected_and_not_read_as_the_first_page(genes: Genes, cursor: str) -> None:
    with pytest.raises(AmbiguousQuery) as caught:
        genes.search("TP53", cursor=cursor)

    assert (caught.value.invalid_input or "").startswith("cursor=")
    assert genes.sandbox.requests() == 0


def test_a_cursor_after_the_end_gives_an_empty_last_page(genes: Genes) -> None:
    page = genes.search("TP53", cursor=encode_cursor(500))

    assert page.items == []
    assert page.pagination.model_dump() == {"cursor": None, "total_count": 1, "page_size": 50}


def test_scores_decrease_from_one_and_never_reach_zero() -> None:
    scores = [score_rank(rank) for rank in range(100_000)]

    assert scores[0] == 1
    assert all(earlier > later > 0 for earlier, later in pairwise(scores))
    assert score_rank(10**9) > 0


def test_genes_with_equal_scores_are_sorted_by_id(genes_of: GenesOf) -> None:
    genes = genes_of([write_record(number, "ABC1") for number in (3003, 1001, 2002)])

    assert [item.id for item in genes.search("ABC1").items] == ["NCBIGene:1001", "NCBIGene:2002", "NCBIGene:3003"]


def test_a_symbol_ranks_above_the_same_word_as_an_alias(genes: Genes) -> None:
    page = genes.search("TRP53")

    assert [(item.symbol, item.match, item.taxon_id) for item in page.items] == [
        ("Trp53", "symbol", 10090),
        ("TP53", "alias", 9606),
    ]


def test_records_that_are_not_current_are_found_only_on_request_and_show_their_status(genes: Genes) -> None:
    assert [item.symbol for item in genes.search("PARK4").items] == ["SNCA"]

    replaced, current = genes.search("PARK4", include_discontinued=True).items
    assert (replaced.symbol, replaced.status, replaced.replaced_by) == ("PARK4", "replaced", "NCBIGene:6622")
    assert (current.symbol, current.status) == ("SNCA", None)
    (withdrawn,) = genes.search("DEMOX1", include_discontinued=True).items
    assert (withdrawn.status, withdrawn.replaced_by) == ("discontinued", None)


def test_locus_tags_find_genes_with_and_without_a_symbol(genes: Genes) -> None:
    assert [item.symbol for item in genes.search("YAL067W-A").items] == ["YAL067W-A"]
    assert [(item.symbol, item.match) for item in genes.search("b0002").items] == [("thrA", "alias")]


def test_entrez_syntax_is_sent_unchanged_as_one_search(genes: Genes) -> None:
    page = genes.search("BRCA1[sym] AND mouse[orgn]")

    assert [(item.id, item.match) for item in page.items] == [("NCBIGene:12189", "symbol")]
    assert genes.sandbox.requests("esearch") == 1


def test_an_unknown_field_causes_a_warning(genes: Genes) -> None:
    page = genes.search("BRCA1[nosuchfield]")

    assert [warning.code for warning in page.warnings] == ["query_broadened", "field_not_found"]
    assert "nosuchfield" in page.warnings[0].message


def test_a_search_without_results_gives_an_empty_page(genes: Genes) -> None:
    page = genes.search("qqzzxxy")

    assert page.model_dump() == {"items": [], "pagination": {"cursor": None, "total_count": 0, "page_size": 50}}


@pytest.mark.parametrize("query", ["", " ", "B", " B ", "()", "!!"])
def test_a_query_of_less_than_two_characters_is_rejected(genes: Genes, query: str) -> None:
    with pytest.raises(AmbiguousQuery) as caught:
        genes.search(query)

    assert (caught.value.invalid_input or "").startswith("query=")
    assert "at least 2 characters" in caught.value.recovery_hint
    assert genes.sandbox.requests() == 0


@pytest.mark.parametrize(
    ("organism", "symbols"),
    [
        ("yeast", ["PAU8"]),
        ("Saccharomyces cerevisiae", ["PAU8"]),
        ("saccharomyces CEREVISIAE S288C", ["PAU8"]),
        ("4932", ["PAU8"]),
        ("txid559292", ["PAU8"]),
        ("txid4932[Organism]", ["PAU8"]),
        ("NCBITaxon:559292", ["PAU8"]),
        ("human", []),
    ],
)
def test_organisms_are_accepted_by_common_name_scientific_name_and_taxid(
    genes: Genes, organism: str, symbols: list[str]
) -> None:
    assert [item.symbol for item in genes.search("PAU8", organism=organism).items] == symbols


def test_common_names_of_organisms_need_no_request(genes: Genes) -> None:
    genes.search("TP53", organism="human")

    assert [entry.get("db") for entry in genes.sandbox.entries("esearch")] == ["gene"] * 3
    assert {"human", "mouse", "rat", "zebrafish", "fly", "worm", "yeast"} <= set(COMMON)


@pytest.mark.parametrize(
    "organism", ["klingon", "999999999", "txid0", '"', 'human" OR "mouse', "Homo sapiens OR mouse"]
)
def test_an_unknown_organism_is_an_error_with_a_hint_and_not_an_empty_page(genes: Genes, organism: str) -> None:
    with pytest.raises(AmbiguousQuery) as caught:
        genes.search("TP53", organism=organism)

    assert caught.value.invalid_input == f"organism={organism}"
    assert "human, mouse, rat" in caught.value.recovery_hint
    assert caught.value.reason == "unknown_organism"


def test_a_name_of_several_taxa_is_ambiguous_and_the_hint_names_one(genes: Genes) -> None:
    with pytest.raises(AmbiguousQuery) as caught:
        genes.search("TP53", organism="Echinacea")

    assert caught.value.details["taxids"] == ["53747", "7674"]
    assert 'organism="txid53747"' in caught.value.recovery_hint


# Possible answers of NCBI, prepared


def _run_search(services: CannedGenes, query: str, **arguments: object) -> GenePage:
    return SEARCH_GENES.run(services, {"query": query, **arguments})  # type: ignore[arg-type]


def _write_not_found(phrase: str) -> str:
    return f"<ErrorList><PhraseNotFound>{phrase}</PhraseNotFound></ErrorList>"


def test_a_symbol_that_ncbi_drops_does_not_return_every_gene() -> None:
    services = CannedGenes(
        esearch=[
            write_esearch_xml(40_000, range(1, 51), _write_not_found('"qq"[Preferred Symbol]')),
            write_esearch_xml(40_000, range(1, 51), _write_not_found('"qq"[Gene Name]')),
            write_esearch_xml(40_000, range(1, 51), _write_not_found("qq[All Fields]")),
            write_esearch_xml(40_000, range(1, 51), _write_not_found('"qq"[Gene Name]')),
            write_esearch_xml(40_000, range(1, 51), _write_not_found("qq[All Fields]")),
            write_esearch_xml(40_000, range(1, 51), _write_not_found("qq[All Fields]")),
        ]
    )
    page = _run_search(services, "qq", organism="human")

    assert page.items == []
    assert page.pagination.total_count == 0


def test_a_dropped_word_among_others_causes_a_warning() -> None:
    errors = _write_not_found("supressorr")
    services = CannedGenes(
        esearch=[NOTHING, NOTHING, write_esearch_xml(1, [7157], errors)],
        esummary=[write_esummary_xml(write_docsum(7157, "TP53"))],
    )
    page = _run_search(services, "tumor supressorr")

    assert [item.symbol for item in page.items] == ["TP53"]
    assert [warning.code for warning in page.warnings] == ["query_broadened", "phrase_not_found"]


def test_a_gene_without_a_summary_is_named_and_the_others_are_returned() -> None:
    missing = '<DocumentSummary uid="2"><error>cannot get document summary</error></DocumentSummary>'
    services = CannedGenes(
        esearch=[write_esearch_xml(3, [1, 2, 3]), NOTHING, NOTHING],
        esummary=[write_esummary_xml(write_docsum(1, "ABC1"), missing, write_docsum(3, "ABC1"))],
    )
    page = _run_search(services, "ABC1")

    assert [item.id for item in page.items] == ["NCBIGene:1", "NCBIGene:3"]
    assert [item.score for item in page.items] == [score_rank(0), score_rank(2)]
    assert page.warnings[0].code == "summaries_missing"
    error = page.missing_error()
    assert isinstance(error, UpstreamError)
    assert error.details["missing"] == ["NCBIGene:2"]
    assert error.details["partial"] is True


@pytest.mark.parametrize("reply", [write_esummary_xml(), EntityNotFound("none of them")])
def test_a_page_without_any_summary_is_an_error(reply: bytes | Exception) -> None:
    services = CannedGenes(esearch=[write_esearch_xml(2, [1, 2]), NOTHING, NOTHING], esummary=[reply])

    with pytest.raises(UpstreamError) as caught:
        _run_search(services, "ABC1")
    assert caught.value.details["missing"] == ["NCBIGene:1", "NCBIGene:2"]


def test_fewer_ids_than_ncbi_counted_are_an_error_and_not_a_short_page() -> None:
    services = CannedGenes(esearch=[write_esearch_xml(60, range(1, 31)), NOTHING, NOTHING])

    with pytest.raises(UpstreamError) as caught:
        _run_search(services, "ABC1")
    assert caught.value.reason == "incomplete"


def test_a_reply_that_is_not_a_search_result_is_an_upstream_error() -> None:
    with pytest.raises(UpstreamError):
        _run_search(CannedGenes(esearch=[b"<html>busy</html>", NOTHING, NOTHING]), "ABC1")


def test_a_page_is_filled_from_three_searches_with_one_request_each() -> None:
    services = CannedGenes(
        esearch=[write_esearch_xml(1, [1]), write_esearch_xml(1, [2]), write_esearch_xml(9, [3, 4, 5])],
        esummary=[write_esummary_xml(*(write_docsum(uid, f"S{uid}") for uid in (1, 2, 3)))],
    )
    page = _run_search(services, "ABC1", page_size=3)

    assert [parameters["retmax"] for name, parameters in services.asked if name == "esearch"] == [3, 3, 3]
    assert [item.id for item in page.items] == ["NCBIGene:1", "NCBIGene:2", "NCBIGene:3"]
    assert page.pagination.total_count == 11
    assert page.pagination.cursor == encode_cursor(3)


def test_later_pages_begin_inside_the_right_search() -> None:
    services = CannedGenes(
        esearch=[
            *(write_esearch_xml(10, range(first, first + 10)) for first in (1, 11)),
            write_esearch_xml(40, range(21, 31)),
            write_esearch_xml(40, range(31, 41)),
        ],
        esummary=[
            write_esummary_xml(*(write_docsum(uid, f"S{uid}") for uid in range(13, 23))),
            write_esummary_xml(*(write_docsum(uid, f"S{uid}") for uid in range(31, 41))),
        ],
    )
    page = _run_search(services, "ABC1", page_size=10, cursor=encode_cursor(12))

    assert [item.id for item in page.items] == [f"NCBIGene:{uid}" for uid in range(13, 23)]
    assert [item.score for item in page.items] == [score_rank(rank) for rank in range(12, 22)]

    services = CannedGenes(
        esearch=[
            *(write_esearch_xml(10, range(first, first + 10)) for first in (1, 11)),
            write_esearch_xml(40, range(21, 31)),
            write_esearch_xml(40, range(31, 41)),
        ],
        esummary=[write_esummary_xml(*(write_docsum(uid, f"S{uid}") for uid in range(31, 41)))],
    )
    page = _run_search(services, "ABC1", page_size=10, cursor=encode_cursor(30))

    assert [item.id for item in page.items] == [f"NCBIGene:{uid}" for uid in range(31, 41)]
    assert services.asked[3][1]["retstart"] == 10


def test_the_three_searches_of_a_query_are_in_flight_together() -> None:
    """Each waits until all three were sent; one after the other they would never end."""
    gate = threading.Barrier(3, timeout=30)

    class GatedServices(CannedGenes):
        def get_next_body(self, endpoint: str, term: str) -> bytes | Exception:
            if endpoint == "esearch":
                gate.wait()
            return super().get_next_body(endpoint, term)

    services = GatedServices(
        esearch=[write_esearch_xml(1, [7157]), NOTHING, NOTHING],
        esummary=[write_esummary_xml(write_docsum(7157, "TP53"))],
    )

    assert [item.symbol for item in _run_search(services, "TP53").items] == ["TP53"]


class RoundServices(CannedGenes):
    """Answers a request only when all requests of its round were sent."""

    def __init__(self, *rounds: int, **bodies: Any) -> None:
        super().__init__(**bodies)
        barriers = [threading.Barrier(size, timeout=30) for size in rounds]
        self._rounds = [barrier for barrier in barriers for _ in range(barrier.parties)]
        self._lock = threading.Lock()

    def get_next_body(self, endpoint: str, term: str) -> bytes | Exception:
        with self._lock:
            barrier = self._rounds.pop(0)
        barrier.wait()
        with self._lock:
            return super().get_next_body(endpoint, term)


def test_searches_with_wrong_exclusions_are_repeated_together() -> None:
    symbol = _write_not_found('"p53"[Preferred Symbol]')
    services = RoundServices(
        *(3, 2, 1),
        esearch=[
            write_esearch_xml(0, [], symbol),
            write_esearch_xml(1, [7157], symbol),
            write_esearch_xml(1, [672], symbol),
            write_esearch_xml(1, [7157]),
            write_esearch_xml(1, [672]),
        ],
        esummary=[write_esummary_xml(write_docsum(7157, "TP53"), write_docsum(672, "BRCA1"))],
    )

    assert [item.symbol for item in _run_search(services, "p53").items] == ["TP53", "BRCA1"]


def test_a_word_that_ncbi_drops_and_does_not_find_is_searched_in_two_rounds() -> None:
    unknown = _write_not_found('"qq"[Preferred Symbol]'), _write_not_found('"qq"[Gene Name]'), _write_not_found("qq")
    services = RoundServices(*(3, 2), esearch=[write_esearch_xml(0, [], unknown[number]) for number in (0, 1, 2, 1, 2)])
    page = _run_search(services, "qq")

    assert (page.items, page.pagination.total_count) == ([], 0)
    assert len(services.asked) == 5


@pytest.mark.parametrize(
    ("query", "organism", "requests"),
    [("TP53", None, 4), ("p53", None, 4), ("p53", "human", 4), ("tumor suppressor", None, 4), ("xyzzyx", None, 3)],
)
def test_a_search_sends_no_request_twice_where_ncbi_kept_an_unknown_symbol(
    genes: Genes, query: str, organism: str | None, requests: int
) -> None:
    genes.search(query, organism=organism)

    assert genes.sandbox.requests() == requests


def test_a_wrong_exclusion_is_corrected_by_further_searches() -> None:
    symbols = _write_not_found('"two words"[Preferred Symbol]')
    services = CannedGenes(
        esearch=[
            write_esearch_xml(1, [1]),  # it is a symbol of two words
            write_esearch_xml(2, [1, 2]),
            write_esearch_xml(3, [1, 2, 3]),
            write_esearch_xml(1, [2]),
            write_esearch_xml(1, [3]),
        ],
        esummary=[write_esummary_xml(*(write_docsum(uid, f"S{uid}") for uid in (1, 2, 3)))],
    )
    assert _run_search(services, "two words").pagination.total_count == 3
    terms = [parameters["term"] for endpoint, parameters in services.asked if endpoint == "esearch"]
    assert all(" NOT " in term for term in terms[3:5])

    services = CannedGenes(
        esearch=[
            write_esearch_xml(40_000, [9], symbols),
            write_esearch_xml(40_000, [9], symbols),
            write_esearch_xml(40_000, [9], symbols),
            NOTHING,
            write_esearch_xml(1, [3]),
        ],
        esummary=[write_esummary_xml(write_docsum(3, "S3"))],
    )
    assert [item.id for item in _run_search(services, "unknown").items] == ["NCBIGene:3"]
    terms = [parameters["term"] for endpoint, parameters in services.asked if endpoint == "esearch"]
    assert not any("[Preferred Symbol]" in term for term in terms[3:])


def test_a_dropped_part_of_a_gene_query_is_reported_before_the_genes() -> None:
    errors = _write_not_found("supressorr")
    services = CannedGenes(
        esearch=[NOTHING, NOTHING, write_esearch_xml(1, [7157], errors)],
        esummary=[write_esummary_xml(write_docsum(7157, "TP53"))],
    )
    document = _run_search(services, "tumor supressorr").model_dump(mode="json")

    assert list(document)[:3] == ["query_broadened", "strict_total", "items"]
    assert (document["query_broadened"], document["strict_total"]) == (True, 0)


def test_summaries_of_the_older_layout_are_read_too() -> None:
    body = write_esummary_xml(
        '<DocumentSummary uid="21803"><Name>Tgfb1</Name><Description>transforming growth factor, beta 1</Description>'
        "<Orgname>Mus musculus</Orgname><Status>0</Status><CurrentID>0</CurrentID><OtherAliases>Tgfb, Tgfb-1"
        "</OtherAliases><OtherDesignations>TGF-beta 1|regulatory protein</OtherDesignations><TaxID>10090</TaxID>"
        "</DocumentSummary>"
    )
    found = parse_summaries(parse_esummary(body))

    summary = found["21803"]
    assert (summary.symbol, summary.organism, summary.taxon_id) == ("Tgfb1", "Mus musculus", 10090)
    assert summary.aliases == ["Tgfb", "Tgfb-1"]
    assert summary.description == "TGF-beta 1; regulatory protein"
    assert classify_match(summary, "tgfb-1") == "alias"
    assert classify_match(summary, "growth factor") == "name"
    assert classify_match(summary, "kinase") == "other"


def test_summaries_that_are_an_error_are_an_upstream_error() -> None:
    with pytest.raises(UpstreamError):
        parse_summaries(parse_esummary(b"<eSummaryResult><ERROR>Backend timed out</ERROR></eSummaryResult>"))


def test_a_search_without_results_because_of_the_organism_names_the_organism(genes: Genes) -> None:
    page = genes.search("PAU8", organism="human")

    assert page.items == []
    assert [(warning.code, warning.message) for warning in page.warnings] == [
        ("filters_emptied", "Without `organism` the query finds 1 gene.")
    ]
    assert genes.search("qqzzxxy", organism="human").warnings == []


@pytest.mark.parametrize(
    ("query", "position"), [("TP53[", 5), ('"TP53', 1), ("TP53[sym] AND (kinase", 15), ("TP53[sym] OR a) NOT b", 15)]
)
def test_an_unbalanced_query_in_entrez_syntax_is_rejected_before_any_request(
    genes: Genes, query: str, position: int
) -> None:
    with pytest.raises(AmbiguousQuery) as caught:
        genes.search(query)

    assert caught.value.details == {"reason": "unbalanced_query", "position": position}
    assert genes.sandbox.requests() == 0

"""Snowballs: breadth first, every article once, ranked by the number of links to it, within a budget."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from canned_services import list_warning_codes, write_elink_xml
from europepmc_relations import serve_europepmc, write_group, write_linkset, write_med_record
from fixture_types import KitFor
from prepared_reply import prepare_reply

from entrez_kit import EntrezKit
from entrez_kit.base.errors import EntityNotFound, UpstreamError
from entrez_kit.base.progress import Cancelled, Watch, watch_calls
from entrez_kit.base.settings import Settings
from entrez_kit.relationships.find_relationships import RELATIONSHIPS
from entrez_kit.relationships.related_documents import MAX_VIA, RelationshipsResult
from entrez_kit.relationships.snowball import BATCH
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.services.europe_pmc import EuropePMC
from entrez_kit.services.transport import Reply
from entrez_kit.services.transport.client import Transport

Graph = Mapping[str, Sequence[str]]


class CitationGraph:
    """Services over a graph of citations, given as lists of references."""

    at_once = 1

    def __init__(self, graph: Graph, *, fails: Callable[[list[str]], bool] = lambda ids: False) -> None:
        self.graph = graph
        self.fails = fails
        self.asked: list[list[str]] = []
        self.settings = Settings(europepmc_enabled=False)
        self.eutils = self
        self.europepmc = EuropePMC(Transport(self.settings), self.settings)  # disabled, so it sends nothing

    def elink(self, *, ids: list[str], cmd: str, linkname: str, read: Any, **_: Any) -> Reply:
        assert (cmd, linkname) == ("neighbor", "pubmed_pubmed_citedin")
        self.asked.append(list(ids))
        if self.fails(list(ids)):
            raise UpstreamError("out of order", details={"reason": "ncbi_unreachable"})
        sets = [write_linkset(pmid, write_group(linkname, *self.graph.get(pmid, ()))) for pmid in ids]
        return prepare_reply("elink", write_elink_xml(*reversed(sets)), read)

    def esummary(self, *, ids: list[str], read: Any, **_: Any) -> Reply:
        documents = "".join(f'<DocumentSummary uid="{pmid}"><Title>T{pmid}</Title></DocumentSummary>' for pmid in ids)
        body = f"<eSummaryResult><DocumentSummarySet>{documents}</DocumentSummarySet></eSummaryResult>"
        return prepare_reply("esummary", body.encode(), read)

    def run_snowball(self, source: str = "1", **arguments: Any) -> RelationshipsResult:
        requested = {"source_pmid": source, "relationship_type": "citedin", "depth": 2, "max_related_results": 9_999}
        return RELATIONSHIPS.run(self, {**requested, **arguments})  # type: ignore[arg-type]


def list_articles(result: RelationshipsResult) -> list[tuple[str | None, int | None, int | None, list[str]]]:
    return [(article.pmid, article.depth, article.source_count, article.via) for article in result.related_articles]


def test_articles_are_ranked_by_number_of_links_to_them_then_by_distance() -> None:
    services = CitationGraph({"1": ["2", "3", "4"], "2": ["5", "6"], "3": ["6", "4", "1"], "4": ["6", "7", "4"]})
    result = services.run_snowball()

    assert list_articles(result) == [
        ("6", 2, 3, ["2", "3", "4"]),
        ("4", 1, 2, ["1", "3"]),
        ("2", 1, 1, ["1"]),
        ("3", 1, 1, ["1"]),
        ("5", 2, 1, ["2"]),
        ("7", 2, 1, ["4"]),
    ]
    assert (result.total_found, result.retrieved_count, result.provenance) == (6, 6, "ncbi")
    assert result.warnings == []
    assert result.snowball is not None
    assert result.snowball.model_dump() == {"requests": 2, "budget": 20, "followed": [1, 3], "not_followed": [0, 0]}


def test_every_article_is_followed_once_with_a_separate_id_parameter() -> None:
    services = CitationGraph({"1": ["2", "3"], "2": ["3", "1", "4"], "3": ["2", "4"], "4": ["1", "2", "5"]})
    result = services.run_snowball(depth=3)

    assert services.asked == [["1"], ["2", "3"], ["4"]]
    assert {(article.pmid, article.depth) for article in result.related_articles} == {
        ("2", 1),
        ("3", 1),
        ("4", 2),
        ("5", 3),
    }
    assert "1" not in {article.pmid for article in result.related_articles}


def test_links_are_requested_in_batches() -> None:
    first = [str(number) for number in range(100, 100 + 2 * BATCH + 7)]
    services = CitationGraph({"1": first, **{pmid: ["9"] for pmid in first}})
    result = services.run_snowball(max_related_results=1)

    assert [len(ids) for ids in services.asked] == [1, BATCH, BATCH, 7]
    (best,) = result.related_articles
    assert (best.pmid, best.source_count, len(best.via)) == ("9", len(first), MAX_VIA)
    assert (result.retrieved_count, result.total_found) == (1, len(first) + 1)


def test_an_exhausted_budget_is_reported_with_the_remaining_articles_and_the_needed_budget() -> None:
    first = [str(number) for number in range(100, 100 + 3 * BATCH)]
    graph = {"1": first, **{pmid: ["9"] for pmid in first}}
    services = CitationGraph(graph)
    result = services.run_snowball(budget=2)

    assert [len(ids) for ids in services.asked] == [1, BATCH]
    assert list_warning_codes(result) == ["budget_spent"]
    assert f"citing articles of {2 * BATCH} articles were not requested" in result.warnings[0].message
    assert "budget=4" in result.warnings[0].message
    assert result.snowball is not None
    assert (result.snowball.followed, result.snowball.not_followed) == ([1, BATCH], [0, 2 * BATCH])
    assert result.missing_error() is None  # an exhausted budget is not a failure
    assert list_warning_codes(CitationGraph(graph).run_snowball(budget=4)) == []


def test_a_small_budget_reaches_the_best_connected_articles() -> None:
    first = [str(number) for number in range(100, 100 + BATCH)]
    second = [str(number) for number in range(1000, 1000 + 2 * BATCH)]
    best = second[-1]
    services = CitationGraph(
        {"1": first, **{pmid: [*second[:-1], best] if pmid == "100" else [best] for pmid in first}}
    )
    services.run_snowball(depth=3, budget=3)

    assert services.asked[2][0] == best


def test_batches_without_an_answer_make_the_result_incomplete() -> None:
    first = [str(number) for number in range(100, 100 + 5 * BATCH)]
    services = CitationGraph({"1": first}, fails=lambda ids: ids != ["1"])
    result = services.run_snowball()
    missing_error = result.missing_error()

    assert len(services.asked) == 3  # after two failures in a row the service counts as down
    assert list_warning_codes(result) == ["links_incomplete"]
    assert f"{5 * BATCH:,} articles are unknown: out of order" in result.warnings[0].message
    assert isinstance(missing_error, UpstreamError)
    assert missing_error.details["partial"] is True
    assert result.retrieved_count == len(first)


def test_a_reply_that_is_too_large_is_requested_in_halves() -> None:
    class HeavyGraph(CitationGraph):
        def elink(self, *, ids: list[str], **more: Any) -> Reply:
            reply = super().elink(ids=ids, **more)
            if len(ids) > 13:
                raise UpstreamError("too much", details={"reason": "too_large"})
            return reply

    first = [str(number) for number in range(100, 100 + BATCH)]
    services = HeavyGraph({"1": first, **{pmid: ["9"] for pmid in first}})
    result = services.run_snowball(max_related_results=1)

    assert sorted(len(ids) for ids in services.asked) == [1, 12, 12, 13, 13, 25, 25, 50]
    assert result.related_articles[0].source_count == BATCH
    assert result.warnings == []


def test_no_answer_about_the_article_itself_is_an_error() -> None:
    with pytest.raises(UpstreamError):
        CitationGraph({}, fails=lambda ids: True).run_snowball()


def test_progress_is_reported_and_the_caller_can_stop_the_snowball() -> None:
    first = [str(number) for number in range(100, 100 + 3 * BATCH)]
    services = CitationGraph({"1": first})
    steps: list[tuple[int, int | None]] = []
    with watch_calls(Watch(wanted=lambda: True, progress=lambda done, total: steps.append((done, total)))):
        services.run_snowball(max_related_results=1)
    assert [step for step in steps if step[1] == 3 * BATCH] == [(0, 150), (50, 150), (100, 150), (150, 150)]

    stopped = CitationGraph({"1": first})
    impatient = Watch(wanted=lambda: len(stopped.asked) < 2, progress=lambda done, total: None)
    with watch_calls(impatient), pytest.raises(Cancelled):
        stopped.run_snowball()
    assert len(stopped.asked) == 2


# Over the sandbox


def run_snowball(kit: EntrezKit, pmid: str, relation: str, **arguments: Any) -> RelationshipsResult:
    return RELATIONSHIPS.run(
        kit.services, {"source_pmid": pmid, "relationship_type": relation, "depth": 2, **arguments}
    )


def test_references_of_references_are_read_from_records_if_ncbi_has_no_links(sandbox: Sandbox, kit_for: KitFor) -> None:
    serve_europepmc(sandbox)
    result = run_snowball(kit_for(sandbox), "99000071", "references", max_related_results=50)
    found = {article.pmid: article for article in result.related_articles}

    assert result.provenance in ("pubmed_record", "mixed")
    assert {pmid for pmid, one in found.items() if one.depth == 1} == {"99000001", "99000005", "99000007", "99900018"}
    assert found["99900007"].via == ["99000007"]  # 99000007 is not in PMC, so only its record has the references
    assert result.related_articles[0].pmid == "99000007"
    assert result.related_articles[0].source_count == 3


def test_a_snowball_from_a_pmid_that_does_not_exist_uses_no_budget(sandbox: Sandbox, kit_for: KitFor) -> None:
    with pytest.raises(EntityNotFound):
        run_snowball(kit_for(sandbox), "12", "similar")
    assert [entry.endpoint for entry in sandbox.entries()] == ["esummary", "esummary", "esearch"]


def test_europe_pmc_answers_for_single_articles_during_an_outage_of_ncbi(sandbox: Sandbox, kit_for: KitFor) -> None:
    serve_europepmc(
        sandbox,
        citations={
            "99000001": [write_med_record("99000004"), write_med_record("99000002")],
            "99000004": [write_med_record("99000006")],
        },
    )
    sandbox.take_down("elink")
    kit = kit_for(sandbox)
    result = run_snowball(kit, "99000001", "citedin", max_related_results=50)
    cut = run_snowball(kit, "99000001", "citedin", max_related_results=50, budget=4)

    assert [(article.pmid, article.depth) for article in result.related_articles] == [
        ("99000004", 1),
        ("99000002", 1),
        ("99000006", 2),
    ]
    assert (result.provenance, list_warning_codes(result)) == ("europepmc", ["from_europepmc"] * 2)
    assert "budget_spent" in list_warning_codes(cut)
    assert re.search(r"budget=\d+", cut.warnings[-1].message)


@pytest.mark.long
def test_a_repeated_snowball_returns_the_same_document(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    first = run_snowball(kit, "99000001", "similar", max_related_results=30)

    assert (
        run_snowball(kit, "99000001", "similar", max_related_results=30) == first
    )  # from the cache, within the budget
    assert first.snowball is not None
    assert first.snowball.requests <= 3

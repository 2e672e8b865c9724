"""Snowballs: breadth first, every article once, ranked by how many lead to it, within a budget."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from europepmc_relations import serve_europepmc, write_elink, write_group, write_linkset, write_med_record
from prepared_reply import prepare_reply

from entrez_kit import EntrezKit
from entrez_kit.base.errors import EntityNotFound, UpstreamError
from entrez_kit.base.settings import Settings
from entrez_kit.base.tracing import Cancelled, Watch, watch_calls
from entrez_kit.relationships.find_relationships import RELATIONSHIPS
from entrez_kit.relationships.models import MAX_VIA, RelationshipsResult
from entrez_kit.relationships.snowball import BATCH
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.services.europe_pmc import EuropePMC
from entrez_kit.services.transport import Reply
from entrez_kit.services.transport.client import Transport

KitFor = Callable[..., EntrezKit]
Graph = Mapping[str, Sequence[str]]


class Drawn:
    """Services over a graph of who cites whom, given as lists of references."""

    at_once = 1

    def __init__(self, graph: Graph, *, fails: Callable[[list[str]], bool] = lambda ids: False) -> None:
        self.graph = graph
        self.fails = fails
        self.asked: list[list[str]] = []
        self.settings = Settings(europepmc_enabled=False)
        self.eutils = self
        self.europepmc = EuropePMC(Transport(self.settings), self.settings)  # switched off, so it sends nothing

    def elink(self, *, ids: list[str], cmd: str, linkname: str, read: Any, **_: Any) -> Reply:
        assert (cmd, linkname) == ("neighbor", "pubmed_pubmed_citedin")
        self.asked.append(list(ids))
        if self.fails(list(ids)):
            raise UpstreamError("out of order", details={"reason": "ncbi_unreachable"})
        sets = [write_linkset(pmid, write_group(linkname, *self.graph.get(pmid, ()))) for pmid in ids]
        return prepare_reply("elink", write_elink(*reversed(sets)), read)

    def esummary(self, *, ids: list[str], read: Any, **_: Any) -> Reply:
        documents = "".join(f'<DocumentSummary uid="{pmid}"><Title>T{pmid}</Title></DocumentSummary>' for pmid in ids)
        body = f"<eSummaryResult><DocumentSummarySet>{documents}</DocumentSummarySet></eSummaryResult>"
        return prepare_reply("esummary", body.encode(), read)

    def roll(self, source: str = "1", **arguments: Any) -> RelationshipsResult:
        requested = {"source_pmid": source, "relationship_type": "citedin", "depth": 2, "max_related_results": 9_999}
        return RELATIONSHIPS.run(self, {**requested, **arguments})  # type: ignore[arg-type]


def list_articles(result: RelationshipsResult) -> list[tuple[str | None, int | None, int | None, list[str]]]:
    return [(one.pmid, one.depth, one.source_count, one.via) for one in result.related_articles]


def codes(result: RelationshipsResult) -> list[str]:
    return [warning.code for warning in result.warnings]


def test_articles_are_ranked_by_how_many_lead_to_them_then_by_distance() -> None:
    services = Drawn({"1": ["2", "3", "4"], "2": ["5", "6"], "3": ["6", "4", "1"], "4": ["6", "7", "4"]})
    result = services.roll()

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


def test_every_article_is_followed_once_and_each_in_an_id_of_its_own() -> None:
    services = Drawn({"1": ["2", "3"], "2": ["3", "1", "4"], "3": ["2", "4"], "4": ["1", "2", "5"]})
    result = services.roll(depth=3)

    assert services.asked == [["1"], ["2", "3"], ["4"]]
    assert {(one.pmid, one.depth) for one in result.related_articles} == {("2", 1), ("3", 1), ("4", 2), ("5", 3)}
    assert "1" not in {one.pmid for one in result.related_articles}


def test_links_are_asked_for_in_batches() -> None:
    first = [str(number) for number in range(100, 100 + 2 * BATCH + 7)]
    services = Drawn({"1": first, **{pmid: ["9"] for pmid in first}})
    result = services.roll(max_related_results=1)

    assert [len(ids) for ids in services.asked] == [1, BATCH, BATCH, 7]
    (best,) = result.related_articles
    assert (best.pmid, best.source_count, len(best.via)) == ("9", len(first), MAX_VIA)
    assert (result.retrieved_count, result.total_found) == (1, len(first) + 1)


def test_a_budget_that_is_spent_says_what_was_left_and_what_would_do() -> None:
    first = [str(number) for number in range(100, 100 + 3 * BATCH)]
    graph = {"1": first, **{pmid: ["9"] for pmid in first}}
    services = Drawn(graph)
    result = services.roll(budget=2)

    assert [len(ids) for ids in services.asked] == [1, BATCH]
    assert codes(result) == ["budget_spent"]
    assert f"citing articles of {2 * BATCH} articles were not requested" in result.warnings[0].message
    assert "budget=4" in result.warnings[0].message
    assert result.snowball is not None
    assert (result.snowball.followed, result.snowball.not_followed) == ([1, BATCH], [0, 2 * BATCH])
    assert result.missing_error() is None  # a budget is a wish, not a failure
    assert codes(Drawn(graph).roll(budget=4)) == []


def test_what_a_small_budget_reaches_is_what_is_best_connected() -> None:
    first = [str(number) for number in range(100, 100 + BATCH)]
    second = [str(number) for number in range(1000, 1000 + 2 * BATCH)]
    best = second[-1]
    services = Drawn({"1": first, **{pmid: [*second[:-1], best] if pmid == "100" else [best] for pmid in first}})
    services.roll(depth=3, budget=3)

    assert services.asked[2][0] == best


def test_batches_without_an_answer_leave_the_result_incomplete() -> None:
    first = [str(number) for number in range(100, 100 + 5 * BATCH)]
    services = Drawn({"1": first}, fails=lambda ids: ids != ["1"])
    result = services.roll()
    missing_error = result.missing_error()

    assert len(services.asked) == 3  # after two failures in a row the service counts as down
    assert codes(result) == ["links_incomplete"]
    assert f"{5 * BATCH:,} articles are unknown: out of order" in result.warnings[0].message
    assert isinstance(missing_error, UpstreamError)
    assert missing_error.details["partial"] is True
    assert result.retrieved_count == len(first)


def test_an_answer_that_is_too_large_is_asked_for_in_halves() -> None:
    class Heavy(Drawn):
        def elink(self, *, ids: list[str], **more: Any) -> Reply:
            reply = super().elink(ids=ids, **more)
            if len(ids) > 13:
                raise UpstreamError("too much", details={"reason": "too_large"})
            return reply

    first = [str(number) for number in range(100, 100 + BATCH)]
    services = Heavy({"1": first, **{pmid: ["9"] for pmid in first}})
    result = services.roll(max_related_results=1)

    assert sorted(len(ids) for ids in services.asked) == [1, 12, 12, 13, 13, 25, 25, 50]
    assert result.related_articles[0].source_count == BATCH
    assert result.warnings == []


def test_without_an_answer_about_the_article_itself_there_is_no_result() -> None:
    with pytest.raises(UpstreamError):
        Drawn({}, fails=lambda ids: True).roll()


def test_progress_is_reported_and_the_caller_can_stop_it() -> None:
    first = [str(number) for number in range(100, 100 + 3 * BATCH)]
    services = Drawn({"1": first})
    steps: list[tuple[int, int | None]] = []
    with watch_calls(Watch(wanted=lambda: True, progress=lambda done, total: steps.append((done, total)))):
        services.roll(max_related_results=1)
    assert [step for step in steps if step[1] == 3 * BATCH] == [(0, 150), (50, 150), (100, 150), (150, 150)]

    stopped = Drawn({"1": first})
    impatient = Watch(wanted=lambda: len(stopped.asked) < 2, progress=lambda done, total: None)
    with watch_calls(impatient), pytest.raises(Cancelled):
        stopped.roll()
    assert len(stopped.asked) == 2


# Over the sandbox


def roll(kit: EntrezKit, pmid: str, relation: str, **arguments: Any) -> RelationshipsResult:
    return RELATIONSHIPS.run(
        kit.services, {"source_pmid": pmid, "relationship_type": relation, "depth": 2, **arguments}
    )


def test_references_of_references_come_from_records_where_ncbi_links_none(sandbox: Sandbox, kit_for: KitFor) -> None:
    serve_europepmc(sandbox)
    result = roll(kit_for(sandbox), "99000071", "references", max_related_results=50)
    found = {one.pmid: one for one in result.related_articles}

    assert result.provenance in ("pubmed_record", "mixed")
    assert {pmid for pmid, one in found.items() if one.depth == 1} == {"99000001", "99000005", "99000007", "99900018"}
    assert found["99900007"].via == ["99000007"]  # 99000007 is not in PMC, so only its record knows
    assert result.related_articles[0].pmid == "99000007"
    assert result.related_articles[0].source_count == 3


def test_a_snowball_from_an_invented_article_spends_nothing(sandbox: Sandbox, kit_for: KitFor) -> None:
    with pytest.raises(EntityNotFound):
        roll(kit_for(sandbox), "12", "similar")
    assert [entry.endpoint for entry in sandbox.entries()] == ["esummary", "esummary", "esearch"]


def test_europe_pmc_takes_over_one_article_at_a_time_when_ncbi_goes_down(sandbox: Sandbox, kit_for: KitFor) -> None:
    serve_europepmc(
        sandbox,
        citations={
            "99000001": [write_med_record("99000004"), write_med_record("99000002")],
            "99000004": [write_med_record("99000006")],
        },
    )
    sandbox.take_down("elink")
    kit = kit_for(sandbox)
    result = roll(kit, "99000001", "citedin", max_related_results=50)
    cut = roll(kit, "99000001", "citedin", max_related_results=50, budget=4)

    assert [(one.pmid, one.depth) for one in result.related_articles] == [
        ("99000004", 1),
        ("99000002", 1),
        ("99000006", 2),
    ]
    assert (result.provenance, codes(result)) == ("europepmc", ["from_europepmc"] * 2)
    assert "budget_spent" in codes(cut)
    assert re.search(r"budget=\d+", cut.warnings[-1].message)


@pytest.mark.long
def test_the_same_question_gives_the_same_document(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    first = roll(kit, "99000001", "similar", max_related_results=30)

    assert roll(kit, "99000001", "similar", max_related_results=30) == first  # from the cache, budget and all
    assert first.snowball is not None
    assert first.snowball.requests <= 3

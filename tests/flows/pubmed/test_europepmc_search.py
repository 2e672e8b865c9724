"""europepmc_search over the sandbox: sources, sort orders, paging, and incomplete results."""

import itertools
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fixture_types import KitFor
from prepared_services import PreparedServices

from entrez_kit import EntrezKit
from entrez_kit.base.errors import EntrezKitError, InvalidInput, NotConfigured, UpstreamError
from entrez_kit.core.operation import execute
from entrez_kit.local.eutils.replies import LocalReply, answer_json
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.pubmed.europepmc.search_europepmc import (
    EUROPEPMC_SEARCH,
    EuropePMCArticles,
    EuropePMCRequest,
    EuropePMCResult,
    build_query,
)
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.services.transport import Call


def search_many(kit: EntrezKit, request: EuropePMCRequest, **more: Any) -> EuropePMCResult:
    return EUROPEPMC_SEARCH.run(kit.services, request.model_copy(update=more))


@pytest.fixture
def many() -> Iterator[Sandbox]:
    """Serve 2,500 generated records."""
    with Sandbox(records=2_500, enforce_limits=False) as running:
        yield running


def list_keys(result: Any) -> list[str]:
    return [article.key for article in result.articles]


# Results


def test_a_search_finds_articles_and_preprints(kit: EntrezKit) -> None:
    found = kit.europepmc_search(query="crispr")

    assert found.total_found == found.retrieved_count == len(found.articles)
    assert {"MED", "PPR", "PMC"} == {article.source for article in found.articles}
    assert found.next_cursor is None
    assert found.effective_query == "(crispr) AND (SRC:MED OR SRC:PMC OR SRC:PPR)"
    assert "AND+%28SRC%3AMED" in found.search_url
    assert "PAT" not in {article.source for article in found.articles}


def test_an_article_equals_that_of_pubmed(kit: EntrezKit) -> None:
    theirs = kit.europepmc_search(query="EXT_ID:99000001", sources=["MED"]).articles[0]
    articles = kit.fetch_contents(pmids=["99000001"], include_grant_info=True).articles
    assert articles is not None
    ours = articles[0]

    for name in ("pmid", "pmcid", "title", "languages", "publication_types", "keywords", "retraction_status"):
        assert getattr(theirs, name) == getattr(ours, name), name
    for name in ("last_name", "first_name", "initials", "orcid", "affiliations"):
        assert [getattr(author, name) for author in theirs.authors] == [
            getattr(author, name)
            for author in getattr(ours, "authors")  # noqa: B009
        ]


@pytest.mark.parametrize("given", [["PPR"], ["preprints"], "PPR", ["ppr", "Preprint"]])
def test_sources_have_short_names(kit: EntrezKit, given: Any) -> None:
    found = kit.europepmc_search(query="crispr OR wheat", sources=given)

    assert found.effective_query == "(crispr OR wheat) AND SRC:PPR"
    assert {article.source for article in found.articles} == {"PPR"}
    assert all(article.pmid is None for article in found.articles)


def test_brief_records_have_the_shape_of_full_ones(kit: EntrezKit) -> None:
    brief = kit.europepmc_search(query="crispr", detail_level="brief")
    full = kit.europepmc_search(query="crispr")

    assert list_keys(brief) == list_keys(full)
    assert [article.title for article in brief.articles] == [article.title for article in full.articles]
    assert [[author.last_name for author in article.authors] for article in brief.articles] == [
        [author.last_name for author in article.authors] for article in full.articles
    ]
    assert all(article.abstract_text is None for article in brief.articles)
    assert any(article.abstract_text for article in full.articles)


def test_preprints_are_sorted_by_their_own_dates(kit: EntrezKit) -> None:
    found = kit.europepmc_search(query="crispr OR wheat OR sleep", sources=["PPR"], sort_by="date")
    dates = [article.first_publication_date for article in found.articles]

    assert dates == sorted(dates, key=str, reverse=True)
    assert [warning.code for warning in found.warnings] == ["sorted_by_first_date"]
    assert "sort=FIRST_PDATE_D+desc" in found.search_url


def test_without_preprints_results_are_sorted_by_the_print_date(kit: EntrezKit) -> None:
    found = kit.europepmc_search(query="crispr", sources=["MED"], sort_by="date")

    assert "sort=P_PDATE_D+desc" in found.search_url
    assert not found.warnings


def test_sorted_by_citations_the_most_cited_are_first(kit: EntrezKit) -> None:
    counts = [article.cited_by_count for article in kit.europepmc_search(query="crispr", sort_by="cited").articles]

    assert counts == sorted(counts, key=lambda count: -(count or 0))
    assert counts[0]


def test_no_results_are_not_an_error(kit: EntrezKit) -> None:
    found = kit.europepmc_search(query="nosuchwordanywhere")

    assert (found.total_found, found.articles, found.next_cursor) == (0, [], None)


# Queries


@pytest.mark.parametrize(
    "query",
    [
        "crispr OR wheat",
        "SRC:PAT OR crispr",
        "crispr NOT (SRC:MED)",
        '"base editing" OR SRC:AGR',
        "a\\) OR SRC:PAT",
    ],
)
def test_an_or_in_the_query_does_not_add_other_sources(kit: EntrezKit, query: str) -> None:
    try:
        found = kit.europepmc_search(query=query, sources=["MED", "PPR"])
    except InvalidInput:
        return
    assert {article.source for article in found.articles} <= {"MED", "PPR"}


@pytest.mark.parametrize(
    "query",
    ["a) OR (b", "(a", "a)", 'a "b', '\\") OR (SRC:PAT "', "a\\", 'a\\"', "(a\\)"],
)
def test_an_unbalanced_query_is_rejected_before_any_request(kit: EntrezKit, sandbox: Sandbox, query: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        kit.europepmc_search(query=query)

    assert caught.value.invalid_input is not None
    assert caught.value.invalid_input.startswith("query=")
    assert sandbox.requests() == 0


@pytest.mark.parametrize("query", ["", "  ", "()", '""', "* ?"])
def test_a_query_without_a_word_is_rejected(kit: EntrezKit, query: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        kit.europepmc_search(query=query)
    assert "query" in caught.value.message


def test_quotes_around_ids_are_removed_because_they_would_find_nothing(kit: EntrezKit) -> None:
    found = kit.europepmc_search(query='EXT_ID:"99000001" OR PMCID:"PMC99000002"')

    assert sorted(list_keys(found)) == ["99000001", "99000002"]
    assert [warning.code for warning in found.warnings] == ["ids_unquoted"]
    assert found.query == 'EXT_ID:"99000001" OR PMCID:"PMC99000002"'


def test_a_pmcid_is_found_in_the_default_sources(kit: EntrezKit) -> None:
    assert list_keys(kit.europepmc_search(query="PMCID:PMC99000002")) == ["99000002"]
    assert list_keys(kit.europepmc_search(query="PMCID:PMC99000002", sources=["PMC"])) == []


def test_a_doi_is_searched_in_quotes(kit: EntrezKit) -> None:
    assert list_keys(kit.europepmc_search(query='DOI:"10.5555/ekit.preprint.2025.0004"')) == ["PPR:PPR99000004"]


def test_field_tags_of_pubmed_cause_a_warning() -> None:
    assert [warning.code for warning in build_query("crispr[ti] AND x", ["MED"])[1]] == ["pubmed_syntax"]
    assert build_query("array[1] AND PUB_YEAR:[2020 TO 2024]", ["MED"])[1] == []


# Arguments


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"query": "x", "page_size": 0}, "page_size=0"),
        ({"query": "x", "page_size": 1001}, "page_size=1001"),
        ({"query": "x", "cursor": "no cursor!"}, "cursor=no cursor!"),
        ({"query": "x", "sources": ["NOPE"]}, "sources.0=NOPE"),
        ({"query": "x", "sort_by": "size"}, "sort_by=size"),
        ({"query": "x", "pagesize": 5}, "pagesize=5"),
    ],
)
def test_invalid_arguments_are_named(kit: EntrezKit, sandbox: Sandbox, arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        kit.europepmc_search(**arguments)

    assert caught.value.invalid_input == named
    assert sandbox.requests() == 0


def test_empty_optional_arguments_count_as_absent() -> None:
    request = EuropePMCRequest.model_validate(
        {"query": "x", "cursor": "", "sources": [], "sortBy": "", "pageSize": None}
    )

    assert request == EuropePMCRequest(query="x")


def test_a_disabled_service_is_reported(kit_for: KitFor, sandbox: Sandbox) -> None:
    with pytest.raises(NotConfigured) as caught:
        kit_for(sandbox, europepmc_enabled=False).europepmc_search(query="x")

    assert caught.value.reason == "europepmc_disabled"


def test_a_cursor_of_another_search_is_an_error_that_names_it(kit: EntrezKit) -> None:
    cursor = kit.europepmc_search(query="crispr", page_size=2).next_cursor
    assert cursor is not None
    with pytest.raises(InvalidInput) as caught:
        kit.europepmc_search(query="wheat", page_size=2, cursor=cursor)

    assert caught.value.invalid_input == f"cursor={cursor}"
    assert "next_cursor" in caught.value.recovery_hint


# Pages


def test_cursors_lead_through_every_page_once(kit: EntrezKit) -> None:
    whole = list_keys(kit.europepmc_search(query="crispr"))
    paged: list[str] = []
    cursor: str | None = "*"
    while cursor is not None:
        page = kit.europepmc_search(query="crispr", page_size=4, cursor=cursor)
        paged += list_keys(page)
        cursor = page.next_cursor

    assert paged == whole


@pytest.mark.long
def test_a_number_of_records_takes_as_many_pages_as_needed(kit_for: KitFor, many: Sandbox) -> None:
    kit = kit_for(many)
    request = EuropePMCRequest(query="PUB_YEAR:[1900 TO 2100]", page_size=1000, detail_level="brief")
    result = search_many(kit, request, max_results=2_200)

    assert len(set(list_keys(result))) == result.retrieved_count == 2_200
    assert [entry.get("pageSize") for entry in many.entries("europepmc_search")] == ["1000", "1000", "200"]
    assert result.next_cursor
    assert result.missing_error() is None
    rest = search_many(kit, request, cursor=result.next_cursor, max_results=9_999)
    assert len(set(list_keys(rest)) | set(list_keys(result))) == result.total_found
    assert rest.next_cursor is None
    assert rest.missing_error() is None


@pytest.mark.long
def test_all_records_arrive_despite_every_kind_of_fault(kit_for: KitFor) -> None:
    faults = {"429": 0.05, "500": 0.05, "truncate": 0.1, "html": 0.1, "error200": 0.1, "cut": 0.1}
    with Sandbox(records=900, faults=faults, seed=7, enforce_limits=False) as troubled:
        kit = kit_for(troubled, europepmc_max_retries=10)
        request = EuropePMCRequest(query="PUB_YEAR:[1900 TO 2100]", page_size=25, detail_level="brief")
        result = search_many(kit, request, max_results=5_000)

        assert result.retrieved_count == len(set(list_keys(result))) == result.total_found >= 900
        assert result.missing_error() is None
        assert len(troubled.faults.struck) == len(faults)
        assert not troubled.defects


@pytest.mark.long
def test_a_walk_has_one_page_in_memory(kit_for: KitFor, many: Sandbox) -> None:
    request = EuropePMCRequest(query="PUB_YEAR:[1900 TO 2100]", page_size=100, detail_level="brief", max_results=1_000)
    walk = EuropePMCArticles(kit_for(many).services, request)
    records = iter(walk)
    first = list(itertools.islice(records, 100))

    assert many.requests("europepmc_search") == 1
    assert len(first) == 100
    assert len(list(records)) == 900


# Missing records


class PreparedPages:
    """Answers searches with given pages, then with empty pages."""

    def __init__(self, *pages: dict[str, Any]) -> None:
        self.pages = list(pages)
        self.cursors: set[str] = set()

    def __call__(self, request: LocalRequest, state: LocalState) -> LocalReply:
        self.cursors.add(request.get("cursorMark"))
        page = self.pages.pop(0) if self.pages else {"hitCount": 0, "resultList": {"result": []}}
        return answer_json({"version": "6.9", **page})


def serve_pages(sandbox: Sandbox, *pages: dict[str, Any]) -> PreparedPages:
    prepared = PreparedPages(*pages)
    sandbox.route("/europepmc/search", "europepmc_search", prepared)
    return prepared


def make_results(count: int, start: int = 1) -> dict[str, Any]:
    return {"result": [{"id": str(number), "source": "MED", "title": "T"} for number in range(start, start + count)]}


def test_fewer_records_than_counted_are_a_partial_result(kit: EntrezKit, sandbox: Sandbox) -> None:
    serve_pages(sandbox, {"hitCount": 2, "nextCursorMark": "AoI=", "resultList": make_results(1)})
    outcome = execute(EUROPEPMC_SEARCH, kit.services, {"query": "x"})

    assert outcome.result is not None
    assert outcome.result.retrieved_count == 1
    assert outcome.error is not None
    assert outcome.error.details["partial"] is True
    assert outcome.error.details["missing"] == 1
    assert "1 of 2" in outcome.error.message


def test_counted_records_that_never_arrive_are_an_error(kit: EntrezKit, sandbox: Sandbox) -> None:
    serve_pages(sandbox, *[{"hitCount": 7, "resultList": {"result": []}}] * 4)
    outcome = execute(EUROPEPMC_SEARCH, kit.services, {"query": "x"})

    assert outcome.error is not None
    assert outcome.error.code == "UPSTREAM_ERROR"
    assert outcome.error.details["attempts"] == 4


def test_a_short_page_is_followed_by_the_next_page(kit: EntrezKit, sandbox: Sandbox) -> None:
    serve_pages(
        sandbox,
        {"hitCount": 5, "nextCursorMark": "AoI=", "resultList": make_results(3)},
        {"hitCount": 5, "nextCursorMark": "AoJ=", "resultList": make_results(2, 4)},
    )
    found = kit.europepmc_search(query="x")

    assert list_keys(found) == ["1", "2", "3", "4", "5"]
    assert found.next_cursor is None
    assert found.missing_error() is None


def test_a_cursor_that_leads_to_no_new_records_ends_the_walk(kit: EntrezKit, sandbox: Sandbox) -> None:
    pages = [{"hitCount": 50, "nextCursorMark": f"Ao{n}=", "resultList": make_results(3)} for n in range(9)]
    prepared = serve_pages(sandbox, *pages)
    found = kit.europepmc_search(query="x")

    assert list_keys(found) == ["1", "2", "3"]
    assert found.missing_error() is not None
    assert prepared.cursors == {"*", "Ao0="}


def test_a_failure_after_some_pages_returns_their_records_and_the_cursor_to_continue(
    kit: EntrezKit, sandbox: Sandbox
) -> None:
    whole = kit.europepmc_search(query="crispr", page_size=2)
    sandbox.fail_next("500", "europepmc_search", times=50)
    request = EuropePMCRequest(query="crispr", page_size=2)
    result = search_many(kit, request, max_results=10)
    error = result.missing_error()

    assert list_keys(result) == list_keys(whole)
    assert isinstance(error, UpstreamError)
    assert error.details["partial"] is True
    assert error.details["next_cursor"] == result.next_cursor == whole.next_cursor
    assert str(whole.next_cursor) in error.recovery_hint


def test_a_failure_of_the_first_page_is_an_error(kit: EntrezKit, sandbox: Sandbox) -> None:
    sandbox.fail_next("500", "europepmc_search", times=50)
    with pytest.raises(UpstreamError):
        kit.europepmc_search(query="crispr")


def test_invalid_replies_of_europe_pmc_are_retried_and_never_reported_as_no_results(
    kit: EntrezKit, sandbox: Sandbox
) -> None:
    sandbox.fail_next("error200", "europepmc_search", times=2)

    assert kit.europepmc_search(query="crispr").total_found > 0
    assert sandbox.requests("europepmc_search") == 3


def test_a_repeated_search_sends_no_request(kit: EntrezKit, sandbox: Sandbox) -> None:
    first, second = kit.europepmc_search(query="crispr"), kit.europepmc_search(query="crispr")

    assert first == second
    assert sandbox.requests("europepmc_search") == 1


def test_a_recorded_reply_is_accepted(kit: EntrezKit, sandbox: Sandbox, real_data: Path) -> None:
    recorded = json.loads((real_data / "europepmc" / "pyEuropePMC__search_cancer_core.json").read_bytes())
    sandbox.route("/europepmc/search", "europepmc_search", lambda request, state: answer_json(recorded))
    found = kit.europepmc_search(query="cancer")

    assert (found.total_found, found.retrieved_count) == (5_059_039, 25)
    assert found.next_cursor == "AoIIP4ZawSg1MzEyODI1MA=="
    assert found.missing_error() is None


def test_errors_of_the_request_have_one_code(kit: EntrezKit) -> None:
    with pytest.raises(EntrezKitError) as caught:
        kit.europepmc_search(query="x", cursor="AoIIP4ZawSg1MzEyODI1MA==")

    assert caught.value.code == "INVALID_INPUT"


# Pages requested in advance


def test_the_next_page_is_requested_in_advance_but_no_page_beyond_the_requested_records() -> None:
    def page(call: Call) -> bytes:
        number = {"*": 1, "two": 2, "three": 3}[call.get_param("cursorMark") or ""]
        begun[number].set()
        size = int(call.get_param("pageSize") or 0)
        records = [{"id": f"{number}{place}", "source": "MED", "title": "T"} for place in range(size)]
        following = {1: "two", 2: "three", 3: "four"}[number]
        listed = {"hitCount": 9, "nextCursorMark": following, "resultList": {"result": records}}
        return json.dumps(listed).encode()

    begun = {number: threading.Event() for number in (1, 2, 3)}
    bench = PreparedServices({"europepmc/search": page})
    records = iter(
        EUROPEPMC_SEARCH.stream(bench.services(), {"query": "x", "page_size": 2, "max_results": 5, "sources": ["MED"]})
    )

    assert next(records).epmc_id == "10"
    assert begun[2].wait(20)
    assert not begun[3].is_set()  # its cursor is in the second page, which was not read yet
    assert [record.epmc_id for record in records] == ["11", "20", "21", "30"]
    assert [call.get_param("pageSize") for call in bench.calls] == ["2", "2", "1"]

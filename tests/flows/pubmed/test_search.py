"""Searches of PubMed over the real transport, in the sandbox."""

import threading
from typing import Any, get_args
from xml.sax.saxutils import escape

import pytest
import responses
from canned_services import Canned, run_canned, write_esearch_xml
from drifting_service import drift, replace_text
from fixture_types import KitFor

from entrez_kit.base.errors import InvalidInput, UpstreamError
from entrez_kit.base.progress import Cancelled
from entrez_kit.pubmed.search import SEARCH_ARTICLES
from entrez_kit.pubmed.search_models import SearchResult, Sort
from entrez_kit.pubmed.search_warnings import UNINDEXED
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.services.small_replies import DROPPED
from entrez_kit.services.transport import in_flight


def test_a_search_returns_pmids_and_ncbis_translation_of_the_query(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = kit_for(sandbox).search_articles(query_term="crispr", max_results=5)

    assert (result.total_found or 0) >= 5
    assert len(result.pmids) == result.retrieved_pmid_count == 5
    assert "crispr" in result.query_translation.lower()
    assert result.effective_esearch_term == "crispr"
    assert result.brief_summaries == []
    assert result.warnings == []
    assert result.missing_error() is None


def test_summaries_are_in_the_order_of_the_pmids(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = kit_for(sandbox).search_articles(query_term="crispr", max_results=6, fetch_brief_summaries=4)

    assert [summary.pmid for summary in result.brief_summaries] == result.pmids[:4]
    assert all(summary.title for summary in result.brief_summaries)
    assert result.esummary_url


def test_pages_have_no_gap_and_no_overlap(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    whole = kit.search_articles(query_term="humans[mh]", max_results=15).pmids
    pages = [kit.search_articles(query_term="humans[mh]", max_results=5, offset=start).pmids for start in (0, 5, 10)]

    assert [pmid for page in pages for pmid in page] == whole


NAMES_OF_SORT_ORDERS = {
    "relevance": "relevance",
    "pub_date": "pub_date",
    "author": "Author",
    "journal_name": "JournalName",
}
"""The sort orders as NCBI's manual writes them."""


@pytest.mark.parametrize("sort", get_args(Sort))
def test_every_sort_order_is_sent_under_ncbis_name(sandbox: Sandbox, kit_for: KitFor, sort: str) -> None:
    result = kit_for(sandbox).search_articles(query_term="humans[mh]", sort_by=sort)

    assert result.warnings == []
    assert f"sort={NAMES_OF_SORT_ORDERS[sort]}" in result.esearch_url


def test_a_dropped_field_or_phrase_always_causes_a_warning(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = kit_for(sandbox).search_articles(query_term="crispr[nosuchfield] OR qqzzxxy")

    assert {warning.code for warning in result.warnings} & DROPPED
    assert any("nosuchfield" in warning.message for warning in result.warnings)


def test_a_single_date_bound_filters_and_both_are_sent(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    every = kit.search_articles(query_term="humans[mh]", max_results=100)
    recent = kit.search_articles(query_term="humans[mh]", max_results=100, date_range={"min_date": "2022"})

    assert 0 < (recent.total_found or 0) < (every.total_found or 0)
    assert "mindate=2022" in recent.esearch_url
    assert "maxdate=3000" in recent.esearch_url
    assert "datetype=pdat" in recent.esearch_url
    assert recent.search_parameters.date_range == {"min_date": "2022", "max_date": "3000", "date_type": "pdat"}


def test_filters_apply_to_all_alternatives_of_a_query(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    either = kit.search_articles(query_term="crispr OR malaria", max_results=100)
    reviews = kit.search_articles(
        query_term="crispr OR malaria", max_results=100, filter_by_publication_types=["Review"]
    )

    assert (reviews.total_found or 0) < (either.total_found or 0)
    assert set(reviews.pmids) <= set(either.pmids)
    assert reviews.effective_esearch_term == '(crispr OR malaria) AND "Review"[Publication Type]'


def test_no_results_are_not_an_error_and_have_the_spelling_suggestion(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = kit_for(sandbox).search_articles(query_term="crisprr")

    assert result.total_found == 0
    assert result.pmids == []
    suggestions = [warning for warning in result.warnings if warning.code == "spelling_suggestion"]
    assert suggestions
    assert "crispr" in suggestions[0].message
    assert result.missing_error() is None


def test_history_gives_a_key_that_fetch_accepts(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    found = kit.search_articles(query_term="crispr", max_results=3, use_history=True)
    fetched = kit.fetch_contents(query_key=found.query_key, web_env=found.web_env, retmax=3)

    assert fetched.articles is not None
    assert [article.pmid for article in fetched.articles] == found.pmids
    assert fetched.requested_pmids is None


def test_without_history_no_key_is_returned(sandbox: Sandbox, kit_for: KitFor) -> None:
    document = kit_for(sandbox).search_articles(query_term="crispr").model_dump(mode="json")

    assert "web_env" not in document
    assert "query_key" not in document


def test_an_offset_after_the_last_result_is_reported(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = kit_for(sandbox).search_articles(query_term="crispr", offset=500)

    assert result.pmids == []
    assert "offset_beyond_results" in {warning.code for warning in result.warnings}
    assert result.missing_error() is None


def test_results_beyond_pubmeds_maximum_are_reported_and_search_all_retrieves_them(kit_for: KitFor) -> None:
    with Sandbox(records=25_000, enforce_limits=False) as big:
        kit = kit_for(big)
        first = kit.search_articles(query_term="all[sb]", max_results=9_999)
        steps: list[tuple[int, int]] = []
        everything = kit.search_all(query_term="all[sb]", progress=lambda done, total: steps.append((done, total)))

    assert first.total_found == 25_000
    assert len(first.pmids) == 9_999
    assert "results_capped" in {warning.code for warning in first.warnings}
    certificate = everything.certificate
    assert certificate is not None
    assert (certificate.count, certificate.retrieved, certificate.missing) == (25_000, 25_000, 0)
    assert len(set(everything.pmids)) == 25_000
    assert sum(piece.retrieved for piece in certificate.slices) - certificate.duplicates == 25_000
    assert all(piece.count <= 9_999 for piece in certificate.slices)
    assert everything.missing_error() is None
    assert steps[-1] == (25_000, 25_000)


def test_the_first_pmids_are_returned_before_the_last_are_requested(
    kit_for: KitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.services.transport.rate_gate.get_max_in_flight", lambda settings, service: 1)
    with Sandbox(records=25_000, enforce_limits=False) as big:
        hits = kit_for(big).stream.search_articles(query_term="all[sb]", retrieve_all=True, fetch_brief_summaries=2)
        assert big.requests() == 0
        walk = iter(hits)
        first = [next(walk) for _ in range(3)]
        requested = big.requests("esearch")
        rest = list(walk)
        collected = kit_for(big).search_all(query_term="all[sb]", fetch_brief_summaries=2)

        assert requested < big.requests("esearch")
    assert [hit.summary is not None for hit in first] == [True, True, False]
    assert [hit.pmid for hit in (*first, *rest)] == collected.pmids
    assert hits.certificate == collected.certificate
    assert hits.missing_error() is None


@pytest.mark.long
def test_titles_that_ncbi_does_not_return_are_a_partial_result_and_named(
    kit_for: KitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Sandbox(records=1_100, enforce_limits=False) as big:
        kit = kit_for(big)
        summaries = kit.eutils.esummary

        pmids = kit.search_articles(query_term="all[sb]", max_results=1_100).pmids

        def fail_after_the_first_batch(**arguments: Any) -> Any:
            if pmids[0] not in arguments["ids"]:
                raise UpstreamError("No answer.", details={"reason": "ncbi_unreachable"})
            return summaries(**arguments)

        monkeypatch.setattr(kit.eutils, "esummary", fail_after_the_first_batch)
        found = kit.search_articles(query_term="all[sb]", max_results=1_100, fetch_brief_summaries=1_100)
        error = found.missing_error()

    assert found.pmids == pmids
    assert error is not None
    assert error.details["partial"] is True
    assert [summary.pmid for summary in found.brief_summaries] == pmids[:500]
    assert error.details["missing"] == pmids[500:]


def test_a_title_that_a_reply_of_ncbi_lacks_is_named_as_missing(
    sandbox: Sandbox, kit_for: KitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = kit_for(sandbox)
    summaries = kit.eutils.esummary
    complete = kit.search_articles(query_term="base editing", max_results=4, fetch_brief_summaries=4)
    monkeypatch.setattr(kit.eutils, "esummary", lambda **given: summaries(**{**given, "ids": given["ids"][:-1]}))
    found = kit.search_articles(query_term="base editing", max_results=4, fetch_brief_summaries=4)
    error = found.missing_error()

    assert complete.missing_error() is None
    assert found.pmids == complete.pmids
    assert found.brief_summaries == complete.brief_summaries[:-1]
    assert isinstance(error, UpstreamError)
    assert error.details["missing"] == found.pmids[-1:]
    assert "summaries_missing" in {warning.code for warning in found.warnings}


@pytest.mark.parametrize(
    ("query", "strict"),
    [("crispr AND qqqzzz", 0), ("(crispr AND qqqzzz) OR sickle", 4), ('crispr AND "gene cell"', None)],
)
def test_broader_results_are_omitted_on_request(
    sandbox: Sandbox, kit_for: KitFor, query: str, strict: int | None
) -> None:
    kit = kit_for(sandbox)
    broader = kit.search_articles(query_term=query, fetch_brief_summaries=3, use_history=True)
    result = kit.search_articles(query_term=query, fetch_brief_summaries=3, use_history=True, broader_results=False)

    assert broader.query_broadened
    assert broader.pmids
    assert (result.pmids, result.brief_summaries, result.web_env) == ([], [], None)
    assert result.total_found == result.strict_total == broader.strict_total
    assert result.broader_total == broader.total_found
    assert {"query_broadened", "broader_results_left_out"} <= {warning.code for warning in result.warnings}
    assert result.missing_error() is None


def test_a_search_that_is_not_broadened_is_the_same_without_broader_results(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)

    assert kit.search_articles(query_term="crispr", broader_results=False) == kit.search_articles(query_term="crispr")


def test_the_hash_of_the_certificate_can_be_checked_with_sort_and_sha256sum(sandbox: Sandbox, kit_for: KitFor) -> None:
    import hashlib

    result = kit_for(sandbox).search_all(query_term="crispr")

    lines = "".join(f"{pmid}\n" for pmid in sorted(result.pmids, key=int))
    assert result.certificate is not None
    assert result.certificate.sha256 == hashlib.sha256(lines.encode()).hexdigest()


def test_search_all_rejects_an_offset(sandbox: Sandbox, kit_for: KitFor) -> None:
    with pytest.raises(InvalidInput, match="offset"):
        kit_for(sandbox).search_all(query_term="crispr", offset=5)  # type: ignore[call-arg]


def _write_esearch_xml(body: str) -> bytes:
    return f'<?xml version="1.0"?><eSearchResult>{body}</eSearchResult>'.encode()


@responses.activate
def test_an_error_with_status_200_is_never_reported_as_zero_results(kit_for: KitFor) -> None:
    message = escape("Search Backend failed: Exception: Position 15000 is out of acceptable range [9999,9998]")
    responses.add(
        responses.GET,
        "http://127.0.0.1:9/entrez/eutils/esearch.fcgi",
        body=_write_esearch_xml(f"<ERROR>{message}</ERROR>"),
    )

    with pytest.raises((InvalidInput, UpstreamError)):
        kit_for(None).search_articles(query_term="asthma")


@responses.activate
def test_fewer_pmids_than_counted_are_a_partial_result(kit_for: KitFor) -> None:
    responses.add(
        responses.GET,
        "http://127.0.0.1:9/entrez/eutils/esearch.fcgi",
        body=_write_esearch_xml("<Count>3</Count><RetMax>3</RetMax><RetStart>0</RetStart><IdList><Id>1</Id></IdList>"),
    )

    missing_error = kit_for(None).search_articles(query_term="asthma").missing_error()

    assert missing_error is not None
    assert missing_error.details["missing"] == 2
    assert missing_error.details["partial"] is True


@responses.activate
def test_the_request_has_the_parameters_that_ncbi_documents(kit_for: KitFor) -> None:
    responses.add(
        responses.GET,
        "http://127.0.0.1:9/entrez/eutils/esearch.fcgi",
        body=_write_esearch_xml("<Count>0</Count><RetMax>0</RetMax><RetStart>0</RetStart><IdList/>"),
        match=[
            responses.matchers.query_param_matcher(
                {
                    "db": "pubmed",
                    "term": '(asthma OR copd) AND "Doe J"[Author]',
                    "retmax": "7",
                    "retstart": "2",
                    "sort": "pub_date",
                    "datetype": "edat",
                    "mindate": "2020/01/01",
                    "maxdate": "3000",
                    "retmode": "xml",
                },
                strict_match=False,
            )
        ],
    )
    responses.add(
        responses.GET,
        "http://127.0.0.1:9/entrez/eutils/espell.fcgi",
        body=b"<eSpellResult><Query>x</Query><CorrectedQuery></CorrectedQuery><ERROR/></eSpellResult>",
    )

    result = kit_for(None).search_articles(
        query_term="asthma OR copd",
        max_results=7,
        offset=2,
        sort_by="pub_date",
        author="Doe J",
        date_range={"min_date": "2020/01/01", "date_type": "edat"},
    )

    assert result.total_found == 0


# Warnings before the results


def find_warning(result: SearchResult, code: str) -> str:
    """Return the message of a warning, or nothing."""
    return next((warning.message for warning in result.warnings if warning.code == code), "")


def test_a_dropped_required_part_is_reported_before_the_pmids(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = kit_for(sandbox).search_articles(query_term="crispr AND qqqzzz")
    document = result.model_dump(mode="json")

    assert (document["query_broadened"], document["strict_total"]) == (True, 0)
    assert document["total_found"] > 0
    names = list(document)
    assert all(names.index(name) < names.index("pmids") for name in ("query_broadened", "strict_total", "warnings"))
    assert "as written finds 0" in find_warning(result, "query_broadened")


@pytest.mark.parametrize("term", ["crispr", "crispr OR qqqzzz", "crispr NOT qqqzzz", "(qqqzzz OR sickle) AND crispr"])
def test_an_unknown_alternative_does_not_broaden_the_search(sandbox: Sandbox, kit_for: KitFor, term: str) -> None:
    document = kit_for(sandbox).search_articles(query_term=term).model_dump(mode="json")

    assert not {"query_broadened", "strict_total"} & set(document)


def test_the_results_of_the_query_as_written_are_counted_with_one_more_request(
    sandbox: Sandbox, kit_for: KitFor
) -> None:
    kit = kit_for(sandbox)
    result = kit.search_articles(query_term="(crispr AND qqqzzz) OR sickle", date_range={"min_date": "2000"})

    assert sandbox.requests("esearch") == 2
    assert result.query_broadened
    assert result.strict_total == kit.search_articles(query_term="sickle").total_found != 0


def test_search_all_reports_the_same_warnings(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    result = kit.search_all(query_term="crispr AND qqqzzz", species="humans")
    alone = kit.search_articles(query_term="crispr AND qqqzzz", species="humans", max_results=100)

    assert (result.query_broadened, result.strict_total) == (True, 0)
    assert result.warnings == alone.warnings
    assert find_warning(kit.search_all(query_term="crispr", journal="Nobody"), "filters_emptied")


def test_a_phrase_in_the_translation_is_not_reported_as_dropped(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = kit_for(sandbox).search_articles(query_term="qqqzzz[tiab] AND crispr")

    assert "qqqzzz" in result.query_translation
    assert "removed it" not in find_warning(result, "phrase_not_found")
    assert result.query_broadened is None


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"species": "humans"}, " for `species`"),
        ({"mesh_terms": ["Humans"]}, " for `mesh_terms`"),
        ({"species": "humans", "mesh_terms": ["Gene Editing"]}, " for `species` and `mesh_terms`"),
        ({"query_term": "crispr AND humans[MeSH Terms]"}, ""),
        ({"query_term": "crispr AND humans[mh]"}, ""),
    ],
)
def test_a_search_by_mesh_reports_how_many_records_have_no_mesh_terms(
    sandbox: Sandbox, kit_for: KitFor, arguments: dict[str, Any], named: str
) -> None:
    kit = kit_for(sandbox)
    without = [
        article.pmid
        for article in kit.fetch_contents(
            pmids=kit.search_articles(query_term="crispr", max_results=100).pmids
        ).articles  # type: ignore[union-attr]
        if not article.mesh_terms  # type: ignore[union-attr]
    ]
    before = sandbox.requests("esearch")

    result = kit.search_articles(**({"query_term": "crispr"} | arguments))

    assert without
    assert find_warning(result, "without_mesh") == (
        f"{len(without)} more records would match, but have no MeSH terms (yet){named}."
    )
    hidden = next(warning.terms for warning in result.warnings if warning.code == "without_mesh")
    assert set(hidden) <= set(without)
    assert len(hidden) == min(len(without), 20)
    assert sandbox.requests("esearch") == before + 2


def test_for_a_query_of_mesh_only_records_with_the_same_words_are_counted(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = kit_for(sandbox).search_articles(query_term='"gene editing"[mh]')

    assert "1 record with the same words has no MeSH terms" in find_warning(result, "without_mesh")


def test_a_failed_count_never_fails_the_search(sandbox: Sandbox, kit_for: KitFor) -> None:
    from entrez_kit.pubmed import search_counts, search_warnings

    kit = kit_for(sandbox, ncbi_max_retries=0)
    sound = kit.search_articles(query_term="sleep", species="humans")
    kit = kit_for(sandbox, ncbi_max_retries=0)

    def fail(*_: object) -> int:
        raise UpstreamError("NCBI did not answer.")

    with pytest.MonkeyPatch.context() as patch:
        for module in (search_counts, search_warnings):
            patch.setattr(module, "search_term", fail)
        result = kit.search_articles(query_term="sleep", species="humans")
        empty = kit.search_articles(query_term="sleep", journal="Nobody")
        typed = kit.search_articles(query_term="sleep", filter_by_publication_types=["Nosuch"])

    assert result.pmids == sound.pmids
    assert find_warning(result, "without_mesh_uncounted")
    assert "'Nosuch'" in find_warning(typed, "unknown_publication_type")
    assert empty.total_found == 0
    assert result.missing_error() is empty.missing_error() is None


def test_a_search_that_fails_cancels_the_count_beside_it() -> None:
    counting, failed, cancelled = threading.Event(), threading.Event(), threading.Event()

    def answer(term: str, **_: object) -> bytes:
        if term.endswith(UNINDEXED):
            counting.set()
            assert failed.wait(20)
            try:
                in_flight.stop_if_unneeded()
            except Cancelled:
                cancelled.set()
                raise
            return write_esearch_xml(3)
        in_flight.mark_sent()
        assert counting.wait(20)
        raise UpstreamError("NCBI did not answer.")

    with pytest.raises(UpstreamError):
        run_canned(Canned(esearch=answer), SEARCH_ARTICLES, query_term="sleep", species="humans")
    failed.set()

    assert cancelled.wait(20)


@pytest.mark.parametrize(
    ("arguments", "message", "requests"),
    [
        ({"journal": "Nobody"}, "Without `journal` the query finds 14 records.", 2),
        (
            {"journal": "Nobody", "has_abstract": True},
            "The query alone finds 14 records; the filters exclude all of them. Results without `journal`: 14.",
            4,
        ),
        (
            {"author": "Nemo X", "journal": "Nobody"},
            "The query alone finds 14 records; `author` or `journal` alone excludes all of them.",
            6,
        ),
        (
            {"date_range": {"min_date": "1900", "max_date": "1901"}},
            "Without `date_range` the query finds 14 records.",
            2,
        ),
    ],
)
def test_a_search_without_results_because_of_a_filter_names_the_filter(
    sandbox: Sandbox, kit_for: KitFor, arguments: dict[str, Any], message: str, requests: int
) -> None:
    result = kit_for(sandbox).search_articles(query_term="crispr", **arguments)

    assert find_warning(result, "filters_emptied") == message
    assert sandbox.requests("esearch") <= requests
    assert sandbox.requests("espell") == 0  # the query is spelled well


def test_a_query_without_results_gets_a_spelling_suggestion_and_no_warning_about_filters(
    sandbox: Sandbox, kit_for: KitFor
) -> None:
    result = kit_for(sandbox).search_articles(query_term="crisprr", journal="Nobody")

    assert find_warning(result, "spelling_suggestion")
    assert not find_warning(result, "filters_emptied")


def test_filters_that_exclude_everything_only_together_are_reported(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    types = ("Review", "Randomized Controlled Trial")
    languages = ("german", "french", "spanish")
    pairs = [
        (kind, language)
        for kind in types
        for language in languages
        if not kit.search_articles(query_term="all[sb]", filter_by_publication_types=[kind], language=language).pmids
        and kit.search_articles(query_term="all[sb]", language=language).pmids
    ]
    kind, language = pairs[0]

    result = kit.search_articles(query_term="all[sb]", filter_by_publication_types=[kind], language=language)

    message = find_warning(result, "filters_emptied")
    assert "without `filter_by_publication_types`" in message
    assert "without `language`" in message


def test_a_search_whose_slices_never_add_up_ends_and_its_certificate_has_the_missing_number(
    sandbox: Sandbox, kit_for: KitFor
) -> None:
    drift(sandbox, "esearch", replace_text(r"<Count>\d+", "<Count>25000"))

    found = kit_for(sandbox).search_all(query_term="crispr")

    assert found.certificate is not None
    assert found.certificate.count == 25_000
    assert found.certificate.missing == 25_000 - found.certificate.retrieved > 0
    assert any(piece.count > piece.retrieved for piece in found.certificate.slices)
    missing_error = found.missing_error()
    assert isinstance(missing_error, UpstreamError)
    assert missing_error.details["partial"] is True
    assert sandbox.requests() <= 150

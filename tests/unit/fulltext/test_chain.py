"""The chain of full-text sources: batches, order, requests, and failures of other tools."""

import json
import threading
from typing import Any

import pytest
from prepared_services import (
    PreparedServices,
    always_answer,
    fail_down,
    fail_missing,
    list_nothing,
    write_converted_ids,
    write_found_ids,
    write_hits,
    write_jats,
    write_not_in_pmc,
    write_open_access,
    write_pmc_set,
    write_pubmed_set,
)

from entrez_kit.base.errors import EntityNotFound, InvalidInput, RateLimited, UpstreamError
from entrez_kit.fulltext.fetch_fulltext import FETCH_FULLTEXT, build_missing_error
from entrez_kit.fulltext.fulltext_articles import PmcArticle
from entrez_kit.services.transport import Call
from entrez_kit.services.transport.in_flight import mark_sent


def make_pmc(*bad: str, body: bool = True) -> Any:
    """Answer EFetch for PMC; a batch with one of the bad numbers fails as a whole."""

    def answer(call: Call) -> bytes:
        numbers = (call.get_param("id") or "").split(",")
        if set(bad) & set(numbers):
            return fail_down(call)
        return write_pmc_set(*(write_jats(f"PMC{number}", body=body) for number in numbers))

    return answer


def read_ids(call: Call) -> list[str]:
    return (call.get_param("id") or "").split(",")


def write_summaries(call: Call) -> bytes:
    """Return a summary of each requested article."""
    uids = read_ids(call)
    return json.dumps({"result": {"uids": uids, **{uid: {"uid": uid, "title": "T"} for uid in uids}}}).encode()


# Batches


def test_articles_are_in_the_order_of_the_ids_with_duplicates() -> None:
    bench = PreparedServices({"eutils/efetch/pmc": make_pmc()})
    result = bench.fetch(pmcids=["PMC3", "1", "pmc2.4", "PMC3"])

    assert [article.pmcid for article in result.articles] == ["PMC3", "PMC1", "PMC2", "PMC3"]
    assert [read_ids(call) for call in bench.sent("eutils")] == [["3", "1", "2"]]


def test_one_invalid_article_does_not_fail_the_others() -> None:
    bench = PreparedServices(
        {"eutils/efetch/pmc": make_pmc("5"), "pmc_oa/list": list_nothing, "europepmc/search": lambda call: write_hits()}
    )
    result = bench.fetch(pmcids=["3", "4", "5", "6", "7"])

    assert [article.pmcid for article in result.articles] == ["PMC3", "PMC4", "PMC6", "PMC7"]
    (missed,) = result.unavailable
    assert (missed.id, missed.tried_tiers[0].outcome, missed.retryable) == ("PMC5", "service-error", True)


def test_an_unreadable_article_does_not_fail_the_others() -> None:
    def answer(call: Call) -> bytes:
        return write_pmc_set(
            "<article><body><p></body></article>" if "5" in read_ids(call) else write_jats(f"PMC{read_ids(call)[0]}")
        )

    bench = PreparedServices({"eutils/efetch/pmc": answer, "europepmc/search": lambda call: write_hits()})
    result = bench.fetch(pmcids=["4", "5"])

    assert [article.pmcid for article in result.articles] == ["PMC4"]
    assert result.unavailable[0].tried_tiers[0].outcome == "service-error"  # the bucket is down as well


def test_no_more_articles_are_requested_from_a_service_that_is_down() -> None:
    bench = PreparedServices({"europepmc/search": lambda call: write_hits()})
    result = bench.fetch(pmcids=[str(number) for number in range(1, 11)])

    assert len([call for call in bench.calls if call.endpoint == "efetch" and call.get_param("db") == "pmc"]) == 1 + 2
    assert len(result.unavailable) == 10
    assert all(missed.retryable for missed in result.unavailable)


def test_a_rate_limit_causes_no_further_requests() -> None:
    def refuse(call: Call) -> bytes:
        raise RateLimited("Too fast.", details={"reason": "queue_full"})

    bench = PreparedServices({"eutils/efetch/pmc": refuse, "europepmc/search": lambda call: write_hits()})
    bench.fetch(pmcids=["1", "2", "3"])

    assert len([call for call in bench.calls if call.get_param("db") == "pmc"]) == 1


def test_more_than_five_articles_are_requested_by_post() -> None:
    for count, method in ((5, "GET"), (6, "POST")):
        bench = PreparedServices({"eutils/efetch/pmc": make_pmc()})
        bench.fetch(pmcids=[str(number) for number in range(1, count + 1)])
        assert [call.method for call in bench.sent("eutils")] == [method]


def test_more_ids_than_a_batch_can_have_are_requested_in_batches() -> None:
    bench = PreparedServices({"eutils/efetch/pmc": make_pmc()})
    result = bench.fetch(pmcids=[str(number) for number in range(1, 26)])

    assert result.total_returned == 25
    assert [len(read_ids(call)) for call in bench.calls] == [10, 10, 5]


def test_articles_are_matched_by_their_own_ids_and_not_by_their_position() -> None:
    def batch(call: Call) -> bytes:
        if read_ids(call) == ["4"]:
            return write_pmc_set(write_not_in_pmc("4"))
        return write_pmc_set(write_jats("PMC2"), write_not_in_pmc("3"), write_jats("PMC1"), write_jats("PMC99"))

    bench = PreparedServices(
        {
            "eutils/efetch/pmc": batch,
            "pmc_oa/list": list_nothing,
            "europepmc/search": lambda call: write_hits(),
            "idconv/idconv": write_converted_ids,
        }
    )
    result = bench.fetch(pmcids=["1", "2", "3", "4"])

    assert [article.pmcid for article in result.articles] == ["PMC1", "PMC2"]
    assert [(missed.id, missed.tried_tiers[0].outcome) for missed in result.unavailable] == [
        ("PMC3", "miss"),
        ("PMC4", "miss"),
    ]
    assert [missed.reason for missed in result.unavailable] == ["not-found", "not-found"]
    assert "not available: 3" in (result.unavailable[0].tried_tiers[0].detail or "")


@pytest.mark.parametrize(
    "answer",
    [
        write_pmc_set(),
        write_pmc_set(write_jats("PMC99")),
        write_pmc_set(write_not_in_pmc("99")),
        b"<opml><head/></opml>",
    ],
    ids=["empty", "different article", "about another article", "another document"],
)
def test_an_article_that_pmcs_reply_does_not_mention_is_not_reported_as_missing_in_pmc(answer: bytes) -> None:
    bench = PreparedServices(
        {
            "eutils/efetch/pmc": lambda call: answer,
            "pmc_oa/list": list_nothing,
            "europepmc/search": lambda call: write_hits(),
            "idconv/idconv": write_converted_ids,
        }
    )
    (missed,) = bench.fetch(pmcids=["4"]).unavailable

    assert "does not contain" in (missed.tried_tiers[0].detail or "")
    assert missed.retryable


# Ids


def test_a_failing_converter_loses_no_id_and_pubmed_is_requested_once() -> None:
    bench = PreparedServices(
        {
            "eutils/efetch/pubmed": lambda call: write_pubmed_set(
                *((pmid, None, f"PMC{pmid}") for pmid in read_ids(call))
            ),
            "eutils/efetch/pmc": make_pmc(),
        }
    )
    result = bench.fetch(pmids=["1", "2", "3"])

    assert [article.pmcid for article in result.articles] == ["PMC1", "PMC2", "PMC3"]
    requested = [call for call in bench.calls if call.get_param("db") == "pubmed" and call.endpoint == "efetch"]
    assert [read_ids(call) for call in requested] == [["1", "2", "3"]]


def test_the_standing_of_the_works_is_requested_once() -> None:
    def answer_summaries(call: Call) -> bytes:
        retracted = {"reftype": "Retraction in", "refsource": "J Inv. 2021;1:2", "pmid": "9"}
        records = {pmid: {"references": [retracted] if pmid == "1" else []} for pmid in read_ids(call)}
        return json.dumps({"result": {"uids": list(records), **records}}).encode()

    articles = {
        "eutils/efetch/pubmed": lambda call: write_pubmed_set(*((pmid, None, f"PMC{pmid}") for pmid in read_ids(call))),
        "eutils/efetch/pmc": make_pmc(),
    }
    requested = PreparedServices({**articles, "eutils/esummary/pubmed": answer_summaries})
    dead = PreparedServices(articles)

    known, unknown = requested.fetch(pmids=["1", "2"]), dead.fetch(pmids=["1", "2"])

    assert [article.standing.note if article.standing else None for article in known.articles] == [
        "[Retracted: J Inv. 2021;1:2]",
        None,
    ]
    assert [article.retraction_status for article in known.articles if isinstance(article, PmcArticle)] == [
        "retracted",
        None,
    ]
    assert len([call for call in requested.calls if call.endpoint == "esummary"]) == 1
    assert len(unknown.articles) == 2
    assert {warning.code for warning in unknown.warnings} == {"standing_unknown"}
    error = unknown.missing_error()
    assert error is not None
    assert (error.code, error.details["partial"]) == ("UPSTREAM_ERROR", True)


def test_independent_requests_are_sent_at_the_same_time_as_that_to_pmc() -> None:
    together = threading.Barrier(4, timeout=20)

    def wait_for_others(answer: Any) -> Any:
        def wait(call: Call) -> bytes:
            mark_sent()
            together.wait()
            content: bytes = answer(call)
            return content

        return wait

    bench = PreparedServices(
        {
            "idconv/idconv": lambda call: write_converted_ids(call, {"requested-id": "1", "pmid": 1, "pmcid": "PMC1"}),
            "eutils/esummary/pubmed": wait_for_others(write_summaries),
            "eutils/efetch/pmc": wait_for_others(make_pmc()),
            "pmc_oa/list": wait_for_others(list_nothing),
            "europepmc/search": wait_for_others(lambda call: write_hits()),
        }
    )
    result = bench.fetch(bench.services(unpaywall_email=None), pmids=["1", "2"])

    assert [article.pmid for article in result.articles] == ["1"]
    assert not together.broken


def test_europe_pmc_is_not_requested_for_an_article_that_pmc_returns() -> None:
    searched = threading.Event()

    def answer_late(call: Call) -> bytes:
        mark_sent()
        assert searched.wait(20)
        content: bytes = make_pmc()(call)
        return content

    def search(call: Call) -> bytes:
        searched.set()
        return write_hits()

    bench = PreparedServices(
        {
            "idconv/idconv": lambda call: write_converted_ids(call, {"requested-id": "1", "pmid": 1, "pmcid": "PMC1"}),
            "eutils/esummary/pubmed": write_summaries,
            "eutils/efetch/pmc": answer_late,
            "pmc_oa/list": list_nothing,
            "europepmc/search": search,
        }
    )
    result = bench.fetch(bench.services(unpaywall_email=None), pmids=["1", "2"])

    assert [article.pmid for article in result.articles] == ["1"]
    assert [call.get_param("query") for call in bench.sent("europepmc")] == ["EXT_ID:2 AND SRC:MED"]


@pytest.mark.parametrize(
    "given", ["98999999", "pmc98999999.1", "PMC98999999", "https://pmc.ncbi.nlm.nih.gov/articles/PMC98999999/"]
)
def test_an_unavailable_id_is_returned_in_its_normal_form(given: str) -> None:
    bench = PreparedServices(
        {
            "eutils/efetch/pmc": lambda call: write_pmc_set(write_not_in_pmc("98999999")),
            "idconv/idconv": write_converted_ids,
        }
    )

    (missed,) = bench.fetch(bench.services(unpaywall_email=None), pmcids=[given]).unavailable

    assert (missed.id, missed.id_type) == ("PMC98999999", "pmcid")


def test_a_text_is_requested_only_after_all_earlier_sources_have_none() -> None:
    """The lists of sources are requested early. A text is large, and that of an earlier source has precedence."""
    listed = b"<ListBucketResult><CommonPrefixes><Prefix>PMC1.1/</Prefix></CommonPrefixes></ListBucketResult>"
    bench = PreparedServices(
        {
            "idconv/idconv": lambda call: write_converted_ids(call, {"requested-id": "1", "pmid": 1, "pmcid": "PMC1"}),
            "eutils/efetch/pmc": make_pmc(),
            "pmc_oa/list": always_answer(listed),
            "europepmc/search": lambda call: write_hits({"id": "1", "source": "MED", "pmid": "1", "pmcid": "PMC1"}),
        }
    )
    bench.fetch(pmids=["1", "2"])

    assert {call.endpoint for call in (*bench.sent("pmc_oa"), *bench.sent("europepmc"))} <= {"list", "search"}


def test_europe_pmc_is_searched_once_for_all_articles_and_each_gets_its_own_record() -> None:
    bench = PreparedServices(
        {
            "idconv/idconv": write_converted_ids,
            "europepmc/search": lambda call: write_hits(
                {"id": "3", "source": "MED", "pmid": "3", "pmcid": "PMC30"},
                {"id": "1", "source": "MED", "pmid": "1", "pmcid": "PMC10"},
            ),
            "europepmc/fullTextXML": lambda call: write_jats(call.url.split("/")[-2]).encode(),
        }
    )
    result = bench.fetch(bench.services(unpaywall_email=None), pmids=["1", "2", "3"])

    assert [article.pmcid for article in result.articles] == ["PMC10", "PMC30"]
    assert [missed.id for missed in result.unavailable] == ["2"]
    searches = [call for call in bench.sent("europepmc") if call.endpoint == "search"]
    assert [call.get_param("query") for call in searches] == [
        "(EXT_ID:1 AND SRC:MED) OR (EXT_ID:2 AND SRC:MED) OR (EXT_ID:3 AND SRC:MED)"
    ]


def test_an_id_that_europe_pmc_refuses_does_not_fail_the_others() -> None:
    def search(call: Call) -> bytes:
        if "10.1000/odd" in (call.get_param("query") or ""):
            raise InvalidInput("Invalid query.")
        return write_hits({"id": "2", "source": "MED", "doi": "10.1000/x", "pmcid": "PMC5"})

    bench = PreparedServices(
        {
            "idconv/idconv": write_converted_ids,
            "europepmc/search": search,
            "europepmc/fullTextXML": lambda call: write_jats("PMC5").encode(),
        }
    )
    result = bench.fetch(bench.services(unpaywall_email=None), dois=["10.1000/odd", "10.1000/x"])

    assert [getattr(article, "pmcid", None) for article in result.articles] == ["PMC5"]
    assert [(missed.id, missed.tried_tiers[1].outcome) for missed in result.unavailable] == [("10.1000/odd", "miss")]


def test_the_standing_of_works_without_text_is_read_from_their_records_in_one_request() -> None:
    bench = PreparedServices(
        {
            "idconv/idconv": write_converted_ids,
            "europepmc/search": lambda call: write_hits(),
            "eutils/efetch/pubmed": lambda call: write_pubmed_set(("1", None, None), ("2", None, None)),
        }
    )
    bench.fetch(bench.services(unpaywall_email=None), pmids=["1", "2"])

    assert [(call.endpoint, read_ids(call)) for call in bench.sent("eutils")] == [("efetch", ["1", "2"])]


def test_an_article_outside_of_pmc_is_not_reported_as_unknown() -> None:
    bench = PreparedServices(
        {
            "idconv/idconv": write_converted_ids,
            "europepmc/search": lambda call: write_hits({"id": "8", "source": "MED", "pmid": "8", "pmcid": "PMC80"}),
            "europepmc/fullTextXML": lambda call: write_jats("PMC80").encode(),
        }
    )
    (article,) = bench.fetch(pmids=["8"]).articles

    assert isinstance(article, PmcArticle)
    assert (article.via_source, article.pmcid, article.epmc_id, article.epmc_source) == (
        "europepmc",
        "PMC80",
        "8",
        "MED",
    )


def test_missing_dois_are_read_from_pubmed_in_one_batch() -> None:
    bench = PreparedServices(
        {
            "idconv/idconv": write_converted_ids,
            "europepmc/search": lambda call: write_hits(),
            "eutils/efetch/pubmed": lambda call: write_pubmed_set(
                *((pmid, f"10.1000/{pmid}", None) for pmid in read_ids(call))
            ),
            "unpaywall/unpaywall": fail_missing,
        }
    )
    result = bench.fetch(pmids=["1", "2", "3"])

    assert [missed.reason for missed in result.unavailable] == ["no-oa"] * 3
    assert len([call for call in bench.calls if call.endpoint == "efetch"]) == 1
    assert [call.url.rpartition("/")[2] for call in bench.sent("unpaywall")] == ["1", "2", "3"]


@pytest.mark.parametrize("source", ["front matter", "hit", "converter"])
def test_articles_requested_by_pmcid_are_searched_in_unpaywall(source: str) -> None:
    hit = {"id": "PMC7", "source": "PMC", "pmcid": "PMC7", **({"doi": "10.1000/x"} if source == "hit" else {})}
    known = {"requested-id": "PMC7", "pmcid": "PMC7", "doi": "10.1000/x"}
    bench = PreparedServices(
        {
            "eutils/efetch/pmc": lambda call: write_pmc_set(
                write_jats("PMC7", body=False, doi="10.1000/x" if source == "front matter" else None)
            ),
            "pmc_oa/list": list_nothing,
            "europepmc/search": lambda call: write_hits(hit),
            "europepmc/fullTextXML": fail_missing,
            "idconv/idconv": lambda call: write_converted_ids(call, *([known] if source == "converter" else [])),
            "unpaywall/unpaywall": lambda call: write_open_access("10.1000/x"),
        }
    )
    (missed,) = bench.fetch(pmcids=["PMC7"]).unavailable

    assert [tried.outcome for tried in missed.tried_tiers] == ["no-body", "no-fulltext", "no-oa"]
    assert bench.sent("unpaywall")[0].url.endswith("/10.1000/x")
    assert bool(bench.sent("idconv")) is (source == "converter")


def test_dois_are_compared_without_regard_to_case() -> None:
    bench = PreparedServices(
        {
            "idconv/idconv": write_converted_ids,
            "europepmc/search": lambda call: write_hits(
                {"id": "1", "source": "MED", "doi": "10.1056/other"},
                {"id": "2", "source": "MED", "doi": "10.1056/nejmoa1", "pmcid": "PMC5"},
            ),
            "europepmc/fullTextXML": lambda call: write_jats("PMC5").encode(),
        }
    )
    result = bench.fetch(dois=["10.1056/NEJMoa1"])

    assert [getattr(article, "pmcid", None) for article in result.articles] == ["PMC5"]


def test_requests_to_europe_pmc_have_its_query_syntax() -> None:
    requested = []

    def search(call: Call) -> bytes:
        requested.append(call.get_param("query"))
        return write_hits()

    for kind, value in (("pmids", "12"), ("pmcids", "pmc34.2"), ("dois", '10.1000/a"b')):
        bench = PreparedServices(
            {"idconv/idconv": write_converted_ids, "europepmc/search": search, "pmc_oa/list": list_nothing}
        )
        bench.fetch(None, **{kind: [value]})

    assert requested == ["EXT_ID:12 AND SRC:MED", "PMCID:PMC34", 'DOI:"10.1000/ab"']


def test_an_article_with_front_matter_only_is_requested_from_the_next_source() -> None:
    bench = PreparedServices(
        {
            "eutils/efetch/pmc": make_pmc(body=False),
            "pmc_oa/list": list_nothing,
            "europepmc/search": lambda call: write_hits({"id": "PMC1", "source": "PMC", "pmcid": "PMC1"}),
            "europepmc/fullTextXML": lambda call: write_jats("PMC1").encode(),
        }
    )

    assert [article.via_source for article in bench.fetch(pmcids=["1"]).articles] == ["europepmc"]


def test_a_preprint_without_pmcid_is_requested_by_its_own_id_if_europe_pmc_has_it() -> None:
    for has_it, outcome in (("Y", "unavailable"), ("N", "no-fulltext")):
        bench = PreparedServices(
            {
                "idconv/idconv": write_converted_ids,
                "europepmc/search": always_answer(
                    write_hits({"id": "PPR9", "source": "PPR", "doi": "10.1000/p", "inEPMC": has_it})
                ),
                "europepmc/fullTextXML": lambda call: write_jats("PMC0").encode(),
                "unpaywall/unpaywall": fail_missing,
            }
        )
        result = bench.fetch(dois=["10.1000/p"])
        assert len(result.articles) == (1 if has_it == "Y" else 0)
        if has_it == "N":
            assert result.unavailable[0].tried_tiers[1].outcome == outcome
            assert "PPR" in (result.unavailable[0].tried_tiers[1].detail or "")


def test_the_open_data_bucket_is_requested_if_pmc_may_not_return_the_text() -> None:
    listed = b"<ListBucketResult><CommonPrefixes><Prefix>PMC7.2/</Prefix></CommonPrefixes></ListBucketResult>"
    bench = PreparedServices(
        {
            "eutils/efetch/pmc": make_pmc(body=False),
            "pmc_oa/list": lambda call: listed,
            "pmc_oa/record": lambda call: b'{"xml_url": "s3://pmc-oa-opendata/PMC7.2/PMC7.2.xml"}',
            "pmc_oa/xml": lambda call: write_jats("PMC7").encode(),
        }
    )
    (article,) = bench.fetch(pmcids=["7"]).articles

    assert article.via_source == "pmc"
    assert not bench.sent("europepmc")


def test_disabled_sources_are_reported_as_disabled() -> None:
    bench = PreparedServices({"idconv/idconv": write_converted_ids})
    services = bench.services(europepmc_enabled=False, unpaywall_email=None)
    (missed,) = bench.fetch(services, pmids=["1"]).unavailable

    assert missed.reason == "no-pmc-fallback-disabled"
    assert [tried.detail for tried in missed.tried_tiers] == [
        "PMID has no PMC counterpart",
        "EUROPEPMC_ENABLED=false",
        "UNPAYWALL_EMAIL is not set",
    ]
    assert not {call.service for call in bench.calls} & {"europepmc", "unpaywall"}


# Requests and results


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "pmids"),
        ({"pmids": [], "dois": ""}, "pmids"),
        ({"pmids": ["1"], "dois": ["10.1000/x"]}, "dois"),
        ({"pmids": ["12a"]}, "pmids.0"),
        ({"pmids": ["1", "10.1000/x"]}, "pmids.1"),
        ({"pmcids": ["NCT1"]}, "pmcids.0"),
        ({"dois": ["10"]}, "dois.0"),
        ({"pmids": ["1"], "max_sections": 51}, "max_sections"),
        ({"pmids": ["1"], "max_characters": 0}, "max_characters"),
        ({"pmids": ["1"], "overflow_mode": "cut"}, "overflow_mode"),
        ({"pmids": ["1"], "section": ["x"]}, "section"),
    ],
)
def test_invalid_arguments_are_rejected_by_name(arguments: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        FETCH_FULLTEXT.build(arguments)

    assert [problem["field"] for problem in caught.value.details["errors"]] == [field]


def test_the_camel_case_of_the_specification_is_accepted() -> None:
    request = FETCH_FULLTEXT.build(
        {"pmcids": ["1"], "includeReferences": True, "maxCharacters": 9, "overflowMode": "outline"}
    )

    assert (request.include_references, request.max_characters, request.overflow_mode) == (True, 9, "outline")


def test_an_unknown_section_is_answered_with_the_existing_ones() -> None:
    result = PreparedServices({"eutils/efetch/pmc": make_pmc()}).fetch(pmcids=["1"], sections=["methods"])
    (warning,) = result.warnings

    assert (warning.code, result.articles[0].sections) == ("sections_not_found", [])  # type: ignore[union-attr]
    assert "'methods'" in warning.message
    assert "Results" in warning.message


def test_a_limit_of_characters_is_respected_and_reports_what_is_missing() -> None:
    def make_long_text(call: Call) -> bytes:
        sections = "".join(f"<sec><title>Part {n}</title><p>{'word ' * 1000}</p></sec>" for n in range(20))
        return write_pmc_set(write_jats("PMC1").replace("<body>", f"<body>{sections}"))

    result = PreparedServices({"eutils/efetch/pmc": make_long_text}).fetch(
        pmcids=["1"], max_characters=5000, overflow_mode="outline"
    )

    assert len(result.model_dump_json()) < 12_000
    assert result.truncation is not None
    assert result.truncation.model_dump(exclude={"articles"}, exclude_none=True) == {
        "mode": "outline",
        "max_characters": 5000,
        "original_characters": 20 * 4999 + 5,
        "returned_characters": result.truncation.returned_characters,
        "omitted_sections": 0,
    }
    assert [part.title for part in result.truncation.articles[0].sections][:2] == ["Part 0", "Part 1"]
    assert PreparedServices({"eutils/efetch/pmc": make_long_text}).fetch(pmcids=["1"]).truncation is None


def test_references_are_returned_only_on_request() -> None:
    def make_cited_text(call: Call) -> bytes:
        back = "<back><ref-list><ref><mixed-citation>A.</mixed-citation></ref></ref-list></back></article>"
        return write_pmc_set(write_jats("PMC1").replace("</article>", back))

    bench = PreparedServices({"eutils/efetch/pmc": make_cited_text})

    assert "references" not in json.loads(bench.fetch(pmcids=["1"]).model_dump_json())["articles"][0]
    assert bench.fetch(pmcids=["1"], include_references=True).articles[0].references[0].citation == "A."  # type: ignore[union-attr]


def test_the_exit_status_depends_on_the_missing_texts() -> None:
    found = PreparedServices({"eutils/efetch/pmc": make_pmc()}).fetch(pmcids=["1"])
    nowhere = {
        "pmc_oa/list": list_nothing,
        "europepmc/search": lambda call: write_hits(),
        "idconv/idconv": write_converted_ids,
    }
    none = PreparedServices({**nowhere, "eutils/efetch/pmc": lambda call: write_pmc_set(write_not_in_pmc("1"))}).fetch(
        pmcids=["1"]
    )
    broken = PreparedServices({}).fetch(pmcids=["1", "2"])
    some = PreparedServices({**nowhere, "eutils/efetch/pmc": lambda call: write_pmc_set(write_jats("PMC1"))}).fetch(
        pmcids=["1", "2"]
    )

    assert found.missing_error() is None
    missing_error = none.missing_error()
    assert isinstance(missing_error, EntityNotFound)
    assert missing_error.details["partial"] is False
    assert isinstance(broken.missing_error(), UpstreamError)
    partial = some.missing_error()
    assert partial is not None
    assert partial.details["partial"] is True
    assert [entry["id"] for entry in partial.details["missing"]] == ["PMC2"]


def test_a_doi_is_searched_if_the_converter_fails() -> None:
    bench = PreparedServices(
        {
            "eutils/esearch/pubmed": lambda call: write_found_ids("5"),
            "eutils/efetch/pubmed": lambda call: write_pubmed_set(("5", "10.1000/X", "PMC50")),
            "eutils/efetch/pmc": make_pmc(),
        }
    )
    (article,) = bench.fetch(dois=["10.1000/x"]).articles

    assert isinstance(article, PmcArticle)
    assert (article.pmcid, article.pmid, article.doi) == ("PMC50", "5", "10.1000/x")


def test_an_article_without_text_has_links_to_its_pages_and_the_authors_email() -> None:
    author = (
        b"<AuthorList><Author><LastName>Doe</LastName><AffiliationInfo><Affiliation>Lab, X. Electronic address: "
        b"j.doe@example.org.</Affiliation></AffiliationInfo></Author></AuthorList>"
    )
    records = write_pubmed_set(("1", "10.1000/x", None)).replace(b"</Article>", author + b"</Article>")
    bench = PreparedServices(
        {
            "idconv/idconv": write_converted_ids,
            "europepmc/search": lambda call: write_hits(),
            "eutils/efetch/pubmed": lambda _: records,
        }
    )

    (missed,) = bench.fetch(bench.services(unpaywall_email=None), pmids=["1"]).unavailable

    assert (missed.title, missed.doi, missed.publisher_url) == ("T", "10.1000/x", "https://doi.org/10.1000/x")
    assert (missed.pmid, missed.pubmed_url) == ("1", "https://pubmed.ncbi.nlm.nih.gov/1/")
    assert missed.emails == ["j.doe@example.org"]
    assert missed.message
    error = build_missing_error([missed], 0)
    assert error is not None
    assert "j.doe" not in str(error.envelope())


def test_an_unknown_article_has_no_links() -> None:
    bench = PreparedServices(
        {
            "idconv/idconv": write_converted_ids,
            "europepmc/search": lambda call: write_hits(),
            "eutils/efetch/pubmed": lambda _: b"",
        }
    )

    (missed,) = bench.fetch(bench.services(unpaywall_email=None), dois=["10.1000/none"]).unavailable

    assert (missed.publisher_url, missed.pubmed_url, missed.emails) == (None, None, [])

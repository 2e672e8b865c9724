"""Similar, citing and cited articles: the services used, their order, and results during outages."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from canned_services import list_warning_codes
from europepmc_relations import serve_europepmc, write_med_record
from fixture_types import KitFor

from entrez_kit import EntrezKit
from entrez_kit.base.errors import EntityNotFound, InvalidInput, RateLimited, UpstreamError
from entrez_kit.pubmed.xml.records import iter_records
from entrez_kit.pubmed.xml.references import read_references
from entrez_kit.relationships.fallback import read_page
from entrez_kit.relationships.find_relationships import RELATIONSHIPS
from entrez_kit.relationships.related_documents import RelationshipsRequest, RelationshipsResult, to_full_name
from entrez_kit.sandbox.demo import DemoPubMed
from entrez_kit.sandbox.server import Sandbox

CITED = "99000001"  # in PMC, cited by others, with references
NOT_IN_PMC = "99000003"  # only its record has its references
ALONE = "99000061"  # it is not cited, and has no reference list


def fetch_related(
    kit: EntrezKit, pmid: str = CITED, relation: str = "similar", **arguments: Any
) -> RelationshipsResult:
    return RELATIONSHIPS.run(kit.services, {"source_pmid": pmid, "relationship_type": relation, **arguments})


def list_pmids(result: RelationshipsResult) -> list[str | None]:
    return [article.pmid for article in result.related_articles]


def list_sent(sandbox: Sandbox) -> list[str]:
    """Return the requests in order; ELink's with its command."""
    return [entry.get("cmd") or entry.endpoint for entry in sandbox.entries()]


# Requests


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("similar", "pubmed_similar_articles"),
        ("citedin", "pubmed_citedin"),
        ("cited_by", "pubmed_citedin"),
        ("cited-by", "pubmed_citedin"),
        ("citing", "pubmed_citedin"),
        ("References", "pubmed_references"),
        ("pubmed_references", "pubmed_references"),
        ("citation_formats", "citation_formats"),
    ],
)
def test_short_names_of_relations_are_accepted(given: str, meant: str) -> None:
    assert RelationshipsRequest(source_pmid="1", relationship_type=to_full_name(given)).relationship_type == meant
    assert RELATIONSHIPS.build({"sourcePmid": "1", "relationshipType": given}).relationship_type == meant


def test_the_defaults_are_those_of_the_specification() -> None:
    request = RELATIONSHIPS.build({"source_pmid": "PMID: 007", "maxRelatedResults": "", "citation_styles": []})

    assert request.source_pmid == "7"
    assert request.relationship_type == "pubmed_similar_articles"
    assert (request.max_related_results, request.citation_styles, request.depth) == (5, ["ris"], 1)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "source_pmid"),
        ({"source_pmid": ""}, "source_pmid"),
        ({"source_pmid": "x"}, "source_pmid"),
        ({"source_pmid": "10.1/x"}, "source_pmid"),
        ({"source_pmid": "12345678901"}, "source_pmid"),
        ({"source_pmid": "1", "relationship_type": "friends"}, "relationship_type"),
        ({"source_pmid": "1", "relationship_type": "citations"}, "relationship_type"),  # of it, or by it?
        ({"source_pmid": "1", "max_related_results": 0}, "max_related_results"),
        ({"source_pmid": "1", "max_related_results": 10_000}, "max_related_results"),
        ({"source_pmid": "1", "depth": 4}, "depth"),
        ({"source_pmid": "1", "depth": 2, "relationship_type": "citation_formats"}, "depth"),
        ({"source_pmid": "1", "budget": 0}, "budget"),
        ({"source_pmid": "1", "budget": 1001}, "budget"),
        ({"source_pmid": "1", "citation_styles": ["papyrus"]}, "citation_styles"),
        ({"source_pmid": "1", "pmids": ["2"]}, "pmids"),
    ],
)
def test_invalid_arguments_are_rejected_by_name(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        RELATIONSHIPS.build(arguments)

    assert caught.value.details["errors"][0]["field"].startswith(field)


# Links of NCBI


def test_similar_articles_have_scores_and_the_most_similar_are_first(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = fetch_related(kit_for(sandbox), max_related_results=10)
    scores = [article.score for article in result.related_articles]

    assert list_sent(sandbox) == ["neighbor_score", "esummary"]
    assert (result.retrieved_count, result.provenance, result.warnings) == (10, "ncbi", [])
    assert result.total_found > 10
    assert CITED not in list_pmids(result)
    assert scores[0] == 1.0
    assert all(score is not None and 0 < score <= 1 for score in scores)
    assert scores == sorted(scores, key=lambda score: -(score or 0))
    first = result.related_articles[0]
    assert (first.title or "").startswith("Ex vivo base-edited progenitor cells")
    assert first.link_url == f"https://pubmed.ncbi.nlm.nih.gov/{first.pmid}/"
    assert "cmd=neighbor_score" in (result.elink_url or "")


def test_citing_and_cited_articles_have_no_scores_and_none_are_requested(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    citing, cited = fetch_related(kit, relation="citedin"), fetch_related(kit, relation="references")

    assert list_pmids(citing) == ["99000031", "99000005", "99000004", "99000003", "99000002"]
    assert list_pmids(cited) == ["99000007"]
    assert [article.score for article in (*citing.related_articles, *cited.related_articles)] == [None] * 6
    assert list_sent(sandbox) == ["neighbor", "esummary", "neighbor", "esummary"]
    assert "api_key" not in (citing.elink_url or "")


def test_only_the_returned_articles_are_summarized(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = fetch_related(kit_for(sandbox), relation="citedin", max_related_results=2)

    assert (result.retrieved_count, result.total_found) == (2, 5)
    assert [entry.get("id") for entry in sandbox.entries("esummary")] == [f"{CITED},99000031,99000005"]


def test_retractions_are_marked(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = fetch_related(kit_for(sandbox), "99000051", relation="references")

    assert [(article.pmid, article.retraction_status) for article in result.related_articles] == [
        ("99000050", "retracted")
    ]


def test_many_articles_are_summarized_in_batches(kit_for: KitFor) -> None:
    with Sandbox(records=600, enforce_limits=False) as big:
        kit = kit_for(big)
        source = kit.search_articles(query_term="all[sb]", max_results=1).pmids[0]
        result = fetch_related(kit, source, max_related_results=9_999)

    assert result.retrieved_count == result.total_found == len(set(list_pmids(result)))
    assert all(article.title for article in result.related_articles)


# Ids that do not exist get no links


def test_a_pmid_that_does_not_exist_gets_no_links(sandbox: Sandbox, kit_for: KitFor, monkeypatch: Any) -> None:
    monkeypatch.setattr(DemoPubMed, "find_links", lambda self, link, uid: [("99000001", 5)] if uid == "12" else [])

    for relation in ("similar", "citedin", "references"):
        with pytest.raises(EntityNotFound) as caught:
            fetch_related(kit_for(sandbox), "12", relation)
        assert (caught.value.invalid_input, caught.value.reason) == ("12", "not_found")
        assert "search_articles" in caught.value.recovery_hint


@pytest.mark.parametrize(
    ("relation", "depth"),
    [(relation, depth) for relation in ("similar", "citedin", "references") for depth in (1, 2)]
    + [("citation_formats", 1)],
)
def test_a_pmid_that_does_not_exist_is_distinguished_from_one_without_links(
    sandbox: Sandbox, kit_for: KitFor, relation: str, depth: int
) -> None:
    serve_europepmc(sandbox)
    with pytest.raises(EntityNotFound):
        fetch_related(kit_for(sandbox), "12", relation, depth=depth)


# References of articles outside of PMC


def test_references_of_an_article_outside_of_pmc_are_read_from_its_record(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = fetch_related(kit_for(sandbox), NOT_IN_PMC, "references")

    assert list_sent(sandbox) == ["neighbor", "esummary", "efetch", "esummary"]
    assert list_pmids(result) == ["99000001", "99000002"]
    assert (result.provenance, list_warning_codes(result)) == ("pubmed_record", ["from_pubmed_record"])
    assert "NCBI has no such links; these references of PMID 99000003 come from" in result.warnings[0].message
    assert all(article.title and article.citation is None for article in result.related_articles)
    assert result.missing_error() is None


def test_references_missing_in_ncbi_are_requested_from_europe_pmc(sandbox: Sandbox, kit_for: KitFor) -> None:
    known = [
        write_med_record("99000001"),
        write_med_record(ALONE),
        {"id": "PPR77", "source": "PPR", "title": "A preprint", "authorString": "Doe J, Smith A.", "pubYear": 2020},
        {"title": "A book", "publicationTitle": "Great Books", "pubYear": "1999", "match": "N", "citedOrder": 4},
        {"unstructuredInformation": "Someone (1950) Somewhere.", "citedOrder": 5},
        {"doi": "10.5555/only.a.doi", "citedOrder": 6},
        write_med_record("99000001"),
        {},
    ]
    serve_europepmc(sandbox, references={ALONE: known})
    result = fetch_related(kit_for(sandbox), ALONE, "references", max_related_results=50)

    assert list_sent(sandbox) == ["neighbor", "esummary", "efetch", "europepmc", "esummary"]
    assert (result.provenance, list_warning_codes(result)) == ("europepmc", ["from_europepmc"])
    first, preprint, book, words, doi = result.related_articles
    assert (first.pmid, first.title and first.title[:12]) == (
        "99000001",
        "Base editing",
    )  # the title of PubMed, not of Europe PMC
    assert (preprint.pmid, preprint.epmc_source, preprint.epmc_id) == (None, "PPR", "PPR77")
    assert (preprint.authors, preprint.pub_date) == ("Doe J, Smith A", "2020")
    assert preprint.link_url == "https://europepmc.org/article/PPR/PPR77"
    assert (book.title, book.source, book.link_url) == ("A book", "Great Books. 1999", None)
    assert words.citation == "Someone (1950) Somewhere."
    assert doi.link_url == "https://doi.org/10.5555/only.a.doi"
    assert result.total_found == 8


def test_citing_articles_of_europe_pmc_are_returned_page_by_page(sandbox: Sandbox, kit_for: KitFor) -> None:
    citing = [write_med_record(str(99_100_000 + number)) for number in range(1_500)]
    serve_europepmc(sandbox, citations={ALONE: citing})
    kit = kit_for(sandbox)
    few = fetch_related(kit, ALONE, "citedin", max_related_results=3)
    many = fetch_related(kit, ALONE, "citedin", max_related_results=1_200)

    assert (few.retrieved_count, few.total_found, few.provenance) == (3, 1_500, "europepmc")
    assert (many.retrieved_count, many.total_found) == (1_200, 1_500)
    assert [(entry.get("page"), entry.get("pageSize")) for entry in sandbox.entries("europepmc")] == [
        ("1", "25"),
        ("1", "1000"),
        ("2", "1000"),
    ]
    assert (
        few.related_articles[0].title == "Title of 99100000"
    )  # PubMed does not have it here, so the title of Europe PMC is returned


@pytest.mark.parametrize(
    ("relation", "code", "words"),
    [
        ("similar", "no_similar_articles", "some days after"),
        ("citedin", "no_citing_articles", "in NCBI or Europe PMC"),
        ("references", "no_references", "in NCBI, the PubMed record itself or Europe PMC"),
    ],
)
def test_an_article_without_links_has_the_reason(
    sandbox: Sandbox, kit_for: KitFor, monkeypatch: Any, relation: str, code: str, words: str
) -> None:
    serve_europepmc(sandbox)
    monkeypatch.setattr(DemoPubMed, "find_links", lambda self, link, uid: [])
    result = fetch_related(kit_for(sandbox), ALONE, relation)

    assert (result.related_articles, result.total_found, list_warning_codes(result)) == ([], 0, [code])
    assert words in result.warnings[0].message
    assert result.missing_error() is None


def test_a_disabled_europe_pmc_is_not_requested_and_this_is_reported(sandbox: Sandbox, kit_for: KitFor) -> None:
    serve_europepmc(sandbox, citations={ALONE: [write_med_record("1")]})
    result = fetch_related(kit_for(sandbox, europepmc_enabled=False), ALONE, "citedin")

    assert sandbox.requests("europepmc") == 0
    assert list_warning_codes(result) == ["europepmc_disabled", "no_citing_articles"]
    assert "EUROPEPMC_ENABLED=false" in result.warnings[0].message


def test_an_outage_of_europe_pmc_makes_the_answer_incomplete(sandbox: Sandbox, kit_for: KitFor) -> None:
    serve_europepmc(sandbox)
    sandbox.fail_next("500", "europepmc", 20)
    result = fetch_related(kit_for(sandbox), ALONE, "citedin")
    missing_error = result.missing_error()

    assert list_warning_codes(result) == ["europepmc_failed", "no_citing_articles"]
    assert isinstance(missing_error, UpstreamError)
    assert missing_error.details["partial"] is True


# Scores that do not arrive, and an outage of ELink


def set_scores_deadline(monkeypatch: pytest.MonkeyPatch, milliseconds: int) -> None:
    monkeypatch.setattr("entrez_kit.relationships.related_articles.SCORES_DEADLINE_MS", milliseconds)


@pytest.mark.long
def test_scores_that_do_not_arrive_are_omitted_after_their_own_deadline(
    sandbox: Sandbox, kit_for: KitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_scores_deadline(monkeypatch, 300)
    sandbox.delay("elink", 30, cmd="neighbor_score")
    kit = kit_for(sandbox)
    result = fetch_related(kit)

    assert [entry.get("cmd") for entry in sandbox.entries("elink")] == ["neighbor"]  # the other is still delayed
    assert list_warning_codes(result) == ["scores_unavailable"]
    assert len(list_pmids(result)) == 5
    assert [article.score for article in result.related_articles] == [None] * 5
    assert "cmd=neighbor&" in (result.elink_url or "")
    assert result.missing_error() is None


def test_the_wait_for_a_slot_counts_for_the_deadline(
    sandbox: Sandbox, leaping_clock: list[float], tmp_path: Path, monkeypatch: Any
) -> None:
    set_scores_deadline(monkeypatch, 300)
    with EntrezKit(sandbox.settings(tmp_path, ncbi_request_delay_ms=900)) as kit:
        kit.eutils.einfo(db="pubmed")  # the next slot is in 0.9 seconds, later than the deadline of the scores
        result = fetch_related(kit)

    assert [entry.get("cmd") for entry in sandbox.entries("elink")] == ["neighbor"]
    assert list_warning_codes(result) == ["scores_unavailable"]
    assert len(list_pmids(result)) == 5


def test_the_deadline_of_scores_is_ten_seconds_or_the_limit_of_the_user(
    sandbox: Sandbox, kit_for: KitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    from entrez_kit.services.eutils import EUtils

    requested: list[tuple[Any, Any]] = []
    elink = EUtils.elink

    def record_deadline(self: EUtils, **arguments: Any) -> Any:
        requested.append((arguments["cmd"], arguments["deadline_ms"]))
        if arguments["cmd"] == "neighbor_score":
            raise UpstreamError("wedged", details={"reason": "deadline_exceeded"})
        return elink(self, **arguments)

    monkeypatch.setattr(EUtils, "elink", record_deadline)
    fetch_related(kit_for(sandbox))
    fetch_related(kit_for(sandbox, ncbi_total_deadline_ms=6_000), relation="similar")
    fetch_related(kit_for(sandbox), relation="citedin")

    assert requested == [
        ("neighbor_score", 10_000),
        ("neighbor", None),
        ("neighbor_score", 6_000),
        ("neighbor", None),
        ("neighbor", 20_000),
    ]


def test_during_an_outage_of_elink_europe_pmc_answers(sandbox: Sandbox, kit_for: KitFor) -> None:
    serve_europepmc(sandbox, citations={CITED: [write_med_record("99000004"), write_med_record("99000002")]})
    sandbox.fail_next("error200", "elink", 50)
    result = fetch_related(kit_for(sandbox), relation="citedin")

    assert list_pmids(result) == ["99000004", "99000002"]
    assert (result.provenance, list_warning_codes(result)) == ("europepmc", ["from_europepmc"])
    assert "did not answer" in result.warnings[0].message
    assert result.elink_url is None
    assert result.missing_error() is None


def test_europe_pmc_and_ncbi_give_the_same_citing_articles_of_the_sandbox(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox, no_cache=True)
    known = fetch_related(kit, relation="citedin", max_related_results=50)
    sandbox.take_down("elink")
    bridged = fetch_related(kit, relation="citedin", max_related_results=50)

    assert bridged.provenance == "europepmc"
    assert set(list_pmids(known)) <= set(list_pmids(bridged))
    assert bridged.total_found == bridged.retrieved_count


def test_during_an_outage_references_are_read_from_the_record(sandbox: Sandbox, kit_for: KitFor) -> None:
    sandbox.take_down("elink")
    result = fetch_related(kit_for(sandbox), relation="references")

    assert (result.provenance, result.total_found) == ("pubmed_record", 4)
    assert list_pmids(result)[0] == "99000007"


@pytest.mark.parametrize("relation", ["similar", "citedin", "references"])
def test_no_answer_is_an_error_and_never_no_links(sandbox: Sandbox, kit_for: KitFor, relation: str) -> None:
    serve_europepmc(sandbox)
    for endpoint in ("elink", "efetch", "europepmc"):
        sandbox.fail_next("error200" if endpoint != "europepmc" else "503", endpoint, 50)
    with pytest.raises(UpstreamError) as caught:
        fetch_related(kit_for(sandbox), relation=relation)

    assert caught.value.retryable


def test_during_an_outage_an_empty_answer_of_europe_pmc_is_incomplete(sandbox: Sandbox, kit_for: KitFor) -> None:
    serve_europepmc(sandbox)
    sandbox.take_down("elink")
    result = fetch_related(kit_for(sandbox), relation="citedin")

    assert list_warning_codes(result) == ["links_incomplete", "no_citing_articles"]
    assert result.missing_error() is not None


def test_a_full_queue_is_reported_at_once(sandbox: Sandbox, kit_for: KitFor, monkeypatch: pytest.MonkeyPatch) -> None:
    from entrez_kit.services.eutils import EUtils

    requested: list[str] = []

    def refuse(self: EUtils, **arguments: Any) -> Any:
        requested.append(arguments["cmd"])
        raise RateLimited("full", details={"reason": "queue_full"})

    monkeypatch.setattr(EUtils, "elink", refuse)
    for relation in ("similar", "citedin"):
        with pytest.raises(RateLimited):
            fetch_related(kit_for(sandbox), relation=relation)
    assert requested == ["neighbor_score", "neighbor"]


# An outage of the summaries is not an error


def test_without_summaries_pmids_and_a_warning_are_returned(sandbox: Sandbox, kit_for: KitFor) -> None:
    sandbox.take_down("esummary")
    result = fetch_related(kit_for(sandbox), relation="citedin")

    assert list_pmids(result) == ["99000031", "99000005", "99000004", "99000003", "99000002"]
    assert {article.title for article in result.related_articles} == {None}
    assert all(article.link_url for article in result.related_articles)
    assert list_warning_codes(result) == ["source_not_verified", "summaries_unavailable"]


def test_without_summaries_no_retraction_is_marked_and_the_result_is_incomplete(
    sandbox: Sandbox, kit_for: KitFor
) -> None:
    sandbox.take_down("esummary")
    error = fetch_related(kit_for(sandbox), relation="citedin").missing_error()

    assert error is not None
    assert error.details["partial"] is True
    missing = " ".join(problem["message"] for problem in error.details["missing"])
    assert "retraction notices are missing for PMID 99000031, 99000005" in missing


def test_faults_do_not_change_the_result(kit_for: KitFor, sandbox: Sandbox) -> None:
    expected = fetch_related(kit_for(sandbox), max_related_results=20)
    faults = {"500": 0.1, "truncate": 0.1, "html": 0.1, "cut": 0.1, "error200": 0.1}
    for seed in range(3):
        with Sandbox(enforce_limits=False, faults=faults, seed=seed) as faulty:
            kit = kit_for(faulty, cache_dir=f"/nonexistent/{seed}", no_cache=True)
            assert list_pmids(fetch_related(kit, max_related_results=20)) == list_pmids(expected)


# Citations


@pytest.mark.parametrize(
    ("given", "styles"),
    [
        ("apa_string, BibTeX", ["apa_string", "bibtex"]),
        (["ris,bib", "csl-json", "ris"], ["ris", "bibtex", "csl"]),
        (["nbib"], ["nbib"]),
    ],
)
def test_styles_are_accepted_in_usual_spellings(given: Any, styles: list[str]) -> None:
    assert RELATIONSHIPS.build({"source_pmid": "1", "citation_styles": given}).citation_styles == styles


@pytest.mark.process
def test_an_article_is_written_in_every_requested_style(sandbox: Sandbox, kit_for: KitFor) -> None:
    styles = ["apa_string", "mla_string", "vancouver", "csl"]
    result = fetch_related(kit_for(sandbox), relation="citation_formats", citation_styles=[*styles, "csl"])

    assert list_sent(sandbox) == ["efetch"]
    assert list(result.citations) == styles  # under their requested names, each once
    assert result.citations["apa_string"].startswith("Marrowby, T. J., Fenwick-Achebe, I., Luo, Q., & Thistlewood")
    assert "10.5555/ekit.2019.0001" in result.citations["mla_string"]
    assert json.loads(result.citations["csl"])[0]["DOI"] == "10.5555/ekit.2019.0001"
    assert (result.related_articles, result.retrieved_count, result.elink_url) == ([], 0, None)


def test_entries_for_reference_managers_are_the_default(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)
    ris = fetch_related(kit, relation="citation_formats").citations
    bibtex = fetch_related(kit, relation="citation_formats", citation_styles=["bibtex"]).citations

    assert list(ris) == ["ris"]
    assert ris["ris"].startswith("TY  - JOUR")
    assert bibtex["bibtex"].lstrip().startswith("@article{")


# Reading


def test_reference_lists_are_read_completely_also_nested_ones() -> None:
    content = b"""<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>5</PMID>
      <Article><ArticleTitle>T</ArticleTitle></Article>
      <CommentsCorrectionsList><CommentsCorrections RefType="Cites"><RefSource>x</RefSource><PMID>99</PMID>
      </CommentsCorrections></CommentsCorrectionsList></MedlineCitation><PubmedData><ArticleIdList>
      <ArticleId IdType="pubmed">5</ArticleId></ArticleIdList><ReferenceList><Title>R</Title>
      <Reference><Citation>Doe J. <i>Nature</i>. 2001.</Citation><ArticleIdList>
      <ArticleId IdType="pubmed">11</ArticleId><ArticleId IdType="doi">https://doi.org/10.1/a</ArticleId>
      <ArticleId IdType="pmc">PMC7</ArticleId></ArticleIdList></Reference>
      <ReferenceList><Reference><Citation>No ids.</Citation></Reference>
      <Reference><ArticleIdList><ArticleId IdType="pubmed">11</ArticleId></ArticleIdList></Reference>
      <Reference><ArticleIdList><ArticleId IdType="pubmed">5</ArticleId></ArticleIdList></Reference><Reference/>
      <Reference><ArticleIdList><ArticleId IdType="pubmed">bad</ArticleId><ArticleId IdType="doi">10.1/b</ArticleId>
      </ArticleIdList></Reference></ReferenceList></ReferenceList></PubmedData></PubmedArticle></PubmedArticleSet>"""
    (record,) = iter_records(content)
    found = list(read_references(record.element, "5"))

    assert [(one.pmid, one.doi, one.pmcid, one.citation) for one in found] == [
        ("11", "10.1/a", "PMC7", "Doe J. Nature. 2001."),
        (None, None, None, "No ids."),
        (None, "10.1/b", None, None),
    ]


def test_references_of_older_records_are_read_from_their_corrections() -> None:
    content = b"""<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>5</PMID>
      <Article><ArticleTitle>T</ArticleTitle></Article>
      <CommentsCorrectionsList><CommentsCorrections RefType="Cites"><RefSource>J X 1999</RefSource>
      <PMID>99</PMID></CommentsCorrections><CommentsCorrections RefType="ErratumIn"><RefSource>y</RefSource>
      <PMID>98</PMID></CommentsCorrections></CommentsCorrectionsList></MedlineCitation></PubmedArticle></PubmedArticleSet>"""
    (record,) = iter_records(content)

    assert [(reference.pmid, reference.citation) for reference in read_references(record.element, "5")] == [
        ("99", "J X 1999")
    ]


def test_recorded_reference_lists_lose_no_pmid(real_data: Path) -> None:
    lists = 0
    for path in sorted((real_data / "efetch_pubmed").glob("*.xml")):
        content = path.read_bytes()
        if b"<ReferenceList>" not in content or len(content) > 3_000_000:
            continue
        try:
            root = ElementTree.fromstring(content)
        except ElementTree.ParseError:
            continue
        expected = {}
        for article in root.iter("PubmedArticle"):
            own = article.findtext("MedlineCitation/PMID") or ""
            listed = [
                (item.text or "").strip()
                for reference in article.iterfind("PubmedData/ReferenceList")
                for item in reference.iter("ArticleId")
                if item.get("IdType") == "pubmed"
            ]
            expected[own] = [pmid for pmid in dict.fromkeys(listed) if pmid.isdigit() and pmid not in ("0", own)]
        for record in iter_records(content):
            if expected.get(record.pmid):
                found = [reference.pmid for reference in read_references(record.element, record.pmid) if reference.pmid]
                assert found == expected[record.pmid], (path, record.pmid)
                lists += 1
    assert lists >= 10


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b'{"hitCount": "x"}',
        b'{"hitCount": 1, "citationList": [1]}',
        b'{"hitCount": 1, "citationList": {"citation": 7}}',
    ],
)
def test_an_invalid_page_is_a_failure(content: bytes) -> None:
    with pytest.raises(UpstreamError):
        read_page(content, "pubmed_citedin")


def test_an_empty_page_is_an_answer() -> None:
    assert read_page(b'{"hitCount": 0, "citationList": {}}', "pubmed_citedin") == (0, [])
    assert read_page(json.dumps({"hitCount": 0}).encode(), "pubmed_references") == (0, [])


def test_references_have_their_exponents() -> None:
    text = (
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>5</PMID></MedlineCitation><PubmedData><ReferenceList>"
        "<Reference><Citation>Growth at 10<sup>6</sup><sub>x</sub> <b>cells</b></Citation></Reference>"
        "</ReferenceList></PubmedData></PubmedArticle></PubmedArticleSet>"
    )
    (record,) = iter_records(text.encode())
    found = list(read_references(record.element, "5"))

    assert [article.citation for article in found] == ["Growth at 10⁶ₓ cells"]


# Registrations


def test_missing_trial_registrations_cause_a_warning(kit_for: KitFor, sandbox: Sandbox) -> None:
    sandbox.take_down("efetch")
    result = fetch_related(kit_for(sandbox, ncbi_max_retries=0), registrations=True)

    assert result.related_articles
    assert "registrations_unavailable" in list_warning_codes(result)
    assert isinstance(result.missing_error(), UpstreamError)


def test_trial_registrations_are_rejected_for_citations(kit_for: KitFor, sandbox: Sandbox) -> None:
    with pytest.raises(InvalidInput, match="registrations"):
        fetch_related(kit_for(sandbox), relation="citation_formats", registrations=True)

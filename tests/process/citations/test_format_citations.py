"""The operation that formats citations: one outcome per input, in order, in every requested style."""

import json
from typing import Any

import pytest
from fixture_types import KitFor

from entrez_kit import EntrezKit
from entrez_kit.base.errors import InvalidInput, UpstreamError
from entrez_kit.citations.format_citations import CitationsRequest, CitationsResult, format_articles
from entrez_kit.citations.style.style_names import STYLE_NAMES
from entrez_kit.citations.write_files import FILES
from entrez_kit.pubmed.models import Article
from entrez_kit.sandbox.server import Sandbox


def format_records(kit: EntrezKit, *pmids: str, **more: Any) -> CitationsResult:
    """Cite records."""
    return kit.format_citations(pmids=list(pmids), **more)


def test_citations_are_in_the_order_of_the_inputs_with_duplicates(kit_for: KitFor, sandbox: Sandbox) -> None:
    result = format_records(kit_for(sandbox), "99000031", "99000001", "99000031")

    assert [citation.pmid for citation in result.citations] == ["99000031", "99000001", "99000031"]
    assert (result.total_submitted, result.total_formatted) == (3, 3)
    assert result.outcomes == []


def test_apa_is_the_default(kit_for: KitFor, sandbox: Sandbox) -> None:
    (citation,) = format_records(kit_for(sandbox), "99000001").citations

    assert citation.citations == {
        "apa": "Marrowby, T. J., Fenwick-Achebe, I., Luo, Q., & Thistlewood, W. A. (2019). Base editing of a cryptic "
        "splice site restores mucus transport in human airway cells. Annals of Imaginary Genome Editing (demo), 3(2), "
        "101–112. https://doi.org/10.5555/ekit.2019.0001"
    }


def test_every_input_has_an_outcome_if_one_was_not_found(kit_for: KitFor, sandbox: Sandbox) -> None:
    result = format_records(kit_for(sandbox), "99000001", "12", "nonsense", "PMC99000002")

    assert [outcome.status for outcome in result.outcomes] == ["found", "not_found", "invalid", "found"]
    assert result.not_found_pmids == ["12"]
    assert result.total_formatted == 2
    missing_error = result.missing_error()
    assert missing_error is not None
    assert missing_error is result.shortfall()
    assert missing_error.details["partial"] is True


def test_no_record_found_is_an_error(kit_for: KitFor, sandbox: Sandbox) -> None:
    missing_error = format_records(kit_for(sandbox), "12").missing_error()

    assert missing_error is not None
    assert (missing_error.code, missing_error.details["partial"]) == ("ENTITY_NOT_FOUND", False)


@pytest.mark.parametrize(
    ("given", "styles"),
    [
        ("mla", ["mla"]),
        ("apa,mla", ["apa", "mla"]),
        (["APA", "apa_string", "mla_string"], ["apa", "mla"]),
        ("csl-json", ["csl"]),
        ([], ["apa"]),
    ],
)
def test_styles_are_accepted_in_the_spellings_of_people_and_agents(given: Any, styles: list[str]) -> None:
    assert CitationsRequest.model_validate({"pmids": ["1"], "citationStyles": given}).citation_styles == styles


@pytest.mark.parametrize("given", ["harvard", ["apa", "ieeee"], [1], {"apa": True}])
def test_unknown_styles_are_rejected(kit_for: KitFor, given: Any) -> None:
    with pytest.raises(InvalidInput, match="citation_styles"):
        format_records(kit_for(None), "1", citation_styles=given)


def test_all_styles_can_be_requested_at_once(kit_for: KitFor, sandbox: Sandbox) -> None:
    (citation,) = format_records(kit_for(sandbox), "99000035", citation_styles=list(STYLE_NAMES)).citations

    assert list(citation.citations) == list(STYLE_NAMES)
    assert all(citation.citations.values())
    (item,) = json.loads(citation.citations["csl"])
    assert item["PMID"] == "99000035"


def test_a_retraction_is_a_field_and_in_the_text(kit_for: KitFor, sandbox: Sandbox) -> None:
    retracted, sound = format_records(kit_for(sandbox), "99000050", "99000001").citations

    assert retracted.retraction_status == "retracted"
    assert retracted.citations["apa"].endswith("[Retracted: J Invent Results (Demo). 2021 Jun;9(6):600]")
    assert retracted.standing
    assert retracted.standing.notices[0].pmid == "99000051"
    assert "retraction_status" not in sound.model_dump()


def test_hundreds_of_records_take_one_request_per_batch(kit_for: KitFor) -> None:
    with Sandbox(records=450, enforce_limits=False) as sandbox:
        kit = kit_for(sandbox)
        pmids = kit.search_articles(query_term="study", max_results=450).pmids
        requested = sandbox.requests("efetch")
        result = kit.format_citations(pmids=pmids, citation_styles="vancouver")

        assert result.total_formatted == len(pmids)
        assert sandbox.requests("efetch") - requested == -(-len(pmids) // 200)
        assert [citation.pmid for citation in result.citations] == pmids
        assert all(f"PubMed PMID: {citation.pmid}" in citation.citations["vancouver"] for citation in result.citations)


def test_a_failing_service_is_not_a_missing_record(kit_for: KitFor) -> None:
    with pytest.raises(UpstreamError):
        format_records(kit_for(None, ncbi_max_retries=0), "99000001")


@pytest.mark.parametrize(
    ("kind", "note"),
    [
        ("RetractionIn", "[Retracted: J Inv. 2021;1:2]"),
        ("PartialRetractionIn", "[Partially retracted: J Inv. 2021;1:2]"),
        ("ExpressionOfConcernIn", "[Expression of concern: J Inv. 2021;1:2]"),
        ("UpdateIn", "[Superseded: J Inv. 2021;1:2]"),
        ("CorrectedandRepublishedIn", "[Corrected and republished: J Inv. 2021;1:2]"),
        ("ErratumIn", "[Corrected: J Inv. 2021;1:2]"),
        ("CommentIn", None),
    ],
)
def test_the_standing_of_a_work_is_in_every_style_and_format(kind: str, note: str | None) -> None:
    related = {"kind": kind, "pmid": "99000901", "citation": "J Inv. 2021;1:2. doi: 10.5555/notice."}
    work = Article.model_validate(
        {
            "pmid": "99000900",
            "title": "A study",
            "url": "https://pubmed.ncbi.nlm.nih.gov/99000900/",
            "corrections": [related],
        }
    )

    (texts,) = format_articles([work], STYLE_NAMES)

    assert set(texts) == set(STYLE_NAMES)
    for style, text in texts.items():
        assert (note in text) if note else ("[" not in text or style in ("csl", "nbib")), style
        assert note is None or style in FILES or text.endswith(note)

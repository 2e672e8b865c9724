"""The standing of a work: every kind of related record, type and title that determines it."""

import re
from pathlib import Path
from typing import Any

import pytest
from pubmed_files import join_articles, write_correction, write_record
from used_recordings import require_recordings

from entrez_kit.pubmed.models import GRAVITY, WORDS, Article, BriefSummary, Standing, StandingStatus, find_place
from entrez_kit.pubmed.standing import KINDS, determine_standing, to_retraction_status
from entrez_kit.pubmed.xml.records import iter_records

PLACE = "J Invent Res. 2021 Jun 3;9(6):600. doi: 10.5555/notice.1."

STANDINGS: dict[str, tuple[StandingStatus | None, str]] = {
    # NLM's RefType: the standing of the work that has it, and its retraction_status
    "RetractionIn": ("retracted", "retracted"),
    "RetractedandRepublishedIn": ("retracted", "retracted"),
    "PartialRetractionIn": ("partially_retracted", "retracted"),
    "ExpressionOfConcernIn": ("expression_of_concern", "expression_of_concern"),
    "RetractionOf": ("retraction_notice", "retraction_notice"),
    "PartialRetractionOf": ("retraction_notice", "retraction_notice"),
    "ExpressionOfConcernFor": ("concern_notice", "concern_notice"),
    "ErratumFor": ("correction_notice", "none"),
    "UpdateIn": ("superseded", "none"),
    "RepublishedIn": ("republished", "none"),
    "CorrectedandRepublishedIn": ("republished", "none"),
    "PreprintOf": ("preprint_published", "none"),
    "ErratumIn": ("corrected", "none"),
    # these do not affect the standing of the work itself
    "RetractedandRepublishedFrom": (None, "none"),
    "CorrectedandRepublishedFrom": (None, "none"),
    "RepublishedFrom": (None, "none"),
    "UpdateOf": (None, "none"),
    "PreprintIn": (None, "none"),
    "ReprintIn": (None, "none"),
    "ReprintOf": (None, "none"),
    "CommentIn": (None, "none"),
    "CommentOn": (None, "none"),
    "SummaryForPatientsIn": (None, "none"),
    "OriginalReportIn": (None, "none"),
    "AssociatedDataset": (None, "none"),
    "AssociatedPublication": (None, "none"),
    "Cites": (None, "none"),
}


def make_note(kind: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "citation": PLACE, "pmid": "99000900", **more}


@pytest.mark.parametrize("kind", STANDINGS)
def test_every_kind_of_related_record_gives_the_standing_of_the_work(kind: str) -> None:
    status, coarse = STANDINGS[kind]

    standing = determine_standing(corrections=[make_note(kind)])

    assert (standing.status if standing else None) == status
    assert to_retraction_status(standing) == coarse
    if standing:
        assert standing.model_dump(exclude={"status"}) == {
            "notices": [
                {
                    "status": status,
                    "kind": kind,
                    "pmid": "99000900",
                    "doi": "10.5555/notice.1",
                    "citation": PLACE,
                    "date": "2021-06-03",
                }
            ]
        }
        assert standing.note == f"[{WORDS[standing.status]}: J Invent Res. 2021 Jun 3;9(6):600]"


def test_every_kind_is_in_the_table_and_every_standing_has_a_label() -> None:
    assert set(KINDS) == {kind for kind, (status, _) in STANDINGS.items() if status}
    assert set(GRAVITY) == set(WORDS)


def test_every_kind_in_the_recordings_is_in_the_table(real_data: Path) -> None:
    found = {
        kind.decode()
        for path in sorted(real_data.rglob("*"))
        if path.is_file() and path.suffix in ("", ".xml", ".fcgi")
        for kind in re.findall(rb'RefType="([A-Za-z]+)"', path.read_bytes())
    }

    assert found <= set(STANDINGS)
    require_recordings(found >= {"Cites", "RetractionIn", "ErratumIn"})


@pytest.mark.parametrize(
    ("types", "status"),
    [
        ("Retracted Publication", "retracted"),
        ("retracted publication", "retracted"),
        ("Retraction of Publication", "retraction_notice"),
        ("Retraction Notice", "retraction_notice"),
        ("Expression of Concern", "concern_notice"),
        ("expression-of-concern", "concern_notice"),
        ("Published Erratum", "correction_notice"),
        ("Corrected and Republished Article", None),
        ("Preprint", None),
        ("Journal Article", None),
    ],
)
def test_publication_types_give_the_standing_of_a_work(types: str, status: str | None) -> None:
    standing = determine_standing(publication_types=["Journal Article", types])

    assert (standing.status if standing else None) == status


@pytest.mark.parametrize(
    ("title", "status"),
    [
        ("RETRACTED: Moonlight and memory.", "retracted"),
        ("RETRACTED ARTICLE: Moonlight and memory.", "retracted"),
        ("RETRACTED ARTICLE:Moonlight and memory.", "retracted"),
        ("[RETRACTED] Moonlight and memory.", "retracted"),
        ("Retracted Article: Moonlight and memory.", "retracted"),
        ("WITHDRAWN: Moonlight for insomnia.", "withdrawn"),
        ("TEMPORARY REMOVAL: Moonlight for insomnia.", "withdrawn"),
        ("Notice of Retraction: Mondschein S. Moonlight and memory.", "retraction_notice"),
        ("Notice of Retraction and Replacement. Mondschein S.", "retraction_notice"),
        ("Retraction notice to: Moonlight and memory.", "retraction_notice"),
        ("Retraction Note: Moonlight and memory.", "retraction_notice"),
        ("Expression of Concern: Moonlight and memory.", "concern_notice"),
        ("Retracted: a study of retractions.", None),
        ("Retraction: its causes and its treatment.", None),
        ("Retraction of the tongue base.", None),
        ("Withdrawn: a study of shy children.", None),
        ("Withdrawn adolescents.", None),
        ("Expression of concern in nursing.", None),
        ("Retracted tissue flaps.", None),
        ("Removed teeth.", None),
    ],
)
def test_a_publishers_mark_before_a_title_counts_and_similar_words_do_not(title: str, status: str | None) -> None:
    standing = determine_standing(publication_types=["Journal Article"], title=title)

    assert (standing.status if standing else None) == status


def test_a_notice_with_the_title_of_the_retracted_article_is_a_notice() -> None:
    standing = determine_standing(
        publication_types=["Retraction of Publication"], title="Retracted: Moonlight and memory."
    )

    assert standing
    assert standing.status == "retraction_notice"


@pytest.mark.parametrize(
    "said",
    [
        {"title": "WITHDRAWN: Moonlight and memory."},
        {"title": "Withdrawn: Moonlight and memory."},
        {"abstract": "The authors have withdrawn this manuscript because of errors in the data. Contact them."},
        {"abstract": "This preprint has been withdrawn."},
    ],
)
def test_a_withdrawn_preprint_is_withdrawn(said: dict[str, str]) -> None:
    standing = determine_standing(publication_types=["Preprint"], **said)  # type: ignore[arg-type]

    assert standing
    assert standing.status == "withdrawn"
    assert to_retraction_status(standing) == "retracted"
    if "because" in said.get("abstract", ""):
        assert standing.notices[0].reason == "because of errors in the data"


def test_a_preprint_that_is_also_called_retracted_is_withdrawn() -> None:
    standing = determine_standing(
        publication_types=["Preprint", "Retracted Publication"], title="WITHDRAWN: Moonlight."
    )

    assert standing
    assert standing.status == "withdrawn"


def test_a_preprint_is_published_in_a_journal_and_superseded_on_a_server() -> None:
    published = determine_standing(publication_types=["Preprint"], corrections=[make_note("UpdateIn")])
    newer = determine_standing(
        publication_types=["Preprint"], corrections=[make_note("UpdateIn", citation="bioRxiv. 2024 Sep 02")]
    )

    assert published
    assert published.status == "preprint_published"
    assert newer
    assert newer.status == "superseded"


def test_the_gravest_standing_is_first_and_none_is_lost() -> None:
    standing = determine_standing(
        corrections=[
            make_note("ErratumIn"),
            make_note("CommentIn"),
            make_note("ExpressionOfConcernIn"),
            make_note("RetractionIn"),
        ]
    )

    assert standing
    assert standing.status == "retracted"
    assert [notice.kind for notice in standing.notices] == ["RetractionIn", "ExpressionOfConcernIn", "ErratumIn"]


def test_a_reinstated_work_is_reinstated_unless_it_is_still_called_retracted() -> None:
    related = [make_note("RetractionIn"), make_note("ErratumIn", note="This article has been reinstated.")]

    again = determine_standing(corrections=related)
    still = determine_standing(publication_types=["Retracted Publication"], corrections=related)

    assert again
    assert (again.status, to_retraction_status(again)) == ("reinstated", "none")
    assert still
    assert still.status == "retracted"


def test_a_note_cannot_close_its_brackets_and_has_no_identifier_of_another_work() -> None:
    standing = determine_standing(corrections=[make_note("RetractionIn", citation="J [Inv]. 2021;1:2. PMID: 99000051")])

    assert standing
    assert standing.note == "[Retracted: J (Inv). 2021;1:2]"


@pytest.mark.parametrize(
    ("citation", "place"),
    [
        ("Doe J, Roe RA. Lantern. 2021 Mar;4(2):9.", "Lantern. 2021 Mar;4(2):9"),
        ("Doe J. Lantern. 2021 Mar;4(2):9", "Lantern. 2021 Mar;4(2):9"),
        ("Doe J, Roe R, et al. J Invent Res. 2021;4:9", "J Invent Res. 2021;4:9"),
        ("[No authors listed]. Lantern. 2021;4:9", "Lantern. 2021;4:9"),
        ("JAMA. 2021 Mar 2;4(2):9. doi: 10.5555/x", "JAMA. 2021 Mar 2;4(2):9"),
        ("J. Invent. Res. 2021;4:9", "J. Invent. Res. 2021;4:9"),
        ("Proc Natl Acad Sci U S A. 2021;4:9", "Proc Natl Acad Sci U S A. 2021;4:9"),
        ("doi: 10.5555/x", ""),
    ],
)
def test_the_place_of_a_notice_is_its_journal_and_not_its_authors(citation: str, place: str) -> None:
    standing = determine_standing(corrections=[make_note("RetractionIn", citation=citation)])

    assert standing
    assert find_place(standing.notices[0]) == place


def test_the_document_of_a_work_without_notices_has_no_standing() -> None:
    article = Article(pmid="99000001", url="x")

    assert "standing" not in article.model_dump()
    assert "standing" not in BriefSummary(pmid="99000001").model_dump()


def test_a_partial_retraction_is_read_from_the_record_and_into_citation_data() -> None:
    notice = write_correction("PartialRetractionIn", 99000901, PLACE, "Figure 2 is unreliable")
    (found,) = iter_records(join_articles(write_record(99000900, types=["Journal Article"], corrections=notice)))

    article, citation = found.article(), found.citation()

    assert article.retraction_status == "retracted"
    assert article.standing
    assert article.standing.status == "partially_retracted"
    assert article.standing.notices[0].reason == "Figure 2 is unreliable"
    assert citation.standing == article.standing


def test_the_standing_of_a_work_is_unchanged_by_a_round_trip_through_its_document() -> None:
    (found,) = iter_records(join_articles(write_record(99000900, types=["Journal Article", "Expression of Concern"])))
    article = found.article()

    assert Article.model_validate_json(article.model_dump_json()) == article
    assert article.standing == Standing(status="concern_notice")

"""Dates in the life of a record: usual, in another order, and some that never existed."""

import pytest

from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.records import iter_records

USUAL = [("Year", "2020"), ("Month", "2"), ("Day", "3")]


def _article(*, revised: str = "", history: str = "") -> Article:
    content = (
        f"<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID>{revised}</MedlineCitation>"
        f"<PubmedData><History>{history}</History></PubmedData></PubmedArticle></PubmedArticleSet>"
    )
    return next(record.article() for record in iter_records(content.encode()))


def _element(tag: str, parts: list[tuple[str, str]]) -> str:
    inside = "".join(f"<{name}>{value}</{name}>" for name, value in parts)
    return f'<{tag} PubStatus="received">{inside}</{tag}>'


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (USUAL, {"year": 2020, "month": 2, "day": 3}),
        ([*USUAL, ("Hour", "6"), ("Minute", "05")], {"year": 2020, "month": 2, "day": 3, "hour": 6, "minute": 5}),
        ([*USUAL, ("Hour", "6")], {"year": 2020, "month": 2, "day": 3, "hour": 6}),
        (USUAL[::-1], {"year": 2020, "month": 2, "day": 3}),
        ([("Year", "2020"), ("Month", "Feb"), ("Day", "3")], {"year": 2020, "month": 2, "day": 3}),
        ([("Year", "2020"), ("Month", "2"), ("Day", "0")], {"year": 2020, "month": 2}),
        ([("Year", "2020"), ("Month", "2"), ("Day", "30")], {"year": 2020, "month": 2}),
        ([("Year", "2020"), ("Month", "13"), ("Day", "3")], {"year": 2020}),
        ([("Year", "2020"), ("Month", ""), ("Day", "")], {"year": 2020}),
        ([], {}),
    ],
)
def test_a_step_of_the_history_is_read_as_far_as_it_exists(
    parts: list[tuple[str, str]], expected: dict[str, int]
) -> None:
    neighbour = _element("PubMedPubDate", USUAL)

    first, odd, last = _article(history=f"{neighbour}{_element('PubMedPubDate', parts)}{neighbour}").history

    assert odd.model_dump() == {"status": "received", **expected}
    assert first.model_dump() == last.model_dump() == {"status": "received", "year": 2020, "month": 2, "day": 3}


@pytest.mark.parametrize("day", ["3", "30", "0"])
@pytest.mark.parametrize("blank", ["", "\n  "])
def test_a_history_is_the_same_whether_its_bytes_or_its_elements_are_read(day: str, blank: str) -> None:
    parts = [*USUAL[:2], ("Day", day), ("Hour", "6"), ("Minute", "75")]
    history = f"{blank}{_element('PubMedPubDate', USUAL)}{blank}{_element('PubMedPubDate', parts)}{blank}"

    quick = _article(history=history)
    careful = _article(history=f"{history}<!-- <hidden> -->")

    assert len(quick.history) == 2
    assert quick.model_dump_json() == careful.model_dump_json()


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (USUAL, "2020-02-03"),
        (USUAL[::-1], "2020-02-03"),
        (USUAL[:2], "2020-02"),
        ([*USUAL[:2], ("Day", "30")], "2020-02"),
        (USUAL[1:], None),
    ],
)
def test_the_date_of_revision_is_iso_whatever_its_order(parts: list[tuple[str, str]], expected: str | None) -> None:
    assert _article(revised=_element("DateRevised", parts)).date_revised == expected

"""Dates of a record's history: usual ones, in another order, and ones that never existed."""

import pytest

from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.records import iter_records

USUAL = [("Year", "2020"), ("Month", "2"), ("Day", "3")]


def _write_article(*, revised: str = "", history: str = "") -> Article:
    content = (
        f"<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID>{revised}</MedlineCitation>"
        f"<PubmedData><History>{history}</History></PubmedData></PubmedArticle></PubmedArticleSet>"
    )
    return next(record.article() for record in iter_records(content.encode()))


def _read_element(tag: str, parts: list[tuple[str, str]]) -> str:
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
def test_an_event_of_the_history_is_read_with_its_existing_parts(
    parts: list[tuple[str, str]], expected: dict[str, int]
) -> None:
    neighbour = _read_element("PubMedPubDate", USUAL)

    first, odd, last = _write_article(history=f"{neighbour}{_read_element('PubMedPubDate', parts)}{neighbour}").history

    assert odd.model_dump() == {"status": "received", **expected}
    assert first.model_dump() == last.model_dump() == {"status": "received", "year": 2020, "month": 2, "day": 3}


@pytest.mark.parametrize("day", ["3", "30", "0"])
@pytest.mark.parametrize("blank", ["", "\n  "])
def test_a_history_is_the_same_if_read_from_bytes_or_from_elements(day: str, blank: str) -> None:
    parts = [*USUAL[:2], ("Day", day), ("Hour", "6"), ("Minute", "75")]
    history = f"{blank}{_read_element('PubMedPubDate', USUAL)}{blank}{_read_element('PubMedPubDate', parts)}{blank}"

    quick = _write_article(history=history)
    careful = _write_article(history=f"{history}<!-- <hidden> -->")

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
def test_the_date_of_revision_is_an_iso_date_in_any_order_of_its_parts(
    parts: list[tuple[str, str]], expected: str | None
) -> None:
    assert _write_article(revised=_read_element("DateRevised", parts)).date_revised == expected

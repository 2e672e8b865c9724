"""Difficult records in every style, compared with citations written by hand from the published rules of the styles."""

from collections.abc import Iterator
from functools import cache

import pytest
from one_citation import format_citation
from project_paths import DATA

from entrez_kit.citations.csl import Item, build_csl_item
from entrez_kit.citations.style.format_entries import STYLES, format_styled_entries
from entrez_kit.pubmed.xml.records import iter_records


@cache
def read_items() -> dict[str, Item]:
    """Return the records as CSL-JSON, by PMID."""
    return {
        record.pmid: build_csl_item(record.article()) for record in iter_records((DATA / "records.xml").read_bytes())
    }


@cache
def format_all(style: str) -> dict[str, str]:
    """Return all records in one style, formatted at once."""
    return dict(zip(read_items(), format_styled_entries(read_items().values(), style), strict=True))


def read_golden() -> Iterator[tuple[str, str, str]]:
    """Yield PMID, style and expected citation from the file."""
    pmid = ""
    for line in (DATA / "golden.txt").read_text(encoding="utf-8").splitlines():
        first, _, rest = line.partition(" ")
        if first.isdigit():
            pmid = first
        elif first in STYLES:
            yield pmid, first, rest


@pytest.mark.parametrize(
    ("pmid", "style", "wanted"), list(read_golden()), ids=lambda value: value if len(value) < 12 else ""
)
def test_a_difficult_record_is_cited_according_to_the_rules(pmid: str, style: str, wanted: str) -> None:
    assert format_all(style)[pmid] == wanted


def test_every_record_has_a_golden_citation_in_every_style() -> None:
    wanted = {(pmid, style) for pmid in read_items() for style in STYLES}

    assert len(read_items()) >= 30
    assert {(pmid, style) for pmid, style, _ in read_golden()} == wanted


@pytest.mark.parametrize("style", STYLES)
def test_an_entry_is_the_same_alone_and_in_a_list(style: str) -> None:
    for pmid in ("98000007", "98000008", "98000018"):
        assert format_citation(read_items()[pmid], style) == format_all(style)[pmid]


@pytest.mark.parametrize("style", STYLES)
def test_entries_are_in_the_order_of_the_items(style: str) -> None:
    backwards = list(read_items().values())[::-1]

    assert format_styled_entries(backwards, style) == list(format_all(style).values())[::-1]

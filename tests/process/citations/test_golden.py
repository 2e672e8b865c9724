"""Difficult records in every style, against citations written by hand from the styles' published rules."""

from collections.abc import Iterator
from functools import cache

import pytest
from one_citation import format_citation
from project_paths import DATA

from entrez_kit.citations.csl import Item, csl_item
from entrez_kit.citations.style.format_entries import STYLES, format_citations
from entrez_kit.pubmed.xml.records import iter_records


@cache
def items() -> dict[str, Item]:
    """Return the records as CSL-JSON, by PMID."""
    return {record.pmid: csl_item(record.article()) for record in iter_records((DATA / "records.xml").read_bytes())}


@cache
def formatted(style: str) -> dict[str, str]:
    """Return all records in one style, formatted at once."""
    return dict(zip(items(), format_citations(items().values(), style), strict=True))


def golden() -> Iterator[tuple[str, str, str]]:
    """Yield PMID, style and what the rules want, from the file."""
    pmid = ""
    for line in (DATA / "golden.txt").read_text(encoding="utf-8").splitlines():
        first, _, rest = line.partition(" ")
        if first.isdigit():
            pmid = first
        elif first in STYLES:
            yield pmid, first, rest


@pytest.mark.parametrize(
    ("pmid", "style", "wanted"), list(golden()), ids=lambda value: value if len(value) < 12 else ""
)
def test_a_difficult_record_is_cited_as_the_rules_want_it(pmid: str, style: str, wanted: str) -> None:
    assert formatted(style)[pmid] == wanted


def test_every_record_has_a_golden_citation_in_every_style() -> None:
    wanted = {(pmid, style) for pmid in items() for style in STYLES}

    assert len(items()) >= 30
    assert {(pmid, style) for pmid, style, _ in golden()} == wanted


@pytest.mark.parametrize("style", STYLES)
def test_an_entry_is_the_same_alone_and_among_others(style: str) -> None:
    for pmid in ("98000007", "98000008", "98000018"):
        assert format_citation(items()[pmid], style) == formatted(style)[pmid]


@pytest.mark.parametrize("style", STYLES)
def test_entries_keep_the_order_of_the_items(style: str) -> None:
    backwards = list(items().values())[::-1]

    assert format_citations(backwards, style) == list(formatted(style).values())[::-1]

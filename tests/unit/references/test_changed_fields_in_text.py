"""A reference as text that lacks an author, or has a number in the place of another, never agrees with its record."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import pytest
from reference_parts import ARTICLES, Parts, join_initials, read_parts

from entrez_kit.references.check.compare_text import compare_text
from entrez_kit.references.check.pasted_lists import build_reference


def write_vancouver(parts: Parts) -> str:
    names = ", ".join(f"{family} {initials}" for family, initials in parts.authors) + parts.ends
    issue = f"({parts.issue})" if parts.issue else ""
    pages = f":{parts.pages}" if parts.pages else ""
    return f"{names}. {parts.title}. {parts.journal}. {parts.year};{parts.volume}{issue}{pages}."


def write_nature(parts: Parts) -> str:
    names = ", ".join(f"{family}, {join_initials(initials)}" for family, initials in parts.authors) + parts.ends
    pages = f", {parts.pages.replace('-', '–')}" if parts.pages else ""
    return f"{names} {parts.title}. {parts.journal} {parts.volume}{pages} ({parts.year})."


def write_ieee(parts: Parts) -> str:
    names = ", ".join(f"{join_initials(initials)} {family}" for family, initials in parts.authors) + parts.ends
    place = [f"vol. {parts.volume}" if parts.volume else "", f"no. {parts.issue}" if parts.issue else ""]
    place += [f"pp. {parts.pages}" if parts.pages else "", parts.year]
    return f"{names}, “{parts.title},” {parts.journal}, {', '.join(filter(None, place))}."


def write_apa(parts: Parts) -> str:
    names = ", ".join(f"{family}, {join_initials(initials)}" for family, initials in parts.authors) + parts.ends
    issue = f"({parts.issue})" if parts.issue else ""
    pages = f", {parts.pages}" if parts.pages else ""
    return f"{names} ({parts.year}). {parts.title}. {parts.journal}, {parts.volume}{issue}{pages}."


STYLES: Final[Mapping[str, Callable[[Parts], str]]] = {
    "vancouver": write_vancouver,
    "nature": write_nature,
    "ieee": write_ieee,
    "apa": write_apa,
}
TRUE: Final[Mapping[str, Callable[[Parts], Parts]]] = {
    "whole": lambda parts: parts,
    "the first author and et al.": lambda parts: replace(parts, authors=parts.authors[:1], ends=" et al."),
    "three authors and et al.": lambda parts: replace(parts, authors=parts.authors[:3], ends=", et al."),
    "two authors and others": lambda parts: replace(parts, authors=parts.authors[:2], ends=" and others"),
    "an ellipsis before the last author": lambda parts: replace(
        parts, authors=parts.authors[:2], ends=f", . . . {parts.authors[-1][0]}, {join_initials(parts.authors[-1][1])}"
    ),
    "without an issue": lambda parts: replace(parts, issue=""),
    "without pages": lambda parts: replace(parts, pages=""),
    "the first page": lambda parts: replace(parts, pages=parts.pages.partition("-")[0]),
}
FALSE: Final[Mapping[str, Callable[[Parts], Parts]]] = {
    "without the second author": lambda parts: replace(parts, authors=parts.authors[:1] + parts.authors[2:]),
    "without the second author, et al.": lambda parts: replace(
        parts, authors=parts.authors[:1] + parts.authors[2:3], ends=", et al."
    ),
    "without the third author, et al.": lambda parts: replace(
        parts, authors=parts.authors[:2] + parts.authors[3:4], ends=", et al."
    ),
    "without the first author, et al.": lambda parts: replace(parts, authors=parts.authors[1:3], ends=", et al."),
    "another last author after an ellipsis": lambda parts: replace(
        parts, authors=parts.authors[:1], ends=f", . . . {parts.authors[-2][0]}, {join_initials(parts.authors[-2][1])}"
    ),
    "the issue as the volume": lambda parts: replace(parts, volume=parts.issue, issue=""),
    "the issue as the volume, without pages": lambda parts: replace(parts, volume=parts.issue, issue="", pages=""),
    "the issue as the page": lambda parts: replace(parts, issue="", pages=parts.issue),
    "the page as the volume": lambda parts: replace(parts, volume=parts.pages.partition("-")[0], issue="", pages=""),
    "the volume as the page": lambda parts: replace(parts, volume=parts.pages.partition("-")[0], pages=parts.volume),
    "volume and issue exchanged": lambda parts: replace(parts, volume=parts.issue, issue=parts.volume),
    "an invented volume": lambda parts: replace(parts, volume="987"),
    "an invented page": lambda parts: replace(parts, pages="98765"),
    "a supplement": lambda parts: replace(parts, volume=f"{parts.volume} Suppl"),
}


def test_there_are_records_with_all_fields() -> None:
    assert len(ARTICLES) >= 2


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("way", TRUE)
def test_a_true_reference_agrees_with_its_record(style: str, way: str) -> None:
    for article in ARTICLES:
        text = STYLES[style](TRUE[way](read_parts(article)))
        agreement = compare_text(build_reference(text, 1), article)
        assert (agreement.same, agreement.differences, agreement.left) == (True, [], []), text


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("way", FALSE)
def test_a_changed_reference_does_not_agree_with_its_record(style: str, way: str) -> None:
    for article in ARTICLES:
        parts = read_parts(article)
        text = STYLES[style](FALSE[way](parts))
        if text in {STYLES[style](change(parts)) for change in TRUE.values()}:
            continue  # the style does not print the changed field
        agreement = compare_text(build_reference(text, 1), article)
        assert not agreement.same or agreement.differences or agreement.left, text

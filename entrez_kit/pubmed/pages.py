"""Pages and article numbers: NLM writes both into one field, and shortens ranges. A citation ends with one of them."""

import re
from collections.abc import Iterable
from typing import Final

_RANGE: Final = re.compile(r"(?<![\w.])([A-Za-z]{0,3})([0-9]+)\s*[-–—]\s*([A-Za-z]{0,3})([0-9]+)(?![0-9])")
_ROMAN: Final = re.compile(r"[ivxlcdm]+", re.IGNORECASE)
_PAGE_LETTERS: Final = frozenset("ABCDFHIJKLMOPQRSTUVWXYZ")
"""Letters before the page numbers of supplements and sections: S12, A7, R33. E marks electronic articles instead."""
_PREFIXED: Final = re.compile(r"([A-Za-z]{1,6})[-.]?([0-9]+)")
_COMPOUND: Final = re.compile(r"(?:[eE]|[A-Za-z]{2,12}\.)[0-9]{5}-[0-9]{2}|[A-Za-z]{2,12}[0-9]*(?:\.[A-Za-z]?[0-9]+)+")
"""Article numbers that contain a year or a part: e01408-19, mbio.01408-19, arztebl.m2025.0086."""
_MAX_DIGITS: Final = 12
"""The most digits of a page number. Python refuses to convert a number of thousands of digits."""
_LONG_NUMBER: Final = 5
"""The fewest digits of a single number that is an article number: no volume has that many pages."""
_NUMBER: Final = re.compile(r"(?=[^0-9]*[0-9])[\w.-]{1,30}")
_EXTENT: Final = re.compile(r"\[[^\[\]]*\b(?:words?|paragraphs?|screens?|p|pages?)\b[^\[\]]*\]")
"""The length of an electronic article, written in the field of its pages: [34457 words; 185 paragraphs]."""
_PUBLISHER_CODE: Final = re.compile(r"(?:S[0-9]{4}-?|[0-9]{4}-)[0-9]{3}[0-9X]")
"""The beginning of a publisher's manuscript code, which contains the ISSN: S0949-2658(19)30200-3."""


def expand_ranges(pages: str) -> str:
    """Write the second number of ranges in full: 1639-41 is 1639-1641, S12-9 is S12-S19."""
    text = " ".join(pages.replace("–", "-").replace("—", "-").split())
    return _RANGE.sub(_expand_match, text)


def _expand_match(match: re.Match[str]) -> str:
    letters, first, more_letters, last = match.groups()
    if max(len(first), len(last)) > _MAX_DIGITS:
        return match[0]
    if len(last) < len(first) and (not more_letters or more_letters == letters):
        last = first[: len(first) - len(last)] + last
    if more_letters and more_letters != letters:  # "e12-f3" is not a range
        return match[0]
    if int(last) < int(first):
        return match[0]
    return f"{letters}{first}" if int(first) == int(last) else f"{letters}{first}-{letters}{last}"


def is_article_number(pages: str) -> bool:
    """Return whether a text is an article number (e1000097, n71, 104512, bbab123), not a page (345, S12, xiv)."""
    text = pages.strip()
    if text.isdigit():
        return len(text) >= _LONG_NUMBER
    if _COMPOUND.fullmatch(text):
        return True
    match = _PREFIXED.fullmatch(text)
    if not match or _ROMAN.fullmatch(text):
        return False
    letters, digits = match.groups()
    return not (letters in _PAGE_LETTERS and len(digits) < _LONG_NUMBER)


def page_and_number(pages: str | None, number: str | None = None) -> tuple[str | None, str | None]:
    """Return the pages with full numbers, or else the article number.

    Args:
        pages: PubMed's field; it may contain an article number.
        number: the article number of the record, if it has one. Pages equal to it are not pages.
    """
    text = _EXTENT.sub("", pages or "").strip()
    if not text:
        return None, number
    if is_article_number(text) or text == number:
        return None, text
    return expand_ranges(text), None


def find_article_number(located: Iterable[tuple[str, str, bool]]) -> str | None:
    """Return the number that identifies an electronic article instead of pages: e47969, 2564, RP88808.

    NLM records it as an electronic location of the type pii. Some publishers give an internal code there, which is
    ignored.

    Args:
        located: the type, the id and NLM's mark "valid" of each electronic location.
    """
    numbers = (value for kind, value, valid in located if kind == "pii" and valid)
    return next((text for text in numbers if _NUMBER.fullmatch(text) and not _PUBLISHER_CODE.match(text)), None)


def format_place_of_publication(
    journal: str | None, date: str | None, volume: str | None, issue: str | None, pages: str | None
) -> str:
    """Format the place of publication as PubMed does: J Inv Res. 2024 Mar;12(2):737-8.

    Args:
        pages: the pages or the article number.
    """
    number = (volume or "") + (f"({issue})" if issue else "")
    place = ";".join(part for part in (date, number) if part) + (f":{pages}" if pages else "")
    return ". ".join(part for part in ((journal or "").rstrip("."), place) if part)

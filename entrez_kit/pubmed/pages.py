"""Pages and article numbers: NLM writes both into one field, and shortens ranges."""

import re
from collections.abc import Iterable
from typing import Final

_RANGE: Final = re.compile(r"(?<![\w.])([A-Za-z]{0,3})([0-9]+)\s*[-–—]\s*([A-Za-z]{0,3})([0-9]+)(?![0-9])")
_ROMAN: Final = re.compile(r"[ivxlcdm]+", re.IGNORECASE)
_PAGE_LETTERS: Final = frozenset("ABCDFHIJKLMOPQRSTUVWXYZ")
"""Letters before the page numbers of supplements and sections: S12, A7, R33. E stands before electronic ones."""
_PREFIXED: Final = re.compile(r"([A-Za-z]{1,6})[-.]?([0-9]+)")
_COMPOUND: Final = re.compile(r"(?:[eE]|[A-Za-z]{2,12}\.)[0-9]{5}-[0-9]{2}|[A-Za-z]{2,12}[0-9]*(?:\.[A-Za-z]?[0-9]+)+")
"""Numbers that have a year or a part in them: e01408-19, mbio.01408-19, arztebl.m2025.0086."""
_LONGEST_NUMBER: Final = 12
"""More digits are no page, and thousands of them no number that Python reads."""
_LONG_NUMBER: Final = 5
"""A single number of so many digits is no page: no volume is so thick."""
_NUMBER: Final = re.compile(r"(?=[^0-9]*[0-9])[\w.-]{1,30}")
_EXTENT: Final = re.compile(r"\[[^\[\]]*\b(?:words?|paragraphs?|screens?|p|pages?)\b[^\[\]]*\]")
"""The length of an electronic article in place of its pages: [34457 words; 185 paragraphs]."""
_PUBLISHER_CODE: Final = re.compile(r"(?:S[0-9]{4}-?|[0-9]{4}-)[0-9]{3}[0-9X]")
"""An ISSN and what follows it, the code by which publishers know a manuscript: S0949-2658(19)30200-3."""


def expanded(pages: str) -> str:
    """Write the second number of ranges in full: 1639-41 is 1639-1641, S12-9 is S12-S19."""
    text = " ".join(pages.replace("–", "-").replace("—", "-").split())
    return _RANGE.sub(_whole, text)


def _whole(match: re.Match[str]) -> str:
    letters, first, more_letters, last = match.groups()
    if max(len(first), len(last)) > _LONGEST_NUMBER:
        return match[0]
    if len(last) < len(first) and (not more_letters or more_letters == letters):
        last = first[: len(first) - len(last)] + last
    if more_letters and more_letters != letters:  # "e12-f3" is no range of one kind
        return match[0]
    if int(last) < int(first):
        return match[0]
    return f"{letters}{first}" if int(first) == int(last) else f"{letters}{first}-{letters}{last}"


def is_article_number(pages: str) -> bool:
    """Tell an article number (e1000097, n71, 104512, bbab123) from a page (345, S12, xiv)."""
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
    """Return the pages, whole, or else the article number.

    Args:
        pages: as PubMed has them; an article number may stand there.
        number: the article number, where the record has one beside the pages; where both are the same it is no page.
    """
    text = _EXTENT.sub("", pages or "").strip()
    if not text:
        return None, number
    if is_article_number(text) or text == number:
        return None, text
    return expanded(text), None


def article_number(located: Iterable[tuple[str, str, bool]]) -> str | None:
    """Return the number that an electronic article has in place of pages: e47969, 2564, RP88808.

    NLM gives it as an electronic location of the type pii, where some publishers write a code that no reader sees.

    Args:
        located: type, id and whether NLM calls it valid, from a record's electronic locations.
    """
    numbers = (value for kind, value, valid in located if kind == "pii" and valid)
    return next((text for text in numbers if _NUMBER.fullmatch(text) and not _PUBLISHER_CODE.match(text)), None)

"""Pages and article numbers: NLM writes both into one field, and shortens ranges."""

import re
from typing import Final

_RANGE: Final = re.compile(r"(?<![\w.])([A-Za-z]{0,3})([0-9]+)\s*[-–—]\s*([A-Za-z]{0,3})([0-9]+)(?![0-9])")
_ROMAN: Final = re.compile(r"[ivxlcdm]+", re.IGNORECASE)
_PAGE_LETTERS: Final = frozenset("ABCDFHIJKLMOPQRSTUVWXYZ")
"""Letters before the page numbers of supplements and sections: S12, A7, R33. E stands before electronic ones."""
_PREFIXED: Final = re.compile(r"([A-Za-z]{1,6})[-.]?([0-9]+)")
_LONG_NUMBER: Final = 5
"""A single number of so many digits is no page: no volume is so thick."""


def expanded(pages: str) -> str:
    """Write the second number of ranges in full: 1639-41 is 1639-1641, S12-9 is S12-S19."""
    text = " ".join(pages.replace("–", "-").replace("—", "-").split())
    return _RANGE.sub(_whole, text)


def _whole(match: re.Match[str]) -> str:
    letters, first, more_letters, last = match.groups()
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
    match = _PREFIXED.fullmatch(text)
    if not match or _ROMAN.fullmatch(text):
        return False
    letters, digits = match.groups()
    return not (letters in _PAGE_LETTERS and len(digits) < _LONG_NUMBER)


def page_and_number(pages: str | None) -> tuple[str | None, str | None]:
    """Return the pages, whole, or else the article number."""
    if not pages or not pages.strip():
        return None, None
    if is_article_number(pages):
        return None, pages.strip()
    return expanded(pages), None

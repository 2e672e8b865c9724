"""Remove from a list of references its headings, footnotes about authors, and the sentences before and after it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from entrez_kit.references.check.pasted.line_signs import (
    AUTHOR_START,
    BARE_NUMBER,
    LATIN_SMALL,
    LETTER_FIRST,
    MARK,
    MIN_MARKED,
    REFERENCE_END,
    is_dated,
)
from entrez_kit.references.check.pasted.text_lines import TextLine

MAX_NOTE: Final = 60
"""Maximum characters of a heading inside a list."""
MAX_SENTENCE: Final = 250
"""Maximum characters of a sentence before or after a list."""
NOTE_WORDS: Final = 7
"""Maximum words of a heading inside a list."""
MAX_INTRODUCTION: Final = 6
"""Maximum lines of a sentence before a list."""
_HEADING_WORDS: Final = re.compile(
    r"\b(?:(?:primary|secondary|online|internet|electronic|print|other) (?:sources?|references?|resources?|literature)"
    r"|books?|(?:journal )?articles|web ?(?:sites?|pages?)|(?:included|excluded|primary|ongoing) studies|guidelines"
    r"|reports|theses|dissertations|reviews|(?:further|recommended) reading|background literature|newspapers"
    r"|bücher|artikel|zeitschriften\w*|internetquellen|monographien|livres|articles de revue|sites? web|webographie"
    r"|libros|artículos|páginas web|книги|статьи|интернет-ресурсы)\b",
    re.IGNORECASE,
)
"""Words of headings inside a list of references."""
_TABLE_HEAD: Final = re.compile(
    r"(?:(?:no|nr|n°|id|#|key|refs?|references?|citations?|notes?|comments?|authors?|titles?|journals?|years?|sources?"
    r"|doi|pmid|study|studies)[.:]?(?:[\s;,|]+|$)){2,8}",
    re.IGNORECASE,
)
_ABOUT_AUTHORS: Final = re.compile(
    r"[*†‡§¶#✉\s]{0,4}(?:corresponding authors?|(?:present|current) address|(?:address for )?correspondence(?: to|:)"
    r"|to whom correspondence|(?:these|both|all) authors|e-?mail(?: address(?:es)?)?:)(?!\w)",
    re.IGNORECASE,
)
"""The beginning of a footnote about the authors of the manuscript, which is between two pages of its list."""


def remove_notes(lines: Sequence[TextLine]) -> tuple[list[TextLine], list[TextLine]]:
    """Return a list without headings, footnotes and the sentences before and after it, and the removed lines.

    The lines are those of a list without empty lines. A list without dates is not changed.
    """
    marked = [n for n, line in enumerate(lines) if _has_mark(line.text)]
    if sum(is_dated(line.text) for line in lines) < MIN_MARKED:
        return list(lines), []
    has_marks = len(marked) >= MIN_MARKED
    removed = set(range(_measure_introduction(lines, marked[0] if has_marks else 0)))
    for n in range(len(lines) - 1):
        if n not in removed and _is_heading(lines, n, has_marks=has_marks):
            removed.add(n)
    footnotes = {n for n, line in enumerate(lines) if _ABOUT_AUTHORS.match(line.text) and not is_dated(line.text)}
    if has_marks:
        removed.update(_find_end_notes(lines))
    # A heading is before a reference; a footnote can also be in the middle of one.
    remaining = [
        replace(line, after_note=n - 1 in removed) for n, line in enumerate(lines) if n not in removed | footnotes
    ]
    return remaining, [lines[n] for n in sorted(removed | footnotes)]


def _has_mark(text: str) -> bool:
    return MARK.match(text) is not None or BARE_NUMBER.match(text) is not None


def _may_be_note(text: str) -> bool:
    return not (_has_mark(text) or is_dated(text) or AUTHOR_START.match(text.strip()))


def _measure_introduction(lines: Sequence[TextLine], first: int) -> int:
    """Return how many lines at the beginning are the head of a table, or a sentence that ends with a colon."""
    if lines and _TABLE_HEAD.fullmatch(lines[0].text.strip()):
        return 1
    introduction = lines[: min(first, MAX_INTRODUCTION) or 1]
    texts = [line.text for line in introduction]
    is_whole = first <= MAX_INTRODUCTION and texts[-1].rstrip("* ").endswith(":")
    below = lines[len(texts) : len(texts) + 1]
    if not first and any(LATIN_SMALL.match(line.text.strip()) and not line.after_blank for line in below):
        return 0  # a title with a colon goes on
    if is_whole and not any(is_dated(text) or _has_mark(text) for text in texts):
        return len(texts) if first or not AUTHOR_START.match(texts[0]) else 0
    return 0


def _is_heading(lines: Sequence[TextLine], n: int, *, has_marks: bool) -> bool:
    """Return whether a line is a heading: short, without numbers, and between two references.

    In a list without marks, a short title can be a reference. So only usual headings are read as such.
    """
    line, below = lines[n], lines[n + 1]
    plain = line.text.strip("#*_=: ")
    alone = (n == 0 or line.after_blank) and below.after_blank
    if not plain or len(plain) > MAX_NOTE or len(plain.split()) > NOTE_WORDS:
        return False
    if re.search(r"[0-9]|[.,;] ", plain) or plain[-1] in ".,;-" or plain[0].islower() or not plain[0].isalpha():
        return False
    if has_marks:
        may_be = (n == 0 or line.after_blank) and (_may_be_note(line.text) or (plain.isupper() and not is_dated(plain)))
        return (
            may_be
            and _has_mark(below.text)
            and (n == 0 or alone or REFERENCE_END.search(lines[n - 1].text) is not None)
        )
    is_usual = plain.isupper() or line.text.lstrip().startswith(("#", "=")) or _HEADING_WORDS.search(plain) is not None
    if not (alone and is_usual) or is_dated(plain):
        return False
    mark = MARK.match(below.text)
    return is_dated(below.text) or AUTHOR_START.match(below.text[mark.end() if mark else 0 :].strip()) is not None


def _find_end_notes(lines: Sequence[TextLine]) -> Iterator[int]:
    """Yield the paragraphs behind the last reference that contain no year and no identifier."""
    for n in range(len(lines) - 1, 0, -1):
        line, above = lines[n], lines[n - 1]
        if not line.after_blank or len(line.text) > MAX_SENTENCE or not _may_be_note(line.text):
            return
        if not REFERENCE_END.search(above.text) or not LETTER_FIRST.match(line.text) or line.text[:1].islower():
            return
        yield n

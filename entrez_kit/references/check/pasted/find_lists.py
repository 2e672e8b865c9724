"""Find the lists of references in a text: the lines under their headings, and other parts that are lists."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from entrez_kit.references.check.pasted.guessing import YEAR
from entrez_kit.references.check.pasted.line_signs import REFERENCE_END, is_dated
from entrez_kit.references.check.pasted.list_layout import ListLine

FIRST_LINES: Final = 0.15
"""If at least this share of lines begins a reference, the lines between two headings are references."""
MAX_HEADING: Final = 80
"""Characters that a heading never has."""
MAX_REFERENCE: Final = 700
"""Maximum characters of almost all references."""
MAX_PAGE_END: Final = 150
"""Maximum characters of the last lines of a page below a reference: its number and its footer."""
_SENTENCE_WITH_YEAR: Final = re.compile(r"[^.,;:()]{2,80} [a-z]{2,20} (?:1[89]|20)[0-9]{2}")
MOSTLY: Final = 0.8
"""Minimum share of the parts of a list that are dated, and no longer than a reference."""
HEADING: Final = re.compile(
    r"[\s#*_=]*+(?:(?:[0-9]{1,2}(?:\.[0-9]{1,2})?|[IVX]{1,5})[.)]?\s++)?(?:"
    r"(?:list of |cited |selected |key |further |supplement(?:ary|al) |additional |online )?references?"
    r"(?: (?:list|cited|and notes|and links))?"
    r"|notes and references|reference list|(?:selected )?bibliography|works cited|(?:cited )?literature(?: cited)?"
    r"|cited works|literatur(?:verzeichnis|hinweise|angaben|liste)?|quellen(?:verzeichnis|angaben)?|referenzen"
    r"|références(?: bibliographiques)?|bibliographie|referencias(?: bibliográficas)?|bibliografía|bibliografia"
    r"|riferimenti bibliografici|referências(?: bibliográficas)?|literatuur(?:lijst)?|referenties|referenser"
    r"|referanser|litteratur(?:liste|förteckning)?|piśmiennictwo|literatura|kaynaklar|kaynakça"
    r"|(?:список )?литератур[аы]|список использованных источников|参考文献|參考文獻|引用文献|참고문헌"
    r")\s*+[:.]?[\s#*_=]*+",
    re.IGNORECASE,
)
"""A line above a list of references."""
HEADINGS: Final = (
    *("References", "Bibliography", "Works cited", "Literature", "Literaturverzeichnis", "Quellen", "Références"),
    *("Bibliographie", "Referencias", "Bibliografía", "Riferimenti bibliografici", "Referências"),
)
"""The headings that a message names."""
END_OF_LIST: Final = re.compile(
    r"\s*+(?:#{1,6}\s++\S|(?:[#*_]*+(?:appendi(?:x(?: [A-Z0-9]{1,2})?(?:[.:] [^.]{3,60})?|ces)"
    r"|supplement(?:ary|al)?(?: \w++){0,2}"
    r"|figure (?:legends?|captions?)"
    r"|tables?|figures?|acknowledge?ments?|author contributions?|funding|conflicts? of interest"
    r"|competing interests?|data availability|abbreviations|author biograph\w++)\s*+:?[#*_]*+\s*+$))",
    re.IGNORECASE,
)
"""A line after a list of references that is not a part of it."""


def find_lists(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return where each list of references begins and ends. Without a heading, the whole text is the list.

    The last heading of a list always begins one, and so does each other heading with references below. The text before
    the first heading, and the parts behind a list ("Appendix"), are lists if they contain only references. A page
    header can repeat the heading.
    """
    heads = [n for n, line in enumerate(lines) if is_heading(line)]
    if not heads:
        return [(0, len(lines))]
    starts = heads[:1]
    starts += [after for head, after in pairwise(heads) if not _is_one_list(lines, head, after)]
    found = [(0, starts[0])] if looks_like_list(lines[: starts[0]], at_once=True) else []
    for head, after in pairwise([*starts, len(lines)]):
        start, end = head + 1, _find_end(lines, head + 1, after)
        if after < len(lines):
            end = _cut_prose(lines, start, end)
        if after == len(lines) or looks_like_list(lines[start:end]):
            found.append((start, end))
        parts = [n for n in range(end, after) if END_OF_LIST.match(lines[n])]
        for part, next_part in pairwise([*parts, after]):
            if looks_like_list(lines[part + 1 : next_part], at_once=True):
                found.append((part + 1, next_part))
    return found


def is_heading(line: str) -> bool:
    """Return whether a line is the heading of a list of references."""
    return len(line) < MAX_HEADING and HEADING.fullmatch(line) is not None


def _find_end(lines: Sequence[str], start: int, after: int) -> int:
    """Return where the list under a heading ends, before the next heading of a list."""
    # "Supplement 1" may be the last line of a reference.
    level = _find_heading_level(lines[start - 1])
    # In MediaWiki, "#" is the mark of each reference.
    is_marked = not level and next((line for line in lines[start:after] if line.strip()), "").startswith("# ")
    ends = (
        n
        for n in range(start, after)
        if not (is_marked and lines[n].startswith("# ")) and _ends_list(lines[n], level) and _may_end(lines, n)
    )
    return next(ends, after)


def looks_like_list(lines: Sequence[str], *, at_once: bool = False) -> bool:
    """Return whether lines contain only references: parts that begin with a mark or an author and have a date.

    Args:
        at_once: whether the first line with text must begin a reference.
    """
    texts = [line.strip() for line in lines if line.strip()]
    starts = [n for n, text in enumerate(texts) if _begins_reference(text)]
    if not starts or len(starts) < FIRST_LINES * len(texts) or (at_once and (starts[0] > 0 or len(starts) < 2)):
        return False
    parts = [" ".join(texts[n:after]) for n, after in pairwise([*starts, len(texts)])]
    good = sum(len(part) <= MAX_REFERENCE and is_dated(part) for part in parts)
    return good >= MOSTLY * len(parts)


def _begins_reference(text: str) -> bool:
    line = ListLine(0, text, 0, after_blank=False)
    return (line.begins and not _SENTENCE_WITH_YEAR.match(text)) or (bool(line.kind) and line.can_begin)


def _cut_prose(lines: Sequence[str], start: int, end: int) -> int:
    """Return where the last reference of a list ends; the next chapter follows below an empty line."""
    blocks = [n for n in range(start, end) if lines[n].strip() and (n == start or not lines[n - 1].strip())]
    last = next((n for n in reversed(blocks) if _begins_reference(lines[n].strip())), None)
    if last is None:
        return end
    return next((n for n in range(last, end) if not lines[n].strip()), end)


def _find_heading_level(line: str) -> int:
    return len(line.lstrip()) - len(line.lstrip().lstrip("#"))


def _ends_list(line: str, level: int) -> bool:
    """Return whether a line ends a list; a Markdown heading below the level of the list's own heading does not."""
    if not END_OF_LIST.match(line):
        return False
    own = _find_heading_level(line)
    is_reference = bool(own) and not level and YEAR.search(line) is not None
    return not (0 < level < own or is_reference)


def _is_one_list(lines: Sequence[str], head: int, next_head: int) -> bool:
    """Return whether the text between two equal headings has only references."""
    if lines[head].strip().casefold() != lines[next_head].strip().casefold():
        return False
    inside = [line.strip() for line in lines[head + 1 : next_head] if line.strip()]
    prose = lines[_cut_prose(lines, head + 1, next_head) : next_head]
    if sum(len(line.strip()) for line in prose) > MAX_PAGE_END:
        return False
    first = sum(ListLine(0, line, 0, after_blank=False).begins for line in inside)
    return first >= FIRST_LINES * max(len(inside), 1) and not any(END_OF_LIST.match(line) for line in inside)


def _may_end(lines: Sequence[str], n: int) -> bool:
    return not lines[n - 1].strip() or REFERENCE_END.search(lines[n - 1]) is not None

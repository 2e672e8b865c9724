"""Select the sections of an article by title, number and length."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final

from entrez_kit.fulltext.fulltext_articles import CutSection, OverflowMode, Section

ELLIPSIS: Final = "…"
_WORD_REACH: Final = 40
"""The maximum number of characters by which a cut moves back to the end of a word."""


@dataclass(frozen=True, slots=True)
class Selected:
    """The selected sections and their cuts; ``missed`` is whether no title matches."""

    sections: list[Section]
    original_characters: int
    returned_characters: int
    omitted_sections: int = 0
    cuts: list[CutSection] = field(default_factory=list)
    missed: bool = False

    @property
    def is_cut(self) -> bool:
        """Whether max_sections or max_characters omitted text."""
        return bool(self.cuts)


def select(
    sections: Sequence[Section],
    *,
    titles: Iterable[str] = (),
    max_sections: int | None = None,
    max_characters: int | None = None,
    overflow_mode: OverflowMode = "truncate",
) -> Selected:
    """Select sections and cut them to the limits.

    Args:
        titles: texts, ignoring case; a section's title must contain one of them.
        max_sections: the maximum number of sections.
        max_characters: the maximum number of characters of text; titles, abstract, ids and references do not count.
        overflow_mode: truncate fills sections in order; outline gives each section a share.
    """
    folded_titles = [text.strip().casefold() for text in titles if text.strip()]
    if folded_titles:
        sections = _select_by_title(sections, folded_titles)
    whole = [count_section_characters(section) for section in sections]
    selection = sections[:max_sections]
    if max_characters is not None:
        in_order = overflow_mode == "truncate"
        sizes = [len(text) for section in selection for text in _yield_texts(section)]
        shares = (_share_in_order if in_order else _share_evenly)(sizes, max_characters)
        selection = _shorten(selection, shares, in_order=in_order)
    left = [count_section_characters(section) for section in selection]
    cuts = [
        CutSection(title=section.title, original_characters=size, returned_characters=rest or 0)
        for section, size, rest in zip_longest(sections, whole, left)
        if rest is None or rest < size
    ]
    return Selected(
        sections=list(selection),
        original_characters=sum(whole),
        returned_characters=sum(left),
        omitted_sections=len(sections) - len(selection),
        cuts=cuts,
        missed=bool(folded_titles) and not sections,
    )


def count_section_characters(section: Section) -> int:
    """Count the characters of text in a section and its subsections."""
    return sum(map(len, _yield_texts(section)))


def _yield_texts(section: Section) -> Iterator[str]:
    yield section.text
    for sub in section.subsections:
        yield from _yield_texts(sub)


def _select_by_title(sections: Sequence[Section], folded_titles: Sequence[str]) -> list[Section]:
    """Keep the sections whose titles match, and the headings above them."""
    matching: list[Section] = []
    for section in sections:
        heading = section.heading.casefold()
        if any(text in heading for text in folded_titles):
            matching.append(section)
        elif below := _select_by_title(section.subsections, folded_titles):
            matching.append(section.model_copy(update={"text": "", "subsections": below}))
    return matching


# Shares of a budget


def _share_in_order(sizes: Sequence[int], budget: int) -> list[int]:
    shares = []
    for size in sizes:
        shares.append(min(size, budget))
        budget -= shares[-1]
    return shares


def _share_evenly(sizes: Sequence[int], budget: int) -> list[int]:
    """Give each text an equal share; longer texts get the rest of short ones."""
    shares = [0] * len(sizes)
    shortest_first = sorted((index for index, size in enumerate(sizes) if size), key=lambda index: sizes[index])
    for waiting, index in zip(range(len(shortest_first), 0, -1), shortest_first, strict=True):
        shares[index] = min(sizes[index], budget // waiting)
        budget -= shares[index]
    return shares


def _shorten(sections: Sequence[Section], shares: Sequence[int], *, in_order: bool) -> list[Section]:
    """Cut texts to their shares; with ``in_order``, omit sections after the last share, including headings."""
    left = iter(shares)
    unspent = sum(shares)
    result: list[Section] = []
    for section in sections:
        if in_order and not unspent and count_section_characters(section):
            break
        rest, spent = _cut_to(section, left, in_order=in_order)
        unspent -= spent
        result.append(rest)
    return result


def _cut_to(section: Section, shares: Iterator[int], *, in_order: bool) -> tuple[Section, int]:
    """Return a section with texts cut to the next shares, and the sum of these shares."""
    spent = next(shares)
    text = truncate_text(section.text, spent)
    subsections: list[Section] = []
    for sub in section.subsections:
        rest, share = _cut_to(sub, shares, in_order=in_order)
        spent += share
        if share or not in_order or not count_section_characters(sub):
            subsections.append(rest)
    return section.model_copy(update={"text": text, "subsections": subsections}), spent


def truncate_text(text: str, limit: int) -> str:
    """Cut a text to ``limit`` characters at the end of a word, never inside a grapheme.

    An ellipsis, which counts, marks the cut.
    """
    if len(text) <= limit:
        return text
    end = limit - len(ELLIPSIS)
    if end < 1:
        return ""
    while end > 0 and not _is_boundary(text, end):
        end -= 1
    blank = max(text.rfind(blank, max(0, end - _WORD_REACH), end + 1) for blank in (" ", "\n", "\t"))
    if blank > 0:
        end = blank
    beginning = text[:end].rstrip()
    return f"{beginning}{ELLIPSIS}" if beginning else ""


def _is_boundary(text: str, at: int) -> bool:
    """Return whether a grapheme ends here: not before a combining mark, or inside a flag or a joined emoji."""
    after, before = text[at], text[at - 1]
    if unicodedata.category(after) in ("Mn", "Me", "Mc") or "\u200d" in (after, before):
        return False
    code = ord(after)
    if 0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F or 0x1160 <= code <= 0x11FF:
        return False
    if unicodedata.combining(before) == 9:  # a virama joins the next letter
        return False
    if 0x1F1E6 <= code <= 0x1F1FF:
        flags = len(text[:at]) - len(text[:at].rstrip("".join(chr(0x1F1E6 + letter) for letter in range(26))))
        return flags % 2 == 0
    return not (before == "\r" and after == "\n")


_HEADING: Final = re.compile(r"(#{1,6}) (.*)")
_MAX_HEADING: Final = 100


def select_markdown(text: str, titles: Iterable[str]) -> str:
    """Return the sections of a Markdown text whose headings contain one of these texts, with their subsections.

    Args:
        text: the Markdown.
        titles: texts, ignoring case.

    Returns:
        The sections in order; empty if no heading matches.
    """
    folded_titles = [title.strip().casefold() for title in titles if title.strip()]
    selected_lines: list[str] = []
    inside = 0
    for line in text.splitlines():
        if heading := _HEADING.fullmatch(line):
            level = len(heading[1])
            if any(title in heading[2].casefold() for title in folded_titles):
                inside = min(level, inside or level)
            elif inside and level <= inside:
                inside = 0
        if inside:
            selected_lines.append(line)
    return "\n".join(selected_lines).strip()


_USUAL: Final = re.compile(
    r"(?:structured |graphical )?abstract|summary|introduction|background|experimental(?: procedures| section)?"
    r"|(?:patients|subjects|participants|materials?|star|online)?(?: (?:and|&))? ?methods?|methodology"
    r"|results?(?: (?:and|&) discussion)?|discussion(?: (?:and|&) conclusions?)?|conclusions?|concluding remarks"
    r"|literature cited|references?|bibliography|acknowledge?ments?|funding|keywords|abbreviations"
    r"|authors?.{0,2} contributions?|(?:conflicts?|declarations?) of (?:competing )?interests?|competing interests"
    r"|supplement(?:ary|al) (?:materials?|information|data)|supporting information|append(?:ix|ices)(?: [a-z0-9])?"
)
"""The main headings of most articles, in lower case."""
_PDF_HEADING: Final = re.compile(r"(?:(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+|[IVX]{1,4}\.\s+)?(\S.{1,90}?):?")
_MAX_REPEATS: Final = 3
"""A line that occurs more often is a running head of pages."""


def select_pdf_text(text: str, titles: Iterable[str]) -> str:
    """Return the sections of the text of a PDF whose headings contain one of these texts.

    A PDF does not mark its headings. A line is one if it is a usual heading ("Methods", "2. RESULTS"), if it has the
    next number of a numbered article, or if it is one of the texts. A section ends only at a usual heading or at a
    later number, so that it is too long rather than too short.

    Args:
        text: the text, line by line.
        titles: texts, ignoring case.

    Returns:
        The sections in order; empty if no heading matches.
    """
    folded_titles = [title.strip().casefold() for title in titles if title.strip()]
    lines = text.splitlines()
    heads = Counter(line for line in lines if len(line) <= _MAX_HEADING)
    selected_lines: list[str] = []
    inside: tuple[int, ...] | None = None  # the number of the section; () if it has none
    for line in lines:
        match = _PDF_HEADING.fullmatch(line.strip()) if heads[line] in range(1, _MAX_REPEATS + 1) else None
        if match is not None:
            number = tuple(map(int, match[1].split("."))) if match[1] else ()
            title = match[2].casefold()
            is_usual = _USUAL.fullmatch(title) is not None
            is_numbered = bool(number) and match[2][0].isupper() and match[2][-1] not in ".,;" and len(title) > 3
            if (is_usual or is_numbered or title in folded_titles) and any(words in title for words in folded_titles):
                inside = number if inside is None or not _is_below(number, inside) else inside
            elif inside is not None and (
                (is_usual and not _is_below(number, inside)) or (is_numbered and _is_after(number, inside))
            ):
                inside = None
        if inside is not None:
            selected_lines.append(line)
    return "\n".join(selected_lines).strip()


def _is_below(number: tuple[int, ...], section: tuple[int, ...]) -> bool:
    """Return whether a number belongs to a subsection: 2.1 is below 2."""
    return bool(section) and len(number) > len(section) and number[: len(section)] == section


def _is_after(number: tuple[int, ...], section: tuple[int, ...]) -> bool:
    """Return whether a number is the next one at the level of a section, or above it: 2.3 or 3 after 2.2."""
    places = range(1, len(section) + 1)
    return number in [(*section[: index - 1], section[index - 1] + 1) for index in places]

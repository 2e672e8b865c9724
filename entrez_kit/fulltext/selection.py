"""How much of an article is returned: sections by title, how many of them, how many characters."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final

from entrez_kit.fulltext.models import CutSection, OverflowMode, Section

ELLIPSIS: Final = "…"
_WORD_REACH: Final = 40
"""A cut moves back to the end of a word, if one ended so many characters ago at most."""


@dataclass(frozen=True, slots=True)
class Selected:
    """The chosen sections, and what was cut off them. ``missed`` tells that no title holds what was asked for."""

    sections: list[Section]
    original_characters: int
    returned_characters: int
    omitted_sections: int = 0
    cuts: list[CutSection] = field(default_factory=list)
    missed: bool = False

    @property
    def is_cut(self) -> bool:
        """Tell whether max_sections or max_characters left something out."""
        return bool(self.cuts)


def select(
    sections: Sequence[Section],
    *,
    titles: Iterable[str] = (),
    max_sections: int | None = None,
    max_characters: int | None = None,
    overflow_mode: OverflowMode = "truncate",
) -> Selected:
    """Return what is wanted of an article's sections.

    Args:
        sections: all of them.
        titles: texts of which a section's title must hold one, upper or lower case alike.
        max_sections: how many sections at most.
        max_characters: how many characters of text at most; titles, abstract, ids and references do not count.
        overflow_mode: truncate fills in order, outline gives every section a share.
    """
    wanted = [text.strip().casefold() for text in titles if text.strip()]
    if wanted:
        sections = _by_title(sections, wanted)
    whole = [characters(section) for section in sections]
    kept = sections[:max_sections]
    if max_characters is not None:
        in_order = overflow_mode == "truncate"
        sizes = [len(text) for section in kept for text in _texts(section)]
        shares = (_in_order if in_order else _evenly)(sizes, max_characters)
        kept = _shortened(kept, shares, in_order=in_order)
    left = [characters(section) for section in kept]
    cuts = [
        CutSection(title=section.title, original_characters=size, returned_characters=rest or 0)
        for section, size, rest in zip_longest(sections, whole, left)
        if rest is None or rest < size
    ]
    return Selected(
        sections=list(kept),
        original_characters=sum(whole),
        returned_characters=sum(left),
        omitted_sections=len(sections) - len(kept),
        cuts=cuts,
        missed=bool(wanted) and not sections,
    )


def characters(section: Section) -> int:
    """Return how many characters of text a section has, subsections included."""
    return sum(map(len, _texts(section)))


def _texts(section: Section) -> Iterator[str]:
    yield section.text
    for sub in section.subsections:
        yield from _texts(sub)


def _by_title(sections: Sequence[Section], wanted: Sequence[str]) -> list[Section]:
    """Keep what is named, whole, and of what lies around it the headings."""
    kept: list[Section] = []
    for section in sections:
        heading = section.heading.casefold()
        if any(text in heading for text in wanted):
            kept.append(section)
        elif below := _by_title(section.subsections, wanted):
            kept.append(section.model_copy(update={"text": "", "subsections": below}))
    return kept


# Shares of a budget


def _in_order(sizes: Sequence[int], budget: int) -> list[int]:
    shares = []
    for size in sizes:
        shares.append(min(size, budget))
        budget -= shares[-1]
    return shares


def _evenly(sizes: Sequence[int], budget: int) -> list[int]:
    """Give every text the same; what short ones leave over goes to the longer ones."""
    shares = [0] * len(sizes)
    shortest_first = sorted((place for place, size in enumerate(sizes) if size), key=lambda place: sizes[place])
    for waiting, place in zip(range(len(shortest_first), 0, -1), shortest_first, strict=True):
        shares[place] = min(sizes[place], budget // waiting)
        budget -= shares[place]
    return shares


def _shortened(sections: Sequence[Section], shares: Sequence[int], *, in_order: bool) -> list[Section]:
    """Cut texts to their shares; in order, what comes after the last share is left out, headings too."""
    left = iter(shares)
    unspent = sum(shares)
    kept: list[Section] = []
    for section in sections:
        if in_order and not unspent and characters(section):
            break
        rest, spent = _cut_to(section, left, in_order=in_order)
        unspent -= spent
        kept.append(rest)
    return kept


def _cut_to(section: Section, shares: Iterator[int], *, in_order: bool) -> tuple[Section, int]:
    """Return a section whose texts are cut to the next shares, and how much these are together."""
    spent = next(shares)
    text = cut(section.text, spent)
    subsections: list[Section] = []
    for sub in section.subsections:
        rest, share = _cut_to(sub, shares, in_order=in_order)
        spent += share
        if share or not in_order or not characters(sub):
            subsections.append(rest)
    return section.model_copy(update={"text": text, "subsections": subsections}), spent


def cut(text: str, limit: int) -> str:
    """Return at most so many characters of a text, cut at the end of a word and never inside a character.

    An ellipsis, which counts, shows where something is missing.
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
    kept = text[:end].rstrip()
    return f"{kept}{ELLIPSIS}" if kept else ""


def _is_boundary(text: str, at: int) -> bool:
    """Tell whether a character as readers see it ends here: not before an accent, inside a flag or a joined emoji."""
    after, before = text[at], text[at - 1]
    if unicodedata.category(after) in ("Mn", "Me", "Mc") or "\u200d" in (after, before):
        return False
    code = ord(after)
    if 0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F or 0x1160 <= code <= 0x11FF:
        return False
    if unicodedata.combining(before) == 9:  # a virama joins what follows
        return False
    if 0x1F1E6 <= code <= 0x1F1FF:
        flags = len(text[:at]) - len(text[:at].rstrip("".join(chr(0x1F1E6 + letter) for letter in range(26))))
        return flags % 2 == 0
    return not (before == "\r" and after == "\n")

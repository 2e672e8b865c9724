"""Measure how the titles of two records agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import IntEnum
from typing import Final

from entrez_kit.pubmed.comparison import are_titles_alike, is_one_edit
from entrez_kit.references.merge.signatures import Signature

NEAR_RATIO: Final = 92
LOOSE_RATIO: Final = 75
LONG_TITLE: Final = 40
"""From this number of letters, a title that is a part of another one can be the same title."""
LONG_WORD: Final = 5
"""From this number of letters, a word with one other letter is a misspelling, not another word."""
MAX_REPLACED: Final = 2
"""Titles in which at most this number of places have other words are of two works: mortality and readmission."""
_SMALL: Final = frozenset(("a", "an", "the", "of", "in", "on", "and", "for", "to", "by"))
"""Words that are not compared: databases omit or replace them."""


class TitleLevel(IntEnum):
    """How well two titles agree; a larger value is a better agreement."""

    DIFFERENT = 0
    LOOSE = 1
    NEAR = 2
    EXACT = 3


@dataclass(frozen=True, slots=True)
class TitleAgreement:
    """The agreement of two titles.

    Args:
        level: the best agreement of two of their titles.
        ratio: the ratio of equal letters in percent.
        cores: the same ratio without the words of their kinds ("part", "protocol", "erratum").
        is_part: whether one title is the beginning or the end of the other one.
        is_alike: whether the titles agree, except for words that are similar: men and women.
    """

    level: TitleLevel = TitleLevel.DIFFERENT
    ratio: float = 0.0
    cores: float = 0.0
    is_part: bool = False
    is_alike: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether the titles are equal."""
        return self.level == TitleLevel.EXACT


def compare_titles(first: Signature, second: Signature) -> TitleAgreement:
    """Compare all titles of two records, and the cores of the titles."""
    from rapidfuzz.fuzz import ratio

    if not first.title or not second.title:
        return TitleAgreement()
    level, best, cores = TitleLevel.DIFFERENT, 0.0, 0.0
    if _is_beginning(first, second) or _is_beginning(second, first):
        level = TitleLevel.NEAR
    for mine in first.titles:
        for theirs in second.titles:
            likeness = ratio(mine, theirs)
            best = max(best, likeness)
            level = max(level, _rate_titles(mine, theirs, likeness))
    if first.core and second.core:
        is_whole = first.core == first.title and second.core == second.title
        cores = best if is_whole else ratio(first.core, second.core)
    if level == TitleLevel.EXACT:
        return TitleAgreement(level, best, cores, is_alike=True)
    has_numbers = first.numbers == second.numbers or _is_extended(first, second)
    level = level if has_numbers else min(level, TitleLevel.LOOSE)
    is_alike = has_numbers and best >= NEAR_RATIO and are_titles_alike(first.title, second.title)
    return TitleAgreement(
        level,
        best,
        cores,
        is_part=level == TitleLevel.NEAR
        and not (first.is_cut or second.is_cut)
        and _is_part(first.title, second.title),
        is_alike=is_alike or level == TitleLevel.NEAR,
    )


def _is_beginning(first: Signature, second: Signature) -> bool:
    """Return whether a title that ends with "..." is the beginning of the other one."""
    if not first.is_cut:
        return False
    mine, theirs = first.title.replace(" ", ""), second.title.replace(" ", "")
    return len(mine) >= LONG_TITLE and theirs.startswith(mine)


def _is_part(first: str, second: str) -> bool:
    """Return whether one title is the beginning or the end of the other one, as if a subtitle was omitted."""
    smaller, larger = sorted((first, second), key=len)
    return len(smaller) >= LONG_TITLE and (larger.startswith(f"{smaller} ") or larger.endswith(f" {smaller}"))


def _rate_titles(mine: str, theirs: str, ratio: float) -> TitleLevel:
    """Return the level of agreement of two folded titles with this ratio of equal letters."""
    if ratio == 100 or mine.replace(" ", "") == theirs.replace(" ", ""):
        return TitleLevel.EXACT
    if _is_part(mine, theirs) or (ratio >= NEAR_RATIO and _is_misspelt(mine, theirs)):
        return TitleLevel.NEAR
    return TitleLevel.LOOSE if ratio >= LOOSE_RATIO else TitleLevel.DIFFERENT


def _is_extended(first: Signature, second: Signature) -> bool:
    """Return whether one title continues where the other ends, so that it can have more numbers."""
    smaller, larger = sorted((first.title, second.title), key=len)
    return len(smaller) >= LONG_TITLE and larger.startswith(f"{smaller} ")


def is_core_inside(first: Signature, second: Signature) -> bool:
    """Return whether the core of one title contains that of the other one."""
    smaller, larger = sorted((first.core, second.core), key=len)
    return (
        len(smaller) >= LONG_TITLE and smaller in larger and (first.core != first.title or second.core != second.title)
    )


def _is_misspelt(mine: str, theirs: str) -> bool:
    """Return whether two titles differ in misspelt words only: in one letter of a long word, after its beginning.

    Opposites differ at their beginning: abduction and adduction, afferent and efferent, typical and atypical.
    """
    for change in _list_changes(mine, theirs):
        first, second = map("".join, change)
        # A missing letter makes no other word, except for the first letter.
        letters = 2 if len(first) == len(second) else 1
        if first[:letters] != second[:letters] or not _is_edit(first, second):
            return False
    return True


def has_other_word(first: Signature, second: Signature) -> bool:
    """Return whether two titles have the same words, except for one or two places with other words.

    A word in addition, or one with another letter, is not another word. Two translations can have other words.
    """
    if first.language or second.language:
        return False
    changes = _list_changes(first.title, second.title)
    return 0 < len(changes) <= MAX_REPLACED and not any(_is_addition(*change) for change in changes)


def _list_changes(mine: str, theirs: str) -> list[tuple[list[str], list[str]]]:
    """Return the places at which two titles have other words, and the words of each one."""
    words, others = mine.split(), theirs.split()
    codes = SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    changes = [(words[a:b], others[c:d]) for code, a, b, c, d in codes if code != "equal"]
    important = [(first, second) for first, second in changes if not _SMALL.issuperset((*first, *second))]
    changes = [(_omit_small_words(first), _omit_small_words(second)) for first, second in important]
    return [(first, second) for first, second in changes if "".join(first) != "".join(second)]


def _omit_small_words(words: list[str]) -> list[str]:
    """Return the words without small ones; all words if they are all small: "a" and "b" are different."""
    return [word for word in words if word not in _SMALL] or words


def _is_addition(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether some words are others with words in addition, or with one missing or other letter."""
    shorter, longer = sorted((mine, theirs), key=len)
    beginnings = ("".join(longer[:size]) for size in range(len(longer) + 1))
    first, second = "".join(shorter), "".join(longer)
    are_words = min(len(first), len(second)) > 2 and (first + second).isalpha()
    has_missing_letter = are_words and len(first) != len(second) and is_one_edit(first, second)
    return first in beginnings or has_missing_letter or _is_edit(first, second)


def _is_edit(first: str, second: str) -> bool:
    """Return whether one of two words is long, and differs in one letter from the other one."""
    is_word = first.isalpha() and second.isalpha()
    return is_word and max(len(first), len(second)) >= LONG_WORD and is_one_edit(first, second)

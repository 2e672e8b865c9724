"""The spellings of words and phrases with wildcards that PubMed can search, and the losses."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final, TypeAlias

from entrez_kit.query.dialects.notes import CannotExpressError
from entrez_kit.query.dialects.tree import MARKS, Loss, compile_pattern, get_stem, has_marks
from entrez_kit.query.unsettled import SHORTEST_STEM
from entrez_kit.query.words import STOP_WORDS

MAX_SPELLINGS: Final = 729
"""Maximum number of spellings of a term."""
MAX_LISTED: Final = 100
"""Maximum number of words of the word list for one truncated word."""
_CHARACTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
Spellings: TypeAlias = tuple[Sequence[str], tuple[Loss, ...]]
"""The words and truncated words that replace a pattern, and the losses."""


@dataclass(frozen=True, slots=True)
class WordList:
    """Words from which variants of truncated words are taken; ``name`` states their origin."""

    name: str
    words: tuple[str, ...]

    def match(self, pattern: str) -> list[str]:
        """Return the words that match a pattern."""
        stem, compiled = get_stem(pattern), compile_pattern(pattern)
        return [word for word in self.words if word.startswith(stem) and compiled.fullmatch(word)]


def expand_phrase(patterns: Sequence[str], word_list: WordList | None) -> Spellings:
    """Return the phrases for adjacent patterns that PubMed can search.

    Raises:
        CannotExpressError: PubMed ignores the word, or the phrase has too many spellings.
    """
    if len(patterns) == 1 and patterns[0] in STOP_WORDS:
        raise CannotExpressError(f"PubMed ignores the word {patterns[0]!r}")
    options: list[Sequence[str]] = []
    losses: list[Loss] = []
    for pattern in patterns:
        forms, added = expand_pattern(pattern, word_list)
        options.append(forms)
        losses += added
    if prod(len(forms) for forms in options) > MAX_SPELLINGS:
        text = f"{' '.join(patterns)!r} has more than {MAX_SPELLINGS} spellings"
        raise CannotExpressError(text, "wildcard-trap")
    return [" ".join(words) for words in product(*options)], tuple(losses)


def expand_pattern(pattern: str, word_list: WordList | None) -> Spellings:
    """Return the words and truncated words for a pattern that PubMed can search.

    Raises:
        CannotExpressError: the word is too short before its wildcard, and there is no word list.
    """
    if not has_marks(pattern):
        return (pattern,), ()
    can_truncate = len(get_stem(pattern)) >= SHORTEST_STEM
    if can_truncate and not _has_limited_marks(pattern):
        return (_truncate(pattern),), ()
    if (listed := expand_from_list(pattern, word_list)) is not None:
        return listed
    if can_truncate:
        text = f"{_print_pattern(pattern)} became {_truncate(pattern)}, which allows any characters"
        return (_truncate(pattern),), (Loss("wider", text),)
    return _write_out_characters(pattern)


def expand_from_list(pattern: str, word_list: WordList | None) -> Spellings | None:
    """Return the words of the word list that match a pattern; None if it has no wildcard, or the list cannot help."""
    listed = word_list.match(pattern) if word_list is not None and has_marks(pattern) else []
    if word_list is None or not listed or len(listed) > MAX_LISTED:
        return None
    text = f"{_print_pattern(pattern)} became the words of {word_list.name}: {', '.join(listed)}"
    return listed, (Loss("narrower", text),)


def _write_out_characters(pattern: str) -> Spellings:
    """Return a pattern with its first single characters written out, until PubMed can truncate the rest."""
    forms = [pattern]
    while any(_is_too_short(form) for form in forms):
        forms = [
            longer
            for form in forms
            for longer in (_replace_first_mark(form, pattern) if _is_too_short(form) else (form,))
        ]
        if len(forms) > MAX_SPELLINGS:
            text = f"{_print_pattern(pattern)} has more than {MAX_SPELLINGS} spellings"
            raise CannotExpressError(text, "wildcard-trap")
    losses: tuple[Loss, ...] = ()
    if any(_has_limited_marks(form) for form in forms):
        losses = (Loss("wider", f"{_print_pattern(pattern)} became a truncated word, which allows any characters"),)
    return list(dict.fromkeys(_truncate(form) for form in forms)), losses


def _is_too_short(form: str) -> bool:
    return has_marks(form) and len(get_stem(form)) < SHORTEST_STEM


def _replace_first_mark(form: str, pattern: str) -> list[str]:
    """Return a form once for each character that its first wildcard can be.

    Args:
        form: the form.
        pattern: the pattern that it came from, for messages.
    """
    mark = MARKS.search(form)
    assert mark is not None, "the caller checks that the form has a wildcard"
    if not mark.start() and (mark[0] not in "#?" or len(form) <= 2):
        raise CannotExpressError(f"{_print_pattern(pattern)} begins with a wildcard", "wildcard-trap")
    if mark[0] not in "#?":
        least = f"fewer than {SHORTEST_STEM} characters before the wildcard"
        text = f"{_print_pattern(pattern)} has {least}; give a word list to list its variants"
        raise CannotExpressError(text, "short-truncation")
    stem, ending = form[: mark.start()], form[mark.end() :]
    return [*(stem + character + ending for character in _CHARACTERS), *((stem + ending,) if mark[0] == "?" else ())]


def _has_limited_marks(pattern: str) -> bool:
    """Return whether a pattern has a wildcard other than ``*``, which PubMed does not have."""
    return any(mark != "*" for mark in MARKS.findall(pattern))


def _truncate(pattern: str) -> str:
    """Return a pattern with ``*`` for each wildcard."""
    return re.sub(r"\*+", "*", MARKS.sub("*", pattern))


def _print_pattern(pattern: str) -> str:
    """Return a pattern as its author may have written it."""
    return pattern.replace("<", "*").replace(">", "")

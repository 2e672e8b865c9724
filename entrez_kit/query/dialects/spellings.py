"""The spellings of words and phrases with wildcards that PubMed can search, and the losses."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final, TypeAlias

from entrez_kit.query.dialects.notes import CannotExpressError
from entrez_kit.query.dialects.tree import MARKS, Loss, WordPatterns, compile_pattern, get_stem, has_marks
from entrez_kit.query.unsettled import SHORTEST_STEM, can_truncate
from entrez_kit.query.words import STOP_WORDS

MAX_SPELLINGS: Final = 729
"""Maximum number of spellings of a term."""
MAX_LISTED: Final = 100
"""Maximum number of words of the word list for one truncated word."""
_CHARACTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
Spellings: TypeAlias = tuple[Sequence[str], tuple[Loss, ...]]
"""The words and truncated words that replace a pattern, or the phrases that replace several, and the losses."""


@dataclass(frozen=True, slots=True)
class WordList:
    """Words from which variants of truncated words are taken; ``name`` states their origin."""

    name: str
    words: tuple[str, ...]

    def match(self, pattern: str) -> list[str]:
        """Return the words that match a pattern."""
        stem, compiled = get_stem(pattern), compile_pattern(pattern)
        return [word for word in self.words if word.startswith(stem) and compiled.fullmatch(word)]


def expand_phrase(words: WordPatterns, word_list: WordList | None) -> Spellings:
    """Return the phrases for adjacent patterns that PubMed can search.

    Raises:
        CannotExpressError: PubMed ignores the word, or cannot truncate it, or the phrase has too many spellings.
    """
    if len(words.patterns) == 1 and words.patterns[0] in STOP_WORDS:
        raise CannotExpressError(f"PubMed ignores the word {words.text!r}")
    options, losses = expand_patterns(words, word_list)
    if prod(len(forms) for forms in options) > MAX_SPELLINGS:
        text = f"{' '.join(words.written)!r} has more than {MAX_SPELLINGS} spellings"
        raise CannotExpressError(text, "wildcard-trap")
    return [" ".join(forms) for forms in product(*options)], losses


def expand_patterns(
    words: WordPatterns, word_list: WordList | None, *, prefers_list: bool = False
) -> tuple[list[Sequence[str]], tuple[Loss, ...]]:
    """Return the words and truncated words for each of adjacent patterns, and the losses.

    Args:
        words: the patterns.
        word_list: words for patterns that PubMed cannot truncate.
        prefers_list: whether the word list is used for all patterns.

    Raises:
        CannotExpressError: the phrase is too short before its first wildcard, and there is no word list.
    """
    options: list[Sequence[str]] = []
    losses: list[Loss] = []
    before = ""
    for pattern, written in zip(words.patterns, words.written, strict=True):
        listed = _expand_from_list(pattern, written, word_list) if prefers_list else None
        forms, added = listed or _expand_pattern(pattern, written, before, word_list)
        options.append(forms)
        losses += added
        before += min(map(get_stem, forms), key=len)
    return options, tuple(losses)


def _expand_pattern(pattern: str, written: str, before: str, word_list: WordList | None) -> Spellings:
    """Return the words and truncated words for a pattern that PubMed can search.

    Args:
        pattern: the pattern.
        written: the pattern as its author wrote it, for messages.
        before: the characters before it in its phrase.
        word_list: words for patterns that PubMed cannot truncate.
    """
    if not has_marks(pattern):
        return (pattern,), ()
    has_own_stem = can_truncate(get_stem(pattern))
    if not _is_too_short(pattern, before) and not _has_limited_marks(pattern):
        return (_truncate(pattern),), ()
    if (listed := _expand_from_list(pattern, written, word_list)) is not None:
        return listed
    if has_own_stem:
        text = f"{written} became {_truncate(pattern)}, which allows any characters"
        return (_truncate(pattern),), (Loss("wider", text),)
    return _write_out_characters(pattern, written, before)


def _expand_from_list(pattern: str, written: str, word_list: WordList | None) -> Spellings | None:
    """Return the words of the word list that match a pattern; None if it has no wildcard, or the list cannot help."""
    listed = word_list.match(pattern) if word_list is not None and has_marks(pattern) else []
    if word_list is None or not listed or len(listed) > MAX_LISTED:
        return None
    text = f"{written} became the words of {word_list.name}: {', '.join(listed)}"
    return listed, (Loss("narrower", text),)


def _write_out_characters(pattern: str, written: str, before: str) -> Spellings:
    """Return a pattern with its first single characters written out, until PubMed can truncate the rest."""
    forms = [pattern]
    while any(_is_too_short(form, before) for form in forms):
        forms = [
            longer
            for form in forms
            for longer in (_replace_first_mark(form, written) if _is_too_short(form, before) else (form,))
        ]
        if len(forms) > MAX_SPELLINGS:
            raise CannotExpressError(f"{written} has more than {MAX_SPELLINGS} spellings", "wildcard-trap")
    losses: tuple[Loss, ...] = ()
    if any(_has_limited_marks(form) for form in forms):
        losses = (Loss("wider", f"{written} became a truncated word, which allows any characters"),)
    return list(dict.fromkeys(_truncate(form) for form in forms)), losses


def _is_too_short(form: str, before: str) -> bool:
    """Return whether PubMed cannot truncate a form at its first wildcard.

    For ``*`` the characters before the form in its phrase count too. A wildcard for one character can be replaced by
    each character, so only the form itself counts.
    """
    stem = get_stem(form)
    return has_marks(form) and not can_truncate(f"{before}{stem}" if stem and form[len(stem)] == "*" else stem)


def _replace_first_mark(form: str, written: str) -> list[str]:
    """Return a form once for each character that its first wildcard can be.

    Args:
        form: the form.
        written: the pattern that it came from, as its author wrote it.
    """
    mark = MARKS.search(form)
    assert mark is not None, "the caller checks that the form has a wildcard"
    if not mark.start() and (mark[0] not in "#?" or len(form) <= 2):
        raise CannotExpressError(f"{written} begins with a wildcard", "wildcard-trap")
    if mark[0] not in "#?":
        least = f"fewer than {SHORTEST_STEM} characters before the wildcard"
        raise CannotExpressError(f"{written} has {least}; give a word list to list its variants", "short-truncation")
    stem, ending = form[: mark.start()], form[mark.end() :]
    return [*(stem + character + ending for character in _CHARACTERS), *((stem + ending,) if mark[0] == "?" else ())]


def _has_limited_marks(pattern: str) -> bool:
    """Return whether a pattern has a wildcard other than ``*``, which PubMed does not have."""
    return any(mark != "*" for mark in MARKS.findall(pattern))


def _truncate(pattern: str) -> str:
    """Return a pattern with ``*`` for each wildcard."""
    return re.sub(r"\*+", "*", MARKS.sub("*", pattern))

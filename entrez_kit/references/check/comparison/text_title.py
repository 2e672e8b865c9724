"""Find the title of a record in a reference as text: the whole title, the title with mistakes, or its beginning."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from entrez_kit.citations.csl import build_csl_item
from entrez_kit.pubmed.comparison import (
    MIN_PART,
    bound_likeness,
    fold_text,
    list_years,
    make_confusable_key,
    make_likeness_key,
    measure_key_likeness,
)
from entrez_kit.pubmed.models import Article
from entrez_kit.references.check.comparison.compare_fields import LIKE_TITLES, FieldDifference, list_titles
from entrez_kit.references.check.comparison.text_words import find_words

_RETRACTED: Final = re.compile(r"^\W*(?:retracted|withdrawn)(?: article)?\s*[:.\]-]+\s*", re.IGNORECASE)
SURE_TITLE: Final = 15
"""From this number of letters, a text contains most of a title only if it cites the work."""
WIDER: Final = (0, 1, -1)
"""How many words longer than the correct title a title with mistakes can be."""
MAX_WINDOWS: Final = 5
"""Maximum number of positions at which the text is compared with a title letter by letter."""
MAX_MISTAKES: Final = 2
"""Maximum words with mistakes at the end of a title; more words do not belong to it."""
MAX_PART: Final = 60
"""Maximum words of the beginning of a title that is searched in a text."""


@dataclass(frozen=True, slots=True)
class TitleInText:
    """The position of the title of a record in a text, and the difference between the two.

    ``is_exact`` is true if the text has the whole title, with its mark if it has one ("Retracted:").
    """

    spans: Sequence[tuple[int, int]] = ()
    difference: FieldDifference | None = None
    is_exact: bool = False


def find_title(words: Sequence[str], article: Article, *, sure: bool) -> TitleInText:
    """Find the whole title, the title with mistakes, or the beginning of the title.

    Args:
        sure: whether an identifier, or the place, says that the text cites the record.
    """
    titles = [fold_text(title).split() for title in list_titles(article)]
    unmarked = [fold_text(_RETRACTED.sub("", title)).split() for title in list_titles(article)]
    spans = []
    for forms in zip(titles, unmarked, strict=True):  # a text can omit "Retracted:"
        found = ((start, len(form)) for form in forms if (start := find_words(form, words)) is not None)
        spans += [span for span in [next(found, None)] if span is not None]
    if spans:
        return TitleInText(spans, is_exact=any(length == len(title) for _, length in spans for title in titles))
    similar = [span for title in titles if title and (span := _find_similar_part(title, words, sure=sure)) is not None]
    if similar:
        _, start, length = max(similar)
        if "".join(words[start : start + length]) in ["".join(title) for title in titles]:
            return TitleInText([(start, length)])  # a formula or a number is divided in another way
        return TitleInText([(start, length)], _build_difference(words[start : start + length], article))
    beginning = _find_beginning(titles, words) if sure or set(words) & set(list_years(article)) else None
    if beginning is None:
        return TitleInText()
    start, length = beginning
    passage = words[start : start + length]
    detail = f"the text has only the beginning of the title: {' '.join(passage)}"
    return TitleInText([beginning], _build_difference(passage, article, detail))


def _build_difference(passage: Sequence[str], article: Article, detail: str | None = None) -> FieldDifference:
    record = str(build_csl_item(article).get("title", ""))
    return FieldDifference(field="title", given=" ".join(passage), record=record, detail=detail)


def _find_beginning(titles: Sequence[Sequence[str]], words: Sequence[str]) -> tuple[int, int] | None:
    """Return the position and the number of words of the longest beginning of a title in a text."""
    for title in titles:
        for size in range(min(len(title) - 1, MAX_PART), MIN_PART - 1, -1):
            if (start := find_words(title[:size], words)) is not None:
                return start, size
    return None


def _find_similar_part(title: Sequence[str], words: Sequence[str], *, sure: bool) -> tuple[float, int, int] | None:
    """Return the likeness, the position and the number of words of the part of a text most similar to a title."""
    whole = "".join(title)
    if not sure and len(whole) < SURE_TITLE:
        return None
    keys = {make_confusable_key(word): n for n, word in reversed(list(enumerate(title)))}
    votes = Counter(n - keys[key] for n, word in enumerate(words) if (key := make_confusable_key(word)) in keys)
    starts = [start for start, _ in votes.most_common() if start >= 0][:MAX_WINDOWS]
    key = make_likeness_key(whole)
    windows = [
        (bound_likeness(part, key), start, length, part)
        for start in starts or range(min(len(words), MAX_WINDOWS))
        for length in (len(title) + more for more in WIDER)
        if 0 < length <= len(words) - start
        for part in (make_likeness_key("".join(words[start : start + length])),)
    ]
    best: tuple[float, int, int] | None = None
    for bound, start, length, part in sorted(windows, reverse=True):
        if bound < (best[0] if best else LIKE_TITLES):
            break  # no other window can be more similar
        candidate = measure_key_likeness(part, key), start, length
        if candidate[0] >= LIKE_TITLES and (best is None or candidate > best):
            best = candidate
    return _trim(best, words, title, key) if best else None


def _trim(span: tuple[float, int, int], words: Sequence[str], title: Sequence[str], key: str) -> tuple[float, int, int]:
    """Return a part of a text without the words at its ends that make it less similar to a title.

    These are words of the authors or of the journal: a shortened title, or a formula, has fewer words.
    """
    likeness, start, length = span
    for at_end in (True, False):
        while length > 1:
            begin, size = (start, length - 1) if at_end else (start + 1, length - 1)
            trimmed = measure_key_likeness(make_likeness_key("".join(words[begin : begin + size])), key)
            if trimmed <= likeness:
                break
            likeness, start, length = trimmed, begin, size
    inside = [n for n in range(length) if words[start + n] in title]
    if inside and length - inside[-1] > MAX_MISTAKES:
        length = inside[-1] + 1
    return likeness, start, length

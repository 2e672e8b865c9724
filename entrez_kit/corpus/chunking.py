"""Split a record into chunks for embedding: by section if the abstract has sections, otherwise by sentence.

Every word of the title and abstract is in a chunk. The same record always gives the same chunks. The id of a chunk
depends only on its position in the record.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Final, NamedTuple
from uuid import UUID, uuid5

from entrez_kit.base.sentences import ends_sentence, yield_sentence_breaks
from entrez_kit.corpus.sections import OPEN, TextSection, read_sections
from entrez_kit.pubmed.models import Article

TARGET: Final = 325
MOST: Final = 450
MIN_CHUNK: Final = 120
OVERLAP: Final = 50
"""Sizes in estimated tokens."""

TOKENS_PER_WORD: Final = 1.5
"""Average tokens per word in biomedical abstracts, within 1 %."""
LONG_WORD: Final = 12
LETTERS_PER_TOKEN: Final = 8
"""Letters per token in a word longer than ``LONG_WORD`` (a sequence, a formula)."""
MAX_TITLE: Final = 200
"""In tokens. A longer title is split like text instead of being repeated before it."""

NAMESPACE: Final = UUID("1b2c3d4e-0000-0000-0000-000000000000")

_UNSPACED: Final = re.compile("[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff]")
"""Scripts without spaces between words; each character is about one token."""

_STATISTIC: Final = re.compile(
    r"\b[pP]\s*[<=>≤≥]|\bCI\b|confidence interval|\b[aA]?(?:HR|OR|RR|SMD|MD|IQR)\b|\b[0-9.,]+\s?%|(?:±|\bSD\b|\bSE\b)"
)
_SIGN: Final = re.compile("%|±|<|=|>|≤|≥|confidence interval|CI|HR|OR|RR|MD|IQR|SD|SE")
"""A fast pre-filter: every match of ``_STATISTIC`` contains one of these, and most sentences contain none."""
_COMPARATOR: Final = re.compile(
    r"\b(?:compared|comparison|versus|vs|than|placebo|controls?|respectively|relative to|difference)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a record.

    ``chunk_id`` is s0, s1 ... for whole sections, s1_0, s1_1 ... for parts of a section, and w0, w1 ... in records
    without sections.
    """

    chunk_id: str
    section: str | None
    text: str
    tokens: int


def chunk_uuid(pmid: int | str, chunk_id: str) -> str:
    """Return the UUID of a chunk, which is the same on every machine."""
    return str(uuid5(NAMESPACE, f"{pmid}:{chunk_id}"))


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of a text in an embeddings model."""
    return ceil(_estimate_text(text))


@lru_cache(maxsize=128)
def _estimate_text(text: str) -> float:
    """Estimate the tokens of a text; cached, because a title or section is measured several times."""
    return _estimate_words(text.split(), spaced=_is_spaced(text))


def _is_spaced(text: str) -> bool:
    """Return whether spaces separate the words of a text, so that word lengths are enough for an estimate."""
    return text.isascii() or not _UNSPACED.search(text)


def _estimate_words(words: Sequence[str], *, spaced: bool) -> float:
    """Estimate the tokens of a list of words."""
    if not spaced:
        return sum(map(_estimate_word, words))
    long = [length for length in map(len, words) if length > LONG_WORD]
    return TOKENS_PER_WORD * (len(words) - len(long)) + sum(long) / LETTERS_PER_TOKEN


def _estimate_word(word: str) -> float:
    if len(word) <= LONG_WORD and word.isascii():
        return TOKENS_PER_WORD
    return max(TOKENS_PER_WORD, len(word) / LETTERS_PER_TOKEN, len(_UNSPACED.findall(word)))


def chunk_article(article: Article) -> list[Chunk]:
    """Split a record into chunks; a record without an abstract is one chunk with its title."""
    title = " ".join(article.title.split())
    sections = read_sections(article)
    if title and estimate_tokens(title) > MAX_TITLE:
        sections, title = [TextSection(None, OPEN, title), *sections], ""
    if not sections:
        return [_make_chunk("w0", None, title, [])] if title else []
    if any(section.label is not None for section in sections):
        return _chunk_sections(title, sections)
    text = "\n".join(section.text for section in sections)
    windows = _split_windows(text, lambda first: _count_free_tokens(title if first else "", None))
    return [
        _make_chunk(f"w{number}", None, "" if number else title, [TextSection(None, OPEN, window)])
        for number, window in enumerate(windows)
    ]


def _make_chunk(chunk_id: str, section: str | None, title: str, pieces: Sequence[TextSection]) -> Chunk:
    return Chunk(chunk_id, section, _render(title, pieces), _estimate_rendered_tokens(title, pieces))


def _render(title: str, pieces: Iterable[TextSection]) -> str:
    lines = [f"[Title] {title}"] if title else []
    for piece in pieces:
        if piece.label:
            lines.append(f"[Section] {piece.label}")
        if piece.text:
            lines.append(f"[Text] {piece.text}")
    return "\n".join(lines)


def _estimate_rendered_tokens(title: str, pieces: Iterable[TextSection]) -> int:
    """Estimate the tokens of ``_render`` as the sum over its pieces, which spaces separate."""
    texts = [title, *(text for piece in pieces for text in (piece.label, piece.text))]
    return ceil(sum(TOKENS_PER_WORD + _estimate_text(text) for text in texts if text))


def _count_free_tokens(title: str, label: str | None) -> int:
    """Return the number of tokens left for text after the title and the label."""
    return MOST - _estimate_rendered_tokens(title, [TextSection(label, "", "")]) - ceil(TOKENS_PER_WORD)


# Abstracts with labels -----------------------------------------------------------------------------------------------


def _chunk_sections(title: str, sections: Sequence[TextSection]) -> list[Chunk]:
    chunks: list[Chunk] = []
    for number, group in enumerate(_group_sections(sections, estimate_tokens(title))):
        heading = "" if number else title
        name = "; ".join(dict.fromkeys(section.name for section in group))
        whole = _make_chunk(f"s{number}", name, heading, group)
        if whole.tokens <= MOST:
            chunks.append(whole)
            continue
        chunks += _split_group(number, name, heading, group)
    return chunks


def _split_group(number: int, name: str, title: str, pieces: Sequence[TextSection]) -> Iterator[Chunk]:
    """Split a group that does not fit into one chunk; its sections are too long on their own."""
    part = 0
    for piece in pieces:
        label = piece.label

        def count_room(first: bool, at_start: bool = part == 0, label: str | None = label) -> int:
            return _count_free_tokens(title if first and at_start else "", label)

        for window in _split_windows(piece.text, count_room):
            yield _make_chunk(
                f"s{number}_{part}", name, "" if part else title, [TextSection(label, piece.name, window)]
            )
            part += 1


def _group_sections(sections: Sequence[TextSection], title_tokens: int) -> list[list[TextSection]]:
    """Merge each section that is too short with the next one, and a short last section with the one before."""
    groups: list[list[TextSection]] = []
    sizes: list[int] = []
    for section in sections:
        size = _estimate_rendered_tokens("", [section])
        reserved = title_tokens if len(groups) == 1 else 0
        small = groups and sizes[-1] < MIN_CHUNK
        if small and sizes[-1] + size + reserved <= TARGET:
            groups[-1].append(section)
            sizes[-1] += size
        else:
            groups.append([section])
            sizes.append(size)
    if len(groups) > 1 and sizes[-1] < MIN_CHUNK:
        reserved = title_tokens + 2 if len(groups) == 2 else 0
        if sizes[-2] + sizes[-1] + reserved <= MOST - 10:
            groups[-2:] = [groups[-2] + groups[-1]]
    return groups


# Windows over sentences ----------------------------------------------------------------------------------------------


def _split_windows(text: str, room: Callable[[bool], int]) -> list[str]:
    """Split a text into overlapping windows of about equal size.

    Args:
        room: returns the number of tokens that fit into the first window (True) or any other (False).
    """
    words = text.split()
    total = _estimate_text(text)
    first = room(True)
    if total <= first:
        return [" ".join(words)]
    other = room(False) - OVERLAP
    smallest = min(first - OVERLAP, other)
    number = max(2, round(total / min(TARGET - OVERLAP, smallest)))
    share = total / number
    windows: list[list[str]] = [[]]
    used = done = 0.0
    for unit, cost in _split_units(text, smallest):
        limit = first if len(windows) == 1 else other
        past_share = done + cost / 2 > share * len(windows)
        if windows[-1] and (used + cost > limit or (past_share and len(windows) < number)):
            windows.append([])
            used = 0.0
        windows[-1] += unit
        used += cost
        done += cost
    return [
        " ".join([*(_take_overlap(windows[place - 1]) if place else ()), *window])
        for place, window in enumerate(windows)
    ]


def _take_overlap(words: Sequence[str]) -> Sequence[str]:
    """Return the last words of a window, up to ``OVERLAP`` tokens: whole sentences if they fit, otherwise words."""
    start, cost = len(words), 0.0
    while start and cost + _estimate_word(words[start - 1]) <= OVERLAP:
        start -= 1
        cost += _estimate_word(words[start])
    if start == 0:
        return ()
    for place in range(start, len(words)):
        if ends_sentence(words[place - 1]):
            return words[place:]
    return words[start:]


@lru_cache(maxsize=8)
def _has_numbers(sentence: str) -> bool:
    return bool(_SIGN.search(sentence) and _STATISTIC.search(sentence))


@lru_cache(maxsize=8)
def _has_comparison(sentence: str) -> bool:
    return bool(_COMPARATOR.search(sentence))


def _belong_together(sentence: str, following: str) -> bool:
    """Return whether one of two sentences has the statistics and the other the comparison."""
    return (_has_numbers(sentence) or _has_numbers(following)) and _has_comparison(sentence) != _has_comparison(
        following
    )


class _Unit(NamedTuple):
    """Words that stay in one chunk, and their estimated tokens."""

    words: list[str]
    cost: float


def _split_units(text: str, max_words: int) -> list[_Unit]:
    """Split a text into sentences; two sentences stay together if one compares the numbers of the other."""
    units: list[_Unit] = []
    spaced = _is_spaced(text)
    previous = ""
    for sentence in _split_sentences(text):
        words = sentence.split()
        cost = _estimate_words(words, spaced=spaced)
        together = units and units[-1].cost + cost <= min(max_words, TARGET) and _belong_together(previous, sentence)
        previous = "" if together else sentence
        if together:
            units[-1] = _Unit(units[-1].words + words, units[-1].cost + cost)
        elif cost <= max_words:
            units.append(_Unit(words, cost))
        else:
            units += [_Unit(part, _estimate_words(part, spaced=spaced)) for part in _split_long(words, max_words)]
    return units


def _split_sentences(text: str) -> Iterator[str]:
    start = 0
    for end, begin in (*yield_sentence_breaks(text, lines=True), (len(text), len(text))):
        if text[start:end].strip():
            yield text[start:end]
        start = begin


def _split_long(words: Sequence[str], max_words: int) -> Iterator[list[str]]:
    """Split a sentence or word that is longer than a chunk."""
    part: list[str] = []
    size = 0.0
    for word in _split_long_words(words, max_words):
        cost = _estimate_word(word)
        if part and size + cost > max_words:
            yield part
            part, size = [], 0.0
        part.append(word)
        size += cost
    if part:
        yield part


def _split_long_words(words: Iterable[str], max_characters: int) -> Iterator[str]:
    for word in words:
        if _estimate_word(word) <= max_characters:
            yield word
        else:
            step = max(1, max_characters // 2)
            yield from (word[start : start + step] for start in range(0, len(word), step))

"""Cut a record into the chunks that embeddings stand for: by section where the abstract has sections, else by sentence.

No word of title and abstract is lost. The same record always gives the same chunks, and each has an id that stays the
same for as long as its place in the record does.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Final, NamedTuple
from uuid import UUID, uuid5

from entrez_kit.base.sentences import ends_sentence, sentence_breaks
from entrez_kit.corpus.sections import OPEN, TextSection, sections_of
from entrez_kit.pubmed.models import Article

TARGET: Final = 325
MOST: Final = 450
LEAST: Final = 120
OVERLAP: Final = 50
"""Sizes in estimated tokens."""

TOKENS_PER_WORD: Final = 1.5
"""What words of biomedical abstracts cost on average, within 1 %."""
LONG_WORD: Final = 12
LETTERS_PER_TOKEN: Final = 8
"""What a word of more characters (a sequence, a formula) costs."""
MOST_TITLE: Final = 200
"""A longer title is cut like text instead of going before it."""

NAMESPACE: Final = UUID("1b2c3d4e-0000-0000-0000-000000000000")

_UNSPACED: Final = re.compile("[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff]")
"""Scripts written without blanks between words; each character costs about one token."""

_STATISTIC: Final = re.compile(
    r"\b[pP]\s*[<=>≤≥]|\bCI\b|confidence interval|\b[aA]?(?:HR|OR|RR|SMD|MD|IQR)\b|\b[0-9.,]+\s?%|(?:±|\bSD\b|\bSE\b)"
)
_SIGN: Final = re.compile("%|±|<|=|>|≤|≥|confidence interval|CI|HR|OR|RR|MD|IQR|SD|SE")
"""What every statistic has; most sentences have none of it, and this tells so many times faster."""
_COMPARATOR: Final = re.compile(
    r"\b(?:compared|comparison|versus|vs|than|placebo|controls?|respectively|relative to|difference)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a record.

    ``chunk_id`` is s0, s1 ... for whole sections, s1_0, s1_1 ... for parts of one, w0, w1 ... for records without.
    """

    chunk_id: str
    section: str | None
    text: str
    tokens: int


def chunk_uuid(pmid: int | str, chunk_id: str) -> str:
    """Return the id of a chunk that is the same everywhere and always."""
    return str(uuid5(NAMESPACE, f"{pmid}:{chunk_id}"))


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a text is for an embeddings model."""
    return ceil(_size_of(text))


@lru_cache(maxsize=128)
def _size_of(text: str) -> float:
    """Return what a text costs; a title or section is asked for several times while its record is cut."""
    return _size(text.split(), spaced=_is_spaced(text))


def _is_spaced(text: str) -> bool:
    """Tell whether blanks part the words of a text, so that their lengths alone say what they cost."""
    return text.isascii() or not _UNSPACED.search(text)


def _size(words: Sequence[str], *, spaced: bool) -> float:
    """Return what words cost together."""
    if not spaced:
        return sum(map(_cost, words))
    long = [length for length in map(len, words) if length > LONG_WORD]
    return TOKENS_PER_WORD * (len(words) - len(long)) + sum(long) / LETTERS_PER_TOKEN


def _cost(word: str) -> float:
    if len(word) <= LONG_WORD and word.isascii():
        return TOKENS_PER_WORD
    return max(TOKENS_PER_WORD, len(word) / LETTERS_PER_TOKEN, len(_UNSPACED.findall(word)))


def chunk_article(article: Article) -> list[Chunk]:
    """Cut a record into chunks; one without an abstract is one chunk with its title."""
    title = " ".join(article.title.split())
    sections = sections_of(article)
    if title and estimate_tokens(title) > MOST_TITLE:
        sections, title = [TextSection(None, OPEN, title), *sections], ""
    if not sections:
        return [_chunk("w0", None, title, [])] if title else []
    if any(section.label is not None for section in sections):
        return _labelled(title, sections)
    text = "\n".join(section.text for section in sections)
    windows = _windows(text, lambda first: _room(title if first else "", None))
    return [
        _chunk(f"w{number}", None, "" if number else title, [TextSection(None, OPEN, window)])
        for number, window in enumerate(windows)
    ]


def _chunk(chunk_id: str, section: str | None, title: str, pieces: Sequence[TextSection]) -> Chunk:
    return Chunk(chunk_id, section, _rendered(title, pieces), _rendered_tokens(title, pieces))


def _rendered(title: str, pieces: Iterable[TextSection]) -> str:
    lines = [f"[Title] {title}"] if title else []
    for piece in pieces:
        if piece.label:
            lines.append(f"[Section] {piece.label}")
        if piece.text:
            lines.append(f"[Text] {piece.text}")
    return "\n".join(lines)


def _rendered_tokens(title: str, pieces: Iterable[TextSection]) -> int:
    """Estimate what ``_rendered`` comes to: blanks part its pieces, so that what they cost can be added."""
    texts = [title, *(text for piece in pieces for text in (piece.label, piece.text))]
    return ceil(sum(TOKENS_PER_WORD + _size_of(text) for text in texts if text))


def _room(title: str, label: str | None) -> int:
    """Return how many tokens of text fit beside the title and the label."""
    return MOST - _rendered_tokens(title, [TextSection(label, "", "")]) - ceil(TOKENS_PER_WORD)


# Abstracts with labels -----------------------------------------------------------------------------------------------


def _labelled(title: str, sections: Sequence[TextSection]) -> list[Chunk]:
    chunks: list[Chunk] = []
    for number, group in enumerate(_groups(sections, estimate_tokens(title))):
        heading = "" if number else title
        name = "; ".join(dict.fromkeys(section.name for section in group))
        whole = _chunk(f"s{number}", name, heading, group)
        if whole.tokens <= MOST:
            chunks.append(whole)
            continue
        chunks += _parts_of(number, name, heading, group)
    return chunks


def _parts_of(number: int, name: str, title: str, pieces: Sequence[TextSection]) -> Iterator[Chunk]:
    """Cut what does not fit into one chunk; only a section that is too long by itself comes here."""
    part = 0
    for piece in pieces:
        label = piece.label

        def room(first: bool, at_start: bool = part == 0, label: str | None = label) -> int:
            return _room(title if first and at_start else "", label)

        for window in _windows(piece.text, room):
            yield _chunk(f"s{number}_{part}", name, "" if part else title, [TextSection(label, piece.name, window)])
            part += 1


def _groups(sections: Sequence[TextSection], title_tokens: int) -> list[list[TextSection]]:
    """Put sections that are too small to say much together with the next one, the last with the one before."""
    groups: list[list[TextSection]] = []
    sizes: list[int] = []
    for section in sections:
        size = _rendered_tokens("", [section])
        reserved = title_tokens if len(groups) == 1 else 0
        small = groups and sizes[-1] < LEAST
        if small and sizes[-1] + size + reserved <= TARGET:
            groups[-1].append(section)
            sizes[-1] += size
        else:
            groups.append([section])
            sizes.append(size)
    if len(groups) > 1 and sizes[-1] < LEAST:
        reserved = title_tokens + 2 if len(groups) == 2 else 0
        if sizes[-2] + sizes[-1] + reserved <= MOST - 10:
            groups[-2:] = [groups[-2] + groups[-1]]
    return groups


# Windows over sentences ----------------------------------------------------------------------------------------------


def _windows(text: str, room: Callable[[bool], int]) -> list[str]:
    """Cut a text into windows of about equal size; each begins with the end of the one before.

    Args:
        text: the text.
        room: how many tokens fit into the first window (True), and into any other (False).
    """
    words = text.split()
    total = _size_of(text)
    if total <= room(True):
        return [" ".join(words)]
    smallest = min(room(True), room(False))
    goal = min(TARGET - OVERLAP, smallest - OVERLAP)
    number = max(2, round(total / goal))
    share = total / number
    windows: list[list[str]] = [[]]
    used = done = 0.0
    for unit, cost in _units(text, smallest - OVERLAP):
        limit = room(True) if len(windows) == 1 else room(False) - OVERLAP
        past_share = done + cost / 2 > share * len(windows)
        if windows[-1] and (used + cost > limit or (past_share and len(windows) < number)):
            windows.append([])
            used = 0.0
        windows[-1] += unit
        used += cost
        done += cost
    return [" ".join([*(_tail(windows[place - 1]) if place else ()), *window]) for place, window in enumerate(windows)]


def _tail(words: Sequence[str]) -> Sequence[str]:
    """Return the last words of a window: whole sentences where they fit, else as many words as do."""
    start, cost = len(words), 0.0
    while start and cost + _cost(words[start - 1]) <= OVERLAP:
        start -= 1
        cost += _cost(words[start])
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
def _compares(sentence: str) -> bool:
    return bool(_COMPARATOR.search(sentence))


def _belong_together(one: str, other: str) -> bool:
    """Tell whether one of two sentences holds the numbers and the other what they are compared with."""
    return (_has_numbers(one) or _has_numbers(other)) and _compares(one) != _compares(other)


class _Unit(NamedTuple):
    """Words that are not to be torn apart, and what they cost."""

    words: list[str]
    cost: float


def _units(text: str, most: int) -> list[_Unit]:
    """Cut a text into sentences, or two of them where the numbers of one are compared in the other."""
    units: list[_Unit] = []
    spaced = _is_spaced(text)
    previous = ""
    for sentence in _sentences(text):
        words = sentence.split()
        cost = _size(words, spaced=spaced)
        together = units and units[-1].cost + cost <= min(most, TARGET) and _belong_together(previous, sentence)
        previous = "" if together else sentence
        if together:
            units[-1] = _Unit(units[-1].words + words, units[-1].cost + cost)
        elif cost <= most:
            units.append(_Unit(words, cost))
        else:
            units += [_Unit(part, _size(part, spaced=spaced)) for part in _hard_split(words, most)]
    return units


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for end, begin in (*sentence_breaks(text, lines=True), (len(text), len(text))):
        if text[start:end].strip():
            yield text[start:end]
        start = begin


def _hard_split(words: Sequence[str], most: int) -> Iterator[list[str]]:
    """Cut a sentence that is longer than a chunk, and a word that is, too."""
    part: list[str] = []
    size = 0.0
    for word in _short_words(words, most):
        cost = _cost(word)
        if part and size + cost > most:
            yield part
            part, size = [], 0.0
        part.append(word)
        size += cost
    if part:
        yield part


def _short_words(words: Iterable[str], most: int) -> Iterator[str]:
    for word in words:
        if _cost(word) <= most:
            yield word
        else:
            step = max(1, most // 2)
            yield from (word[start : start + step] for start in range(0, len(word), step))

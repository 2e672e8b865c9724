"""Guess where title and place stand in a reference that is written out, in whatever style.

What comes of it is searched for and never asserted: the whole text is compared with the record that is found.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MAX_TITLES: Final = 4
MIN_TITLE_WORDS: Final = 2
MAX_TITLE_WORDS: Final = 60
_ADDRESS: Final = re.compile(
    r"https?://\S++|\bdoi:?\s*+10\.\S++|\b10\.[0-9]{4,9}/\S++|\bPM(?:C)?ID:?\s*+(?:PMC)?[0-9]++", re.IGNORECASE
)
_QUOTED: Final = re.compile(r"[“\"„«]([^“”\"„«»]{10,600})[”\"“»]|(?<!\w)[‘']([^‘]{10,600}?)[’'](?=[\s,.;)]|$)")
_AFTER_YEAR: Final = re.compile(
    r"\(?\b(?:1[89]|20)[0-9]{2}[a-z]?(?:,? [A-Z][a-z]{2,8}(?:[-–/][A-Z][a-z]{2,8})?\.?(?: [0-9]{1,2})?)?\)?[.,:]\s++"
)
_SENTENCE: Final = re.compile(r"(?<=[.?!])[”\"’']?\s++(?=[\[“\"‘'(]?[^\W_])")
_YEAR: Final = re.compile(r"(?<![0-9])(?:1[89]|20)[0-9]{2}(?![0-9])")
_PLACE: Final = re.compile(
    r"(?:vol(?:ume)?\.?\s*+)?(?P<volume>[0-9]{1,4})\s*+(?:\(\s*+(?P<issue>[^()]{1,30})\)|,?\s*+(?:no|issue|iss|nr)\.?\s*+"
    r"(?P<number>[0-9]{1,4}))?[\s,:;.]++(?:\(?(?:1[89]|20)[0-9]{2}\)?[\s,:;]++)?"
    r"(?:pp?\.?\s*+|pages?\s*+|article\s*+|art\.?\s*+)?(?P<page>[A-Za-z]{0,3}[0-9]{1,9})",
    re.IGNORECASE,
)
_FIRST_AUTHOR: Final = re.compile(r"[^\W\d_][\w'’-]*+(?:[ -][^\W\d_][\w'’-]*+){0,3}?(?=,| [A-Z]{1,4}\b|\s+et al)")
_BRACKETS: Final = re.compile(r"\[([^\[\]]*+)\]")
_SPLITS: Final = re.compile(r"[.;:,]\s*+$")
_LABEL: Final = re.compile(r",? ?\b(?:vol(?:ume)?|issue|no)\.? ?$", re.IGNORECASE)
_BEFORE_JOURNAL: Final = re.compile(r"^[\s.,;:”\"’'»?!]*+(?:in:?\s++)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Guess:
    """What a text may say: titles, the likeliest first, and the place."""

    titles: tuple[str, ...] = ()
    author: str | None = None
    journal: str | None = None
    year: str | None = None
    volume: str | None = None
    page: str | None = None


def guessed(text: str) -> Guess:
    """Guess the parts of a reference."""
    plain = " ".join(_ADDRESS.sub(" ", text).split())
    titles = tuple(dict.fromkeys(part for title in _titles(plain) for part in _parts(title)))[:MAX_TITLES]
    author = _FIRST_AUTHOR.match(plain)
    years = _YEAR.findall(plain)
    base = Guess(titles, author[0] if author else None, year=years[0] if years else None)
    if not titles:
        return base
    rest = plain[plain.find(titles[0]) + len(titles[0]) :]
    rest = rest[len(match[0]) if (match := _BEFORE_JOURNAL.match(rest)) else 0 :]
    journal = re.split(r"[0-9;]|\((?=[0-9])", rest, maxsplit=1)[0]
    journal = _LABEL.sub("", _SPLITS.sub("", journal.strip()))
    numbers = rest[len(journal) :]
    place = _PLACE.search(re.sub(r"^\W*(?:1[89]|20)[0-9]{2}[^;:(]{0,12}[;:]", " ", numbers))
    return Guess(
        titles,
        base.author,
        journal.strip(" .,;:") or None,
        base.year,
        place["volume"] if place else None,
        place["page"] if place else None,
    )


def _titles(text: str) -> Iterator[str]:
    """Yield texts that may be the title: in quotes, behind a year, or else the sentences least like names."""
    for inside in _BRACKETS.findall(text):
        if len(inside.split()) > MIN_TITLE_WORDS:
            yield inside.strip(" .")
    for match in _QUOTED.finditer(text):
        quoted = (match[1] or match[2]).strip(" .,")
        if _enough(quoted):
            yield quoted
    if year := _AFTER_YEAR.search(text[: len(text) // 2 + 40]):
        sentence = _first_sentence(text[year.end() :])
        if _enough(sentence) and _prose(sentence) > 0:
            yield sentence
    sentences: list[str] = [part.strip(" .,;“”\"‘’'") for part in _SENTENCE.split(text)]
    likely = [part for part in sentences if _enough(part) and _prose(part) > 0]
    # The journal and its place have the digits; names have neither small words nor length.
    yield from sorted(likely, key=lambda part: -_prose(part))


def _parts(title: str) -> Iterator[str]:
    """Yield a title in two languages one by one; what else is in brackets says what kind of work it is."""
    inside = [part.strip(" .") for part in _BRACKETS.findall(title)]
    outside = " ".join(_BRACKETS.sub(" ", title).split()).strip(" .,;")
    if _enough(outside):
        yield outside
    yield from (part for part in inside if len(part.split()) > MIN_TITLE_WORDS)
    if "," in outside and (longest := max(outside.split(", "), key=_prose)) != outside and _prose(longest) > 2:
        yield longest  # names and title with nothing but commas between them


def _first_sentence(text: str) -> str:
    return _SENTENCE.split(text, maxsplit=1)[0].strip(" .,;“”\"‘’'")


def _enough(text: str) -> bool:
    return MIN_TITLE_WORDS <= len(text.split()) <= MAX_TITLE_WORDS


def _prose(text: str) -> float:
    """Return how much a text is like a title: words in small letters speak for it, initials and numbers against."""
    words = re.findall(r"[^\W_]+(?:[-'’][^\W_]+)*", text)
    small = sum(word[:1].islower() and len(word) > 1 for word in words)
    long = sum(word[:1].isupper() and len(word) > 3 and not word.isupper() for word in words)
    initials = sum(word.isupper() and len(word) <= 3 for word in words)
    numbers = sum(word[:1].isdigit() for word in words)
    return float(small + long / 4 - initials * 1.5 - numbers)

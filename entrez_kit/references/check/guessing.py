"""Guess where title and place stand in a reference that is written out, in whatever style.

What comes of it is searched for and never asserted: the whole text is compared with the record that is found.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

MAX_TITLES: Final = 4
MIN_TITLE_WORDS: Final = 2
MAX_TITLE_WORDS: Final = 60
MAX_JOURNAL_WORDS: Final = 20
_ADDRESS: Final = re.compile(
    r"https?://\S++|\bdoi:?\s*+10\.\S++|\b10\.[0-9]{4,9}/\S++|\bPM(?:C)?ID:?\s*+(?:PMC)?[0-9]++", re.IGNORECASE
)
VISITED: Final = re.compile(
    r"[\[(]\s*+(?:cited|accessed|retrieved|viewed|updated|last accessed)\b[^\[\]()]{3,60}[\])]"
    r"|\b(?:accessed|retrieved|viewed|available (?:at|from)|last accessed)\b(?: on)?:?[^.;:]{0,40}(?=\.|;|:|https?://|$)",
    re.IGNORECASE,
)
"""What says when and where somebody looked at a work."""
_QUOTED: Final = re.compile(r"[“\"„«]([^“”\"„«»]{10,600})[”\"“»]|(?<!\w)[‘']([^‘]{10,600}?)[’'](?=[\s,.;)]|$)")
_AFTER_YEAR: Final = re.compile(
    r"\(?\b(?:1[89]|20)[0-9]{2}[a-z]?(?:,? [A-Z][a-z]{2,8}(?:[-–/][A-Z][a-z]{2,8})?\.?(?: [0-9]{1,2})?)?\)?[.,:]\s++"
)
_SENTENCE: Final = re.compile(r"(?<=[.?!])[”\"’']?\s++(?=[\[“\"‘'(]?[^\W_])")
YEAR: Final = re.compile(r"(?<![0-9])(?:1[89]|20)[0-9]{2}(?![0-9])")
_PLACE: Final = re.compile(
    r"(?:vol(?:ume)?\.?\s*+)?(?P<volume>[0-9]{1,4})\s*+(?:\(\s*+(?P<issue>[^()]{1,30})\)|,?\s*+(?:no|issue|iss|nr)\.?\s*+"
    r"(?P<number>[0-9]{1,4}))?[\s,:;.]++(?:\(?(?:[A-Z]{3,9}\.?\s)?(?:1[89]|20)[0-9]{2}\)?[\s,:;]++)?"
    r"(?:pp?\.?\s*+|pages?\s*+|article\s*+|art\.?\s*+)?(?P<page>[A-Za-z]{0,3}[0-9]{1,9})",
    re.IGNORECASE,
)
_FIRST_AUTHOR: Final = re.compile(r"[^\W\d_][\w'’-]*+(?:[ -][^\W\d_][\w'’-]*+){0,3}?(?=,| [A-Z]{1,4}\b|\s+et al)")
_BRACKETS: Final = re.compile(r"\[([^\[\]]*+)\]")
_SPLITS: Final = re.compile(r"[.;:,]\s*+$")
_LABEL: Final = re.compile(r",? ?\b(?:vol(?:ume)?|issue|no)\.? ?$", re.IGNORECASE)
_INITIALS: Final = r"(?:(?:[^\W\d_a-z]\.[ -]?){1,5}|[A-Z]{1,4}(?![^\W_]))"
_FAMILY: Final = r"[^\W\d_][\w'’-]*+(?: [^\W\d_][\w'’-]*+){0,3}?"
_PERSON: Final = re.compile(
    rf"(?:and |& )?(?:{_INITIALS} ?{_FAMILY}|{_FAMILY} {_INITIALS})(?: (?:Jr|Sr|I{{2,3}})\.?)?|et al\.?"
)
_INITIAL: Final = re.compile(r"(?<![^\W\d_])[^\W\d_a-z]{1,3}(?![^\W_])")
_CAPITALS: Final = re.compile(r"(?<![^\W_])(?:[^\W\d_a-z]{4,}|BY|FOR|IN|OF|ON|THE|TO)(?![^\W_])")
_NAMES_END: Final = re.compile(r"(?<![^\W_])[^\W\d_a-z]\.,? (?=\S)")
"""The last initial of an author."""
_AUTHORS_MARK: Final = re.compile(
    r"[^:—]{2,2000}?(?:(?<![^\W_])[^\W\d_a-z]{1,4}\.?|\b(?:al|coll|u\. ?a|others)\.?,?)(?::| [—–]) ++"
)
"""Authors with initials, and the colon or the dash between them and the title."""
_JOURNAL_PART: Final = re.compile(r"[^\W\d_].{0,150}?[0-9]{1,4} ?\((?:1[89]|20)[0-9]{2}\)")
_JOURNAL: Final = re.compile(
    r"(?<=[.,?!\"”'’] )[^\W\d_](?:[^\W\d_]|[ '’&:-]){2,100}[.,]? ?\(?(?:vol(?:ume)?\.? ?)?[0-9]{1,4}(?![0-9])",
    re.IGNORECASE,
)
"""A name without full stops in it, and a number behind it."""
_BEFORE_JOURNAL: Final = re.compile(r"^[\s.,;:”\"’'»?!]*+(?:in:?\s++)?", re.IGNORECASE)


_DATE_AND_PLACE: Final = re.compile(
    r"\b(?P<year>(?:1[89]|20)[0-9]{2})\b[^;:.,()]{0,12}; ?(?P<volume>[0-9OlI]{1,5})(?: ?\([^()]{1,30}\))?"
    r"(?:: ?(?P<page>[A-Za-z]{0,3}[0-9OlI]{1,9}))?"
)
"""Year, volume and page as most styles of medicine write them: 2024;12(3):201-12."""
_ABBREVIATION: Final = re.compile(r"[^\W\d_a-z][^\W\d_]{0,8}[a-z]\.")


@dataclass(frozen=True, slots=True)
class Place:
    """A journal, and a place in it."""

    journal: str
    year: str
    volume: str
    page: str | None


@dataclass(frozen=True, slots=True)
class Guess:
    """What a text may say: titles and places, the likeliest first, the first author and the year."""

    titles: tuple[str, ...] = ()
    author: str | None = None
    year: str | None = None
    places: tuple[Place, ...] = ()


def _places_before_date(text: str) -> Iterator[Place]:
    """Yield the last date that a volume follows, with what may be the journal before it.

    A full stop before the date ends a sentence or an abbreviation, so there are up to two journals.
    """
    place = next(reversed(list(_DATE_AND_PLACE.finditer(text))), None)
    words = text[: place.start()].split() if place is not None else []
    if place is None or not words:
        return
    numbers = (place["year"], place["volume"], place["page"])
    ends = [n for n in range(len(words) - 1) if words[n][-1] in ".?!"]
    last = max(ends, default=-1)
    sure = max((n for n in ends if not _ABBREVIATION.fullmatch(words[n])), default=-1)
    for begin in dict.fromkeys((last, sure)):
        name = words[begin + 1 :]
        if len(name) <= MAX_JOURNAL_WORDS:
            yield Place(" ".join(name).strip(" .,;:"), *numbers)


def guessed(text: str) -> Guess:
    """Guess the parts of a reference."""
    plain = " ".join(VISITED.sub(" ", _ADDRESS.sub(" ", text)).split())
    titles = tuple(dict.fromkeys(part for title in _titles(plain) for part in _parts(title)))[:MAX_TITLES]
    author = _FIRST_AUTHOR.match(plain)
    years = YEAR.findall(plain)
    journal, place = _journal_and_place(plain, titles)
    year = years[0] if years else None
    places = [Place(journal, year, place["volume"], place["page"])] if journal and year and place else []
    places += _places_before_date(plain)
    return Guess(titles, author[0] if author else None, year, tuple(dict.fromkeys(places)))


def _journal_and_place(text: str, titles: Sequence[str]) -> tuple[str | None, re.Match[str] | None]:
    """Guess what stands behind the title; of a reply or a comment nothing but the place may tell what is cited."""
    begins = [text.find(title) + len(title) for title in titles[:1]]
    begins += [match.start() for match in [_JOURNAL.search(text)] if match]
    journal, place = "", None
    for begin in begins:
        rest = text[begin:]
        rest = rest[len(match[0]) if (match := _BEFORE_JOURNAL.match(rest)) else 0 :]
        journal = re.split(r"[0-9;]|\((?=[0-9])", rest, maxsplit=1)[0]
        journal = _LABEL.sub("", _SPLITS.sub("", journal.strip()))
        numbers = rest[len(journal) :]
        place = _PLACE.search(re.sub(r"^\W*(?:1[89]|20)[0-9]{2}[^;:(]{0,12}[;:]", " ", numbers))
        if place and journal:
            break
    return journal.strip(" .,;:") or None, place


def _titles(text: str) -> Iterator[str]:
    """Yield texts that may be the title: in quotes, behind a year, or else the sentences least like names."""
    for inside in _BRACKETS.findall(text):
        if len(inside.split()) > MIN_TITLE_WORDS:
            yield inside.strip(" .")
    for match in _QUOTED.finditer(text):
        quoted = (match[1] or match[2]).strip(" .,")
        if _enough(quoted):
            yield quoted
    begin, end = min(text.find(mark) % (len(text) + 1) for mark in '“"'), max(text.rfind(mark) for mark in '”"')
    if _enough(quoted := text[begin + 1 : end].strip(" .,")):  # with a quotation in it
        yield quoted
    if behind := _behind_mark(text):
        yield behind
    if behind := _behind_names(text):
        yield behind
    if year := _AFTER_YEAR.search(text[: len(text) // 2 + 40]):
        sentence = _SENTENCE.split(text[year.end() :], maxsplit=1)[0].strip(" .,;“”\"‘’'")
        if _enough(sentence) and _prose(sentence) > 0:
            yield sentence
    sentences = [part.strip(" .,;“”\"‘’'") for part in _SENTENCE.split(text)]
    sentences = [part for part in sentences if _enough(part)]
    # The journal and its place have the digits; names have neither small words nor length.
    yield from sorted((part for part in sentences if _prose(part) > 0), key=lambda part: -_prose(part))
    yield from (part for part in sentences if _prose(part) <= 0 and not _INITIAL.search(part))


def _behind_mark(text: str) -> str | None:
    """Return a title that a mark sets off: a colon or a dash from the names, or two slashes from the journal."""
    head, slashes, _ = text.partition(" // ")
    if slashes:
        names = list(_NAMES_END.finditer(head))
        return head[names[-1].end() :].strip(" .,") if names else head
    mark = _AUTHORS_MARK.match(text)
    if mark is None:
        return None
    return _SENTENCE.split(text[mark.end() :].partition("[J")[0], maxsplit=1)[0].strip(' .,“”"')


def _behind_names(text: str) -> str | None:
    """Return what stands between names with initials and a journal, where nothing but commas divide these."""
    parts = text.split(", ")
    persons = [bool(_PERSON.fullmatch(part)) for part in parts]
    first = next((n for n in range(1, len(parts)) if persons[n - 1] and not persons[n]), 0)
    last = next((n for n in range(first + 1, len(parts)) if _JOURNAL_PART.match(parts[n])), None)
    return ", ".join(parts[first:last]) if first and last else None


def _parts(title: str) -> Iterator[str]:
    """Yield a title in two languages one by one; what else is in brackets says what kind of work it is."""
    inside = [part.strip(" .") for part in _BRACKETS.findall(title)]
    outside = " ".join(_BRACKETS.sub(" ", title).split()).strip(" .,;")
    if _enough(outside):
        yield outside
    yield from (part for part in inside if len(part.split()) > MIN_TITLE_WORDS)
    if "," in outside and (longest := max(outside.split(", "), key=_prose)) != outside and _prose(longest) > 2:
        yield longest  # names and title with nothing but commas between them


def _enough(text: str) -> bool:
    return MIN_TITLE_WORDS <= len(text.split()) <= MAX_TITLE_WORDS


def _prose(text: str) -> float:
    """Return how much a text is like a title: words in small letters speak for it, initials and numbers against."""
    if text.isupper() and len(_CAPITALS.findall(text)) > MIN_TITLE_WORDS:
        text = text.lower()
    words = re.findall(r"[^\W_]+(?:[-'’][^\W_]+)*", text)
    small = sum(word[:1].islower() and len(word) > 1 for word in words)
    long = sum(word[:1].isupper() and len(word) > 3 and not word.isupper() for word in words)
    initials = sum(word.isupper() and len(word) <= 3 for word in words)
    numbers = sum(word[:1].isdigit() for word in words)
    return float(small + long / 4 - initials * 1.5 - numbers)

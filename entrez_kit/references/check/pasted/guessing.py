"""Guess the title, the journal and the place of a reference from its text, in any citation style.

A guess is only a search term. Each record found is compared with the whole text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from entrez_kit.references.check.pasted.additions import remove_additions

MAX_TITLES: Final = 4
MIN_TITLE_WORDS: Final = 2
MAX_TITLE_WORDS: Final = 60
MAX_JOURNAL_WORDS: Final = 20
_ADDRESS: Final = re.compile(
    r"https?://\S++|\bdoi:?\s*+10\.\S++|\b10\.[0-9]{4,9}/\S++|\bPM(?:C)?ID:?\s*+(?:PMC)?[0-9]++", re.IGNORECASE
)
DOCUMENT_TYPE: Final = re.compile(r"\[(?:[JMDCNSPRGAZ]|EB|DB|CP|DS)(?:/(?:OL|CD|DK|MT))?\]")
"""The type of a work as GB/T 7714 marks it: [J], [J/OL], [EB/OL]."""
_ACCESSED: Final = (
    "(?:last )?accessed|retrieved|viewed|acess?o em|acessado em|consultado(?: el)?|consulté le|accesso"
    "|(?:letzter )?zugriff(?: am)?|abgerufen(?: am)?|geraadpleegd(?: op)?|дата обращения"
)
_AVAILABLE: Final = "available (?:at|from)|disponível em|disponible en|verfügbar unter"
VISITED: Final = re.compile(
    r"[\[(](?:1[89]|20)[0-9]{2}-[0-9]{1,2}-[0-9]{1,2}[\])]|"
    r"[\[(]\s*+(?:cited|accessed|retrieved|viewed|updated|last accessed)\b[^\[\]()]{3,60}[\])]"
    r"|[\[(][^\[\]()]{3,30}(?:1[89]|20)[0-9]{2},? (?:date )?(?:last )?accessed[\])]"
    rf"|\b(?:{_ACCESSED})\b(?: on)?:? {{1,2}}(?:[0-9]{{1,2}}(?:st|nd|rd|th)?\.? )?(?:de )?[^\W\d_]{{3,10}}\.?"
    r" (?:de )?(?:[0-9]{1,2}(?:st|nd|rd|th)?,? )?(?:1[89]|20)[0-9]{2}\b"
    rf"|\b(?:{_ACCESSED}|{_AVAILABLE})\b(?: on)?:?[^.;:()\[\]]{{0,40}}(?=[.;:()\[\]]|https?://|$)",
    re.IGNORECASE,
)
"""When and where an author accessed a work."""
_QUOTED: Final = re.compile(r"[“\"„«]([^“”\"„«»]{10,600})[”\"“»]|(?<!\w)[‘']([^‘]{10,600}?)[’'](?=[\s,.;)]|$)")
_AFTER_YEAR: Final = re.compile(
    r"\((?:1[89]|20)[0-9]{2}[a-z]?\) (?=[^\W\d_])"
    r"|\(?\b(?:1[89]|20)[0-9]{2}[a-z]?(?:,? [A-Z][a-z]{2,8}(?:[-–/][A-Z][a-z]{2,8})?\.?(?: [0-9]{1,2})?)?\)?[.,:]\s++"
)
_SENTENCE: Final = re.compile(r"(?<=[.?!])(?<!\bNos\.)(?<!\bNo\.)[”\"’']?\s++(?=[\[“\"‘'(]?[^\W_])")
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
_LABEL: Final = re.compile(r",? ?\b(?:vol(?:ume)?|bd|band|jg|tome|т|том|issue|no)\.? ?$", re.IGNORECASE)
_INITIALS: Final = r"(?:(?:[^\W\d_a-z]\.[ -]?){1,5}|[A-Z]{1,4}(?![^\W_]))"
_FAMILY: Final = r"[^\W\d_][\w'’-]*+(?: [^\W\d_][\w'’-]*+){0,3}?"
_PERSON: Final = re.compile(
    rf"(?:and |& )?(?:{_INITIALS} ?{_FAMILY}|{_FAMILY} {_INITIALS})(?: (?:Jr|Sr|I{{2,3}})\.?)?|et al\.?"
)
_INITIALS_AND_FAMILY: Final = re.compile(
    rf"(?:[^\W\d_a-z]\.[ -]?){{1,5}} ?(?P<family>{_FAMILY})(?=,| and | & |\s+et al)"
)
_INITIAL: Final = re.compile(r"(?<![^\W\d_])[^\W\d_a-z]{1,3}(?![^\W_])")
_CAPITALS: Final = re.compile(r"(?<![^\W_])(?:[^\W\d_a-z]{4,}|BY|FOR|IN|OF|ON|THE|TO)(?![^\W_])")
_NAMES_END: Final = re.compile(r"(?<![^\W_])[^\W\d_a-z]\.,? (?=\S)")
"""The last initial of an author."""
_AUTHORS_MARK: Final = re.compile(
    r"[^:—]{2,2000}?(?:(?<![^\W_])[^\W\d_a-z]{1,4}\.{0,2}|\b(?:al|coll|u\. ?a|others)\.{0,2},?)(?::| [—–]) ++"
    r"|[^\W\d_a-z]{2}[^\W\d_a-z' -]*+, [^:—]{2,2000}?: ++"
)
"""Authors with initials or family names in capitals, and the colon or dash that separates them from the title."""
_JOURNAL_PART: Final = re.compile(r"[^\W\d_].{0,150}?[0-9]{1,4} ?\((?:1[89]|20)[0-9]{2}\)")
_JOURNAL: Final = re.compile(
    r"(?<=[.,?!\"”'’] )(?:(?<=, )(?:[^\W\d_]{1,13}\. ){1,5})?"
    r"[^\W\d_](?:[^\W\d_]|[ '’&:-]){2,100}[.,]? ?\(?(?:vol(?:ume)?\.? ?)?[0-9]{1,4}(?![0-9])",
    re.IGNORECASE,
)
"""A journal and the number after it. Only words that follow a comma can be abbreviated."""
_BEFORE_JOURNAL: Final = re.compile(
    r"^[\s.,;:”\"’'»?!]*+(?:[“„«][^“”\"„«»]{1,40}[”\"»])?[\s.,;:”\"’'»?!]*+(?:in:?\s++)?", re.IGNORECASE
)
"""What can be between a title and its journal: a short title in quotation marks, signs, and "in"."""


_YEAR_IN_PLACE: Final = r"(?P<year>(?:1[89]|20)[0-9]{2})(?![0-9])"
_BETWEEN: Final = r"[ .,;:–—-]{0,5}"
_VOLUME: Final = (
    r"(?:\b(?:vol(?:ume)?|bd|band|jg|t|tome|т|том)\.? ?)?(?<![^\W_])"
    r"(?P<volume>[0-9OlI]{1,5}(?:[-–/][0-9]{1,4}(?=[,:]))?[A-Z]?)(?![^\W_])"
    r"(?: ?\((?!(?:1[89]|20)[0-9]{2}\))[^()]{1,30}\))?"
)
_ISSUE: Final = (
    rf"(?:{_BETWEEN}(?:no|nr|iss|issue|heft|h|n°|nº|№|вып)\.? ?(?:[a-z]{{2,5}}\.? )?"
    r"[0-9]{1,4}(?:[-–/][0-9]{1,4})?)?"
)
_PAGE: Final = (
    r"(?:(?:pp?|s|с|стр|pages?|art(?:icle)?)\b\.? ?)?"
    r"(?P<page>(?:[A-Za-z]{0,4}[0-9OlI]{1,9}|[ivxl]{1,7}\b|[A-Za-z]{3}\.)(?:\.?[A-Za-z]?[0-9]{1,9}){0,3})"
)
_YEAR_VOLUME: Final = re.compile(rf"\b{_YEAR_IN_PLACE}[^;:.,()]{{0,12}}; ?{_VOLUME}(?:: ?{_PAGE})?", re.IGNORECASE)
"""2024;12(3):201-12"""
_YEAR_VOLUME_PAGE: Final = re.compile(
    rf"(?<![\w(]){_YEAR_IN_PLACE}[.,] ?[–—-]? ?{_VOLUME}{_ISSUE}{_BETWEEN}{_PAGE}", re.IGNORECASE
)
"""2024, 12(3), 201-12"""
_VOLUME_PAGE_YEAR: Final = re.compile(
    rf"{_VOLUME}{_ISSUE} ?[,:] ?{_PAGE}(?:[-–,;][^()]{{1,30}})? ?\((?:[^()]{{1,15}} )?{_YEAR_IN_PLACE}\)", re.IGNORECASE
)
"""12(3), 201-12 (2024)"""
_VOLUME_YEAR_PAGE: Final = re.compile(
    rf"{_VOLUME}{_ISSUE},? ?\({_YEAR_IN_PLACE}\){_ISSUE}{_BETWEEN}{_PAGE}", re.IGNORECASE
)
"""12(3) (2024) 201-12"""
_DATED_PLACES: Final = (_YEAR_VOLUME, _YEAR_VOLUME_PAGE, _VOLUME_PAGE_YEAR, _VOLUME_YEAR_PAGE)
_ABBREVIATION: Final = re.compile(r"[^\W\d_a-z](?:[^\W\d_]{0,12}[a-z])?\.")
_DIVIDER: Final = re.compile(r"(?:[,;]| //) ")
_OTHERS: Final = re.compile(r"\bal\b\.?,? ")
_LEADING_INITIAL: Final = re.compile(r"[^\W\d_a-z]\.[ -]?")
MAX_PLACES: Final = 5
_NARROW: Final = str.maketrans(
    {
        "：": ": ",
        "．": ". ",
        "，": ", ",
        "；": "; ",
        "、": ", ",
        "。": ". ",
        "（": "(",
        "）": ")",
        "［": "[",
        "］": "]",
        "〜": "-",
        "～": "-",
    }
)
_WIDE: Final = re.compile(f"[{''.join(map(chr, _NARROW))}]")
_NO_SPACE: Final = re.compile(r"(?<=[a-z0-9)\]?])\.(?=[A-Z][A-Za-z]* )")
"""A full stop before a journal, without a space."""


@dataclass(frozen=True, slots=True)
class JournalPlace:
    """A journal with the year, volume and first page of an article."""

    journal: str
    year: str
    volume: str
    page: str | None


@dataclass(frozen=True, slots=True)
class Guess:
    """The parts guessed from a text: titles and places (the most likely first), the first author and the year."""

    titles: tuple[str, ...] = ()
    author: str | None = None
    year: str | None = None
    places: tuple[JournalPlace, ...] = ()


def _find_dated_place(text: str) -> re.Match[str] | None:
    """Return the last place in a text that has a year."""
    matches = [match for pattern in _DATED_PLACES for match in pattern.finditer(text)]
    return max(matches, key=lambda match: match.start(), default=None)


def _yield_places_before(text: str, place: re.Match[str]) -> Iterator[JournalPlace]:
    """Yield the place with each possible journal name before it, the most likely first."""
    head = text[: place.start()].strip(" .,:;–—")
    names = dict.fromkeys(_BEFORE_JOURNAL.sub("", name).strip(" .,:;") for name in _yield_journals_at_end(head))
    for name in [name for name in names if name and len(name.split()) <= MAX_JOURNAL_WORDS][:MAX_PLACES]:
        yield JournalPlace(name, place["year"], place["volume"], place["page"])


def _yield_journals_at_end(head: str) -> Iterator[str]:
    """Yield the ends of a text that can be the name of a journal.

    A journal follows the last comma or "et al". Initials after a comma may belong to the last author. A full stop
    ends a sentence or an abbreviation. The name of a journal can contain abbreviations, but not the end of a sentence.
    """
    words = head.split()
    ends = [n for n in range(len(words) - 1) if words[n][-1] in ".?!"]
    sentence = max((n for n in ends if not _ABBREVIATION.fullmatch(words[n])), default=-1) + 1
    tail = " ".join(words[sentence:])
    if others := list(_OTHERS.finditer(tail)):
        yield tail[others[-1].end() :]
    if dividers := list(_DIVIDER.finditer(tail)):
        yield (name := tail[dividers[-1].end() :])
        while match := _LEADING_INITIAL.match(name):
            yield (name := name[match.end() :])
    for start in (sentence, *(n + 1 for n in ends if n >= sentence)):
        yield " ".join(words[start:])
    parts = tail.split(", ")
    if persons := [n for n, part in enumerate(parts[:-1], start=1) if _PERSON.fullmatch(part)]:
        yield ", ".join(parts[persons[-1] :])


def _find_first_author(text: str) -> str | None:
    """Return the family name at the start of a text, before or after initials."""
    if match := _INITIALS_AND_FAMILY.match(text):
        return match["family"]
    return match[0] if (match := _FIRST_AUTHOR.match(text)) else None


def convert_wide_signs(text: str) -> str:
    """Convert the wide punctuation of Chinese and Japanese lists, and add the space that such lists omit."""
    if _WIDE.search(text) is None:
        return text
    return _NO_SPACE.sub(". ", text.translate(_NARROW))


def guess_parts(text: str) -> Guess:
    """Guess the parts of a reference."""
    text = remove_additions(convert_wide_signs(text))
    plain = " ".join(VISITED.sub(" ", _ADDRESS.sub(" ", DOCUMENT_TYPE.sub("", text))).split())
    dated = _find_dated_place(plain)
    candidates = dict.fromkeys(part for title in _yield_titles(plain) for part in _split_translation(title))
    # A title does not contain the place.
    titles = tuple(title for title in candidates if dated is None or dated[0] not in title)[:MAX_TITLES]
    years = YEAR.findall(plain)
    journal, place = _guess_journal_and_place(plain, titles)
    year = years[0] if years else None
    places = [JournalPlace(journal, year, place["volume"], place["page"])] if journal and year and place else []
    places = [place for place in places if place.volume != place.year]
    places += _yield_places_before(plain, dated) if dated is not None else ()
    return Guess(titles, _find_first_author(plain), year, tuple(dict.fromkeys(places)))


def _guess_journal_and_place(text: str, titles: Sequence[str]) -> tuple[str | None, re.Match[str] | None]:
    """Guess the journal and the place that follow the title.

    A reply or a comment may share its title with other articles, so only the place identifies it.
    """
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


def _yield_titles(text: str) -> Iterator[str]:
    """Yield possible titles: text in quotes, text after a year, then the sentences that look least like names."""
    for inside in _BRACKETS.findall(text):
        if len(inside.split()) > MIN_TITLE_WORDS:
            yield inside.strip(" .")
    for match in _QUOTED.finditer(text):
        quoted = (match[1] or match[2]).strip(" .,")
        if _is_long_enough(quoted):
            yield quoted
    begin, end = min(text.find(mark) % (len(text) + 1) for mark in '“"'), max(text.rfind(mark) for mark in '”"')
    if _is_long_enough(quoted := text[begin + 1 : end].strip(" .,")):  # with a quotation in it
        yield quoted
    if title := _find_title_at_mark(text):
        yield title
    if title := _find_title_after_names(text):
        yield title
    after_year = ""
    if year := _AFTER_YEAR.search(text[: len(text) // 2 + 40]):
        sentence = _SENTENCE.split(text[year.end() :], maxsplit=1)[0].strip(" .,;“”\"‘’'")
        after_year = sentence if _is_long_enough(sentence) else ""
        if _score_prose(after_year) > 0:
            yield after_year
    sentences = [part.strip(" .,;“”\"‘’'") for part in _SENTENCE.split(text)]
    sentences = [part for part in sentences if _is_long_enough(part)]
    # A journal and its place contain digits. Names contain neither lower-case words nor long words.
    yield from sorted((part for part in sentences if _score_prose(part) > 0), key=lambda part: -_score_prose(part))
    if after_year:
        yield after_year
    yield from (part for part in sentences if _score_prose(part) <= 0 and not _INITIAL.search(part))


def _find_title_at_mark(text: str) -> str | None:
    """Return a title separated by a mark: a colon or a dash after the names, or two slashes before the journal."""
    head, slashes, _ = text.partition(" // ")
    if slashes:
        names = list(_NAMES_END.finditer(head))
        return head[names[-1].end() :].strip(" .,") if names else head
    mark = _AUTHORS_MARK.match(text)
    if mark is None:
        return None
    return _SENTENCE.split(text[mark.end() :], maxsplit=1)[0].strip(' .,“”"')


def _find_title_after_names(text: str) -> str | None:
    """Return the text between names with initials and a journal, if all are separated by commas only."""
    parts = text.split(", ")
    persons = [bool(_PERSON.fullmatch(part)) for part in parts]
    first = next((n for n in range(1, len(parts)) if persons[n - 1] and not persons[n]), 0)
    last = next((n for n in range(first + 1, len(parts)) if _JOURNAL_PART.match(parts[n])), None)
    return ", ".join(parts[first:last]) if first and last else None


def _split_translation(title: str) -> Iterator[str]:
    """Yield a title and its translation separately. Other words in brackets are the type of the work."""
    inside = [part.strip(" .") for part in _BRACKETS.findall(title)]
    outside = " ".join(_BRACKETS.sub(" ", title).split()).strip(" .,;")
    if _is_long_enough(outside):
        yield outside
    yield from (part for part in inside if len(part.split()) > MIN_TITLE_WORDS)
    if (
        "," in outside
        and (longest := max(outside.split(", "), key=_score_prose)) != outside
        and _score_prose(longest) > 2
    ):
        yield longest  # names and title are separated by commas only


def _is_long_enough(text: str) -> bool:
    return MIN_TITLE_WORDS <= len(text.split()) <= MAX_TITLE_WORDS


def _score_prose(text: str) -> float:
    """Return a score of a text as a title: lower-case words raise it, initials and numbers lower it."""
    if text.isupper() and len(_CAPITALS.findall(text)) > MIN_TITLE_WORDS:
        text = text.lower()
    words = re.findall(r"[^\W_]+(?:[-'’][^\W_]+)*", text)
    small = sum(word[:1].islower() and len(word) > 1 for word in words)
    long = sum(word[:1].isupper() and len(word) > 3 and not word.isupper() for word in words)
    initials = sum(word.isupper() and len(word) <= 3 for word in words)
    numbers = sum(word[:1].isdigit() for word in words)
    return float(small + long / 4 - initials * 1.5 - numbers)

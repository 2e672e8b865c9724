"""The index of generated records. It combines sets of choices and renders no records.

The index computes once which terms each value of a choice adds; a record has a word if one of its choices adds that
word. Words that also depend on a second choice have a condition: headings need the status MEDLINE, and words of the
abstract need an abstract.
"""

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Final

from entrez_kit.sandbox import bits, dates, vocabulary
from entrez_kit.sandbox.fields import LANGUAGES
from entrez_kit.sandbox.index import SearchIndex, has_phrase
from entrez_kit.sandbox.render import (
    COUNTRY,
    PLACEHOLDER,
    STATUSES,
    TITLE,
    Choices,
    Timing,
    abstract_parts,
    list_types,
    phrase,
    published_number,
)
from entrez_kit.sandbox.terms import STATUS_FILTERS, Terms
from entrez_kit.sandbox.text import fold, normalize, words

CONDITIONS: Final[Mapping[str, tuple[str, int]]] = {
    "medline": ("status", 0),
    "plain": ("abstract", 1),
    "labelled": ("abstract", 2),
}
"""Conditions by name: a choice and its required value."""
ABSTRACTS: Final = ((1, "plain"), (2, "labelled"))
FULL_TEXT: Final = ("free full text", "loattrfree full text", "pubmed pmc", "full text", "loattrfull text")
Where = tuple[str, str, int]
"""A condition ("" for none), a choice and one of its values."""


class GeneratedIndex(SearchIndex):
    """Sets of generated records.

    Args:
        size: number of records.
        column: one choice for all records, one byte per record.
        choices: all choices of one record.
        timing: the choices of one record that determine its dates.
        teams: the author lists; the choice ``team`` is an index in them.
        ranges: the number of values of each choice.
    """

    def __init__(
        self,
        size: int,
        column: Callable[[str], bytes],
        choices: Callable[[int], Choices],
        timing: Callable[[int], Timing],
        teams: Sequence[Sequence[tuple[int, int]]],
        ranges: Mapping[str, int],
    ) -> None:
        self.size = size
        self._column = column
        self._choices = choices
        self._timing = timing
        self._teams = teams
        self._ranges = ranges
        self._words: dict[str, dict[str, list[Where]]] = {}
        self._values: dict[str, dict[str, list[Where]]] = {}
        self._pieces: dict[str, list[tuple[Where, Sequence[Sequence[str]]]]] = {}
        for where, terms in self._list_contributions():
            for source, pieces in terms.texts.items():
                self._pieces.setdefault(source, []).append((where, pieces))
                for word in {word for piece in pieces for word in piece}:
                    self._words.setdefault(source, {}).setdefault(word, []).append(where)
            for source, values in terms.values.items():
                for value in values:
                    self._values.setdefault(source, {}).setdefault(value, []).append(where)
        self._word_sets: Callable[[str, str], int] = lru_cache(maxsize=512)(self._find_word)
        self._value_sets: Callable[[str, str], int] = lru_cache(maxsize=512)(self._find_value)

    # terms of the choices

    def _list_contributions(self) -> Iterator[tuple[Where, Terms]]:
        yield ("", "", 0), self._build_common_terms()
        for name, count in self._ranges.items():
            for value in range(count):
                for condition in ("", *CONDITIONS):
                    terms = Terms()
                    self._contribute(terms, name, value, condition)
                    if terms.texts or terms.values:
                        yield (condition, name, value), terms

    def _build_common_terms(self) -> Terms:
        terms = Terms()
        terms.add_text("title", *(part for part in TITLE if "{" not in part))
        terms.add_value("country", COUNTRY)
        terms.add_value("filter", "all")
        return terms

    def _contribute(self, terms: Terms, name: str, value: int, condition: str) -> None:
        if condition in ("plain", "labelled"):
            for kind, needed in ABSTRACTS:
                if needed == condition and _is_used(name, kind):
                    terms.add_text("abstract", _strip_markup(phrase(name, value)))
        elif condition == "medline":
            for heading, major in _list_headings(name, value):
                terms.add_text("mesh", heading)
                terms.add_value("mesh", heading)
                if major:
                    terms.add_value("majr", heading)
                if heading in ("Humans", "Animals", "Female", "Male"):
                    terms.add_value("filter", heading)
        else:
            if name in ("topic", "method", "population", "design"):
                terms.add_text("title", _strip_markup(phrase(name, value)))
            contribute = _CONTRIBUTORS.get(name)
            if contribute is not None:
                contribute(terms, value)
            elif name == "team":
                _add_team(terms, self._teams[value])

    # sets

    def _combine(self, places: Sequence[Where]) -> int:
        """Return the records that have any of these choices and fulfil its condition."""
        by_choice: dict[tuple[str, str], set[int]] = {}
        for condition, name, value in places:
            by_choice.setdefault((condition, name), set()).add(value)
        found = 0
        for (condition, name), values in by_choice.items():
            some = self._find_choice(name, values) if name else self.everything
            if condition:
                needed, value = CONDITIONS[condition]
                some &= self._find_choice(needed, {value})
            found |= some
        return found

    def _find_choice(self, name: str, values: Collection[int]) -> int:
        table = bytes(49 if value in values else 48 for value in range(256))
        return bits.from_flags(self._column(name).translate(table))

    def _find_word(self, source: str, word: str) -> int:
        found = self._combine(self._words.get(source, {}).get(word, ()))
        if source in ("title", "ids"):
            found |= self._find_number(word)
        if source == "ids" and word.startswith("pmc"):
            found |= self._find_number(word.removeprefix("pmc")) & self._find_choice("pmc", {1})
        return found

    def _find_number(self, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 12) or not self.size:
            return 0
        number = int(text) - int(self._choices(0).pmid)
        return 1 << number if 0 <= number < self.size else 0

    def word(self, source: str, word: str) -> int:
        """Return the records with this folded word in a word list."""
        return self._word_sets(source, word)

    def known_words(self, source: str) -> Collection[str]:
        """Return the words of a word list; numbers of single records are omitted."""
        return self._words.get(source, {}).keys()

    def _find_value(self, source: str, value: str) -> int:
        if source == "pmid":
            return self._find_number(value)
        if source in ("aid", "lid"):
            start, _, rest = value.rpartition("invented.")
            if start == "10.5555/":
                return self._find_number(rest) & self._find_choice("doi", {1})
            if source == "aid" and value.startswith("pmc"):
                return self._find_number(value.removeprefix("pmc")) & self._find_choice("pmc", {1})
            return 0
        if source in ("volume", "issue", "page"):
            return bits.from_numbers(self._details.get((source, value), ()), self.size)
        return self._combine(self._values.get(source, {}).get(value, ()))

    def value(self, source: str, value: str) -> int:
        """Return the records with exactly this value."""
        return self._value_sets(source, value)

    def known_values(self, source: str) -> Collection[str]:
        """Return the values of a value list; identifiers and page numbers are omitted."""
        return self._values.get(source, {}).keys()

    @cached_property
    def _details(self) -> "dict[tuple[str, str], array[int]]":
        """Volume, issue and pages of every record; built only for a search by citation."""
        found: dict[tuple[str, str], array[int]] = {}
        for number in range(self.size):
            choices = self._choices(number)
            first = choices.pages.split("-")[0]
            for key in (
                ("volume", choices.volume),
                ("issue", choices.issue),
                ("page", first),
                ("page", normalize(choices.pages)),
            ):
                found.setdefault(key, array("I")).append(number)
        return found

    def certain(self, source: str, phrase: Sequence[str]) -> int:
        """Return the records where one choice adds the whole phrase."""
        return self._combine([where for where, pieces in self._pieces.get(source, ()) if has_phrase(pieces, phrase)])

    def pieces(self, number: int, source: str) -> Sequence[Sequence[str]]:
        """Return the words of one record, piece by piece."""
        choices = self._choices(number)
        if source == "title":
            return [_split_parts(TITLE, choices)]
        if source == "abstract":
            found = []
            for label, parts in abstract_parts(choices.abstract):
                found += [words(label)] if label else []
                found.append(_split_parts(parts, choices))
            return found
        return self._other_pieces(choices, self._column("team")[number]).get(source, ())

    def _other_pieces(self, choices: Choices, team: int) -> Mapping[str, Sequence[Sequence[str]]]:
        terms = Terms()
        for name in self._ranges:
            value = team if name == "team" else getattr(choices, name)
            for condition in ("", *(("medline",) if choices.status == 0 else ())):
                self._contribute(terms, name, value, condition)
        doi = [words(choices.doi_name)] if choices.doi else []
        pmc = [words(choices.pmcid)] if choices.pmc else []
        return {**terms.texts, "ids": [[choices.pmid], *pmc, *doi]}

    # dates and order

    @lru_cache(maxsize=16)  # noqa: B019 - an index lives as long as its sandbox
    def _get_dates(self, source: str) -> "array[int]":
        return array("I", (_get_date(source, self._timing(number)) for number in range(self.size)))

    def between(self, source: str, low: int, high: int) -> int:
        """Return the records with a date in this range, bounds included."""
        if source == "uid":
            first = int(self._choices(0).pmid) if self.size else 0
            start, end = max(low - first, 0), min(high - first, self.size - 1)
            return bits.fill(end + 1) & ~bits.fill(start) if start <= end else 0
        found = 0
        for column in ("ppdat", "epdat") if source == "pdat" else (source,):
            found |= bits.from_flags(bytes(49 if low <= day <= high and day else 48 for day in self._get_dates(column)))
        return found

    def rank(self, numbers: Sequence[int], order: str) -> list[int]:
        """Return record numbers in the requested order; ties are sorted by descending PMID."""
        newest = sorted(numbers, reverse=True)
        if order == "pub_date":
            days = self._get_dates("ppdat")
            return sorted(newest, key=lambda number: -days[number])
        if order == "Author":
            firsts = [fold(_list_names(team)[0][0]) for team in self._teams]
            column = self._column("team")
            return sorted(newest, key=lambda number: firsts[column[number]])
        if order == "JournalName":
            names = [normalize(journal.abbreviation) for journal in vocabulary.JOURNALS]
            column = self._column("journal")
            return sorted(newest, key=lambda number: names[column[number]])
        return newest


def _is_used(name: str, kind: int) -> bool:
    """Return whether abstracts of a kind contain the text of a choice."""
    return any(f"{{{name}}}" in part for _, parts in abstract_parts(kind) for part in parts)


def _strip_markup(text: str) -> str:
    """Return XML text without its tags and escapes."""
    text = text.replace("<i>", "").replace("</i>", "")
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


@lru_cache(maxsize=1024)
def _split_phrase(name: str, value: int) -> tuple[str, ...]:
    return tuple(words(_strip_markup(phrase(name, value))))


@lru_cache(maxsize=256)
def _split_fixed(part: str) -> tuple[str, ...]:
    return tuple(words(part))


def _split_parts(parts: Sequence[str], choices: Choices) -> list[str]:
    found: list[str] = []
    for part in parts:
        name = PLACEHOLDER.search(part)
        if name is None:
            found += _split_fixed(part)
        elif name.group(1) == "pmid":
            found.append(choices.pmid)
        else:
            found += _split_phrase(name.group(1), getattr(choices, name.group(1)))
    return found


def _list_headings(name: str, value: int) -> list[tuple[str, bool]]:
    if name == "topic":
        return [(vocabulary.TOPICS[value].heading, True)]
    if name == "method":
        return [(vocabulary.METHODS[value].heading, False)]
    if name == "population":
        return [(heading, False) for heading, _ in vocabulary.POPULATIONS[value].headings]
    return []


def _add_design(terms: Terms, value: int) -> None:
    names = [name for name, _ in list_types(value, 0)]
    terms.add_text("ptype", *names)
    terms.add_value("ptype", *names)
    terms.add_value("filter", *names)


def _add_correction(terms: Terms, value: int) -> None:
    if value == 1:
        terms.add_text("ptype", "Retracted Publication")
        terms.add_value("ptype", "Retracted Publication")
        terms.add_value("filter", "Retracted Publication")


def _add_journal(terms: Terms, value: int) -> None:
    journal = vocabulary.JOURNALS[value]
    terms.add_text("journal", journal.title, journal.abbreviation)
    terms.add_value("journal", *journal)


def _add_keyword(terms: Terms, value: int) -> None:
    if value:
        terms.add_text("keyword", *vocabulary.KEYWORDS[value - 1])


def _add_grant(terms: Terms, value: int) -> None:
    if value:
        terms.add_text("grant", "/".join(filter(None, vocabulary.GRANTS[value - 1])))


def _add_language(terms: Terms, value: int) -> None:
    code, vernacular = vocabulary.LANGUAGES[value]
    terms.add_text("vernacular", vernacular)
    terms.add_value("language", code, LANGUAGES[code])
    terms.add_value("filter", LANGUAGES[code])


def _add_abstract(terms: Terms, value: int) -> None:
    for label, parts in abstract_parts(value):
        terms.add_text("abstract", label, *(part for part in parts if "{" not in part))
    if value:
        terms.add_value("filter", "hasabstract", "has abstract", "abstract")


def _add_status(terms: Terms, value: int) -> None:
    terms.add_value("filter", STATUS_FILTERS[STATUSES[value]])


def _add_pmc(terms: Terms, value: int) -> None:
    if value:
        terms.add_value("filter", *FULL_TEXT)


def _add_doi(terms: Terms, value: int) -> None:
    if value:
        terms.add_value("filter", "full text", "loattrfull text")
        terms.add_text("ids", "10.5555/invented")


_CONTRIBUTORS: Final[Mapping[str, Callable[[Terms, int], None]]] = {
    "design": _add_design,
    "correction": _add_correction,
    "journal": _add_journal,
    "keyword": _add_keyword,
    "grant": _add_grant,
    "language": _add_language,
    "abstract": _add_abstract,
    "status": _add_status,
    "pmc": _add_pmc,
    "doi": _add_doi,
}


def _list_names(team: Sequence[tuple[int, int]]) -> list[tuple[str, str]]:
    """Return the short and the full name of each author of a team; a group has only a short name."""
    found = []
    for surname, forename in team:
        if forename < 0:
            found.append((vocabulary.GROUPS[surname], ""))
        else:
            fore, initials = vocabulary.FORENAMES[forename]
            last = vocabulary.SURNAMES[surname]
            found.append((f"{last} {initials}", f"{last}, {fore}"))
    return found


def _add_team(terms: Terms, team: Sequence[tuple[int, int]]) -> None:
    names = _list_names(team)
    for source, some in (("author", names), ("first_author", names[:1]), ("last_author", names[-1:])):
        terms.add_names(source, some)
    terms.add_value("full_author", *(full for _, full in names))
    terms.add_text("author", *(name for pair in names for name in pair))
    for place, (surname, forename) in enumerate(team):
        if forename < 0:
            terms.add_value("group", vocabulary.GROUPS[surname])
            continue
        terms.add_text("affiliation", vocabulary.PLACES[(surname + forename) % len(vocabulary.PLACES)])
        if place == 0:
            terms.add_exact("auid", f"0000-0009-{surname:04}-{forename:04}")


def _get_date(source: str, choices: Timing) -> int:
    """Return one of the dates of a record as yyyymmdd, 0 if it has none."""
    if source == "ppdat":
        return published_number(choices)
    if source == "epdat":
        return dates.to_number(choices.published_online) if choices.published_online else 0
    if source == "cdat":
        return dates.to_number(choices.completed) if choices.completed else 0
    if source == "mhda":
        return dates.to_number(choices.completed or choices.entered)
    if source == "mdat":
        return dates.to_number(choices.revised)
    return dates.to_number(choices.entered)

"""The index of generated records. It combines sets of choices and renders no records.

The index computes once which terms each value of a choice adds; a record has a word if one of its choices adds that
word. Words that also depend on a second choice have a condition: headings need the status MEDLINE, and words of the
abstract need an abstract.
"""

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import compress
from typing import Final

from pyroaring import BitMap

from entrez_kit.local.records.terms import LINKOUT_FILTERS
from entrez_kit.query.dates import to_number
from entrez_kit.query.fields import LANGUAGES
from entrez_kit.query.filters import STATUS_FILTERS
from entrez_kit.query.index import PrefixSearch, RecordTerms, find_positions
from entrez_kit.query.sorted_index import SortedIndex
from entrez_kit.query.words import fold, normalize, split_words
from entrez_kit.sandbox import vocabulary
from entrez_kit.sandbox.render import (
    COUNTRY,
    NOTICE,
    PAGES,
    PLACEHOLDER,
    STATUSES,
    TITLE,
    Choices,
    Timing,
    abstract_parts,
    list_types,
    phrase,
    published_number,
    to_volume,
)

CONDITIONS: Final[Mapping[str, tuple[str, int]]] = {
    "medline": ("status", 0),
    "plain": ("abstract", 1),
    "labelled": ("abstract", 2),
}
"""Conditions by name: a choice and its required value."""
LABELLED_ABSTRACT: Final = 2
ABSTRACTS: Final = ((1, "plain"), (LABELLED_ABSTRACT, "labelled"))
DETAILS: Final = frozenset(("volume", "issue", "page"))
"""Word lists and value lists that are computed from the number of a record."""
Where = tuple[str, str, int]
"""A condition ("" for none), a choice and one of its values."""


class GeneratedIndex(SortedIndex):
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
        self._prefixes = PrefixSearch()
        self._words: dict[str, dict[str, list[Where]]] = {}
        self._values: dict[str, dict[str, list[Where]]] = {}
        self._texts: dict[str, list[tuple[Where, str]]] = {}
        for where, terms in self._list_contributions():
            for source, pieces in terms.texts.items():
                self._texts.setdefault(source, []).extend((where, f" {' '.join(piece)} ") for piece in pieces)
                for word in {word for piece in pieces for word in piece}:
                    self._words.setdefault(source, {}).setdefault(word, []).append(where)
            for source, values in terms.values.items():
                for value in values:
                    self._values.setdefault(source, {}).setdefault(value, []).append(where)
        self._postings: Callable[[str, str], BitMap] = lru_cache(maxsize=512)(self._find_postings)
        self._value_sets: Callable[[str, str], BitMap] = lru_cache(maxsize=512)(self._find_value)

    # terms of the choices

    def _list_contributions(self) -> Iterator[tuple[Where, RecordTerms]]:
        yield ("", "", 0), self._build_common_terms()
        for name, count in self._ranges.items():
            for value in range(count):
                for condition in ("", *CONDITIONS):
                    terms = RecordTerms()
                    self._contribute(terms, name, value, condition)
                    if terms.texts or terms.values:
                        yield (condition, name, value), terms

    def _build_common_terms(self) -> RecordTerms:
        terms = RecordTerms()
        terms.add_text("title", *(part for part in TITLE if "{" not in part))
        terms.add_value("country", COUNTRY)
        terms.add_value("filter", "all")
        return terms

    def _contribute(self, terms: RecordTerms, name: str, value: int, condition: str) -> None:
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
            if name == "abstract" and value == LABELLED_ABSTRACT:
                terms.add_value("filter", "hasstructuredabstract")
        else:
            if name in ("topic", "method", "population", "design"):
                terms.add_text("title", _strip_markup(phrase(name, value)))
            contribute = _CONTRIBUTORS.get(name)
            if contribute is not None:
                contribute(terms, value)
            elif name == "team":
                _add_team(terms, self._teams[value])

    # sets

    def _combine(self, places: Sequence[Where]) -> BitMap:
        """Return the records that have any of these choices and fulfil its condition."""
        by_choice: dict[tuple[str, str], set[int]] = {}
        for condition, name, value in places:
            by_choice.setdefault((condition, name), set()).add(value)
        found = BitMap()
        for (condition, name), values in by_choice.items():
            some = self._find_choice(name, frozenset(values)) if name else BitMap(range(self.size))
            if condition:
                needed, value = CONDITIONS[condition]
                some &= self._find_choice(needed, frozenset((value,)))
            found |= some
        return found

    def _find_choice(self, name: str, values: frozenset[int]) -> BitMap:
        table = bytes(value in values for value in range(256))
        return BitMap(array("I", compress(range(self.size), self._column(name).translate(table))))

    def _find_number(self, text: str) -> BitMap:
        """Return the record with this PMID."""
        if not (text.isascii() and text.isdigit() and len(text) < 12) or not self.size:
            return BitMap()
        number = int(text) - self._first
        return BitMap((number,)) if 0 <= number < self.size else BitMap()

    @cached_property
    def _first(self) -> int:
        return int(self._choices(0).pmid) if self.size else 0

    def _find_page(self, text: str) -> BitMap:
        """Return the records whose first page this is; pages follow from the PMID."""
        if not (text.isascii() and text.isdigit() and len(text) < 4):
            return BitMap()
        return BitMap(range((int(text) - 1 - self._first) % PAGES, self.size, PAGES)) if int(text) else BitMap()

    def _find_issue(self, source: str, text: str) -> BitMap:
        return BitMap(self._issues.get((source, text), ()))

    @cached_property
    def _issues(self) -> "dict[tuple[str, str], array[int]]":
        """Volume and issue of every record; built only for a search by citation or number."""
        found: dict[tuple[str, str], array[int]] = {}
        for number in range(self.size):
            published = self._timing(number).published
            for key in (("volume", to_volume(published)), ("issue", str(published.month))):
                found.setdefault(key, array("I")).append(number)
        return found

    def _find_detail(self, source: str, text: str) -> BitMap:
        return self._find_page(text) if source == "page" else self._find_issue(source, text)

    def _find_postings(self, source: str, word: str) -> BitMap:
        if source in DETAILS:
            return self._find_detail(source, word) if word.isdigit() else BitMap()
        found = self._combine(self._words.get(source, {}).get(word, ()))
        if source in ("title", "ids"):
            found |= self._find_number(word)
        if source == "ids" and word.startswith("pmc"):
            found |= self._find_number(word.removeprefix("pmc")) & self._find_choice("pmc", frozenset((1,)))
        return found

    def postings(self, source: str, word: str) -> BitMap:
        """Return the records with this folded word in a word list."""
        return BitMap(self._postings(source, word))

    def words(self, source: str, prefix: str = "") -> Collection[str]:
        """Return the words of a word list that begin with a prefix; numbers of single records are omitted."""
        return self._prefixes.find("words", source, self._words.get(source, {}).keys(), prefix)

    def _find_value(self, source: str, value: str) -> BitMap:
        if source == "pmid":
            return self._find_number(value)
        if source in ("aid", "lid"):
            start, _, rest = value.rpartition("invented.")
            if start == "10.5555/":
                return self._find_number(rest) & self._find_choice("doi", frozenset((1,)))
            if source == "aid" and value.startswith("pmc"):
                return self._find_number(value.removeprefix("pmc")) & self._find_choice("pmc", frozenset((1,)))
            return BitMap()
        if source in DETAILS:
            return self._find_detail(source, value)
        return self._combine(self._values.get(source, {}).get(value, ()))

    def values(self, source: str, value: str) -> BitMap:
        """Return the records with exactly this value."""
        return BitMap(self._value_sets(source, value))

    def known_values(self, source: str, prefix: str = "") -> Collection[str]:
        """Return the values of a value list that begin with a prefix; identifiers and page numbers are omitted."""
        return self._prefixes.find("values", source, self._values.get(source, {}).keys(), prefix)

    def known_phrase(self, source: str, words: Sequence[str]) -> BitMap:
        """Return the records where one choice adds the whole phrase."""
        phrase = f" {' '.join(words)} "
        return self._combine([where for where, text in self._texts.get(source, ()) if phrase in text])

    def positions(
        self, source: str, words: Sequence[str], records: BitMap
    ) -> Iterator[tuple[int, Sequence[Sequence[int]]]]:
        """Yield each of these records with the ascending positions of each word in a word list."""
        for number in records:
            yield number, find_positions(self._pieces(number, source), words)

    def _pieces(self, number: int, source: str) -> Sequence[Sequence[str]]:
        """Return the words of each value of one record."""
        choices = self._choices(number)
        if source == "title":
            return [_split_parts(TITLE, choices)]
        if source == "abstract":
            found: list[str] = []
            for label, parts in abstract_parts(choices.abstract):
                found += [*split_words(label), *_split_parts(parts, choices)]
            return [found]
        if source == "ids":
            doi = [split_words(choices.doi_name)] if choices.doi else []
            return [[choices.pmid], *([split_words(choices.pmcid)] if choices.pmc else []), *doi]
        terms = RecordTerms()
        for name in self._ranges:
            value = self._column("team")[number] if name == "team" else getattr(choices, name)
            for condition in ("", *(("medline",) if choices.status == 0 else ())):
                self._contribute(terms, name, value, condition)
        return terms.texts.get(source, ())

    # dates and order

    @lru_cache(maxsize=16)  # noqa: B019 - an index lives as long as its sandbox
    def _get_dates(self, column: str) -> "array[int]":
        return array("I", (_get_date(column, self._timing(number)) for number in range(self.size)))

    def between(self, column: str, low: int, high: int) -> BitMap:
        """Return the records with a number in this range, bounds included."""
        if column == "uid":
            start, end = max(low - self._first, 0), min(high - self._first, self.size - 1)
            return BitMap(range(start, end + 1)) if start <= end else BitMap()
        found = BitMap()
        for one in {"pdat": ("ppdat", "epdat"), "pdat_single": ("ppdat", "earlier")}.get(column, (column,)):
            days = enumerate(self._get_dates(one))
            found.update(array("I", (number for number, day in days if low <= day <= high and day)))
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
    return tuple(split_words(_strip_markup(phrase(name, value))))


@lru_cache(maxsize=256)
def _split_fixed(part: str) -> tuple[str, ...]:
    return tuple(split_words(part))


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


def _add_design(terms: RecordTerms, value: int) -> None:
    names = [name for name, _ in list_types(value, 0)]
    terms.add_text("ptype", *names)
    terms.add_value("ptype", *names)
    terms.add_value("filter", *names)


def _add_correction(terms: RecordTerms, value: int) -> None:
    if value == 1:
        terms.add_text("ptype", "Retracted Publication")
        terms.add_value("ptype", "Retracted Publication")
        terms.add_value("filter", "Retracted Publication")
    if value:
        terms.add_value("filter", "hasretractionin" if value == 1 else "haserratumin")
        terms.add_text("note", NOTICE)


def _add_journal(terms: RecordTerms, value: int) -> None:
    journal = vocabulary.JOURNALS[value]
    terms.add_text("journal", journal.title, journal.abbreviation)
    terms.add_value("journal", *journal)
    terms.add_value("jid", journal.nlm_id)


def _add_keyword(terms: RecordTerms, value: int) -> None:
    if value:
        terms.add_text("keyword", *vocabulary.KEYWORDS[value - 1])
        terms.add_value("filter", "haskeyword")


def _add_grant(terms: RecordTerms, value: int) -> None:
    if value:
        terms.add_text("grant", *vocabulary.GRANTS[value - 1])


def _add_language(terms: RecordTerms, value: int) -> None:
    code, vernacular = vocabulary.LANGUAGES[value]
    terms.add_text("vernacular", vernacular)
    terms.add_value("language", code, LANGUAGES[code])
    terms.add_text("language", code, LANGUAGES[code])
    terms.add_value("filter", LANGUAGES[code])


def _add_abstract(terms: RecordTerms, value: int) -> None:
    for label, parts in abstract_parts(value):
        terms.add_text("abstract", label, *(part for part in parts if "{" not in part))
    if value:
        terms.add_value("filter", "hasabstract")


def _add_status(terms: RecordTerms, value: int) -> None:
    terms.add_value("filter", STATUS_FILTERS[STATUSES[value]])
    if STATUSES[value] == "Publisher":
        terms.add_value("filter", "pubstatusaheadofprint")


def _add_pmc(terms: RecordTerms, value: int) -> None:
    if value:
        terms.add_value("filter", "pubmed pmc", *LINKOUT_FILTERS)


def _add_doi(terms: RecordTerms, value: int) -> None:
    if value:
        terms.add_value("filter", *LINKOUT_FILTERS[2:])
        terms.add_text("ids", "10.5555/invented")


_CONTRIBUTORS: Final[Mapping[str, Callable[[RecordTerms, int], None]]] = {
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


def _add_team(terms: RecordTerms, team: Sequence[tuple[int, int]]) -> None:
    names = _list_names(team)
    personal = [name for name in names if name[1]]
    for source, some in (("author", names), ("first_author", personal[:1]), ("last_author", personal[-1:])):
        terms.add_names(source, some)
    terms.add_text("author", *(name for pair in names for name in pair))
    for place, (surname, forename) in enumerate(team):
        if forename < 0:
            terms.add_value("group", vocabulary.GROUPS[surname])
            terms.add_text("group", vocabulary.GROUPS[surname])
            continue
        terms.add_text("affiliation", vocabulary.PLACES[(surname + forename) % len(vocabulary.PLACES)])
        if place == 0:
            terms.add_exact("auid", f"0000-0009-{surname:04}-{forename:04}")


def _get_date(source: str, choices: Timing) -> int:
    """Return one of the dates of a record as yyyymmdd, 0 if it has none."""
    if source == "ppdat":
        return published_number(choices)
    if source == "epdat":
        return to_number(choices.published_online) if choices.published_online else 0
    if source == "earlier":  # the electronic date, unless it is later than the date of the issue
        online = _get_date("epdat", choices)
        return online if online <= published_number(choices) else 0
    if source == "cdat":
        return to_number(choices.completed) if choices.completed else 0
    if source == "mhda":
        return to_number(choices.completed or choices.entered)
    if source == "mdat":
        return to_number(choices.revised)
    return to_number(choices.entered)

"""Invented PubMed records by the million, as searchable terms: invented abstracts and realistic coded fields."""

import random
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from invented_abstracts import Abstract, Abstracts

from entrez_kit.query.mesh import Heading, Vocabulary
from entrez_kit.query.record_terms import RecordTerms, SortKeys
from entrez_kit.query.words import normalize, split_words

FIRST_DAY: Final = date(1975, 1, 1)
DAYS: Final = 18_600
_CHECK_TAGS: Final = ("humans", "female", "male", "adult", "middle aged", "animals", "aged", "mice", "adolescent")
_SUBHEADINGS: Final = ("metabolism", "therapy", "genetics", "diagnosis", "drug therapy", "pathology", "epidemiology")
_TYPES: Final = ("journal article", "research support non u s gov t", "review", "comparative study", "case reports")
_COUNTRIES: Final = ("united states", "england", "netherlands", "germany", "japan", "china")
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_JOURNALS: Final = 5_000
_SURNAMES: Final = 60_000
_PLACES: Final = 20_000


def read_rows(path: Path, count: int) -> Iterator[Abstract]:
    """Yield invented abstracts from a file, which is written first if it has too few."""
    known = 0
    if path.exists():
        with path.open(encoding="utf-8") as file:
            known = sum(1 for _ in file)
    if known < count:
        with path.open("a", encoding="utf-8") as file:
            for row in Abstracts().rows(count - known, known):
                file.write(f"{row.pmid}\t{row.title}\t{row.abstract}\t{row.terms}\n")
    with path.open(encoding="utf-8") as file:
        for _, line in zip(range(count), file, strict=False):
            pmid, title, abstract, terms = line.rstrip("\n").split("\t")
            yield Abstract(int(pmid), title, abstract, terms)


def find_day(number: int, size: int) -> date:
    """Return the day when a record entered PubMed."""
    return FIRST_DAY + timedelta(days=number * DAYS // size)


def add_texts(terms: RecordTerms, row: Abstract) -> None:
    """Add the words of title, abstract, headings and keywords."""
    terms.add_text("title", row.title)
    terms.add_text("abstract", row.abstract)
    headings = row.terms.split("; ")
    terms.add_text("mesh", *headings[:3])
    terms.add_text("keyword", *headings[3:])


class ScaleRecords:
    """Adds coded fields to abstracts: people, journals, headings, identifiers, dates and filters."""

    def __init__(self, size: int) -> None:
        self.size = size
        chance = random.Random(5)
        words = list(Abstracts().words)
        self._surnames = [word[:9] for word in chance.choices(words, k=_SURNAMES)]
        self._journals = [" ".join(chance.choices(words[:3000], k=3)) for _ in range(_JOURNALS)]
        self._places = [split_words(" ".join(chance.choices(words[:8000], k=14))) for _ in range(_PLACES)]

    def build(self, number: int, row: Abstract) -> tuple[RecordTerms, SortKeys]:
        """Return the terms and the sort keys of a record."""
        terms = RecordTerms()
        add_texts(terms, row)
        chance = random.Random(number)
        draw = chance.random
        people = []
        for _ in range(1 + int(8 * draw() ** 2)):
            surname = self._surnames[int(_SURNAMES ** draw()) - 1]
            given = self._surnames[int(2_000 * draw() ** 2)][:6]
            people.append((f"{surname} {given[0]}{_LETTERS[int(26 * draw())]}", f"{surname} {given}"))
        places = [self._places[int(_PLACES ** draw()) - 1] for _ in people]
        names = [name for person in people for name in person]
        terms.texts["author"] = [name.split(" ") for name in names]
        terms.texts["affiliation"] = places
        for source, some in (("author", people), ("first_author", people[:1]), ("last_author", people[-1:])):
            terms.values[source] = list(dict.fromkeys(name for short, full in some for name in (short, f"={full}")))
        which = int(_JOURNALS ** draw()) - 1
        journal = self._journals[which]
        terms.texts["journal"] = [journal.split(" "), journal.split(" ")]
        terms.values["journal"] = [journal, f"{journal} abbr", f"1234 {which}", f"{which:08}"]
        terms.values["jid"] = [f"{which:08}"]
        self._add_subjects(terms, row, chance)
        pmid = str(row.pmid)
        doi = f"10.{1000 + which}/j.{journal[:4]}.{2000 + number % 25}.{number % 12}.{row.pmid % 99_991}"
        terms.values |= {"pmid": [pmid], "aid": [doi, f"pii{pmid}"], "lid": [doi]}
        terms.texts["ids"] = [[pmid], split_words(doi), [f"pii{pmid}"]]
        for source, value in (
            ("volume", number * 90 // self.size),
            ("issue", number % 12),
            ("page", int(2000 * draw())),
        ):
            terms.values[source] = [str(value)]
            terms.texts[source] = [[str(value)]]
        terms.values["country"] = [_COUNTRIES[int(6 * draw() ** 2)]]
        terms.values["language"] = ["eng", "english"]
        terms.texts["language"] = [["eng"], ["english"]]
        day = find_day(number, self.size)
        entry = day.year * 10_000 + day.month * 100 + day.day
        earlier = day - timedelta(days=int(90 * draw()))
        published = earlier.year * 10_000 + earlier.month * 100 + earlier.day
        terms.numbers = {column: [published] for column in ("pdat", "pdat_single", "ppdat")}
        terms.numbers |= {column: [entry] for column in ("edat", "crdt", "mhda", "mdat", "cdat")}
        terms.numbers["uid"] = [row.pmid]
        return terms, SortKeys(row.pmid, published, {"author": people[0][0], "journal": journal})

    @staticmethod
    def _add_subjects(terms: RecordTerms, row: Abstract, chance: random.Random) -> None:
        draw = chance.random
        headings = [*row.terms.split("; "), *(_CHECK_TAGS[int(9 * draw() ** 2)] for _ in range(5))]
        headings = list(dict.fromkeys(headings))
        subheadings = [_SUBHEADINGS[int(7 * draw())] for _ in headings[:6]]
        terms.texts["mesh"] += [*(name.split(" ") for name in headings[3:]), *(name.split(" ") for name in subheadings)]
        terms.values["mesh"] = headings
        terms.values["majr"] = headings[:2]
        terms.values["subheading"] = list(dict.fromkeys(subheadings))
        terms.values["mesh_pair"] = [f"{name}/{sub}" for name, sub in zip(headings, subheadings, strict=False)]
        terms.values["majr_pair"] = terms.values["mesh_pair"][:2]
        types = list(dict.fromkeys((_TYPES[0], _TYPES[int(5 * draw())])))
        terms.values["ptype"] = types
        terms.texts["ptype"] = [name.split(" ") for name in types]
        filters = [
            "all",
            "medline",
            "hasabstract",
            *types,
            "english",
            *(name for name in headings if name in _CHECK_TAGS[:3]),
        ]
        terms.values["filter"] = filters


def read_vocabulary() -> Vocabulary:
    """Return invented headings: each from a word in the abstracts, in a tree of 20 branches."""
    words = list(dict.fromkeys(map(normalize, Abstracts().words)))
    headings = [
        Heading(word, (f"C{place % 20:02}.{place // 20 % 40:03}.{place // 800:03}",))
        for place, word in enumerate(words)
    ]
    tops = [Heading(f"branch {top} {middle}", (f"C{top:02}.{middle:03}",)) for top in range(20) for middle in range(40)]
    return Vocabulary([*headings, *tops, *(Heading(name, (f"M{place:02}",)) for place, name in enumerate(_CHECK_TAGS))])

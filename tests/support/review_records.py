"""Invented records of several databases: the same works with the differences that databases and exporters make.

Each work has its own words, so that two works have the same title only if a test wants it. The label of a record is
its work; a merge is right if its groups are the labels.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

_TEXT: Final = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo zy cra ble stro gli phe thu"
_SYLLABLES: Final = _TEXT.split()
_STUDIES: Final = (
    "a randomised controlled trial",
    "a cohort study",
    "a systematic review",
    "protocol of a pilot trial",
    "a case series",
    "results of a survey",
)
_FAMILIES: Final = (
    *("Müller", "O'Neill", "García-López", "van der Berg", "Smith", "Nguyễn", "Kowalski", "Wang", "Zhang", "Okafor"),
    *("Sørensen", "D'Angelo", "Ivanov", "Silva", "Yamamoto", "Dubois", "Haddad", "Kim", "Andersson", "Fischer"),
)
_GIVEN: Final = ("Anna Maria", "John", "Wei", "Fatima", "José", "Ling", "Peter J.", "Ingrid", "Amadou", "Chiara")
JOURNALS: Final = (
    ("Journal of Clinical Invention", "J Clin Invent"),
    ("Annals of Imaginary Medicine", "Ann Imag Med"),
    ("International Archives of Made-up Surgery", "Int Arch Made-up Surg"),
    ("Fictional Cardiology", "Fict Cardiol"),
    ("Zeitschrift für Erfundene Medizin", "Z Erfund Med"),
)


@dataclass(frozen=True)
class InventedRecord:
    """A record with its label."""

    work: str
    title: str
    authors: tuple[tuple[str, str], ...]
    journal: str
    year: int
    volume: str
    issue: str
    pages: str
    doi: str = ""
    pmid: str = ""
    abstract: str = ""
    kind: str = "JOUR"
    database: str = ""

    def ris(self) -> str:
        """Return the record as RIS."""
        first, _, last = self.pages.partition("-")
        fields = [
            ("TY", self.kind),
            *(("AU", f"{family}, {given}") for family, given in self.authors),
            *(("TI", self.title), ("T2", self.journal), ("PY", str(self.year)), ("VL", self.volume)),
            *(("IS", self.issue), ("SP", first), ("EP", last), ("DO", self.doi), ("AB", self.abstract)),
            *(("DB", self.database), ("AN", self.pmid if self.database == "PubMed" else "")),
        ]
        return "\n".join([*(f"{tag}  - {value}" for tag, value in fields if value), "ER  - ", ""])


def write_ris_file(records: Sequence[InventedRecord]) -> str:
    """Return records as a RIS file."""
    return "\n".join(record.ris() for record in records)


def invent_works(number: int, seed: int = 0) -> Iterator[InventedRecord]:
    """Yield complete records of different works."""
    chance = random.Random(seed)
    for n in range(number):
        words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) for _ in range(chance.randint(5, 11))]
        first = chance.randint(1, 900)
        yield InventedRecord(
            work=f"w{n}",
            title=f"{' '.join(words).capitalize()}: {chance.choice(_STUDIES)}",
            authors=tuple((chance.choice(_FAMILIES), chance.choice(_GIVEN)) for _ in range(chance.randint(1, 8))),
            journal=chance.choice(JOURNALS)[0],
            year=chance.randint(1985, 2024),
            volume=str(chance.randint(1, 120)),
            issue=str(chance.randint(1, 12)),
            pages=f"{first}-{first + chance.randint(1, 12)}",
            doi=f"10.5555/inv.{n}",
            pmid=str(90_000_000 + n),
            abstract=" ".join("".join(chance.choices(_SYLLABLES, k=3)) for _ in range(80)),
            database="PubMed",
        )


def vary(record: InventedRecord, chance: random.Random) -> InventedRecord:
    """Return a record as another database has it: other spellings, missing fields, typing mistakes."""
    authors = tuple((family, "".join(f"{word[0]}." for word in given.split())) for family, given in record.authors)
    title, pages = record.title, record.pages
    match chance.randrange(7):
        case 0:
            title = title.upper()
        case 1:
            title = f"[{title}] [French]"
        case 2:
            title = title.replace("randomised", "randomized").replace(":", " -")
        case 3:
            place = chance.randrange(5, max(6, len(title) // 2))
            title = title[:place] + title[place + 1 :]
        case 4:
            title = f"{title}. [Erratum appears in {record.journal}. {record.year + 1};{record.volume}(9):1]"
        case _:
            pass
    if chance.random() < 0.3:
        first, _, last = pages.partition("-")
        same = next((n for n in range(len(first)) if len(first) == len(last) and first[n] != last[n]), 0)
        pages = f"{first}-{last[same:]}" if len(first) == len(last) else pages
    short = dict(JOURNALS)[record.journal]
    return replace(
        record,
        title=title,
        pages=pages,
        authors=authors[:3] if chance.random() < 0.1 else authors,
        journal=short if chance.random() < 0.5 else record.journal,
        issue="" if chance.random() < 0.3 else record.issue,
        doi="" if chance.random() < 0.5 else record.doi,
        pmid="",
        abstract="" if chance.random() < 0.4 else record.abstract,
        database=chance.choice(("Embase", "Scopus", "CINAHL")),
    )


def invent_files(works: int, seed: int = 0) -> tuple[dict[str, list[InventedRecord]], int]:
    """Return the records of three files by name, and the number of works. Some works are twice in a file."""
    chance = random.Random(seed)
    files: dict[str, list[InventedRecord]] = {"pubmed.ris": [], "embase.ris": [], "scopus.ris": []}
    for record in invent_works(works, seed):
        names = chance.sample(sorted(files), chance.randint(1, 3))
        for name in names:
            files[name].append(record if name == "pubmed.ris" else vary(record, chance))
        if chance.random() < 0.05:
            files[names[0]].append(vary(record, chance))
    for records in files.values():
        chance.shuffle(records)
    return files, works

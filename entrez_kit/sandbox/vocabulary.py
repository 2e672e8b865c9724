"""The vocabulary of generated records. MeSH terms are real; people, journals and findings are invented."""

from typing import Final, NamedTuple

from entrez_kit.local.records.fixture_files import read_fixture

_DATA: Final = read_fixture("generated", "vocabulary.json")


class Subject(NamedTuple):
    """The phrase for a subject in a title, and its MeSH heading."""

    phrase: str
    heading: str
    ui: str


class Population(NamedTuple):
    """The phrase for the people or animals studied in a title (with markup), and their MeSH headings."""

    phrase: str
    headings: list[tuple[str, str]]


class Design(NamedTuple):
    """The phrase for a study design in a title, and its publication types."""

    phrase: str
    types: list[tuple[str, str]]


class Journal(NamedTuple):
    """An invented journal."""

    title: str
    abbreviation: str
    nlm_id: str
    print_issn: str
    electronic_issn: str


TOPICS: Final = [Subject(*row) for row in _DATA["topics"]]
METHODS: Final = [Subject(*row) for row in _DATA["methods"]]
POPULATIONS: Final = [Population(*row) for row in _DATA["populations"]]
DESIGNS: Final = [Design(*row) for row in _DATA["designs"]]
JOURNALS: Final = [Journal(*row) for row in _DATA["journals"]]
SURNAMES: Final[list[str]] = _DATA["surnames"]
FORENAMES: Final[list[tuple[str, str]]] = _DATA["forenames"]
GROUPS: Final[list[str]] = _DATA["groups"]
PLACES: Final[list[str]] = _DATA["places"]
FINDINGS: Final[list[str]] = _DATA["findings"]
SAMPLES: Final[list[int]] = _DATA["samples"]
KEYWORDS: Final[list[list[str]]] = _DATA["keywords"]
GRANTS: Final[list[tuple[str, str, str, str]]] = _DATA["grants"]
LANGUAGES: Final[list[tuple[str, str]]] = _DATA["languages"]
TITLE: Final[str] = _DATA["title"]
ABSTRACTS: Final[list[list[tuple[str, str]]]] = _DATA["abstracts"]
"""Label and text of the parts of each kind of abstract."""
STATUSES: Final[list[str]] = _DATA["statuses"]
SEASONS: Final[list[str]] = _DATA["seasons"]
WEIGHTS: Final[dict[str, list[int]]] = _DATA["weights"]
"""How often each choice of a record is made, by its number. The first one of ``keyword`` and of ``grant`` is none."""

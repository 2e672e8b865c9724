"""Generated, invented records in any number, the same for the same seed. A record is rendered when it is read.

The package has some models of records (``fixtures/generated/records.json``). A record repeats one of them with its own
PMID and dates; ``generated_index`` searches both. A model is a format string, with the distance of each of its dates
from the entry date in days. The precision of its issue date is a day, a month, or a year with a fixed month and day for
comparison.
"""

import random
from collections.abc import Sequence
from datetime import date, timedelta
from functools import cached_property, lru_cache
from threading import RLock
from typing import Any, Final

from entrez_kit.base.clock import MONTHS
from entrez_kit.base.errors import wrong_value
from entrez_kit.local.records.collection import RecordCollection, read_terms
from entrez_kit.local.records.fixture_files import read_fixture
from entrez_kit.query.dates import to_number
from entrez_kit.query.segments.search_index import SearchIndex
from entrez_kit.query.segments.writer import index_records
from entrez_kit.sandbox.generated_index import FIRST_PMID, GeneratedIndex

MAX_RECORDS: Final = 100_000_000 - FIRST_PMID
FIRST_DAY: Final = date(2010, 1, 1)
DAYS: Final = 5_479
"""Entry dates range from 2010 to the end of 2024 and increase with the PMID."""
REFERENCES: Final = 3
_NEAR: Final = 40
"""Maximum distance between a record and the records that it cites, so that citing records need no index."""
_REFERENCE: Final = (
    "<Reference><Citation>Invented reference to record {0}.</Citation><ArticleIdList>"
    '<ArticleId IdType="doi">10.5555/invented.{0}</ArticleId><ArticleId IdType="pubmed">{0}</ArticleId>'
    "</ArticleIdList></Reference>"
)


@lru_cache(maxsize=4)
def _read_models(seed: int) -> Sequence[Any]:
    """Return the models in the order of the records that repeat them."""
    models = read_fixture("generated", "records.json")
    return random.Random(seed).sample(models, len(models))


class GeneratedCollection(RecordCollection):
    """``count`` invented records with PMIDs from 99100001 up, with entry dates over ``days`` days from 2010 on."""

    def __init__(self, count: int, seed: int = 0, days: int = DAYS) -> None:
        if not 0 <= count <= MAX_RECORDS:
            raise wrong_value("records", f"a whole number from 0 to {MAX_RECORDS}", count, reason="bad_records")
        self.size = count
        self.seed = seed
        self.days = max(1, min(days, DAYS))
        self._models = _read_models(seed)
        self._lock = RLock()

    def get_entry_day(self, number: int) -> date:
        """Return the day when a record entered PubMed."""
        return FIRST_DAY + timedelta(days=number * self.days // max(1, self.size))

    def get_day(self, number: int, kind: str) -> int:
        """Return one of the dates of a record as yyyymmdd, with the precision of the record; 0 if it has none."""
        model, entered = self._models[number % len(self._models)], self.get_entry_day(number)
        if kind == "entered":
            return to_number(entered)
        if kind not in model["days"]:
            return 0
        day = to_number(entered + timedelta(days=model["days"][kind]))
        if kind != "published" or model["issue"] == "day":
            return day
        return day // 100 * 100 + 1 if model["issue"] == "month" else day // 10000 * 10000 + int(model["issue"])

    def _list_cited(self, number: int) -> list[int]:
        """Return the records that a record cites."""
        step = number % len(self._models) % (_NEAR // REFERENCES) + 1
        return [number - step * i for i in range(1, REFERENCES + 1) if number - step * i >= 0]

    @cached_property
    def _index(self) -> GeneratedIndex:
        models = _index_models(self.seed, min(self.size, len(self._models)))
        return GeneratedIndex(self.size, models, len(self._models), self.get_day)

    @property
    def index(self) -> GeneratedIndex:
        """The index of all records."""
        with self._lock:
            return self._index

    def get_pmid(self, number: int) -> str:
        """Return the PMID of a record."""
        return str(FIRST_PMID + number)

    def find_number(self, pmid: str) -> int | None:
        """Return the number of the record with this PMID; None if the PMID is unknown."""
        number = int(pmid) - FIRST_PMID
        return number if 0 <= number < self.size else None

    def read_raw(self, number: int) -> bytes:
        """Render a record."""
        model, entered = self._models[number % len(self._models)], self.get_entry_day(number)
        days = {kind: entered + timedelta(days=distance) for kind, distance in model["days"].items()}
        cited = "".join(_REFERENCE.format(self.get_pmid(cited_number)) for cited_number in self._list_cited(number))
        text: str = model["text"].format(
            pmid=self.get_pmid(number),
            entered=entered,
            month=MONTHS[days["published"].month - 1],
            references=f"<ReferenceList>{cited}</ReferenceList>" if cited else "",
            **days,
        )
        return text.encode()

    def find_citing(self, pmid: str) -> Sequence[str]:
        """Return the PMIDs of the records of this corpus that cite this one, newest first."""
        cited = self.find_number(pmid)
        if cited is None:
            return ()
        later = range(min(self.size - 1, cited + _NEAR), cited, -1)
        return [self.get_pmid(number) for number in later if cited in self._list_cited(number)]


@lru_cache(maxsize=4)
def _index_models(seed: int, count: int) -> SearchIndex:
    collection = GeneratedCollection(count, seed)
    return index_records(read_terms(collection.read_document(number)) for number in range(count))

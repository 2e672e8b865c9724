"""Generated, invented records in any number, the same for the same seed. A record is rendered when it is read.

A record consists of the choices of its model, such as topic, method and journal, and of its own PMID and dates;
``generated_index`` searches both.
"""

import random
from collections.abc import Sequence
from datetime import date, timedelta
from functools import cached_property, lru_cache
from threading import RLock
from typing import Final

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import Argument, FrontendText
from entrez_kit.local.records.collection import RecordCollection, read_terms
from entrez_kit.query.sorted_index import ParsedIndex
from entrez_kit.sandbox import vocabulary
from entrez_kit.sandbox.generated_index import FIRST_PMID, MODELS, GeneratedIndex
from entrez_kit.sandbox.render import Choices, Timing, render

MOST: Final = 100_000_000 - FIRST_PMID
FIRST_DAY: Final = date(2010, 1, 1)
DAYS: Final = 5_479
"""Entry dates range from 2010 to the end of 2024 and increase with the PMID."""
REFERENCES: Final = 3
_TIMING: Final = ("lag", "status", "date_style", "electronic")
_NEAR: Final = 40
"""Maximum distance between a record and the records that it cites, so that citing records need no index."""


class GeneratedCollection(RecordCollection):
    """``count`` invented records with PMIDs from 99100001 up, with entry dates over ``days`` days from 2010 on."""

    def __init__(self, count: int, seed: int = 0, days: int = DAYS) -> None:
        if not 0 <= count <= MOST:
            raise InvalidInput(
                FrontendText(Argument("records"), f" must be between 0 and {MOST} (got {count})."),
                invalid_input=f"records={count}",
                recovery_hint=f"Request at most {MOST} generated records.",
                details={"reason": "bad_records"},
            )
        self.size = count
        self.seed = seed
        self.days = max(1, min(days, DAYS))
        self._lock = RLock()

    @cached_property
    def _models(self) -> list[dict[str, int]]:
        """The choices of each model."""
        columns = [
            random.Random(f"{self.seed}:{name}").choices(range(len(weights)), weights=weights, k=MODELS)
            for name, weights in vocabulary.WEIGHTS.items()
        ]
        return [dict(zip(vocabulary.WEIGHTS, row, strict=True)) for row in zip(*columns, strict=True)]

    def choices(self, number: int) -> Choices:
        """Return all choices of one record."""
        model = number % MODELS
        picked = self._models[model].copy()
        return Choices(
            model=model,
            pmid=self.pmid(number),
            entered=self.get_entry_day(number),
            team=self.teams[picked.pop("team")],
            cited=tuple(self.pmid(cited) for cited in self._references(number)),
            **picked,
        )

    def timing(self, number: int) -> Timing:
        """Return the choices that determine the dates of one record."""
        picked = self._models[number % MODELS]
        return Timing(self.get_entry_day(number), *(picked[name] for name in _TIMING))

    @cached_property
    def teams(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Author lists as indexes in the lists of surnames and forenames; a forename of -1 marks a group."""
        chooser = random.Random(f"{self.seed}:teams")
        teams = []
        for _ in range(len(vocabulary.WEIGHTS["team"])):
            size = chooser.choice((1, 2, 2, 3, 3, 4, 5, 6, 8))
            surnames = chooser.sample(range(len(vocabulary.SURNAMES)), size)
            team = [(surname, chooser.randrange(len(vocabulary.FORENAMES))) for surname in surnames]
            if chooser.random() < 0.1:
                team.append((chooser.randrange(len(vocabulary.GROUPS)), -1))
            teams.append(tuple(team))
        return tuple(teams)

    def get_entry_day(self, number: int) -> date:
        """Return the day when a record entered PubMed."""
        return FIRST_DAY + timedelta(days=number * self.days // max(1, self.size))

    def _references(self, number: int) -> list[int]:
        step = self._models[number % MODELS]["lag"] % (_NEAR // REFERENCES) + 1
        return [number - step * i for i in range(1, REFERENCES + 1) if number - step * i >= 0]

    @cached_property
    def _index(self) -> GeneratedIndex:
        return GeneratedIndex(self.size, _index_models(self.seed, min(self.size, MODELS)), self.timing)

    @property
    def index(self) -> GeneratedIndex:
        """The index of all records."""
        with self._lock:
            return self._index

    def pmid(self, number: int) -> str:
        """Return the PMID of a record."""
        return str(FIRST_PMID + number)

    def number(self, pmid: str) -> int | None:
        """Return the number of the record with this PMID; None if the PMID is unknown."""
        number = int(pmid) - FIRST_PMID
        return number if 0 <= number < self.size else None

    def raw(self, number: int) -> bytes:
        """Render a record."""
        return render(self.choices(number))

    def cited_by(self, pmid: str) -> Sequence[str]:
        """Return the PMIDs of the records of this corpus that cite this one, newest first."""
        cited = self.number(pmid)
        if cited is None:
            return ()
        later = range(min(self.size - 1, cited + _NEAR), cited, -1)
        return [self.pmid(number) for number in later if cited in self._references(number)]


@lru_cache(maxsize=4)
def _index_models(seed: int, count: int) -> ParsedIndex:
    collection = GeneratedCollection(count, seed)
    return ParsedIndex(count, lambda number: read_terms(collection.document(number)))

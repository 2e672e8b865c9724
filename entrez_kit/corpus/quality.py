"""A quality score from 0 to 9, computed from the PubMed record.

It is the sum of four parts:

- design 0..3: 3 evidence pooled over studies (systematic reviews, meta-analyses), 2 randomized trials, 1 other studies
  of people and guidelines, 0 everything else.
- recency 0..2: 2 for at most 5 years, 1 for at most 10. It is computed on request, so that aging never creates a new
  version of a record.
- journal 0..2: 2 for a few general journals, recognized by their exact names; "Stem Cells" is not "Cell".
- human 0..2: 2 for studies of people, 1 for studies of animals.

The score of a retracted record is 0.
"""

import re
from collections.abc import Iterable
from datetime import date
from typing import Final, NamedTuple

from entrez_kit.core.model import Result

MOST: Final = 9

_POOLED: Final = frozenset({"meta-analysis", "network meta-analysis", "systematic review"})
_RANDOMIZED: Final = frozenset({"randomized controlled trial", "equivalence trial", "pragmatic clinical trial"})
_OF_PEOPLE: Final = frozenset(
    {
        "adaptive clinical trial",
        "clinical study",
        "clinical trial",
        "clinical trial, phase i",
        "clinical trial, phase ii",
        "clinical trial, phase iii",
        "clinical trial, phase iv",
        "controlled clinical trial",
        "observational study",
        "twin study",
    }
)
_GUIDANCE: Final = frozenset({"consensus development conference", "guideline", "practice guideline"})
_CASES: Final = frozenset({"case reports"})

TIER_1: Final = frozenset(
    {
        "cell",
        "lancet",
        "lancet london england",
        "n engl j med",
        "nature",
        "nejm",
        "new england journal of medicine",
        "science",
        "science new york n y",
    }
)
"""Names as ``_normalize`` returns them: MEDLINE's full titles, its abbreviations, and common names."""


class Lasting(NamedTuple):
    """The parts of quality that do not depend on age; they are stored with the record."""

    design: int
    journal: int
    human: int


class Quality(Result):
    """The parts of a record's quality and their sum."""

    design: int | None
    recency: int | None
    journal: int | None
    human: int | None
    total: int


def score_lasting_parts(
    *, pub_types: Iterable[str], mesh: Iterable[str], journals: Iterable[str], retracted: bool
) -> Lasting:
    """Score a record by its publication types, MeSH descriptors and journal names."""
    if retracted:
        return Lasting(0, 0, 0)
    types, headings = {kind.lower() for kind in pub_types}, {name.lower() for name in mesh}
    if types & _POOLED:
        design = 3
    elif types & _RANDOMIZED:
        design = 2
    else:
        design = 1 if types & (_OF_PEOPLE | _GUIDANCE) else 0
    if "humans" in headings:
        human = 2
    elif "animals" in headings or any(kind.endswith(", veterinary") for kind in types):
        human = 1
    else:  # records not yet indexed have no headings; some publication types exist for studies of people only
        human = 2 if types & (_RANDOMIZED | _OF_PEOPLE | _CASES) else 0
    return Lasting(design, 2 if any(_normalize(name) in TIER_1 for name in journals) else 0, human)


def score_record(parts: Lasting, pdat: str | None, today: date, *, retracted: bool = False) -> Quality:
    """Return the score of a record as of ``today``."""
    recent = 0 if retracted else score_recency(pdat, today)
    return Quality(
        design=parts.design, recency=recent, journal=parts.journal, human=parts.human, total=sum(parts) + recent
    )


def score_recency(pdat: str | None, today: date) -> int:
    """Return 2 for a publication of the last 5 years, 1 of the last 10, else 0."""
    if not pdat:
        return 0
    latest = f"{pdat}-12-31"[:10] if len(pdat) == 4 else f"{pdat}-31" if len(pdat) == 7 else pdat
    if latest >= _subtract_years(today, 5):
        return 2
    return 1 if latest >= _subtract_years(today, 10) else 0


def _subtract_years(today: date, years: int) -> str:
    return f"{today.year - years:04}-{today.month:02}-{today.day:02}"


def _normalize(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", name.lower()).strip().removeprefix("the ")

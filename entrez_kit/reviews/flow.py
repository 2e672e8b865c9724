"""The boxes of the PRISMA 2020 flow diagram: each box is a set of records, and its number is the size of the set."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from pydantic import Field, PrivateAttr

from entrez_kit.base.errors import InvalidInput, InvariantFailure
from entrez_kit.base.frontend_text import FrontendText, suggest_command
from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.reviews.decisions import AUTOMATION, STAGES, ScreeningDecision, Stage
from entrez_kit.reviews.records import ReviewRecord
from entrez_kit.reviews.review_settings import Previous, SourceKind

NO_REASON: Final = "No reason given"
MAX_NAMED: Final = 20
SUMS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("identified", ("database_results", "register_results", "other_results")),
    ("other_results", ("website_results", "organisation_results", "citations_results")),
    ("identified", ("duplicates", "works")),
    ("works", ("dbr_works", "other_works")),
    ("dbr_works", ("excluded_automatic", "excluded_other", "to_screen")),
    ("to_screen", ("records_screened", "awaiting_screening")),
    ("records_screened", ("records_excluded", "dbr_sought_reports")),
    ("dbr_sought_reports", ("dbr_notretrieved_reports", "dbr_assessed", "dbr_awaiting")),
    ("dbr_assessed", ("dbr_excluded", "dbr_included")),
    ("other_works", ("other_removed", "other_sought_reports")),
    ("other_sought_reports", ("other_notretrieved_reports", "other_assessed", "other_awaiting")),
    ("other_assessed", ("other_excluded", "other_included")),
    ("new_reports", ("dbr_included", "other_included")),
)
"""Each box that is the sum of others: its records are exactly theirs, each in one of them."""
_AFTER_DEDUPLICATION: Final = frozenset(name for _, parts in SUMS[2:] for name in parts) | {"new_reports"}
_SCREENING: Final = ("records_screened", "records_excluded", "dbr_sought_reports")
_FULL_TEXT: Final = ("notretrieved_reports", "assessed", "excluded", "included")
_BOX_OF_KIND: Final[dict[SourceKind, str]] = {
    "database": "database_results",
    "register": "register_results",
    "website": "website_results",
    "organisation": "organisation_results",
    "citations": "citations_results",
}


class SourceCount(Result):
    """The number of records of a source; ``works`` of these represent a work."""

    source: str
    kind: SourceKind
    records: int
    works: int | None


class Flow(Result):
    """The boxes of the flow diagram.

    A box without a number is null: its decisions are missing. ``reasons`` and ``other_reasons`` add up to
    ``dbr_excluded`` and ``other_excluded``; ``removed`` adds up to ``excluded_automatic`` and ``excluded_other``.
    """

    RECORDS: ClassVar = "sources"

    boxes: dict[str, int | None]
    sources: list[SourceCount]
    removed: dict[str, int] = omit_if_empty({})
    reasons: dict[str, int] = omit_if_empty({})
    other_reasons: dict[str, int] = omit_if_empty({})
    previous: bool = Field(default=False)
    _sets: dict[str, frozenset[str]] = PrivateAttr(default_factory=dict)

    def set_records(self, sets: Mapping[str, frozenset[str]]) -> None:
        """Set the ids of the records of each box; the document does not contain them."""
        self._sets = dict(sets)

    def list_records(self, box: str) -> frozenset[str]:
        """Return the ids of the records of a box."""
        return self._sets.get(box, frozenset())

    def find_fate(self, record: str) -> str:
        """Return the last box that has a record."""
        return next((name for name in _FATES if record in self._sets.get(name, ())), "identified")


_FATES: Final = (
    "duplicates",
    "excluded_automatic",
    "excluded_other",
    "awaiting_screening",
    "records_excluded",
    "dbr_awaiting",
    "dbr_notretrieved_reports",
    "dbr_excluded",
    "dbr_included",
    "other_removed",
    "other_awaiting",
    "other_notretrieved_reports",
    "other_excluded",
    "other_included",
)


def build_flow(
    records: Sequence[ReviewRecord],
    decisions: Iterable[ScreeningDecision] = (),
    kinds: Mapping[str, SourceKind] | None = None,
    previous: Previous | None = None,
) -> Flow:
    """Return the boxes of the flow diagram.

    Args:
        records: all records; each one is in one final box.
        decisions: decisions on records; a decision on a duplicate counts for its work.
        kinds: the kinds of the sources; by default all are databases.
        previous: the studies and reports of the previous version of the review.

    Raises:
        InvalidInput: decisions contradict each other, or name unknown records; ``details.records`` lists the records.
        InvariantFailure: boxes do not add up; ``details.records`` lists the records.
    """
    kind_of: dict[str, SourceKind] = {name.casefold(): kind for name, kind in (kinds or {}).items()}
    chosen = _choose_decisions({record.id: record for record in records}, decisions)
    is_deduplicated = all(record.work is not None for record in records)
    sets = _sort_records(records, kind_of)
    works = _judge_works(records, sets["other_results"], chosen)
    for work in works:
        for name in _PATHS[work.is_main][work.fate]:
            sets[name].add(work.id)
    sets["new_reports"] = sets["dbr_included"] | sets["other_included"]
    frozen = {name: frozenset(sets[name]) for name in _NAMES}
    check_sums(frozen)
    boxes = _count_boxes(frozen, works, is_deduplicated=is_deduplicated)
    has_full_texts = any("full_text" in work.stages for work in works)
    boxes["new_studies"] = _count_studies(frozen["new_reports"], chosen) if has_full_texts else None
    if previous is not None:
        boxes |= _add_previous(boxes, previous)
    removed = Counter(work.reason for work in works if work.fate in _REMOVED)
    result = Flow(
        boxes=boxes,
        sources=_count_sources(records, kind_of, is_deduplicated=is_deduplicated),
        removed=dict(sorted(removed.items())),
        reasons=_count_reasons(works, is_main=True),
        other_reasons=_count_reasons(works, is_main=False),
        previous=previous is not None,
    )
    result.set_records(frozen)
    return result


@dataclass(frozen=True, slots=True)
class _JudgedWork:
    """A work, and the last box of the flow diagram that it reaches.

    Args:
        is_main: whether a database or register has it, not only other methods.
        stages: the stages at which it has a decision.
        fate: the last box that it reaches.
        reason: the reason of its exclusion.
    """

    id: str
    is_main: bool
    stages: frozenset[str]
    fate: str
    reason: str


def _sort_records(records: Iterable[ReviewRecord], kind_of: Mapping[str, SourceKind]) -> dict[str, set[str]]:
    """Return the boxes of records before screening: by kind of source, duplicates and works."""
    sets: dict[str, set[str]] = defaultdict(set)
    for record in records:
        sets["identified"].add(record.id)
        sets[_BOX_OF_KIND[kind_of.get(record.source.casefold(), "database")]].add(record.id)
        sets["duplicates" if record.is_duplicate else "works"].add(record.id)
    sets["other_results"] = sets["website_results"] | sets["organisation_results"] | sets["citations_results"]
    return sets


def _judge_works(
    records: Iterable[ReviewRecord],
    other_results: Collection[str],
    chosen: Mapping[tuple[str, str], ScreeningDecision],
) -> list[_JudgedWork]:
    """Return the works with their fates."""
    members: dict[str, list[ReviewRecord]] = defaultdict(list)
    for record in records:
        members[record.work or record.id].append(record)
    works = []
    for work, group in members.items():
        is_main = any(record.id not in other_results for record in group)
        of_work = {stage: chosen[work, stage] for stage in STAGES if (work, stage) in chosen}
        fate, reason = _find_fate(work, group, of_work, is_main=is_main)
        works.append(_JudgedWork(work, is_main, frozenset(of_work), fate, reason))
    return works


def _count_boxes(
    sets: Mapping[str, Collection[str]], works: Sequence[_JudgedWork], *, is_deduplicated: bool
) -> dict[str, int | None]:
    """Return the number of records of each box; None for a box whose step has not begun."""
    boxes: dict[str, int | None] = {name: len(sets[name]) for name in _NAMES}
    stages = {(work.is_main, stage) for work in works for stage in work.stages}
    if not is_deduplicated:
        boxes |= dict.fromkeys(_AFTER_DEDUPLICATION, None)
    if (True, "title_abstract") not in stages:
        boxes |= dict.fromkeys(_SCREENING, None)
    for is_main, names in ((True, _REMOVED), (False, ("other_removed",))):
        if not any(work.stages for work in works if work.is_main == is_main) and (is_main or sets["other_works"]):
            boxes |= {name: None for name in names if not sets[name]}
    for is_main, prefix in ((True, "dbr"), (False, "other")):
        if (is_main, "full_text") not in stages and (is_main or sets["other_works"]):
            boxes |= {f"{prefix}_{name}": None for name in _FULL_TEXT}
    if not any(stage == "full_text" for _, stage in stages):
        boxes["new_reports"] = None
    return boxes


def _add_previous(boxes: Mapping[str, int | None], previous: Previous) -> dict[str, int | None]:
    """Return the boxes of the previous version of a review, and the totals of both versions."""
    added: dict[str, int | None] = {"previous_studies": previous.studies, "previous_reports": previous.reports}
    for unit, before in (("studies", previous.studies), ("reports", previous.reports)):
        number = boxes[f"new_{unit}"]
        added[f"total_{unit}"] = None if number is None else before + number
    return added


def _count_reasons(works: Iterable[_JudgedWork], *, is_main: bool) -> dict[str, int]:
    """Return the reasons of excluded full texts, the most frequent first."""
    reasons = Counter(work.reason for work in works if work.fate == "excluded" and work.is_main == is_main)
    return dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0])))


_REMOVED: Final = ("excluded_automatic", "excluded_other")
"""The fates of works that were removed before screening."""
_NAMES: Final = tuple(dict.fromkeys(name for total, parts in SUMS for name in (total, *parts)))
_SOUGHT: Final = ("dbr_works", "to_screen", "records_screened", "dbr_sought_reports")
_OTHER: Final = ("other_works", "other_sought_reports")
_PATHS: Final[dict[bool, dict[str, tuple[str, ...]]]] = {
    True: {
        "excluded_automatic": ("dbr_works", "excluded_automatic"),
        "excluded_other": ("dbr_works", "excluded_other"),
        "awaiting_screening": ("dbr_works", "to_screen", "awaiting_screening"),
        "screened_out": ("dbr_works", "to_screen", "records_screened", "records_excluded"),
        "awaiting": (*_SOUGHT, "dbr_awaiting"),
        "not_retrieved": (*_SOUGHT, "dbr_notretrieved_reports"),
        "excluded": (*_SOUGHT, "dbr_assessed", "dbr_excluded"),
        "included": (*_SOUGHT, "dbr_assessed", "dbr_included"),
    },
    False: {
        **dict.fromkeys(("excluded_automatic", "excluded_other", "screened_out"), ("other_works", "other_removed")),
        **dict.fromkeys(("awaiting_screening", "awaiting"), (*_OTHER, "other_awaiting")),
        "not_retrieved": (*_OTHER, "other_notretrieved_reports"),
        "excluded": (*_OTHER, "other_assessed", "other_excluded"),
        "included": (*_OTHER, "other_assessed", "other_included"),
    },
}
"""The boxes of a work by its column (databases and registers, or other methods) and its fate."""


def _choose_decisions(
    by_id: Mapping[str, ReviewRecord], decisions: Iterable[ScreeningDecision]
) -> dict[tuple[str, str], ScreeningDecision]:
    """Return the decision of each work and stage."""
    chosen: dict[tuple[str, str], ScreeningDecision] = {}
    unknown, contradictory = [], []
    for decision in decisions:
        record = by_id.get(decision.id)
        if record is None:
            unknown.append(decision)
            continue
        place = record.work or record.id, decision.stage
        earlier = chosen.setdefault(place, decision)
        if (earlier.decision, earlier.reason) != (decision.decision, decision.reason):
            contradictory += [earlier, decision]
    if unknown:
        raise _contradiction_error("decisions name records that the review does not have", unknown)
    if contradictory:
        raise _contradiction_error("decisions on one work contradict each other", contradictory)
    return chosen


def _contradiction_error(problem: str, decisions: Sequence[ScreeningDecision]) -> InvalidInput:
    named = [
        f"{decision.id} (line {decision.line})" if decision.line else decision.id for decision in decisions[:MAX_NAMED]
    ]
    return InvalidInput(
        f"screening.csv: {problem}: {', '.join(named)}.",
        invalid_input=decisions[0].id,
        recovery_hint="Correct these lines of screening.csv.",
        details={"reason": "decisions_contradict", "records": sorted({decision.id for decision in decisions})},
    )


def _find_fate(
    work: str, group: Sequence[ReviewRecord], decisions: Mapping[Stage, ScreeningDecision], *, is_main: bool
) -> tuple[str, str]:
    """Return the fate of a work, and the reason of an exclusion."""
    before, screened = decisions.get("before_screening"), decisions.get("title_abstract")
    assessed = decisions.get("full_text")
    later = [decision for decision in (screened, assessed) if decision is not None]
    if before is not None:
        if later:
            raise _contradiction_error("a work was excluded before screening and also screened", [before, *later])
        fate = "excluded_automatic" if before.by == AUTOMATION else "excluded_other"
        return fate, before.reason or NO_REASON
    if not later and all(record.gone is not None and record.gone.reason != "no_longer_matching" for record in group):
        return "excluded_other", "Deleted from PubMed"
    if assessed is not None:
        if screened is not None and screened.decision == "exclude":
            raise _contradiction_error("a work was excluded by title and abstract, and has a full-text decision", later)
        if screened is None and is_main:
            raise _contradiction_error("a work has a full-text decision and none on title and abstract", later)
        if assessed.decision == "not_retrieved":
            return "not_retrieved", ""
        return ("included", "") if assessed.decision == "include" else ("excluded", assessed.reason or NO_REASON)
    if screened is None:
        return "awaiting_screening", ""
    return ("screened_out" if screened.decision == "exclude" else "awaiting"), ""


def check_sums(sets: Mapping[str, Collection[str]]) -> None:
    """Check that each box has exactly the records of its parts.

    Raises:
        InvariantFailure: a sum is wrong; the message names the box and records.
    """
    for total, parts in SUMS:
        counted: dict[str, int] = defaultdict(int)
        for part in parts:
            for record in sets.get(part, ()):
                counted[record] += 1
        whole = set(sets.get(total, ()))
        wrong = sorted({record for record, number in counted.items() if number > 1} | (whole ^ set(counted)))
        if wrong:
            raise InvariantFailure(
                f"The box {total} is not the sum of {', '.join(parts)}: {', '.join(wrong[:MAX_NAMED])}.",
                recovery_hint=FrontendText(
                    suggest_command("review dedupe", "Deduplicate the records again"),
                    "; if the error persists, report it.",
                ),
                details={"reason": "sum", "box": total, "records": wrong},
            )


def _count_studies(reports: Iterable[str], chosen: Mapping[tuple[str, str], ScreeningDecision]) -> int:
    """Count the studies of included reports; a report without the name of a study is a study."""
    return len({chosen[work, "full_text"].study.casefold() or work for work in reports})


def _count_sources(
    records: Sequence[ReviewRecord], kinds: Mapping[str, SourceKind], *, is_deduplicated: bool
) -> list[SourceCount]:
    records_of_source: dict[str, list[ReviewRecord]] = defaultdict(list)
    for record in records:
        records_of_source[record.source].append(record)
    return [
        SourceCount(
            source=name,
            kind=kinds.get(name.casefold(), "database"),
            records=len(group),
            works=sum(not record.is_duplicate for record in group) if is_deduplicated else None,
        )
        for name, group in records_of_source.items()
    ]

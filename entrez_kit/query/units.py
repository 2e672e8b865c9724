"""The resolved parts of a query, with what PubMed reports about them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from entrez_kit.query import unsettled
from entrez_kit.query.algebra import NOTHING, And, Everything, Leaf, Not, Or, Phrase, Query, Shown


class Fidelity(StrEnum):
    """How closely an answer can equal PubMed's own on the same records."""

    EXACT = "exact"
    EXACT_PHRASE = "exact_phrase"
    """Phrases were matched literally; PubMed finds only those in its unpublished phrase index."""
    APPROXIMATE = "approximate"
    """Term mapping was used; PubMed's table of word variants is not published."""


_RANKS: Final = list(Fidelity)


def choose_fidelity(leaf: Leaf) -> Fidelity:
    """Return the fidelity of a search for words without term mapping."""
    return Fidelity.EXACT_PHRASE if isinstance(leaf, Phrase) else Fidelity.EXACT


@dataclass(slots=True)
class Report:
    """NCBI's lists of translations and warnings about a part of a query.

    ``ranking`` lists the searched words. ``lacks_tree`` is true if a heading with narrower ones was searched that only
    the records have, not the vocabulary.
    """

    fidelity: Fidelity = Fidelity.EXACT
    translations: list[tuple[str, str]] = field(default_factory=list)
    phrases_not_found: list[str] = field(default_factory=list)
    fields_not_found: list[str] = field(default_factory=list)
    phrases_ignored: list[str] = field(default_factory=list)
    quoted_not_found: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    ranking: list[str] = field(default_factory=list)
    lacks_tree: bool = False

    def add(self, other: "Report") -> None:
        """Add the report about a later part; the lower fidelity is kept."""
        self.fidelity = max(self.fidelity, other.fidelity, key=_RANKS.index)
        self.translations += other.translations
        self.phrases_not_found += other.phrases_not_found
        self.fields_not_found += other.fields_not_found
        self.phrases_ignored += other.phrases_ignored
        self.quoted_not_found += other.quoted_not_found
        self.messages += other.messages
        self.ranking += other.ranking
        self.lacks_tree |= other.lacks_tree


def join_reports(reports: Iterable[Report]) -> Report:
    """Return one report about several parts, in order."""
    joined = Report()
    for report in reports:
        joined.add(report)
    return joined


@dataclass(frozen=True, slots=True)
class Unit:
    """A resolved part and the report about it.

    ``query`` is None for an ignored part, and ``ignored`` is its text. The parts of a loose AND join the AND around
    them.
    """

    query: Query | None
    is_loose: bool = False
    report: Report = field(default_factory=Report)
    ignored: str = ""

    def report_first(self, report: Report) -> "Unit":
        """Return the unit with another report before its own."""
        return replace(self, report=join_reports((report, self.report)))


def join_units(parts: Sequence[tuple[str, Unit]]) -> Unit:
    """Join the queries of a group from left to right, without their reports; ignored parts have no effect."""
    members: list[Query] = []
    growing = ""
    ignored: list[str] = []
    report = Report()

    def take() -> Query:
        return members[0] if len(members) == 1 else (And if growing == "AND" else Or)(tuple(members))

    for number, (operator, unit) in enumerate(parts):
        right = unit.query
        if right is None:
            ignored.append(f"{operator} {unit.ignored}" if number else unit.ignored)
            continue
        added = right.parts if unit.is_loose and isinstance(right, And) and operator == "AND" else (right,)
        if operator == "NOT":
            if not members and ignored and parts[0][0] != "NOT" and not unsettled.excludes_from_all_records():
                members = [Shown(NOTHING, " ".join(ignored))]
                report.fidelity = Fidelity.APPROXIMATE
            members = [Not(take() if members else Everything(), right)]
            growing = ""
            continue
        if members and growing != operator:
            members = [take()]
        growing = operator if members or len(added) > 1 else ""
        members.extend(added)
    return Unit(take() if members else None, report=report, ignored="" if members else f"({' '.join(ignored)})")


def join_with_and(units: Sequence[Unit]) -> Unit:
    """Join units with AND, and their reports."""
    query = join_units([("AND", unit) for unit in units]).query
    return Unit(query, report=join_reports(unit.report for unit in units))

"""What a sync reports: records that are missing, changed or withdrawn, and the error about missing ones."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from entrez_kit.base.errors import EntrezKitError, UpstreamError
from entrez_kit.base.frontend_text import AGAIN, FrontendText, format_count

NAMED: Final = 20
"""The number of PMIDs that a warning lists; ``details.missing`` has all of them."""


@dataclass(slots=True)
class SyncReport:
    """The records that a sync could not store, or that changed.

    Attributes:
        known_unavailable: PMIDs that PubMed did not return in earlier syncs.
        unavailable: PMIDs that PubMed lists and does not return, in order.
        failed: the error of each PMID that could not be fetched.
        standings: PMIDs by the change of their standing, in words.
        deleted: PMIDs that PubMed has withdrawn.
        unmatched: PMIDs that the query no longer finds.
        unlisted: how many more records PubMed counted than it listed.
        problem: the first error of a service.
        gave_up: whether the sync ended early because NCBI stopped answering.
    """

    known_unavailable: frozenset[int] = frozenset()
    unavailable: dict[int, None] = field(default_factory=dict)
    failed: dict[int, EntrezKitError] = field(default_factory=dict)
    standings: dict[str, list[int]] = field(default_factory=dict)
    deleted: list[int] = field(default_factory=list)
    unmatched: list[int] = field(default_factory=list)
    unlisted: int = 0
    problem: EntrezKitError | None = None
    gave_up: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether every search and every request was answered."""
        return not (self.failed or self.problem or self.unlisted or self.gave_up)

    @property
    def newly_unavailable(self) -> list[int]:
        """The PMIDs that PubMed lists and does not return, in this sync for the first time."""
        return [pmid for pmid in self.unavailable if pmid not in self.known_unavailable]

    def add_failures(self, failed: Mapping[int, EntrezKitError]) -> None:
        """Add records that could not be fetched; the first error is the problem of the sync, if it has none yet."""
        self.failed |= failed
        if failed and self.problem is None:
            self.problem = next(iter(failed.values()))

    def add_standings(self, standings: Mapping[str, Sequence[int]]) -> None:
        """Add changes of the standing of records."""
        for words, pmids in standings.items():
            self.standings.setdefault(words, []).extend(pmids)

    def list_warnings(self) -> list[str]:
        """Return warnings about missing, changed and withdrawn records."""
        warnings = []
        if self.failed:
            warnings.append(f"{_list_pmids(self.failed)} could not be fetched; the next sync tries again.")
        if newly_unavailable := self.newly_unavailable:
            warnings.append(
                f"PubMed lists but does not return {_list_pmids(newly_unavailable)}; the next sync tries again."
            )
        if old := [pmid for pmid in self.unavailable if pmid in self.known_unavailable]:
            warnings.append(f"PubMed still does not return {_list_pmids(old)}.")
        if self.unlisted:
            warnings.append(f"PubMed counted {format_count(self.unlisted, 'record')} more than it listed.")
        if self.gave_up:
            warnings.append("Stopped: NCBI stopped answering. The remaining records were not tried.")
        if self.problem is not None:
            warnings.append(self.problem.message)
        warnings += [f"{words}: {_list_pmids(pmids)}." for words, pmids in self.standings.items()]
        if self.deleted:
            warnings.append(f"Withdrawn from PubMed: {_list_pmids(self.deleted)}.")
        if self.unmatched:
            warnings.append(f"No longer matched by the query, but kept: {_list_pmids(self.unmatched)}.")
        return warnings

    def missing_error(self, query_key: str) -> EntrezKitError | None:
        """Return the error about records or dates that are missing; None if nothing is missing."""
        newly_unavailable = self.newly_unavailable
        if self.is_complete and not newly_unavailable:
            return None
        missing = sorted({*self.failed, *newly_unavailable})
        kind = type(self.problem) if self.problem is not None else UpstreamError
        details = {**self.problem.details} if self.problem is not None else {"reason": "incomplete"}
        cause = f": {self.problem.message}" if self.problem is not None else "."
        problem = f"{_list_pmids(missing)} could not be fetched" if missing else "some dates could not be checked"
        return kind(
            f"The sync of {query_key!r} is incomplete: {problem}{cause}",
            recovery_hint=FrontendText("The fetched records are stored. ", AGAIN, " to fetch the rest."),
            details={**details, "partial": True, "missing": [str(pmid) for pmid in missing]},
        )


def _list_pmids(pmids: Collection[int]) -> str:
    """List PMIDs in words, at most ``NAMED`` of them."""
    ordered = sorted(pmids)
    first_pmids = ", ".join(str(pmid) for pmid in ordered[:NAMED])
    more = f" and {len(ordered) - NAMED} more" if len(ordered) > NAMED else ""
    named = f"PMID {first_pmids}{more}"
    return named if len(ordered) == 1 else f"{format_count(len(ordered), 'record')} ({named})"

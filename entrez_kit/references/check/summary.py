"""Summarize the outcomes of ``check``: the counts of each file, repeated works, and warnings."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from entrez_kit.base.frontend_text import format_count
from entrez_kit.core.model import Warn
from entrez_kit.references.check.check_request import MAX_NAMED, FileToCheck
from entrez_kit.references.check.check_result import CheckedReference, FileFigures
from entrez_kit.references.check.findings import STATUSES

MAX_UNUSED: Final = 10
"""Maximum accepted findings in the message of a warning."""
MAX_KEYS: Final = 10
"""Maximum keys in the message of a warning."""


@dataclass(slots=True)
class FileSummary:
    """The counts of the references of one file.

    Args:
        file: the file.
        number: its number.
        start: the index of its first reference.
        total: the number of its references.
    """

    file: FileToCheck
    number: int
    start: int
    total: int
    counts: Counter[str] = field(default_factory=Counter, init=False)
    open_counts: Counter[str] = field(default_factory=Counter, init=False)
    """The number of references with each code that is not accepted."""
    accepted: int = field(default=0, init=False)
    _rows: dict[str, int] = field(default_factory=dict, init=False)
    """The row of the first reference to each work, from 1."""

    def add_duplicate_finding(self, outcome: CheckedReference, index: int) -> None:
        """Add the finding ``duplicate`` if an earlier row of the file cites the same work."""
        work = outcome.pmid or outcome.doi
        if not work or outcome.same_work is False:
            return
        row = index - self.start + 1
        if (first_row := self._rows.setdefault(work, row)) != row:
            outcome.duplicate_of = first_row
            outcome.add("duplicate", f"already cited in row {first_row}")

    def count(self, outcome: CheckedReference) -> None:
        """Count the codes of an outcome."""
        self.counts.update({outcome.status, *(finding.code for finding in outcome.findings)})
        self.open_counts.update({finding.code for finding in outcome.findings if not finding.accepted})
        self.accepted += bool(outcome.findings) and not outcome.is_open

    def build_figures(self, corrected: int) -> FileFigures:
        """Return the counts for the result document.

        Args:
            corrected: the number of its corrected references.
        """
        return FileFigures(
            file=self.file.name or "",
            total=self.total,
            counts={status: self.counts[status] for status in STATUSES},
            accepted=self.accepted,
            fixed=self.file.target if corrected else None,
            corrected=corrected,
        )


def summarize_files(files: Sequence[FileToCheck], total: int) -> Iterator[FileSummary]:
    """Yield the summary of each file, before the check; ``total`` is the number of the references of all files."""
    start = 0
    for number, file in enumerate(files):
        summary = FileSummary(file, number, start, total if file.total is None else file.total)
        start += summary.total
        yield summary


def warn_of_duplicates(checked: Sequence[CheckedReference], file_numbers: Sequence[int]) -> list[Warn]:
    """Return a warning about each work that several references of a file cite.

    Args:
        file_numbers: the number of the file of each reference. Two files can have the same name.
    """
    keys_of: dict[tuple[int, str | None, str], list[str]] = {}
    for outcome, number in zip(checked, file_numbers, strict=True):
        if outcome.pmid and outcome.same_work is not False:
            keys_of.setdefault((number, outcome.file, outcome.pmid), []).append(outcome.key)
    return [
        Warn(
            code="duplicate_work",
            message=f"{f'{file}: ' if file else ''}PMID {pmid} is cited {format_count(len(keys), 'time')}: "
            f"{', '.join(keys[:MAX_KEYS])}.",
        )
        for (_, file, pmid), keys in keys_of.items()
        if len(set(keys)) > 1
    ]


def warn_of_unused(files: Sequence[FileToCheck]) -> list[Warn]:
    """Return a warning about accepted findings that no file has any more."""
    unused_of = [file.accepted.list_unused() for file in files]
    unused = [
        finding
        for finding in dict.fromkeys(finding for unused in unused_of for finding in unused)
        if all(finding in unused for unused in unused_of)
    ]
    if not unused:
        return []
    named = ", ".join(unused[:MAX_UNUSED]) + (f" and {len(unused) - MAX_UNUSED} more" if unused[MAX_UNUSED:] else "")
    message = f"Accepted, but not found by this check: {named}. Remove them."
    return [Warn(code="accepted_unused", message=message, terms=unused[:MAX_NAMED])]

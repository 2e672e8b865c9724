"""Records that several identifiers name: a file for reference managers has each of them once."""

from dataclasses import dataclass, field

import typer

from ._pipeline import note
from ._report import counted


@dataclass(slots=True)
class WrittenOnce:
    """Remembers which records were written."""

    repeats: int = 0
    _written: set[str] = field(default_factory=set)

    def is_new(self, pmid: str) -> bool:
        """Return whether a record was not written before, and remember it."""
        if pmid in self._written:
            self.repeats += 1
            return False
        self._written.add(pmid)
        return True

    def report(self, ctx: typer.Context) -> None:
        """Print how many identifiers name a record that was already written."""
        if self.repeats:
            number = f"{counted(self.repeats, 'identifier')} {'names' if self.repeats == 1 else 'name'}"
            note(ctx, f"{number} a record that was already written; each record is written once.")

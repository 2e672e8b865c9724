"""Files for reference managers, which contain each record once."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from entrez_kit.base.frontend_text import format_count
from entrez_kit.citations.write_files import FILES

from . import Job, Sink, TextWriter

Entry = tuple[str | None, str | bytes]
"""The PMID of a record, if it has one, and its text."""


class References(TextWriter):
    """Writes the entry of each record once, also if several identifiers name the record."""

    def __init__(
        self,
        sink: Sink,
        entries: Callable[[Any], Iterable[Entry]],
        *,
        head: str | bytes = "",
        between: str | bytes = "",
        tail: str | bytes = "",
    ) -> None:
        super().__init__(
            sink, lambda outcome: self._select_new(entries(outcome)), head=head, between=between, tail=tail
        )
        self._written: set[str] = set()
        self._repeats = 0

    def _select_new(self, entries: Iterable[Entry]) -> Iterator[str | bytes]:
        """Yield the texts of records that were not written before."""
        for pmid, text in entries:
            if pmid is not None and pmid in self._written:
                self._repeats += 1
                continue
            self._written.update([pmid] if pmid is not None else [])
            yield text

    def get_note(self) -> str | None:
        """Return how many identifiers name a record that was already written."""
        if not self._repeats:
            return None
        number = format_count(self._repeats, "identifier names", "identifiers name")
        return f"{number} a record that was already written; each record is written once."


def create_references_writer(job: Job) -> References:
    """Return the writer of the selected file format."""
    style, articles = FILES[job.plan.format.name], job.view.articles
    assert articles is not None, "a command that accepts files for reference managers has articles"
    return References(
        job.sink,
        lambda outcome: ((article.pmid, style.entry(article)) for article in articles(outcome)),
        head=style.head,
        between=style.between,
        tail=style.tail,
    )

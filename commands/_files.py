"""Records as files for reference managers, entry by entry, so that memory does not grow with their number."""

from collections.abc import Iterable
from typing import Final

from entrez_kit.citations.files.entries import FILES
from entrez_kit.errors import InvalidInput
from entrez_kit.pubmed.models import Article

from ._output import Sink
from ._state import Plan, no_fields

MADE_OF_LINES: Final = ("ris", "nbib")
"""On a single line no program reads them."""


def fit_into_cells(made: Plan, styles: Iterable[str]) -> None:
    """Check that styles can stand in the cells of a table, which are one line each.

    Raises:
        InvalidInput: the format is csv or tsv, and a style is made of lines.
    """
    lined = next((style for style in styles if style in MADE_OF_LINES), None)
    if lined is not None and made.format in ("csv", "tsv"):
        raise InvalidInput(
            f"--style {lined} does not go with --format {made.format}: it is made of lines, and a cell is one line.",
            invalid_input=f"style={lined}",
            recovery_hint=f"Take json or jsonl; or let entrez-kit cite write the file: cite ID -f {lined}.",
            details={"reason": "bad_usage"},
        )


class Entries:
    """Writes one entry after the other.

    Raises:
        InvalidInput: --fields was given, which such a file cannot follow.
    """

    def __init__(self, sink: Sink, made: Plan) -> None:
        no_fields(made)
        self._sink = sink
        self._style = FILES[made.format]
        self._first = True

    def begin(self) -> None:
        """Write what a file begins with."""
        self._sink.data(self._style.head)

    def article(self, article: Article) -> None:
        """Write one entry."""
        entry = self._style.entry(article)
        self._sink.data(entry if self._first else self._style.between + entry)
        self._first = False

    def end(self) -> None:
        """Write what a file ends with; a file without entries, and without a frame, is empty."""
        if not self._first or self._style.head:
            self._sink.data(self._style.tail)
        self._sink.flush()

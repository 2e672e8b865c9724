"""Records as files for reference managers, entry by entry, so that memory does not grow with their number."""

from entrez_kit.citations.files import FILES
from entrez_kit.errors import InvalidInput
from entrez_kit.pubmed.models import Article

from ._output import Sink
from ._state import Plan


class Entries:
    """Writes one entry after the other.

    Raises:
        InvalidInput: --fields was given, which such a file cannot follow.
    """

    def __init__(self, sink: Sink, made: Plan) -> None:
        if made.fields:
            raise InvalidInput(
                f"--fields does not go with --format {made.format}.",
                invalid_input=f"format={made.format}",
                recovery_hint="Fields are for json, jsonl, csv, tsv and table.",
                details={"reason": "bad_usage"},
            )
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

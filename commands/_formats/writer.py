"""The interface of every writer. A writer takes one outcome at a time, so memory use is constant."""

from collections.abc import Callable, Iterable
from typing import Any, Final, Generic, TypeVar

from .._output import Sink

Piece = TypeVar("Piece")

PAGE_BREAK: Final = "\n---\n\n"
"""The separator of two Markdown pages."""


class Failed(dict[str, Any]):
    """The record of an input without a result. ``jsonl`` writes it with all its fields; other formats omit it."""


class Writer(Generic[Piece]):
    """Writes outcomes in one format.

    Args:
        sink: the destination.
        pieces: returns the parts of an outcome that the format writes: records, pages, entries.
    """

    whole: bool = False
    """Whether the collected result is the only outcome that the writer takes."""
    takes_records: bool = False
    """Whether a writer of the whole result takes each record when it arrives. The result then has no records."""

    def __init__(self, sink: Sink, pieces: Callable[[Any], Iterable[Piece]]) -> None:
        self.sink = sink
        self._pieces = pieces

    def begin(self) -> None:
        """Write the text before all outcomes."""

    def outcome(self, outcome: Any) -> None:
        """Write an outcome and flush it, so that the next program gets it at once and a closed pipe raises an error."""
        for piece in self._pieces(outcome):
            self.put(piece)
        self.sink.flush()

    def put(self, piece: Piece) -> None:
        """Write a piece of an outcome."""
        raise NotImplementedError

    def take_record(self, record: Any) -> None:
        """Store a record until the rest of the document is known."""
        raise NotImplementedError

    def end(self) -> None:
        """Write the text after all outcomes, and flush."""
        self.sink.flush()

    def remark(self) -> str | None:
        """Return a note about the output, for standard error."""
        return None


class Texts(Writer[str | bytes]):
    """Writes texts one after the other: ids, pages, bytes of a service.

    Args:
        sink: the destination.
        pieces: the texts of an outcome.
        head: the beginning of the file.
        between: the separator of two texts.
        tail: the end of the file; omitted if both the head and the texts are empty.
        whole: whether they are texts of the collected result.
    """

    def __init__(
        self,
        sink: Sink,
        pieces: Callable[[Any], Iterable[str | bytes]],
        *,
        head: str | bytes = "",
        between: str | bytes = "",
        tail: str | bytes = "",
        whole: bool = False,
    ) -> None:
        super().__init__(sink, pieces)
        self.whole = whole
        self._head, self._between, self._tail = head, between, tail
        self.first = True

    def begin(self) -> None:
        """Write the head."""
        self.sink.data(self._head)

    def put(self, piece: str | bytes) -> None:
        """Write a text."""
        if not self.first:
            self.sink.data(self._between)
        self.first = False
        self.sink.data(piece)

    def end(self) -> None:
        """Write the tail."""
        if self._head or not self.first:
            self.sink.data(self._tail)
        super().end()

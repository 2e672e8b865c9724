"""What every format has in common: a writer that takes one outcome after the other, so that memory does not grow."""

from collections.abc import Callable, Iterable
from typing import Any, Final, Generic, TypeVar

from .._output import Sink

Piece = TypeVar("Piece")

PAGE_BREAK: Final = "\n---\n\n"
"""Between two pages of Markdown."""


class Failed(dict[str, Any]):
    """The record of an input that came to nothing: a line of jsonl, whole whatever the fields; nothing elsewhere."""


class Writer(Generic[Piece]):
    """Turns outcomes into one format.

    Args:
        sink: where it goes.
        pieces: what the format takes of an outcome: records, pages, entries.
    """

    whole: bool = False
    """Whether the format takes the collected result as its only outcome."""

    def __init__(self, sink: Sink, pieces: Callable[[Any], Iterable[Piece]]) -> None:
        self.sink = sink
        self._pieces = pieces

    def begin(self) -> None:
        """Write what stands before all outcomes."""

    def outcome(self, outcome: Any) -> None:
        """Write an outcome, and hand it over at once: to whoever reads along, or to learn that nobody does any more."""
        for piece in self._pieces(outcome):
            self.put(piece)
        self.sink.flush()

    def put(self, piece: Piece) -> None:
        """Write a piece of an outcome."""
        raise NotImplementedError

    def end(self) -> None:
        """Write what stands after all outcomes, and hand everything over."""
        self.sink.flush()


class Texts(Writer[str | bytes]):
    """Texts one after the other: ids, pages, entries for reference managers, a service's own bytes.

    Args:
        sink: where they go.
        pieces: the texts of an outcome.
        head: what a file begins with.
        between: what separates two texts.
        tail: what a file ends with, unless it is empty and has no head.
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

"""Tables for a terminal: a view's own page of the whole result, or a grid of the fields a user names."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .._output import Sink
from .fields import Column, Record
from .writer import Failed, Writer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from .._state import State


class Table(Writer[Any]):
    """What a view makes of the whole result."""

    whole = True

    def __init__(self, sink: Sink, state: "State", table: "Callable[[Any, Console], RenderableType]") -> None:
        super().__init__(sink, lambda result: (result,))
        self._state = state
        self._table = table

    def put(self, piece: Any) -> None:
        """Show the result."""
        show(self._state, self.sink, lambda console: self._table(piece, console))


class Grid(Writer[Record]):
    """A row for each record, shown at the end: how wide a column is depends on all of them."""

    def __init__(
        self,
        sink: Sink,
        state: "State",
        records: Callable[[Any], Iterable[Record]],
        columns: Mapping[str, Column],
    ) -> None:
        super().__init__(sink, records)
        self._state = state
        self._columns = columns
        self._records: list[Record] = []

    def put(self, piece: Record) -> None:
        """Keep a record; what failed has no row."""
        if not isinstance(piece, Failed):
            self._records.append(piece)

    def end(self) -> None:
        """Show the rows."""
        from .._views.tables import grid

        show(self._state, self.sink, lambda console: grid(self._records, self._columns))
        super().end()


def show(state: "State", sink: Sink, make: "Callable[[Console], RenderableType]") -> None:
    """Print what is laid out for the width there is."""
    from .._console import console_for

    console = console_for(sink, state.color)
    console.print(make(console), crop=False)  # everything fits but the lines of files, which stay whole

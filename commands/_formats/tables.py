"""Tables for a terminal: a view's own page of the whole result, or a grid of the fields a user names."""

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from entrez_kit.base.invisible import visible

from .._output import Sink
from .._state import is_terminal
from . import Job
from .fields import Column, Record
from .writer import Failed, Writer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.segment import Segment

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


def table_writer(job: Job) -> Table | Grid:
    """Return the writer of the view's own page, or of a grid of the fields that the user names."""
    if job.plan.fields:
        return Grid(job.sink, job.state, job.rows, job.columns())
    return Table(job.sink, job.state, job.view.table)


def show(state: "State", sink: Sink, make: "Callable[[Console], RenderableType]") -> None:
    """Print what is laid out for the width there is; on a terminal by page where it is longer than the screen."""
    from rich.segment import Segment

    from .._console import create_console

    console = create_console(sink, state.color)
    page = make(console)
    if sink.isatty() and is_terminal(sys.stdin):
        lines = list(Segment.split_lines(console.render(page)))
        if len(lines) >= console.height:
            import pydoc

            sink.flush()
            bold = state.color != "never"
            text = "\n".join("".join(_overstruck(part, with_bold=bold) for part in line).rstrip() for line in lines)
            pydoc.pager(text + "\n")
            return
    console.print(page, crop=False)  # everything fits but the lines of files, which stay whole


def _overstruck(part: "Segment", *, with_bold: bool) -> str:
    """Return text as typewriters make it bold; pagers know that without being told, and colours only when told."""
    if part.control:
        return ""
    text = visible(part.text)
    if not (with_bold and part.style is not None and part.style.bold):
        return text
    return "".join(letter if letter.isspace() else f"{letter}\b{letter}" for letter in text)

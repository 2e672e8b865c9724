"""Tables for a terminal: the view of the whole result, or a grid of the fields that the user names."""

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from entrez_kit.base.invisible import remove_invisible

from .._state import is_terminal
from . import Failed, Job, Sink, View, Writer
from .fields import Column, Record

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.segment import Segment

    from .._state import State


class Table(Writer[Any]):
    """Prints the view of the whole result."""

    whole = True

    def __init__(self, sink: Sink, state: "State", table: "Callable[[Any, Console], RenderableType]") -> None:
        super().__init__(sink, lambda result: (result,))
        self._state = state
        self._table = table

    def put(self, piece: Any) -> None:
        """Show the result."""
        show(self._state, self.sink, lambda console: self._table(piece, console))


class Grid(Writer[Record]):
    """Prints a row for each record, after the last record, because the width of a column depends on all records."""

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
        """Store a record. Failed inputs have no row."""
        if not isinstance(piece, Failed):
            self._records.append(piece)

    def end(self) -> None:
        """Show the rows."""
        from .._views.tables import build_grid

        show(self._state, self.sink, lambda console: build_grid(self._records, self._columns))
        super().end()


def create_table_writer(job: Job) -> Table | Grid:
    """Return the writer of the view, or of a grid of the fields that the user names."""
    if job.plan.fields:
        return Grid(job.sink, job.state, job.rows, job.build_columns())
    return Table(job.sink, job.state, partial(draw, job.view))


def draw(view: View[Any], result: Any, console: "Console") -> "RenderableType":
    """Return the table of a result; by default its columns."""
    if view.table is not None:
        return view.table(result, console)
    from .._views.tables import build_grid

    return build_grid(view.list_found(result), view.columns)


def show(state: "State", sink: Sink, make: "Callable[[Console], RenderableType]") -> None:
    """Render a page and print it. On a terminal, a page longer than the screen opens in a pager."""
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
            text = "\n".join("".join(_add_overstrike(part, with_bold=bold) for part in line).rstrip() for line in lines)
            pydoc.pager(text + "\n")
            return
    console.print(page, crop=False)  # only lines of file formats can be too wide, and they must not be cut


def _add_overstrike(part: "Segment", *, with_bold: bool) -> str:
    """Return text with overstrike for bold. Pagers show overstrike by default, but colors only with an option."""
    if part.control:
        return ""
    text = remove_invisible(part.text)
    if not (with_bold and part.style is not None and part.style.bold):
        return text
    return "".join(letter if letter.isspace() else f"{letter}\b{letter}" for letter in text)

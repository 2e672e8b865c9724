"""A long text on a terminal: rendered from Markdown and wrapped at words."""

from typing import Any, ClassVar, Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult
from rich.constrain import Constrain
from rich.markdown import Heading, Markdown, TableElement
from rich.text import Text

from .._console import has_links

MAX_WIDTH: Final = 100
"""Longer lines of prose are hard to read; tables may be as wide as the terminal."""
_COLUMN_GAP: Final = 2


def markdown_page(markdown: str) -> RenderableType:
    """Return a text in Markdown as a page."""
    return Constrain(_MarkdownPage(markdown, code_theme="ansi_dark"), MAX_WIDTH)


class _Heading(Heading):
    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class _Table(TableElement):
    """A table; where a word of it would have to be cut, its rows become lines."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows: list[list[Text]] = []
        for part in (self.header.row if self.header is not None else None, *(self.body.rows if self.body else ())):
            if part is not None:
                rows.append([cell.content for cell in part.cells])
        needed = _width(rows)
        if needed <= options.max_width:
            yield from super().__rich_console__(console, options)
        elif needed <= console.width:
            yield from super().__rich_console__(console, options.update(width=console.width))
        else:
            yield Text()
            for row in rows:
                yield Text(" | ").join(row)


def _width(rows: list[list[Text]]) -> int:
    """Return how wide a table has to be so that no word in it is cut."""
    columns: dict[int, int] = {}
    for row in rows:
        for number, cell in enumerate(row):
            longest = max(map(cell_len, cell.plain.split()), default=1)
            columns[number] = max(columns.get(number, 1), longest)
    return sum(columns.values()) + _COLUMN_GAP * (len(columns) + 1)


class _MarkdownPage(Markdown):
    elements: ClassVar[dict[str, Any]] = {**Markdown.elements, "heading_open": _Heading, "table_open": _Table}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.hyperlinks = has_links(console)
        yield from super().__rich_console__(console, options)

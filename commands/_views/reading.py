"""Long Markdown texts, rendered for a terminal."""

from typing import Any, ClassVar, Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult
from rich.constrain import Constrain
from rich.markdown import BlockQuote, Heading, Markdown, TableElement
from rich.text import Text

from .._console import has_links

MAX_WIDTH: Final = 100
"""The maximum width of prose; longer lines are hard to read. Tables may use the full width of the terminal."""
_COLUMN_GAP: Final = 2


def render_markdown_page(markdown: str) -> RenderableType:
    """Render a Markdown text as a page."""
    return Constrain(_MarkdownPage(markdown, code_theme="ansi_dark"), MAX_WIDTH)


class _Heading(Heading):
    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class _Banner(BlockQuote):
    """A block quote: the notice of a retraction or a concern."""

    style_name = "bold red"


class _MarkdownTable(TableElement):
    """A table that prints its rows as lines if a column is too narrow for its longest word."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows: list[list[Text]] = []
        for part in (self.header.row if self.header is not None else None, *(self.body.rows if self.body else ())):
            if part is not None:
                rows.append([cell.content for cell in part.cells])
        needed = _measure(rows)
        if needed <= options.max_width:
            yield from super().__rich_console__(console, options)
        elif needed <= console.width:
            yield from super().__rich_console__(console, options.update(width=console.width))
        else:
            yield Text()
            for row in rows:
                yield Text(" | ").join(row)


def _measure(rows: list[list[Text]]) -> int:
    """Return the least width of a table that cuts no word."""
    columns: dict[int, int] = {}
    for row in rows:
        for number, cell in enumerate(row):
            longest = max(map(cell_len, cell.plain.split()), default=1)
            columns[number] = max(columns.get(number, 1), longest)
    return sum(columns.values()) + _COLUMN_GAP * (len(columns) + 1)


class _MarkdownPage(Markdown):
    elements: ClassVar[dict[str, Any]] = {
        **Markdown.elements,
        **{"heading_open": _Heading, "blockquote_open": _Banner, "table_open": _MarkdownTable},
    }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.hyperlinks = has_links(console)
        yield from super().__rich_console__(console, options)

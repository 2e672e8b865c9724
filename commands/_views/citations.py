"""Citations on a terminal, as a reference list with hanging indents."""

from collections.abc import Iterable
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from entrez_kit.base.invisible import remove_invisible
from entrez_kit.citations.format_citations import CitationsResult, FormattedCitation
from entrez_kit.citations.write_files import FILES

from .._formats.fields import Record, convert_to_data
from .articles import format_title
from .markdown import escape
from .tables import format_failure
from .text import to_line

MAX_WIDTH: Final = 100
INDENT: Final = 4


def render_citations(result: CitationsResult, console: Console) -> RenderableType:
    """Return one list of citations per style, in the order of the inputs. A failed input has a message instead."""
    styles = list(dict.fromkeys(style for citation in result.citations for style in citation.citations))
    parts: list[RenderableType] = []
    for style in styles or [""]:
        if len(styles) > 1:
            parts += [render_heading(style), Text("")]
        parts += _render_entries(result, style, min(console.width, MAX_WIDTH))
    return Group(*parts[:-1])


def _render_entries(result: CitationsResult, style: str, width: int) -> Iterable[RenderableType]:
    citations = iter(result.citations)
    if not result.outcomes:
        for citation in citations:
            yield from (_render_entry(citation, style, width), Text(""))
    for outcome in result.outcomes:
        if outcome.status == "found":
            yield from (_render_entry(next(citations), style, width), Text(""))
        else:
            yield from (Text.assemble((f"{to_line(outcome.input)}: ", "yellow"), format_failure(outcome)), Text(""))


def _render_entry(citation: FormattedCitation, style: str, width: int) -> RenderableType:
    return render_citation(citation.citations[style], style, width, format_title(convert_to_data(citation), ""))


def render_citation(text: str, style: str, width: int, mark: Text | None = None) -> RenderableType:
    """Return one citation with a hanging indent. An entry of a file format keeps its lines."""
    if style in FILES:
        lines = "\n".join(remove_invisible(part) for part in text.rstrip("\n").split("\n"))
        return Text(lines, no_wrap=True, overflow="ignore")
    words = mark.copy() if mark is not None else Text()
    words.append(to_line(text))
    return _indent_hanging(words, width)


def render_heading(style: str) -> RenderableType:
    """Return the name of a style as a horizontal rule."""
    return Constrain(Rule(Text(style, style="bold"), align="left", style="dim"), MAX_WIDTH)


def _indent_hanging(text: Text, width: int) -> RenderableType:
    """Indent every line of a text except the first."""
    console = Console(width=width)
    first = text.wrap(console, width)[0]
    rest = text[len(first.plain) :]
    rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
    first.rstrip()
    if not rest.plain:
        return first
    return Group(first, Padding(Group(*rest.wrap(console, width - INDENT)), (0, 0, 0, INDENT)))


def write_citation(record: Record, number: int = 0) -> str:
    """Return a citation as a Markdown list item, with the italics of its style."""
    mark = f"{number}." if number else "-"
    return "".join(
        f"{mark} {text if style not in FILES else escape(text)}\n" for style, text in record["citations"].items()
    )

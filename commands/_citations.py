"""What a terminal shows of citations: entries with a hanging indent, as reference lists have them."""

from collections.abc import Iterable
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from entrez_kit.citations.files import FILES
from entrez_kit.citations.operation import CitationsResult, FormattedCitation

from ._render import STATUS_STYLES
from ._text import LABELS, line

MAX_WIDTH: Final = 100
INDENT: Final = 4


def citations_page(result: CitationsResult, console: Console) -> RenderableType:
    """Return all citations, a list per style, in the order of the inputs, with what was not found in its place."""
    styles = list(dict.fromkeys(style for citation in result.citations for style in citation.citations))
    parts: list[RenderableType] = []
    for style in styles or [""]:
        if len(styles) > 1:
            heading = Rule(Text(style, style="bold"), align="left", style="dim")
            parts += [Constrain(heading, MAX_WIDTH), Text("")]
        parts += _entries(result, style, min(console.width, MAX_WIDTH))
    return Group(*parts[:-1])


def _entries(result: CitationsResult, style: str, width: int) -> Iterable[RenderableType]:
    found = iter(result.citations)
    if not result.outcomes:
        for citation in found:
            yield from (_entry(citation, style, width), Text(""))
    for outcome in result.outcomes:
        if outcome.status == "found":
            yield from (_entry(next(found), style, width), Text(""))
        else:
            words = f"{line(outcome.input)}: {outcome.status.replace('_', ' ')}: {line(outcome.message)}"
            yield from (Text(words, style="yellow"), Text(""))


def _entry(citation: FormattedCitation, style: str, width: int) -> RenderableType:
    text = citation.citations[style]
    if style in FILES:
        return Text(text.rstrip("\n"))
    entry = Text()
    if label := LABELS.get(citation.retraction_status):
        entry.append(label, style=STATUS_STYLES[label])
        entry.append(" ")
    entry.append(line(text))
    return hanging(entry, width)


def hanging(text: Text, width: int) -> RenderableType:
    """Return a text of which all lines but the first are indented."""
    console = Console(width=width)
    first = text.wrap(console, width)[0]
    rest = text[len(first.plain) :]
    rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
    first.rstrip()
    if not rest.plain:
        return first
    return Group(first, Padding(Group(*rest.wrap(console, width - INDENT)), (0, 0, 0, INDENT)))

"""The page of a merge: figures, undecided pairs and families."""

from typing import TYPE_CHECKING, Final

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from .text import to_line

if TYPE_CHECKING:
    from entrez_kit.references.merge.merge_documents import MergeResult

SHOWN: Final = 20
"""The number of pairs and families on a page; files have all of them."""


def render_merge(result: "MergeResult", console: Console) -> RenderableType:
    """Return the figures of the files and the databases, the undecided pairs and the families."""
    counts = result.counts
    parts: list[RenderableType] = [
        Text(f"{counts.works:,} works of {counts.records:,} records, {counts.duplicates:,} duplicates", style="bold"),
        _build_figures(
            "File", [(source.file, source.raw, source.unique, source.only_here) for source in result.sources]
        ),
    ]
    if len(result.databases) > 1 or [source.source for source in result.sources] != [
        database.source for database in result.databases
    ]:
        rows = [(database.source, database.raw, database.unique, database.only_here) for database in result.databases]
        parts += [Text(""), _build_figures("Database", rows)]
    if result.undecided:
        parts += [Text(""), Text(f"{counts.undecided:,} undecided", style="bold yellow")]
        for pair in result.undecided[:SHOWN]:
            parts.append(Text(to_line(pair.why), style="yellow"))
            parts += [
                Text(f"  {to_line(member)}  {to_line(text)}")
                for member, text in zip(pair.members, pair.texts, strict=True)
            ]
    families = [group for group in result.groups if group.kind == "family"]
    if families:
        parts += [Text(""), Text(f"{counts.families:,} families (separate records)", style="bold")]
        parts += [Text(f"{', '.join(map(to_line, group.members))}: {to_line(group.why)}") for group in families[:SHOWN]]
    hidden = max(0, len(result.undecided) - SHOWN) + max(0, len(families) - SHOWN)
    if hidden:
        parts.append(Text(f"{hidden:,} more with -f md or --json.", style="dim"))
    return Group(*parts)


def _build_figures(head: str, rows: list[tuple[str, int, int, int]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(head)
    for name in ("Records", "Works", "Only here"):
        table.add_column(name, justify="right")
    for name, *numbers in rows:
        table.add_row(to_line(name), *(f"{number:,}" for number in numbers))
    return table

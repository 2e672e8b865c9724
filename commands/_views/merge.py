"""The page of a merge: figures, undecided pairs and families."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from entrez_kit.base.frontend_text import format_count

from .._formats.fields import Record
from .markdown import escape
from .text import to_line

if TYPE_CHECKING:
    from entrez_kit.references.merge.merge_documents import MergeResult

MAX_GROUPS: Final = 20
"""The number of pairs and families on a page; files have all of them."""


def render_merge(result: "MergeResult", console: Console) -> RenderableType:
    """Return the figures of the files and the databases, the undecided pairs and the families."""
    counts = result.counts
    works, records = format_count(counts.works, "work"), format_count(counts.records, "record")
    parts: list[RenderableType] = [
        Text(f"{works} of {records}, {format_count(counts.duplicates, 'duplicate')}", style="bold"),
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
        for pair in result.undecided[:MAX_GROUPS]:
            parts.append(Text(to_line(pair.why), style="yellow"))
            parts += [
                Text(f"  {to_line(member)}  {to_line(text)}")
                for member, text in zip(pair.members, pair.texts, strict=True)
            ]
    families = [group for group in result.groups if group.kind == "family"]
    if families:
        parts += [
            Text(""),
            Text(f"{format_count(counts.families, 'family', 'families')} (separate records)", style="bold"),
        ]
        parts += [
            Text(f"{', '.join(map(to_line, group.members))}: {to_line(group.why)}") for group in families[:MAX_GROUPS]
        ]
    hidden = max(0, len(result.undecided) - MAX_GROUPS) + max(0, len(families) - MAX_GROUPS)
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


def write_work(record: Record) -> str:
    """Return a work as a list item in Markdown."""
    ids = [f"{name} {record[key]}" for key, name in (("pmid", "PMID"), ("doi", "doi")) if record.get(key)]
    place = " ".join(str(record[key]) for key in ("journal", "year") if record.get(key))
    text = ". ".join(part for part in (record.get("authors"), record.get("title"), place, *ids) if part)
    return f"- {escape(text)} ({escape(record['sources'])})\n"


def write_report(result: "MergeResult") -> Iterator[str]:
    """Yield a report in Markdown: figures, undecided pairs, and links."""
    counts = result.counts
    yield f"# Merged references: {format_count(counts.works, 'work')} of {format_count(counts.records, 'record')}\n\n"
    yield "| file | records | works | only here |\n|---|---:|---:|---:|\n"
    for row in result.sources:
        yield f"| {escape(row.file)} | {row.raw:,} | {row.unique:,} | {row.only_here:,} |\n"
    yield "\n| database | records | works | only here |\n|---|---:|---:|---:|\n"
    for database in result.databases:
        yield f"| {escape(database.source)} | {database.raw:,} | {database.unique:,} | {database.only_here:,} |\n"
    if result.undecided:
        yield "\n## Undecided pairs\n\n"
        for pair in result.undecided:
            yield f"- {escape(pair.why)}\n"
            yield from (
                f"  - {escape(member)}: {escape(text)}\n" for member, text in zip(pair.members, pair.texts, strict=True)
            )
    for kind, heading in (("family", "Families"), ("duplicate", "Duplicates")):
        groups = [group for group in result.groups if group.kind == kind]
        if groups:
            yield f"\n## {heading}\n\n"
            yield from (f"- {escape(', '.join(group.members))}: {escape(group.why)}\n" for group in groups)

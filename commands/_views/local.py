"""Pages about local copies."""

from rich.console import Group, RenderableType
from rich.text import Text

from entrez_kit.base.frontend_text import format_count
from entrez_kit.doctor.local import size
from entrez_kit.local.copies import CopyInfo
from entrez_kit.local.importing import CopyImportResult
from entrez_kit.local.verifying import Verification

from .tables import ListingTable, build_fact_list, build_fixed_column, build_number_column, build_wrapped_column
from .text import to_line


def render_copies(copies: list[CopyInfo]) -> RenderableType:
    """Return the table of all copies."""
    if not copies:
        return Text("No copies yet. `entrez-kit local import NAME FILE...` makes one.", style="dim")
    listing = ListingTable(
        build_fixed_column("Name"),
        build_number_column("Records"),
        build_fixed_column("Until"),
        build_fixed_column("Last file"),
        build_number_column("Size"),
        build_wrapped_column(""),
    )
    for copy in copies:
        listing.add_cells(
            to_line(copy.name),
            f"{copy.records:,}",
            copy.date or "",
            copy.last_file or "",
            size(copy.size_bytes),
            "" if copy.complete else Text("interrupted", style="yellow"),
        )
    return listing


def render_copy(info: CopyInfo) -> RenderableType:
    """Return the page of one copy."""
    rows: list[tuple[str, object]] = [
        ("Copy", Text(to_line(info.name), style="bold")),
        ("Records", f"{info.records:,} ({format_count(info.deleted, 'deletion')})"),
        ("Until", info.date or "no entry date"),
    ]
    if info.topic:
        rows.append(("Topic", to_line(info.topic)))
    if info.corpus:
        rows.append(("Corpus", to_line(info.corpus)))
    if info.last_file:
        baseline = f"baseline {info.baseline_year}, " if info.baseline_year else ""
        rows.append(("Files", f"{baseline}{format_count(info.files, 'file')}, the last is {info.last_file}"))
    if info.other_files:
        rows.append(("Other files", f"{info.other_files:,}"))
    mesh = f"{info.mesh_year or 'year unknown'} ({format_count(info.mesh_records, 'record')})"
    rows += [
        ("MeSH", mesh if info.mesh_records else "none; subheadings and narrower headings cannot be found"),
        ("Journals", f"{info.journals:,}"),
        ("Size", size(info.size_bytes)),
        ("Updated", info.updated_at or info.created_at),
        ("Hash", info.hash),
        ("Path", info.path),
    ]
    if not info.complete:
        rows.append(("State", Text("An import was interrupted. Run it again to complete the copy.", style="yellow")))
    return build_fact_list(rows)


def render_import(result: CopyImportResult) -> RenderableType:
    """Return the page of an import."""
    known = f", {format_count(result.already_applied, 'file')} already applied" if result.already_applied else ""
    parts: list[RenderableType] = [
        Text.assemble(
            (f"{format_count(result.applied, 'file')} applied", "bold green" if result.applied else "bold"),
            f"{known}: {format_count(result.records_read, 'record')}, "
            f"{format_count(result.deletions_read, 'deletion')}",
        )
    ]
    parts += [Text(f"Not applied: {failure.message}", style="red") for failure in result.failed]
    if result.ignored:
        parts.append(Text(f"Ignored, because they cannot be imported: {', '.join(result.ignored)}", style="dim"))
    return Group(*parts, render_copy(result.copy_info))


def render_verification(result: Verification) -> RenderableType:
    """Return the page of a check."""
    checked = f"{result.records_checked:,} of {format_count(result.records, 'record')} checked"
    if result.ok:
        return Text.assemble(("No problems", "bold green"), f" ({checked}). Hash: {result.hash}")
    parts = [Text.assemble((format_count(result.problem_count, "problem"), "bold red"), f" ({checked})")]
    parts += [Text(f"{problem.code}: {to_line(problem.message)}") for problem in result.problems]
    return Group(*parts)

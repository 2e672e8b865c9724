"""The pages of a review."""

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from entrez_kit.base.frontend_text import format_count

from .tables import ListingTable, build_fact_list, build_fixed_column, build_number_column, build_wrapped_column
from .text import to_line

if TYPE_CHECKING:
    from entrez_kit.reviews.dedupe_records import DedupeResult
    from entrez_kit.reviews.export_works import ScreenExportResult
    from entrez_kit.reviews.flow import Flow
    from entrez_kit.reviews.import_decisions import ScreenImportResult, UnmatchedRow
    from entrez_kit.reviews.import_records import ReviewImportResult
    from entrez_kit.reviews.init_review import InitResult
    from entrez_kit.reviews.search_review import SearchReviewResult
    from entrez_kit.reviews.show_status import StatusResult
    from entrez_kit.reviews.update_review import UpdateResult
    from entrez_kit.reviews.write_report import ReportResult

MAX_ROWS: Final = 20
"""The number of pairs, records or rows on a page; files have all of them."""


def render_init(result: "InitResult") -> RenderableType:
    """Return the files of a new review."""
    parts: list[RenderableType] = [Text(f"Created {to_line(result.folder)}", style="bold")]
    parts += [Text(f"  {to_line(name)}") for name in result.files]
    return Group(*parts)


def render_search(result: "SearchReviewResult") -> RenderableType:
    """Return the lines of the strategy with their counts, and the number of records."""
    listing = ListingTable(build_fixed_column("Line"), build_wrapped_column("Search"), build_number_column("Records"))
    for line in result.search.lines:
        if line.pubmed is not None:
            count = "" if line.count is None else f"{line.count:,}"
            listing.add_cells("" if line.number is None else str(line.number), to_line(line.pubmed), count)
    certificate = result.search.certificate
    rows: list[tuple[str, object]] = [
        ("Records", f"{result.records:,} of {certificate.count:,}"),
        ("Answered by", to_line(result.answered_by)),
        ("Searched", certificate.searched_at),
        ("Run", str(result.run)),
    ]
    empty = "The search found no records. Check the strategy: `entrez-kit strategy count FILE`."
    advice = [] if result.records else [Text(""), Text(empty, style="yellow")]
    return Group(listing, Text(""), build_fact_list(rows), *advice)


def render_import(result: "ReviewImportResult") -> RenderableType:
    """Return the numbers of the imported files."""
    listing = ListingTable(
        build_wrapped_column("File"),
        build_number_column("Records"),
        build_number_column("Added"),
        build_number_column("Known"),
    )
    for file in result.files:
        listing.add_cells(to_line(file.name), f"{file.records or 0:,}", f"{file.added or 0:,}", f"{file.known or 0:,}")
    total = f"{format_count(result.added, 'record')} added to {to_line(result.source)}, {result.known:,} known before"
    return Group(listing, Text(total, style="bold"))


def render_dedupe(result: "DedupeResult") -> RenderableType:
    """Return the figures of the sources, and the undecided pairs."""
    counts = result.counts
    works, records = format_count(counts.works, "work"), format_count(counts.records, "record")
    heading = f"{works} of {records}, {format_count(counts.duplicates, 'duplicate')}"
    listing = ListingTable(
        build_wrapped_column("Source"),
        build_number_column("Records"),
        build_number_column("Works"),
        build_number_column("Only here"),
    )
    for source in result.sources:
        listing.add_cells(to_line(source.source), f"{source.raw:,}", f"{source.unique:,}", f"{source.only_here:,}")
    parts: list[RenderableType] = [Text(heading, style="bold"), listing]
    for pair in result.undecided[:MAX_ROWS]:
        parts.append(Text(to_line(pair.why), style="yellow"))
        parts += [
            Text(f"  {to_line(member)}  {to_line(text)}") for member, text in zip(pair.members, pair.texts, strict=True)
        ]
    if len(result.undecided) > MAX_ROWS:
        parts.append(
            Text(f"{format_count(len(result.undecided) - MAX_ROWS, 'more pair')} in {result.file}.", style="dim")
        )
    return Group(*parts)


LABELS: Final = {
    "identified": "Records identified",
    "duplicates": "Duplicates",
    "excluded_automatic": "Removed by automation tools",
    "excluded_other": "Removed for other reasons",
    "to_screen": "Records to screen",
    "records_screened": "Records screened",
    "records_excluded": "Records excluded",
    "awaiting_screening": "Awaiting screening",
    "dbr_sought_reports": "Reports sought",
    "dbr_notretrieved_reports": "Reports not retrieved",
    "dbr_assessed": "Reports assessed",
    "dbr_excluded": "Reports excluded",
    "dbr_awaiting": "Awaiting a full-text decision",
    "new_reports": "Reports included",
    "new_studies": "Studies included",
}


def render_flow(flow: "Flow") -> RenderableType:
    """Return the boxes of the flow diagram; a box without decisions is empty."""
    rows: list[tuple[str, object]] = []
    for name, label in LABELS.items():
        count = flow.boxes.get(name)
        rows.append((label, "" if count is None else f"{count:,}"))
    return build_fact_list(rows)


def render_status(result: "StatusResult") -> RenderableType:
    """Return the runs and the numbers."""
    listing = ListingTable(
        build_number_column("Run"),
        build_fixed_column("Step"),
        build_fixed_column("Finished"),
        build_wrapped_column("Source"),
        build_wrapped_column("Numbers"),
    )
    for run in result.runs:
        numbers = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in run.counts.items())
        listing.add_cells(str(run.number), run.step, run.finished, to_line(run.source or ""), numbers)
    parts: list[RenderableType] = [Text(to_line(result.title or result.folder), style="bold"), listing, Text("")]
    parts.append(render_flow(result.flow))
    if result.retracted:
        parts.append(
            Text(f"{len(result.retracted):,} retracted: {', '.join(result.retracted[:MAX_ROWS])}", style="red")
        )
    if result.gone:
        parts.append(Text(f"{format_count(result.gone, 'record')} no longer found by the search", style="yellow"))
    return Group(*parts)


def render_update(result: "UpdateResult") -> RenderableType:
    """Return the changes since the last run."""
    if not result.changes:
        return Text(f"Nothing changed since {result.since}: {format_count(result.found, 'record')}.", style="bold")
    listing = ListingTable(
        build_fixed_column("Change"),
        build_fixed_column("PMID"),
        build_wrapped_column("Title", 3),
        build_wrapped_column("Details", 1),
    )
    for change in result.changes:
        details = [
            ", ".join(change.fields),
            change.status or "",
            change.successor or "",
            f"see {change.work}" if change.work else "",
        ]
        listing.add_cells(
            change.kind.replace("_", " "),
            change.pmid or "",
            to_line(change.title),
            to_line("; ".join(filter(None, details))),
        )
    numbers = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in result.counts.items())
    return Group(listing, Text(f"Since {result.since}: {numbers}", style="bold"))


def render_export(result: "ScreenExportResult") -> RenderableType:
    """Return the files to screen."""
    listing = ListingTable(build_wrapped_column("File"), build_wrapped_column("Source"), build_number_column("Works"))
    for file in result.files:
        listing.add_cells(to_line(file.file), to_line(file.source or "all"), f"{file.works:,}")
    return Group(Text(f"{format_count(result.works, 'work')} to screen", style="bold"), listing)


def render_decisions(result: "ScreenImportResult") -> RenderableType:
    """Return the numbers of the rows, and those that were not applied."""
    numbers = {name: getattr(result, name) for name in ("rows", "applied", "unchanged", "repeated", "undecided")}
    parts: list[RenderableType] = [
        build_fact_list([(name.capitalize(), f"{count:,}") for name, count in numbers.items()])
    ]
    for title, rows in (("Unknown", result.unknown), ("Contradictory", result.contradictory)):
        if rows:
            parts.append(Text(f"{title}: {len(rows):,}", style="yellow"))
            parts += [Text(f"  {to_line(row.place)}: {to_line(row.why)}{_quote(row)}") for row in rows[:MAX_ROWS]]
    return Group(*parts)


def _quote(row: "UnmatchedRow") -> str:
    """Return the text of a row in parentheses; "" if the reason has it."""
    return "" if row.text in row.why else f" ({to_line(row.text)})"


def render_report(result: "ReportResult") -> RenderableType:
    """Return the numbers, the open items of PRISMA-S, and the files."""
    missing = [f"{item.number} {item.name}" for item in result.prisma_s if item.is_open]
    parts: list[RenderableType] = [render_flow(result.flow), Text("")]
    if missing:
        parts.append(Text(f"To complete in review.toml: {', '.join(missing)}", style="yellow"))
    return Group(*parts, *(Text(to_line(name)) for name in result.files))


PAGES: Final[dict[str, Callable[[Any], RenderableType]]] = {
    "InitResult": render_init,
    "SearchReviewResult": render_search,
    "ReviewImportResult": render_import,
    "DedupeResult": render_dedupe,
    "StatusResult": render_status,
    "UpdateResult": render_update,
    "ReportResult": render_report,
    "ScreenExportResult": render_export,
    "ScreenImportResult": render_decisions,
}
"""The page of each result."""


def render_review(result: Any, folder: str) -> RenderableType:
    """Return the page of a result, with the next command for the folder that was given."""
    page = PAGES[type(result).__name__](result)
    step = NEXT.get(type(result).__name__, lambda _: None)(result)
    if step is None:
        return page
    place = "" if folder == "." else f" --folder {shlex.quote(folder)}"
    return Group(page, Text(f"Next: entrez-kit {step}{place}", style="dim"))


NEXT: Final[dict[str, Callable[[Any], str | None]]] = {
    "InitResult": lambda _: "review search",
    "SearchReviewResult": lambda result: "review dedupe" if result.records else None,
    "ReviewImportResult": lambda _: "review dedupe",
    "DedupeResult": lambda result: None if result.undecided else "review screen export",
    "StatusResult": lambda result: result.next,
    "UpdateResult": lambda result: None if result.undecided or not result.changes else "review screen export",
    "ScreenExportResult": lambda result: "review screen import FILE" if result.works else "review report",
    "ScreenImportResult": lambda _: "review status",
}
"""The next command of each result; None if a person decides first, or nothing is left to do."""

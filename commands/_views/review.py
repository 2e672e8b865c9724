"""The pages of a review."""

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from entrez_kit.base.numerals import format_count

from .tables import ListingTable, facts_table, fixed, number, wrapped
from .text import line

if TYPE_CHECKING:
    from entrez_kit.reviews.dedupe_records import DedupeResult
    from entrez_kit.reviews.flow import Flow
    from entrez_kit.reviews.import_records import ImportResult
    from entrez_kit.reviews.init_review import InitResult
    from entrez_kit.reviews.screen_export import ScreenExportResult
    from entrez_kit.reviews.screen_import import ScreenImportResult, UnmatchedRow
    from entrez_kit.reviews.search_review import SearchReviewResult
    from entrez_kit.reviews.show_status import StatusResult
    from entrez_kit.reviews.update_review import UpdateResult
    from entrez_kit.reviews.write_report import ReportResult

SHOWN: Final = 20


def init_page(result: "InitResult") -> RenderableType:
    """Return the files of a new review."""
    parts: list[RenderableType] = [Text(f"Created {line(result.folder)}", style="bold")]
    parts += [Text(f"  {line(name)}") for name in result.files]
    return Group(*parts)


def search_page(result: "SearchReviewResult") -> RenderableType:
    """Return the lines of the strategy with their counts, and the number of records."""
    listing = ListingTable(fixed("Line"), wrapped("Search"), number("Records"))
    for one in result.search.lines:
        if one.pubmed is not None:
            count = "" if one.count is None else f"{one.count:,}"
            listing.row("" if one.number is None else str(one.number), line(one.pubmed), count)
    certificate = result.search.certificate
    rows: list[tuple[str, object]] = [
        ("Records", f"{result.records:,} of {certificate.count:,}"),
        ("Answered by", line(result.answered_by)),
        ("Searched", certificate.searched_at),
        ("Run", str(result.run)),
    ]
    return Group(listing, Text(""), facts_table(rows))


def import_page(result: "ImportResult") -> RenderableType:
    """Return the numbers of the imported files."""
    listing = ListingTable(wrapped("File"), number("Records"), number("Added"), number("Known"))
    for one in result.files:
        listing.row(line(one.name), f"{one.records or 0:,}", f"{one.added or 0:,}", f"{one.known or 0:,}")
    total = f"{format_count(result.added, 'record')} added to {line(result.source)}, {result.known:,} known before"
    return Group(listing, Text(total, style="bold"))


def dedupe_page(result: "DedupeResult") -> RenderableType:
    """Return the figures of the sources, and the undecided pairs."""
    counts = result.counts
    heading = f"{counts.works:,} works of {counts.records:,} records, {counts.duplicates:,} duplicates"
    listing = ListingTable(wrapped("Source"), number("Records"), number("Works"), number("Only here"))
    for one in result.sources:
        listing.row(line(one.source), f"{one.raw:,}", f"{one.unique:,}", f"{one.only_here:,}")
    parts: list[RenderableType] = [Text(heading, style="bold"), listing]
    for pair in result.undecided[:SHOWN]:
        parts.append(Text(line(pair.why), style="yellow"))
        parts += [Text(f"  {line(one)}  {line(text)}") for one, text in zip(pair.members, pair.texts, strict=True)]
    if len(result.undecided) > SHOWN:
        parts.append(Text(f"{len(result.undecided) - SHOWN:,} more pairs in {result.file}.", style="dim"))
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


def flow_table(flow: "Flow") -> RenderableType:
    """Return the boxes of the flow diagram; a box without decisions is empty."""
    rows: list[tuple[str, object]] = []
    for name, label in LABELS.items():
        count = flow.boxes.get(name)
        rows.append((label, "" if count is None else f"{count:,}"))
    return facts_table(rows)


def status_page(result: "StatusResult") -> RenderableType:
    """Return the runs and the numbers."""
    listing = ListingTable(number("Run"), fixed("Step"), fixed("Finished"), wrapped("Source"), wrapped("Numbers"))
    for one in result.runs:
        numbers = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in one.counts.items())
        listing.row(str(one.number), one.step, one.finished, line(one.source or ""), numbers)
    parts: list[RenderableType] = [Text(line(result.title or result.folder), style="bold"), listing, Text("")]
    parts.append(flow_table(result.flow))
    if result.retracted:
        parts.append(Text(f"{len(result.retracted):,} retracted: {', '.join(result.retracted[:SHOWN])}", style="red"))
    if result.gone:
        parts.append(Text(f"{format_count(result.gone, 'record')} no longer found by the search", style="yellow"))
    return Group(*parts)


def update_page(result: "UpdateResult") -> RenderableType:
    """Return the changes since the last run."""
    if not result.changes:
        return Text(f"Nothing changed since {result.since}: {format_count(result.found, 'record')}.", style="bold")
    listing = ListingTable(fixed("Change"), fixed("PMID"), wrapped("Title", 3), wrapped("Details", 1))
    for one in result.changes:
        details = [", ".join(one.fields), one.status or "", one.successor or "", f"see {one.work}" if one.work else ""]
        listing.row(one.kind.replace("_", " "), one.pmid or "", line(one.title), line("; ".join(filter(None, details))))
    numbers = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in result.counts.items())
    return Group(listing, Text(f"Since {result.since}: {numbers}", style="bold"))


def export_page(result: "ScreenExportResult") -> RenderableType:
    """Return the files to screen."""
    listing = ListingTable(wrapped("File"), wrapped("Source"), number("Works"))
    for one in result.files:
        listing.row(line(one.file), line(one.source or "all"), f"{one.works:,}")
    return Group(Text(f"{format_count(result.works, 'work')} to screen", style="bold"), listing)


def decisions_page(result: "ScreenImportResult") -> RenderableType:
    """Return the numbers of the rows, and those that were not applied."""
    numbers = {name: getattr(result, name) for name in ("rows", "applied", "unchanged", "repeated", "undecided")}
    parts: list[RenderableType] = [facts_table([(name.capitalize(), f"{count:,}") for name, count in numbers.items()])]
    for title, rows in (("Unknown", result.unknown), ("Contradictory", result.contradictory)):
        if rows:
            parts.append(Text(f"{title}: {len(rows):,}", style="yellow"))
            parts += [Text(f"  {line(one.place)}: {line(one.why)}{_quote(one)}") for one in rows[:SHOWN]]
    return Group(*parts)


def _quote(row: "UnmatchedRow") -> str:
    """Return the text of a row in parentheses; "" if the reason has it."""
    return "" if row.text in row.why else f" ({line(row.text)})"


def report_page(result: "ReportResult") -> RenderableType:
    """Return the numbers, the open items of PRISMA-S, and the files."""
    missing = [f"{one.number} {one.name}" for one in result.prisma_s if one.is_open]
    parts: list[RenderableType] = [flow_table(result.flow), Text("")]
    if missing:
        parts.append(Text(f"To complete in review.toml: {', '.join(missing)}", style="yellow"))
    return Group(*parts, *(Text(line(name)) for name in result.files))


PAGES: Final[dict[str, Callable[[Any], RenderableType]]] = {
    "InitResult": init_page,
    "SearchReviewResult": search_page,
    "ImportResult": import_page,
    "DedupeResult": dedupe_page,
    "StatusResult": status_page,
    "UpdateResult": update_page,
    "ReportResult": report_page,
    "ScreenExportResult": export_page,
    "ScreenImportResult": decisions_page,
}
"""The page of each result."""


def review_page(result: Any, folder: str) -> RenderableType:
    """Return the page of a result, with the next command for the folder that was given."""
    page = PAGES[type(result).__name__](result)
    step = NEXT.get(type(result).__name__, lambda _: None)(result)
    if step is None:
        return page
    place = "" if folder == "." else f" --folder {shlex.quote(folder)}"
    return Group(page, Text(f"Next: entrez-kit {step}{place}", style="dim"))


NEXT: Final[dict[str, Callable[[Any], str | None]]] = {
    "InitResult": lambda _: "review search",
    "SearchReviewResult": lambda _: "review dedupe",
    "ImportResult": lambda _: "review dedupe",
    "DedupeResult": lambda result: None if result.undecided else "review screen export",
    "StatusResult": lambda result: result.next,
    "UpdateResult": lambda result: None if result.undecided or not result.changes else "review screen export",
    "ScreenExportResult": lambda result: "review screen import FILE" if result.works else "review report",
    "ScreenImportResult": lambda _: "review status",
}
"""The next command of each result; None if a person decides first, or nothing is left to do."""

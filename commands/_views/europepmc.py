"""Tables of Europe PMC records."""

from typing import Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from entrez_kit.base.frontend_text import format_count
from entrez_kit.pubmed.europepmc.search_europepmc import EuropePMCResult

from .._formats.fields import Record, convert_to_data
from .articles import build_article_cells, build_article_columns, format_title
from .tables import WIDE, ListingTable, build_fixed_column, build_link, build_number_column
from .text import format_people, format_source, get_record_key, list_links, to_line

OPEN: Final = "open access"


def render_search(result: EuropePMCResult, console: Console) -> RenderableType:
    """Return a table of the records with their sources and citation counts, and the cursor of the next page."""
    parts: list[RenderableType] = []
    if result.articles:
        parts += [_render_records(result, console), Text("")]
    summary = f"{len(result.articles):,} of {result.total_found:,}" if result.total_found else "No results."
    parts.append(Text(summary, style="bold"))
    parts.append(Text(f"Europe PMC searched for: {to_line(result.effective_query)}", style="dim"))
    if result.next_cursor:
        parts.append(Text(f"Next page: --cursor {to_line(result.next_cursor)}", style="dim"))
    return Group(*parts)


def _render_records(result: EuropePMCResult, console: Console) -> ListingTable:
    wide = console.width >= WIDE
    table = ListingTable(
        build_fixed_column("Id"),
        *build_article_columns(wide),
        *([build_number_column("Cited")] if wide else []),
        expand=wide,
    )
    for article in result.articles:
        record = convert_to_data(article)
        cited = record.get("cited_by_count")
        authors, notes = (
            format_people(record.get("authors"), 3 if wide else 2),
            _format_notes(record, cited=None if wide else cited),
        )
        cells = build_article_cells(
            wide, _format_title(record), authors, format_source(record), Text(notes, style="dim")
        )
        count = [Text("" if cited is None else f"{cited:,}")] if wide else []
        table.add_row(build_link(get_record_key(record), list_links(record)[0][1], console), *cells, *count)
    return table


def _format_title(record: Record) -> Text:
    """Return the title after the labels that must be seen first: a retraction or another notice, and PREPRINT."""
    text = format_title(record)
    kinds = [str(kind).lower() for kind in record.get("publication_types", ())]
    if record.get("source") == "PPR" or "preprint" in kinds:
        return Text.assemble(("PREPRINT", "bold magenta"), " ", text)
    return text


def _format_notes(record: Record, *, cited: int | None) -> str:
    doi, pmcid = to_line(record.get("doi")), to_line(record.get("pmcid"))
    notes = [f"doi:{doi}" if doi else "", pmcid, OPEN if record.get("is_open_access") else ""]
    if cited:
        notes.append(f"cited {format_count(cited, 'time')}")
    return "  ".join(note for note in notes if note)

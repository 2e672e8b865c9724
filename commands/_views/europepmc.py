"""What a terminal shows of Europe PMC's records."""

from typing import Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from entrez_kit.pubmed.europepmc.search_europepmc import EuropePMCResult

from .._formats.fields import Record, as_data
from .tables import WIDE, Listing, article_cells, article_columns, fixed, linked, number, titled
from .text import line, links_of, people, record_key, source_of

OPEN: Final = "open access"


def search_table(result: EuropePMCResult, console: Console) -> RenderableType:
    """Return records with where they come from, how often they are cited, and how to see the next page."""
    parts: list[RenderableType] = []
    if result.articles:
        parts += [_records(result, console), Text("")]
    shown = f"{len(result.articles):,} of {result.total_found:,}" if result.total_found else "Nothing found."
    parts.append(Text(shown, style="bold"))
    parts.append(Text(f"Europe PMC searched for: {line(result.effective_query)}", style="dim"))
    if result.next_cursor:
        parts.append(Text(f"Next page: --cursor {line(result.next_cursor)}", style="dim"))
    return Group(*parts)


def _records(result: EuropePMCResult, console: Console) -> Listing:
    wide = console.width >= WIDE
    table = Listing(fixed("Id"), *article_columns(wide), *([number("Cited")] if wide else []), expand=wide)
    for article in result.articles:
        record = as_data(article)
        cited = record.get("cited_by_count")
        authors, notes = people(record.get("authors"), 3 if wide else 2), _notes(record, cited=None if wide else cited)
        cells = article_cells(wide, _title(record), authors, source_of(record), Text(notes, style="dim"))
        count = [Text("" if cited is None else f"{cited:,}")] if wide else []
        table.add_row(linked(record_key(record), links_of(record)[0][1], console), *cells, *count)
    return table


def _title(record: Record) -> Text:
    """Return the title, with what must be seen first in front: how the work stands, or that it is a preprint."""
    text = titled(record)
    kinds = [str(kind).lower() for kind in record.get("publication_types", ())]
    if record.get("source") == "PPR" or "preprint" in kinds:
        return Text.assemble(("PREPRINT", "bold magenta"), " ", text)
    return text


def _notes(record: Record, *, cited: int | None) -> str:
    doi, pmcid = line(record.get("doi")), line(record.get("pmcid"))
    notes = [f"doi:{doi}" if doi else "", pmcid, OPEN if record.get("is_open_access") else ""]
    if cited:
        notes.append(f"cited {cited:,} {'time' if cited == 1 else 'times'}")
    return "  ".join(note for note in notes if note)

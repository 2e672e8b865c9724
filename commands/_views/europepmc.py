"""What a terminal shows of Europe PMC's records."""

from typing import Final

from rich.console import Console, RenderableType
from rich.text import Text

from entrez_kit.europepmc.search import EuropePMCResult

from .._formats.fields import Record, as_data
from .tables import WIDE, Listing, fixed, linked, number, titled, with_warnings, wrapped
from .text import line, links_of, people, record_key, source_of

OPEN: Final = "open access"
_PREPRINT: Final = "PREPRINT"


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
    return with_warnings(result, *parts)


def _records(result: EuropePMCResult, console: Console) -> Listing:
    wide = console.width >= WIDE
    about = [wrapped("Title", 4), wrapped("Authors", 2), wrapped("Source", 3), number("Cited")]
    table = Listing(fixed("Id"), *(about if wide else [wrapped("Article")]), expand=wide)
    for article in result.articles:
        table.add_row(*_cells(as_data(article), wide, console))
    return table


def _cells(record: Record, wide: bool, console: Console) -> list[RenderableType]:
    title = _title(record)
    place = source_of(record)
    cited = record.get("cited_by_count")
    if wide:
        notes = Text(_notes(record, cited=None), style="dim")
        shown = Text("\n").join([title, notes]) if notes else title
        count = "" if cited is None else f"{cited:,}"
        return [_key(record, console), shown, Text(people(record.get("authors"), 3)), Text(place), Text(count)]
    authors = people(record.get("authors"), 2)
    below = (" " if authors.endswith(".") else ". ").join(part for part in (authors, place) if part)
    notes = Text(_notes(record, cited=cited), style="dim")
    lines = [part for part in (title, Text(below, style="dim"), notes) if part]
    return [_key(record, console), Text("\n").join(lines)]


def _title(record: Record) -> Text:
    """Return the title, with what must be seen first in front: how the work stands, or that it is a preprint."""
    text = titled(record)
    kinds = [str(kind).lower() for kind in record.get("publication_types", ())]
    if record.get("source") == "PPR" or "preprint" in kinds:
        return Text.assemble((_PREPRINT, "bold magenta"), " ", text)
    return text


def _notes(record: Record, *, cited: int | None) -> str:
    """Return DOI, PMCID, open access and citations on one line."""
    doi, pmcid = line(record.get("doi")), line(record.get("pmcid"))
    notes = [f"doi:{doi}" if doi else "", pmcid, OPEN if record.get("is_open_access") else ""]
    if cited:
        notes.append(f"cited {cited:,} {'time' if cited == 1 else 'times'}")
    return "  ".join(note for note in notes if note)


def _key(record: Record, console: Console) -> Text:
    return linked(record_key(record), links_of(record)[0][1], console)

"""One record as a page on a terminal. A retraction comes first, in a box."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich import box
from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from .._console import has_links
from .._formats.fields import Record
from .markdown import grant, mesh_term
from .tables import facts
from .text import (
    banner,
    is_corrected,
    language,
    line,
    links_of,
    other_abstracts,
    other_corrections,
    people,
    person,
    source_of,
    standing_status,
    title_of,
)

MAX_WIDTH: Final = 100
"""The maximum width of prose; longer lines are hard to read."""
MAX_AUTHORS: Final = 12
_RED: Final = ("retracted", "withdrawn", "partially_retracted", "retraction_notice")


def record_page(record: Record, console: Console, *, full: bool = False) -> RenderableType:
    """Return a record as a page.

    Args:
        record: the article, book or chapter as plain data.
        console: the terminal.
        full: whether to add all authors with their affiliations, investigators, grants, and other details.
    """
    parts: list[RenderableType] = []
    if lines := banner(record):
        parts += [_render_banner(lines, "bold red" if standing_status(record) in _RED else "bold yellow"), Text("")]
    elif is_corrected(record):
        parts += [Text("CORRECTED: a correction to this article has been published.", style="bold yellow"), Text("")]
    titles = (Text(title_of(record), style="bold"), Text(line(record.get("vernacular_title")), style="italic"))
    parts += filter(None, (*titles, *_render_authors(record, full), Text(source_of(record), style="green")))
    parts.append(_format_kinds(record))
    parts += _render_abstract(record)
    parts += _render_corrections(record)
    parts += _render_facts(record, full)
    parts += [Text(""), _render_links(record, console)]
    return Constrain(Group(*parts), MAX_WIDTH)


def pages(records: Sequence[Record], console: Console, *, full: bool = False) -> RenderableType:
    """Return several records as pages, separated by rules."""
    parts: list[RenderableType] = []
    for record in records:
        if parts:
            parts += [Text(""), Rule(style="dim"), Text("")]
        parts.append(record_page(record, console, full=full))
    return Group(*parts)


def _render_banner(lines: Sequence[str], style: str) -> Panel:
    word, colon, rest = lines[0].partition(":")
    text = Text.assemble((word, f"{style} reverse"), (f"{colon}{rest}", style), *(f"\n{extra}" for extra in lines[1:]))
    return Panel(text, box=box.HEAVY, border_style=style, expand=True)


def _render_authors(record: Record, full: bool) -> list[Text]:
    authors = record.get("authors") or []
    if not authors:
        return []
    shown = authors if full else authors[:MAX_AUTHORS]
    places: dict[str, int] = {}
    text = Text(style="cyan")
    for author in shown:
        text.append(", " if text else "")
        text.append(_format_name(author, full))
        numbers = [
            places.setdefault(line(place), len(places) + 1) for place in author.get("affiliations") or () if full
        ]
        if numbers:
            text.append(f" [{', '.join(str(number) for number in numbers)}]", style="dim")
    if len(authors) > len(shown):
        text.append(f", and {len(authors) - len(shown)} more (-v shows all)", style="dim")
    elif record.get("authors_complete") is False:
        text.append(", et al. (PubMed's list is incomplete)", style="dim")
    parts = [text, *(Text(f"[{number}] {place}", style="dim") for place, number in places.items())]
    if full and (names := people(record.get("investigators"))):
        parts.append(Text.assemble(("Investigators: ", "bold"), names))
    return parts


def _format_name(author: Mapping[str, Any], full: bool) -> str:
    if not full or author.get("collective_name"):
        return person(author)
    parts = (author.get("first_name") or author.get("initials"), author.get("last_name"), author.get("suffix"))
    name = line(" ".join(str(part) for part in parts if part))
    return f"{name} (ORCID {line(author['orcid'])})" if author.get("orcid") else name


def _format_kinds(record: Record) -> Text:
    kinds = [line(name) for name in record.get("publication_types") or ()]
    if record.get("record_type") in ("book", "chapter"):
        kinds.insert(0, {"book": "Book", "chapter": "Book chapter"}[record["record_type"]])
    languages = [language(name) for name in record.get("languages") or () if name != "eng"]
    return Text("; ".join(kinds + ([f"in {', '.join(languages)}"] if languages else [])), style="dim")


def _render_abstract(record: Record) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if record.get("abstract_language"):
        parts += [Text(""), Text(f"Abstract in {language(record['abstract_language'])}:", style="dim")]
    for section in record.get("abstract_sections") or ():
        label = f"{line(section['label'])}: " if section.get("label") else ""
        parts += [Text(""), Text.assemble((label, "bold"), line(section.get("text")))]
    if not record.get("abstract_sections") and record.get("abstract_text"):
        parts += [Text(""), Text(line(record["abstract_text"]))]
    if not parts:
        parts = [Text(""), Text("No abstract in PubMed.", style="dim italic")]
    if record.get("abstract_copyright"):
        parts.append(Text(line(record["abstract_copyright"]), style="dim"))
    for name, other in other_abstracts(record):
        parts += [Text(""), Text.assemble((f"Abstract ({name}): ", "bold"), other)]
    return parts


def _render_corrections(record: Record) -> list[RenderableType]:
    lines = other_corrections(record)
    if not lines:
        return []
    bullets = Table.grid(padding=(0, 1))
    bullets.add_column(no_wrap=True)
    bullets.add_column(overflow="fold")
    for text in lines:
        bullets.add_row("•", Text(text))
    return [Text(""), Text("Corrections and comments", style="bold"), bullets]


def _render_facts(record: Record, full: bool) -> list[RenderableType]:
    rows = [
        ("MeSH", "; ".join(mesh_term(term) for term in record.get("mesh_terms") or ())),
        ("Keywords", "; ".join(line(word) for word in record.get("keywords") or ())),
    ]
    for bank in record.get("data_banks") or ():
        rows.append((line(bank.get("name")), ", ".join(line(number) for number in bank.get("accession_numbers") or ())))
    book = record.get("book_info") or {}
    rows.append(("ISBN", ", ".join(line(number) for number in book.get("isbns") or ())))
    if full:
        rows += [
            ("Concepts", "; ".join(line(concept.get("name")) for concept in record.get("supplemental_mesh") or ())),
            ("Editors", people(book.get("editors"))),
            ("Grants", "; ".join(grant(item) for item in record.get("grant_list") or ())),
            ("Conflict of interest", line(record.get("coi_statement"))),
            ("Revised", line(record.get("date_revised"))),
        ]
    table = facts(rows, "bold")
    return [Text(""), table] if table.row_count else []


def _render_links(record: Record, console: Console) -> Text:
    """Return the identifiers as links if the terminal supports links, otherwise with their URLs."""
    text = Text()
    clickable = has_links(console)
    for name, address in links_of(record):
        text.append(("  " if clickable else "\n") if text else "")
        if clickable:
            text.append(name, style=f"cyan underline link {address}")
        else:
            text.append(name, style="cyan")
            text.append(f"  {address}")
    return text

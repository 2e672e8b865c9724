"""Records as Markdown pages, and search results as list items. A terminal renders the same Markdown."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from .._formats.fields import Record
from .text import (
    STATUS_WORDS,
    build_banner,
    format_people,
    format_person,
    format_source,
    get_status_label,
    get_title,
    is_corrected,
    list_links,
    list_other_abstracts,
    list_other_corrections,
    name_language,
    to_line,
)

Fact = tuple[str, Sequence[object] | None]
"""A name, and its values."""

MAX_AUTHORS: Final = 12
"""The maximum number of authors on a terminal."""
_LONG_LISTS: Final = ("investigators", "coi_statement")
"""Fields that a terminal shows only on request."""
_SPECIAL: Final = re.compile(r"([\\`*\[\]<>|~])|(?<!\w)(_)|(_)(?!\w)|(&)(?=#?\w+;)")
_AT_START: Final = re.compile(r"^(\s*)([#+=-]|[0-9]+(?=[.)](?:\s|$)))")
"""Signs that begin a heading or a list: "#", "-", "1."."""


def escape(text: object) -> str:
    """Escape text for Markdown and join its lines."""
    inline = _SPECIAL.sub(lambda match: "\\" + match[0], to_line(text))
    return _AT_START.sub(lambda start: start[1] + (f"{start[2]}\\" if start[2].isdigit() else f"\\{start[2]}"), inline)


def write_article(record: Record) -> str:
    """Return a record as a Markdown page: banner, title, authors, source, abstract, terms, corrections, identifiers."""
    names = escape(format_people(record.get("authors")))
    if names and record.get("authors_complete") is False:
        names += ", et al."
    return _join_page(record, write_banner(record), names, _list_facts(record))


def write_article_for_screen(record: Record, *, full: bool = False) -> str:
    """Return a record as the Markdown page for a terminal; ``full`` adds all authors, affiliations and other facts."""
    notice = [quote.replace("\n", "  \n") for quote in write_banner(record)]
    if not notice and is_corrected(record):
        notice = ["> **CORRECTED: a correction to this article has been published.**"]
    book = record.get("book_info") or {}
    facts: list[Fact] = [
        ("Kind", [{"book": "Book", "chapter": "Book chapter"}.get(str(record.get("record_type")))]),
        ("Language", [name_language(name) for name in record.get("languages") or () if name != "eng"]),
        *_list_facts(record if full else {key: record[key] for key in record if key not in _LONG_LISTS}),
        ("ISBN", book.get("isbns")),
    ]
    if full:
        concepts = [concept.get("name") for concept in record.get("supplemental_mesh") or ()]
        facts += [("Concepts", concepts), ("Editors", [format_people(book.get("editors"))])]
        facts.append(("Revised", [record.get("date_revised")]))
    return _join_page(record, notice, _write_authors(record, full), facts, "  \n", "*No abstract in PubMed.*")


def _join_page(
    record: Record,
    notice: list[str],
    authors: str,
    facts: Iterable[Fact],
    between: str = " · ",
    no_abstract: str = "",
) -> str:
    original = record.get("vernacular_title")
    head = (f"# {escape(get_title(record))}", f"*{escape(original)}*" if original else "")
    parts = [*notice, *head, authors, escape(format_source(record)), *(_write_abstract(record) or [no_abstract])]
    if corrections := list_other_corrections(record):
        parts.append("\n".join(["## Corrections and comments", "", *(f"- {escape(text)}" for text in corrections)]))
    for name, values in facts:
        if text := "; ".join(filter(None, map(to_line, values or ()))):
            parts.append(f"**{name}:** {escape(text)}")
    parts.append(between.join(f"[{escape(name)}](<{address}>)" for name, address in list_links(record)))
    return "\n\n".join(filter(None, parts)) + "\n"


def _write_authors(record: Record, full: bool) -> str:
    """Return the first authors; all of them with ORCIDs and numbered affiliations if the page is full."""
    authors = record.get("authors") or []
    places: dict[str, int] = {}
    names = []
    for author in authors if full else authors[:MAX_AUTHORS]:
        name = format_person(author)
        if full and not author.get("collective_name"):
            parts = (author.get("first_name") or author.get("initials"), author.get("last_name"), author.get("suffix"))
            name = to_line(" ".join(str(part) for part in parts if part))
            name += f" (ORCID {to_line(author['orcid'])})" if author.get("orcid") else ""
        affiliations = (author.get("affiliations") or ()) if full else ()
        numbers = [str(places.setdefault(to_line(place), len(places) + 1)) for place in affiliations]
        names.append(f"{name} [{', '.join(numbers)}]" if numbers else name)
    if len(authors) > len(names):
        names.append(f"and {len(authors) - len(names)} more (-v shows all)")
    elif names and record.get("authors_complete") is False:
        names.append("et al. (PubMed's list is incomplete)")
    lines = [", ".join(names), *(f"[{number}] {place}" for place, number in places.items())]
    return "  \n".join(map(escape, lines))


def write_banner(record: Record) -> list[str]:
    """Return the banner as one block quote, or an empty list."""
    headline, *others = build_banner(record) or [""]
    return ["\n> ".join([f"> **{escape(headline)}**", *map(escape, others)])] if headline else []


def write_status(status: str, detail: str, findings: Iterable[str], *, grave: bool) -> str:
    """Return a checked text after its status, and a list of its findings. A grave status is a block quote."""
    words = STATUS_WORDS.get(status, status)
    head = f"> **{words.upper()}** {detail}\n" if grave else f"**{words}** {detail}\n"
    return head + "".join(f"\n- {finding}" for finding in findings) + "\n"


def _write_abstract(record: Record) -> list[str]:
    sections = record.get("abstract_sections") or []
    parts = []
    if sections or record.get("abstract_text"):
        own = record.get("abstract_language")
        parts.append(f"## Abstract ({escape(name_language(own))})" if own else "## Abstract")
    for section in sections:
        label = f"**{escape(section['label'])}:** " if section.get("label") else ""
        parts.append(label + escape(section.get("text")))
    if not sections and record.get("abstract_text"):
        parts += [escape(text) for text in str(record["abstract_text"]).split("\n") if text.strip()]
    if record.get("abstract_copyright"):
        parts.append(f"*{escape(record['abstract_copyright'])}*")
    for name, text in list_other_abstracts(record):
        parts += [f"## Abstract ({escape(name)})", escape(text)]
    return parts


def _list_facts(record: Record) -> list[Fact]:
    return [
        ("Publication types", record.get("publication_types")),
        ("MeSH terms", [format_mesh_term(term) for term in record.get("mesh_terms") or ()]),
        ("Keywords", record.get("keywords")),
        ("Registered", [format_bank(entry) for entry in record.get("data_banks") or ()]),
        ("Investigators", [format_person(author) for author in record.get("investigators") or ()]),
        ("Grants", [format_grant(item) for item in record.get("grant_list") or ()]),
        ("Conflict of interest", [record.get("coi_statement")]),
    ]


def format_mesh_term(term: Record) -> str:
    """Return a MeSH heading in PubMed's notation, "Sickle Cell Anemia*/genetics*/therapy" (* marks major topics)."""
    text = str(term.get("descriptor_name")) + ("*" if term.get("is_major_topic") else "")
    for qualifier in term.get("qualifiers") or ():
        text += f"/{qualifier.get('name')}" + ("*" if qualifier.get("is_major_topic") else "")
    return to_line(text)


def format_grant(item: Record) -> str:
    """Return a grant as "R01 HL000001, NHLBI NIH HHS, United States"."""
    return to_line(", ".join(str(item[key]) for key in ("grant_id", "agency", "country") if item.get(key)))


def format_bank(entry: Record) -> str:
    """Return an entry of a registry as "ClinicalTrials.gov NCT00000001"."""
    return to_line(" ".join([str(entry.get("name")), *entry.get("accession_numbers", ())]))


def write_item(record: Record) -> str:
    """Return a search result as a list item."""
    label = f"**{get_status_label(record)}** " if get_status_label(record) else ""
    address = list_links(record)[0][1]
    link = f"[PMID {record['pmid']}](<{address}>)"
    if not record.get("title"):
        return f"- {link}\n"
    text = f"- {label}{escape(record['title'])}"
    snippet = record.get("snippet")
    about = ". ".join(to_line(record.get(key)) for key in ("authors", "source", "pub_date") if record.get(key))
    parts = [text, *([escape(about)] if about else []), *([escape(to_line(snippet))] if snippet else []), link]
    return "  \n  ".join(parts) + "\n"

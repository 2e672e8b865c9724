"""Records as Markdown pages, and search results as list items."""

import re
from collections.abc import Iterable
from typing import Final

from .._formats.fields import Record
from .text import (
    STATUS_WORDS,
    banner,
    language,
    line,
    links_of,
    other_abstracts,
    other_corrections,
    people,
    person,
    source_of,
    status_label,
    title_of,
)

_SPECIAL: Final = re.compile(r"([\\`*\[\]<>|~])|(?<!\w)(_)|(_)(?!\w)|(&)(?=#?\w+;)")
_AT_START: Final = re.compile(r"^(\s*)([#+=-]|[0-9]+(?=[.)](?:\s|$)))")
"""Signs that begin a heading or a list: "#", "-", "1."."""


def escaped(text: object) -> str:
    """Escape text for Markdown and join its lines."""
    shown = _SPECIAL.sub(lambda match: "\\" + match[0], line(text))
    return _AT_START.sub(lambda start: start[1] + (f"{start[2]}\\" if start[2].isdigit() else f"\\{start[2]}"), shown)


def page(record: Record) -> str:
    """Return a record as a Markdown page: banner, title, authors, source, abstract, terms, corrections, identifiers."""
    parts = [*banner_page(record), f"# {escaped(title_of(record))}"]
    if record.get("vernacular_title"):
        parts.append(f"*{escaped(record['vernacular_title'])}*")
    if names := people(record.get("authors")):
        parts.append(escaped(names) + (", et al." if record.get("authors_complete") is False else ""))
    if source := source_of(record):
        parts.append(escaped(source))
    parts += _render_abstract(record)
    links = " · ".join(f"[{escaped(name)}](<{address}>)" for name, address in links_of(record))
    return "\n\n".join([*parts, *_render_lists(record), links]) + "\n"


def banner_page(record: Record) -> list[str]:
    """Return the banner as one block quote, or an empty list."""
    headline, *others = banner(record) or [""]
    return ["\n> ".join([f"> **{escaped(headline)}**", *map(escaped, others)])] if headline else []


def status_page(status: str, told: str, findings: Iterable[str], *, grave: bool) -> str:
    """Return a checked text after its status, and a list of its findings. A grave status is a block quote."""
    words = STATUS_WORDS.get(status, status)
    head = f"> **{words.upper()}** {told}\n" if grave else f"**{words}** {told}\n"
    return head + "".join(f"\n- {one}" for one in findings) + "\n"


def _render_abstract(record: Record) -> list[str]:
    sections = record.get("abstract_sections") or []
    parts = []
    if sections or record.get("abstract_text"):
        own = record.get("abstract_language")
        parts.append(f"## Abstract ({escaped(language(own))})" if own else "## Abstract")
    for section in sections:
        label = f"**{escaped(section['label'])}:** " if section.get("label") else ""
        parts.append(label + escaped(section.get("text")))
    if not sections and record.get("abstract_text"):
        parts += [escaped(text) for text in str(record["abstract_text"]).split("\n") if text.strip()]
    if record.get("abstract_copyright"):
        parts.append(f"*{escaped(record['abstract_copyright'])}*")
    for name, text in other_abstracts(record):
        parts += [f"## Abstract ({escaped(name)})", escaped(text)]
    return parts


def _render_lists(record: Record) -> list[str]:
    parts = []
    if corrections := other_corrections(record):
        parts.append("\n".join(["## Corrections and comments", "", *(f"- {escaped(text)}" for text in corrections)]))
    for name, values in (
        ("Publication types", record.get("publication_types")),
        ("MeSH terms", [mesh_term(term) for term in record.get("mesh_terms") or ()]),
        ("Keywords", record.get("keywords")),
        ("Registered", [bank(entry) for entry in record.get("data_banks") or ()]),
        ("Investigators", [person(author) for author in record.get("investigators") or ()]),
        ("Grants", [grant(item) for item in record.get("grant_list") or ()]),
    ):
        if values:
            parts.append(f"**{name}:** " + escaped("; ".join(line(value) for value in values)))
    if record.get("coi_statement"):
        parts.append(f"**Conflict of interest:** {escaped(record['coi_statement'])}")
    return parts


def mesh_term(term: Record) -> str:
    """Return a MeSH heading in PubMed's notation, "Sickle Cell Anemia*/genetics*/therapy" (* marks major topics)."""
    text = str(term.get("descriptor_name")) + ("*" if term.get("is_major_topic") else "")
    for qualifier in term.get("qualifiers") or ():
        text += f"/{qualifier.get('name')}" + ("*" if qualifier.get("is_major_topic") else "")
    return line(text)


def grant(item: Record) -> str:
    """Return a grant as "R01 HL000001, NHLBI NIH HHS, United States"."""
    return line(", ".join(str(item[key]) for key in ("grant_id", "agency", "country") if item.get(key)))


def bank(entry: Record) -> str:
    """Return an entry of a registry as "ClinicalTrials.gov NCT00000001"."""
    return line(" ".join([str(entry.get("name")), *entry.get("accession_numbers", ())]))


def item(record: Record) -> str:
    """Return a search result as a list item."""
    label = f"**{status_label(record)}** " if status_label(record) else ""
    address = links_of(record)[0][1]
    link = f"[PMID {record['pmid']}](<{address}>)"
    if not record.get("title"):
        return f"- {link}\n"
    text = f"- {label}{escaped(record['title'])}"
    snippet = record.get("snippet")
    about = ". ".join(line(record.get(key)) for key in ("authors", "source", "pub_date") if record.get(key))
    parts = [text, *([escaped(about)] if about else []), *([escaped(line(snippet))] if snippet else []), link]
    return "  \n  ".join(parts) + "\n"

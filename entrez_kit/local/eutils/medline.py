"""PubMed records as text: MEDLINE (nbib) and the abstract format."""

import re
from collections.abc import Iterator
from typing import Final

from entrez_kit.base.history_events import CREATED, ENTERED, find_event
from entrez_kit.local.eutils.entrez_data import NOTICES
from entrez_kit.local.records.document import Document, IndexTerm, Person

WIDTH: Final = 87
"""Maximum length of a MEDLINE line. A longer value continues on the next line after six spaces."""
_ISSN_KINDS: Final = {"Print": "Print", "Electronic": "Electronic", "Linking": "Linking"}


def render_medline(document: Document) -> str:
    """Return a record in MEDLINE format, without the blank line between records."""
    return "\n".join(line for tag, value in _list_fields(document) for line in _wrap(tag, value)) + "\n"


def _wrap(tag: str, value: str) -> Iterator[str]:
    """Wrap a value at spaces, or inside a word that is longer than a line."""
    rest = f"{tag:<4}- {value}"
    while len(rest) > WIDTH:
        cut = rest.rfind(" ", 6, WIDTH + 1)
        if cut <= 6:
            yield rest[:WIDTH]
            rest = " " * 6 + rest[WIDTH:]
        else:
            yield rest[:cut]
            rest = " " * 6 + rest[cut + 1 :]
    yield rest


def _format_number(number: int) -> str:
    return str(number) if number else ""


def _list_fields(document: Document) -> Iterator[tuple[str, str]]:
    for list_some in (_list_heads, _list_people, _list_publication, _list_subjects, _list_ids_and_history):
        yield from ((tag, value) for tag, value in list_some(document) if value)


def _list_heads(document: Document) -> Iterator[tuple[str, str]]:
    yield "PMID", document.pmid
    yield "OWN", document.owner
    yield "STAT", document.status
    yield "DCOM", _format_number(document.completed.number)
    yield "LR", _format_number(document.revised.number)
    for kind, number in document.issns:
        yield "IS", f"{number} ({_ISSN_KINDS.get(kind, 'Undetermined')})"
    if document.isbn:
        yield "ISBN", document.isbn
    yield "VI", document.volume
    yield "IP", document.issue
    yield "DP", document.publication_date.text
    yield "TI", document.title
    if document.is_book:
        yield "BTI", document.book_title
    yield "PG", document.pages
    for kind, value in document.locations:
        yield "LID", f"{value} [{kind}]"
    yield "AB", document.abstract_text
    for kind, text in document.other_abstracts:
        yield "OAB", f"{kind}: {text}" if kind else text
    yield "CI", document.copyright


def _list_people(document: Document) -> Iterator[tuple[str, str]]:
    for person in document.authors:
        yield from _describe(person, "FAU", "AU")
    for person in document.editors:
        yield from _describe(person, "FED", "ED")


def _describe(person: Person, full: str, short: str) -> Iterator[tuple[str, str]]:
    if person.group:
        yield "CN", person.group
    else:
        yield full, person.full
        yield short, person.short
    for source, value in person.identifiers:
        yield "AUID", f"{source}: {value}"
    for affiliation in person.affiliations:
        yield "AD", affiliation


def _list_publication(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the fields about the form of a publication, its journal and its publisher."""
    yield from (("LA", language) for language in document.languages)
    yield from (("SI", accession) for accession in document.accessions)
    yield from (("GR", "/".join(grant)) for grant in document.grants)
    yield from (("PT", kind) for kind in document.publication_types)
    yield "DEP", _format_number(document.electronic_date.number)
    yield "TT", document.vernacular_title
    yield "PL", document.publisher_location or document.country
    yield "PB", document.publisher
    yield "TA", document.journal_ta
    yield "JT", document.journal_title
    yield "JID", document.nlm_id


def _list_subjects(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the fields of indexing, of related records and of keywords."""
    yield from (("RN", f"{number} ({name})") for number, name in document.chemicals)
    yield from (("SB", subset) for subset in document.subsets)
    yield from (("MH", _format_heading(heading)) for heading in document.headings)
    for correction in document.corrections:
        if correction.kind in NOTICES:
            pmid = f" PMID: {correction.pmid}" if correction.pmid else ""
            yield NOTICES[correction.kind][0], f"{correction.source}{pmid}"
    yield from (("OTO", owner) for owner in dict.fromkeys(owner for owner, _, _ in document.keywords))
    yield from (("OT", f"*{word}" if major else word) for _, word, major in document.keywords)
    for person in document.investigators:
        yield "FIR", person.full
        yield "IR", person.short
    yield "COIS", document.conflict_of_interest


def _list_ids_and_history(document: Document) -> Iterator[tuple[str, str]]:
    yield "PMC", document.pmcid
    yield "MID", document.get_identifier("mid")
    for tag, kinds in (("EDAT", ENTERED), ("MHDA", ("medline",)), ("CRDT", CREATED)):
        yield tag, _format_event(document, *kinds)
    yield from (("PHST", f"{day.slashed} {clock} [{kind}]") for kind, day, clock in document.history if day)
    yield from (("AID", f"{value} [{kind}]") for kind, value in document.ids if kind in ("doi", "pii", "bookaccession"))
    yield "PST", document.publication_status
    yield "SO", format_citation(document)


def _format_heading(heading: IndexTerm) -> str:
    name = f"*{heading.name}" if heading.major else heading.name
    return "/".join([name, *(f"*{qualifier}" if major else qualifier for qualifier, major in heading.qualifiers)])


def _format_event(document: Document, *kinds: str) -> str:
    moments = ((kind, f"{day.slashed} {clock}") for kind, day, clock in document.history if day)
    return find_event(moments, kinds) or ""


def format_citation(document: Document) -> str:
    """Return the source line: journal, date, volume, issue, pages, identifiers."""
    if document.is_book:
        return f"{document.book_title}. {document.publication_date.text}."
    issue = f"({document.issue})" if document.issue else ""
    location = f"{document.volume}{issue}" + (f":{document.pages}" if document.pages else "")
    text = f"{document.journal_ta}. {document.publication_date.text}" + (f";{location}" if location else "") + "."
    for kind, value in document.locations:
        text += f" {kind}: {value}."
    if document.electronic_date and document.publication_model.startswith("Print"):
        text += f" Epub {document.electronic_date.text}."
    return text


def render_abstract(document: Document, number: int) -> str:
    """Return a numbered record in the abstract format, without the blank lines between records."""
    people = ", ".join(person.short for person in document.authors)
    parts = [f"{number}. {format_citation(document)}", document.title]
    if people:
        parts.append(f"{people}.")
    affiliations = dict.fromkeys(affiliation for person in document.authors for affiliation in person.affiliations)
    if affiliations:
        parts.append(
            "\n".join(
                ["Author information:", *(f"({i}){affiliation}" for i, affiliation in enumerate(affiliations, start=1))]
            )
        )
    parts += [f"{label}: {text}" if label else text for label, text in document.abstract]
    if document.copyright:
        parts.append(document.copyright)
    ids = [("DOI", document.doi), ("PMCID", document.pmcid)]
    indexed = " [Indexed for MEDLINE]" if document.status == "MEDLINE" else ""
    ids.append(("PMID", f"{document.pmid}{indexed}"))
    if document.conflict_of_interest:
        parts.append(f"Conflict of interest statement: {document.conflict_of_interest}")
    parts.append("\n".join(f"{name}: {value}" for name, value in ids if value))
    return "\n\n".join(_wrap_lines(part) for part in parts) + "\n"


def _wrap_lines(text: str) -> str:
    """Wrap the lines of a paragraph at 80 characters, only at spaces."""
    return "\n".join(re.sub(r"(.{1,80})(?: +|$)", r"\1\n", line).rstrip("\n") or line for line in text.split("\n"))

"""Write PubMed records as RIS, the tagged format that every reference manager imports.

Existing libraries number the records, join several addresses in one line, and keep all records in memory. Lines end
with a line feed, which readers accept as well as CR LF. A value is one line, so that no text in a record looks like its
end.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from entrez_kit.base.identifiers import PMC
from entrez_kit.citations.csl import Item, build_csl_item, find_unclear_number, list_notes, to_one_line
from entrez_kit.citations.names import ONE_NAME, Name, format_family_name
from entrez_kit.citations.titles import split_titles
from entrez_kit.pubmed.models import Article, JournalInfo

_TYPES: Final = {
    "article-journal": "JOUR",
    "article-newspaper": "NEWS",
    "article": "UNPB",
    "book": "BOOK",
    "chapter": "CHAP",
    "report": "RPRT",
}
"""Reference managers store preprints as unpublished works, with the server as publisher."""

BOOK_AUTHORS: Final = "Authors of the book: "
"""The beginning of a note in the record of a chapter; RIS has no field for these authors."""

Line = tuple[str, Any]


def write_ris_record(article: Article) -> str:
    """Return a record as RIS, from TY to ER, without a final line end.

    Names are "Family, Given, Suffix", or the name of a group. Article numbers are in the field of the first page;
    those that could be a page are also in C7. A retraction is a note.
    """
    item = build_csl_item(article)
    kind = _TYPES[item["type"]]
    lines: list[Line] = [("TY", kind), *_write_titles(article, item, kind), *_write_place(item, kind)]
    lines += [*_write_dates(article, item), *_write_rest(article, item)]
    written = [f"{tag}  - {text}" for tag, value in lines if (text := to_one_line(value))]
    return "\n".join([*written, "ER  - "])


def write_ris_name(name: Name) -> str:
    """Return a name in RIS order: family name, given names, suffix."""
    if "literal" in name:
        return mark_group(name["literal"])
    return join_ris_name(format_family_name(name), name.get("given"), name.get("suffix"))


def note_book_authors(names: Iterable[str]) -> str:
    """Return the note with the authors of the book of a chapter."""
    return f"{BOOK_AUTHORS}{'; '.join(names)}"


def mark_group(name: str) -> str:
    """Return the name of a group, with a comma at its end if it would be read as a person: one word, or commas."""
    return f"{name}," if "," in name or ONE_NAME.fullmatch(name) else name


def join_ris_name(family: str, given: str | None, suffix: str | None) -> str:
    """Return the parts of a name, separated by commas: "Doe, Jane, Jr", or "Doe, , Jr" without given names."""
    return ", ".join((family, given or "", suffix or "")).rstrip(", ")


def _write_titles(article: Article, item: Item, kind: str) -> Iterator[Line]:
    for name in item.get("author", ()):
        yield "AU", write_ris_name(name)
    # Editors are secondary authors of a chapter, but tertiary authors of a book (secondary ones edit the series).
    for name in item.get("editor", ()):
        yield "A2" if kind == "CHAP" else "A3", write_ris_name(name)
    title, own = split_titles(article.title, article.vernacular_title)
    yield from (("TI", title), ("TT", own))
    container, short = item.get("container-title"), item.get("container-title-short")
    if kind in ("JOUR", "NEWS"):
        yield from (("T2", container), ("JF", container), ("J2", short), ("JA", short))
    elif kind == "CHAP":
        yield from (("T2", container), ("T3", item.get("collection-title")))
    else:
        yield "T2", item.get("collection-title")
        yield "J2", short if short != item.get("publisher") else None


def _write_place(item: Item, kind: str) -> Iterator[Line]:
    yield "VL", item.get("volume")
    yield "IS", item.get("issue")
    first, dash, last = str(item.get("page") or "").partition("-")
    yield "SP", first or (item.get("number") if kind != "RPRT" else None)
    if dash:
        yield "EP", last
    yield "C7", find_unclear_number(item)
    yield "ET", item.get("edition")
    yield "SE", item.get("chapter-number")
    yield "PB", item.get("publisher")
    yield "CY", item.get("publisher-place")
    if kind == "RPRT":
        yield "SN", item.get("number")
    yield "SN", item.get("ISSN") or item.get("ISBN")
    yield "M3", item.get("genre")


def _write_dates(article: Article, item: Item) -> Iterator[Line]:
    """Yield the year, and the date as year/month/day/rest; the rest is PubMed's text of a season or range."""
    issued: dict[str, Any] = item.get("issued", {})
    parts = [str(part) for part in next(iter(issued.get("date-parts", ())), ())]
    published = (article.journal_info or JournalInfo()).publication_date
    rest = str(issued.get("literal", ""))
    if published is not None and published.medline_date and parts[:1] == [str(published.year)]:
        rest = published.medline_date
    yield from ([("PY", parts[0])] if parts else [])
    if parts or rest:
        year, month, day = (*(part.zfill(2) for part in parts), "", "", "")[:3]
        yield "DA", f"{year}/{month}/{day}/{rest}"


def _write_rest(article: Article, item: Item) -> Iterator[Line]:
    yield "DO", item.get("DOI")
    yield "AN", article.pmid or getattr(article, "key", None)
    if item["type"] != "chapter":  # in a chapter, C2 is the authors of the book
        yield "C2", article.pmcid
    yield "AB", item.get("abstract")
    for word in dict.fromkeys([*article.keywords, *(term.descriptor_name for term in article.mesh_terms)]):
        yield "KW", word
    yield "LA", item.get("language")
    for address in dict.fromkeys([item.get("URL"), article.url]):
        yield "UR", address
    if article.pmcid:
        yield "UR", f"{PMC}{article.pmcid}/"
    for text in list_notes(article):
        yield "N1", text
    if names := item.get("container-author"):
        yield "N1", note_book_authors(map(write_ris_name, names))
    yield "DB", item.get("source")

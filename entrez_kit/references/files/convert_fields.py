"""Convert RIS fields of a record to other formats: CSL-JSON and MEDLINE."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from entrez_kit.base.identifiers import BOOKSHELF, read_identifier
from entrez_kit.citations.csl import AHEAD_OF_PRINT, Item, join_keywords, parse_edition
from entrez_kit.citations.names import ONE_NAME, OTHERS, format_nlm_suffix, space_initials, split_particle
from entrez_kit.citations.titles import format_article_title
from entrez_kit.citations.write_ris import BOOK_AUTHORS, join_ris_name
from entrez_kit.pubmed.models import LANGUAGES
from entrez_kit.pubmed.pages import page_and_number
from entrez_kit.references.files.field_values import (
    describe_date,
    find_range,
    is_preprint,
    is_standard_number,
    parse_language,
)
from entrez_kit.references.files.references import find_year, parse_name
from entrez_kit.references.files.ris_tags import ABSTRACT_TAGS, AUTHOR_TAGS, JOURNAL_TAGS, TITLE_TAGS
from entrez_kit.references.files.tagged_fields import CSL_TYPES, Field, get_first_value, list_values, parse_date


def convert_to_csl(fields: Sequence[Field], key: str, *, pmid: str | None, doi: str | None, pmcid: str | None) -> Item:
    """Return RIS fields as an item of CSL-JSON."""
    kind = _find_csl_type(fields)
    title, own = get_first_value(fields, *TITLE_TAGS), get_first_value(fields, "TT")
    container, series = get_first_value(fields, *JOURNAL_TAGS), get_first_value(fields, "T3")
    if kind in _WITHOUT_CONTAINER:  # the second title is that of the series
        container, series = None, series or get_first_value(fields, "T2")
    publisher = get_first_value(fields, "PB")
    if kind == "article":  # the server of a preprint is its publisher
        container, publisher = None, publisher or container
    page, number, issue = _find_place(fields, kind)
    standard_numbers = [value for value in list_values(fields, "SN") if kind != "report" or is_standard_number(value)]
    note = [
        value
        for tag, value in fields
        if tag in ("N1", "RN") and not value.startswith(("source: ", "merged with ", BOOK_AUTHORS))
    ]
    accessed = parse_date(get_first_value(fields, "Y2"))
    item: Item = {
        "id": key,
        "type": kind,
        "title": format_article_title(title, own) if title and own else title or own,
        "author": [_build_csl_name(name) for name in list_values(fields, *AUTHOR_TAGS)],
        "editor": [_build_csl_name(name) for name in list_values(fields, "A2", "ED", "A3")],
        "container-author": [_build_csl_name(name) for name in _list_book_authors(fields)],
        "container-title": container,
        "container-title-short": short if (short := get_first_value(fields, "J2", "JA")) != container else None,
        "collection-title": series,
        "volume": get_first_value(fields, "VL"),
        "issue": issue,
        "page": page,
        "number": number,
        "chapter-number": get_first_value(fields, "SE") if kind in ("book", "chapter") else None,
        "issued": find_csl_date(fields),
        "accessed": {"date-parts": [accessed]} if accessed else None,
        "DOI": doi,
        "PMID": pmid,
        "PMCID": pmcid,
        "URL": get_first_value(fields, "UR"),
        "publisher": publisher,
        "publisher-place": get_first_value(fields, "CY", "PP"),
        ("version" if kind in ("dataset", "software") else "edition"): parse_edition(get_first_value(fields, "ET")),
        "language": parse_language(get_first_value(fields, "LA") or ""),
        "abstract": get_first_value(fields, *ABSTRACT_TAGS),
        "keyword": join_keywords(list_values(fields, "KW")),
        "genre": _find_genre(fields, kind),
        ("ISBN" if kind in ("book", "chapter", "report") else "ISSN"): next(iter(standard_numbers), None),
        "source": get_first_value(fields, "DB"),
        "note": ". ".join(note),
    }
    # PubMed adds volume and pages when the issue is published.
    if kind == "article-journal" and pmid and doi and not (item["volume"] or issue or page or number):
        item["status"] = AHEAD_OF_PRINT
    return {name: value for name, value in item.items() if value not in (None, "", [], {})}


def _find_csl_type(fields: Sequence[Field]) -> str:
    """Return the type of a record in CSL. Some programs write the server of a preprint as its journal."""
    kind = CSL_TYPES.get(get_first_value(fields, "TY") or "", "document")
    if kind == "article" and not is_preprint(*(value for tag, value in fields if tag in ("M3", "PB", "T2", "DB"))):
        return "manuscript"
    if kind == "article-journal" and not get_first_value(fields, "VL"):
        return "article" if is_preprint(get_first_value(fields, *JOURNAL_TAGS)) else kind
    return kind


def _find_place(fields: Sequence[Field], kind: str) -> tuple[str | None, str | None, str | None]:
    """Return the pages, the number of an electronic article or of a report, and the issue."""
    pages = _join_pages(fields)
    article_number, issue = get_first_value(fields, "C7"), get_first_value(fields, "IS", "CP")
    if kind.startswith("article"):
        return *page_and_number(pages or article_number, article_number), issue
    if kind != "report":
        return pages or article_number, None, issue
    numbers = [value for tag in ("SN", "M1") for value in list_values(fields, tag) if not is_standard_number(value)]
    return pages, next(iter(numbers), issue), None


def _join_pages(fields: Sequence[Field]) -> str:
    """Return the first and the last page; empty without pages."""
    return "-".join(part for tag in ("SP", "EP") if (part := get_first_value(fields, tag)))


_WITHOUT_CONTAINER: Final = frozenset(("book", "report", "thesis"))
_WITH_GENRE: Final = frozenset(("thesis", "report", "article", "manuscript", "webpage", "dataset", "software"))
"""The types whose kind is part of a citation: PhD thesis, Preprint, Technical report."""


def _find_genre(fields: Sequence[Field], kind: str) -> str | None:
    """Return the kind of a work, for types that print it; M3 can also be the kind of a journal article, or a DOI."""
    if kind not in _WITH_GENRE:
        return None
    if kind == "article":
        return "Preprint"
    return next((value for value in list_values(fields, "M3") if read_identifier(value) is None), None)


def _list_book_authors(fields: Sequence[Field]) -> list[str]:
    """Return the authors of the book of a chapter, which RIS has in a note."""
    notes = [value for value in list_values(fields, "N1") if value.startswith(BOOK_AUTHORS)]
    return notes[0].removeprefix(BOOK_AUTHORS).split("; ") if notes else []


def find_csl_date(fields: Sequence[Field]) -> dict[str, Any] | None:
    """Return the date of a record as a CSL date: year, month and day, a range, or a season."""
    parts = find_date(fields)
    texts = [value for tag in ("DA", "PY", "Y1") for value in list_values(fields, tag)]
    return find_range(texts, parts) or ({"date-parts": [parts]} if parts else None)


def find_date(fields: Sequence[Field]) -> list[int]:
    """Return the date of a record: year, month and day, as far as its fields have them and agree on the year."""
    year = find_year(get_first_value(fields, "PY", "Y1", "DA"))
    dates = [parse_date(get_first_value(fields, tag)) for tag in ("DA", "PY", "Y1")]
    matching = [date for date in dates if year is not None and date[:1] == [int(year)]]
    return max(matching, key=len, default=[int(year)] if year else [])


def _build_csl_name(text: str) -> dict[str, str]:
    if text.strip().lower() in ("et al.", "et al", OTHERS):
        return {"literal": OTHERS}
    name = parse_name(text)
    if name.group and name.group == text and ONE_NAME.fullmatch(text):  # a group of one word ends with a comma
        return {"family": text}
    if name.group:
        return {"literal": name.group}
    particle, family = split_particle(name.family or "")
    parts = {"family": family, "given": name.given, "non-dropping-particle": particle, "suffix": name.suffix}
    return {part: value for part, value in parts.items() if value}


def convert_to_nbib(
    fields: Sequence[Field], *, pmid: str | None, doi: str | None, pmcid: str | None
) -> Iterator[Field]:
    """Yield RIS fields as fields of a MEDLINE record."""
    kind = get_first_value(fields, "TY")
    journal, short = get_first_value(fields, "T2", "JF", "JO"), get_first_value(fields, "J2", "JA")
    publisher = get_first_value(fields, "PB")
    csl_type = CSL_TYPES.get(kind or "")
    is_chapter = csl_type == "chapter"
    is_book = is_chapter or csl_type in ("book", "report")
    yield "PMID", pmid or ""
    for number in list_values(fields, "SN"):
        if is_standard_number(number):
            yield ("ISBN" if is_book else "IS"), number
    yield "VI", get_first_value(fields, "VL") or ""
    yield "IP", get_first_value(fields, "IS", "CP") or ""
    yield "DP", describe_date(find_csl_date(fields) or {})
    title, own = get_first_value(fields, *TITLE_TAGS) or "", get_first_value(fields, "TT")
    yield "TI", f"[{title}]." if own else title
    yield "TT", own or ""
    if is_book:
        book, series = (journal, None) if is_chapter else (title, journal)
        yield "BTI", book or ""
        yield "CTI", get_first_value(fields, "T3") or series or ""
        yield "ETN", get_first_value(fields, "ET") or ""
    yield "PG", _join_pages(fields)
    yield "LID", f"{doi} [doi]" if doi else ""
    article_number = get_first_value(fields, "C7")
    if article_number and _join_pages(fields) in ("", article_number):
        yield "LID", f"{article_number} [pii]"
    yield "AB", get_first_value(fields, *ABSTRACT_TAGS) or ""
    yield from _write_nbib_names(list_values(fields, *AUTHOR_TAGS), "FAU", "AU")
    yield from _write_nbib_names(list_values(fields, "A2", "ED", "A3"), "FED", "ED")
    for language in list_values(fields, "LA"):
        yield "LA", _NLM_LANGUAGES.get(parse_language(language), language)
    if is_server := _find_csl_type(fields) == "article":
        journal, publisher = journal or publisher, None
    known = "Preprint" if is_server else _NLM_TYPES.get(kind or "")
    for name in dict.fromkeys(filter(None, (known, *list_values(fields, "M3")))):
        yield "PT", name
    yield "PL", get_first_value(fields, "CY", "PP") or ""
    yield "PB", publisher or ""
    if not is_book:
        yield "TA", short or journal or ""
        yield "JT", journal or short or ""
    for word in list_values(fields, "KW"):
        yield "OT", word
    for note in list_values(fields, "N1"):
        yield "GN", note
    yield "PMC", pmcid or ""
    for address in list_values(fields, "UR"):
        if address.startswith(BOOKSHELF):
            yield "AID", f"{address.removeprefix(BOOKSHELF).strip('/')} [bookaccession]"


_NLM_TYPES: Final = {"NEWS": "Newspaper Article", "RPRT": "Technical Report"}
_NLM_LANGUAGES: Final = {code: nlm for nlm, (code, _) in LANGUAGES.items()}


def _write_nbib_names(names: Iterable[str], full: str, short: str) -> Iterator[Field]:
    """Yield persons with their full and short names, and groups."""
    for text in names:
        parts = _build_csl_name(text)
        if parts == {"literal": OTHERS}:
            yield "GN", "The list of authors is incomplete."
        elif "literal" in parts:
            yield "CN", parts["literal"]
        else:
            name = parse_name(text)
            family = name.family or parts["family"]
            suffix = format_nlm_suffix(name.suffix) if name.suffix else ""
            initials = re.sub(r"[ .]", "", space_initials(name.given or ""))
            yield full, join_ris_name(family, " ".join(filter(None, (name.given, suffix))), None)
            yield short, " ".join(filter(None, (family, initials, suffix)))

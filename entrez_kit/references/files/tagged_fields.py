"""All fields of a record as RIS fields, so that records of every format can be compared, merged and written.

A field without a tag in RIS becomes a note, "name: value".
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from entrez_kit.base.identifiers import BOOKSHELF
from entrez_kit.citations.csl import ARTICLE_NUMBER, JOINER, SEASONS
from entrez_kit.citations.titles import format_journal_title, split_titles
from entrez_kit.citations.write_ris import join_ris_name, mark_group, note_book_authors
from entrez_kit.pubmed.pages import expand_ranges
from entrez_kit.pubmed.xml.dates import is_existing_day, read_month
from entrez_kit.references.files.csl_values import clean_csl_date, get_article_number, list_csl_names, read_csl_author
from entrez_kit.references.files.field_values import (
    is_preprint,
    parse_date_text,
    parse_language,
    read_text,
    write_ris_date,
)
from entrez_kit.references.files.references import RefAuthor, Reference
from entrez_kit.references.files.ris_tags import PEOPLE_TAGS

Field = tuple[str, str]

CSL_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("JOUR", "EJOUR", "JFULL", "ABST", "INPR"), "article-journal"),
    "MGZN": "article-magazine",
    "NEWS": "article-newspaper",
    "UNPB": "article",
    **dict.fromkeys(("BOOK", "EBOOK", "EDBOOK", "SER"), "book"),
    **dict.fromkeys(("CHAP", "ECHAP"), "chapter"),
    **dict.fromkeys(("CONF", "CPAPER"), "paper-conference"),
    **dict.fromkeys(("RPRT", "GOVDOC", "STAND"), "report"),
    **dict.fromkeys(("THES",), "thesis"),
    **dict.fromkeys(("ELEC", "WEB", "ICOMM", "BLOG"), "webpage"),
    **dict.fromkeys(("DATA", "AGGR"), "dataset"),
    "COMP": "software",
    "PREP": "article",
    "PAT": "patent",
}
_RIS_TYPES: Final = {kind: tag for tag, kind in reversed(list(CSL_TYPES.items()))} | {
    "article": "UNPB",
    "book": "BOOK",
    "chapter": "CHAP",
    "paper-conference": "CPAPER",
    "report": "RPRT",
    "webpage": "ELEC",
    "manuscript": "UNPB",
}
_BIBTEX_TYPES: Final = {
    "article": "JOUR",
    **dict.fromkeys(("book", "mvbook", "collection", "proceedings"), "BOOK"),
    **dict.fromkeys(("inbook", "incollection", "inreference"), "CHAP"),
    **dict.fromkeys(("inproceedings", "conference"), "CPAPER"),
    **dict.fromkeys(("phdthesis", "mastersthesis", "thesis"), "THES"),
    **dict.fromkeys(("techreport", "report"), "RPRT"),
    **dict.fromkeys(("online", "electronic", "www"), "ELEC"),
    **dict.fromkeys(("unpublished", "preprint"), "UNPB"),
    "dataset": "DATA",
    "software": "COMP",
    "patent": "PAT",
}
_BIBTEX_TAGS: Final = {
    "title": "TI",
    **dict.fromkeys(("journal", "journaltitle", "booktitle"), "T2"),
    "shortjournal": "J2",
    "series": "T3",
    "volume": "VL",
    **dict.fromkeys(("number", "issue"), "IS"),
    "url": "UR",
    "abstract": "AB",
    **dict.fromkeys(("issn", "isbn"), "SN"),
    **dict.fromkeys(("publisher", "institution", "school", "organization", "howpublished"), "PB"),
    **dict.fromkeys(("address", "location"), "CY"),
    ARTICLE_NUMBER: "C7",
    "edition": "ET",
    "chapter": "SE",
    "type": "M3",
    "urldate": "Y2",
    **dict.fromkeys(("note", "annote", "annotation"), "N1"),
}
_CSL_TAGS: Final = {
    "title": "TI",
    "container-title": "T2",
    "container-title-short": "J2",
    "collection-title": "T3",
    "volume": "VL",
    "issue": "IS",
    "DOI": "DO",
    "URL": "UR",
    "abstract": "AB",
    "ISSN": "SN",
    "ISBN": "SN",
    "publisher": "PB",
    "publisher-place": "CY",
    "edition": "ET",
    "chapter-number": "SE",
    "note": "N1",
    "genre": "M3",
    "source": "DB",
    "archive": "DB",
    "PMCID": "C2",
}
_NBIB_TAGS: Final = {
    "AB": "AB",
    "OAB": "AB",
    "TA": "J2",
    "VI": "VL",
    "IP": "IS",
    "PMC": "C2",
    "PT": "M3",
    "AD": "AD",
    "PB": "PB",
    "PL": "CY",
    "ETN": "ET",
    "CTI": "T3",
    "GN": "N1",
}
_ENDNOTE_TYPES: Final = {
    "0": "JOUR",
    "17": "JOUR",
    "43": "EJOUR",
    "6": "BOOK",
    "44": "EBOOK",
    "5": "CHAP",
    "10": "CONF",
    "47": "CPAPER",
    "32": "THES",
    "27": "RPRT",
    "12": "ELEC",
    "34": "UNPB",
    "23": "NEWS",
    "19": "MGZN",
    "59": "DATA",
}
_ENDNOTE_TAGS: Final = (
    ("contributors/authors/author", "AU"),
    ("contributors/secondary-authors/author", "A2"),
    ("titles/title", "TI"),
    ("titles/tertiary-title", "T3"),
    ("titles/short-title", "ST"),
    ("titles/translated-title", "TT"),
    ("volume", "VL"),
    ("number", "IS"),
    ("electronic-resource-num", "DO"),
    ("accession-num", "AN"),
    ("remote-database-name", "DB"),
    ("remote-database-provider", "DP"),
    ("keywords/keyword", "KW"),
    ("abstract", "AB"),
    ("notes", "N1"),
    ("research-notes", "RN"),
    ("label", "LB"),
    ("isbn", "SN"),
    ("publisher", "PB"),
    ("pub-location", "CY"),
    ("edition", "ET"),
    ("language", "LA"),
    ("auth-address", "AD"),
    ("work-type", "M3"),
    ("call-num", "CN"),
    ("reviewed-item", "RI"),
    ("urls/related-urls/url", "UR"),
    ("urls/web-urls/url", "UR"),
    *((f"custom{number}", f"C{number}") for number in range(1, 9)),
)
_PLUMBING: Final = frozenset(("file", "timestamp", "owner", "date-added", "date-modified", "month", "day"))
"""Fields of BibTeX that only the program that wrote them needs."""


def get_first_value(fields: Iterable[Field], *tags: str) -> str | None:
    """Return the first value of the first tag that has one."""
    values = list_values(fields, *tags)
    return values[0] if values else None


def list_values(fields: Iterable[Field], *tags: str) -> list[str]:
    """Return the values of the first of several tags that has values."""
    values: dict[str, list[str]] = {}
    for tag, value in fields:
        if tag in tags and value:
            values.setdefault(tag, []).append(value)
    return next((values[tag] for tag in tags if tag in values), [])


def _clean(fields: Iterable[tuple[str, Any]]) -> tuple[Field, ...]:
    """Return fields with values of one line, without empty and repeated ones; two people can have the same name."""
    found: list[Field] = []
    seen: set[Field] = set()
    for tag, value in fields:
        line = (tag, read_text(value))
        if line[1] and (tag in PEOPLE_TAGS or line not in seen):
            found.append(line)
            seen.add(line)
    return tuple(found)


def name_author(author: RefAuthor) -> str:
    """Return the name of an author as in RIS."""
    if author.group:
        return mark_group(author.group)
    return join_ris_name(author.family or "", author.given, author.suffix)


_DATE: Final = re.compile(r"([0-9]{4})(?:[ /.-]+([A-Za-z]{3,9}|[0-9]{1,2})(?![0-9]))?(?:[ /.-]+([0-9]{1,2})(?![0-9]))?")


def parse_date(text: str | None) -> list[int]:
    """Return year, month and day of a date such as 2019/12/24/, 2019-12 or 1975 Jun 3, as far as it has them."""
    match = _DATE.search(text or "")
    if match is None:
        return []
    year, day = int(match[1]), int(match[3] or 0)
    month = int(match[2]) if (match[2] or "").isdigit() else read_month(match[2] or "") or 0
    if not 1 <= month <= 12:
        return [year]
    return [year, month, day] if day and is_existing_day(year, month, day) else [year, month]


def split_pages(text: str | None) -> Iterator[tuple[str, str | None]]:
    """Yield the first page, and the last one of a range, as RIS fields."""
    first, dash, last = expand_ranges((text or "").replace("--", "-")).partition("-")
    yield "SP", first.strip()
    if dash:
        yield "EP", last.strip()


def convert_reference(reference: Reference) -> tuple[Field, ...]:
    """Return the fields of a reference of a list or a manuscript."""
    return _clean(
        [
            ("TY", "JOUR" if reference.journal or not reference.title else "GEN"),
            *(("AU", name_author(author)) for author in reference.authors),
            ("TI", reference.title),
            ("T2", reference.journal),
            ("PY", reference.year),
            ("VL", reference.volume),
            ("IS", reference.issue),
            *split_pages(reference.pages),
            ("DO", reference.doi),
            ("AN", reference.pmid),
            ("DB", "PubMed" if reference.pmid else None),
            ("C2", reference.pmcid),
            ("N1", reference.text if reference.text != reference.title else None),
        ]
    )


def convert_bibtex(
    kind: str,
    values: Mapping[str, str],
    reference: Reference,
    editors: Iterable[RefAuthor],
    book_authors: Iterable[RefAuthor] = (),
) -> tuple[Field, ...]:
    """Return the fields of a BibTeX entry; ``values`` are texts without LaTeX."""
    fields: list[tuple[str, Any]] = [("TY", _find_bibtex_type(kind, values)), ("ID", reference.key)]
    fields += [("AU", name_author(author)) for author in reference.authors]
    if reference.more_authors:
        fields.append(("AU", "et al."))
    fields += [("A2", name_author(editor)) for editor in editors]
    for name, value in values.items():
        if name == "number" and kind in ("techreport", "report"):
            fields.append(("SN", value))
        elif name == "issue" and value.lower() in SEASONS:
            continue
        elif name == "howpublished" and (address := _ADDRESS.search(value)):
            fields.append(("UR", address[0]))
        elif name in ("language", "langid"):
            fields.append(("LA", parse_language(value)))
        elif name in _BIBTEX_TAGS:
            fields.append((_BIBTEX_TAGS[name], value))
        elif name == "bookauthor":
            fields.append(("N1", note_book_authors(map(name_author, book_authors))))
        elif name in ("keywords", "keyword", "groups", "mendeley-tags"):
            fields += [("KW", word) for word in _split_keywords(value)]
        elif name not in _PLUMBING and name not in _READ_BY_REFERENCE:
            fields.append(("N1", f"{name}: {value}"))
    if fields[0] == ("TY", "UNPB") and is_preprint(*map(values.get, _NAMES_OF_SERVERS)):
        fields.append(("M3", "Preprint"))
    fields += [("PY", reference.year), ("DA", write_ris_date(_read_bibtex_date(values, reference.year)))]
    fields += split_pages(reference.pages)
    if values.get("eprint") and values.get("eprinttype", values.get("archiveprefix", "")).lower() == "arxiv":
        fields += [("UR", f"https://arxiv.org/abs/{values['eprint']}"), ("PB", "arXiv")]
    return _clean([*fields, *_yield_id_fields(reference)])


_NAMES_OF_SERVERS: Final = ("type", "howpublished", "publisher", "organization", "eprinttype", "archiveprefix", "note")
"""Fields of BibTeX that can name the server of a preprint, or say that the work is one."""


def _find_bibtex_type(kind: str, values: Mapping[str, str]) -> str:
    """Return the RIS type of an entry; BibTeX has no type for preprints and web pages."""
    known = _BIBTEX_TYPES.get(kind, "GEN")
    if known not in ("GEN", "ELEC"):
        return known
    if is_preprint(*map(values.get, _NAMES_OF_SERVERS)):
        return "UNPB"
    has_publisher = any(values.get(name) for name in ("publisher", "institution", "school"))
    return "ELEC" if kind == "misc" and not has_publisher and _ADDRESS.search(" ".join(values.values())) else known


def _read_bibtex_date(values: Mapping[str, str], year: str | None) -> dict[str, Any] | None:
    """Return the date of an entry: year, month and day, or the range or season of biblatex."""
    years = re.findall("[0-9]{4}", values.get("year", ""))
    if len(years) == 2 and not values.get("date"):
        return {"date-parts": [[int(part)] for part in years]}
    text = values.get("date") or f"{year or ''} {values.get('month', '')} {values.get('day', '')}"
    ends = [parts for part in text.split("/") if (parts := parse_date(part))]
    dates = ends if len(ends) == 2 and ends[0] < ends[1] else [parse_date(text)]
    season = SEASONS.get(values.get("issue", "").lower())
    return {"date-parts": dates, **({"season": season} if season else {})} if dates[0] else None


def _split_keywords(text: str) -> list[str]:
    """Return the keywords of one field: commas separate them only if no semicolon does ("Receptors, Antigen; T")."""
    return [word.strip() for word in text.split(JOINER.strip() if JOINER.strip() in text else ",")]


_ADDRESS: Final = re.compile(r"https?://[^\s<>]+[^\s<>.,;)]")
_READ_BY_REFERENCE: Final = frozenset(
    (
        *("author", "editor", "year", "date", "pages", "eid", "doi", "pmid", "pmcid", "pmc"),
        *("eprint", "eprinttype", "archiveprefix"),
    )
)


def _yield_id_fields(reference: Reference) -> Iterator[tuple[str, str | None]]:
    yield "DO", reference.doi
    yield "C2", reference.pmcid
    if reference.pmid:
        yield from (("AN", reference.pmid), ("DB", "PubMed"))


def convert_csl(item: Mapping[str, Any], reference: Reference) -> tuple[Field, ...]:
    """Return the fields of an item of CSL-JSON."""
    fields: list[tuple[str, Any]] = [
        ("TY", _RIS_TYPES.get(str(item.get("type") or ""), "GEN")),
        ("ID", reference.key),
        *(("AU", name_author(author)) for author in reference.authors),
        *((("AU", "et al."),) if reference.more_authors else ()),
        *(("A2", name_author(read_csl_author(name))) for name in list_csl_names(item.get("editor"))),
    ]
    if names := list_csl_names(item.get("container-author")):
        fields.append(("N1", note_book_authors(name_author(read_csl_author(name)) for name in names)))
    for name, value in item.items():
        text = value[0] if isinstance(value, list) and value and isinstance(value[0], str) else value
        if isinstance(text, bool) or not isinstance(text, str | int | float):
            continue
        if name in _CSL_TAGS:
            fields.append((_CSL_TAGS[name], text))
        elif name in ("keyword", "keywords"):
            fields += [("KW", word) for word in _split_keywords(str(text))]
        elif name == "language":
            fields.append(("LA", parse_language(str(text))))
        elif name == "number" and item.get("type") == "report":
            fields.append(("SN", text))
        elif name not in ("id", "type", "page", "number", "status", "PMID", "citation-key", "citation-label"):
            fields.append(("N1", f"{name}: {text}"))
    accessed = clean_csl_date(item.get("accessed"))
    fields += [("PY", reference.year), ("DA", write_ris_date(clean_csl_date(item.get("issued"))))]
    fields += [("Y2", write_ris_date(accessed)), *split_pages(reference.pages), ("C7", get_article_number(item))]
    return _clean([*fields, *_yield_id_fields(reference)])


def convert_nbib(lines: Sequence[Field], reference: Reference) -> tuple[Field, ...]:
    """Return the fields of a MEDLINE record."""
    kind = _find_nbib_type(lines)
    title, own = split_titles(reference.title or "", get_first_value(lines, "TT"))
    journal, book = get_first_value(lines, "JT"), get_first_value(lines, "BTI")
    if journal:
        journal = format_journal_title(journal, get_first_value(lines, "TA"))
    fields: list[tuple[str, Any]] = [
        ("TY", kind),
        *(("AU", name_author(author)) for author in reference.authors),
        *(("A2" if kind == "CHAP" else "A3", value) for tag, value in lines if tag == "FED"),
        *(("TI", title), ("TT", own), ("T2", book if kind == "CHAP" else journal)),
    ]
    for tag, value in lines:
        if tag == "MH":
            fields.append(("KW", value.partition("/")[0].removeprefix("*")))
        elif tag == "OT":
            fields.append(("KW", value.removeprefix("*")))
        elif tag == "LA":
            fields.append(("LA", parse_language(value)))
        elif tag in ("IS", "ISBN"):
            fields.append(("SN", value.split(" ")[0]))
        elif tag == "AID" and value.endswith(" [bookaccession]"):
            fields.append(("UR", f"{BOOKSHELF}{value.partition(' ')[0]}/"))
        elif tag in _NBIB_TAGS:
            fields.append((_NBIB_TAGS[tag], value))
    fields += [("PB", journal)] if kind == "UNPB" else []
    fields += [("PY", reference.year), ("DA", write_ris_date(parse_date_text(get_first_value(lines, "DP"))))]
    fields += split_pages(reference.pages) if get_first_value(lines, "PG") else [("C7", reference.pages)]
    return _clean([*fields, *_yield_id_fields(reference)])


def _find_nbib_type(lines: Sequence[Field]) -> str:
    """Return the RIS type of a MEDLINE record."""
    kinds = {value.casefold() for tag, value in lines if tag == "PT"}
    book = get_first_value(lines, "BTI")
    if book and book != get_first_value(lines, "TI", "BTI"):
        return "CHAP"
    if book or not any(tag in ("JT", "TA") for tag, _ in lines):
        return "RPRT" if "technical report" in kinds else "BOOK"
    return "UNPB" if "preprint" in kinds else "NEWS" if "newspaper article" in kinds else "JOUR"


def convert_endnote(record: Any, reference: Reference) -> tuple[Field, ...]:
    """Return the fields of a record of EndNote XML."""

    def list_texts(path: str) -> list[str]:
        return [" ".join("".join(element.itertext()).split()) for element in record.iterfind(path)]

    kind = record.find("ref-type")
    number = (kind.text or "").strip() if kind is not None else ""
    fields: list[tuple[str, Any]] = [("TY", _ENDNOTE_TYPES.get(number, "GEN")), ("ID", reference.key)]
    fields += [(tag, text) for path, tag in _ENDNOTE_TAGS for text in list_texts(path)]
    fields += [("T2", reference.journal), ("J2", next(iter(list_texts("periodical/abbr-1")), None))]
    fields += [("PY", reference.year), *split_pages(reference.pages)]
    if not any(tag == "DO" and value for tag, value in fields):
        fields.append(("DO", reference.doi))
    return _clean(fields)

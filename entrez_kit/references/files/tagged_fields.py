"""All fields of a record as RIS fields, so that records of every format can be compared, merged and written.

A field without a tag in RIS becomes a note, "name: value".
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from entrez_kit.citations.csl import Item, to_one_line
from entrez_kit.citations.names import OTHERS, format_nlm_suffix, split_particle
from entrez_kit.citations.write_ris import join_ris_name
from entrez_kit.pubmed.pages import expand_ranges
from entrez_kit.pubmed.xml.dates import MONTH_NAMES, is_existing_day, read_month
from entrez_kit.references.files.csl_values import clean_csl_date, list_csl_names, read_csl_author
from entrez_kit.references.files.references import RefAuthor, Reference, find_year, parse_name
from entrez_kit.references.files.ris_tags import ABSTRACT_TAGS, AUTHOR_TAGS, JOURNAL_TAGS, PEOPLE_TAGS, TITLE_TAGS

Field = tuple[str, str]

CSL_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("JOUR", "EJOUR", "JFULL", "ABST", "INPR"), "article-journal"),
    "MGZN": "article-magazine",
    "NEWS": "article-newspaper",
    **dict.fromkeys(("UNPB", "PREP"), "article"),
    **dict.fromkeys(("BOOK", "EBOOK", "EDBOOK", "SER"), "book"),
    **dict.fromkeys(("CHAP", "ECHAP"), "chapter"),
    **dict.fromkeys(("CONF", "CPAPER"), "paper-conference"),
    **dict.fromkeys(("RPRT", "GOVDOC", "STAND"), "report"),
    **dict.fromkeys(("THES",), "thesis"),
    **dict.fromkeys(("ELEC", "WEB", "ICOMM", "BLOG"), "webpage"),
    **dict.fromkeys(("DATA", "AGGR"), "dataset"),
    "COMP": "software",
    "PAT": "patent",
}
_RIS_TYPES: Final = {kind: tag for tag, kind in reversed(list(CSL_TYPES.items()))} | {
    "article": "UNPB",
    "book": "BOOK",
    "chapter": "CHAP",
    "paper-conference": "CPAPER",
    "report": "RPRT",
    "webpage": "ELEC",
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
    "edition": "ET",
    "language": "LA",
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
    "language": "LA",
    "note": "N1",
    "genre": "M3",
    "source": "DB",
    "archive": "DB",
    "PMCID": "C2",
}
_NBIB_TAGS: Final = {
    "TI": "TI",
    "BTI": "TI",
    "TT": "TT",
    "AB": "AB",
    "JT": "T2",
    "TA": "J2",
    "VI": "VL",
    "IP": "IS",
    "LA": "LA",
    "PMC": "C2",
    "MH": "KW",
    "OT": "KW",
    "PT": "M3",
    "AD": "AD",
    "PB": "PB",
    "PL": "CY",
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
_PLUMBING: Final = frozenset(("file", "timestamp", "owner", "date-added", "date-modified", "month", "day", "urldate"))
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
        line = (tag, to_one_line(value))
        if line[1] and (tag in PEOPLE_TAGS or line not in seen):
            found.append(line)
            seen.add(line)
    return tuple(found)


def name_author(author: RefAuthor) -> str:
    """Return the name of an author as in RIS: a comma at the end of a name with commas says that it is a group."""
    if author.group:
        return f"{author.group}," if "," in author.group else author.group
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


def _write_date(*parts: int) -> str | None:
    """Return a date as in RIS: 2019/12/24/; None for a year alone."""
    year, month, day = (*(f"{part:02}" for part in parts), "", "", "")[:3]
    return f"{year}/{month}/{day}/" if month else None


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
    kind: str, values: Mapping[str, str], reference: Reference, editors: Iterable[RefAuthor]
) -> tuple[Field, ...]:
    """Return the fields of a BibTeX entry; ``values`` are texts without LaTeX."""
    fields: list[tuple[str, Any]] = [("TY", _BIBTEX_TYPES.get(kind, "GEN")), ("ID", reference.key)]
    fields += [("AU", name_author(author)) for author in reference.authors]
    if reference.more_authors:
        fields.append(("AU", "et al."))
    fields += [("A2", name_author(editor)) for editor in editors]
    for name, value in values.items():
        if name in _BIBTEX_TAGS:
            fields.append((_BIBTEX_TAGS[name], value))
        elif name in ("keywords", "keyword", "groups", "mendeley-tags"):
            fields += [("KW", word.strip()) for word in re.split(r"[;,]", value)]
        elif name not in _PLUMBING and name not in _READ_BY_REFERENCE:
            fields.append(("N1", f"{name}: {value}"))
    date = parse_date(values.get("date") or f"{reference.year or ''} {values.get('month', '')} {values.get('day', '')}")
    fields += [("PY", reference.year), ("DA", _write_date(*date)), *split_pages(reference.pages)]
    if values.get("eprint") and values.get("eprinttype", values.get("archiveprefix", "")).lower() == "arxiv":
        fields.append(("UR", f"https://arxiv.org/abs/{values['eprint']}"))
    return _clean([*fields, *_yield_id_fields(reference)])


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
    for name, value in item.items():
        text = value[0] if isinstance(value, list) and value and isinstance(value[0], str) else value
        if isinstance(text, bool) or not isinstance(text, str | int | float):
            continue
        if name in _CSL_TAGS:
            fields.append((_CSL_TAGS[name], text))
        elif name in ("keyword", "keywords"):
            fields += [("KW", word.strip()) for word in re.split(r"[;,]", str(text))]
        elif name not in ("id", "type", "page", "number", "PMID", "citation-key", "citation-label"):
            fields.append(("N1", f"{name}: {text}"))
    date = clean_csl_date(item.get("issued"))
    parts = date["date-parts"][0] if date else []
    fields += [("PY", reference.year), ("DA", _write_date(*parts)), *split_pages(reference.pages)]
    return _clean([*fields, *_yield_id_fields(reference)])


def convert_nbib(lines: Sequence[Field], reference: Reference) -> tuple[Field, ...]:
    """Return the fields of a MEDLINE record."""
    fields: list[tuple[str, Any]] = [
        ("TY", "JOUR" if any(tag == "JT" or tag == "TA" for tag, _ in lines) else "BOOK"),
        *(("AU", name_author(author)) for author in reference.authors),
    ]
    fields += [
        (_NBIB_TAGS[tag], value.removesuffix(".") if _NBIB_TAGS[tag] == "TI" else value)
        for tag, value in lines
        if tag in _NBIB_TAGS
    ]
    fields += [("SN", value.split(" ")[0]) for tag, value in lines if tag in ("IS", "ISBN")]
    fields += [("PY", reference.year), ("DA", get_first_value(lines, "DP")), *split_pages(reference.pages)]
    return _clean([*fields, *_yield_id_fields(reference)])


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


# RIS fields in other formats


def convert_to_csl(fields: Sequence[Field], key: str, *, pmid: str | None, doi: str | None, pmcid: str | None) -> Item:
    """Return RIS fields as an item of CSL-JSON."""
    kind = CSL_TYPES.get(get_first_value(fields, "TY") or "", "document")
    pages = "-".join(part for tag in ("SP", "EP") if (part := get_first_value(fields, tag)))
    date = find_date(fields)
    names = list_values(fields, *AUTHOR_TAGS)
    container = get_first_value(fields, *JOURNAL_TAGS)
    note = [
        value for tag, value in fields if tag in ("N1", "RN") and not value.startswith(("source: ", "merged with "))
    ]
    item: Item = {
        "id": key,
        "type": kind,
        "title": get_first_value(fields, *TITLE_TAGS),
        "author": [_build_csl_name(name) for name in names],
        "editor": [_build_csl_name(name) for name in list_values(fields, "A2", "ED", "A3")],
        "container-title": container if kind not in ("book", "thesis") else None,
        "container-title-short": short if (short := get_first_value(fields, "J2", "JA")) != container else None,
        "collection-title": get_first_value(fields, "T3"),
        "volume": get_first_value(fields, "VL"),
        "issue": get_first_value(fields, "IS", "CP"),
        "page": pages or get_first_value(fields, "C7"),
        "issued": {"date-parts": [date]} if date else None,
        "DOI": doi,
        "PMID": pmid,
        "PMCID": pmcid,
        "URL": get_first_value(fields, "UR"),
        "publisher": get_first_value(fields, "PB"),
        "publisher-place": get_first_value(fields, "CY", "PP"),
        "edition": get_first_value(fields, "ET"),
        "language": get_first_value(fields, "LA"),
        "abstract": get_first_value(fields, *ABSTRACT_TAGS),
        "keyword": "; ".join(list_values(fields, "KW")),
        "genre": get_first_value(fields, "M3"),
        ("ISBN" if kind in ("book", "chapter") else "ISSN"): get_first_value(fields, "SN"),
        "source": get_first_value(fields, "DB"),
        "note": ". ".join(note),
    }
    return {name: value for name, value in item.items() if value not in (None, "", [], {})}


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
    if name.group:
        return {"literal": name.group}
    particle, family = split_particle(name.family or "")
    parts = {"family": family, "given": name.given, "non-dropping-particle": particle, "suffix": name.suffix}
    return {part: value for part, value in parts.items() if value}


def convert_to_nbib(
    fields: Sequence[Field], *, pmid: str | None, doi: str | None, pmcid: str | None
) -> Iterator[Field]:
    """Yield RIS fields as fields of a MEDLINE record."""
    yield "PMID", pmid or ""
    yield "VI", get_first_value(fields, "VL") or ""
    yield "IP", get_first_value(fields, "IS", "CP") or ""
    year, month, day = (*map(str, find_date(fields)), "", "", "")[:3]
    yield (
        "DP",
        " ".join(part for part in (year, MONTH_NAMES[int(month) - 1][0].capitalize() if month else "", day) if part),
    )
    yield "TI", get_first_value(fields, *TITLE_TAGS) or ""
    yield "PG", "-".join(part for tag in ("SP", "EP") if (part := get_first_value(fields, tag)))
    yield "LID", f"{doi} [doi]" if doi else ""
    yield "AB", get_first_value(fields, *ABSTRACT_TAGS) or ""
    for text in list_values(fields, *AUTHOR_TAGS):
        if _build_csl_name(text) == {"literal": OTHERS}:
            yield "GN", "The list of authors is incomplete."
            continue
        name = parse_name(text)
        if name.group:
            yield "CN", name.group
            continue
        suffix = format_nlm_suffix(name.suffix) if name.suffix else ""
        initials = "".join(word[0] for word in re.findall(r"[^\W\d_]+", name.given or ""))
        yield "FAU", join_ris_name(name.family or "", " ".join(filter(None, (name.given, suffix))), None)
        yield "AU", " ".join(filter(None, (name.family, initials, suffix)))
    yield "LA", get_first_value(fields, "LA") or ""
    journal, short = get_first_value(fields, "T2", "JF", "JO"), get_first_value(fields, "J2", "JA")
    yield "TA", short or journal or ""
    yield "JT", journal or short or ""
    for word in list_values(fields, "KW"):
        yield "OT", word
    for note in list_values(fields, "N1"):
        yield "GN", note
    yield "PMC", pmcid or ""

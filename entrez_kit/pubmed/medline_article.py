"""Read the fields of a MEDLINE record (.nbib) as an article."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from entrez_kit.base.identifiers import PUBMED, normalize_doi, normalize_orcid
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.pages import find_article_number
from entrez_kit.pubmed.xml.dates import build_publication_date

Values = dict[str, Any]
"""Values of fields of an Article, by name."""

_SERIAL: Final = re.compile(r"([0-9]{4}-?[0-9]{3}[0-9Xx])(?: \((Print|Electronic|Linking|Undetermined)\))?")
_KINDED: Final = re.compile(r"(.+) \[([a-z-]+)\]")
_NUMBERED: Final = re.compile(r"((?:EC )?\S+) \((.+)\)")
_NOTICE: Final = re.compile(r"(.*?) ?PMID: ?([0-9]+)\.?")
_LABEL: Final = re.compile(r"(?:(?<=^)|(?<=[.?!)] ))([A-Z][A-Z0-9 ,/&'()-]{2,60}): ")
_PEOPLE: Final = {
    **{"FAU": "AU", "AU": "AU", "FED": "ED", "ED": "ED"},
    **{"FIR": "IR", "IR": "IR", "FPS": "PS", "PS": "PS"},
}
"""The tags of names, with the tag of the short form."""
_SUFFIX: Final = re.compile(r"(?:^|(?<=\S) )((?:[JS]r|2nd|3rd|[4-6]th)\.?)$")
"""The suffix at the end of given names or initials: "Jane A Jr", "JA 3rd"."""
_CORRECTIONS: Final = {
    "CIN": "CommentIn",
    "CON": "CommentOn",
    "CRI": "CorrectedandRepublishedIn",
    "CRF": "CorrectedandRepublishedFrom",
    "ECI": "ExpressionOfConcernIn",
    "ECF": "ExpressionOfConcernFor",
    "EIN": "ErratumIn",
    "EFR": "ErratumFor",
    "RIN": "RetractionIn",
    "ROF": "RetractionOf",
    "RPI": "RepublishedIn",
    "RPF": "RepublishedFrom",
    "UIN": "UpdateIn",
    "UOF": "UpdateOf",
}


class MedlineRecord:
    """The fields of one record, in the order of the file.

    Args:
        fields: the tag and the value of each field; a tag may be repeated.
    """

    def __init__(self, fields: Sequence[tuple[str, str]]) -> None:
        self.fields = fields
        self._values: defaultdict[str, list[str]] = defaultdict(list)
        for tag, value in fields:
            if value:
                self._values[tag].append(value)

    def get_all(self, tag: str) -> list[str]:
        """Return the values of a tag that are not empty."""
        return self._values.get(tag, [])

    def get_first(self, *tags: str) -> str:
        """Return the first value of the first of these tags that the record has; empty if it has none of them."""
        return next((value for tag in tags for value in self.get_all(tag)), "")

    def get_kinded(self, tag: str) -> list[tuple[str, str]]:
        """Return the kind and the value of each field such as "10.1/2 [doi]"."""
        return [(match[2], match[1]) for value in self.get_all(tag) if (match := _KINDED.fullmatch(value))]


def read_medline_article(record: MedlineRecord) -> Article:
    """Return a MEDLINE record as an article, with every field that MEDLINE text has."""
    values: Values = {
        **_read_ids(record),
        **_read_texts(record),
        "authors": list(_read_people(record)),
        "investigators": list(_read_people(record, "FIR", "IR")),
        "journal_info": _read_journal(record),
        "mesh_terms": [_read_heading(value) for value in record.get_all("MH")],
        **_read_subjects(record),
        **_read_dates(record),
        **_read_book(record),
        "grant_list": [_read_grant(value) for value in record.get_all("GR")],
        "corrections": [
            _read_notice(kind, value) for tag, kind in _CORRECTIONS.items() for value in record.get_all(tag)
        ],
    }
    return Article.model_validate({"pmid": record.get_first("PMID"), **_omit_empty(values)})


def _read_book(record: MedlineRecord) -> Values:
    """Read the fields of a book, or of the book of a chapter. MEDLINE text names its authors as editors."""
    title, book = record.get_first("TI"), record.get_first("BTI")
    if not book:
        return {}
    values = {
        "title": book,
        "collection_title": record.get_first("CTI"),
        "publisher": record.get_first("PB"),
        "publisher_location": record.get_first("PL"),
        "edition": record.get_first("ETN"),
        "volume": record.get_first("VI"),
        "isbns": record.get_all("ISBN"),
        "editors": list(_read_people(record, "FED", "ED")),
        "accession": next((value for kind, value in record.get_kinded("AID") if kind == "bookaccession"), None),
    }
    return {"record_type": "book" if title in ("", book) else "chapter", "book_info": _omit_empty(values)}


def _read_ids(record: MedlineRecord) -> Values:
    pmid = record.get_first("PMID")
    ids = {"pubmed": pmid, "pmc": record.get_first("PMC"), "mid": record.get_first("MID")}
    for kind, value in _list_locations(record):
        ids.setdefault(kind, normalize_doi(value) if kind == "doi" else value)
    return {
        "url": f"{PUBMED}{pmid}/",
        "doi": ids.get("doi"),
        "pmcid": ids["pmc"],
        "article_ids": _omit_empty(ids),
    }


def _read_texts(record: MedlineRecord) -> Values:
    return {
        "title": record.get_first("TI", "BTI"),
        "vernacular_title": record.get_first("TT"),
        "abstract_sections": _read_sections(record.get_first("AB")),
        "abstract_copyright": record.get_first("CI"),
        "other_abstracts": [_read_other_abstract(value) for value in record.get_all("OAB")],
        "coi_statement": record.get_first("COIS"),
    }


def _read_subjects(record: MedlineRecord) -> Values:
    """Read the types, the languages and the subjects of a record."""
    keywords = record.get_all("OT")
    return {
        "publication_types": record.get_all("PT"),
        "languages": record.get_all("LA"),
        "keywords": [keyword.removeprefix("*") for keyword in keywords],
        "major_keywords": [keyword[1:] for keyword in keywords if keyword.startswith("*")],
        "chemicals": [_read_chemical(value) for value in record.get_all("RN")],
        "supplemental_mesh": [{"name": value} for value in record.get_all("NM")],
        "data_banks": list(_read_banks(record.get_all("SI"))),
    }


def _read_dates(record: MedlineRecord) -> Values:
    return {
        "article_dates": [{"type": "Electronic", **split_date(value)} for value in record.get_all("DEP")],
        "history": list(_read_history(record)),
        "date_revised": _to_iso(record.get_first("LR")),
    }


def _read_sections(text: str) -> list[Values]:
    """Divide an abstract at labels such as "METHODS: ", of which there must be two, one at the beginning."""
    if not text:
        return []
    labels = list(_LABEL.finditer(text))
    if len(labels) < 2 or labels[0].start():
        return [{"text": text}]
    ends = [*(label.start() for label in labels[1:]), len(text)]
    return [
        {"label": label[1], "text": text[label.end() : end].strip()} for label, end in zip(labels, ends, strict=True)
    ]


def _read_other_abstract(text: str) -> Values:
    kind, colon, rest = text.partition(": ")
    return {"type": kind, "text": rest} if colon and len(kind) <= 20 else {"text": text}


def _read_people(record: MedlineRecord, full_tag: str = "FAU", short_tag: str = "AU") -> Iterator[Values]:
    """Yield the authors, editors or investigators with the affiliations and identifiers that follow them.

    A group belongs to the people above it.
    """
    has_full_names = any(tag == full_tag for tag, _ in record.fields)
    name_tag = full_tag if has_full_names else short_tag
    person: Values = {}
    role = "AU"
    for tag, value in record.fields:
        role = _PEOPLE.get(tag, role)
        is_name = tag == name_tag and value
        is_group = tag == "CN" and value and role == short_tag
        is_short_name = tag == short_tag and has_full_names
        if is_name or is_group or (tag in _PEOPLE and not (is_short_name and person)):
            if person:
                yield person
            person = _read_name(value) if is_name else {"collective_name": value} if is_group else {}
        elif person:
            person |= _read_detail(tag, value, person, is_short_name=is_short_name)
    if person:
        yield person


def _read_detail(tag: str, value: str, person: Values, *, is_short_name: bool) -> Values:
    """Return the values that a field after the name of a person adds or replaces."""
    if is_short_name:
        return _read_initials(value, person)
    if tag == "AD":
        return {"affiliations": [*person.get("affiliations", ()), value]}
    if tag == "AUID" and value.upper().startswith("ORCID"):
        return {"orcid": normalize_orcid(value.partition(":")[2].strip())}
    return {}


def _read_name(value: str) -> Values:
    """Read "Doe, Jane A Jr", "Doe JA Jr" or "Suryati"."""
    suffix = _SUFFIX.search(value.removesuffix("."))
    name = value[: suffix.start()] if suffix else value
    last, comma, first_name = name.partition(",")
    if comma:
        found = {"last_name": last.strip(), "first_name": first_name.strip()}
    elif " " in name:
        last, _, initials = name.rpartition(" ")
        found = {"last_name": last, "initials": initials}
    else:
        found = {"last_name": name}
    return _omit_empty({**found, "suffix": suffix[1] if suffix else ""})


def _read_initials(short: str, person: Values) -> Values:
    """Read the initials and the suffix of an author from the short form, which begins with the same surname."""
    last = str(person.get("last_name", ""))
    text = short.removeprefix(last).strip()
    initials, _, suffix = ("", "", text) if _SUFFIX.fullmatch(text) else text.partition(" ")
    found = _omit_empty({"initials": initials, "suffix": suffix})
    first_name = str(person.get("first_name", ""))
    if suffix and first_name.endswith(f" {suffix}"):
        found["first_name"] = first_name.removesuffix(f" {suffix}")
    return found


def _list_locations(record: MedlineRecord) -> list[tuple[str, str]]:
    """Return the kinds and the ids of an article. An id of AID is preferred: LID can also have a wrong one."""
    return [*record.get_kinded("AID"), *record.get_kinded("LID")]


def find_medline_doi(record: MedlineRecord) -> str | None:
    """Return the DOI of a record."""
    return next((normalize_doi(value) for kind, value in _list_locations(record) if kind == "doi"), None)


def find_medline_number(record: MedlineRecord) -> str | None:
    """Return the number of an electronic article: its location, or its identifier if the record has no location."""
    located = record.get_kinded("LID") or record.get_kinded("AID")
    return find_article_number((kind, value, True) for kind, value in located)


def _read_journal(record: MedlineRecord) -> Values:
    serials = (match for value in record.get_all("IS") if (match := _SERIAL.fullmatch(value)) is not None)
    kinds = {(match[2] or "Print"): match[1] for match in serials}
    return _omit_empty(
        {
            "title": record.get_first("JT"),
            "iso_abbreviation": record.get_first("TA"),
            "issn": kinds.get("Print") or kinds.get("Undetermined"),
            "eissn": kinds.get("Electronic"),
            "issn_linking": kinds.get("Linking"),
            "nlm_id": record.get_first("JID"),
            "volume": record.get_first("VI"),
            "issue": record.get_first("IP"),
            "pages": record.get_first("PG"),
            "article_number": find_medline_number(record),
            "publication_date": _read_issue_date(record.get_first("DP")),
        }
    )


def _read_issue_date(text: str) -> Values | None:
    """Read "2020 Jan 5", or any other date as free text."""
    if not text:
        return None
    parts = text.split()
    if (
        len(parts) <= 3
        and parts[0].isdigit()
        and all(re.fullmatch(r"[A-Z][a-z]{2}|[0-9]{1,2}", part) for part in parts[1:])
    ):
        year, month, day = (*parts, None, None)[:3]
        return build_publication_date(year, month, day, None, None)
    return build_publication_date(None, None, None, None, text)


def _read_heading(text: str) -> Values:
    name, *qualifiers = text.split("/")
    return {
        "descriptor_name": name.removeprefix("*"),
        "is_major_topic": name.startswith("*"),
        "qualifiers": [
            {"name": qualifier.removeprefix("*"), "is_major_topic": qualifier.startswith("*")}
            for qualifier in qualifiers
        ],
    }


def _read_chemical(text: str) -> Values:
    match = _NUMBERED.fullmatch(text)
    if match is None:
        return {"name": text}
    return _omit_empty({"name": match[2], "registry_number": None if match[1] == "0" else match[1]})


def _read_banks(values: list[str]) -> Iterator[Values]:
    banks: dict[str, list[str]] = {}
    for value in values:
        bank, _, number = value.partition("/")
        banks.setdefault(bank, []).extend([number] if number else [])
    for name, numbers in banks.items():
        yield {"name": name, "accession_numbers": numbers}


def _read_grant(text: str) -> Values:
    """Read "R01 HL1234/HL/NHLBI NIH HHS/United States"; parts may be missing, and a number may contain a slash."""
    parts = text.split("/")
    if len(parts) >= 4:
        return {"grant_id": "/".join(parts[:-3]), "acronym": parts[-3], "agency": parts[-2], "country": parts[-1]}
    names = {3: ("grant_id", "agency", "country"), 2: ("agency", "country"), 1: ("agency",)}[len(parts)]
    return _omit_empty(dict(zip(names, parts, strict=True)))


def _read_history(record: MedlineRecord) -> Iterator[Values]:
    seen: set[str] = set()
    for status, value in record.get_kinded("PHST"):
        seen.add(status)
        yield {"status": status, **split_date(value)}
    for tag, status in (("EDAT", "pubmed"), ("MHDA", "medline"), ("CRDT", "entrez")):
        value = record.get_first(tag)
        if status not in seen and value:
            yield {"status": status, **split_date(value)}


def split_date(text: str) -> dict[str, int]:
    """Read 20200131, or 2020/01/31 with or without 06:00."""
    numbers = re.findall(r"[0-9]+", text)
    if len(numbers) == 1 and len(numbers[0]) == 8:
        whole = numbers[0]
        numbers = [whole[:4], whole[4:6], whole[6:]]
    return dict(zip(("year", "month", "day", "hour", "minute"), map(int, numbers[:5]), strict=False))


def _to_iso(text: str) -> str | None:
    parts = split_date(text)
    return f"{parts['year']:04}-{parts['month']:02}-{parts['day']:02}" if len(parts) == 3 else None


def _read_notice(kind: str, text: str) -> Values:
    match = _NOTICE.fullmatch(text)
    if match is None:
        return {"kind": kind, "citation": text}
    return {"kind": kind, "citation": match[1], "pmid": match[2]}


def _omit_empty(fields: Values) -> Values:
    return {name: value for name, value in fields.items() if value}

"""Read the records of MEDLINE text (.nbib) as PubMed XML."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from entrez_kit.base.identifiers import PUBMED, normalize_doi, normalize_orcid
from entrez_kit.local.article_to_xml import RecordFacts, convert_article
from entrez_kit.local.file_events import FileEvent, split_lines, unusable_file_error
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.dates import build_publication_date

Fields = list[tuple[str, str]]

_LINE: Final = re.compile(r"([A-Z][A-Z0-9]{1,3}) *- ?(.*)")
_SERIAL: Final = re.compile(r"([0-9]{4}-?[0-9]{3}[0-9Xx])(?: \((Print|Electronic|Linking|Undetermined)\))?")
_KINDED: Final = re.compile(r"(.+) \[([a-z-]+)\]")
_NUMBERED: Final = re.compile(r"((?:EC )?\S+) \((.+)\)")
_NOTICE: Final = re.compile(r"(.*?) ?PMID: ?([0-9]+)\.?")
_LABEL: Final = re.compile(r"(?:(?<=^)|(?<=[.?!)] ))([A-Z][A-Z0-9 ,/&'()-]{2,60}): ")
_PEOPLE: Final = frozenset(("FAU", "AU", "FED", "ED", "FIR", "IR", "FPS", "PS"))
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


def read_nbib(chunks: Iterable[bytes], path: Path) -> Iterator[FileEvent]:
    """Read MEDLINE text (.nbib).

    Raises:
        InvalidInput: a line does not belong to a field, or a record has no PMID.
    """
    fields: Fields = []
    start = 1
    for number, line in enumerate(split_lines(chunks, path), start=1):
        match = _LINE.fullmatch(line)
        if match is not None and match[1] == "PMID" and fields:
            yield convert_article(*_read_medline(fields), path, start)
            fields = []
        if match is not None:
            start = start if fields else number
            fields.append((match[1], match[2].strip()))
        elif line.startswith("    ") and fields:
            name, value = fields[-1]
            fields[-1] = (name, f"{value} {line.strip()}".strip())
        elif line.strip():
            raise unusable_file_error(
                path, f"line {number:,} is not a field of a MEDLINE record", "bad_record", line=number
            )
    if fields:
        yield convert_article(*_read_medline(fields), path, start)


def _read_medline(fields: Fields) -> tuple[Article, RecordFacts]:
    def get_all(*tags: str) -> list[str]:
        return [value for name, value in fields if name in tags and value]

    def get_first(*tags: str) -> str | None:
        return next(iter(get_all(*tags)), None)

    listed = [(match[2], match[1]) for value in get_all("AID") if (match := _KINDED.fullmatch(value))]
    located = [(match[2], match[1]) for value in get_all("LID") if (match := _KINDED.fullmatch(value))]
    ids = {"pubmed": get_first("PMID") or "", "pmc": get_first("PMC") or "", "mid": get_first("MID") or ""}
    for kind, value in (*listed, *located):
        ids.setdefault(kind, normalize_doi(value) if kind == "doi" else value)
    headings = [_read_heading(value) for value in get_all("MH")]
    words = get_all("OT")
    values: dict[str, Any] = {
        "pmid": get_first("PMID") or "",
        "url": f"{PUBMED}{get_first('PMID')}/",
        "title": get_first("TI") or "",
        "vernacular_title": get_first("TT"),
        "abstract_sections": _read_sections(get_first("AB")),
        "abstract_copyright": get_first("CI"),
        "other_abstracts": [_read_other_abstract(value) for value in get_all("OAB")],
        "authors": list(_read_people(fields)),
        "investigators": list(_read_people(fields, "FIR", "IR")),
        "journal_info": _read_journal(get_first, get_all("IS"), next((v for k, v in located if k == "pii"), None)),
        "publication_types": get_all("PT"),
        "languages": get_all("LA"),
        "keywords": [word.removeprefix("*") for word in words],
        "major_keywords": [word[1:] for word in words if word.startswith("*")],
        "mesh_terms": headings,
        "chemicals": [_read_chemical(value) for value in get_all("RN")],
        "supplemental_mesh": [{"name": value} for value in get_all("NM")],
        "data_banks": list(_read_banks(get_all("SI"))),
        "grant_list": [_read_grant(value) for value in get_all("GR")],
        "doi": ids.get("doi") or None,
        "pmcid": ids["pmc"] or None,
        "article_ids": {kind: value for kind, value in ids.items() if value},
        "article_dates": [{"type": "Electronic", **_split_date(value)} for value in get_all("DEP")],
        "history": list(_read_history(fields)),
        "date_revised": _to_iso(get_first("LR")),
        "corrections": [_read_notice(kind, value) for tag, kind in _CORRECTIONS.items() for value in get_all(tag)],
        "coi_statement": get_first("COIS"),
    }
    completed = _split_date(get_first("DCOM") or "")
    facts = RecordFacts(
        status=get_first("STAT") or ("MEDLINE" if headings else ""),
        completed=tuple(f"{completed[name]:02}" for name in ("year", "month", "day") if name in completed),
        country=get_first("PL") or "",
        owner=get_first("OWN") or "",
        publication_status=get_first("PST") or "",
        subsets=tuple(get_all("SB")),
    )
    return Article.model_validate({name: value for name, value in values.items() if value not in (None, [], {})}), facts


def _read_sections(text: str | None) -> list[dict[str, Any]]:
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


def _read_other_abstract(text: str) -> dict[str, Any]:
    kind, colon, rest = text.partition(": ")
    return {"type": kind, "text": rest} if colon and len(kind) <= 20 else {"text": text}


def _read_people(fields: Fields, full_tag: str = "FAU", short_tag: str = "AU") -> Iterator[dict[str, Any]]:
    """Yield the authors or investigators with the affiliations and identifiers that follow them."""
    full = any(tag == full_tag for tag, _ in fields)
    person: dict[str, Any] | None = None
    for tag, value in fields:
        if tag == (full_tag if full else short_tag) and value:
            if person is not None:
                yield person
            person = _read_name(value)
        elif tag == short_tag and person is not None and full:
            person |= _read_initials(value, person)
        elif tag == "CN" and value and full_tag == "FAU":
            if person is not None:
                yield person
            person = {"collective_name": value}
        elif tag == "AD" and person is not None:
            person.setdefault("affiliations", []).append(value)
        elif tag == "AUID" and person is not None and value.upper().startswith("ORCID"):
            person["orcid"] = normalize_orcid(value.partition(":")[2].strip())
        elif tag in _PEOPLE:
            if person is not None:
                yield person
            person = None
    if person is not None:
        yield person


def _read_name(value: str) -> dict[str, Any]:
    """Read "Doe, Jane A Jr" or "Doe JA Jr"."""
    last, comma, given = value.partition(",")
    if comma:
        return _omit_empty({"last_name": last.strip(), "first_name": given.strip()})
    last, _, initials = value.rpartition(" ")
    return {"last_name": last, "initials": initials} if last else {"last_name": value}


def _read_initials(short: str, person: dict[str, Any]) -> dict[str, Any]:
    """Read the initials and the suffix of an author from the short form, which begins with the same surname."""
    last = str(person.get("last_name", ""))
    initials, _, suffix = short.removeprefix(last).strip().partition(" ")
    found = _omit_empty({"initials": initials, "suffix": suffix})
    given = str(person.get("first_name", ""))
    if suffix and given.endswith(f" {suffix}"):
        found["first_name"] = given.removesuffix(f" {suffix}")
    return found


def _read_journal(first: Any, serials: list[str], number: str | None) -> dict[str, Any]:
    kinds = {(match[2] or "Print"): match[1] for value in serials if (match := _SERIAL.fullmatch(value)) is not None}
    return _omit_empty(
        {
            "title": first("JT"),
            "iso_abbreviation": first("TA"),
            "issn": kinds.get("Print") or kinds.get("Undetermined"),
            "eissn": kinds.get("Electronic"),
            "issn_linking": kinds.get("Linking"),
            "nlm_id": first("JID"),
            "volume": first("VI"),
            "issue": first("IP"),
            "pages": first("PG"),
            "article_number": number,
            "publication_date": _read_issue_date(first("DP")),
        }
    )


def _read_issue_date(text: str | None) -> dict[str, Any] | None:
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


def _read_heading(text: str) -> dict[str, Any]:
    name, *qualifiers = text.split("/")
    return {
        "descriptor_name": name.removeprefix("*"),
        "is_major_topic": name.startswith("*"),
        "qualifiers": [
            {"name": qualifier.removeprefix("*"), "is_major_topic": qualifier.startswith("*")}
            for qualifier in qualifiers
        ],
    }


def _read_chemical(text: str) -> dict[str, Any]:
    match = _NUMBERED.fullmatch(text)
    if match is None:
        return {"name": text}
    return _omit_empty({"name": match[2], "registry_number": None if match[1] == "0" else match[1]})


def _read_banks(values: list[str]) -> Iterator[dict[str, Any]]:
    banks: dict[str, list[str]] = {}
    for value in values:
        bank, _, number = value.partition("/")
        banks.setdefault(bank, []).extend([number] if number else [])
    for name, numbers in banks.items():
        yield {"name": name, "accession_numbers": numbers}


def _read_grant(text: str) -> dict[str, Any]:
    """Read "R01 HL1234/HL/NHLBI NIH HHS/United States"; parts may be missing, and a number may contain a slash."""
    parts = text.split("/")
    if len(parts) >= 4:
        return {"grant_id": "/".join(parts[:-3]), "acronym": parts[-3], "agency": parts[-2], "country": parts[-1]}
    names = {3: ("grant_id", "agency", "country"), 2: ("agency", "country"), 1: ("agency",)}[len(parts)]
    return _omit_empty(dict(zip(names, parts, strict=True)))


def _read_history(fields: Fields) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for tag, value in fields:
        if tag == "PHST" and (match := _KINDED.fullmatch(value)):
            seen.add(match[2])
            yield {"status": match[2], **_split_date(match[1])}
    for tag, status in (("EDAT", "pubmed"), ("MHDA", "medline"), ("CRDT", "entrez")):
        value = next((text for name, text in fields if name == tag), "")
        if status not in seen and value:
            yield {"status": status, **_split_date(value)}


def _split_date(text: str) -> dict[str, int]:
    """Read 20200131, or 2020/01/31 with or without 06:00."""
    numbers = re.findall(r"[0-9]+", text)
    if len(numbers) == 1 and len(numbers[0]) == 8:
        whole = numbers[0]
        numbers = [whole[:4], whole[4:6], whole[6:]]
    return dict(zip(("year", "month", "day", "hour", "minute"), map(int, numbers[:5]), strict=False))


def _to_iso(text: str | None) -> str | None:
    parts = _split_date(text or "")
    return f"{parts['year']:04}-{parts['month']:02}-{parts['day']:02}" if len(parts) == 3 else None


def _read_notice(kind: str, text: str) -> dict[str, Any]:
    match = _NOTICE.fullmatch(text)
    if match is None:
        return {"kind": kind, "citation": text}
    return {"kind": kind, "citation": match[1], "pmid": match[2]}


def _omit_empty(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}

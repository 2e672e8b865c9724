"""Read Europe PMC's records, core and lite, into articles with PubMed's fields.

Only redundant fields are omitted: the list of ORCIDs (authors have their own), ordinal numbers, the invented day of a
print date, codes that repeat a field in words, and Europe PMC's number of the issue.
"""

import re
from collections.abc import Mapping
from typing import Final, cast

from entrez_kit.base.identifiers import normalize_doi, normalize_pmcid
from entrez_kit.pubmed.encoded_markup import convert_to_plain_text, split_abstract
from entrez_kit.pubmed.europepmc.europepmc_authors import read_authors
from entrez_kit.pubmed.europepmc.europepmc_json import (
    Fields,
    Raw,
    find_first_text,
    get_mapping,
    list_mappings,
    rename_fields,
    to_boolean,
    to_integer,
    to_text,
    unwrap_list,
)
from entrez_kit.pubmed.europepmc.europepmc_models import RECORD_ADDRESS, EuropePMCArticle
from entrez_kit.pubmed.models import Standing, StandingNotice
from entrez_kit.pubmed.xml.abstracts import join_sections
from entrez_kit.pubmed.xml.completion import add_standing
from entrez_kit.pubmed.xml.dates import build_publication_date, format_iso_date, read_number

_SOME_LENGTH: Final = 25
"""The fewest words of an abstract that reveal its language."""

FEATURES: Final = {
    "inPMC": "pmc",
    "hasPDF": "pdf",
    "hasBook": "book",
    "hasSuppl": "supplement",
    "hasData": "data",
    "hasReferences": "references",
    "hasTextMinedTerms": "text_mined_terms",
    "hasDbCrossReferences": "database_cross_references",
    "hasLabsLinks": "labs_links",
    "hasEvaluations": "evaluations",
    "hasTMAccessionNumbers": "text_mined_accession_numbers",
    "authMan": "author_manuscript",
    "epmcAuthMan": "europe_pmc_author_manuscript",
    "nihAuthMan": "nih_author_manuscript",
}
HISTORY: Final = {
    "dateOfCreation": "created",
    "dateOfCompletion": "completed",
    "firstIndexDate": "europepmc_indexed",
    "fullTextReceivedDate": "europepmc_full_text",
    "embargoDate": "embargo",
}
_TEXTS: Final = {"publication_status": "publicationStatus", "publication_model": "pubModel", "license": "license"}
_LISTS: Final = {
    "keywords": ("keywordList", "keyword"),
    "publication_types": ("pubTypeList", "pubType"),
    "cross_reference_databases": ("dbCrossReferenceList", "dbName"),
    "accession_types": ("tmAccessionTypeList", "accessionType"),
    "data_links": ("dataLinksTagsList", "dataLinkstag"),
}
_GRANT: Final = {"grant_id": "grantId", "acronym": "acronym", "agency": "agency"}
_CHEMICAL: Final = {"name": "name", "registry_number": "registryNumber"}
_LINK: Final = {"site": "site", "style": "documentStyle", "availability": "availability"}
_BOOK: Final = {
    "title": "comprisingTitle",
    "publisher": "publisher",
    "edition": "edition",
    "collection_title": "seriesName",
}
_KINDS: Final = {
    "corrected and republished in": "CorrectedandRepublishedIn",
    "corrected and republished from": "CorrectedandRepublishedFrom",
    "retracted and republished in": "RetractedandRepublishedIn",
    "retracted and republished from": "RetractedandRepublishedFrom",
    "original report in": "OriginalReportIn",
    "summary for patients in": "SummaryForPatientsIn",
    "dataset described in": "AssociatedPublication",
}
"""NLM's RefType for Europe PMC's name of a link. For other names, the words are joined ("Erratum in")."""


def parse_record(raw: object) -> EuropePMCArticle | None:
    """Read one record of a search (core, lite or idlist); None if it has no source or no id."""
    if not isinstance(raw, Mapping):
        return None
    source, epmc_id = to_text(raw.get("source")), to_text(raw.get("id"))
    if not source or not epmc_id:
        return None
    fields: Fields = {"source": source, "epmc_id": epmc_id, "url": f"{RECORD_ADDRESS}/{source}/{epmc_id}"}
    fields |= rename_fields(raw, _TEXTS)
    for name, (outer, inner) in _LISTS.items():
        fields[name] = [word for item in unwrap_list(raw, outer, inner) if (word := find_first_text(item))]
    if not fields["publication_types"]:
        kinds = (find_first_text(raw.get("pubType")) or "").split(";")
        fields["publication_types"] = [kind.strip() for kind in kinds if kind.strip()]
    _read_ids(raw, fields)
    fields["title"] = convert_to_plain_text(to_text(raw.get("title")))
    parts = split_abstract(to_text(raw.get("abstractText")))
    if parts:
        fields["abstract_sections"] = parts
        fields["abstract_text"] = join_sections(cast("list[Fields]", parts))
    fields["authors"] = read_authors(raw)
    _read_publication(raw, fields)
    _read_terms(raw, fields)
    _read_links(raw, fields)
    if parts and (language := _guess_language(fields["abstract_text"], fields["languages"])):
        fields["abstract_language"] = language
    add_standing(fields)
    _mark_superseded(fields)
    _read_availability(raw, fields)
    return EuropePMCArticle(**{name: value for name, value in fields.items() if value not in (None, "", [], {})})


def _read_ids(raw: Raw, fields: Fields) -> None:
    source, epmc_id = fields["source"], fields["epmc_id"]
    pmid = to_text(raw.get("pmid")) or (epmc_id if source == "MED" else "")
    raw_pmcid = to_text(raw.get("pmcid")) or (epmc_id if source == "PMC" else "")
    pmcid = normalize_pmcid(raw_pmcid) if raw_pmcid else None
    doi = normalize_doi(to_text(raw.get("doi")))
    fields.update(pmid=pmid, pmcid=pmcid, doi=doi)
    ids = {
        "pubmed": pmid,
        "doi": doi,
        "pmc": pmcid,
        "mid": to_text(raw.get("manuscriptId")),
        "bookaccession": to_text(raw.get("bookid")),
    }
    fields["article_ids"] = {kind: value for kind, value in ids.items() if value}
    fields["full_text_ids"] = [
        name for item in unwrap_list(raw, "fullTextIdList", "fullTextId") if (name := to_text(item))
    ]
    version = to_integer(raw.get("versionNumber"))
    fields["version"] = str(version) if version is not None else None


def _read_publication(raw: Raw, fields: Fields) -> None:
    """Read journal, book or preprint server, and the dates."""
    issue = get_mapping(raw, "journalInfo")
    journal = get_mapping(issue, "journal")
    issn, eissn = find_first_text(journal.get("issn")), find_first_text(journal.get("essn"), journal.get("eissn"))
    if not journal:  # a lite record does not distinguish print and electronic ISSNs
        numbers = [part.upper() for part in re.split(r"[;\s]+", to_text(raw.get("journalIssn"))) if part]
        issn = numbers[0] if numbers else None
        fields["issns"] = numbers[1:] and numbers
    medline = find_first_text(journal.get("medlineAbbreviation"))
    short = find_first_text(journal.get("isoabbreviation"), medline, raw.get("journalTitle"))
    info: Fields = {
        "title": find_first_text(journal.get("title")),
        "iso_abbreviation": short,
        "medline_abbreviation": medline if medline != short else None,
        "issn": issn,
        "eissn": eissn,
        "nlm_id": find_first_text(journal.get("nlmid")),
        "volume": find_first_text(issue.get("volume"), raw.get("journalVolume")),
        "issue": find_first_text(issue.get("issue"), raw.get("issue")),
        "pages": find_first_text(raw.get("pageInfo")),
    }
    book = get_mapping(raw, "bookOrReportDetails")
    if fields["source"] == "PPR":
        server = find_first_text(book.get("publisher"))
        fields["preprint_server"] = server
        info["title"] = info["title"] or server
    elif book:
        _read_book(raw, book, fields, info)
    info["publication_date"] = _read_published(raw, issue, book, fields["source"])
    fields["journal_info"] = {name: value for name, value in info.items() if value}
    _read_dates(raw, fields)


def _read_book(raw: Raw, book: Raw, fields: Fields, info: Fields) -> None:
    isbns = [find_first_text(book.get(name)) for name in ("isbn10", "isbn13", "isbn")]
    details = {
        **rename_fields(book, _BOOK),
        "isbns": list(filter(None, isbns)),
        "accession": find_first_text(raw.get("bookid")),
    }
    fields["book_info"] = {name: value for name, value in details.items() if value}
    whole_title = details.get("title")
    if to_boolean(raw.get("hasBook")) or raw.get("bookid"):
        fields["record_type"] = "chapter" if whole_title else "book"
        info["title"] = info["title"] or whole_title


def _read_published(raw: Raw, issue: Raw, book: Raw, source: str) -> Fields | None:
    """Return the date of the issue, or the day of publication of a preprint."""
    written = to_text(issue.get("dateOfPublication"))
    parts = written.split()
    if len(parts) > 3:
        return build_publication_date(None, None, None, None, written)
    if not parts and source == "PPR":
        parts = to_text(raw.get("firstPublicationDate")).split("-")
    if any(parts):
        year, month, day = (*(part or None for part in parts), None, None, None)[:3]
        return build_publication_date(year, month, day, None, None)
    known = find_first_text(issue.get("yearOfPublication"), raw.get("pubYear"), book.get("yearOfPublication"))
    return (
        build_publication_date(known, find_first_text(issue.get("monthOfPublication")), None, None, None)
        if known
        else None
    )


def _read_calendar(value: object) -> dict[str, int]:
    parts = zip(("year", "month", "day"), to_text(value).split("-"), strict=False)
    return {name: number for name, part in parts if (number := read_number(part or None)) is not None}


def _read_dates(raw: Raw, fields: Fields) -> None:
    electronic = _read_calendar(raw.get("electronicPublicationDate"))
    if electronic:
        fields["article_dates"] = [{"type": "Electronic", **electronic}]
    fields["history"] = [
        {"status": status, **day} for name, status in HISTORY.items() if (day := _read_calendar(raw.get(name)))
    ]
    fields["date_revised"] = format_iso_date(**_read_calendar(raw.get("dateOfRevision")))
    fields["first_publication_date"] = format_iso_date(**_read_calendar(raw.get("firstPublicationDate")))


def _read_terms(raw: Raw, fields: Fields) -> None:
    fields["languages"] = [words for item in unwrap_list(raw, "language") if (words := find_first_text(item))]
    fields["mesh_terms"] = [
        {
            "descriptor_name": name,
            "is_major_topic": bool(to_boolean(heading.get("majorTopic_YN"))),
            "qualifiers": tuple(
                {"name": subheading, "is_major_topic": bool(to_boolean(qualifier.get("majorTopic_YN")))}
                for qualifier in list_mappings(heading, "meshQualifierList", "meshQualifier")
                if (subheading := find_first_text(qualifier.get("qualifierName")))
            ),
        }
        for heading in list_mappings(raw, "meshHeadingList", "meshHeading")
        if (name := find_first_text(heading.get("descriptorName")))
    ]
    chemicals = [rename_fields(item, _CHEMICAL) for item in list_mappings(raw, "chemicalList", "chemical")]
    named_chemicals = [chemical for chemical in chemicals if "name" in chemical]
    fields["chemicals"] = [  # 0 means "no number"
        {name: value for name, value in chemical.items() if (name, value) != ("registry_number", "0")}
        for chemical in named_chemicals
    ]
    grants = [rename_fields(item, _GRANT) for item in list_mappings(raw, "grantsList", "grant")]
    fields["grant_list"] = [grant for grant in grants if grant]
    fields["subsets"] = [
        name
        for item in list_mappings(raw, "subsetList", "subset")
        if (name := find_first_text(item.get("name"), item.get("code")))
    ]


def _guess_language(abstract: str, languages: list[str]) -> str | None:
    """Return the language of an abstract if its words show that it is not English.

    Europe PMC gives the language of an article, but not of its abstract. Any longer English text contains "the".
    """
    own_language = next((code for code in languages if code not in ("eng", "en", "und", "mul")), None)
    words = re.findall(r"[^\W\d_]+", abstract.lower())
    latin = sum(word.isascii() for word in words) > len(words) / 2
    return own_language if "the" not in words and (len(words) >= _SOME_LENGTH or (words and not latin)) else None


def _read_links(raw: Raw, fields: Fields) -> None:
    """Read links to other records: corrections, comments, preprints, published articles, versions."""
    corrections: list[Fields] = []
    related: list[Fields] = []
    for item in list_mappings(raw, "commentCorrectionList", "commentCorrection"):
        kind = to_reftype(to_text(item.get("type")))
        if not kind:
            continue
        source, other = to_text(item.get("source")), to_text(item.get("id"))
        citation = find_first_text(item.get("reference")) or ""
        pmid = other if source == "MED" else None
        corrections.append(
            {"kind": kind, "citation": citation, "note": find_first_text(item.get("note")), "pmid": pmid or None}
        )
        if source and other and (source != "MED" or kind in ("PreprintOf", "PreprintIn")):
            related.append({"kind": kind, "source": source, "epmc_id": other, "citation": citation or None})
    fields["corrections"] = corrections
    fields["related_records"] = related
    fields["versions"] = [
        {
            "version": str(count),
            "source": to_text(item.get("source")) or fields["source"],
            "epmc_id": to_text(item.get("id")),
            "doi": normalize_doi(to_text(item.get("doi"))) or None,
            "date": format_iso_date(**_read_calendar(item.get("firstPublishDate"))),
        }
        for item in list_mappings(raw, "versionList", "version")
        if (count := to_integer(item.get("versionNumber"))) is not None and to_text(item.get("id"))
    ]


def _mark_superseded(fields: Fields) -> None:
    """Set the status "superseded" of a preprint with a newer version, unless it has a status already."""
    own = to_integer(fields.get("version"))
    newest = max(fields["versions"], key=lambda version: int(version["version"]), default=None)
    if own is None or newest is None or int(newest["version"]) <= own or "standing" in fields:
        return
    notice = StandingNotice(status="superseded", kind="NewVersion", doi=newest["doi"], date=newest["date"])
    fields["standing"] = Standing(status="superseded", notices=[notice])


def to_reftype(text: str) -> str:
    """Convert Europe PMC's name of a link to NLM's RefType: "Erratum in" is ErratumIn."""
    plain = " ".join(convert_to_plain_text(text).lower().split())
    return _KINDS.get(plain) or "".join(word.capitalize() for word in re.findall(r"[a-z]+", plain))


def _read_availability(raw: Raw, fields: Fields) -> None:
    fields["is_open_access"] = to_boolean(raw.get("isOpenAccess"))
    fields["has_full_text"] = bool(fields["full_text_ids"]) or to_boolean(raw.get("inEPMC"))
    fields["cited_by_count"] = to_integer(raw.get("citedByCount"))
    fields["features"] = [name for key, name in FEATURES.items() if to_boolean(raw.get(key))]
    fields["full_text_links"] = [
        {"url": address, **rename_fields(item, _LINK)}
        for item in list_mappings(raw, "fullTextUrlList", "fullTextUrl")
        if (address := to_text(item.get("url")))
    ]

"""Records in the format of Europe PMC: converted records of the corpus, and some that are not in PubMed."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Final

from pyroaring import BitMap

from entrez_kit.local.eutils.entrez_data import NOTICES
from entrez_kit.local.eutils.pubmed import PubMedDatabase
from entrez_kit.local.records.collection import RecordCollection
from entrez_kit.local.records.document import Document, PartialDate, Person, render_marked_text
from entrez_kit.local.records.fixture_files import read_fixtures
from entrez_kit.local.records.sort_orders import LAST, read_sort_keys
from entrez_kit.query.record_terms import RecordTerms, SortKeys
from entrez_kit.query.segments.writer import index_records
from entrez_kit.query.words import fold
from entrez_kit.sandbox.service_data import EUROPEPMC

if TYPE_CHECKING:
    from entrez_kit.query.segments.search_index import SearchIndex

JsonObject = dict[str, Any]

_SUBSETS: Final = {"IM": "Index Medicus"}
_KINDS: Final = {kind: words for kind, (_, words) in NOTICES.items() if not kind.startswith("Republished")}
_TAG: Final = re.compile(r"<[^<>]*+>")


class CorpusShelf:
    """The records of the corpus; all of them are in PubMed."""

    def __init__(self, pubmed: PubMedDatabase) -> None:
        self._pubmed = pubmed

    @property
    def collection(self) -> RecordCollection:
        """The records."""
        return self._pubmed.collection

    @property
    def index(self) -> "SearchIndex":
        """The index of the records."""
        return self.collection.index

    def find_source(self, source: str) -> BitMap:
        """Return the records of a source."""
        return BitMap(range(self.index.size)) if source == "MED" else BitMap()

    def find_id(self, ext_id: str) -> BitMap:
        """Return the record with this PMID."""
        number = self.collection.find_number(ext_id)
        return BitMap() if number is None else BitMap((number,))

    def build_core(self, number: int) -> JsonObject:
        """Return a record in the core form, which has every field."""
        document = self.collection.read_document(number)
        return build_core_record(document, len(self.collection.find_citing(document.pmid)))

    def count_citations(self, number: int) -> int:
        """Return the number of citations of a record."""
        return len(self.collection.find_citing(self.collection.get_pmid(number)))

    def get_day(self, number: int) -> int:
        """Return the publication date as yyyymmdd."""
        return read_sort_keys(self.collection.read_document(number)).day

    def get_author(self, number: int) -> str:
        """Return the first author for sorting."""
        return read_sort_keys(self.collection.read_document(number)).texts["author"]


class OtherShelf:
    """Invented records that are not in PubMed, mostly preprints."""

    def __init__(self, records: Iterable[JsonObject]) -> None:
        self._records = sorted(records, key=lambda record: str(record["firstPublicationDate"]))
        self.size = len(self._records)

    @classmethod
    @cache
    def load_bundled(cls) -> "OtherShelf":
        """Read the records of this package; none if they are not installed."""
        return cls(record for file in read_fixtures("europepmc", ".json") for record in json.loads(file)["records"])

    @cached_property
    def index(self) -> "SearchIndex":
        """The index of the records."""
        return index_records(map(self._read_terms, range(self.size)))

    def _read_terms(self, number: int) -> tuple[RecordTerms, SortKeys]:
        record = self._records[number]
        terms = RecordTerms()
        terms.add_text("title", strip_markup(record.get("title")))
        terms.add_text("abstract", strip_markup(record.get("abstractText")))
        terms.add_text("keyword", *record.get("keywordList", {}).get("keyword", ()))
        people = record.get("authorList", {}).get("author", ())
        names = [str(person.get("fullName") or person.get("collectiveName") or "") for person in people]
        terms.add_names("author", ((name, "") for name in names))
        terms.add_names("first_author", ((name, "") for name in names[:1]))
        terms.add_text("author", *names)
        server = str(record.get("bookOrReportDetails", {}).get("publisher") or "")
        terms.add_text("journal", server)
        terms.add_value("journal", server)
        terms.add_value("ptype", *record.get("pubTypeList", {}).get("pubType", ()))
        terms.add_exact("aid", str(record.get("doi") or "").casefold(), str(record.get("pmcid") or "").casefold())
        terms.add_text("ids", str(record["id"]), str(record.get("doi") or ""))
        terms.add_value("language", str(record.get("language") or ""))
        day = parse_day(record["firstPublicationDate"])
        terms.add_number("pdat", day)
        filters = ["all"]
        filters += ["hasabstract"] if record.get("abstractText") else []
        filters += ["pubmed pmc"] if record.get("isOpenAccess") == "Y" else []
        terms.add_value("filter", *filters)
        return terms, SortKeys(number, day, {"author": fold(names[0]) if names else LAST})

    def find_source(self, source: str) -> BitMap:
        """Return the records of a source."""
        return BitMap([number for number, record in enumerate(self._records) if record["source"] == source])

    def find_id(self, ext_id: str) -> BitMap:
        """Return the records with this id within their source."""
        record_id = ext_id.upper()
        return BitMap([number for number, record in enumerate(self._records) if str(record["id"]).upper() == record_id])

    def build_core(self, number: int) -> JsonObject:
        """Return a record in the core form, which has every field."""
        return {key: value for key, value in self._records[number].items() if key != "fullText"}

    def find_full_text(self, article_id: str) -> str | None:
        """Return the JATS body of a record that has one."""
        numbers = list(self.find_id(article_id))
        text = self._records[numbers[0]].get("fullText") if numbers else None
        return str(text) if text else None

    def count_citations(self, number: int) -> int:
        """Return the number of citations of a record."""
        return int(self._records[number].get("citedByCount") or 0)

    def get_day(self, number: int) -> int:
        """Return the publication date as yyyymmdd."""
        return parse_day(self._records[number]["firstPublicationDate"])

    def get_author(self, number: int) -> str:
        """Return the authors for sorting."""
        return fold(str(self._records[number].get("authorString") or LAST))


Shelf = CorpusShelf | OtherShelf
"""Numbered records that a query searches."""


def strip_markup(text: object) -> str:
    """Return text without markup."""
    return _TAG.sub(" ", str(text or ""))


def parse_day(day: object) -> int:
    """Return 20240315 for "2024-03-15"."""
    return int(str(day).replace("-", ""))


# The forms of a record ----------------------------------------------------------------------------------------------


def to_form(record: JsonObject, form: str) -> JsonObject:
    """Return a record in the core, lite or idlist form."""
    if form == "core":
        return record
    if form == "idlist":
        return {key: record[key] for key in EUROPEPMC["idlist"] if key in record}
    journal = record.get("journalInfo", {})
    names = journal.get("journal", {})
    numbers = [str(names[key]).lower() for key in ("issn", "essn") if names.get(key)]
    brief: JsonObject = {key: record[key] for key in EUROPEPMC["lite"] if key in record}
    # The lite form escapes the markup of the title.
    brief["title"] = (
        escape(str(record.get("title", "")), quote=False) if "<" in str(record.get("title")) else brief.get("title", "")
    )
    extra: JsonObject = {
        "journalTitle": names.get("isoabbreviation"),
        "issue": journal.get("issue"),
        "journalVolume": journal.get("volume"),
        "pubYear": record.get("pubYear"),
        "journalIssn": f"{'; '.join(numbers)}; " if len(numbers) > 1 else "".join(numbers),
        "pageInfo": record.get("pageInfo"),
        "pubType": "; ".join(record.get("pubTypeList", {}).get("pubType", ())).lower(),
        **{key: record[key] for key in EUROPEPMC["lite_flags"] if key in record},
        "bookOrReportDetails": record.get("bookOrReportDetails"),
        "bookid": record.get("bookid"),
        "versionNumber": record.get("versionNumber"),
        "firstIndexDate": record.get("firstIndexDate"),
        "firstPublicationDate": record.get("firstPublicationDate"),
    }
    return {**brief, **{key: value for key, value in extra.items() if value not in (None, "")}}


def omit_empty(value: Any) -> Any:
    """Return a record without empty fields, at any depth; numbers stay."""
    if isinstance(value, dict):
        return {key: kept for key, member in value.items() if (kept := omit_empty(member)) not in (None, "", [], {})}
    return [omit_empty(member) for member in value] if isinstance(value, list) else value


def join_authors(document: Document) -> str:
    """Return the authors as Europe PMC lists them."""
    return f"{', '.join(author.short for author in document.authors)}." if document.authors else ""


def build_core_record(document: Document, cited: int) -> JsonObject:
    """Return a PubMed record in the core form of Europe PMC."""
    open_access = "Y" if document.pmcid else "N"
    first = document.electronic_date or document.publication_date or document.entry_date
    entered = _format_iso(document.entry_date)
    year, chemicals = document.publication_date.number // 10000, document.chemicals
    record: JsonObject = {
        "id": document.pmid,
        "source": "MED",
        "pmid": document.pmid,
        "pmcid": document.pmcid,
        "fullTextIdList": {"fullTextId": [document.pmcid] if document.pmcid else []},
        "doi": document.doi.lower(),  # as Europe PMC writes them
        "title": render_marked_text(document.title_element),
        "authorString": join_authors(document),
        "authorList": {"author": [_build_author(author) for author in document.authors]},
        "journalInfo": {} if document.is_book else _build_journal(document),
        "bookOrReportDetails": _build_book(document) if document.is_book else {},
        "pubYear": str(year or ""),
        "pageInfo": document.pages,
        "abstractText": "".join(_build_abstract(document)),
        "publicationStatus": document.publication_status,
        "language": next(iter(document.languages), ""),
        "pubModel": document.publication_model,
        "pubTypeList": {"pubType": document.publication_types},
        "grantsList": {"grant": list(_build_grants(document))},
        "meshHeadingList": {"meshHeading": list(_build_headings(document))},
        "keywordList": {"keyword": [word for _, word, _ in document.keywords]},
        "chemicalList": {"chemical": [{"name": name, "registryNumber": number} for number, name in chemicals]},
        "subsetList": {"subset": [{"code": code, "name": _SUBSETS.get(code, code)} for code in document.subsets]},
        "commentCorrectionList": {"commentCorrection": list(_build_corrections(document))},
        "fullTextUrlList": {"fullTextUrl": list(_build_addresses(document))},
        **dict.fromkeys(("isOpenAccess", "inEPMC", "inPMC", "hasPDF"), open_access),
        "hasBook": "Y" if document.is_book else "N",
        "hasSuppl": "N",
        "citedByCount": cited,
        "hasData": "N",
        "hasReferences": "Y" if document.cited_pmids else "N",
        **dict.fromkeys(("hasTextMinedTerms", "hasDbCrossReferences", "hasLabsLinks", "hasTMAccessionNumbers"), "N"),
        "dateOfCreation": entered,
        "firstIndexDate": entered,
        "dateOfCompletion": _format_iso(document.completed),
        "dateOfRevision": _format_iso(document.revised),
        "electronicPublicationDate": _format_iso(document.electronic_date),
        "firstPublicationDate": _format_iso(first),
        "bookid": document.get_identifier("bookaccession") if document.is_book else "",
    }
    pruned: JsonObject = omit_empty(record)
    return pruned


def _build_author(author: Person) -> JsonObject:
    orcid = next((value for source, value in author.identifiers if source == "ORCID"), "")
    return {
        "fullName": author.short if not author.group else None,
        "firstName": author.fore,
        "lastName": author.last,
        "initials": author.initials,
        "suffix": author.suffix,
        "collectiveName": author.group,
        "authorId": {"type": "ORCID", "value": orcid.rsplit("/", 1)[-1]} if orcid else None,
        "authorAffiliationDetailsList": {
            "authorAffiliation": [{"affiliation": affiliation} for affiliation in author.affiliations]
        },
    }


def _build_journal(document: Document) -> JsonObject:
    day = document.publication_date
    is_day = re.fullmatch(r"[0-9]{4} [A-Z][a-z]{2} [0-9]+", day.text)
    return {
        "issue": document.issue,
        "volume": document.volume,
        "dateOfPublication": " ".join(day.text.split()[:2]) if is_day else day.text,
        "monthOfPublication": day.number // 100 % 100 if day else None,
        "yearOfPublication": day.number // 10000 if day else None,
        "printPublicationDate": _format_iso(day),
        "journal": {
            "title": document.journal_title,
            "medlineAbbreviation": document.journal_ta,
            "isoabbreviation": document.journal_iso,
            "nlmid": document.nlm_id,
            "issn": document.get_issn("Print"),
            "essn": document.get_issn("Electronic"),
        },
    }


def _build_book(document: Document) -> JsonObject:
    return {
        "publisher": ", ".join(filter(None, (document.publisher, document.publisher_location))),
        "yearOfPublication": document.publication_date.number // 10000 or None,
        "comprisingTitle": document.book_title if document.is_chapter else None,
        "isbn13": document.isbn,
    }


def _build_abstract(document: Document) -> Iterable[str]:
    for part in document.root.iterfind(".//Abstract/AbstractText"):
        label = str(part.get("Label") or "")
        yield f"<h4>{label.capitalize()}</h4>{render_marked_text(part)}" if label else render_marked_text(part)


def _build_headings(document: Document) -> Iterable[JsonObject]:
    for heading in document.headings:
        qualifiers = [
            {"abbreviation": name[:2].upper(), "qualifierName": name, "majorTopic_YN": "Y" if major else "N"}
            for name, major in heading.qualifiers
        ]
        yield {
            "majorTopic_YN": "Y" if heading.major else "N",
            "descriptorName": heading.name,
            "meshQualifierList": {"meshQualifier": qualifiers},
        }


def _build_grants(document: Document) -> Iterable[JsonObject]:
    for grant in document.root.iterfind(".//GrantList/Grant"):
        names = {"grantId": "GrantID", "agency": "Agency", "acronym": "Acronym"}
        fields = {ours: escape(grant.findtext(theirs) or "", quote=False) for ours, theirs in names.items()}
        yield {**fields, "orderIn": 0}


def _build_corrections(document: Document) -> Iterable[JsonObject]:
    for place, correction in enumerate(document.corrections, start=1):
        if correction.kind in _KINDS:
            yield {
                "id": correction.pmid,
                "source": "MED" if correction.pmid else None,
                "reference": correction.source,
                "type": _KINDS[correction.kind],
                "note": correction.note,
                "orderIn": place,
            }


def _build_addresses(document: Document) -> Iterable[Mapping[str, str]]:
    if document.doi:
        yield _build_address("Subscription required", "S", "doi", "DOI", f"https://doi.org/{document.doi}")
    if document.pmcid:
        page = f"https://europepmc.org/articles/{document.pmcid}"
        yield _build_address("Open access", "OA", "html", "Europe_PMC", page)
        yield _build_address("Open access", "OA", "pdf", "Europe_PMC", f"{page}?pdf=render")


def _build_address(availability: str, code: str, style: str, site: str, url: str) -> Mapping[str, str]:
    return {"availability": availability, "availabilityCode": code, "documentStyle": style, "site": site, "url": url}


def _format_iso(day: PartialDate) -> str:
    return day.slashed.replace("/", "-") if day else ""

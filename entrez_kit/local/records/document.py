"""The parser of PubMed records for the indexes, summaries and MEDLINE text of local collections.

It is independent of the library's parser, which is tested against this one: the two must not share mistakes.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple, TypeVar

from lxml import etree

from entrez_kit.base.clock import MONTHS
from entrez_kit.base.history_events import ENTERED, find_event
from entrez_kit.base.mixed_content import read_text as plain_text_of
from entrez_kit.local.records.text import squeeze

SEASONS: Final = {"winter": 1, "spring": 4, "summer": 7, "autumn": 10, "fall": 10}
_NAMES: Final = ("LastName", "ForeName", "Initials", "Suffix", "CollectiveName")
_INLINE: Final = frozenset(("i", "b", "u", "sup", "sub"))


Value = TypeVar("Value")


class lazy(cached_property[Value]):  # noqa: N801 - used as a decorator, like property
    """A property that is computed on first use. Unlike its base class in Python 3.11 it has no lock."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the value."""
        value = instance.__dict__[self.attrname] = self.func(instance)
        return value


class Person(NamedTuple):
    """An author, editor or investigator: a person or a group."""

    last: str
    fore: str
    initials: str
    suffix: str
    group: str
    affiliations: tuple[str, ...]
    identifiers: tuple[tuple[str, str], ...]

    @property
    def short(self) -> str:
        """ "Smith JA Jr", or the name of the group."""
        return self.group or " ".join(filter(None, (self.last, self.initials, self.suffix)))

    @property
    def full(self) -> str:
        """ "Smith, John A Jr", as MEDLINE's FAU field has it."""
        given = " ".join(filter(None, (self.fore or self.initials, self.suffix)))
        return ", ".join(filter(None, (self.last, given)))


class IndexTerm(NamedTuple):
    """A MeSH heading with its qualifiers, and a major-topic flag of each."""

    name: str
    major: bool
    qualifiers: tuple[tuple[str, bool], ...]


class Notice(NamedTuple):
    """A link to another publication, such as an erratum, a retraction or a comment."""

    kind: str
    source: str
    pmid: str
    note: str


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date with the precision of the record: its text, and a number yyyymmdd for comparison."""

    text: str
    number: int

    def __bool__(self) -> bool:
        return self.number > 0

    @property
    def slashed(self) -> str:
        """ "2024/03/01"."""
        return f"{self.number // 10000:04}/{self.number // 100 % 100:02}/{self.number % 100:02}"


NO_DATE: Final = PartialDate("", 0)


class HistoryEvent(NamedTuple):
    """An event in the history of a record: its kind, date and time of day."""

    kind: str
    date: PartialDate
    clock: str


def record_parser() -> Any:
    """Return a parser for single records: no network, no DTD, undeclared namespace prefixes accepted."""
    return etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)


def read_text(element: Any) -> str:
    """Return all text of an element without markup; superscripts and subscripts as the kit writes them."""
    if element is None:
        return ""
    if not len(element):
        text: str | None = element.text
        if not text:
            return ""
        if "<" not in text:
            return " ".join(text.split())
    return squeeze(plain_text_of(element))


def _read_child_text(element: Any, tag: str) -> str:
    """Return the text of the first child with a tag."""
    return read_text(next(element.iterchildren(tag), None))


def render_marked_text(element: Any) -> str:
    """Return the text of an element with its inline markup (``<i>``, ``<sub>``) as tags, as in summaries."""
    if element is None:
        return ""
    return squeeze(_render_inline(element))


def _render_inline(element: Any) -> str:
    parts = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str):
            inner = _render_inline(child)
            parts.append(f"<{child.tag}>{inner}</{child.tag}>" if child.tag in _INLINE else inner)
        parts.append(child.tail or "")
    return "".join(parts)


def read_date(element: Any) -> PartialDate:
    """Read a date element: year, month and day, a season, or MEDLINE's free text."""
    return NO_DATE if element is None else _to_date(_read_parts(element))


def _read_parts(element: Any) -> dict[str, str]:
    """Return the texts of the children of a date."""
    parts: dict[str, str] = {}
    for child in element:
        if child.text:
            parts.setdefault(child.tag, " ".join(child.text.split()))
    return parts


def _to_date(parts: Mapping[str, str]) -> PartialDate:
    get = parts.get
    return _build_date(get("MedlineDate", ""), get("Season", ""), get("Year", ""), get("Month", ""), get("Day", ""))


@lru_cache(maxsize=65_536)
def _build_date(free: str, season: str, year: str, month_name: str, day: str) -> PartialDate:
    """Return a date; a file has many records of the same days."""
    if free:
        return PartialDate(free, _find_number(free))
    if not year.isdigit():
        return NO_DATE
    if season:
        return PartialDate(f"{year} {season}", int(year) * 10000 + _find_season(season) * 100 + 1)
    month = to_month(month_name)
    shown = [year]
    if month:
        shown.append(MONTHS[month - 1])
        if day.isdigit():
            shown.append(str(int(day)))
    number = int(year) * 10000 + (month or 1) * 100 + (int(day) if month and day.isdigit() else 1)
    return PartialDate(" ".join(shown), number)


def to_month(text: str) -> int:
    """Return 1..12 for "3", "03", "Mar" or "March", else 0."""
    if text.isdigit():
        return int(text) if 1 <= int(text) <= 12 else 0
    short = text[:3].title()
    return MONTHS.index(short) + 1 if short in MONTHS else 0


def _find_season(text: str) -> int:
    """Return the first month of a season, or of a span of months such as "Jul-Sep"."""
    return to_month(text) or next((month for name, month in SEASONS.items() if name in text.lower()), 1)


def _find_number(text: str) -> int:
    """Return the first date in free text such as "2000 Nov-Dec" or "1998 Dec-1999 Jan"."""
    year = re.search(r"[0-9]{4}", text)
    if year is None:
        return 0
    rest = text[year.end() :]
    word = re.search(r"[A-Za-z]+", rest)
    month = _find_season(word.group()) if word else 1
    day = re.match(r"\s*[A-Za-z]+\s+([0-9]{1,2})(?![0-9])", rest)
    return int(year.group()) * 10000 + month * 100 + (int(day.group(1)) if day else 1)


class _Element:
    """An element with its children by tag, for ``find`` and ``iterfind`` of paths without a visit of all children.

    A missing element has no children and no attributes.
    """

    def __init__(self, element: Any) -> None:
        self._element = element
        self._children: dict[Any, list[Any]] = {}
        for child in () if element is None else element:
            self._children.setdefault(child.tag, []).append(child)

    def get(self, name: str) -> str:
        """Return an attribute, "" if it is missing."""
        return "" if self._element is None else self._element.get(name) or ""

    def iterfind(self, path: str) -> list[Any]:
        """Return the elements at a path of tags."""
        tag, _, rest = path.partition("/")
        elements = self._children.get(tag, [])
        while rest and elements:
            step, _, rest = rest.partition("/")
            elements = [child for parent in elements for child in parent.iterchildren(step)]
        return elements

    def find(self, path: str) -> Any:
        """Return the first element at a path of tags, if any."""
        elements = self.iterfind(path)
        return elements[0] if elements else None


def _read_attribute(name: str, default: str, part: str = "_citation") -> "lazy[str]":
    """Return a property that is an attribute of a part of the record."""
    return lazy(lambda document: getattr(document, part).get(name) or default)


def _read_one_at(path: str, read: Callable[[Any], Value], part: str = "_citation") -> "lazy[Value]":
    """Return a property that is read from the first element at a path; ``read`` gets None for a missing one."""
    return lazy(lambda document: read(getattr(document, part).find(path)))


def _read_text_at(path: str, part: str = "_citation") -> "lazy[str]":
    """Return a property that is the text of the first element at a path."""
    return _read_one_at(path, read_text, part)


def _read_all_at(path: str, read: Callable[[Any], Value], part: str = "_citation") -> "lazy[list[Value]]":
    """Return a property that lists the result of ``read`` for each element at a path."""
    return lazy(lambda document: [read(element) for element in getattr(document, part).iterfind(path)])


def _read_people(people: Any) -> list[Person]:
    """Read a list of authors. NLM displays only the names marked as valid; if none is, all of them are used."""
    everybody = people.findall("Author")
    valid = [person for person in everybody if person.get("ValidYN") != "N"]
    return [_read_person(person) for person in valid or everybody]


def _read_person(element: Any) -> Person:
    names: dict[str, str] = {}
    places: list[str] = []
    identifiers: list[tuple[str, str]] = []
    for child in element:
        tag = child.tag
        if tag == "AffiliationInfo":
            places += [read_text(place) for place in child if place.tag == "Affiliation"]
        elif tag == "Identifier":
            identifiers.append((child.get("Source") or "", read_text(child)))
        else:
            names.setdefault(tag, read_text(child))
    last, fore, initials, suffix, group = (names.get(tag, "") for tag in _NAMES)
    return Person(last, fore, initials, suffix, group, tuple(places), tuple(identifiers))


def _read_heading(element: Any) -> IndexTerm:
    names = [(child.tag, read_text(child), child.get("MajorTopicYN") == "Y") for child in element]
    qualifiers = tuple((name, major) for tag, name, major in names if tag == "QualifierName")
    descriptors = ((name, major) for tag, name, major in names if tag == "DescriptorName")
    name, major = next(descriptors, ("", False))
    return IndexTerm(name, major, qualifiers)


def _read_notice(element: Any) -> Notice:
    texts = (_read_child_text(element, tag) for tag in ("RefSource", "PMID", "Note"))
    return Notice(element.get("RefType") or "", *texts)


def _read_bank(bank: Any) -> list[str]:
    name = _read_child_text(bank, "DataBankName")
    return [f"{name}/{read_text(number)}" for number in bank.iterfind("AccessionNumberList/AccessionNumber")]


def _read_other_abstract(other: Any) -> tuple[str, str]:
    return other.get("Type") or "", " ".join(read_text(part) for part in other.iterfind("AbstractText"))


def _read_chemical(chemical: Any) -> tuple[str, str]:
    return _read_child_text(chemical, "RegistryNumber"), _read_child_text(chemical, "NameOfSubstance")


def _read_grant(grant: Any) -> list[str]:
    return [text for tag in ("GrantID", "Acronym", "Agency", "Country") if (text := _read_child_text(grant, tag))]


def _read_keywords(keyword_list: Any) -> list[tuple[str, str, bool]]:
    owner = keyword_list.get("Owner") or ""
    return [(owner, read_text(word), word.get("MajorTopicYN") == "Y") for word in keyword_list.iterfind("Keyword")]


def _read_event(event: Any) -> HistoryEvent:
    parts = _read_parts(event)
    clock = f"{int(parts.get('Hour') or 0):02}:{int(parts.get('Minute') or 0):02}"
    return HistoryEvent(event.get("PubStatus") or "", _to_date(parts), clock)


class Document:
    """One record. Its properties are parsed from the XML on first use."""

    def __init__(self, raw: bytes) -> None:
        self._parser = record_parser()
        self.root = etree.fromstring(raw, self._parser)
        self.is_book = self.root.tag == "PubmedBookArticle"
        self._citation = _Element(self.root.find("BookDocument" if self.is_book else "MedlineCitation"))
        article = None if self.is_book else self._citation.find("Article")
        self._article = self._citation if article is None else _Element(article)
        self._data = _Element(self.root.find("PubmedBookData" if self.is_book else "PubmedData"))
        self._book = _Element(self._citation.find("Book"))

    def find_defect(self) -> str | None:
        """Describe why the XML is not well-formed; None if it is. Undeclared namespace prefixes are accepted."""
        return next((str(error.message) for error in self._parser.error_log if error.domain_name != "NAMESPACE"), None)

    pmid = _read_text_at("PMID")
    """The PMID of the record itself."""
    status = _read_attribute("Status", "Publisher")
    """The status of the record, such as MEDLINE, PubMed-not-MEDLINE, Publisher or In-Process."""
    owner = _read_attribute("Owner", "NLM")
    """The organization that created the citation."""
    indexing_method = _read_attribute("IndexingMethod", "")
    """How MeSH terms were assigned: Automated, Curated, or an empty string."""
    publication_model = _read_attribute("PubModel", "Print", "_article")
    """The publication model, such as Print, Electronic or Print-Electronic."""

    @lazy
    def title_element(self) -> Any:
        """The element that contains the title; for a whole book, the title of the book."""
        title = self._article.find("ArticleTitle")
        return self._book.find("BookTitle") if title is None else title

    @lazy
    def title(self) -> str:
        """The title without markup."""
        return read_text(self.title_element)

    vernacular_title = _read_text_at("VernacularTitle", "_article")
    """The title in the article's own language."""
    book_title = _read_text_at("BookTitle", "_book")
    """The title of the book that contains the chapter."""

    @lazy
    def is_chapter(self) -> bool:
        """Whether this record is a chapter of a book."""
        return self.is_book and self._article.find("ArticleTitle") is not None

    publisher = _read_text_at("Publisher/PublisherName", "_book")
    """The name of a book's publisher."""
    publisher_location = _read_text_at("Publisher/PublisherLocation", "_book")
    """The place of a book's publisher."""
    abstract = _read_all_at(
        "Abstract/AbstractText", lambda part: (part.get("Label") or "", read_text(part)), "_article"
    )
    """Label and text of each part of the abstract."""
    other_abstracts = _read_all_at("OtherAbstract", _read_other_abstract)
    """Kind and text of each further abstract."""

    @lazy
    def has_foreign_abstract(self) -> bool:
        """Whether an abstract is in another language than English."""
        return any((other.get("Language") or "eng") != "eng" for other in self._citation.iterfind("OtherAbstract"))

    @lazy
    def abstract_text(self) -> str:
        """The abstract as one string, with its labels."""
        return " ".join(f"{label}: {text}" if label else text for label, text in self.abstract)

    copyright = _read_text_at("Abstract/CopyrightInformation", "_article")
    """The copyright notice of the abstract."""
    journal_title = _read_text_at("Journal/Title", "_article")
    """The journal's full title."""
    journal_iso = _read_text_at("Journal/ISOAbbreviation", "_article")
    """The journal's ISO abbreviation."""

    @lazy
    def journal_ta(self) -> str:
        """The journal's MEDLINE abbreviation."""
        return read_text(self._citation.find("MedlineJournalInfo/MedlineTA")) or self.journal_iso

    nlm_id = _read_text_at("MedlineJournalInfo/NlmUniqueID")
    """The journal's NLM identifier."""
    country = _read_text_at("MedlineJournalInfo/Country")
    """The country where the journal is published."""

    @lazy
    def issns(self) -> list[tuple[str, str]]:
        """Kind and number of each ISSN."""
        serials = [(issn.get("IssnType") or "", read_text(issn)) for issn in self._article.iterfind("Journal/ISSN")]
        linking = read_text(self._citation.find("MedlineJournalInfo/ISSNLinking"))
        return [*serials, ("Linking", linking)] if linking else serials

    def get_issn(self, kind: str) -> str:
        """Return the ISSN of one kind, or an empty string."""
        return next((number for name, number in self.issns if name == kind), "")

    volume = _read_text_at("Journal/JournalIssue/Volume", "_article")
    """Volume of the journal."""
    issue = _read_text_at("Journal/JournalIssue/Issue", "_article")
    """Issue of the journal."""

    @lazy
    def pages(self) -> str:
        """Page range, as MEDLINE abbreviates it."""
        ends = (read_text(self._article.find(f"Pagination/{name}Page")) for name in ("Start", "End"))
        return read_text(self._article.find("Pagination/MedlinePgn")) or "-".join(filter(None, ends))

    @lazy
    def publication_date(self) -> PartialDate:
        """The date of the issue, or of the book."""
        return read_date(self._article.find("Book/PubDate" if self.is_book else "Journal/JournalIssue/PubDate"))

    @lazy
    def electronic_date(self) -> PartialDate:
        """The date of electronic publication."""
        dates = self._article.iterfind("ArticleDate")
        return read_date(next((date for date in dates if date.get("DateType") == "Electronic"), None))

    completed = _read_one_at("DateCompleted", read_date)
    """The date when indexing was completed."""
    revised = _read_one_at("DateRevised", read_date)
    """The date when the record was last revised."""
    history = _read_all_at("History/PubMedPubDate", _read_event, "_data")
    """The events in the history of the record."""

    def get_event(self, *kinds: str) -> PartialDate:
        """Return the date of the first of these events that the record has."""
        return find_event(((kind, day) for kind, day, _ in self.history if day), kinds) or NO_DATE

    @property
    def entry_date(self) -> PartialDate:
        """The date of entry into PubMed (EDAT)."""
        return self.get_event(*ENTERED)

    @lazy
    def authors(self) -> list[Person]:
        """The authors, in order."""
        return [person for people in self._article.iterfind("AuthorList") for person in _read_people(people)]

    @lazy
    def editors(self) -> list[Person]:
        """The editors of a book."""
        return [person for people in self._book.iterfind("AuthorList") for person in _read_people(people)]

    investigators = _read_all_at("InvestigatorList/Investigator", _read_person)
    """People named as investigators of a group."""
    personal_subjects = _read_all_at("PersonalNameSubjectList/PersonalNameSubject", _read_person)
    """People who are the subject of the article."""
    languages = _read_all_at("Language", read_text, "_article")
    """Three-letter codes of the languages."""

    @lazy
    def publication_types(self) -> list[str]:
        """Names of the publication types."""
        path = "PublicationType" if self.is_book else "PublicationTypeList/PublicationType"
        return [read_text(kind) for kind in self._article.iterfind(path)]

    headings = _read_all_at("MeshHeadingList/MeshHeading", _read_heading)
    """The MeSH headings."""
    supplementary = _read_all_at("SupplMeshList/SupplMeshName", read_text)
    """Supplementary MeSH concepts."""
    chemicals = _read_all_at("ChemicalList/Chemical", _read_chemical)
    """Registry number and name of each substance."""

    @lazy
    def keywords(self) -> list[tuple[str, str, bool]]:
        """Owner and text of each keyword, and whether it is a major topic."""
        return [
            keyword
            for keyword_list in self._citation.iterfind("KeywordList")
            for keyword in _read_keywords(keyword_list)
        ]

    grants = _read_all_at("GrantList/Grant", _read_grant, "_article")
    """Number, acronym, agency and country of each grant; missing parts are omitted."""

    @lazy
    def locations(self) -> list[tuple[str, str]]:
        """Kind and value of each electronic location."""
        places = [*self._article.iterfind("ELocationID"), *self._book.iterfind("ELocationID")]
        return [(place.get("EIdType") or "", read_text(place)) for place in places]

    @lazy
    def ids(self) -> list[tuple[str, str]]:
        """Kind and value of each identifier of this record; identifiers of cited articles are excluded."""
        own = self._citation.iterfind("ArticleIdList/ArticleId") if self.is_book else []
        elements = [*own, *self._data.iterfind("ArticleIdList/ArticleId")]
        identifiers = [(identifier.get("IdType") or "pubmed", read_text(identifier)) for identifier in elements]
        return [pair for pair in dict.fromkeys(identifiers) if pair[1]]

    def get_identifier(self, kind: str) -> str:
        """Return the identifier of one kind, from the id list or, for DOIs, the electronic locations."""
        return next((value for name, value in (*self.ids, *self.locations) if name == kind), "")

    @lazy
    def pmcid(self) -> str:
        """The PMCID such as "PMC123", or an empty string."""
        return self.get_identifier("pmc").upper()

    @lazy
    def doi(self) -> str:
        """The DOI, or an empty string."""
        return self.get_identifier("doi")

    isbn = _read_text_at("Isbn", "_book")
    """The ISBN of a book."""
    corrections = _read_all_at("CommentsCorrectionsList/CommentsCorrections", _read_notice)
    """Errata, retractions, comments and updates."""

    @lazy
    def accessions(self) -> list[str]:
        """Data bank and accession number of deposited data."""
        return [accession for bank in self._article.iterfind("DataBankList/DataBank") for accession in _read_bank(bank)]

    subsets = _read_all_at("CitationSubset", read_text)
    """Codes of the MEDLINE subsets."""
    conflict_of_interest = _read_text_at("CoiStatement")
    """The statement on conflicts of interest."""
    publication_status = _read_text_at("PublicationStatus", "_data")
    """The publication status: ppublish, epublish or aheadofprint."""

    @lazy
    def cited_pmids(self) -> list[str]:
        """PMIDs of the references, in order."""
        listed = (
            element for references in self._data.iterfind("ReferenceList") for element in references.iter("ArticleId")
        )
        return [
            text
            for identifier in listed
            if identifier.get("IdType") == "pubmed" and (text := read_text(identifier)).isdigit()
        ]

"""The parser of PubMed records for the indexes, summaries and MEDLINE text of local collections.

It is independent of the library's parser, which is tested against this one: the two must not share mistakes.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Generic, NamedTuple, Self, TypeVar, overload

from lxml import etree

from entrez_kit.base.mixed_content import text_of as plain_text_of
from entrez_kit.local.records.text import squeeze

MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
SEASONS: Final = {"winter": 1, "spring": 4, "summer": 7, "autumn": 10, "fall": 10}
NOTICES: Final = {
    "ErratumIn": ("EIN", "Erratum in"),
    "ErratumFor": ("EFR", "Erratum for"),
    "RetractionIn": ("RIN", "Retraction in"),
    "RetractionOf": ("ROF", "Retraction of"),
    "ExpressionOfConcernIn": ("ECI", "Expression of concern in"),
    "ExpressionOfConcernFor": ("ECF", "Expression of concern for"),
    "CommentIn": ("CIN", "Comment in"),
    "CommentOn": ("CON", "Comment on"),
    "UpdateIn": ("UIN", "Update in"),
    "UpdateOf": ("UOF", "Update of"),
    "RepublishedIn": ("RPI", "Corrected and republished in"),
    "RepublishedFrom": ("RPF", "Corrected and republished from"),
}
"""The kinds of notices with their tags in MEDLINE and their names in summaries."""
_INLINE: Final = frozenset(("i", "b", "u", "sup", "sub"))


Value = TypeVar("Value")


class lazy(Generic[Value]):  # noqa: N801 - used as a decorator, like property
    """A property that is computed on first use. Unlike ``functools.cached_property`` of Python 3.11 it has no lock."""

    def __init__(self, function: Callable[[Any], Value]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> "Self | Value":
        """Return the value."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._function(instance)
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


def record_parser() -> Any:
    """Return a parser for single records: no network, no DTD, undeclared namespace prefixes accepted."""
    return etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)


def text_of(element: Any) -> str:
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


def _text_of_child(element: Any, tag: str) -> str:
    """Return the text of the first child with a tag."""
    return text_of(next(element.iterchildren(tag), None))


def marked_text(element: Any) -> str:
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


def _text_at(path: str, inside: str = "_citation") -> "lazy[str]":
    """Return a property that is the text of an element, "" if the element is missing."""

    def text(document: "Document") -> str:
        parent = getattr(document, inside)
        return "" if parent is None else text_of(parent.find(path))

    return lazy(text)


def _texts_at(path: str, inside: str = "_citation") -> "lazy[list[str]]":
    """Return a property that lists the texts of all elements at a path."""
    return lazy(lambda document: [text_of(one) for one in getattr(document, inside).iterfind(path)])


class _Part:
    """An element with its children by tag, for ``find`` and ``iterfind`` of paths without a visit of all children."""

    def __init__(self, element: Any) -> None:
        self.get = element.get
        self._children: dict[Any, list[Any]] = {}
        for child in element:
            self._children.setdefault(child.tag, []).append(child)

    def iterfind(self, path: str) -> list[Any]:
        """Return the elements at a path of tags."""
        tag, *rest = path.split("/")
        found = self._children.get(tag, [])
        for step in rest:
            found = [child for parent in found for child in parent.iterchildren(step)]
        return found

    def find(self, path: str) -> Any:
        """Return the first element at a path of tags, if any."""
        return next(iter(self.iterfind(path)), None)


class Document:
    """One record. Its properties are parsed from the XML on first use."""

    def __init__(self, raw: bytes) -> None:
        self._parser = record_parser()
        self.root = etree.fromstring(raw, self._parser)
        self.is_book = self.root.tag == "PubmedBookArticle"
        self._citation = _Part(self.root.find("BookDocument" if self.is_book else "MedlineCitation"))
        article = None if self.is_book else self._citation.find("Article")
        self._article = self._citation if article is None else _Part(article)
        data = self.root.find("PubmedBookData" if self.is_book else "PubmedData")
        self._data = None if data is None else _Part(data)
        book = self._citation.find("Book")
        self._book = None if book is None else _Part(book)

    def find_defect(self) -> str | None:
        """Describe why the XML is not well-formed; None if it is. Undeclared namespace prefixes are accepted."""
        return next((str(error.message) for error in self._parser.error_log if error.domain_name != "NAMESPACE"), None)

    def _get_text(self, path: str) -> str:
        return text_of(self._citation.find(path))

    pmid = _text_at("PMID")
    """The PMID of the record itself."""

    @lazy
    def status(self) -> str:
        """The status of the record, such as MEDLINE, PubMed-not-MEDLINE, Publisher or In-Process."""
        return str(self._citation.get("Status") or "Publisher")

    @lazy
    def owner(self) -> str:
        """The organization that created the citation."""
        return str(self._citation.get("Owner") or "NLM")

    @lazy
    def indexing_method(self) -> str:
        """How MeSH terms were assigned: Automated, Curated, or an empty string."""
        return str(self._citation.get("IndexingMethod") or "")

    @lazy
    def publication_model(self) -> str:
        """The publication model, such as Print, Electronic or Print-Electronic."""
        return str(self._article.get("PubModel") or "Print")

    @lazy
    def title_element(self) -> Any:
        """The element that contains the title; for a whole book, the title of the book."""
        title = self._article.find("ArticleTitle")
        if title is None and self._book is not None:
            title = self._book.find("BookTitle")
        return title

    @lazy
    def title(self) -> str:
        """The title without markup."""
        return text_of(self.title_element)

    vernacular_title = _text_at("VernacularTitle", "_article")
    """The title in the article's own language."""
    book_title = _text_at("BookTitle", "_book")
    """The title of the book that contains the chapter."""

    @lazy
    def is_chapter(self) -> bool:
        """Whether this record is a chapter of a book."""
        return self.is_book and self._article.find("ArticleTitle") is not None

    @lazy
    def publisher(self) -> tuple[str, str]:
        """Name and place of a book's publisher."""
        if self._book is None:
            return "", ""
        return text_of(self._book.find("Publisher/PublisherName")), text_of(
            self._book.find("Publisher/PublisherLocation")
        )

    @lazy
    def abstract(self) -> list[tuple[str, str]]:
        """Label and text of each part of the abstract."""
        return [
            (str(part.get("Label") or ""), text_of(part)) for part in self._article.iterfind("Abstract/AbstractText")
        ]

    @lazy
    def other_abstracts(self) -> list[tuple[str, str]]:
        """Kind and text of each further abstract."""
        return [
            (str(other.get("Type") or ""), " ".join(text_of(part) for part in other.iterfind("AbstractText")))
            for other in self._citation.iterfind("OtherAbstract")
        ]

    @lazy
    def has_foreign_abstract(self) -> bool:
        """Whether an abstract is in another language than English."""
        others = self._citation.iterfind("OtherAbstract")
        return any(str(other.get("Language") or "eng") != "eng" for other in others)

    @lazy
    def abstract_text(self) -> str:
        """The abstract as one string, with its labels."""
        return " ".join(f"{label}: {text}" if label else text for label, text in self.abstract)

    copyright = _text_at("Abstract/CopyrightInformation", "_article")
    """The copyright notice of the abstract."""
    journal_title = _text_at("Journal/Title", "_article")
    """The journal's full title."""
    journal_iso = _text_at("Journal/ISOAbbreviation", "_article")
    """The journal's ISO abbreviation."""

    @lazy
    def journal_ta(self) -> str:
        """The journal's MEDLINE abbreviation."""
        return self._get_text("MedlineJournalInfo/MedlineTA") or self.journal_iso

    nlm_id = _text_at("MedlineJournalInfo/NlmUniqueID")
    """The journal's NLM identifier."""
    country = _text_at("MedlineJournalInfo/Country")
    """The country where the journal is published."""

    @lazy
    def issns(self) -> list[tuple[str, str]]:
        """Kind and number of each ISSN."""
        found = [(str(issn.get("IssnType") or ""), text_of(issn)) for issn in self._article.iterfind("Journal/ISSN")]
        linking = self._get_text("MedlineJournalInfo/ISSNLinking")
        return [*found, ("Linking", linking)] if linking else found

    def issn(self, kind: str) -> str:
        """Return the ISSN of one kind, or an empty string."""
        return next((number for name, number in self.issns if name == kind), "")

    volume = _text_at("Journal/JournalIssue/Volume", "_article")
    """Volume of the journal."""
    issue = _text_at("Journal/JournalIssue/Issue", "_article")
    """Issue of the journal."""

    @lazy
    def pages(self) -> str:
        """Page range, as MEDLINE abbreviates it."""
        pages = text_of(self._article.find("Pagination/MedlinePgn"))
        if pages:
            return pages
        ends = [text_of(self._article.find(f"Pagination/{name}Page")) for name in ("Start", "End")]
        return "-".join(filter(None, ends))

    @lazy
    def publication_date(self) -> PartialDate:
        """The date of the issue, or of the book."""
        path = "Book/PubDate" if self.is_book else "Journal/JournalIssue/PubDate"
        return read_date((self._citation if self.is_book else self._article).find(path))

    @lazy
    def electronic_date(self) -> PartialDate:
        """The date of electronic publication."""
        for date in self._article.iterfind("ArticleDate"):
            if date.get("DateType") == "Electronic":
                return read_date(date)
        return NO_DATE

    @lazy
    def completed(self) -> PartialDate:
        """The date when indexing was completed."""
        return read_date(self._citation.find("DateCompleted"))

    @lazy
    def revised(self) -> PartialDate:
        """The date when the record was last revised."""
        return read_date(self._citation.find("DateRevised"))

    @lazy
    def history(self) -> list[tuple[str, PartialDate, str]]:
        """Kind, date and time of day of each event in the history of the record."""
        if self._data is None:
            return []
        events = []
        for event in self._data.iterfind("History/PubMedPubDate"):
            parts = _read_parts(event)
            clock = f"{int(parts.get('Hour') or 0):02}:{int(parts.get('Minute') or 0):02}"
            events.append((str(event.get("PubStatus") or ""), _to_date(parts), clock))
        return events

    def event(self, *kinds: str) -> PartialDate:
        """Return the date of the first of these events that the record has."""
        for kind in kinds:
            for name, date, _ in self.history:
                if name == kind and date:
                    return date
        return NO_DATE

    @lazy
    def authors(self) -> list[Person]:
        """The authors, in order."""
        return list(self._read_people(self._article.iterfind("AuthorList")))

    @lazy
    def editors(self) -> list[Person]:
        """The editors of a book."""
        return [] if self._book is None else list(self._read_people(self._book.iterfind("AuthorList")))

    @lazy
    def investigators(self) -> list[Person]:
        """People named as investigators of a group."""
        return [_read_person(person) for person in self._citation.iterfind("InvestigatorList/Investigator")]

    @lazy
    def personal_subjects(self) -> list[Person]:
        """People who are the subject of the article."""
        return [
            _read_person(person) for person in self._citation.iterfind("PersonalNameSubjectList/PersonalNameSubject")
        ]

    def _read_people(self, lists: Any) -> Iterator[Person]:
        for people in lists:
            everybody = people.findall("Author")
            # NLM displays only the corrected names. If every name is marked invalid, all of them are used.
            valid = [person for person in everybody if person.get("ValidYN") != "N"]
            yield from map(_read_person, valid or everybody)

    languages = _texts_at("Language", "_article")
    """Three-letter codes of the languages."""

    @lazy
    def publication_types(self) -> list[str]:
        """Names of the publication types."""
        path = "PublicationType" if self.is_book else "PublicationTypeList/PublicationType"
        return [text_of(kind) for kind in self._article.iterfind(path)]

    @lazy
    def headings(self) -> list[IndexTerm]:
        """The MeSH headings."""
        found = []
        for heading in self._citation.iterfind("MeshHeadingList/MeshHeading"):
            names = [(one.tag, text_of(one), one.get("MajorTopicYN") == "Y") for one in heading]
            qualifiers = tuple((name, major) for tag, name, major in names if tag == "QualifierName")
            found += [IndexTerm(name, major, qualifiers) for tag, name, major in names if tag == "DescriptorName"][:1]
        return found

    supplementary = _texts_at("SupplMeshList/SupplMeshName")
    """Supplementary MeSH concepts."""

    @lazy
    def chemicals(self) -> list[tuple[str, str]]:
        """Registry number and name of each substance."""
        return [
            (_text_of_child(chemical, "RegistryNumber"), _text_of_child(chemical, "NameOfSubstance"))
            for chemical in self._citation.iterfind("ChemicalList/Chemical")
        ]

    @lazy
    def keywords(self) -> list[tuple[str, str, bool]]:
        """Owner and text of each keyword, and whether it is a major topic."""
        return [
            (str(group.get("Owner") or ""), text_of(word), word.get("MajorTopicYN") == "Y")
            for group in self._citation.iterfind("KeywordList")
            for word in group.iterfind("Keyword")
        ]

    @lazy
    def grants(self) -> list[list[str]]:
        """Number, acronym, agency and country of each grant; missing parts are omitted."""
        return [
            [text for name in ("GrantID", "Acronym", "Agency", "Country") if (text := _text_of_child(grant, name))]
            for grant in self._article.iterfind("GrantList/Grant")
        ]

    @lazy
    def locations(self) -> list[tuple[str, str]]:
        """Kind and value of each electronic location."""
        places = [*self._article.iterfind("ELocationID")]
        if self._book is not None:
            places += [*self._book.iterfind("ELocationID")]
        return [(str(place.get("EIdType") or ""), text_of(place)) for place in places]

    @lazy
    def ids(self) -> list[tuple[str, str]]:
        """Kind and value of each identifier of this record; identifiers of cited articles are excluded."""
        lists = [self._citation.find("ArticleIdList")] if self.is_book else []
        if self._data is not None:
            lists.append(self._data.find("ArticleIdList"))
        found = [
            (str(one.get("IdType") or "pubmed"), text_of(one)) for group in lists if group is not None for one in group
        ]
        return [pair for pair in dict.fromkeys(found) if pair[1]]

    def identifier(self, kind: str) -> str:
        """Return the identifier of one kind, from the id list or, for DOIs, the electronic locations."""
        for name, value in self.ids:
            if name == kind:
                return value
        return next((value for name, value in self.locations if name == kind), "")

    @lazy
    def pmcid(self) -> str:
        """The PMCID such as "PMC123", or an empty string."""
        return self.identifier("pmc").upper()

    @lazy
    def doi(self) -> str:
        """The DOI, or an empty string."""
        return self.identifier("doi")

    isbn = _text_at("Isbn", "_book")
    """The ISBN of a book."""

    @lazy
    def corrections(self) -> list[Notice]:
        """Errata, retractions, comments and updates."""
        return [
            Notice(
                str(one.get("RefType") or ""),
                _text_of_child(one, "RefSource"),
                _text_of_child(one, "PMID"),
                _text_of_child(one, "Note"),
            )
            for one in self._citation.iterfind("CommentsCorrectionsList/CommentsCorrections")
        ]

    @lazy
    def accessions(self) -> list[str]:
        """Data bank and accession number of deposited data."""
        return [
            f"{_text_of_child(bank, 'DataBankName')}/{text_of(number)}"
            for bank in self._article.iterfind("DataBankList/DataBank")
            for number in bank.iterfind("AccessionNumberList/AccessionNumber")
        ]

    subsets = _texts_at("CitationSubset")
    """Codes of the MEDLINE subsets."""
    conflict_of_interest = _text_at("CoiStatement")
    """The statement on conflicts of interest."""
    publication_status = _text_at("PublicationStatus", "_data")
    """The publication status: ppublish, epublish or aheadofprint."""

    @lazy
    def cited_pmids(self) -> list[str]:
        """PMIDs of the references, in order."""
        if self._data is None:
            return []
        return [
            text
            for references in self._data.iterfind("ReferenceList")
            for one in references.iter("ArticleId")
            if one.get("IdType") == "pubmed" and (text := text_of(one)).isdigit()
        ]


def _read_person(element: Any) -> Person:
    names: dict[str, str] = {}
    places: list[str] = []
    identifiers: list[tuple[str, str]] = []
    for child in element:
        tag = child.tag
        if tag == "AffiliationInfo":
            places += [text_of(place) for place in child if place.tag == "Affiliation"]
        elif tag == "Identifier":
            identifiers.append((str(child.get("Source") or ""), text_of(child)))
        else:
            names.setdefault(tag, text_of(child))
    get = names.get
    return Person(
        get("LastName", ""),
        get("ForeName", ""),
        get("Initials", ""),
        get("Suffix", ""),
        get("CollectiveName", ""),
        tuple(places),
        tuple(identifiers),
    )


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

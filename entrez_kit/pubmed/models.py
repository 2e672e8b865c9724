"""The documents of PubMed operations: articles, citation data, brief summaries."""

from typing import Literal

from entrez_kit.operation import Result, sparse

RecordType = Literal["article", "book", "chapter"]
RetractionStatus = Literal["none", "retracted", "expression_of_concern", "retraction_notice"]
Precision = Literal["year", "month", "day", "season", "range"]


class PublicationDate(Result):
    """When something was published, as precisely as PubMed says.

    ``month`` is 1..12, ``day`` 1..31; ``medline_date`` is the text PubMed gives instead of, or as, a season or range.
    ``precision`` is absent when not even a year is known.
    """

    year: int | None = sparse()
    month: int | None = sparse()
    day: int | None = sparse()
    medline_date: str | None = sparse()
    precision: Precision | None = sparse()


class Author(Result):
    """A person (last_name, first_name, initials) or a group (collective_name)."""

    last_name: str | None = sparse()
    first_name: str | None = sparse()
    initials: str | None = sparse()
    suffix: str | None = sparse()
    orcid: str | None = sparse()
    affiliations: list[str] = sparse([])
    collective_name: str | None = sparse()


class AbstractSection(Result):
    """One part of a structured abstract; an unstructured abstract is one section without a label."""

    label: str | None = sparse()
    nlm_category: str | None = sparse()
    text: str


class OtherAbstract(Result):
    """An abstract in another language or from another source than the publisher."""

    language: str | None = sparse()
    type: str | None = sparse()
    text: str
    sections: list[AbstractSection] = sparse([])


class JournalInfo(Result):
    """The journal (or, for a book or chapter, the book) and the place in it."""

    title: str | None = sparse()
    iso_abbreviation: str | None = sparse()
    issn: str | None = sparse()
    eissn: str | None = sparse()
    issn_linking: str | None = sparse()
    nlm_id: str | None = sparse()
    volume: str | None = sparse()
    issue: str | None = sparse()
    pages: str | None = sparse()
    publication_date: PublicationDate | None = sparse()


class MeshQualifier(Result):
    """A MeSH subheading of a descriptor."""

    name: str
    ui: str | None = sparse()
    is_major_topic: bool = False


class MeshTerm(Result):
    """A MeSH descriptor with its qualifiers."""

    descriptor_name: str
    ui: str | None = sparse()
    is_major_topic: bool = False
    qualifiers: list[MeshQualifier] = sparse([])


class Grant(Result):
    """Funding as PubMed lists it."""

    grant_id: str | None = sparse()
    acronym: str | None = sparse()
    agency: str | None = sparse()
    country: str | None = sparse()


class ArticleDate(Result):
    """A date the publisher gave beside the issue date, usually of electronic publication."""

    type: str | None = sparse()
    year: int | None = sparse()
    month: int | None = sparse()
    day: int | None = sparse()


class HistoryDate(Result):
    """A step in the life of the record: received, accepted, entrez, pubmed, medline ..."""

    status: str
    year: int | None = sparse()
    month: int | None = sparse()
    day: int | None = sparse()
    hour: int | None = sparse()
    minute: int | None = sparse()


class Correction(Result):
    """A record this one corrects, comments on, retracts or is changed by (``kind`` is NLM's RefType)."""

    kind: str
    pmid: str | None = sparse()
    citation: str
    note: str | None = sparse()


class BookInfo(Result):
    """What a book or chapter has beside the fields of an article."""

    title: str | None = sparse()
    publisher: str | None = sparse()
    publisher_location: str | None = sparse()
    edition: str | None = sparse()
    volume: str | None = sparse()
    isbns: list[str] = sparse([])
    editors: list[Author] = sparse([])
    accession: str | None = sparse()


class Article(Result):
    """One PubMed record: an article, a book or a book chapter.

    Text keeps every word of mixed content as plain text. ``article_ids`` maps the id type to the article's own id
    (pubmed, doi, pmc, pii, mid, bookaccession ...). ``abstract_text`` is all sections joined, labels included.
    """

    pmid: str
    version: str | None = sparse()
    record_type: RecordType = "article"
    title: str = ""
    vernacular_title: str | None = sparse()
    abstract_text: str | None = sparse()
    abstract_sections: list[AbstractSection] = sparse([])
    abstract_copyright: str | None = sparse()
    other_abstracts: list[OtherAbstract] = sparse([])
    authors: list[Author] = sparse([])
    authors_complete: bool | None = sparse()
    investigators: list[Author] = sparse([])
    journal_info: JournalInfo | None = sparse()
    book_info: BookInfo | None = sparse()
    publication_types: list[str] = sparse([])
    languages: list[str] = sparse([])
    keywords: list[str] = sparse([])
    mesh_terms: list[MeshTerm] = sparse([])
    grant_list: list[Grant] = sparse([])
    doi: str | None = sparse()
    pmcid: str | None = sparse()
    article_ids: dict[str, str] = sparse({})
    article_dates: list[ArticleDate] = sparse([])
    history: list[HistoryDate] = sparse([])
    date_revised: str | None = sparse()
    corrections: list[Correction] = sparse([])
    coi_statement: str | None = sparse()
    retraction_status: RetractionStatus = "none"
    url: str


class BriefSummary(Result):
    """One line about an article, from ESummary. ``authors`` is a ready text; dates are ISO where PubMed allows it."""

    pmid: str
    title: str = ""
    authors: str | None = sparse()
    source: str | None = sparse()
    pub_date: str | None = sparse()
    epub_date: str | None = sparse()
    doi: str | None = sparse()
    pmcid: str | None = sparse()
    retraction_status: RetractionStatus = "none"


class Warn(Result):
    """Something NCBI understood otherwise than it was asked; ``code`` is stable."""

    code: str
    message: str

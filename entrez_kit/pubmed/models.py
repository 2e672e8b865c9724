"""The documents of PubMed operations: articles, citation data, brief summaries."""

from typing import Final, Literal

from pydantic import ConfigDict, PrivateAttr

from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.pubmed.standing import RetractionStatus as RetractionStatus
from entrez_kit.pubmed.standing import Standing

RecordType = Literal["article", "book", "chapter"]
Precision = Literal["year", "month", "day", "season", "range"]


class Part(Result):
    """Base of the many small parts of a record.

    The schema is closed like that of every result. Here unknown fields are passed over instead of refused: looking for
    them takes a quarter of the time it takes to make a part, and the parser makes thousands a second.
    """

    model_config = ConfigDict(extra="ignore", json_schema_extra={"additionalProperties": False})


class PublicationDate(Part):
    """When something was published, as precisely as PubMed says.

    ``month`` is 1..12, ``day`` 1..31; of a range they name its beginning. ``medline_date`` is the text PubMed gives
    where it is more than a plain date: a season, a range, or a date that does not exist. ``precision`` is absent when
    not even a year is known.
    """

    year: int | None = omit_if_empty()
    month: int | None = omit_if_empty()
    day: int | None = omit_if_empty()
    medline_date: str | None = omit_if_empty()
    precision: Precision | None = omit_if_empty()


class Author(Part):
    """A person (last_name, first_name, initials) or a group (collective_name).

    ``equal_contribution`` is true for authors who contributed equally, and absent otherwise.
    """

    last_name: str | None = omit_if_empty()
    first_name: str | None = omit_if_empty()
    initials: str | None = omit_if_empty()
    suffix: str | None = omit_if_empty()
    orcid: str | None = omit_if_empty()
    affiliations: list[str] = omit_if_empty([])
    equal_contribution: bool | None = omit_if_empty()
    collective_name: str | None = omit_if_empty()


class AbstractSection(Part):
    """One part of a structured abstract; an unstructured abstract is one section without a label."""

    label: str | None = omit_if_empty()
    nlm_category: str | None = omit_if_empty()
    text: str


class OtherAbstract(Result):
    """An abstract in another language or from another source than the publisher."""

    language: str | None = omit_if_empty()
    type: str | None = omit_if_empty()
    text: str
    sections: list[AbstractSection] = omit_if_empty([])


class JournalInfo(Part):
    """The journal (or, for a book or chapter, the book) and the place in it.

    ``medline_abbreviation`` is NLM's own abbreviation of the title ("Clin Sci (Lond)"), if it differs from the ISO one.
    ``article_number`` is what electronic journals have in place of pages (e47969, 2564), also where PubMed gives both.
    """

    title: str | None = omit_if_empty()
    iso_abbreviation: str | None = omit_if_empty()
    medline_abbreviation: str | None = omit_if_empty()
    issn: str | None = omit_if_empty()
    eissn: str | None = omit_if_empty()
    issn_linking: str | None = omit_if_empty()
    nlm_id: str | None = omit_if_empty()
    volume: str | None = omit_if_empty()
    issue: str | None = omit_if_empty()
    pages: str | None = omit_if_empty()
    article_number: str | None = omit_if_empty()
    publication_date: PublicationDate | None = omit_if_empty()


class MeshQualifier(Part):
    """A MeSH subheading of a descriptor."""

    model_config = ConfigDict(frozen=True)

    name: str
    ui: str | None = omit_if_empty()
    is_major_topic: bool = False


class MeshTerm(Part):
    """A MeSH descriptor with its qualifiers; frozen, because records share them."""

    model_config = ConfigDict(frozen=True)

    descriptor_name: str
    ui: str | None = omit_if_empty()
    is_major_topic: bool = False
    qualifiers: tuple[MeshQualifier, ...] = omit_if_empty(())


class Chemical(Part):
    """A substance that the article is about, with its registry number (CAS, UNII or EC) if it has one."""

    name: str
    ui: str | None = omit_if_empty()
    registry_number: str | None = omit_if_empty()


class SupplementalMesh(Result):
    """A supplementary concept of MeSH: a disease, organism, protocol ... below the descriptors."""

    name: str
    ui: str | None = omit_if_empty()
    type: str | None = omit_if_empty()


class DataBank(Result):
    """A registry or database that holds something of this study: trials (ClinicalTrials.gov), sequences ..."""

    name: str
    accession_numbers: list[str] = omit_if_empty([])


class Grant(Result):
    """Funding as PubMed lists it."""

    grant_id: str | None = omit_if_empty()
    acronym: str | None = omit_if_empty()
    agency: str | None = omit_if_empty()
    country: str | None = omit_if_empty()


class ArticleDate(Result):
    """A date beside the issue date: electronic publication, or a book's beginning, ending and contribution dates."""

    type: str | None = omit_if_empty()
    year: int | None = omit_if_empty()
    month: int | None = omit_if_empty()
    day: int | None = omit_if_empty()


class HistoryDate(Part):
    """A step in the life of the record: received, accepted, entrez, pubmed, medline ..."""

    status: str
    year: int | None = omit_if_empty()
    month: int | None = omit_if_empty()
    day: int | None = omit_if_empty()
    hour: int | None = omit_if_empty()
    minute: int | None = omit_if_empty()


class Correction(Result):
    """A record this one corrects, comments on, retracts or is changed by.

    ``kind`` is NLM's RefType (RetractionIn, ErratumIn, CommentOn, UpdateOf ...), ``citation`` NLM's text for the other
    record. Works that are merely cited (RefType Cites) are not among them.
    """

    kind: str
    pmid: str | None = omit_if_empty()
    citation: str
    note: str | None = omit_if_empty()


class CitedWork(Part):
    """A work in the reference list of a record, with the ids and the text that PubMed has of it."""

    pmid: str | None = omit_if_empty()
    doi: str | None = omit_if_empty()
    pmcid: str | None = omit_if_empty()
    citation: str | None = omit_if_empty()


class BookInfo(Result):
    """What a book or chapter has beside the fields of an article.

    ``authors`` are the book's own where those of the record are a chapter's; ``location`` is the chapter's place in the
    book ("chapter 3"); ``sections`` is the table of contents as far as PubMed lists it.
    """

    title: str | None = omit_if_empty()
    volume_title: str | None = omit_if_empty()
    collection_title: str | None = omit_if_empty()
    publisher: str | None = omit_if_empty()
    publisher_location: str | None = omit_if_empty()
    edition: str | None = omit_if_empty()
    volume: str | None = omit_if_empty()
    medium: str | None = omit_if_empty()
    report_number: str | None = omit_if_empty()
    isbns: list[str] = omit_if_empty([])
    doi: str | None = omit_if_empty()
    authors: list[Author] = omit_if_empty([])
    editors: list[Author] = omit_if_empty([])
    accession: str | None = omit_if_empty()
    location: str | None = omit_if_empty()
    sections: list[str] = omit_if_empty([])


class Article(Result):
    """One PubMed record: an article, a book or a book chapter.

    Text keeps every word of mixed content as plain text. ``article_ids`` maps the id type to the article's own id
    (pubmed, doi, pmc, pii, mid, bookaccession ...); where NLM lists several of one type, the others are numbered
    (``mid_2``). ``abstract_text`` is all sections joined by line breaks, labels included; of a record without an
    English abstract it is the one in the article's own language, and ``abstract_language`` gives that as MEDLINE does
    (spa). Authors and ids that NLM marks as invalid are left out. ``major_keywords`` are the keywords that name a major
    topic. ``references`` are the works it cites, if they were requested.
    """

    pmid: str
    version: str | None = omit_if_empty()
    record_type: RecordType = "article"
    title: str = ""
    vernacular_title: str | None = omit_if_empty()
    abstract_text: str | None = omit_if_empty()
    abstract_sections: list[AbstractSection] = omit_if_empty([])
    abstract_language: str | None = omit_if_empty()
    abstract_copyright: str | None = omit_if_empty()
    other_abstracts: list[OtherAbstract] = omit_if_empty([])
    authors: list[Author] = omit_if_empty([])
    authors_complete: bool | None = omit_if_empty()
    investigators: list[Author] = omit_if_empty([])
    journal_info: JournalInfo | None = omit_if_empty()
    book_info: BookInfo | None = omit_if_empty()
    publication_types: list[str] = omit_if_empty([])
    languages: list[str] = omit_if_empty([])
    keywords: list[str] = omit_if_empty([])
    major_keywords: list[str] = omit_if_empty([])
    mesh_terms: list[MeshTerm] = omit_if_empty([])
    chemicals: list[Chemical] = omit_if_empty([])
    supplemental_mesh: list[SupplementalMesh] = omit_if_empty([])
    data_banks: list[DataBank] = omit_if_empty([])
    grant_list: list[Grant] = omit_if_empty([])
    doi: str | None = omit_if_empty()
    pmcid: str | None = omit_if_empty()
    article_ids: dict[str, str] = omit_if_empty({})
    article_dates: list[ArticleDate] = omit_if_empty([])
    history: list[HistoryDate] = omit_if_empty([])
    date_revised: str | None = omit_if_empty()
    corrections: list[Correction] = omit_if_empty([])
    references: list[CitedWork] = omit_if_empty([])
    coi_statement: str | None = omit_if_empty()
    retraction_status: RetractionStatus = "none"
    standing: Standing | None = omit_if_empty()
    url: str
    _italics: tuple[str, ...] = PrivateAttr(default=())

    @property
    def italics(self) -> tuple[str, ...]:
        """The phrases of the title that are in italics, such as names of species; not part of the document."""
        return self._italics


class CitationAuthor(Part):
    """An author as reference lists name one: a person, or a group by its collective name."""

    last_name: str | None = omit_if_empty()
    initials: str | None = omit_if_empty()
    collective_name: str | None = omit_if_empty()


class CitationJournal(Part):
    """The place of publication as a reference list needs it; for books and chapters the book."""

    title: str | None = omit_if_empty()
    iso_abbreviation: str | None = omit_if_empty()
    volume: str | None = omit_if_empty()
    issue: str | None = omit_if_empty()
    pages: str | None = omit_if_empty()
    article_number: str | None = omit_if_empty()
    year: int | None = omit_if_empty()


class CitationData(Result):
    """What is needed to cite a record, and little more."""

    pmid: str
    title: str = ""
    authors: list[CitationAuthor] = omit_if_empty([])
    journal_info: CitationJournal | None = omit_if_empty()
    doi: str | None = omit_if_empty()
    standing: Standing | None = omit_if_empty()
    mesh_terms: list[MeshTerm] = omit_if_empty([])


LANGUAGES: Final = {
    "afr": ("af", "Afrikaans"),
    "alb": ("sq", "Albanian"),
    "ara": ("ar", "Arabic"),
    "arm": ("hy", "Armenian"),
    "aze": ("az", "Azerbaijani"),
    "bos": ("bs", "Bosnian"),
    "bul": ("bg", "Bulgarian"),
    "cat": ("ca", "Catalan"),
    "chi": ("zh", "Chinese"),
    "cze": ("cs", "Czech"),
    "dan": ("da", "Danish"),
    "dut": ("nl", "Dutch"),
    "eng": ("en", "English"),
    "epo": ("eo", "Esperanto"),
    "est": ("et", "Estonian"),
    "fin": ("fi", "Finnish"),
    "fre": ("fr", "French"),
    "geo": ("ka", "Georgian"),
    "ger": ("de", "German"),
    "gla": ("gd", "Scottish Gaelic"),
    "gre": ("el", "Greek"),
    "heb": ("he", "Hebrew"),
    "hin": ("hi", "Hindi"),
    "hrv": ("hr", "Croatian"),
    "hun": ("hu", "Hungarian"),
    "ice": ("is", "Icelandic"),
    "ind": ("id", "Indonesian"),
    "ita": ("it", "Italian"),
    "jpn": ("ja", "Japanese"),
    "kin": ("rw", "Kinyarwanda"),
    "kor": ("ko", "Korean"),
    "lat": ("la", "Latin"),
    "lav": ("lv", "Latvian"),
    "lit": ("lt", "Lithuanian"),
    "mac": ("mk", "Macedonian"),
    "mal": ("ml", "Malayalam"),
    "mao": ("mi", "Maori"),
    "may": ("ms", "Malay"),
    "nor": ("no", "Norwegian"),
    "per": ("fa", "Persian"),
    "pol": ("pl", "Polish"),
    "por": ("pt", "Portuguese"),
    "pus": ("ps", "Pushto"),
    "rum": ("ro", "Romanian"),
    "rus": ("ru", "Russian"),
    "san": ("sa", "Sanskrit"),
    "slo": ("sk", "Slovak"),
    "slv": ("sl", "Slovenian"),
    "spa": ("es", "Spanish"),
    "srp": ("sr", "Serbian"),
    "swe": ("sv", "Swedish"),
    "tha": ("th", "Thai"),
    "tur": ("tr", "Turkish"),
    "ukr": ("uk", "Ukrainian"),
    "urd": ("ur", "Urdu"),
    "vie": ("vi", "Vietnamese"),
    "wel": ("cy", "Welsh"),
}
"""MEDLINE's codes of languages, with what XML calls them, and what people do."""

STUDY_TYPES: Final = (
    "Meta-Analysis",
    "Systematic Review",
    "Randomized Controlled Trial",
    "Practice Guideline",
    "Guideline",
    "Clinical Trial",
    "Observational Study",
    "Review",
    "Case Reports",
    "Preprint",
)
"""Publication types that say how an article knows what it says, the most telling first."""


class BriefSummary(Result):
    """One line about an article, from ESummary.

    ``authors`` is a ready text ("Doe J, Smith A"); ``source`` names journal, date and place ("J Example Sci. 2023
    Mar;10(2):100-10"); dates are ISO where PubMed allows it (2023-03-15, 2023-03, 2023), otherwise PubMed's own text.
    ``snippet`` is how the abstract begins, where that was asked for.
    """

    pmid: str
    title: str = ""
    authors: str | None = omit_if_empty()
    source: str | None = omit_if_empty()
    pub_date: str | None = omit_if_empty()
    epub_date: str | None = omit_if_empty()
    doi: str | None = omit_if_empty()
    pmcid: str | None = omit_if_empty()
    retraction_status: RetractionStatus = "none"
    standing: Standing | None = omit_if_empty()
    snippet: str | None = omit_if_empty()
    _publication_types: list[str] = PrivateAttr(default_factory=list)

    @property
    def study_type(self) -> str | None:
        """What kind of study it is, in PubMed's word, where its publication types say so; not part of the document."""
        return next((kind for kind in STUDY_TYPES if kind in self._publication_types), None)

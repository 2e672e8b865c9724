"""Result models of PubMed: articles, citation data, brief summaries."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from pydantic import ConfigDict, PrivateAttr

from entrez_kit.core.model import Result, omit_if_empty

RecordType = Literal["article", "book", "chapter"]
Precision = Literal["year", "month", "day", "season", "range"]
StandingStatus = Literal[
    "retracted",
    "withdrawn",
    "partially_retracted",
    "expression_of_concern",
    "retraction_notice",
    "concern_notice",
    "correction_notice",
    "reinstated",
    "superseded",
    "republished",
    "preprint_published",
    "corrected",
]
RetractionStatus = Literal["none", "retracted", "expression_of_concern", "retraction_notice", "concern_notice"]

GRAVITY: Final[tuple[StandingStatus, ...]] = StandingStatus.__args__  # type: ignore[attr-defined]
"""The statuses, the gravest first."""

WORDS: Final[Mapping[str, str]] = {
    **{status: status.replace("_", " ").capitalize() for status in GRAVITY},
    "concern_notice": "Notice of concern",
    "republished": "Corrected and republished",
    "preprint_published": "Preprint since published",
}
"""The label of each status."""


NOTICE_DATE: Final = (
    r"(?:^|[.,)] )((?:18|19|20)[0-9]{2}(?: (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b(?: [0-9]{1,2}\b)?)?)"
)
"""Matches the date in the citation of a notice. These patterns are compiled when a work first has a notice."""
_SIGNED: Final = r"[^.,]*[^\W\d_a-z](?:,[^.]*)?|[^.]*\bet al|\[[^\]]*\]"
"""The authors of a notice, before the journal: "Doe J, Roe RA", or "Doe J, et al"."""
_TAIL: Final = r"[.;,]? ?\b(?:doi: ?10\.|PMID:? ?[0-9]|PubMed PMID|eCollection|Epub)"


class StandingNotice(Result):
    """The record that determines a status: its ids, its date, and the reason if it gives one."""

    status: StandingStatus
    kind: str | None = omit_if_empty()
    pmid: str | None = omit_if_empty()
    doi: str | None = omit_if_empty()
    citation: str | None = omit_if_empty()
    date: str | None = omit_if_empty()
    reason: str | None = omit_if_empty()


class Standing(Result):
    """The publication status of a work. ``status`` is the gravest; ``notices`` lists all notices, the gravest first.

    A ``preprint_published`` has since been published in a journal. A ``superseded`` work has a newer version. A
    ``republished`` work was corrected and published again. A ``..._notice`` retracts, questions or corrects a work.
    """

    status: StandingStatus
    notices: list[StandingNotice] = omit_if_empty([])

    @property
    def label(self) -> str:
        """The label of the status: "Partially retracted"."""
        return WORDS[self.status]

    @property
    def note(self) -> str:
        """The bracketed note of a citation: "[Retracted: J Inv Res. 2021 Jun;9(6):600]"."""
        places = [place for notice in self.notices if notice.status == self.status and (place := find_place(notice))]
        text = "; ".join(dict.fromkeys(places))
        return f"[{self.label}: {text}]" if text else f"[{self.label}]"


def find_place(notice: StandingNotice) -> str:
    """Return the journal and place of a notice, without its authors and identifiers.

    Readers would take these for the authors and identifiers of the work itself.
    """
    text = " ".join((notice.citation or "").split())
    tail = re.search(_TAIL, text, re.IGNORECASE)
    place = text[: tail.start()] if tail else text
    date = re.search(NOTICE_DATE, place)
    signed, stop, journal = place[: date.start() if date else 0].partition(". ")
    if stop and journal and len(signed) > 2 and re.fullmatch(_SIGNED, signed):
        place = place[len(signed) + len(stop) :]
    return place.rstrip(" .;,").replace("[", "(").replace("]", ")")


class RecordPart(Result):
    """Base class of the small parts of a record.

    The schema forbids additional properties, as that of every result. Validation ignores unknown fields instead of
    refusing them, because the check takes a quarter of the time of a part, and the parser builds thousands a second.
    """

    model_config = ConfigDict(extra="ignore", json_schema_extra={"additionalProperties": False})


class PublicationDate(RecordPart):
    """A date of publication, as precise as PubMed's.

    ``month`` is 1..12, ``day`` 1..31; for a range they are its beginning. ``medline_date`` is PubMed's text if it is
    not a plain date: a season, a range, or a date that does not exist. ``precision`` is absent if no year is known.
    """

    year: int | None = omit_if_empty()
    month: int | None = omit_if_empty()
    day: int | None = omit_if_empty()
    medline_date: str | None = omit_if_empty()
    precision: Precision | None = omit_if_empty()


class Author(RecordPart):
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


class AbstractSection(RecordPart):
    """One part of a structured abstract; an unstructured abstract is one section without a label."""

    label: str | None = omit_if_empty()
    nlm_category: str | None = omit_if_empty()
    text: str


class OtherAbstract(Result):
    """An abstract in another language, or from a source other than the publisher."""

    language: str | None = omit_if_empty()
    type: str | None = omit_if_empty()
    text: str
    sections: list[AbstractSection] = omit_if_empty([])


class JournalInfo(RecordPart):
    """The journal (or, for a book or chapter, the book) and the volume, issue and pages.

    ``medline_abbreviation`` is NLM's abbreviation of the title ("Clin Sci (Lond)"), if it differs from the ISO one.
    ``article_number`` identifies an article of an electronic journal (e47969, 2564); a record may also have pages.
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


class MeshQualifier(RecordPart):
    """A MeSH subheading of a descriptor."""

    model_config = ConfigDict(frozen=True)

    name: str
    ui: str | None = omit_if_empty()
    is_major_topic: bool = False


class MeshTerm(RecordPart):
    """A MeSH descriptor with its qualifiers; frozen, because records share them."""

    model_config = ConfigDict(frozen=True)

    descriptor_name: str
    ui: str | None = omit_if_empty()
    is_major_topic: bool = False
    qualifiers: tuple[MeshQualifier, ...] = omit_if_empty(())


class Chemical(RecordPart):
    """A substance in the article, with its registry number (CAS, UNII or EC) if it has one."""

    name: str
    ui: str | None = omit_if_empty()
    registry_number: str | None = omit_if_empty()


class SupplementalMesh(Result):
    """A supplementary concept of MeSH: a disease, organism, protocol ... below the descriptors."""

    name: str
    ui: str | None = omit_if_empty()
    type: str | None = omit_if_empty()


class DataBank(Result):
    """A registry or database with data of this study: trials (ClinicalTrials.gov), sequences ..."""

    name: str
    accession_numbers: list[str] = omit_if_empty([])


class Grant(Result):
    """Funding as PubMed lists it."""

    grant_id: str | None = omit_if_empty()
    acronym: str | None = omit_if_empty()
    agency: str | None = omit_if_empty()
    country: str | None = omit_if_empty()


class ArticleDate(Result):
    """A date other than the issue date: electronic publication, or the beginning, end or contribution of a book."""

    type: str | None = omit_if_empty()
    year: int | None = omit_if_empty()
    month: int | None = omit_if_empty()
    day: int | None = omit_if_empty()


class HistoryDate(RecordPart):
    """A dated step of the record: received, accepted, entrez, pubmed, medline ..."""

    status: str
    year: int | None = omit_if_empty()
    month: int | None = omit_if_empty()
    day: int | None = omit_if_empty()
    hour: int | None = omit_if_empty()
    minute: int | None = omit_if_empty()


class Correction(Result):
    """A record that corrects, retracts or comments on this one, or is corrected, retracted or commented on by it.

    ``kind`` is NLM's RefType (RetractionIn, ErratumIn, CommentOn, UpdateOf ...), ``citation`` is NLM's text for the
    other record. Cited works (RefType Cites) are not included.
    """

    kind: str
    pmid: str | None = omit_if_empty()
    citation: str
    note: str | None = omit_if_empty()


class CitedWork(RecordPart):
    """A work in the reference list of a record, with PubMed's ids and text."""

    pmid: str | None = omit_if_empty()
    doi: str | None = omit_if_empty()
    pmcid: str | None = omit_if_empty()
    citation: str | None = omit_if_empty()


class BookInfo(Result):
    """The additional fields of a book or chapter.

    ``authors`` are the authors of the book if the record's authors wrote a chapter. ``location`` is the chapter's place
    in the book ("chapter 3"). ``sections`` is the table of contents that PubMed lists.
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

    Texts contain every word of mixed content as plain text. ``article_ids`` maps the type of an id (pubmed, doi, pmc,
    pii, mid, bookaccession ...) to the article's own id; further ids of the same type are numbered (``mid_2``).
    ``abstract_text`` joins all sections and their labels by line breaks. If a record has no English abstract, it is the
    one in the article's own language, and ``abstract_language`` is MEDLINE's code of that language (spa). Authors and
    ids that NLM marks as invalid are omitted. ``major_keywords`` are the keywords of major topics. ``references`` are
    the works it cites, if they were requested.
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
        """The phrases of the title in italics, such as names of species; not part of the document."""
        return self._italics

    def set_italics(self, phrases: Iterable[str]) -> None:
        """Set the phrases of the title in italics."""
        self._italics = tuple(phrases)


class CitationAuthor(RecordPart):
    """An author in the form of a reference list: a person, or a group with its collective name."""

    last_name: str | None = omit_if_empty()
    initials: str | None = omit_if_empty()
    collective_name: str | None = omit_if_empty()


class CitationJournal(RecordPart):
    """The place of publication in a reference list; for books and chapters the book."""

    title: str | None = omit_if_empty()
    iso_abbreviation: str | None = omit_if_empty()
    volume: str | None = omit_if_empty()
    issue: str | None = omit_if_empty()
    pages: str | None = omit_if_empty()
    article_number: str | None = omit_if_empty()
    year: int | None = omit_if_empty()


class CitationData(Result):
    """The fields that a citation of a record needs."""

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
"""MEDLINE's language codes, each with the ISO 639-1 code of XML and the English name."""

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
"""Publication types that describe the kind of study, the strongest evidence first."""


class BriefSummary(Result):
    """The summary of an article, from ESummary.

    ``authors`` is one text ("Doe J, Smith A"); ``source`` contains journal, date and place ("J Example Sci. 2023
    Mar;10(2):100-10"). Dates are ISO dates if possible (2023-03-15, 2023-03, 2023), otherwise PubMed's own text.
    ``comments`` are letters and comments on the article, or the article that it comments on. If requested, ``snippet``
    is the beginning of the abstract, and ``data_banks`` has the numbers of registered trials and data.
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
    publication_types: list[str] = omit_if_empty([])
    comments: list[Correction] = omit_if_empty([])
    snippet: str | None = omit_if_empty()
    data_banks: list[DataBank] = omit_if_empty([])

    @property
    def study_type(self) -> str | None:
        """The kind of study, if a publication type names it; not part of the document."""
        return next((kind for kind in STUDY_TYPES if kind in self.publication_types), None)


class Slice(Result):
    """One slice of a search: its clause, the number of records that PubMed counted, and the number retrieved."""

    clause: str
    count: int
    retrieved: int


class Certificate(Result):
    """Proof of a complete retrieval: PubMed's count, the number retrieved, and a hash of the sorted PMIDs.

    ``query`` is the query of the user, ``searched_at`` the time of PubMed's first reply (UTC), and ``version`` the
    version of entrez-kit.
    """

    query: str
    searched_at: str
    version: str
    count: int
    retrieved: int
    missing: int
    duplicates: int
    slices: list[Slice]
    query_translation: str
    sha256: str

"""Result models of full text: articles in sections, copies as one text, and ids without full text."""

from typing import Annotated, Final, Literal

from pydantic import Field

from entrez_kit.base.identifiers import PMC, PUBMED
from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.pubmed.models import RetractionStatus, Standing

ENDPOINT: Final = "full text"
"""The value of ``endpoint`` in errors about documents that cannot be parsed."""
Tier = Literal["pmc", "europepmc", "unpaywall"]
_Failure = Literal["no-body", "no-doi", "no-oa", "fetch-failed", "parse-failed", "service-error"]
Outcome = Literal["not-attempted", "miss", "no-fulltext", _Failure]
Reason = Literal["not-found", "no-pmc-fallback-disabled", "no-epmc-fulltext", _Failure]
OverflowMode = Literal["truncate", "outline"]


class Section(Result):
    """A section; text between sections has no title. Empty lines separate paragraphs, tabs separate cells."""

    title: str | None = omit_if_empty()
    label: str | None = omit_if_empty()
    text: str
    subsections: list["Section"] = omit_if_empty([])

    @property
    def heading(self) -> str:
        """Label and title on one line."""
        return f"{self.label or ''} {self.title or ''}".strip()


class TranslatedAbstract(Result):
    """The abstract in a different language; ``language`` is the article's own code."""

    language: str | None = omit_if_empty()
    text: str


class ListedReference(Result):
    """An entry of the reference list."""

    id: str | None = omit_if_empty()
    label: str | None = omit_if_empty()
    citation: str


class FulltextAuthor(Result):
    """A person (given_names, last_name) or a group (collective_name)."""

    collective_name: str | None = omit_if_empty()
    given_names: str | None = omit_if_empty()
    last_name: str | None = omit_if_empty()


class FulltextJournal(Result):
    """The journal, volume, issue and pages."""

    title: str | None = omit_if_empty()
    issn: str | None = omit_if_empty()
    volume: str | None = omit_if_empty()
    issue: str | None = omit_if_empty()
    pages: str | None = omit_if_empty()


class FulltextDate(Result):
    """The publication date, as precise as the article gives it."""

    year: int | None = omit_if_empty()
    month: int | None = omit_if_empty()
    day: int | None = omit_if_empty()


class PmcArticle(Result):
    """An article in sections, from PMC or Europe PMC."""

    source: Literal["pmc"] = "pmc"
    via_source: Literal["pmc", "europepmc"]
    pmcid: str | None = omit_if_empty()
    pmc_url: str | None = omit_if_empty()
    pmid: str | None = omit_if_empty()
    pubmed_url: str | None = omit_if_empty()
    doi: str | None = omit_if_empty()
    title: str | None = omit_if_empty()
    abstract: str | None = omit_if_empty()
    other_abstracts: list[TranslatedAbstract] = omit_if_empty([])
    authors: list[FulltextAuthor] = omit_if_empty([])
    affiliations: list[str] = omit_if_empty([])
    journal: FulltextJournal | None = omit_if_empty()
    keywords: list[str] = omit_if_empty([])
    article_type: str | None = omit_if_empty()
    retraction_status: RetractionStatus | None = omit_if_empty()
    standing: Standing | None = omit_if_empty()
    publication_date: FulltextDate | None = omit_if_empty()
    sections: list[Section]
    references: list[ListedReference] = omit_if_empty([])
    epmc_id: str | None = omit_if_empty()
    epmc_source: str | None = omit_if_empty()
    license: str | None = omit_if_empty()


class TriedTier(Result):
    """The answer of one source."""

    tier: Tier
    outcome: Outcome
    detail: str | None = omit_if_empty()


class UnpaywallArticle(Result):
    """An open-access copy that Unpaywall knows of, as Markdown or plain text.

    If PMC has the article, ``tried_tiers`` has the reasons why its text is not from there.
    """

    source: Literal["unpaywall"] = "unpaywall"
    via_source: Literal["unpaywall"] = "unpaywall"
    content_format: Literal["html-markdown", "pdf-text"]
    doi: str
    source_url: str
    content: str
    pmid: str | None = omit_if_empty()
    pmcid: str | None = omit_if_empty()
    pubmed_url: str | None = omit_if_empty()
    title: str | None = omit_if_empty()
    word_count: int | None = omit_if_empty()
    total_pages: int | None = omit_if_empty()
    license: str | None = omit_if_empty()
    host_type: Literal["publisher", "repository"] | None = omit_if_empty()
    version: Literal["submittedVersion", "acceptedVersion", "publishedVersion"] | None = omit_if_empty()
    standing: Standing | None = omit_if_empty()
    tried_tiers: list[TriedTier] = omit_if_empty([])


FulltextArticle = Annotated[PmcArticle | UnpaywallArticle, Field(discriminator="source")]


class Unavailable(Result):
    """An id without full text: the reason, also in words, the answer of each source, and what helps to get the text.

    ``publisher_url`` leads to the publisher's page. ``emails`` are those in the affiliations of the PubMed record.
    """

    id: str
    id_type: Literal["pmid", "pmcid", "doi"]
    reason: Reason
    message: str | None = omit_if_empty()
    retryable: bool | None = omit_if_empty()
    pmid: str | None = omit_if_empty()
    pubmed_url: str | None = omit_if_empty()
    doi: str | None = omit_if_empty()
    publisher_url: str | None = omit_if_empty()
    title: str | None = omit_if_empty()
    emails: list[str] = omit_if_empty([])
    standing: Standing | None = omit_if_empty()
    tried_tiers: list[TriedTier]


class CutSection(Result):
    """A section that was cut; request it by its title."""

    title: str | None = omit_if_empty()
    original_characters: int
    returned_characters: int


class CutArticle(Result):
    """An article that was cut."""

    id: str
    source: Literal["pmc"] = "pmc"
    original_characters: int
    returned_characters: int
    sections: list[CutSection] = omit_if_empty([])


class CutCopy(Result):
    """An open-access copy that was cut."""

    id: str
    source: Literal["unpaywall"] = "unpaywall"
    original_characters: int
    returned_characters: int

    @property
    def sections(self) -> list[CutSection]:
        """No sections: the copy is one text."""
        return []


class Truncation(Result):
    """The text omitted because of max_characters or max_sections."""

    mode: OverflowMode
    max_characters: int | None = omit_if_empty()
    max_sections: int | None = omit_if_empty()
    original_characters: int
    returned_characters: int
    omitted_sections: int
    articles: list[CutArticle | CutCopy]


def format_pubmed_url(pmid: str | None) -> str | None:
    """Return the address of an article at PubMed."""
    return f"{PUBMED}{pmid}/" if pmid else None


def format_pmc_url(pmcid: str | None) -> str | None:
    """Return the address of an article at PMC."""
    return f"{PMC}{pmcid}/" if pmcid else None

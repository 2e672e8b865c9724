"""The documents of full text: an article in sections or as a page, and what became of ids without one."""

from typing import Annotated, Final, Literal

from pydantic import Field

from entrez_kit.core.model import Result, sparse
from entrez_kit.pubmed.models import RetractionStatus
from entrez_kit.pubmed.standing import Standing

ENDPOINT: Final = "full text"
"""Who answered, in errors about documents that cannot be read."""
Tier = Literal["pmc", "europepmc", "unpaywall"]
_Failure = Literal["no-body", "no-doi", "no-oa", "fetch-failed", "parse-failed", "service-error"]
Outcome = Literal["not-attempted", "miss", "no-fulltext", _Failure]
Reason = Literal["not-found", "no-pmc-fallback-disabled", "no-epmc-fulltext", _Failure]
OverflowMode = Literal["truncate", "outline"]


class Section(Result):
    """A part of an article; text between parts is one without a title. Blank lines part paragraphs, tabs cells."""

    title: str | None = sparse()
    label: str | None = sparse()
    text: str
    subsections: list["Section"] = sparse([])

    @property
    def heading(self) -> str:
        """Label and title on one line."""
        return f"{self.label or ''} {self.title or ''}".strip()


class TranslatedAbstract(Result):
    """The abstract in another language than the article's own abstract; ``language`` as the article marks it."""

    language: str | None = sparse()
    text: str


class ListedReference(Result):
    """An entry of the reference list."""

    id: str | None = sparse()
    label: str | None = sparse()
    citation: str


class FulltextAuthor(Result):
    """A person (given_names, last_name) or a group (collective_name)."""

    collective_name: str | None = sparse()
    given_names: str | None = sparse()
    last_name: str | None = sparse()


class FulltextJournal(Result):
    """The journal and the place in it."""

    title: str | None = sparse()
    issn: str | None = sparse()
    volume: str | None = sparse()
    issue: str | None = sparse()
    pages: str | None = sparse()


class FulltextDate(Result):
    """When the article was published, as precisely as it says."""

    year: int | None = sparse()
    month: int | None = sparse()
    day: int | None = sparse()


class PmcArticle(Result):
    """An article in sections, from PMC or Europe PMC."""

    source: Literal["pmc"] = "pmc"
    via_source: Literal["pmc", "europepmc"]
    pmcid: str | None = sparse()
    pmc_url: str | None = sparse()
    pmid: str | None = sparse()
    pubmed_url: str | None = sparse()
    doi: str | None = sparse()
    title: str | None = sparse()
    abstract: str | None = sparse()
    other_abstracts: list[TranslatedAbstract] = sparse([])
    authors: list[FulltextAuthor] = sparse([])
    affiliations: list[str] = sparse([])
    journal: FulltextJournal | None = sparse()
    keywords: list[str] = sparse([])
    article_type: str | None = sparse()
    retraction_status: RetractionStatus | None = sparse()
    standing: Standing | None = sparse()
    publication_date: FulltextDate | None = sparse()
    sections: list[Section]
    references: list[ListedReference] = sparse([])
    epmc_id: str | None = sparse()
    epmc_source: str | None = sparse()
    license: str | None = sparse()


class UnpaywallArticle(Result):
    """An open-access copy that Unpaywall knows of, as Markdown or plain text."""

    source: Literal["unpaywall"] = "unpaywall"
    via_source: Literal["unpaywall"] = "unpaywall"
    content_format: Literal["html-markdown", "pdf-text"]
    doi: str
    source_url: str
    content: str
    pmid: str | None = sparse()
    pmcid: str | None = sparse()
    pubmed_url: str | None = sparse()
    title: str | None = sparse()
    word_count: int | None = sparse()
    total_pages: int | None = sparse()
    license: str | None = sparse()
    host_type: Literal["publisher", "repository"] | None = sparse()
    version: Literal["submittedVersion", "acceptedVersion", "publishedVersion"] | None = sparse()
    standing: Standing | None = sparse()


FulltextArticle = Annotated[PmcArticle | UnpaywallArticle, Field(discriminator="source")]


class TriedTier(Result):
    """What one source answered."""

    tier: Tier
    outcome: Outcome
    detail: str | None = sparse()


class Unavailable(Result):
    """An id without full text: why, and what every source answered."""

    id: str
    id_type: Literal["pmid", "pmcid", "doi"]
    reason: Reason
    retryable: bool | None = sparse()
    tried_tiers: list[TriedTier]


class CutSection(Result):
    """A section that was cut; ask for it by its title."""

    title: str | None = sparse()
    original_characters: int
    returned_characters: int


class CutArticle(Result):
    """An article that was cut."""

    id: str
    source: Literal["pmc"] = "pmc"
    original_characters: int
    returned_characters: int
    sections: list[CutSection] = sparse([])


class Truncation(Result):
    """What was left out, where max_characters or max_sections left something out."""

    mode: OverflowMode
    max_characters: int | None = sparse()
    max_sections: int | None = sparse()
    original_characters: int
    returned_characters: int
    omitted_sections: int
    articles: list[CutArticle]


def pubmed_url(pmid: str | None) -> str | None:
    """Return the address of an article at PubMed."""
    return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else None


def pmc_url(pmcid: str | None) -> str | None:
    """Return the address of an article at PMC."""
    return f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/" if pmcid else None

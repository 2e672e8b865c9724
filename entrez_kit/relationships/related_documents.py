"""Request and result models of article relationships."""

from typing import Annotated, Any, ClassVar, Final, Literal, Self, get_args

from pydantic import BeforeValidator, Field, field_validator, model_validator

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.frontend_text import Argument, FrontendText, PerFrontend, list_choices
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.citations.style.style_names import HABITS, StyleName, read_styles
from entrez_kit.core.model import (
    Request,
    Result,
    Warn,
    WrongValue,
    contradiction_error,
    incomplete_error,
    omit_if_empty,
)
from entrez_kit.pubmed.models import Correction, DataBank, RetractionStatus, Standing

MAX_RESULTS: Final = 9_999
MAX_MCP_RESULTS: Final = 50
MAX_DEPTH: Final = 3
MAX_MCP_DEPTH: Final = 2
DEFAULT_BUDGET: Final = 20
MAX_BUDGET: Final = 1_000
MAX_MCP_BUDGET: Final = 50
MAX_VIA: Final = 20
"""The most articles that ``via`` lists; ``source_count`` counts all of them."""

RelationshipType = Literal["pubmed_similar_articles", "pubmed_citedin", "pubmed_references", "citation_formats"]
Relation = Literal["pubmed_similar_articles", "pubmed_citedin", "pubmed_references"]
Provenance = Literal["ncbi", "pubmed_record", "europepmc", "mixed"]

SHORT_NAMES: Final = {
    "similar": "pubmed_similar_articles",
    "citedin": "pubmed_citedin",
    "cited_by": "pubmed_citedin",
    "citing": "pubmed_citedin",
    "references": "pubmed_references",
    "formats": "citation_formats",
}
"""Short names of the relations. "citations" is ambiguous, so it is not a short name."""

Style = Literal["apa_string", "mla_string", StyleName]

INCOMPLETE: Final = frozenset(
    {
        "links_incomplete",
        "europepmc_failed",
        "record_failed",
        "summaries_unavailable",
        "source_not_verified",
        "registrations_unavailable",
    }
)
"""Warnings about a service that did not answer: articles or retraction notices may be missing."""


def to_full_name(value: Any) -> Any:
    """Return the specification's name for a short name of a relation; return other values unchanged."""
    if not isinstance(value, str):
        return value
    name = value.strip().lower().replace("-", "_")
    return SHORT_NAMES.get(name, name)


def _read_relation(value: Any) -> Any:
    """Read the name of a relation; the error lists the names that the caller's front end shows."""
    name = to_full_name(value)
    if isinstance(name, str) and name not in get_args(RelationshipType):
        short = list_choices(("similar", "citedin", "references", "citation_formats"))
        raise WrongValue(FrontendText(PerFrontend(short, list_choices(get_args(RelationshipType)))), value=value)
    return name


_ONE_ARTICLE: Final = FrontendText(
    "cannot be used with ", Argument("relationship_type", "citation_formats"), ", which formats one article"
)


class RelationshipsRequest(Request):
    """The article to start from, the relation, and how many steps to follow."""

    source_pmid: str = Field(description="PMID, PMCID or DOI.")
    relationship_type: Annotated[RelationshipType, BeforeValidator(_read_relation)] = Field(
        default="pubmed_similar_articles",
        description="Short: similar, citedin (works that cite it), references.",
    )
    max_related_results: int = Field(default=5, ge=1, le=MAX_RESULTS, description="Articles to return.")
    citation_styles: list[Style] = Field(default=["ris"], min_length=1, description="Styles of citation_formats.")
    depth: int = Field(default=1, ge=1, le=MAX_DEPTH, description="Above 1: snowball search.")
    budget: int = Field(
        default=DEFAULT_BUDGET,
        ge=1,
        le=MAX_BUDGET,
        description="Requests for a snowball.",
    )

    registrations: bool = Field(default=False, description="Add registration numbers.")

    @field_validator("source_pmid")
    @classmethod
    def _read_source(cls, value: str) -> str:
        identifier = read_identifier(value)
        if identifier is None:
            raise WrongValue("a PMID, PMCID or DOI", "Give a PMID such as 35394430, a PMCID or a DOI.")
        return identifier.value

    @field_validator("citation_styles", mode="before")
    @classmethod
    def _accept_style_names(cls, value: Any) -> Any:
        """Accept the styles of pubmed_format_citations; the specification's names stay unchanged."""
        return read_styles(value, HABITS)

    @model_validator(mode="after")
    def _check_depth(self) -> Self:
        if self.depth > 1 and self.relationship_type == "citation_formats":
            raise contradiction_error("depth", _ONE_ARTICLE, self.depth)
        if self.registrations and self.relationship_type == "citation_formats":
            raise contradiction_error("registrations", _ONE_ARTICLE, True)
        return self


class RelatedArticle(Result):
    """One related article.

    Only similar articles have scores: ``raw_score`` is NCBI's, ``score`` is scaled to 0..1 (1 is the most similar).
    ``comments`` are letters and comments, ``data_banks`` the numbers of registered trials and data, if requested. A
    work that is not in PubMed has no ``pmid``; it has Europe PMC's id or the text of the reference list. In a
    snowball, ``source_count`` is how many articles of the network link to this one, and ``via`` lists the first 20.
    """

    pmid: str | None = omit_if_empty()
    title: str | None = omit_if_empty()
    authors: str | None = omit_if_empty()
    source: str | None = omit_if_empty()
    pub_date: str | None = omit_if_empty()
    doi: str | None = omit_if_empty()
    pmcid: str | None = omit_if_empty()
    retraction_status: RetractionStatus | None = omit_if_empty()
    standing: Standing | None = omit_if_empty()
    publication_types: list[str] = omit_if_empty([])
    comments: list[Correction] = omit_if_empty([])
    data_banks: list[DataBank] = omit_if_empty([])
    score: float | None = omit_if_empty()
    raw_score: int | None = omit_if_empty()
    epmc_source: str | None = omit_if_empty()
    epmc_id: str | None = omit_if_empty()
    citation: str | None = omit_if_empty()
    link_url: str | None = omit_if_empty()
    depth: int | None = omit_if_empty()
    source_count: int | None = omit_if_empty()
    via: list[str] = omit_if_empty([])


class Snowball(Result):
    """The extent of a snowball: per step, the number of articles whose links were followed and were not followed."""

    requests: int
    budget: int
    followed: list[int]
    not_followed: list[int]


class RelationshipsResult(Result):
    """Related articles in the order of the service (a snowball: by how many articles link to them), or citations.

    ``provenance`` is the source: ncbi (ELink), pubmed_record (the article's own reference list) or europepmc.
    ``total_found`` counts the related articles that exist, ``retrieved_count`` those that this result lists.
    """

    RECORDS: ClassVar = "related_articles"

    source_pmid: str
    relationship_type: RelationshipType
    related_articles: list[RelatedArticle] = Field(default_factory=list)
    citations: dict[str, str] = Field(default_factory=dict)
    retrieved_count: int
    total_found: int
    provenance: Provenance = "ncbi"
    snowball: Snowball | None = omit_if_empty()
    elink_url: str | None = omit_if_empty()
    warnings: list[Warn] = Field(default_factory=list)

    def records_inside(self) -> list[Any]:
        """Return the related articles, or the citations as one record."""
        return [*self.related_articles] or ([self.citations] if self.citations else [])

    def missing_error(self) -> EntrezKitError | None:
        """Return an error if a service did not answer, because articles may be missing."""
        problems = [warning for warning in self.warnings if warning.code in INCOMPLETE]
        return incomplete_error(
            [problem.model_dump() for problem in problems], " ".join(problem.message for problem in problems)
        )

"""What is asked about the relations of an article, and what comes back."""

from typing import Annotated, Any, ClassVar, Final, Literal, Self, get_args

from pydantic import BeforeValidator, Field, field_validator, model_validator

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.frontend_text import FrontendText, PerFrontend
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.citations.style.style_names import HABITS, StyleName, read_styles
from entrez_kit.core.model import Request, Result, Warn, incomplete_error, omit_if_empty, wrong
from entrez_kit.pubmed.models import RetractionStatus
from entrez_kit.pubmed.standing import Standing

MAX_RESULTS: Final = 9_999
MAX_MCP_RESULTS: Final = 50
MAX_DEPTH: Final = 3
MAX_MCP_DEPTH: Final = 2
DEFAULT_BUDGET: Final = 20
MAX_BUDGET: Final = 1_000
MAX_MCP_BUDGET: Final = 50
MAX_VIA: Final = 20
"""So many of the articles that lead to one are named; ``source_count`` counts all of them."""

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
"""What people call the relations; "citations" may be either of two, so it is none."""

Style = Literal["apa_string", "mla_string", StyleName]

INCOMPLETE: Final = frozenset(
    {"links_incomplete", "europepmc_failed", "record_failed", "summaries_unavailable", "source_not_verified"}
)
"""Warnings that mean: a service did not answer, so there may be more than is shown, articles or marks of retraction."""


def full_name(value: Any) -> Any:
    """Return the specification's name of a relation for a short one; anything else as it is."""
    if not isinstance(value, str):
        return value
    name = value.strip().lower().replace("-", "_")
    return SHORT_NAMES.get(name, name)


def _relation(value: Any) -> Any:
    """Read a relation; what is none is told in the words of the door."""
    name = full_name(value)
    if isinstance(name, str) and name not in get_args(RelationshipType):
        names = "must be pubmed_similar_articles, pubmed_citedin, pubmed_references or citation_formats"
        raise ValueError(FrontendText(PerFrontend("must be similar, citedin, references or citation_formats", names)))
    return name


class RelationshipsRequest(Request):
    """Which article, which relation, and how far to follow it."""

    source_pmid: str = Field(description="PMID, PMCID or DOI to start from.")
    relationship_type: Annotated[RelationshipType, BeforeValidator(_relation)] = Field(
        default="pubmed_similar_articles",
        description="Short: similar, citedin (those citing it), references (those it cites).",
    )
    max_related_results: int = Field(default=5, ge=1, le=MAX_RESULTS, description="How many articles to return.")
    citation_styles: list[Style] = Field(default=["ris"], min_length=1, description="Styles for citation_formats.")
    depth: int = Field(default=1, ge=1, le=MAX_DEPTH, description="Steps to follow; from 2 on a snowball.")
    budget: int = Field(
        default=DEFAULT_BUDGET,
        ge=1,
        le=MAX_BUDGET,
        description="Most requests of a snowball; each follows 50 articles.",
    )

    @field_validator("source_pmid")
    @classmethod
    def _is_an_article(cls, value: str) -> str:
        identifier = read_identifier(value)
        if identifier is None:
            raise ValueError("no PMID; a PMID is a number such as 35394430")
        return identifier.value

    @field_validator("citation_styles", mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        """Accept what pubmed_format_citations accepts; the specification's names stay what they are."""
        return read_styles(value, HABITS)

    @model_validator(mode="after")
    def _depth_fits(self) -> Self:
        if self.depth > 1 and self.relationship_type == "citation_formats":
            raise wrong("depth", "citation_formats is about one article; there is nothing to follow", self.depth)
        return self


class RelatedArticle(Result):
    """One related article.

    ``score`` is NCBI's similarity brought to 0..1 (1 is the most similar one), ``raw_score`` as NCBI gave it; only
    similar articles have one. Works that PubMed does not have lack a ``pmid`` and keep Europe PMC's id or the words of
    the reference list. ``depth``, ``source_count`` (how many articles of the network lead here) and ``via`` (the first
    20 of these) belong to snowballs.
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
    """How far a snowball came: per step the articles whose links were followed, and those that were not."""

    requests: int
    budget: int
    followed: list[int]
    not_followed: list[int]


class RelationshipsResult(Result):
    """Related articles in the order of the service (of a snowball: by how many articles lead to them), or citations.

    ``provenance`` says who knew: ncbi (ELink), pubmed_record (the article's own reference list) or europepmc.
    ``total_found`` counts what there is, ``retrieved_count`` what is listed.
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
        """Report a service that did not answer, so that there may be more than is shown."""
        problems = [warning for warning in self.warnings if warning.code in INCOMPLETE]
        return incomplete_error(
            [one.model_dump() for one in problems], " ".join(problem.message for problem in problems)
        )

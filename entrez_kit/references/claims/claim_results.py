"""The request and the result of verifying claims."""

from typing import ClassVar, Final, Literal, get_args

from pydantic import Field

from entrez_kit.core.model import Request, Result, Warn, omit_if_empty
from entrez_kit.fulltext.fulltext_articles import Unavailable
from entrez_kit.pubmed.models import Standing
from entrez_kit.references.claims.passages import ClaimDifference

ClaimStatus = Literal[
    "found", "altered", "out_of_context", "elsewhere", "not_in_text", "no_text_available", "unchecked", "invalid"
]
STATUSES: Final[tuple[ClaimStatus, ...]] = get_args(ClaimStatus)
MAX_CLAIMS: Final = 5_000
MAX_MCP_CLAIMS: Final = 50


class Claim(Request):
    """A quoted or stated sentence, and the articles that it cites."""

    text: str = Field(max_length=20_000, description="The quoted or stated sentence.")
    ids: list[str] = Field(default=[], max_length=50, description="PMIDs, PMCIDs or DOIs of the cited articles.")
    line: int | None = Field(default=None, ge=1, description="Its line in the file, returned with the outcome.")


class VerifyRequest(Request):
    """The claims, in order."""

    claims: list[Claim] = Field(
        min_length=1, max_length=MAX_CLAIMS, description='E.g. [{"text": "...", "ids": ["99000001"]}].'
    )


class Place(Result):
    """The place of a passage.

    ``start`` and ``end`` are character offsets in the text of the section, as full text returns it, or of the abstract:
    from 0, ``end`` exclusive. ``paragraph`` is its number in the section, from 1. ``sentence`` is the whole sentence
    around the passage.
    """

    id: str
    pmid: str | None = omit_if_empty()
    source: Literal["abstract", "full_text"]
    section: str | None = omit_if_empty()
    paragraph: int
    start: int
    end: int
    passage: str
    sentence: str


class VerifiedClaim(Result):
    """The outcome of one claim.

    ``place`` is the place of the claim, of the passage that it alters, or, if it is ``elsewhere``, of the claim in
    another article. A claim without a place has the most similar sentence as ``nearest``. ``standing`` is the most
    serious publication status of the cited articles.
    """

    claim: str
    line: int | None = omit_if_empty()
    ids: list[str]
    status: ClaimStatus
    place: Place | None = omit_if_empty()
    nearest: Place | None = omit_if_empty()
    differences: list[ClaimDifference] = omit_if_empty([])
    standing: Standing | None = omit_if_empty()
    unavailable: list[Unavailable] = omit_if_empty([])
    detail: str | None = omit_if_empty()


class VerifyResult(Result):
    """One outcome per claim, in the order of the claims; ``counts`` has every status."""

    RECORDS: ClassVar = "claims"

    claims: list[VerifiedClaim]
    total: int
    counts: dict[str, int]
    warnings: list[Warn] = omit_if_empty([])

    @property
    def findings(self) -> int:
        """The number of claims that are not found in the cited articles."""
        return self.total - self.counts["found"]

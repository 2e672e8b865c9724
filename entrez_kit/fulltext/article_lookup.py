"""What is known of one wanted article on its way through the sources: ids, answers, and what came of it."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.identifiers import Identifier
from entrez_kit.fulltext.models import (
    ENDPOINT,
    Outcome,
    PmcArticle,
    Reason,
    Tier,
    TriedTier,
    Unavailable,
    UnpaywallArticle,
)
from entrez_kit.pubmed.standing import Standing

if TYPE_CHECKING:
    from entrez_kit.fulltext.jats.article import JatsArticle

_REASONS: Final[dict[Outcome, Reason]] = {"miss": "not-found", "no-fulltext": "no-epmc-fulltext"}
"""Outcomes that go by another name as the reason why there is no text."""
_WEIGHT: Final[tuple[Outcome, ...]] = ("not-attempted", "miss", "no-body", "parse-failed", "service-error")
"""Of two answers of one tier the weightier one counts: a source that did not answer may still have the text."""

EUROPEPMC_OFF: Final = "EUROPEPMC_ENABLED=false"
UNPAYWALL_OFF: Final = "UNPAYWALL_EMAIL is not set"
OFFLINE: Final = "offline mode"
"""In what every source says in offline mode of what the cache does not have."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a source answered; ``front`` is all of the article where it has no more."""

    outcome: Outcome
    detail: str | None = None
    front: PmcArticle | None = None

    def and_then(self, other: "Answer") -> "Answer":
        """Join the answers of two places of one tier."""
        weightier = max(self, other, key=lambda answer: _WEIGHT.index(answer.outcome))
        details = dict.fromkeys(answer.detail for answer in (self, other) if answer.detail)
        detail = "; ".join(detail for detail in details if detail) or None
        return Answer(weightier.outcome, detail, self.front or other.front)


def failure_of(error: EntrezKitError) -> Answer:
    """Return the answer of a source that failed: a document that cannot be read is told from a service that is down."""
    unreadable = error.details.get("endpoint") == ENDPOINT
    return Answer("parse-failed" if unreadable else "service-error", error.message.rstrip("."))


@dataclass(slots=True)
class ArticleLookup:
    """One wanted article. ``lookup`` is set where its PMCID is not known: why.

    ``has_record`` tells whether PubMed or the ID Converter knows it, None where neither said so.
    """

    wanted: Identifier
    pmid: str | None = None
    pmcid: str | None = None
    doi: str | None = None
    lookup: Answer | None = None
    doi_error: EntrezKitError | None = None
    pubmed_asked: bool = False
    has_record: bool | None = None
    tried: list[TriedTier] = field(default_factory=list)
    jats: "JatsArticle | None" = None
    via_europepmc: bool = False
    epmc_id: str | None = None
    epmc_source: str | None = None
    copy: UnpaywallArticle | None = None
    standing: Standing | None = None
    standing_error: EntrezKitError | None = None

    def __post_init__(self) -> None:
        """Begin with the id that was given."""
        setattr(self, self.wanted.kind, self.wanted.value)

    @property
    def known_pmid(self) -> str | None:
        """The article's PMID, be it from the text itself."""
        return self.pmid or (self.jats.front.pmid if self.jats is not None else None)

    @property
    def is_found(self) -> bool:
        """Tell whether there is a text."""
        return self.jats is not None or self.copy is not None

    @property
    def is_without_pmc_text(self) -> bool:
        """Whether PMC cannot have its text, or answered without one."""
        return not self.is_found and (self.pmcid is None or any(tried.tier == "pmc" for tried in self.tried))

    @property
    def is_unknown(self) -> bool:
        """Tell whether nobody knows it: PubMed's word on a PMID is final, else all who were asked must have said so."""
        outcomes = {tried.outcome for tried in self.tried} - {"not-attempted", "miss"}
        if outcomes - {"service-error"} or self.has_record:
            return False
        return self.has_record is False or not outcomes

    def learn(self, *, pmid: str | None = None, pmcid: str | None = None, doi: str | None = None) -> None:
        """Take over ids that are not known yet."""
        self.pmid = self.pmid or pmid
        self.pmcid = self.pmcid or pmcid
        self.doi = self.doi or doi

    def note(self, tier: Tier, answer: Answer | None) -> None:
        """Write down what a tier answered that has no text, and take over ids it named."""
        if answer is None:
            return
        if answer.front is not None:
            self.learn(pmid=answer.front.pmid, doi=answer.front.doi)
        self.tried.append(TriedTier(tier=tier, outcome=answer.outcome, detail=answer.detail))

    def unavailable(self, identifier: Identifier) -> Unavailable:
        """Return the entry for an id without full text, in its normal form."""
        outcomes = [tried.outcome for tried in self.tried]
        asked = [outcome for outcome in outcomes if outcome != "not-attempted"]
        return Unavailable(
            id=identifier.value,
            id_type=identifier.kind,
            reason=_REASONS.get(asked[-1], cast("Reason", asked[-1])) if asked else "no-pmc-fallback-disabled",
            retryable=True if "service-error" in outcomes else None,
            tried_tiers=self.tried,
        )

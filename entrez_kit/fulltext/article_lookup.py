"""ArticleLookup: the ids, the answers of the sources and the text of one requested article."""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.identifiers import Identifier, format_doi_url
from entrez_kit.fulltext.fulltext_articles import (
    ENDPOINT,
    Outcome,
    PmcArticle,
    Reason,
    Tier,
    TriedTier,
    Unavailable,
    UnpaywallArticle,
    format_pubmed_url,
)
from entrez_kit.pubmed.models import Article, Standing

if TYPE_CHECKING:
    from entrez_kit.fulltext.jats.article import JatsArticle

_REASONS: Final[dict[Outcome, Reason]] = {"miss": "not-found", "no-fulltext": "no-epmc-fulltext"}
"""Outcomes whose public reason has a different name."""
_MESSAGES: Final[dict[Reason, str]] = {
    "not-found": "No source knows this id.",
    "no-pmc-fallback-disabled": "The article is not in PMC, and the other sources are switched off.",
    "no-epmc-fulltext": "The article is not in PMC, and Europe PMC has only the abstract.",
    "no-body": "PMC or Europe PMC has only the abstract.",
    "no-doi": "The article is not in PMC, and it has no DOI to look up a free copy.",
    "no-oa": "The article is not in PMC, and no free copy is known.",
    "fetch-failed": "A free copy is known, but it could not be downloaded.",
    "parse-failed": "A copy was found, but its text could not be read.",
    "service-error": "A source did not answer.",
}
"""Each reason in plain words."""
_NO_TEXT: Final = "No source has the text of this article."
"""The words if no source has the article, but PubMed has its record."""
_EMAIL: Final = re.compile(r"[\w.+'-]{1,64}+@[\w-]{1,63}+(?>(?:\.[\w-]{1,63}+)+)")
MAX_EMAILS: Final = 5
_WEIGHT: Final[tuple[Outcome, ...]] = ("not-attempted", "miss", "no-body", "parse-failed", "service-error")
"""Outcomes in increasing weight; the heavier of two answers of one tier counts. A failed source may have the text."""

EUROPEPMC_OFF: Final = "EUROPEPMC_ENABLED=false"
UNPAYWALL_OFF: Final = "UNPAYWALL_EMAIL is not set"
OFFLINE: Final = "offline mode"
"""Part of each source's message in offline mode if the cache has no reply."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A source's answer without a text; ``front`` is the front matter, if it has only that."""

    outcome: Outcome
    detail: str | None = None
    front: PmcArticle | None = None

    def combine(self, other: "Answer") -> "Answer":
        """Combine the answers of two sources of one tier."""
        weightier = max(self, other, key=lambda answer: _WEIGHT.index(answer.outcome))
        details = dict.fromkeys(answer.detail for answer in (self, other) if answer.detail)
        detail = "; ".join(detail for detail in details if detail) or None
        return Answer(weightier.outcome, detail, self.front or other.front)


def convert_failure(error: EntrezKitError) -> Answer:
    """Return the answer for a failed source: parse-failed for an invalid document, otherwise service-error."""
    unreadable = error.details.get("endpoint") == ENDPOINT
    return Answer("parse-failed" if unreadable else "service-error", error.message.rstrip("."))


@dataclass(slots=True)
class ArticleLookup:
    """The lookup of one article.

    ``pmcid_problem`` is the reason if its PMCID is unknown. ``has_record`` is whether PubMed or the ID Converter knows
    the article; None if neither answered. ``record`` is its PubMed record, if it was read.
    """

    identifier: Identifier
    pmid: str | None = None
    pmcid: str | None = None
    doi: str | None = None
    pmcid_problem: Answer | None = None
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
    record: Article | None = None

    def __post_init__(self) -> None:
        """Set the id that was given."""
        setattr(self, self.identifier.kind, self.identifier.value)

    @property
    def known_pmid(self) -> str | None:
        """The article's PMID, also if only the text has it."""
        return self.pmid or (self.jats.front.pmid if self.jats is not None else None)

    @property
    def is_found(self) -> bool:
        """Whether a text was found."""
        return self.jats is not None or self.copy is not None

    @property
    def is_without_pmc_text(self) -> bool:
        """Whether PMC has no text, or cannot have one without a PMCID."""
        return not self.is_found and (self.pmcid is None or any(tried.tier == "pmc" for tried in self.tried))

    @property
    def is_unknown(self) -> bool:
        """Whether no source knows the article: PubMed decides for a PMID, otherwise all sources together."""
        outcomes = {tried.outcome for tried in self.tried} - {"not-attempted", "miss"}
        if outcomes - {"service-error"} or self.has_record:
            return False
        return self.has_record is False or not outcomes

    def learn(self, *, pmid: str | None = None, pmcid: str | None = None, doi: str | None = None) -> None:
        """Set ids that are not known yet."""
        self.pmid = self.pmid or pmid
        self.pmcid = self.pmcid or pmcid
        self.doi = self.doi or doi

    def note(self, tier: Tier, answer: Answer | None) -> None:
        """Record the answer of a tier without a text, and the ids in it."""
        if answer is None:
            return
        if answer.front is not None:
            self.learn(pmid=answer.front.pmid, doi=answer.front.doi)
        self.tried.append(TriedTier(tier=tier, outcome=answer.outcome, detail=answer.detail))

    def describe_unavailable(self, identifier: Identifier) -> Unavailable:
        """Return the ``unavailable`` entry for a normalized id."""
        outcomes = [tried.outcome for tried in self.tried]
        requested = [outcome for outcome in outcomes if outcome != "not-attempted"]
        reason: Reason = "no-pmc-fallback-disabled"
        if requested:
            reason = _REASONS.get(requested[-1], cast("Reason", requested[-1]))
        record = self.record
        return Unavailable(
            id=identifier.value,
            id_type=identifier.kind,
            reason=reason,
            message=_NO_TEXT if reason == "not-found" and self.has_record else _MESSAGES[reason],
            retryable=True if "service-error" in outcomes else None,
            pmid=self.pmid,
            pubmed_url=format_pubmed_url(self.pmid) if self.has_record else None,
            doi=self.doi,
            publisher_url=format_doi_url(self.doi) if self.doi and not self.is_unknown else None,
            title=record.title if record else None,
            emails=find_emails(record) if record else [],
            standing=record.standing if record else None,
            tried_tiers=self.tried,
        )


def find_emails(record: Article) -> list[str]:
    """Return the first e-mail addresses in the affiliations of a record."""
    affiliations = (
        affiliation for author in record.authors for affiliation in author.affiliations if "@" in affiliation
    )
    addresses = (match.rstrip(".-'") for affiliation in affiliations for match in _EMAIL.findall(affiliation))
    return [*dict.fromkeys(addresses)][:MAX_EMAILS]

"""The publication status ("standing") of a work: retracted, in doubt, corrected, replaced, or a notice about a work.

This module alone interprets NLM's RefTypes, publication types, titles and JATS related articles.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from entrez_kit.pubmed.models import GRAVITY, NOTICE_DATE, RetractionStatus, Standing, StandingNotice, StandingStatus
from entrez_kit.pubmed.xml.dates import convert_to_iso_date

RETRACTED: Final = "retracted"

_COARSE: Final[Mapping[str, RetractionStatus]] = {
    "retracted": "retracted",
    "withdrawn": "retracted",
    "partially_retracted": "retracted",
    "expression_of_concern": "expression_of_concern",
    "retraction_notice": "retraction_notice",
    "concern_notice": "concern_notice",
}

KINDS: Final[Mapping[str, StandingStatus]] = {
    "RetractionIn": "retracted",
    "RetractedandRepublishedIn": "retracted",
    "PartialRetractionIn": "partially_retracted",
    "ExpressionOfConcernIn": "expression_of_concern",
    "RetractionOf": "retraction_notice",
    "PartialRetractionOf": "retraction_notice",
    "ExpressionOfConcernFor": "concern_notice",
    "ErratumFor": "correction_notice",
    "UpdateIn": "superseded",
    "RepublishedIn": "republished",
    "CorrectedandRepublishedIn": "republished",
    "PreprintOf": "preprint_published",
    "ErratumIn": "corrected",
}
"""NLM's RefTypes that determine a status, and Europe PMC's PreprintOf. Others link comments, reprints and data."""

_TYPES: Final[Mapping[str, StandingStatus]] = {
    "retracted publication": "retracted",
    "retraction of publication": "retraction_notice",
    "retraction notice": "retraction_notice",
    "retraction": "retraction_notice",
    "partial retraction": "retraction_notice",
    "expression of concern": "concern_notice",
    "published erratum": "correction_notice",
    "erratum": "correction_notice",
    "correction": "correction_notice",
    "corrigendum": "correction_notice",
}
"""Publication types of PubMed and Europe PMC, in lower case, with spaces for hyphens."""

_TELLING: Final = re.compile("etract|oncern|rrat|orrect|orrig|reprint")
LIFTED: Final[frozenset[StandingStatus]] = frozenset(
    ("retracted", "withdrawn", "partially_retracted", "expression_of_concern")
)
"""The statuses that a later reinstatement cancels."""
_ABOUT_RETRACTION: Final[frozenset[StandingStatus]] = LIFTED | {"retraction_notice", "concern_notice"}
_TITLE: Final = re.compile(
    r"[\[(*]?\s?(?:"
    r"(?P<retracted>RETRACTED(?::? (?:ARTICLE|PAPER|CHAPTER))?|Retracted (?:[Aa]rticle|[Pp]aper|[Cc]hapter))\s?[:\])]"
    r"|(?P<withdrawn>(?:WITHDRAWN|TEMPORARY REMOVAL|REMOVED|Withdrawn)(?::? (?:ARTICLE|Article|PREPRINT|Preprint))?)"
    r"\s?[:\])]"
    r"|(?P<retraction_notice>(?:NOTICE|Notice|STATEMENT|Statement) (?:OF|of) (?:RETRACTION|[Rr]etraction)\b"
    r"|(?:RETRACTION|Retraction) (?:NOTICE|NOTE|[Nn]otice|[Nn]ote)(?: to:?|:))"
    r"|(?P<concern_notice>(?:(?:EDITORIAL|Editorial) )?(?:EXPRESSION|[Ee]xpression) (?:OF|of) (?:CONCERN|[Cc]oncern):)"
    r")"
)
"""Publishers' marks before a title. Only these forms: "Retracted: a study of retractions" is an ordinary title."""
_FIRST_LETTERS: Final = frozenset("[(*RWTNSEe")
_WITHDRAWN: Final = re.compile(
    r"\b(?:authors?|(?:bio|med)Rxiv|Research Square|the (?:server|platform)) ha(?:s|ve) withdrawn\b"
    r"|\bthis (?:manuscript|preprint|article|paper) (?:has been|was|is) (?:withdrawn|removed)\b",
    re.IGNORECASE,
)
_REASON: Final = re.compile(r"(?:because|due to|owing to)\b[^.]{1,300}", re.IGNORECASE)
_REINSTATED: Final = re.compile(
    r"\breinstat|\bretraction (?:of (?:the )?retraction|(?:was |has been )?withdrawn)", re.IGNORECASE
)
_SERVER: Final = re.compile(
    r"rxiv\b|\b(?:res(?:earch)? sq(?:uare)?|preprints?|ssrn|authorea)\b",
    re.IGNORECASE,
)
_DOI: Final = re.compile(r"\bdoi: ?(10\.\S{1,250}[^\s.;,])", re.IGNORECASE)


def to_retraction_status(standing: Standing | None) -> RetractionStatus:
    """Return the value of ``retraction_status`` for a standing.

    "retracted" covers works that were retracted, partially retracted or withdrawn; ``Standing.status`` tells them
    apart.
    """
    return _COARSE.get(standing.status, "none") if standing is not None else "none"


def determine_standing(
    *,
    publication_types: Sequence[str] = (),
    corrections: Iterable[Mapping[str, Any]] = (),
    title: str | None = None,
    abstract: str | None = None,
) -> Standing | None:
    """Determine the status of a work from its record; None if the record has no sign of one.

    Args:
        publication_types: the types of PubMed or Europe PMC.
        corrections: related records: kind (NLM's RefType), pmid, citation, note.
        title: a publisher's mark at its beginning is used if types and related records show no retraction.
        abstract: a withdrawn preprint is recognized by its abstract.
    """
    all_corrections = list(corrections)
    kinds = [kind.lower().replace("-", " ") for kind in publication_types if _TELLING.search(kind)]
    marked = _TITLE.match(title) if title and title[0] in _FIRST_LETTERS else None
    if not (all_corrections or kinds or marked):
        return None
    preprint = "preprint" in kinds
    types = {_TYPES[kind] for kind in kinds if kind in _TYPES}
    notices = [notice for item in all_corrections if (notice := _read_notice(item, preprint=preprint)) is not None]
    statuses = types | {notice.status for notice in notices}
    if "reinstated" in statuses and "retracted" not in types:
        statuses -= LIFTED
    if marked:
        status: Any = marked.lastgroup
        sure = status != "withdrawn" or preprint or marked["withdrawn"] != "Withdrawn"
        if sure and (status == "withdrawn" or not statuses & _ABOUT_RETRACTION):
            statuses.add(status)
    if preprint and abstract and _WITHDRAWN.search(abstract[:600]):
        reason = _REASON.search(abstract[:600])
        notices.append(StandingNotice(status="withdrawn", reason=reason[0].strip() if reason else None))
        statuses.add("withdrawn")
    if preprint and "withdrawn" in statuses:
        statuses.discard("retracted")
    if not statuses:
        return None
    named_notices = [notice for notice in notices if notice.pmid or notice.doi or notice.citation or notice.reason]
    named_notices.sort(key=lambda notice: GRAVITY.index(notice.status))
    return Standing(status=min(statuses, key=GRAVITY.index), notices=named_notices)


def determine_standing_of_article(article: Any) -> Standing | None:
    """Determine the status of a work from the fields of an ``Article``, which may be stored without a status."""
    return determine_standing(
        publication_types=article.publication_types,
        corrections=[correction.model_dump() for correction in article.corrections],
        title=article.title,
        abstract=article.abstract_text,
    )


_JATS: Final[tuple[tuple[str, StandingStatus], ...]] = (
    ("partial", "partially_retracted"),
    ("retraction", "retracted"),
    ("retracted", "retracted"),
    ("withdraw", "withdrawn"),
    ("remov", "withdrawn"),
    ("concern", "expression_of_concern"),
    ("republi", "republished"),
    ("updat", "superseded"),
    ("version", "superseded"),
    ("correct", "corrected"),
    ("erratum", "corrected"),
    ("addend", "corrected"),
)
"""The status of a JATS article by the type of a related article ("...-forward"): the first part that it contains."""


def _read_jats_status(kind: str) -> StandingStatus | None:
    kind = kind.lower()
    partial = "partial" in kind and "retracted" in kind
    if partial or "-forward" in kind or kind in ("retraction", "partial-retraction"):
        return next((status for part, status in _JATS if part in kind), None)
    # Without "forward" this article is the notice.
    if "retracted-article" in kind:
        return "retraction_notice"
    return "concern_notice" if "object-of-concern" in kind else None


def determine_standing_of_jats(
    article_type: str | None, related: Iterable[Mapping[str, str]], title: str | None
) -> Standing | None:
    """Determine the status of an article from its full text.

    Args:
        article_type: JATS' article-type.
        related: the type of each related-article as ``kind``, its ``doi``, ``pmid``, and its text as ``citation``.
        title: the title; a publisher's mark before it counts.
    """
    type_text = (article_type or "").lower()
    types = ["Retracted Publication"] if type_text == "retracted-article" else [type_text]
    by_types = determine_standing(publication_types=types, title=title)
    notices = []
    for item in related:
        status = _read_jats_status(item["kind"])
        if status is not None:
            notices.append(StandingNotice(status=status, **item))
    statuses = [notice.status for notice in notices] + ([by_types.status] if by_types is not None else [])
    if not statuses:
        return None
    return Standing(
        status=min(statuses, key=GRAVITY.index),
        notices=sorted(notices, key=lambda notice: GRAVITY.index(notice.status)),
    )


def choose_graver(first: Standing | None, second: Standing | None) -> Standing | None:
    """Return the graver of two statuses; the first one if they are equal."""
    standings = [standing for standing in (first, second) if standing is not None]
    return min(standings, key=lambda standing: GRAVITY.index(standing.status), default=None)


def _read_notice(item: Mapping[str, Any], *, preprint: bool) -> StandingNotice | None:
    kind = str(item.get("kind") or "")
    citation, note = str(item.get("citation") or ""), str(item.get("note") or "")
    status = KINDS.get(kind)
    if _REINSTATED.search(note) or _REINSTATED.search(citation):
        status = "reinstated"
    elif status == "superseded" and preprint and not _SERVER.search(citation):
        status = "preprint_published"
    if status is None:
        return None
    doi, date = _DOI.search(citation), re.search(NOTICE_DATE, citation)
    return StandingNotice(
        status=status,
        kind=kind,
        pmid=item.get("pmid"),
        doi=doi[1] if doi else None,
        citation=citation or None,
        date=convert_to_iso_date(date[1]) if date else None,
        reason=note or None,
    )

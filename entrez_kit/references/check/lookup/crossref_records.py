"""Convert Crossref records: the publication status of a work, and its fields as a PubMed article."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from entrez_kit.base.markup import flatten_scripts
from entrez_kit.pubmed.encoded_markup import convert_to_plain_text
from entrez_kit.pubmed.models import (
    GRAVITY,
    Article,
    Author,
    JournalInfo,
    PublicationDate,
    Standing,
    StandingNotice,
    StandingStatus,
)
from entrez_kit.pubmed.standing import LIFTED, determine_standing
from entrez_kit.services.crossref import CrossrefRecord

UPDATES: Final[Mapping[str, StandingStatus]] = {
    "retraction": "retracted",
    "retract_and_replace": "retracted",
    "partial_retraction": "partially_retracted",
    "withdrawal": "withdrawn",
    "removal": "withdrawn",
    "expression_of_concern": "expression_of_concern",
    "reinstatement": "reinstated",
    "new_version": "superseded",
    "new_edition": "superseded",
}
"""Crossref's update types. All other types, for example errata and corrigenda, are corrections."""
_NOTICES: Final[Mapping[StandingStatus, StandingStatus]] = {
    "retracted": "retraction_notice",
    "partially_retracted": "retraction_notice",
    "withdrawn": "retraction_notice",
    "expression_of_concern": "concern_notice",
    "corrected": "correction_notice",
}
"""The status of the notice itself, by the status that it gives to another work."""


def determine_standing_of_work(record: CrossrefRecord, notices: Iterable[CrossrefRecord] = ()) -> Standing | None:
    """Return the status of a work by its record and by the notices that name it; None if they have no status.

    Args:
        record: the record of the work, whose ``updated-by`` names notices.
        notices: records of notices, whose ``update-to`` names the work.
    """
    own = _read_doi(record)
    all_notices = [_build_notice(update, _read_doi(update)) for update in _iter_objects(record, "updated-by")]
    for notice in (record, *notices):
        for update in _iter_objects(notice, "update-to"):
            if _read_doi(update) == own:
                all_notices.append(_build_notice(update, _read_doi(notice)))
            elif notice is record and (status := _NOTICES.get(_read_status(update))):
                all_notices.append(_build_notice(update, _read_doi(update), status))
    for relation, status in (("is-preprint-of", "preprint_published"), ("is-replaced-by", "superseded")):
        for related in _iter_objects(record.get("relation"), relation):
            all_notices.append(StandingNotice(status=status, kind=relation, doi=str(related.get("id") or "") or None))
    marked = determine_standing(title=read_title(record))
    if marked is not None and not any(notice.status in LIFTED or "notice" in notice.status for notice in all_notices):
        all_notices.append(StandingNotice(status=marked.status, kind="title"))
    return determine_standing_by_notices(all_notices)


def determine_standing_by_notices(notices: Iterable[StandingNotice]) -> Standing | None:
    """Return the status that dated notices result in: a reinstatement cancels earlier retractions and concerns."""
    distinct = list({(notice.status, notice.doi, notice.pmid): notice for notice in notices}.values())
    reinstated = max((notice.date or "" for notice in distinct if notice.status == "reinstated"), default=None)
    if reinstated is not None:
        distinct = [notice for notice in distinct if notice.status not in LIFTED or (notice.date or "") > reinstated]
    distinct.sort(key=lambda notice: GRAVITY.index(notice.status))
    return Standing(status=distinct[0].status, notices=distinct) if distinct else None


def read_title(record: CrossrefRecord) -> str:
    """Return the title of a work, with its subtitle."""
    parts = [
        convert_to_plain_text(str(part))
        for name in ("title", "subtitle")
        for part in (record.get(name) or ())[:1]
        if part
    ]
    return ": ".join(part for part in parts if part)


def convert_to_article(record: CrossrefRecord) -> Article:
    """Convert a record to a PubMed article without a PMID."""
    doi = str(record["DOI"])
    dates = [next(iter((record.get(name) or {}).get("date-parts") or [[]])) for name in _DATES]
    issued = [part for part in next((date for date in dates if date and date[0]), ()) if isinstance(part, int)]
    names = [
        str(name)
        for key in ("container-title", "short-container-title")
        for name in (record.get(key) or ())[:1]
        if name
    ]
    journal = JournalInfo(
        title=convert_to_plain_text(names[0]) if names else None,
        iso_abbreviation=convert_to_plain_text(names[-1]) if len(names) > 1 else None,
        volume=_read_text(record, "volume"),
        issue=_read_text(record, "issue"),
        pages=_read_text(record, "page"),
        article_number=_read_text(record, "article-number"),
        publication_date=PublicationDate(year=issued[0], month=issued[1] if issued[1:] else None) if issued else None,
    )
    others = {date[0] for date in dates if date and isinstance(date[0], int)} - set(issued[:1])
    return Article.model_validate(
        {
            "pmid": "",
            "doi": doi.lower(),
            "title": read_title(record),
            "url": f"https://doi.org/{doi}",
            "authors": [
                author for item in _iter_objects(record, "author") if (author := _read_author(item)) is not None
            ],
            "journal_info": journal,
            "article_dates": [{"type": "Electronic", "year": year} for year in sorted(others)],
            "standing": determine_standing_of_work(record),
        }
    )


_DATES: Final = ("published-print", "issued", "published-online", "published")


def _read_author(person: CrossrefRecord) -> Author | None:
    family, given = (flatten_scripts(str(person.get(name) or "")) for name in ("family", "given"))
    if not family:
        group = flatten_scripts(str(person.get("name") or given))
        return Author(collective_name=group) if group else None
    return Author(last_name=family, first_name=given or None, suffix=person.get("suffix"))


def _iter_objects(holder: Any, name: str) -> Iterator[CrossrefRecord]:
    listed = holder.get(name) if isinstance(holder, Mapping) else None
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, Mapping):
            yield item


def _read_text(record: CrossrefRecord, name: str) -> str | None:
    value = record.get(name)
    return str(value) if value not in (None, "") else None


def _read_doi(record: CrossrefRecord) -> str:
    return str(record.get("DOI") or "").lower()


def _read_status(update: CrossrefRecord) -> StandingStatus:
    kind = str(update.get("type") or update.get("label") or "").strip().lower().replace(" ", "_").replace("-", "_")
    return UPDATES.get(kind, "corrected")


def _build_notice(update: CrossrefRecord, doi: str, status: StandingStatus | None = None) -> StandingNotice:
    updated = update.get("updated")
    date = str(updated.get("date-time") or "")[:10] if isinstance(updated, Mapping) else ""
    return StandingNotice(
        status=status or _read_status(update),
        kind=str(update.get("type") or "") or None,
        doi=doi or None,
        date=date or None,
    )

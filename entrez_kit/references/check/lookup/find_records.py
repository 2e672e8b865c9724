"""Find the records that references may cite: by identifier, by journal and place, by title."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput
from entrez_kit.base.identifiers import IdKind
from entrez_kit.core.batches import collect_batches
from entrez_kit.pubmed.citation_matcher import UNKNOWN_JOURNAL, Citation, ask_matcher, name_candidates
from entrez_kit.pubmed.comparison import fold_text, measure_text_likeness
from entrez_kit.pubmed.models import Article, StandingStatus
from entrez_kit.pubmed.record_batches import Fetched
from entrez_kit.pubmed.record_fetcher import Retrieval
from entrez_kit.references.check.comparison.compare_fields import IdentifierName, is_matching_title
from entrez_kit.references.check.comparison.compare_with_record import compare_record
from entrez_kit.references.check.lookup.candidates import MIN_WORDS, NOTICES, Candidates, RecordMatch, fold_words
from entrez_kit.references.check.lookup.crossref_records import convert_to_article
from entrez_kit.references.check.lookup.sources import fetch_agencies, fetch_crossref_records
from entrez_kit.references.files.references import Reference
from entrez_kit.services import Services

TITLES_PER_SEARCH: Final = 10
RECORDS_PER_SEARCH: Final = 100
MIN_LIKENESS: Final = 0.5
"""Minimum likeness of the title of the most similar record."""
MIN_FAULTS: Final = 2
"""From this number of differences, a reference may cite a newer version of the record."""
REPLACED: Final[frozenset[StandingStatus]] = frozenset(("superseded", "republished", "preprint_published"))
"""The statuses of a work that has a newer version, and of its notices of that version."""
MAX_FITTING: Final = 5
"""Maximum records to compare if several match a place."""


def find_records(services: Services, references: Sequence[Reference], *, crossref: bool) -> list[Candidates]:
    """Find the records that a batch of references may cite. The number of requests depends on the batch size only."""
    all_candidates = [Candidates(reference) for reference in references]
    _look_up_identifiers(services, all_candidates)
    _look_up_versions(services, all_candidates)
    for look_up in (_look_up_places, _search_titles):
        look_up(
            services, [candidates for candidates in all_candidates if not candidates.settled and not candidates.failure]
        )
    _look_up_works_of_notices(services, all_candidates)
    if crossref:
        _look_up_dois(services, [candidates for candidates in all_candidates if not candidates.settled])
    _add_nearest(
        services,
        [candidates for candidates in all_candidates if candidates.is_without_record],
    )
    _look_up_altered_places(
        services,
        [candidates for candidates in all_candidates if candidates.is_without_record],
    )
    _find_owners(
        services,
        [candidates for candidates in all_candidates if candidates.ranked and candidates.ranked[0].same],
        crossref=crossref,
    )
    _look_up_agencies(services, all_candidates)
    return all_candidates


_Wanted = dict[str, list[Candidates]]
"""Identifiers or search terms, each with the references that need its record."""


def _group_by_key(pairs: Iterable[tuple[str | None, Candidates]]) -> _Wanted:
    wanted: _Wanted = {}
    for key, candidates in pairs:
        if key:
            wanted.setdefault(key, []).append(candidates)
    return wanted


def _fetch_records(services: Services, wanted: _Wanted) -> Iterator[tuple[Candidates, Fetched, Article | None]]:
    """Fetch records by identifier, and yield each with each reference that needs it."""
    for item in Retrieval.of_ids(services, list(wanted)) if wanted else ():
        article = item.record.article() if item.record is not None else None
        for candidates in wanted[item.input]:
            yield candidates, item, article


# Identifiers


def _look_up_identifiers(services: Services, all_candidates: Sequence[Candidates]) -> None:
    """Look up identifiers, the cheapest kind first. If the PMID leads to the cited work, the DOI is not searched."""
    kinds: tuple[IdKind, ...] = ("pmid", "pmcid", "doi")
    for kind in kinds:
        wanted = _group_by_key(
            (getattr(candidates.reference, kind), candidates) for candidates in all_candidates if not candidates.settled
        )
        for candidates, item, article in _fetch_records(services, wanted):
            if article is not None:
                candidates.add(article, "identifier")
            elif item.status == "error":
                candidates.failure = item.error
            else:
                candidates.absent.append(item.input)
    for candidates in all_candidates:
        if candidates.settled:  # one identifier with the record is sufficient
            candidates.failure = None


def _look_up_versions(services: Services, all_candidates: Sequence[Candidates]) -> None:
    """Look up the newer versions of records that differ in several fields: the DOI of a preprint may be wrong."""
    _look_up_named(services, all_candidates, lambda match: match.faults >= MIN_FAULTS, REPLACED)


def _look_up_works_of_notices(services: Services, all_candidates: Sequence[Candidates]) -> None:
    """Look up the works that notices are about: a reference may have the place of the notice, and cite the work."""
    _look_up_named(services, all_candidates, lambda match: match.is_notice_with_other_title, NOTICES)


def _look_up_named(
    services: Services,
    all_candidates: Sequence[Candidates],
    is_unlikely: Callable[[RecordMatch], bool],
    statuses: Collection[StandingStatus],
) -> None:
    """Look up the works that the notices with a status in unlikely records name, and add the cited works."""
    wanted = _group_by_key(
        (notice.pmid, candidates)
        for candidates in all_candidates
        for match in candidates.matches.values()
        if match.article.standing is not None and is_unlikely(match)
        for notice in match.article.standing.notices
        if notice.status in statuses and notice.pmid not in candidates.matches
    )
    for candidates, _, article in _fetch_records(services, wanted):
        if article is not None:
            candidates.add(article, "title", only_same=True)


def _look_up_dois(services: Services, all_candidates: Sequence[Candidates]) -> None:
    """Request DOIs without a PubMed record from Crossref: books, preprints, conference papers, other subjects."""
    wanted = _group_by_key(
        (candidates.reference.doi, candidates)
        for candidates in all_candidates
        if candidates.reference.doi in candidates.absent
    )
    records, errors = fetch_crossref_records(services, wanted)
    for doi, record in records.items():
        for candidates in wanted[doi]:
            candidates.add(convert_to_article(record), "identifier")
    for doi, error in errors.items():
        for candidates in wanted[doi]:
            if isinstance(error, EntityNotFound | InvalidInput):
                candidates.unregistered.append(doi)
            else:
                candidates.failure = error


def _find_owners(services: Services, all_candidates: Sequence[Candidates], *, crossref: bool) -> None:
    """For identifiers that differ from the record of the cited work, find the articles they belong to."""
    wanted: dict[str, list[tuple[IdentifierName, Candidates]]] = {}
    for candidates in all_candidates:
        article = candidates.ranked[0].article
        for name, identifier in candidates.reference.identifiers:
            if identifier.lower() == (getattr(article, name) or "").lower():
                continue
            known = [match.article for match in candidates.matches.values() if _has_id(match.article, name, identifier)]
            if known:
                candidates.owners[identifier] = known[0]
            else:
                wanted.setdefault(identifier, []).append((name, candidates))
    dois: _Wanted = {}
    for item in Retrieval.of_ids(services, list(wanted)) if wanted else ():
        for name, candidates in wanted[item.input]:
            if item.record is not None:
                _add_owner(candidates, item.input, item.record.article())
            elif item.status == "error" and item.error is not None:
                candidates.unknown_owners[item.input] = item.error
            else:
                candidates.absent += [item.input] if item.input not in candidates.absent else []
                if name == "doi":
                    dois.setdefault(item.input, []).append(candidates)
    records, errors = fetch_crossref_records(services, dois) if crossref else ({}, {})
    for doi, citing in dois.items():
        for candidates in citing:
            error = errors.get(doi)
            if doi in records:
                _add_owner(candidates, doi, convert_to_article(records[doi]))
            elif isinstance(error, EntityNotFound | InvalidInput):
                candidates.unregistered.append(doi)
            elif error is not None:
                candidates.unknown_owners[doi] = error
            else:
                candidates.not_requested.append(doi)


def _look_up_agencies(services: Services, all_candidates: Sequence[Candidates]) -> None:
    """Look up the agencies of DOIs that Crossref does not have: only Crossref's own DOIs must have a record there."""
    wanted = _group_by_key(
        (doi, candidates) for candidates in all_candidates for doi in candidates.list_doubtful_dois()
    )
    agencies, errors = fetch_agencies(services, wanted)
    for doi, citing in wanted.items():
        for candidates in citing:
            if doi in agencies:
                candidates.agencies[doi] = agencies[doi]
            elif doi in errors:
                candidates.unknown_owners[doi] = errors[doi]


def _add_owner(candidates: Candidates, identifier: str, article: Article) -> None:
    meant = candidates.ranked[0].article
    is_meant = (
        article.pmid == meant.pmid
        if article.pmid and meant.pmid
        else compare_record(candidates.reference, article).same
    )
    if not is_meant:
        candidates.owners[identifier] = article


def _has_id(article: Article, name: IdentifierName, value: str) -> bool:
    return (getattr(article, name) or "").lower() == value.lower()


# Journal and place


def _look_up_places(services: Services, all_candidates: Sequence[Candidates]) -> None:
    """Look up journals and places in NCBI's citation matcher, with and without the author."""
    lines = [(candidates, citation) for candidates in all_candidates for citation in candidates.citations]
    lines += [
        (candidates, citation.model_copy(update={"author_name": None}))
        for candidates in all_candidates
        for citation in candidates.places
    ]
    _match_lines(services, lines, at_place=True)


def _look_up_altered_places(services: Services, all_candidates: Sequence[Candidates]) -> None:
    """Look up places without one part, which may be wrong.

    NCBI's citation matcher does not know all article numbers, so the page is also omitted together with another part.
    """
    alone = ("year", "volume", "first_page")
    parts = [(part,) for part in alone] + [("first_page", part) for part in ("year", "volume", "author_name")]
    lines = [
        (candidates, place.model_copy(update=dict.fromkeys(left_out)))
        for candidates in all_candidates
        for place in candidates.places
        if place.journal not in candidates.unknown_journals
        for left_out in parts
    ]
    _match_lines(services, lines, at_place=False)


def _match_lines(services: Services, lines: Sequence[tuple[Candidates, Citation]], *, at_place: bool) -> None:
    """Send citations to NCBI's citation matcher and add the records; without ``at_place`` only those of cited works."""
    if not lines:
        return
    citations = [citation for _, citation in lines]
    answers = ask_matcher(services, citations)
    name_candidates(services, citations, answers)
    wanted: _Wanted = {}
    certain: set[tuple[Candidates, str]] = set()
    for number, (candidates, citation) in enumerate(lines):
        reply = answers.get(number)
        if reply is None:
            continue
        if reply.error is not None:
            candidates.failure = reply.error if at_place else candidates.failure
            continue
        if at_place and reply.detail == UNKNOWN_JOURNAL:
            candidates.unknown_journals.add(citation.journal or "")
        for pmid in reply.pmids[:MAX_FITTING]:
            if candidates not in wanted.setdefault(pmid, []):
                wanted[pmid].append(candidates)
            if at_place and len(reply.pmids) == 1:
                certain.add((candidates, pmid))
    for candidates, item, article in _fetch_records(services, wanted):
        if at_place:
            candidates.failure = item.error or candidates.failure
        if article is not None:
            candidates.add(article, "citation", only_same=(candidates, item.input) not in certain)
    for candidates, _ in lines if at_place else ():
        if candidates.settled:
            candidates.failure = None


# Titles


def _search_titles(services: Services, all_candidates: Sequence[Candidates]) -> None:
    wanted = _group_by_key((candidates.title_term, candidates) for candidates in all_candidates)
    pmids, failed = _search_terms(services, wanted)
    for term, error in failed.items():
        for candidates in wanted[term]:
            candidates.failure = error
    for candidates, item, article in _fetch_records(services, pmids):
        candidates.failure = item.error or candidates.failure
        if article is None:
            continue
        if candidates.reference.text is None:
            candidates.add(article, "title", only_same=not is_matching_title(candidates.reference, article))
        elif candidates.may_have_title(article):
            candidates.add(article, "title", only_same=True)


def _search_terms(
    services: Services, wanted: _Wanted, *, all_of_them: bool = True
) -> tuple[_Wanted, dict[str, EntrezKitError]]:
    """Search for terms, several in one request; return the references of each PMID, and the errors of terms.

    If a search finds more records than it returns, each of its terms is searched separately, unless ``all_of_them`` is
    false.
    """

    def search_batch(batch: list[str]) -> tuple[list[str], int]:
        reply = services.eutils.esearch(db="pubmed", term=" OR ".join(batch), retmax=RECORDS_PER_SEARCH).value
        return reply.ids, reply.count

    failed: dict[str, EntrezKitError] = {}

    def search(terms: Sequence[str], size: int) -> list[tuple[list[str], tuple[list[str], int]]]:
        refusals = (EntityNotFound, InvalidInput)
        answers = collect_batches(terms, size, search_batch, refusals=refusals, at_once=services.eutils.at_once)
        failed.update(answers.failed)
        return answers.answers

    answers = search(list(wanted), TITLES_PER_SEARCH)
    if all_of_them:
        crowded = [term for batch, (ids, count) in answers if count > len(ids) and len(batch) > 1 for term in batch]
        answers = [reply for reply in answers if reply[1][1] <= len(reply[1][0]) or len(reply[0]) == 1]
        answers += search(crowded, 1)
    pmids: _Wanted = {}
    for batch, (ids, _) in answers:
        for pmid in ids:
            pmids.setdefault(pmid, []).extend(candidates for term in batch for candidates in wanted[term])
    return pmids, failed


def _add_nearest(services: Services, all_candidates: Sequence[Candidates]) -> None:
    """Search for parts of the title, to find the cited work despite mistakes in its title, or the most similar work."""
    wanted = _group_by_key(
        (_build_parts_term(fold_words(candidates.title)), candidates) for candidates in all_candidates
    )
    for candidates, _, article in _fetch_records(services, _search_terms(services, wanted, all_of_them=False)[0]):
        if article is None:
            continue
        likeness = measure_text_likeness(fold_text(candidates.title), fold_text(article.title), MIN_LIKENESS)
        if likeness < MIN_LIKENESS:
            continue
        candidates.add(article, "title", only_same=True)
        if candidates.nearest is None or likeness > candidates.nearest[0]:
            candidates.nearest = (likeness, article)


def _build_parts_term(words: Sequence[str]) -> str | None:
    middle = len(words) // 2
    if middle < MIN_WORDS:
        return None
    parts = (words[:middle], words[middle:], sorted(words, key=len)[-MIN_WORDS:])
    return " OR ".join(f"({' '.join(part)}[Title])" for part in parts)

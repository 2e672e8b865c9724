"""Find the full text of articles: PMC, then Europe PMC, then open-access copies; one outcome per id, in order.

If a source fails, the lookup records its error and continues with the next source.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from entrez_kit.base.errors import NotConfigured
from entrez_kit.base.identifiers import Identifier
from entrez_kit.base.progress import report_progress, stop_if_cancelled
from entrez_kit.fulltext.article_lookup import ArticleLookup
from entrez_kit.fulltext.find_ids import add_records, set_dois, set_pmcids
from entrez_kit.pubmed.standing_lookup import look_up_standings
from entrez_kit.services import Services
from entrez_kit.services.transport.in_flight import run_all, run_in_order, start_all

if TYPE_CHECKING:
    from entrez_kit.fulltext.tiers import EuropePMCHits, Read
    from entrez_kit.pubmed.standing_lookup import Standings

BATCH: Final = 10
"""Articles per request; one may have several megabytes."""
AT_ONCE: Final = 2
"""Batches in progress: the next one is requested while one is parsed."""


def look_up_articles(services: Services, identifiers: Sequence[Identifier]) -> Iterator[ArticleLookup]:
    """Yield the lookup of each id, in order. A repeated id is requested once.

    Raises:
        NotConfigured: a local copy of PubMed answers, and it has no full text.
    """
    if services.settings.copy_label:
        raise no_full_text_error(services.settings.copy_label)
    batches = [identifiers[start : start + BATCH] for start in range(0, len(identifiers), BATCH)]
    calls = (partial(_look_up_batch, services, batch, is_only=len(batches) == 1) for batch in batches)
    done = 0
    report_progress(done, len(identifiers))
    for batch in run_in_order(calls, min(len(batches), AT_ONCE)):
        done += len(batch)
        report_progress(done, len(identifiers))
        yield from batch


def no_full_text_error(copy: str) -> NotConfigured:
    """Return the error for full text from a local copy."""
    return NotConfigured(
        f"The local copy {copy} has no full text: the records of PubMed end with the abstract.",
        recovery_hint="Run the command without the local copy to send requests.",
        details={"reason": "not_in_copy", "part": "full text"},
    )


def _import_parsers() -> None:
    from entrez_kit.fulltext import tiers  # noqa: F401  # takes time, so it happens during the converter's request


def _look_up_batch(services: Services, batch: Sequence[Identifier], *, is_only: bool) -> list[ArticleLookup]:
    """Look up a batch of articles; requests that do not depend on another reply are sent at once."""
    by_key = {identifier.key: ArticleLookup(identifier) for identifier in reversed(batch)}
    lookups = [by_key[key] for key in dict.fromkeys(identifier.key for identifier in batch)]
    _run_parallel([partial(set_pmcids, services, lookups), _import_parsers])
    from entrez_kit.fulltext.tiers import EuropePMCHits, ask_unpaywall

    in_pmc = [lookup for lookup in lookups if lookup.pmcid is not None]
    hits = EuropePMCHits(services, lookups)
    # Most of these texts will be found, and the publication status does not depend on the text: request it now.
    early = {lookup.pmid: None for lookup in lookups if lookup.pmid is not None} if in_pmc else {}
    standings: list[Standings] = []
    run_all(
        [
            partial(_read_pmc, services, in_pmc, hits, is_only=is_only),
            partial(
                _run_parallel, [partial(_look_up, services, lookup, hits) for lookup in lookups if lookup.pmcid is None]
            ),
            partial(_fetch_standings, services, list(early), standings),
        ]
    )
    stop_if_cancelled()
    without_doi = [lookup for lookup in lookups if not lookup.is_found and lookup.doi is None]
    if services.settings.unpaywall_email is not None:
        set_dois(services, without_doi)  # one request for all
    requested = run_in_order([partial(ask_unpaywall, services, lookup) for lookup in without_doi], len(without_doi))
    for lookup, answer in zip(without_doi, requested, strict=True):
        lookup.note("unpaywall", answer)
    add_records(services, [lookup for lookup in lookups if not lookup.is_found])
    with_text = [lookup for lookup in lookups if lookup.is_found]
    _fetch_standings(
        services, [pmid for lookup in with_text if (pmid := lookup.known_pmid) and pmid not in early], standings
    )
    for lookup in with_text:
        for standing in standings:
            lookup.standing = standing.known.get(lookup.known_pmid or "", lookup.standing)
            lookup.standing_error = standing.unknown.get(lookup.known_pmid or "", lookup.standing_error)
    return [by_key[identifier.key] for identifier in batch]


def _read_pmc(services: Services, lookups: Sequence[ArticleLookup], hits: "EuropePMCHits", *, is_only: bool) -> None:
    """Request all articles from PMC at once, then continue each article separately.

    For a single batch, the versions in PMC's bucket are requested at the same time, to save waiting. If there are more
    batches, the bucket is asked only about articles that PMC did not return.
    """
    from entrez_kit.fulltext.tiers import find_bucket_version, read_pmc

    read: Read = {}
    finders = [partial(find_bucket_version, services, lookup, read) for lookup in lookups]
    versions: Sequence[Callable[[], str]] = start_all(finders) if is_only else finders
    read |= read_pmc(services, lookups)
    _run_parallel(
        [partial(_look_up, services, lookup, hits, read, find) for lookup, find in zip(lookups, versions, strict=True)]
    )


def _look_up(
    services: Services,
    lookup: ArticleLookup,
    hits: "EuropePMCHits",
    read: "Read | None" = None,
    version: Callable[[], str] | None = None,
) -> None:
    """Take PMC's answer for an article; if it has no text, ask the other sources in turn."""
    from entrez_kit.fulltext.tiers import ask_europepmc, ask_unpaywall, take_pmc

    lookup.note("pmc", take_pmc(services, lookup, read, version))
    if not lookup.is_found:
        lookup.note("europepmc", ask_europepmc(services, lookup, hits))
    if not lookup.is_found and lookup.doi is not None:
        lookup.note("unpaywall", ask_unpaywall(services, lookup))


def _run_parallel(calls: Sequence[Callable[[], object]]) -> None:
    for _ in run_in_order(calls, len(calls)):
        stop_if_cancelled()


def _fetch_standings(services: Services, pmids: Sequence[str], standings: "list[Standings]") -> None:
    """Fetch the publication status of articles from PubMed: the text of a retracted article does not change."""
    if pmids:
        standings.append(look_up_standings(services, pmids))

"""From ids to texts: PMC, then Europe PMC, then open-access copies; one outcome per id, in order.

A source that fails is one more answer on an article's trail, and never the end of the others.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

from entrez_kit.base import tracing
from entrez_kit.base.identifiers import Identifier
from entrez_kit.fulltext.article_lookup import ArticleLookup
from entrez_kit.services import Services
from entrez_kit.services.transport.in_flight import all_at_once, begun, in_order

if TYPE_CHECKING:
    from entrez_kit.fulltext.tiers import EuropePMCHits, Read
    from entrez_kit.pubmed.standing_lookup import Standings

BATCH: Final = 10
"""Articles asked for at a time: one has up to some megabytes."""
AT_ONCE: Final = 2
"""Batches under way: the next one is asked for while one is being read."""


def follow(services: Services, wanted: Sequence[Identifier]) -> Iterator[ArticleLookup]:
    """Yield what became of each id, in order, in batches. The same id twice is asked for once."""
    batches = [wanted[start : start + BATCH] for start in range(0, len(wanted), BATCH)]
    calls = (partial(_follow, services, batch, is_only=len(batches) == 1) for batch in batches)
    done = 0
    tracing.step(done, len(wanted))
    for batch in in_order(calls, min(len(batches), AT_ONCE)):
        done += len(batch)
        tracing.step(done, len(wanted))
        yield from batch


def _follow(services: Services, batch: Sequence[Identifier], *, is_only: bool) -> list[ArticleLookup]:
    """Follow the articles of a batch. What depends on no answer is asked before it is there."""
    from entrez_kit.fulltext.find_ids import find_dois, find_pmcids

    by_key = {identifier.key: ArticleLookup(identifier) for identifier in reversed(batch)}
    trails = [by_key[key] for key in dict.fromkeys(identifier.key for identifier in batch)]
    # Loading what reads texts takes a while: it is done while the converter is asked.
    _side_by_side([partial(find_pmcids, services, trails), partial(import_module, "entrez_kit.fulltext.tiers")])
    from entrez_kit.fulltext.tiers import EuropePMCHits, ask_unpaywall

    in_pmc = [trail for trail in trails if trail.pmcid is not None]
    hits = EuropePMCHits(services, trails)
    # Most of what PMC has will be found, and how it stands depends on no text: that is asked meanwhile.
    early = {trail.pmid: None for trail in trails if trail.pmid is not None} if in_pmc else {}
    standings: list[Standings] = []
    all_at_once(
        [
            partial(_ask_pmc, services, in_pmc, hits, is_only=is_only),
            partial(_side_by_side, [partial(_look, services, trail, hits) for trail in trails if trail.pmcid is None]),
            partial(_ask_standings, services, list(early), standings),
        ]
    )
    tracing.checkpoint()
    without_doi = [trail for trail in trails if not trail.is_found and trail.doi is None]
    if services.settings.unpaywall_email is not None:
        find_dois(services, without_doi)  # all in one request
    asked = in_order([partial(ask_unpaywall, services, trail) for trail in without_doi], len(without_doi))
    for trail, answer in zip(without_doi, asked, strict=True):
        trail.note("unpaywall", answer)
    found = [trail for trail in trails if trail.is_found]
    _ask_standings(services, [pmid for trail in found if (pmid := trail.known_pmid) and pmid not in early], standings)
    for trail in found:
        for said in standings:
            trail.standing = said.known.get(trail.known_pmid or "", trail.standing)
            trail.standing_error = said.unknown.get(trail.known_pmid or "", trail.standing_error)
    return [by_key[identifier.key] for identifier in batch]


def _ask_pmc(services: Services, trails: Sequence[ArticleLookup], hits: "EuropePMCHits", *, is_only: bool) -> None:
    """Ask PMC for all in one request; from there no article waits for another, each goes its own way.

    Who asks for few articles waits for the slowest: while PMC is asked, its bucket is asked which of them it has. Where
    another batch is read meanwhile, it is asked about those alone that PMC has not.
    """
    from entrez_kit.fulltext.tiers import find_version, read_pmc

    read: Read = {}
    finders = [partial(find_version, services, trail, read) for trail in trails]
    versions: Sequence[Callable[[], str]] = begun(finders) if is_only else finders
    read |= read_pmc(services, trails)
    _side_by_side(
        [partial(_look, services, trail, hits, read, find) for trail, find in zip(trails, versions, strict=True)]
    )


def _look(
    services: Services,
    trail: ArticleLookup,
    hits: "EuropePMCHits",
    read: "Read | None" = None,
    version: Callable[[], str] | None = None,
) -> None:
    """Take what PMC said of an article; where that is no text, ask the sources after it in turn."""
    from entrez_kit.fulltext.tiers import ask_europepmc, ask_unpaywall, take_pmc

    trail.note("pmc", take_pmc(services, trail, read, version))
    if not trail.is_found:
        trail.note("europepmc", ask_europepmc(services, trail, hits))
    if not trail.is_found and trail.doi is not None:
        trail.note("unpaywall", ask_unpaywall(services, trail))


def _side_by_side(calls: Sequence[Callable[[], object]]) -> None:
    for _ in in_order(calls, len(calls)):
        tracing.checkpoint()


def _ask_standings(services: Services, pmids: Sequence[str], said: "list[Standings]") -> None:
    """Ask PubMed how articles stand, all in one request: a text does not change when it is retracted."""
    if pmids:
        from entrez_kit.pubmed.standing_lookup import look_up_standings

        said.append(look_up_standings(services, pmids))

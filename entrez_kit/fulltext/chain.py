"""From ids to texts: PMC, then Europe PMC, then open-access copies; one outcome per id, in order.

A source that fails is one more answer on an article's trail, and never the end of the others.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from entrez_kit import tracing
from entrez_kit.fulltext.trail import Trail, key_of
from entrez_kit.identifiers import Identifier
from entrez_kit.services import Services

BATCH: Final = 10
"""Articles asked for at a time: one has up to some megabytes."""


def follow(services: Services, wanted: Sequence[Identifier]) -> Iterator[Trail]:
    """Yield what became of each id, in order, in batches. The same id twice is asked for once."""
    for start in range(0, len(wanted), BATCH):
        tracing.step(start, len(wanted))
        batch = wanted[start : start + BATCH]
        trails = {key_of(identifier): Trail(identifier) for identifier in reversed(batch)}
        _follow(services, [trails[key] for key in dict.fromkeys(map(key_of, batch))])
        for identifier in batch:
            yield trails[key_of(identifier)]


def _follow(services: Services, trails: Sequence[Trail]) -> None:
    from entrez_kit.fulltext.lookup import find_dois, find_pmcids
    from entrez_kit.fulltext.tiers import ask_europepmc, ask_pmc, ask_unpaywall

    find_pmcids(services, trails)
    ask_pmc(services, trails)
    for trail in _still(trails):
        ask_europepmc(services, trail)
    if services.settings.unpaywall_email is not None:
        find_dois(services, _still(trails))
    for trail in _still(trails):
        ask_unpaywall(services, trail)
    _ask_standings(services, [trail for trail in trails if trail.is_found])


def _ask_standings(services: Services, trails: Sequence[Trail]) -> None:
    """Ask PubMed how the articles stand, all in one request: a text does not change when it is retracted."""
    from entrez_kit.pubmed.standing_lookup import look_up_standings

    found = look_up_standings(services, [pmid for trail in trails if (pmid := trail.known_pmid) is not None])
    for trail in trails:
        trail.standing = found.known.get(trail.known_pmid or "")
        trail.standing_error = found.unknown.get(trail.known_pmid or "")


def _still(trails: Sequence[Trail]) -> list[Trail]:
    tracing.checkpoint()
    return [trail for trail in trails if not trail.is_found]

"""From ids to texts: PMC, then Europe PMC, then open-access copies; one outcome per id, in order.

A source that fails is one more answer on an article's trail, and never the end of the others.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from entrez_kit import tracing
from entrez_kit.fulltext.trail import Trail
from entrez_kit.identifiers import Identifier
from entrez_kit.services import Services
from entrez_kit.transport.in_flight import in_order

if TYPE_CHECKING:
    from entrez_kit.fulltext.tiers import Read
    from entrez_kit.pubmed.standing_lookup import Standings

BATCH: Final = 10
"""Articles asked for at a time: one has up to some megabytes."""
AT_ONCE: Final = 2
"""Batches under way: the next one is asked for while one is being read."""


def follow(services: Services, wanted: Sequence[Identifier]) -> Iterator[Trail]:
    """Yield what became of each id, in order, in batches. The same id twice is asked for once."""
    batches = [wanted[start : start + BATCH] for start in range(0, len(wanted), BATCH)]
    done = 0
    tracing.step(done, len(wanted))
    for batch in in_order((partial(_follow, services, batch) for batch in batches), min(len(batches), AT_ONCE)):
        done += len(batch)
        tracing.step(done, len(wanted))
        yield from batch


def _follow(services: Services, batch: Sequence[Identifier]) -> list[Trail]:
    from entrez_kit.fulltext.lookup import find_dois, find_pmcids
    from entrez_kit.fulltext.tiers import ask_unpaywall

    by_key = {identifier.key: Trail(identifier) for identifier in reversed(batch)}
    trails = [by_key[key] for key in dict.fromkeys(identifier.key for identifier in batch)]
    find_pmcids(services, trails)
    in_pmc = [trail for trail in trails if trail.pmcid is not None]
    # Most of what PMC has will be found, and how it stands depends on no text: that is asked meanwhile.
    early = {trail.pmid: None for trail in trails if trail.pmid is not None} if in_pmc else {}
    standings: list[Standings] = []
    _side_by_side(
        [
            partial(_ask_standings, services, list(early), standings),
            partial(_ask_pmc, services, in_pmc),
            *(partial(_look, services, {}, trail) for trail in trails if trail.pmcid is None),
        ]
    )
    if services.settings.unpaywall_email is not None:
        find_dois(services, _still(trails))  # all in one request
    _side_by_side([partial(ask_unpaywall, services, trail) for trail in _still(trails)])
    found = [trail for trail in trails if trail.is_found]
    _ask_standings(services, [pmid for trail in found if (pmid := trail.known_pmid) and pmid not in early], standings)
    for trail in found:
        for said in standings:
            trail.standing = said.known.get(trail.known_pmid or "", trail.standing)
            trail.standing_error = said.unknown.get(trail.known_pmid or "", trail.standing_error)
    return [by_key[identifier.key] for identifier in batch]


def _ask_pmc(services: Services, trails: Sequence[Trail]) -> None:
    """Ask PMC for all in one request; from there no article waits for another, each goes its own way."""
    from entrez_kit.fulltext.tiers import read_pmc

    read = read_pmc(services, trails)
    _side_by_side([partial(_look, services, read, trail) for trail in trails])


def _look(services: Services, read: "Read", trail: Trail) -> None:
    """Take what PMC said, and ask its bucket and then Europe PMC where that is no text."""
    from entrez_kit.fulltext.tiers import ask_europepmc, take_pmc

    take_pmc(services, trail, read)
    if not trail.is_found:
        ask_europepmc(services, trail)


def _side_by_side(calls: Sequence[Callable[[], None]]) -> None:
    for _ in in_order(calls, len(calls)):
        tracing.checkpoint()


def _still(trails: Sequence[Trail]) -> list[Trail]:
    tracing.checkpoint()
    return [trail for trail in trails if not trail.is_found]


def _ask_standings(services: Services, pmids: Sequence[str], said: "list[Standings]") -> None:
    """Ask PubMed how articles stand, all in one request: a text does not change when it is retracted."""
    if pmids:
        from entrez_kit.pubmed.standing_lookup import look_up_standings

        said.append(look_up_standings(services, pmids))

"""From ids to texts: PMC, then Europe PMC, then open-access copies; one outcome per id, in order.

A source that fails is one more answer on an article's trail, and never the end of the others.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from entrez_kit import tracing
from entrez_kit.fulltext.trail import Trail, key_of
from entrez_kit.identifiers import Identifier
from entrez_kit.services import Services
from entrez_kit.transport.in_flight import in_order

if TYPE_CHECKING:
    from entrez_kit.fulltext.tiers import Read

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
    from entrez_kit.fulltext.tiers import ask_unpaywall, read_pmc

    by_key = {key_of(identifier): Trail(identifier) for identifier in reversed(batch)}
    trails = [by_key[key] for key in dict.fromkeys(map(key_of, batch))]
    find_pmcids(services, trails)
    read = read_pmc(services, trails)
    # No article waits for another: each goes its own way through the sources that take one at a time.
    _side_by_side(partial(_look, services, read), trails)
    if services.settings.unpaywall_email is not None:
        find_dois(services, _still(trails))  # all in one request
    _side_by_side(partial(ask_unpaywall, services), _still(trails))
    _ask_standings(services, [trail for trail in trails if trail.is_found])
    return [by_key[key_of(identifier)] for identifier in batch]


def _look(services: Services, read: "Read", trail: Trail) -> None:
    """Take what PMC said, and ask its bucket and then Europe PMC where that is no text."""
    from entrez_kit.fulltext.tiers import ask_europepmc, take_pmc

    take_pmc(services, trail, read)
    if not trail.is_found:
        ask_europepmc(services, trail)


def _side_by_side(ask: Callable[[Trail], None], trails: Sequence[Trail]) -> None:
    for _ in in_order((partial(ask, trail) for trail in trails), len(trails)):
        tracing.checkpoint()


def _still(trails: Sequence[Trail]) -> list[Trail]:
    tracing.checkpoint()
    return [trail for trail in trails if not trail.is_found]


def _ask_standings(services: Services, trails: Sequence[Trail]) -> None:
    """Ask PubMed how the articles stand, all in one request: a text does not change when it is retracted."""
    from entrez_kit.pubmed.standing_lookup import look_up_standings

    found = look_up_standings(services, [pmid for trail in trails if (pmid := trail.known_pmid) is not None])
    for trail in trails:
        trail.standing = found.known.get(trail.known_pmid or "")
        trail.standing_error = found.unknown.get(trail.known_pmid or "")

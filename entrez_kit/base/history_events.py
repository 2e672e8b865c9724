"""The events in the history of a PubMed record that are its dates of entry (EDAT) and of creation (CRDT).

Both are the day on which PubMed added the record, except that PubMed sets EDAT back to the date of publication if it
added the record late. EDAT is the event ``pubmed``, CRDT is the event ``entrez``.
"""

from collections.abc import Iterable
from typing import Final, TypeVar

Event = TypeVar("Event")

ENTERED: Final = ("pubmed", "entrez")
"""The events that give EDAT, in order of preference."""
CREATED: Final = ("entrez", "pubmed")
"""The events that give CRDT, in order of preference."""


def find_event(history: Iterable[tuple[str, Event]], kinds: Iterable[str]) -> Event | None:
    """Return the first event of the first of these kinds that a history has; None if it has none of them.

    Args:
        history: the kind (``PubStatus``) of each event, and the event.
        kinds: the kinds, in order of preference.
    """
    events: dict[str, Event] = {}
    for kind, event in history:
        events.setdefault(kind, event)
    return next((events[kind] for kind in kinds if kind in events), None)

"""The places of a JSON document, and copies of it with another value at one of them."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

Place = tuple[Any, ...]
"""The keys and indexes that lead to a value."""


def list_places(document: Any, above: Place = ()) -> Iterator[Place]:
    """Yield every place of a document; the whole document is the first."""
    yield above
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, inner in items:
        yield from list_places(inner, (*above, key))


def find_value(document: Any, place: Place) -> Any:
    """Return the value at a place."""
    for key in place:
        document = document[key]
    return document


def replace_value(document: Any, place: Place, value: Any) -> Any:
    """Return a copy of a document with another value at a place."""
    if not place:
        return value
    changed = deepcopy(document)
    find_value(changed, place[:-1])[place[-1]] = value
    return changed

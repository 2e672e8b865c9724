"""Shorten a value to a number of characters: its longest texts first, then its longest lists."""

import json
from collections.abc import Iterator
from typing import Any, Final

MIN_CUT: Final = 300
"""The minimum length of a shortened text or list; a record with only shorter ones is not cut."""


def count_characters(value: Any) -> int:
    """Return the characters of a value as compact JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def shorten_value(value: Any, room: int) -> tuple[Any, list[str]]:
    """Cut the longest texts, then the longest lists of a value until it fits; return the value and their names."""
    value = json.loads(json.dumps(value, ensure_ascii=False, default=str))
    cuts: dict[str, str] = {}
    while (excess := count_characters(value) - room) > 0:
        places = list(_find_places(value))
        texts = [place for place in places if isinstance(text := place[0][place[1]], str) and len(text) > MIN_CUT]
        lists = [place for place in places if isinstance(place[0][place[1]], list)]
        lists = [place for place in lists if count_characters(place[0][place[1]]) > MIN_CUT]
        holder, key, name = max(texts or lists, key=lambda place: len(place[0][place[1]]), default=(None, None, ""))
        if holder is None:
            break
        content = holder[key]
        if isinstance(content, str):
            holder[key] = content[: max(MIN_CUT - 10, len(content) - excess - 10)].rstrip("…") + "…"
            cuts[name] = f"{name} at …"
        else:
            total = cuts.get(name, f" of {len(content)}").rpartition(" of ")[2]
            while len(content) > 1 and excess > 0:
                excess -= count_characters(content.pop()) + 1
            cuts[name] = f"{name} after {len(content)} of {total}"
    return value, list(cuts.values())


def _find_places(value: Any, above: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Yield each text, and each list of several, in a value: its container, its key, and its path."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        name = above if isinstance(value, list) else f"{above}.{key}" if above else str(key)
        if isinstance(inner, str) or (isinstance(inner, list) and len(inner) > 1):
            yield value, key, name
        if not isinstance(inner, str):
            yield from _find_places(inner, name)

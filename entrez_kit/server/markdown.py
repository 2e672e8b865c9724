"""A document as Markdown, for the tools whose replies people read: every fact of the data, and nothing else."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

HEADINGS: Final = ("title", "symbol")
"""Members that name the record they belong to."""
BARE: Final = frozenset({"text", "abstract", "content"})
"""Members whose texts need no name above them."""
PERSON: Final = frozenset({"given_names", "first_name", "last_name", "initials", "suffix", "collective_name"})
"""Members of somebody's name; in a line they need no names of their own."""
MOST_LEVELS: Final = 6
LONGEST_LINE: Final = 200
_FENCE: Final = re.compile("`{3,}")


def markdown_of(document: Mapping[str, Any]) -> str:
    """Return a document as Markdown: records under headings, their small facts as lists, texts as they are.

    Args:
        document: plain data, as JSON has it.
    """
    return "\n".join(_record("", document, 0)).strip("\n")


def _record(name: str, record: Mapping[str, Any], level: int) -> Iterator[str]:
    """Yield the lines of an object: heading, small facts, texts, and what is inside of it."""
    heading = next((key for key in HEADINGS if isinstance(record.get(key), str) and record[key]), None)
    label = record["label"] if heading and isinstance(record.get("label"), str) else ""
    rest = {key: value for key, value in record.items() if key != heading and (key != "label" or not label)}
    if heading:
        named = f"{label} {record[heading]}" if label else record[heading]
        yield f"\n{'#' * min(max(level, 1), MOST_LEVELS)} {named}"
    elif name:
        yield f"\n{'#' * min(max(level, 1), MOST_LEVELS)} {_spoken(name)}"
    large = {key: value for key, value in rest.items() if isinstance(value, str) and key in BARE}
    large |= {key: value for key, value in rest.items() if not _fits_a_line(value)}
    for key, value in rest.items():
        if key not in large:
            yield f"- {_spoken(key)}: {_line(value)}"
    for key, value in large.items():
        yield from _large(key, value, level + 1)


def _large(name: str, value: Any, level: int) -> Iterator[str]:
    if isinstance(value, str):
        # What is made for programs has lines of its own; in a fence they stay.
        fence = max((match[0] for match in _FENCE.finditer(value)), key=len, default="``") + "`"
        if name in BARE:
            yield from ("", value) if value else ()
        else:
            yield from ("", f"**{_spoken(name)}**", "", f"{fence}\n{value}\n{fence}" if "\n" in value else value)
    elif isinstance(value, Mapping):
        yield from _record(name, value, level)
    elif all(_fits_a_line(item) and not _is_headed(item) for item in value):
        yield from ("", f"**{_spoken(name)}**", "", *(f"- {_line(item)}" for item in value))
    else:
        for number, item in enumerate(value, start=1):
            if isinstance(item, Mapping):
                yield from _record("" if _is_headed(item) else f"{name} {number}", item, level)
            elif _fits_a_line(item):
                yield from ("", _line(item))
            else:
                yield from _large(f"{name} {number}", item, level)


def _fits_a_line(value: Any) -> bool:
    """Tell whether a value is said in a line: a short text, a number, or a small group of these."""
    if isinstance(value, Mapping):
        return all(_is_small(inner) for inner in value.values()) and len(_line(value)) <= LONGEST_LINE
    if isinstance(value, list):
        return all(_is_small(item) or _is_name(item) for item in value) and len(_line(value)) <= LONGEST_LINE
    return _is_small(value)


def _is_headed(value: Any) -> bool:
    return isinstance(value, Mapping) and any(isinstance(value.get(key), str) and value[key] for key in HEADINGS)


def _is_name(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) <= PERSON and all(map(_is_small, value.values()))


def _is_small(value: Any) -> bool:
    return not isinstance(value, Mapping | list) and (
        not isinstance(value, str) or (len(value) <= LONGEST_LINE and "\n" not in value)
    )


def _line(value: Any) -> str:
    if _is_name(value):
        return " ".join(map(_line, value.values())) or "none"
    if isinstance(value, Mapping):
        return "; ".join(f"{_spoken(key)} {_line(inner)}" for key, inner in value.items()) or "none"
    if isinstance(value, list):
        return "; ".join(map(_line, value)) or "none"
    if value is None or value == "":
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _spoken(name: str) -> str:
    return name.replace("_", " ")

"""Read the values of Europe PMC's JSON: texts, numbers, Y and N, lists and objects."""

from collections.abc import Mapping
from typing import Any

from entrez_kit.pubmed.encoded_markup import convert_to_plain_text

Fields = dict[str, Any]
Raw = Mapping[str, Any]


def to_text(value: object) -> str:
    """Return a string or number as trimmed text; other values become an empty text."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def to_integer(value: object) -> int | None:
    """Return an integer from a number or a text of digits."""
    written = to_text(value)
    return int(written) if written.isascii() and written.isdigit() else None


def to_boolean(value: object) -> bool | None:
    """Convert Y and N to a boolean, other values to None."""
    return {"Y": True, "N": False}.get(to_text(value).upper())


def unwrap_list(raw: Raw, outer: str, inner: str = "") -> list[Any]:
    """Return the members of a list. Europe PMC may wrap the list, or give a single member without a list."""
    holder = raw.get(outer)
    if inner and isinstance(holder, Mapping):
        holder = holder.get(inner)
    if holder is None or holder == "":
        return []
    return holder if isinstance(holder, list) else [holder]


def list_mappings(raw: Raw, outer: str, inner: str = "") -> list[Raw]:
    """Return the members of a list that are objects."""
    return [item for item in unwrap_list(raw, outer, inner) if isinstance(item, Mapping)]


def get_mapping(raw: Raw, name: str) -> Raw:
    """Return an object inside a record; otherwise an empty one."""
    value = raw.get(name)
    return value if isinstance(value, Mapping) else {}


def rename_fields(raw: Raw, names: Mapping[str, str]) -> Fields:
    """Return the fields of a record under our names; omit empty fields."""
    return {ours: text for ours, theirs in names.items() if (text := find_first_text(raw.get(theirs)))}


def find_first_text(*values: object) -> str | None:
    """Return the first value that has a text, as plain text."""
    return next((text for value in values if (text := convert_to_plain_text(to_text(value)))), None)

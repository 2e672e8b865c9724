"""The fields of records that agents request or omit: find, check and select them by their paths."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final

from pydantic import BaseModel

from entrez_kit.base.frontend_text import MAX_VALUE, cut_middle
from entrez_kit.core.operation import Operation
from entrez_kit.server.arguments import wrong_argument_error

_DEEPEST: Final = 4
"""The maximum depth of a member that ``fields`` can name."""


def list_record_fields(operation: Operation[Any, Any]) -> Mapping[str, Any]:
    """Return the names of all members of records, with dots for nested ones, and their empty values: ``[]`` or null."""
    from entrez_kit.server.schemas import build_result_schema

    result: type[BaseModel] = operation.result
    schema = build_result_schema(result)
    definitions = schema.get("$defs", {})
    fields: dict[str, Any] = {}

    def walk(part: Mapping[str, Any], above: str) -> None:
        while "$ref" in part:
            part = definitions[part["$ref"].rpartition("/")[2]]
        for option in (*part.get("anyOf", ()), *part.get("oneOf", ()), *([part["items"]] if "items" in part else ())):
            walk(option, above)
        for name, inner in part.get("properties", {}).items():
            place = above + name
            if place not in fields and place.count(".") < _DEEPEST:
                kinds = {option.get("type") for option in (inner, *inner.get("anyOf", ()))}
                fields[place] = [] if "array" in kinds else None
                walk(inner, f"{place}.")

    walk(schema["properties"].get(operation.result.RECORDS, {}), "")
    return MappingProxyType(fields)


def check_fields(records: Sequence[Any], fields: Sequence[str], may_have: Collection[str]) -> None:
    """Refuse the name of a field that no record has.

    Raises:
        InvalidInput: a field is unknown; the message has the most similar one.
    """
    known_names = {*may_have, *(name for record in records for name in _yield_names(record))} if fields else set()
    for requested in fields:
        name = requested.removeprefix("-")
        if known_names and name not in known_names:
            top = sorted(name for name in known_names if "." not in name)
            near = get_close_matches(name, known_names, n=1)
            meant = f"; did you mean {near[0]}?" if near else "."
            problem = f"names an unknown field: {cut_middle(name, MAX_VALUE)}{meant}"
            raise wrong_argument_error("fields", name, problem, hint=f"These records have {', '.join(top)}.")


def _yield_names(value: Any, above: str = "") -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _yield_names(item, above)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield above + name
            yield from _yield_names(inner, f"{above}{name}.")


def keep_fields(value: Any, kept: set[str], omitted: set[str], above: str = "") -> Any:
    """Return a value with the wanted members only, all if ``kept`` is empty, and without those of ``omitted``.

    Args:
        above: the path of the value, with a dot at its end.
    """
    if isinstance(value, list):
        return [keep_fields(item, kept, omitted, above) for item in value]
    if not isinstance(value, dict):
        return value
    result = {}
    for name, inner in value.items():
        path = above + name
        if path in omitted:
            continue
        if not kept or path in kept:
            result[name] = keep_fields(inner, set(), omitted, f"{path}.")
        elif any(other.startswith(f"{path}.") for other in kept):
            result[name] = keep_fields(inner, kept, omitted, f"{path}.")
    return result

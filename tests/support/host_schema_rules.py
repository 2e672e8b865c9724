"""How hosts use the schemas of tools: every argument filled in, and the conversion of strict modes."""

import re
from typing import Any


def fill_arguments(schema: dict[str, Any], *, neutral: bool) -> dict[str, Any]:
    """Return a value for every argument: an empty one if the schema has one, or else a meaningful one."""
    required = schema.get("required", ())
    return {
        name: _choose_value(part, neutral=neutral and name not in required)
        for name, part in schema["properties"].items()
    }


def complete_arguments(arguments: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return arguments with an empty value for each missing one, at any depth."""
    whole = {**fill_arguments(schema, neutral=True), **arguments}
    for name, part in schema["properties"].items():
        if part.get("items", {}).get("type") == "object":
            whole[name] = [complete_arguments(one, part["items"]) for one in whole[name]]
        elif part["type"] == "object":
            whole[name] = complete_arguments(whole[name], part)
    return whole


def _choose_value(part: dict[str, Any], *, neutral: bool) -> Any:
    if part["type"] == "object":
        return fill_arguments(part, neutral=neutral)
    if "default" in part:
        return part["default"]
    if "enum" in part:
        return part["enum"][0 if neutral else -1]
    if part["type"] == "array":
        return [] if neutral else [_choose_value(part["items"], neutral=False)]
    if part["type"] == "integer":
        if not neutral:
            return part.get("maximum", 7)
        return part.get("maximum") if part.get("minimum", 0) else 0  # the maximum number, or nothing
    if part["type"] == "boolean":
        return not neutral
    patterns = ("", "NCBIGene:7157", "pmid:99000001", "2024", "word")
    return next(text for text in patterns[not neutral :] if re.search(part.get("pattern", ""), text))


STRICT_KEYS = {"type", "description", "enum", "items", "properties", "required", "additionalProperties", "pattern"}
STRICT_KEYS |= {"minimum", "maximum", "minItems", "maxItems"}


def convert_strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Convert a schema as hosts do in strict mode: every argument is required, nothing else known, none may be null."""
    kept = {key: value for key, value in schema.items() if key in STRICT_KEYS}
    if schema.get("type") == "object":
        kept["properties"] = {name: convert_strict(part) for name, part in schema["properties"].items()}
        kept["required"] = list(schema["properties"])
        kept["additionalProperties"] = False
    if "items" in schema:
        kept["items"] = convert_strict(schema["items"])
    return kept


def list_parts(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a schema and all inside it."""
    inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return [schema, *(found for part in inner for found in list_parts(part))]

"""JSON Schemas of tools, made from the models and kept small: every byte of them is read by a model before each task."""

import re
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Final, Union, get_args, get_origin

from annotated_types import Le, MaxLen
from pydantic import BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo

from entrez_kit.errors import EntrezKitError
from entrez_kit.operation import Operation, Request, invalid_arguments

Schema = dict[str, Any]

ENVELOPE: Final[Mapping[str, Schema]] = {"success": {"const": False}, "error": {"type": "object"}}
"""Properties of an error, which every output schema admits: some clients check errors against it as well."""

_KEPT: Final = (
    "type",
    "description",
    "enum",
    "const",
    "default",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "pattern",
    "items",
    "properties",
    "required",
    "additionalProperties",
    "anyOf",
)
_DATACLASS_WORDS: Final = frozenset({"title", "$defs"})


def capped(operation: Operation[Any, Any]) -> Operation[Any, Any]:
    """Return the operation with the bounds that hold for MCP calls built into its request model.

    So the schema shows them and validation enforces them, in one place.
    """
    if not operation.mcp_caps:
        return operation
    fields: dict[str, Any] = {}
    for name, cap in operation.mcp_caps.items():
        info = copy(operation.request.model_fields[name])
        bound = MaxLen(cap) if _is_list(info.annotation) else Le(cap)
        info.metadata = [*(item for item in info.metadata if not isinstance(item, type(bound))), bound]
        info.description = _ending_at(cap, info.description)
        fields[name] = (info.annotation, info)
    request: type[Request] = create_model(
        operation.request.__name__, __base__=operation.request, __doc__=operation.request.__doc__, **fields
    )
    return replace(operation, request=request, argument_error=_with_caps(operation))


def _with_caps(operation: Operation[Any, Any]) -> Any:
    """Return what turns wrong arguments into an error that says where a bound holds for agents only."""
    plain = operation.argument_error or invalid_arguments

    def turn(exc: ValidationError) -> EntrezKitError:
        error = plain(exc)
        over = [
            name
            for problem in exc.errors(include_url=False, include_context=False)
            if problem["type"] in ("less_than_equal", "too_long")
            and problem["loc"]
            and (name := _field_name(operation.request, str(problem["loc"][0]))) in operation.mcp_caps
        ]
        if over:
            name = over[0]
            what = "entries" if _is_list(operation.request.model_fields[name].annotation) else ""
            error.recovery_hint = (
                f"One call takes {name} up to {operation.mcp_caps[name]}{' ' if what else ''}{what}; make several calls, "
                f"or run `entrez-kit {' '.join(operation.command)}` in a terminal, where more is allowed."
            )
        return error

    return turn


def _field_name(model: type[BaseModel], name: str) -> str:
    """Return the field that a name or its camelCase alias stands for."""
    return next((field for field, info in model.model_fields.items() if name in (field, info.alias)), name)


def _is_list(annotation: Any) -> bool:
    """Tell whether a field holds a list, perhaps an optional one."""
    if get_origin(annotation) is list:
        return True
    return get_origin(annotation) in (Union, type(int | None)) and any(_is_list(part) for part in get_args(annotation))


def _ending_at(cap: int, description: str | None) -> str | None:
    """Let a range that the description names ("1 to 9999") end where the cap is."""
    if description is None:
        return None
    return re.sub(
        r"(?<= to )[0-9]+\b",
        lambda match: str(cap) if int(match[0]) > cap else match[0],
        description,
    )


def input_schema(request: type[Request]) -> Schema:
    """Return the schema of a request: flat, without references, titles or null."""
    whole = request.model_json_schema(by_alias=False)
    schema = _compact(whole, whole.get("$defs", {}))
    schema.pop("description", None)
    schema.setdefault("properties", {})
    return schema


def output_schema(result: type[BaseModel]) -> Schema:
    """Return a shallow schema of a result (its members and their types) that admits the error envelope as well."""
    whole = result.model_json_schema(by_alias=False, mode="validation")
    definitions = whole.get("$defs", {})
    properties = {name: _type_only(part, definitions) for name, part in whole.get("properties", {}).items()}
    return {
        "type": "object",
        "properties": {**properties, **ENVELOPE},
        "anyOf": [{"required": whole.get("required", [])}, {"required": list(ENVELOPE)}],
    }


def _compact(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Schema:
    """Write out references, drop what tells nothing, and shorten "this or null" to "this"."""
    schema = _resolved(schema, definitions)
    options = [part for part in schema.get("anyOf", ()) if part.get("type") != "null"]
    if len(options) == 1:
        schema = {**_resolved(options[0], definitions), **{key: schema[key] for key in schema if key != "anyOf"}}
    elif options:
        schema = {**schema, "anyOf": options}
    kept: Schema = {key: schema[key] for key in _KEPT if key in schema}
    if kept.get("default", 0) in (None, False, "", [], {}) and "default" in kept and kept["default"] != 0:
        del kept["default"]
    if kept.get("default") is False or kept.get("default", 0) is None:
        kept.pop("default", None)
    if "properties" in kept:
        kept["properties"] = {name: _compact(part, definitions) for name, part in kept["properties"].items()}
    if isinstance(kept.get("items"), Mapping):
        kept["items"] = _compact(kept["items"], definitions)
    if "anyOf" in kept:
        kept["anyOf"] = [_compact(part, definitions) for part in kept["anyOf"]]
    if "enum" in kept:
        kept.pop("type", None)
    return kept

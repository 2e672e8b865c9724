"""JSON Schemas of tools, made from the models and kept small: a model reads every byte of them before each task."""

import re
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Final, get_origin

from annotated_types import Le, MaxLen
from pydantic import BaseModel, ValidationError, create_model, model_validator
from pydantic.json_schema import SkipJsonSchema

from entrez_kit.errors import EntrezKitError
from entrez_kit.model import NO_SUCH_ARGUMENT, Request, types_in, wrong
from entrez_kit.operation import ArgumentError, Operation, invalid_arguments
from entrez_kit.server.arguments import with_neutral_value

Schema = dict[str, Any]

_KEPT: Final = (
    "type", "enum", "const", "description", "default", "minimum", "maximum", "minLength", "maxLength", "minItems",
    "maxItems", "pattern", "anyOf", "items", "properties", "required", "additionalProperties",
)  # fmt: skip

ECHOES: Final = frozenset((
    "search_parameters", "efetch_details", "certificate", "warnings", "query", "query_term", "effective_query",
    "effective_esearch_term", "sort_by", "offset", "original", "entrez_id", "source_pmid", "relationship_type",
    "requested_pmids", "total_submitted", "total_returned", "total_formatted", "total_converted", "total_matched",
    "total_warnings", "retrieved_pmid_count", "retrieved_count", "articles_returned", "broader_total",
))  # fmt: skip
"""Members of results that every tool may have, that repeat what was asked or count what is there; schemas spend no
words on them."""

_SKIPPED: Final[Any] = SkipJsonSchema()  # type: ignore[type-arg]  # it takes none when it is called
"""What marks a field that the schema does not show."""


def capped(operation: Operation[Any, Any]) -> Operation[Any, Any]:
    """Return the operation with the bounds that hold for MCP calls built into its request model, or its own function.

    So the schema shows them and validation enforces them, from one place. Fields that the schema does not show are for
    the other doors.
    """
    if operation.mcp_function is not None:
        operation = replace(operation, outcomes=None, function=operation.mcp_function, mcp_function=None)
    hidden = [name for name, info in operation.request.model_fields.items() if _SKIPPED in info.metadata]
    if not operation.mcp_caps and not operation.mcp_defaults and not hidden:
        return operation
    fields: dict[str, Any] = {}
    for name, default in operation.mcp_defaults.items():
        info = copy(operation.request.model_fields[name])
        info.default = default
        fields[name] = (info.annotation, info)
    for name, cap in operation.mcp_caps.items():
        info = copy(operation.request.model_fields[name])
        bound = MaxLen(cap) if _is_list(info.annotation) else Le(cap)
        info.metadata = [*(item for item in info.metadata if not isinstance(item, type(bound))), bound]
        info.description = _ending_at(cap, info.description)
        fields[name] = (info.annotation, info)

    def refuse_hidden(data: Any) -> Any:
        for name in data if isinstance(data, Mapping) else ():
            if _field_name(operation.request, name) in hidden:
                raise wrong(name, f"{NO_SUCH_ARGUMENT}.", data[name])
        return data

    request: type[Request] = create_model(
        operation.request.__name__,
        __base__=operation.request,
        __doc__=operation.request.__doc__,
        __validators__={"refuse_hidden": model_validator(mode="before")(refuse_hidden)},  # type: ignore[dict-item]  # as pydantic's guide has it
        **fields,
    )
    return replace(operation, request=request, argument_error=_saying_where_the_cap_holds(operation))


def _saying_where_the_cap_holds(operation: Operation[Any, Any]) -> ArgumentError:
    """Return what turns wrong arguments into the operation's error, with a hint about bounds for agents only."""
    plain = operation.argument_error or invalid_arguments

    def turn(exc: ValidationError, request: type[Request]) -> EntrezKitError:
        error = plain(exc, request)
        for problem in exc.errors(include_url=False, include_context=False):
            name = _field_name(operation.request, str(problem["loc"][0])) if problem["loc"] else ""
            if problem["type"] in ("less_than_equal", "too_long") and name in operation.mcp_caps:
                entries = " entries" if _is_list(operation.request.model_fields[name].annotation) else ""
                error.recovery_hint = (
                    f"One call takes {name} up to {operation.mcp_caps[name]}{entries}. Make several calls."
                )
                break
        return error

    return turn


def _field_name(model: type[BaseModel], name: str) -> str:
    """Return the field that a name or its camelCase alias stands for."""
    return next((field for field, info in model.model_fields.items() if name in (field, info.alias)), name)


def _is_list(annotation: Any) -> bool:
    """Tell whether a field holds a list, perhaps an optional one."""
    return any(get_origin(kind) is list for kind in types_in(annotation))


def _ending_at(cap: int, description: str | None) -> str | None:
    """Let a range that the description names ("1 to 9999") end where the cap is."""
    if description is None:
        return None
    return re.sub(r"(?<= to )[0-9]+\b", lambda match: str(min(cap, int(match[0]))), description)


def input_schema(request: type[Request]) -> Schema:
    """Return the schema of a request: flat, without references, titles and null."""
    whole = request.model_json_schema(by_alias=False)
    schema = _compact(whole, whole.get("$defs", {}))
    schema.pop("description", None)
    schema.setdefault("properties", {})
    return schema


def output_schema(result: type[BaseModel]) -> Schema:
    """Return a shallow schema of a result (its members and their types) that admits the error envelope as well.

    Some clients check errors against the schema, too. So no member is required, since an error has none of them, and
    others are allowed, since it has its own; "either these or those" is more than many hosts read.
    """
    whole = result.model_json_schema(by_alias=False)
    definitions = whole.get("$defs", {})
    properties: Schema = {}
    for name, part in whole.get("properties", {}).items():
        if name in ECHOES or name.endswith("_url"):
            continue
        left_out_when_empty = result.model_fields[name].exclude_if is not None
        properties[name] = _type_of(part, definitions, nullable=not left_out_when_empty)
    return {"type": "object", "properties": properties}


def closed_output_schema(result: type[BaseModel]) -> Schema:
    """Return the schema of a result that has no other members, however deep; beside them only an envelope's ``error``.

    What a contract does not know, and a document has on request alone, stays as shallow as elsewhere.
    """
    whole = result.model_json_schema(by_alias=False)
    schema = _closed(whole, whole.get("$defs", {}))
    schema["properties"]["error"] = {}
    return schema


def _closed(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Schema:
    schema = _resolved(schema, definitions)
    if "properties" in schema:
        inner = {name: _closed(part, definitions) for name, part in schema["properties"].items()}
        return {"type": "object", "properties": inner, "additionalProperties": False}
    if isinstance(schema.get("items"), Mapping) and "$ref" in schema["items"]:
        return {"type": "array", "items": _closed(schema["items"], definitions)}
    return _type_of(schema, definitions, nullable="null" in str(schema.get("anyOf")) and "$ref" not in str(schema))


def _compact(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Schema:
    """Write references out, drop what tells nothing, and shorten "this or null" to "this"."""
    schema = _resolved(schema, definitions)
    options = [part for part in schema.get("anyOf", ()) if part.get("type") != "null"]
    if len(options) == 1:
        own = {key: value for key, value in schema.items() if key != "anyOf"}
        schema = {**_resolved(options[0], definitions), **own}
    kept: Schema = {key: schema[key] for key in _KEPT if key in schema}
    default = kept.get("default")
    if default is None or default is False or default in ("", [], {}):  # which goes without saying
        kept.pop("default", None)
    # Bounds, with the caps for agents, and choices say for themselves what a flag's help has to say.
    if {"minimum", "maximum", "description"} <= set(kept):
        kept["description"] = re.sub(r", [0-9]+ to [0-9]+\b", "", kept["description"])
    if kept.get("minItems") == 1:
        del kept["minItems"]
    choices = kept.get("enum") or kept.get("items", {}).get("enum")
    if choices and "description" in kept:
        *most, last = map(str, choices)
        kept["description"] = kept["description"].replace(f": {', '.join(most)} or {last}.", ".")
    if len(options) > 1:
        kept["anyOf"] = [_compact(part, definitions) for part in options]
    if "properties" in kept:
        parts = {name: _compact(part, definitions) for name, part in kept["properties"].items()}
        required = kept.get("required", ())
        kept["properties"] = {
            name: part if name in required else with_neutral_value(part) for name, part in parts.items()
        }
    if isinstance(kept.get("items"), Mapping):
        kept["items"] = _compact(kept["items"], definitions)
    return kept


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Schema:
    """Put the definition in place of a reference to it; what stands beside the reference wins."""
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if not name:
        return dict(schema)
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    return {**_resolved(definitions[name], definitions), **beside}


def _type_of(schema: Mapping[str, Any], definitions: Mapping[str, Schema], *, nullable: bool) -> Schema:
    """Return nothing but the JSON type of a member, with null where it may be that; nothing where it has several."""
    types = {_resolved(part, definitions).get("type") for part in schema.get("anyOf", (schema,))}
    may_be_null = nullable and "null" in types
    types.discard("null")
    kind = types.pop() if len(types) == 1 else None
    if not isinstance(kind, str):
        return {}
    return {"type": [kind, "null"] if may_be_null else kind}

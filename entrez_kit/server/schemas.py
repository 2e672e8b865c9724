"""JSON Schemas of tools, generated from the models and kept small, because a model reads them before each task."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import InitErrorDetails

from entrez_kit.base.frontend_text import format_count
from entrez_kit.core.argument_errors import invalid_arguments
from entrez_kit.core.model import NO_SUCH_ARGUMENT, UNKNOWN_ARGUMENT, Request, contradiction_error, is_absent
from entrez_kit.core.operation import Operation
from entrez_kit.server.arguments import add_neutral_value
from entrez_kit.server.trimming import is_request_detail
from entrez_kit.services import Services

Schema = dict[str, Any]

_KEPT: Final = (
    "type", "enum", "const", "description", "default", "minimum", "maximum", "minLength", "maxLength", "minItems",
    "maxItems", "pattern", "anyOf", "items", "properties", "required", "additionalProperties",
)  # fmt: skip

_SKIPPED: Final[Any] = SkipJsonSchema()  # type: ignore[type-arg]  # the call takes no type argument
"""Marks a field that is hidden in the schema."""


@dataclass(frozen=True, kw_only=True)
class AgentOperation(Operation[Any, Any]):
    """An operation with its function, defaults and bounds for MCP calls.

    Fields hidden in the schema are for the other front ends.
    """

    inner: Operation[Any, Any]

    @classmethod
    def of(cls, operation: Operation[Any, Any]) -> "AgentOperation":
        """Convert an operation for MCP calls."""
        return cls(inner=operation, **{field.name: getattr(operation, field.name) for field in fields(Operation)})

    @property
    def implementation(self) -> Callable[[Services, Any], Any]:
        return self.inner.implementation

    def compute(self, services: Services, request: Any) -> Any:
        return (self.agents.function or self.inner.compute)(services, request)

    def build(self, arguments: Mapping[str, Any] | Request) -> Any:
        """Validate arguments as ``Operation.build`` does, within the bounds for MCP calls.

        Raises:
            EntrezKitError: see ``Operation.build``; or an argument exceeds its bound or is not for agents.
        """
        if not isinstance(arguments, Request):
            values = {name: value for name, value in arguments.items() if not is_absent(value)}
            self._check({_find_field(self.request, name): (name, value) for name, value in values.items()})
            missing = self.agents.defaults.keys() - values
            arguments = {**arguments, **{name: self.agents.defaults[name] for name in missing}}
        request = super().build(arguments)
        self._check({name: (name, getattr(request, name)) for name in self.agents.caps})
        return request if self.agents.limit is None else self.agents.limit(request)

    def build_input_schema(self) -> Schema:
        """Return the schema of the arguments, with the defaults and bounds for agents."""
        whole = self.request.model_json_schema(by_alias=False)
        for part in whole["properties"].values():
            for option in part.get("anyOf", (part,)):
                option.pop("maxItems", None)  # those of other front ends
        for name, default in self.agents.defaults.items():
            if name in whole["properties"]:
                whole["properties"][name]["default"] = default
        for name, cap in self.agents.caps.items():
            part = whole["properties"][name]
            for option in part.get("anyOf", (part,)):
                option[{"array": "maxItems"}.get(option["type"], "maximum")] = cap
        schema = _compact_request_schema(whole)
        if self.agents.closed_schema:  # the contract of these tools lists the shortest text
            for name, part in schema["properties"].items():
                if "minLength" in (bounds := whole["properties"][name]):
                    part["minLength"] = bounds["minLength"]
        return schema

    def _check(self, values: Mapping[str, tuple[str, Any]]) -> None:
        """Refuse values above the bounds, and fields that are not for agents."""
        problems: list[InitErrorDetails] = []
        hint = None
        for field, (name, value) in values.items():
            cap = self.agents.caps.get(field)
            if _is_hidden(self.request, field):
                unknown = contradiction_error(name, f"{NO_SUCH_ARGUMENT}.", value, reason=UNKNOWN_ARGUMENT)
                problems.append({"type": unknown, "loc": (), "input": value})
            elif cap is not None and isinstance(value, list) and len(value) > cap:
                context = {"field_type": "List", "max_length": cap, "actual_length": len(value)}
                problems.append({"type": "too_long", "loc": (field,), "input": value, "ctx": context})
                entries = format_count(cap, "entry", "entries")
                hint = hint or f"One call accepts at most {entries} of {field}. Make several calls."
            elif cap is not None and isinstance(value, int) and value > cap:
                problems.append({"type": "less_than_equal", "loc": (field,), "input": value, "ctx": {"le": cap}})
                hint = hint or f"One call accepts {field} up to {cap}. Make several calls."
        if problems:
            validation_error = ValidationError.from_exception_data(self.request.__name__, problems)
            error = (self.argument_error or invalid_arguments)(validation_error, self.request)
            error.hint_text = hint or error.hint_text
            raise error


def allow_several(schema: Schema, operation: Operation[Any, Any]) -> Schema:
    """Return the schema of a tool that takes one value of an argument, or a list."""
    several = operation.agents.several
    if several is None:
        return schema
    part = {
        "type": "array",
        "description": f"Instead of {several.field}; one outcome each.",
        "maxItems": several.most,
        "items": {"type": "string"},
    }
    own = schema["properties"]
    rest = {name: inner for name, inner in own.items() if name != several.field}
    properties = {several.field: add_neutral_value(own[several.field]), several.argument: part, **rest}
    required = [name for name in schema["required"] if name != several.field]
    members = {name: inner for name, inner in schema.items() if name != "required"}
    return {**members, "properties": properties, **({"required": required} if required else {})}


def _is_hidden(request: type[BaseModel], name: str) -> bool:
    """Return whether a field is hidden in the schema of a request."""
    return name in request.model_fields and _SKIPPED in request.model_fields[name].metadata


def _find_field(model: type[BaseModel], name: str) -> str:
    """Return the field of a name or camelCase alias."""
    return next((field for field, info in model.model_fields.items() if name in (field, info.alias)), name)


def build_input_schema(request: type[Request]) -> Schema:
    """Return the schema of a request: flat, without references, titles and null."""
    return _compact_request_schema(request.model_json_schema(by_alias=False))


def _compact_request_schema(whole: Schema) -> Schema:
    schema = _compact_schema(whole, whole.get("$defs", {}))
    schema.pop("description", None)
    schema.setdefault("properties", {})
    return schema


@cache
def build_result_schema(result: Any) -> Schema:
    """Return pydantic's schema of a result model. Callers must not change it."""
    schema: Schema = result.model_json_schema(by_alias=False)
    return schema


def build_output_schema(
    result: type[BaseModel], *, in_portions: bool = False, several: type[BaseModel] | None = None
) -> Schema:
    """Return the schema of a result: all members that agents get, with their types; it also accepts the error envelope.

    Args:
        several: the result for a list of inputs, if it has other members.

    Some clients validate errors against the schema too. So no member is required and other members are allowed; many
    hosts do not support ``oneOf``.
    """
    whole = build_result_schema(result)
    definitions = whole.get("$defs", {})
    properties: Schema = {}
    for name, part in whole.get("properties", {}).items():
        if is_request_detail(name):
            continue
        left_out_when_empty = result.model_fields[name].exclude_if is not None
        properties[name] = _outline_types(part, definitions, _DEPTH)
        if left_out_when_empty and isinstance(kinds := properties[name].get("type"), list):
            kinds.remove("null")
            properties[name]["type"] = kinds[0] if len(kinds) == 1 else kinds
    if "warnings" in result.model_fields and "warnings" not in properties:  # pydantic leaves it out of the schema
        properties["warnings"] = {"type": "array", "items": {"type": "object"}}
    if several is not None:
        properties |= build_output_schema(several, in_portions=True)["properties"]
    properties["incomplete"] = {"type": "object"}
    if in_portions:
        properties["reply_cut"] = {"type": "object"}
    return {"type": "object", "properties": properties}


_DEPTH: Final = 1
"""The depth of objects whose members an output schema lists."""


def _outline_types(schema: Mapping[str, Any], definitions: Mapping[str, Schema], depth: int) -> Schema:
    """Return the types of a value and of what it contains, up to a depth; of several models, the members of all."""
    options = [_resolve(part, definitions) for part in schema.get("anyOf", schema.get("oneOf", (schema,)))]
    options = [inner for option in options for inner in (option.get("anyOf") or option.get("oneOf") or [option])]
    options = [_resolve(option, definitions) for option in options]
    kinds = list(dict.fromkeys(str(option["type"]) for option in options if isinstance(option.get("type"), str)))
    if not kinds or len(kinds) < len({str(option.get("type")) for option in options}):
        return {}
    outline: Schema = {"type": kinds[0] if len(kinds) == 1 else kinds}
    items = [option["items"] for option in options if isinstance(option.get("items"), Mapping)]
    if "array" in kinds and items:
        outline["items"] = _outline_types({"anyOf": items} if len(items) > 1 else items[0], definitions, depth)
    members: dict[str, list[Mapping[str, Any]]] = {}
    for one in options:
        for name, part in one.get("properties", {}).items():
            members.setdefault(name, []).append(part)
    if members and depth:
        outline["properties"] = {
            name: _outline_types({"anyOf": parts} if len(parts) > 1 else parts[0], definitions, depth - 1)
            for name, parts in members.items()
        }
    return outline


def build_closed_output_schema(result: type[BaseModel]) -> Schema:
    """Return the schema of a result without additional properties at any depth, except the envelope's ``error``.

    Optional members outside the contract stay shallow.
    """
    whole = build_result_schema(result)
    schema = _close(whole, whole.get("$defs", {}))
    schema["properties"]["error"] = {}
    return schema


def _close(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Schema:
    schema = _resolve(schema, definitions)
    if "properties" in schema:
        inner = {name: _close(part, definitions) for name, part in schema["properties"].items()}
        return {"type": "object", "properties": inner, "additionalProperties": False}
    if isinstance(schema.get("items"), Mapping):
        return {"type": "array", "items": _close(schema["items"], definitions)}
    return _get_type(schema, definitions, nullable="null" in str(schema.get("anyOf")) and "$ref" not in str(schema))


def _compact_schema(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Schema:
    """Inline references, drop parts without information, and reduce "X or null" to X."""
    schema = _resolve(schema, definitions)
    options = [part for part in schema.get("anyOf", ()) if part.get("type") != "null"]
    result = _drop_usual_members(_reduce_options(schema, options, definitions))
    if "anyOf" in result:
        result["anyOf"] = [_compact_schema(part, definitions) for part in options]
    if "properties" in result:
        parts = {name: _compact_schema(part, definitions) for name, part in result["properties"].items()}
        required = result.get("required", ())
        result["properties"] = {
            name: part if name in required else add_neutral_value(part) for name, part in parts.items()
        }
    if isinstance(result.get("items"), Mapping):
        result["items"] = _compact_schema(result["items"], definitions)
    return result


def _reduce_options(schema: Schema, options: Sequence[Schema], definitions: Mapping[str, Schema]) -> Schema:
    """Return a schema without alternatives, if it has one option besides null, or only strings."""
    if len(options) == 1:
        other_members = {key: value for key, value in schema.items() if key != "anyOf"}
        return {**_resolve(options[0], definitions), **other_members}
    if any(part == {"type": "string"} for part in options) and all(part.get("type") == "string" for part in options):
        # Hosts reject alternatives; the names that are always valid stand in the description.
        names = [str(name) for part in options for name in part.get("enum", ())]
        other_members = {key: value for key, value in schema.items() if key != "anyOf"}
        return {"type": "string", "description": f"One of {', '.join(names)}, or another name.", **other_members}
    return schema


def _drop_usual_members(schema: Mapping[str, Any]) -> Schema:
    """Return a schema without usual default values, bounds that calls never reach, and repeated choices."""
    result: Schema = {key: schema[key] for key in _KEPT if key in schema}
    default = result.get("default")
    if default is None or default is False or default in ("", [], {}):  # the usual default
        result.pop("default", None)
    if result.get("default") == 0 == result.get("minimum"):
        del result["default"]
    # Bounds that no agent tries to pass; calls are checked against them all the same.
    if result.get("maximum", 0) > 5_000 and not result["minimum"]:
        del result["maximum"]
    for name in ("minItems", "minLength"):
        if result.get(name) == 1:
            del result[name]
    result.pop("maxLength", None)
    # The description need not repeat a list of choices.
    choices = result.get("enum") or result.get("items", {}).get("enum")
    if choices and "description" in result:
        *most, last = map(str, choices)
        result["description"] = result["description"].replace(f": {', '.join(most)} or {last}.", ".")
    return result


def _resolve(schema: Mapping[str, Any], definitions: Mapping[str, Schema]) -> Schema:
    """Replace a reference by its definition; members next to the reference take precedence."""
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if not name:
        return dict(schema)
    others = {key: value for key, value in schema.items() if key != "$ref"}
    return {**_resolve(definitions[name], definitions), **others}


def _get_type(schema: Mapping[str, Any], definitions: Mapping[str, Schema], *, nullable: bool) -> Schema:
    """Return only the JSON type of a member, with null if allowed; an empty schema if it has several types."""
    types = {_resolve(part, definitions).get("type") for part in schema.get("anyOf", (schema,))}
    may_be_null = nullable and "null" in types
    types.discard("null")
    kind = types.pop() if len(types) == 1 else None
    if not isinstance(kind, str):
        return {}
    return {"type": [kind, "null"] if may_be_null else kind}

"""List what users rely on: names of tools, arguments, flags, fields, codes, statuses, settings, formats.

A fact is a pair: a subject and one thing that the subject has. The saved file has one line for each subject.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from inspect import signature
from itertools import groupby
from typing import Any, Final

from packaging_files import ROOT

SAVED: Final = ROOT / "tests" / "data" / "public_surface.txt"
SEPARATOR: Final = "; "
LIMITS: Final = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern")

Fact = tuple[str, str]


@cache
def list_facts() -> frozenset[Fact]:
    """Return what the program has today."""
    return frozenset({*_operations(), *_commands(), *_errors(), *_settings(), *_server(), *_python()})


def read_facts(text: str) -> set[Fact]:
    """Read saved facts."""
    lines = (line.partition(": ") for line in text.splitlines() if not line.startswith("#"))
    return {(subject, fact) for subject, _, facts in lines for fact in facts.split(SEPARATOR)}


def write_facts(facts: Iterable[Fact]) -> str:
    """Return the text that holds facts, one line for each subject."""
    grouped = groupby(sorted(facts), key=lambda fact: fact[0])
    return "".join(f"{subject}: {SEPARATOR.join(fact for _, fact in group)}\n" for subject, group in grouped)


def _operations() -> Iterator[Fact]:
    from entrez_kit.python.catalogue import OPERATIONS
    from entrez_kit.server.tool_definitions import ToolDefinition

    for operation in OPERATIONS:
        tool = f"tool {operation.name}"
        yield tool, f"toolset {operation.toolset}"
        yield tool, f"scope {ToolDefinition.of(operation).scope}"
        yield tool, "read only" if operation.read_only else "writes"
        yield tool, f"method {operation.method}"
        yield tool, f"command {' '.join(operation.command)}"
        yield from ((tool, f"alias {alias}") for alias in operation.aliases)
        yield from ((tool, f"at most {most} {field}") for field, most in operation.agents.caps.items())
        yield from ((tool, f"raises {error.__name__}") for error in operation.errors)
        for kind, model in (("argument", operation.request), ("result", operation.result)):
            schema = model.model_json_schema(by_alias=False)
            yield from _fields(f"{kind} {operation.name}", schema, schema.get("$defs", {}))


def _fields(
    place: str, schema: Mapping[str, Any], shapes: Mapping[str, Any], inside: tuple[str, ...] = ()
) -> Iterator[Fact]:
    """Yield the fields of a schema and of the objects in it; an object in itself is listed once."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in inside:
            yield from _fields(place, shapes[name], shapes, (*inside, name))
        return
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from _fields(place, branch, shapes, inside)
    if "items" in schema:
        yield from _fields(f"{place}[]", schema["items"], shapes, inside)
    if isinstance(schema.get("additionalProperties"), Mapping):
        yield from _fields(f"{place}.*", schema["additionalProperties"], shapes, inside)
    for name, field in schema.get("properties", {}).items():
        words = [name if name in schema.get("required", ()) else f"{name}?", _type(field, shapes)]
        if place.startswith("argument"):
            words += [f"default {field['default']!r}"] if "default" in field else []
            words += _limits(field)
        yield place, " ".join(words)
        yield from ((place, f"{name}={value}") for value in _choices(field, shapes))
        yield from _fields(f"{place}.{name}", field, shapes, inside)


def _type(schema: Mapping[str, Any], shapes: Mapping[str, Any]) -> str:
    """Return the type of a value: ``string``, ``object[]``, ``integer|null``, ``{string}`` for a map of strings."""
    if "$ref" in schema:
        return _type(shapes[schema["$ref"].rpartition("/")[2]], shapes)
    branches = (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
    if branches:
        return "|".join(sorted({_type(branch, shapes) for branch in branches}))
    if "items" in schema:
        return f"{_type(schema['items'], shapes)}[]"
    if isinstance(schema.get("additionalProperties"), Mapping):
        return f"{{{_type(schema['additionalProperties'], shapes)}}}"
    if "const" in schema:
        return repr(schema["const"])
    return str(schema.get("type", "any"))


def _limits(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the limits of a value, of each type that it can have, and of the items of a list."""
    yield from (f"{limit} {schema[limit]}" for limit in LIMITS if limit in schema)
    for branch in schema.get("anyOf", ()):
        yield from _limits(branch)
    if "items" in schema:
        yield from (f"each {limit}" for limit in _limits(schema["items"]))


def _choices(schema: Mapping[str, Any], shapes: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values of an enumeration, also of one in a list or among several types."""
    if "$ref" in schema:
        schema = shapes[schema["$ref"].rpartition("/")[2]]
        if "enum" not in schema:
            return
    yield from (str(value) for value in schema.get("enum", ()))
    inner = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    for branch in (*inner, *([schema["items"]] if "items" in schema else [])):
        yield from _choices(branch, shapes)


def _commands() -> Iterator[Fact]:
    from entrez_kit.commands import _app, _options, load_command

    for name in _app.COMMANDS:
        yield from _command(name, load_command(name), _options.EVERYWHERE)


def _command(name: str, command: Any, everywhere: str) -> Iterator[Fact]:
    """Yield the arguments and options of a command; those of every command are one fact."""
    shared = []
    for parameter in command.params:
        words = [",".join((*parameter.opts, *parameter.secondary_opts))]
        if parameter.param_type_name == "argument":
            words = [f"<{words[0]}>"]
        if parameter.nargs != 1 or parameter.multiple:
            words.append("repeatable")
        if parameter.required:
            words.append("required")
        elif isinstance(parameter.default, bool | int | str):
            words.append(f"default {parameter.default!r}")
        if getattr(parameter, "rich_help_panel", None) == everywhere:
            shared.append(" ".join(words))
        else:
            yield f"command {name}", " ".join(words)
    yield f"command {name}", f"options {', '.join(sorted(shared))}"
    for inner, inner_command in getattr(command, "commands", {}).items():
        yield from _command(f"{name} {inner}", inner_command, everywhere)


def _errors() -> Iterator[Fact]:
    from entrez_kit.base import errors

    yield from ((f"exit status {status.value}", status.name) for status in errors.Exit)
    waiting = [errors.EntrezKitError]
    while waiting:
        error = waiting.pop()
        waiting += error.__subclasses__()
        if error.__module__ == errors.__name__:
            subject = f"error {error.__name__}"
            yield subject, f"code {error.code}"
            yield subject, f"status {error.exit_code.value}"
            yield subject, f"subclass of {error.__base__.__name__ if error.__base__ else ''}"
    yield from ((f"error code {code}", f"corpus code {other}") for code, other in errors.CORPUS_CODES.items())


def _settings() -> Iterator[Fact]:
    from entrez_kit.base.output_formats import FORMATS
    from entrez_kit.base.settings import SETTINGS, get_default

    yield from (("formats", one.name) for one in FORMATS if one.can_be_default)
    for setting in SETTINGS:
        subject = f"setting {setting.name}"
        yield subject, setting.kind
        yield from ((subject, variable) for variable in setting.variables)
        yield from ((subject, f"choice {choice}") for choice in setting.choices)
        if setting.kind in ("number", "flag", "choice"):
            yield subject, f"default {get_default(setting.name)!r}"


def _server() -> Iterator[Fact]:
    from entrez_kit.python.catalogue import OPERATIONS
    from entrez_kit.server import prompts, resources
    from entrez_kit.server.tools import Toolbox
    from entrez_kit.server.toolsets import DEFAULT_TOOLSETS, SCOPES

    yield from (("default toolsets", toolset) for toolset in DEFAULT_TOOLSETS)
    yield from (("scopes", scope) for scope in SCOPES)
    fixed = (resources.INFO_URI, resources.STATS_URI)
    templates = (resources.STATS_TEMPLATE, resources.PAPER_TEMPLATE, resources.GUIDE_TEMPLATE)
    yield from (("resources", address) for address in (*fixed, *templates))
    for prompt in prompts.list_prompts(Toolbox(OPERATIONS)):
        yield "prompts", prompt.name
        for argument in prompt.arguments or ():
            yield f"prompt {prompt.name}", argument.name if argument.required else f"{argument.name}?"


def _python() -> Iterator[Fact]:
    import entrez_kit
    from entrez_kit.services.eutils import EUtils

    yield from (("entrez_kit", name) for name in entrez_kit.__all__)
    yield from (("EntrezKit", name) for name in dir(entrez_kit.EntrezKit) if not name.startswith("_"))
    for name in dir(EUtils):
        if not name.startswith("_") and callable(method := getattr(EUtils, name)):
            yield "EUtils", name
            yield from ((f"EUtils.{name}", argument) for argument in list(signature(method).parameters)[1:])

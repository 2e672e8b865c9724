"""What users, pipelines and agents rely on, one fact a line: names, flags, fields, codes, statuses, schemas.

``python tests/support/public_surface.py`` writes today's facts over the saved ones, once an addition is meant.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from inspect import signature
from typing import Any, Final

from places import DATA

SAVED: Final = DATA / "public_surface.txt"


def facts() -> list[str]:
    """Return today's facts, sorted."""
    return sorted({*_operations(), *_commands(), *_errors(), *_settings(), *_server(), *_python()})


def _operations() -> Iterator[str]:
    from entrez_kit.catalogue import OPERATIONS
    from entrez_kit.server.tool_facts import ToolFacts

    for operation in OPERATIONS:
        name = operation.name
        scope = ToolFacts.of(operation).scope
        yield f"tool {name}: toolset {operation.toolset}, scope {scope}, read only {operation.read_only}"
        yield f"tool {name}: method {operation.method}, command {' '.join(operation.command)}"
        yield from (f"tool {name}: also called {alias}" for alias in operation.aliases)
        yield from (f"tool {name}: at most {most} {field}" for field, most in operation.mcp_caps.items())
        yield from (f"tool {name}: raises {error.__name__}" for error in operation.errors)
        for kind, model in (("argument", operation.request), ("result", operation.result)):
            schema = model.model_json_schema(by_alias=False)
            yield from _fields(f"{kind} {name}", schema, schema.get("$defs", {}), ())


def _fields(place: str, schema: Mapping[str, Any], shapes: Mapping[str, Any], inside: tuple[str, ...]) -> Iterator[str]:
    if "$ref" in schema:
        shape = schema["$ref"].rpartition("/")[2]
        if shape in inside:
            yield f"{place}: the same again"
        else:
            yield from _fields(place, shapes[shape], shapes, (*inside, shape))
        return
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from _fields(place, branch, shapes, inside)
    if "items" in schema:
        yield from _fields(f"{place}[]", schema["items"], shapes, inside)
    if isinstance(schema.get("additionalProperties"), Mapping):
        yield from _fields(f"{place}.*", schema["additionalProperties"], shapes, inside)
    for name, field in schema.get("properties", {}).items():
        yield f"{place}.{name}: required" if name in schema.get("required", ()) else f"{place}.{name}: optional"
        if "default" in field:
            yield f"{place}.{name}: default {field['default']!r}"
        yield from _fields(f"{place}.{name}", field, shapes, inside)
    kinds = ("type", "const", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern")
    yield from (f"{place}: {kind} {schema[kind]}" for kind in kinds if kind in schema)
    yield from (f"{place}: may be {value!r}" for value in schema.get("enum", ()))


def _commands() -> Iterator[str]:
    app = import_module("entrez_kit.commands._app")
    for name in app.COMMANDS:
        yield from _command(name, app.load_command(name))


def _command(name: str, command: Any) -> Iterator[str]:
    yield f"command {name}"
    for parameter in command.params:
        what = "argument" if parameter.param_type_name == "argument" else "option"
        called = f"command {name}: {what} {','.join((*parameter.opts, *parameter.secondary_opts))}"
        yield called
        yield f"{called} {'several' if parameter.nargs != 1 or parameter.multiple else 'once'}"
        if parameter.required:
            yield f"{called} required"
        elif isinstance(parameter.default, bool | int | str):
            yield f"{called} = {parameter.default!r}"
    for inner, inner_command in getattr(command, "commands", {}).items():
        yield from _command(f"{name} {inner}", inner_command)


def _errors() -> Iterator[str]:
    from entrez_kit import errors

    yield from (f"status {status.value}: {status.name}" for status in errors.Exit)
    waiting = [errors.EntrezKitError]
    while waiting:
        error = waiting.pop()
        waiting += error.__subclasses__()
        if error.__module__ == errors.__name__:
            yield f"error {error.__name__}: code {error.code}, status {error.exit_code.value}"
            yield f"error {error.__name__}: is a {error.__base__.__name__ if error.__base__ else ''}"
    yield from (f"corpus code {code}: {corpus_code}" for code, corpus_code in errors.CORPUS_CODES.items())


def _settings() -> Iterator[str]:
    from entrez_kit.settings import FORMATS, SETTINGS, default_of

    yield from (f"format {name}" for name in FORMATS)
    for setting in SETTINGS:
        yield from (f"setting {variable}: {setting.name}, {setting.kind}" for variable in setting.variables)
        yield from (f"setting {setting.variable}: may be {choice}" for choice in setting.choices)
        if setting.kind in ("number", "flag", "choice"):
            yield f"setting {setting.variable}: default {default_of(setting.name)!r}"


def _server() -> Iterator[str]:
    from entrez_kit.catalogue import OPERATIONS
    from entrez_kit.server import prompts, resources
    from entrez_kit.server.tools import DEFAULT_TOOLSETS, SCOPES, Toolbox

    yield f"server: toolsets {','.join(DEFAULT_TOOLSETS)} unless told otherwise"
    yield from (f"scope {scope}" for scope in SCOPES)
    fixed = (resources.INFO_URI, resources.STATS_URI)
    templates = (resources.STATS_TEMPLATE, resources.PAPER_TEMPLATE, resources.GUIDE_TEMPLATE)
    yield from (f"resource {address}" for address in (*fixed, *templates))
    for prompt in prompts.list_prompts(Toolbox(OPERATIONS)):
        yield f"prompt {prompt.name}"
        for argument in prompt.arguments or ():
            yield f"prompt {prompt.name}: {argument.name} {'required' if argument.required else 'optional'}"


def _python() -> Iterator[str]:
    import entrez_kit
    from entrez_kit.services.eutils import EUtils

    yield from (f"entrez_kit.{name}" for name in entrez_kit.__all__)
    for kind in (entrez_kit.EntrezKit, EUtils):
        for name in (name for name in dir(kind) if not name.startswith("_")):
            yield f"{kind.__name__}.{name}"
            if kind is EUtils:
                yield from (f"EUtils.{name}({argument})" for argument in signature(getattr(kind, name)).parameters)


if __name__ == "__main__":
    SAVED.write_text("\n".join(facts()) + "\n", encoding="utf-8")

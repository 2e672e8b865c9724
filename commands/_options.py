"""Options: those of every command, and those of the fields of a request.

``App`` is a group of commands with the options of every command. ``@request_options(SearchRequest, build_argument(...),
build_option(...))`` gives a command a parameter for each field. Type, default and description come from the request,
unless ``build_option`` or ``build_argument`` replaces them. The command gets the values as ``options``.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_origin

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from entrez_kit.base.frontend_text import cut_middle
from entrez_kit.base.output_formats import Family

from . import PROGRAM
from ._state import Function, State, get_formats

if TYPE_CHECKING:
    from entrez_kit.core.model import Request

OUTPUT: Final = "Output"
EVERYWHERE: Final = "Options of every command"
"""Sections of the help."""
HELP_NAMES: Final = ["-h", "--help"]
MAX_VALUE: Final = 60
"""Maximum characters of each value of an option in a message."""
_EXAMPLE: Final = re.compile(rf"(?<!`){PROGRAM} ")
"""An example in a help text; a command in backquotes is a part of its sentence."""


# Commands and groups: typer's classes with the options of every command


class App(typer.Typer):
    """The commands of a module. A single command is not in a group."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"cls": CommandGroup, "add_completion": False, **settings})

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Function], Function]:
        """Add a function as a command."""
        return super().command(name, cls=Command, **settings)


class Command(TyperCommand):
    """A command with the options of every command. Its format is chosen, and its recording opened, before it runs."""

    def __init__(self, name: str | None, **attributes: Any) -> None:
        super().__init__(name, **attributes)
        self.help = unwrap_lines(self.help or "")
        self.params = [*map(_adapt, self.params), *_list_common_options(self)]

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters with the option --help."""
        return _hide_types(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        _begin(ctx)
        ctx.obj.make_plan(self)
        return super().invoke(ctx)


class CommandGroup(TyperGroup):
    """A group of commands. The options of every command are allowed before the name of its command, too."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.help = unwrap_lines(self.help or "")
        self.params = [*map(_adapt, self.params), *_list_common_options(self)]

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters with the option --help."""
        return _hide_types(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command of the group that was called, or the function of the group."""
        if self.invoke_without_command:
            _begin(ctx)
        return super().invoke(ctx)


class SingleOption(TyperOption):
    """An option of one value. It refuses a second, different value; typer's option would take the last one."""

    def __init__(self, option: TyperOption) -> None:
        vars(self).update(vars(option))
        if self.min is not None and self.max is not None:
            self.help = f"{self.help} From {self.min} to {self.max}."

    def _get_number_range_help_str(self) -> None:
        """Return no range: the help has it, in the form that ranges of fields of a request have."""

    def add_to_parser(self, parser: Any, ctx: Any) -> None:
        """Let the parser collect all values."""
        parser.add_option(obj=self, opts=self.opts, dest=self.name, action="append", nargs=self.nargs)

    def consume_value(self, ctx: Any, opts: Any) -> Any:
        """Return the value.

        Raises:
            BadParameter: there are several, and they differ.
        """
        values = opts.get(self.name)
        if values is None:
            return super().consume_value(ctx, opts)
        if len(set(values)) > 1 and not ctx.resilient_parsing:
            texts = ", ".join(cut_middle(str(one), MAX_VALUE) for one in values)
            raise typer.BadParameter(f"takes one value (got {len(values)}: {texts})", ctx, self)
        return super().consume_value(ctx, {**opts, self.name: values[-1]})


class PlainArgument(TyperArgument):
    """An argument whose help has no type: "<list[str]>" does not help a biologist."""

    def __init__(self, argument: TyperArgument) -> None:
        vars(self).update(vars(argument))

    def display_type_rich(self, ctx: Any) -> None:
        """Return no type."""


def _adapt(parameter: Any) -> Any:
    """Return a parameter of typer as one of the classes above; a flag, and an option of several values, unchanged."""
    # typer creates every option and argument with its own classes, so ours copy the attributes of theirs.
    if isinstance(parameter, TyperArgument):
        return PlainArgument(parameter)
    takes_one_value = not (parameter.is_flag or parameter.multiple or parameter.count)
    return SingleOption(parameter) if takes_one_value else parameter


def _hide_types(parameters: list[Any]) -> list[Any]:
    """Hide the type "<bool>" of flags in the help."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters


def _begin(ctx: Any) -> None:
    """Store which command runs, and open its recording if there is one."""
    ctx.obj.command = ctx.command
    if ctx.obj.flags.keys() & {"record", "replay"}:
        from ._recording import open_recording

        open_recording(ctx.obj, ctx.command_path.partition(" ")[2])


def unwrap_lines(text: str) -> str:
    """Join the lines that a docstring breaks within a sentence. An example is a line that begins with `$`."""
    paragraphs = []
    for paragraph in text.split("\n\n"):
        lines = [""]
        for line in paragraph.splitlines():
            if _EXAMPLE.match(line):
                lines.append(f"$ {line}")
            elif not lines[-1] or lines[-1].endswith((".", ":")) or _EXAMPLE.search(lines[-1]):
                lines.append(line)
            else:
                lines[-1] = f"{lines[-1]} {line}"
        paragraphs.append("\n".join(lines[1:]))
    return "\n\n".join(paragraphs)


# Options of every command


def _keep(ctx: typer.Context, param: typer.CallbackParam, value: Any) -> Any:
    """Store the value of an option: one after the name of a command replaces one before it."""
    if value is not None and value != [] and isinstance(ctx.obj, State) and not ctx.resilient_parsing:
        ctx.obj.flags[str(param.name)] = value
    return value


def _complete_format(ctx: typer.Context, incomplete: str) -> list[str]:
    return [one.name for one in get_formats(ctx.command).accepted if one.name.startswith(incomplete)]


def _flag(
    *names: str, help: str, metavar: str | None = None, panel: str = EVERYWHERE, autocompletion: Any = None
) -> Any:
    return typer.Option(
        *names,
        metavar=metavar,
        help=help,
        callback=_keep,
        expose_value=False,
        rich_help_panel=panel,
        autocompletion=autocompletion,
    )


_FORMAT: Final = "Output format: {formats}. Default: {default}."
_FIELDS: Final = "Print only these fields, separated by commas. A dot selects a nested field.{example}"
_FAMILY_OF: Final = {"count": Family.COUNT, "no_header": Family.ROWS}
"""By option, the formats that it needs; commands without them do not have it."""
_NO_HEADER: Final = "Omit the names of the columns in csv and tsv."
_FILE: Final = "Write to FILE; its suffix selects the format{ids}. A failure leaves FILE unchanged."
_DEMO: Final = "Use a sandbox with invented articles, without a network."
_LOCAL: Final = "Answer from a local copy of PubMed, without requests; see `entrez-kit local`."
_RECORD: Final = "Record all requests and replies in a file, for --replay; see `entrez-kit guide recordings`."
_REPLAY: Final = "Answer from a recording: the same command prints the same bytes, without a network."
_VERBOSE: Final = "Show request ids, cache hits, timings and the log."
_CONFIG: Final = "User config to read instead of the default one."
_COUNT: Final = "Short for -f count: the number of results."


def _declare_common_options(
    format: Annotated[
        str | None,
        _flag("-f", "--format", metavar="FORMAT", help=_FORMAT, panel=OUTPUT, autocompletion=_complete_format),
    ] = None,
    json: Annotated[bool | None, _flag("--json", help="Short for -f json.", panel=OUTPUT)] = None,
    count: Annotated[bool | None, _flag("--count", help=_COUNT, panel=OUTPUT)] = None,
    fields: Annotated[list[str] | None, _flag("--fields", metavar="A,B.C", help=_FIELDS, panel=OUTPUT)] = None,
    no_header: Annotated[bool | None, _flag("--no-header", help=_NO_HEADER, panel=OUTPUT)] = None,
    output: Annotated[Path | None, _flag("-o", "--output", metavar="FILE", help=_FILE, panel=OUTPUT)] = None,
    demo: Annotated[bool | None, _flag("--demo", help=_DEMO)] = None,
    local: Annotated[str | None, _flag("--local", metavar="NAME", help=_LOCAL)] = None,
    record: Annotated[Path | None, _flag("--record", metavar="FILE.ekz", help=_RECORD)] = None,
    replay: Annotated[Path | None, _flag("--replay", metavar="FILE.ekz", help=_REPLAY)] = None,
    offline: Annotated[bool | None, _flag("--offline", help="Use only the cache and the corpus.")] = None,
    refresh: Annotated[bool | None, _flag("--refresh", help="Send new requests and replace cached replies.")] = None,
    no_cache: Annotated[bool | None, _flag("--no-cache", help="Neither read nor write the cache.")] = None,
    quiet: Annotated[bool | None, _flag("-q", "--quiet", help="Print no notes, only warnings and errors.")] = None,
    verbose: Annotated[bool | None, _flag("-v", "--verbose", help=_VERBOSE)] = None,
    color: Annotated[
        Literal["auto", "always", "never"] | None,
        _flag("--color", metavar="WHEN", help="When to use color: auto, always or never."),
    ] = None,
    config_file: Annotated[Path | None, _flag("--config", metavar="FILE", help=_CONFIG)] = None,
) -> None:
    """Declare the common options; never called."""


@cache
def _build_common_options() -> list[Any]:
    """Return the options of every command as typer builds them; each command uses copies, because it changes some."""
    app = typer.Typer(add_completion=False)
    app.command()(_declare_common_options)
    return typer.main.get_command(app).params


def _list_common_options(command: Command | CommandGroup) -> Iterator[Any]:
    """Yield the common options of one command, without those that it declares itself or has no format for.

    A group accepts all common options for its commands. Only the help of a command shows the options of the output.
    """
    formats = get_formats(command)
    accepted = {one.family for one in formats.accepted}
    terminal, pipe = formats.default_on_terminal, formats.default_in_pipe
    texts = {
        "formats": ", ".join(one.name for one in formats.accepted),
        "default": str(pipe) if terminal is pipe else f"{terminal} on a terminal, {pipe} in a pipe",
        "example": f" Example: {formats.fields}." if formats.fields else "",
        "ids": " (.txt: ids)" if Family.IDS in accepted else "",
    }
    declared = {name for parameter in command.params for name in parameter.opts}
    for option in map(copy, _build_common_options()):
        family = _FAMILY_OF.get(option.name)
        has_family = family is None or family in accepted or isinstance(command, CommandGroup)
        if has_family and declared.isdisjoint(option.opts):
            option.help = option.help.format(**texts)
            option.hidden = isinstance(command, CommandGroup) and option.rich_help_panel == OUTPUT
            yield _adapt(option)


# Options of the fields of a request


FilesOfIds = Annotated[
    list[Path] | None,
    typer.Option("-i", "--input", metavar="FILE", help="File of ids: text, JSON lines or a table. May be repeated."),
]
"""The option for files, of a command with ``build_ids_argument``."""

_FROM_REQUEST: Final = object()
"""Selects the default of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A field of a request as a parameter of a command.

    Args:
        path: the field; ``date_range.min_date`` is a field of a field.
        names: the names of the option; an argument has none.
        metavar: the placeholder of the value in the help.
        help: replaces the field's description.
        more: follows the description.
        panel: the section of the help.
        words: completions of the value; the request rejects other values.
        kind: the type that typer reads, if the field's type does not say it.
        default: replaces the default of the request.
        show_default: whether the help shows the default, or its text already does.
        joined: whether several words are one text, so that a query needs no quotes.
        convert: turns the value from the command line into the value of the field.
    """

    path: str
    names: tuple[str, ...] = ()
    metavar: str | None = None
    help: str = ""
    more: str = ""
    panel: str | None = None
    words: Iterable[str] = ()
    kind: Any = None
    default: Any = _FROM_REQUEST
    show_default: bool = True
    joined: bool = False
    convert: Callable[[Any], Any] | None = None

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    def build_parameter(self, request: Any) -> inspect.Parameter:
        """Return the parameter that typer reads."""
        from entrez_kit.core.model import describe_field  # the help of the program loads no model

        field = _get_field(request, self.path)
        # Square brackets are markup to the help page, and field tags to PubMed.
        text = f"{describe_field(field, self.help).replace('[', chr(92) + '[')} {self.more}".rstrip()
        if self.words and not all(word in text for word in self.words):
            text = f"{text} One of: {', '.join(self.words)}."
        kind: Any
        default = self.default
        if self.metavar is not None and self.metavar.endswith("..."):
            kind, default = list[str], None  # the ids can come from a file
        else:
            kind = self.kind or (list[str] if self.joined else _find_type(field.annotation, free=bool(self.words)))
            if default is _FROM_REQUEST:
                default = (
                    inspect.Parameter.empty if field.is_required() else field.get_default(call_default_factory=True)
                )
            default = None if default == [] else default
        if self.names:
            metavar = self.metavar or ("N" if kind is int else None)
            complete = build_completion(*self.words) if self.words else None
            declaration = typer.Option(
                *self.names,
                metavar=metavar,
                help=text,
                rich_help_panel=self.panel,
                autocompletion=complete,
                show_default=self.show_default,
            )
        else:
            metavar = self.metavar.removesuffix("...") if self.metavar else None  # typer adds the dots
            declaration = typer.Argument(metavar=metavar, help=text)
        optional = kind | None if default is None else kind
        annotation = Annotated[optional, declaration]  # type: ignore[valid-type]  # typer reads it
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def build_option(path: str, *names: str, **differing: Any) -> Parameter:
    """Return the option for a field of a request; its name is the field's, unless ``names`` has a long name."""
    if not any(name.startswith("--") for name in names):
        names = (*names, f"--{path.rpartition('.')[2].replace('_', '-')}")
    return Parameter(path=path, names=names, **differing)


def build_argument(path: str, metavar: str, **differing: Any) -> Parameter:
    """Return the argument for a field of a request; a metavar that ends in three dots allows any number of values."""
    return Parameter(path=path, metavar=metavar, **differing)


def build_ids_argument(path: str, help: str = "", *, more: str = "") -> Parameter:
    """Return the argument for a list of ids, which the command reads with ``read_inputs``.

    Args:
        path: the field.
        help: replaces the field's description.
        more: follows the description.
    """
    return Parameter(path=path, metavar="ID...", help=help, more=more)


BROADER: Final = build_option(
    "broader_results",
    "--broader/--no-broader",
    help="If NCBI drops a part of the query, return the broader results; --no-broader returns none.",
)
"""The option of every search that NCBI may broaden."""
HISTORY: Final = build_option(
    "use_history",
    "--history",
    help="Keep the result set at NCBI for some hours; web_env and query_key then select it.",
)
"""The option of every search that can keep its result set at NCBI."""
REGISTRATIONS: Final = build_option("registrations", help="Add the numbers of registered trials and data sets.")
"""The option of every command that lists summaries with registration numbers."""


def request_options(
    model: "type[Request]", *parameters: Parameter | str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command a parameter for each field, in this order, and call it with the values as ``options``.

    Args:
        model: the request with the fields.
        parameters: fields; a name alone is a parameter of the command itself. Those without a name here come last.
    """
    fields = {parameter.name: parameter for parameter in parameters if isinstance(parameter, Parameter)}

    def declare(function: Callable[..., None]) -> Callable[..., None]:
        own = dict(inspect.signature(function).parameters)
        del own["options"]
        ordered = [own.pop("ctx")]
        ordered += [own.pop(one) if isinstance(one, str) else one.build_parameter(model) for one in parameters]

        @wraps(function)
        def command(**values: Any) -> None:
            own_values = {name: value for name, value in values.items() if name not in fields}
            function(**own_values, options=_build_options(model, fields.values(), values))

        command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # typer reads it
            [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*ordered, *own.values())]
        )
        command.request = model  # type: ignore[attr-defined]  # errors name the limits of its fields
        return command

    return declare


def _build_options(model: Any, fields: Iterable[Parameter], values: dict[str, Any]) -> dict[str, Any]:
    """Return the values that typer read as fields of the request. A field of a field is given only if it was set."""
    options: dict[str, Any] = {}
    for one in fields:
        value = values[one.name]
        group = one.path.rpartition(".")[0]
        if isinstance(value, Path):
            value = str(value)
        if one.joined and value is not None:
            value = " ".join(value)
        if one.convert is not None and value is not None:
            value = one.convert(value)
        if not group:
            options[one.name] = value
        elif value != _get_field(model, one.path).default:
            options.setdefault(group, {})[one.name] = value
    return options


def _get_field(model: Any, path: str) -> Any:
    """Return a field of a request, or of a model inside it."""
    from entrez_kit.core.model import list_types

    *parents, last = path.split(".")
    for parent in parents:
        model = next(
            kind for kind in list_types(model.model_fields[parent].annotation) if hasattr(kind, "model_fields")
        )
    return model.model_fields[last]


def _find_type(annotation: Any, *, free: bool) -> Any:
    """Return the type that typer reads for a field: a flag, a number, one of some words, or any word or words."""
    from entrez_kit.core.model import list_types

    kinds = list_types(annotation)
    if any(get_origin(kind) is list for kind in kinds):
        return list[str]
    if not free and (choice := next((kind for kind in kinds if get_origin(kind) is Literal), None)):
        return choice
    return next((kind for kind in (bool, int) if kind in kinds), str)


def build_completion(*words: str) -> Callable[[str], list[str]]:
    """Return the completion function for an argument that is one of these words."""
    return lambda incomplete: [word for word in words if word.lower().startswith(incomplete.lower())]

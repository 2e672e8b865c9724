"""Declare the parameters of a command from the fields of a request.

``@request_options(OPERATION, argument("query", "QUERY"), option("offset"), ...)`` gives a command a parameter for each
field. Type, default and description come from the request, unless ``option`` or ``argument`` replaces them. A command
with a parameter ``request`` gets the validated request, and one with a parameter ``options`` the values.
"""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_origin

import typer

from entrez_kit.core.model import Request, describe_field, list_types
from entrez_kit.core.operation import Operation

from ._pipeline import build_request, plan

if TYPE_CHECKING:
    from ._input import Known

_FILE_OF_IDS: Final = "File of ids: text, JSON lines or a table. May be repeated."

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
        read: reads ids from the command line, standard input and files; called with the context, the words, the
            files and the other values.
        file_help: the help of ``-i``, for a parameter with ``read``.
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
    read: Callable[[typer.Context, Any, Any, dict[str, Any]], list[str] | None] | None = None
    file_help: str = _FILE_OF_IDS

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    def build_parameter(self, request: Any) -> inspect.Parameter:
        """Return the parameter that typer reads."""
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


def build_ids_argument(
    path: str,
    help: str = "",
    *,
    more: str = "",
    known: "Callable[[dict[str, Any]], Known] | None" = None,
    unless: tuple[str, ...] = (),
    **words: Any,
) -> Parameter:
    """Return the argument for a list of ids, which also come from standard input and from the files of ``-i``.

    Args:
        path: the field.
        help: replaces the field's description.
        more: follows the description.
        known: returns, from the other values, the function that decides whether a word is an id.
        unless: options that replace the ids.
        words: arguments of ``read_inputs``.
    """

    def read(ctx: typer.Context, typed: Any, files: Any, values: dict[str, Any]) -> list[str] | None:
        if not typed and not files and any(values.get(name) for name in unless):
            return None
        from ._ids import read_inputs  # a search needs no ids

        is_id = known(values) if known is not None else None
        return read_inputs(ctx, typed, files, **{"field": path, "known": is_id, **words})

    return Parameter(path=path, metavar="ID...", help=help, more=more, read=read)


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
    source: Operation[Any, Any] | type[Request], *parameters: Parameter | str
) -> Callable[[Callable[..., None]], Any]:
    """Give a command a parameter for each field, in this order, and call it with the request.

    Args:
        source: the operation, or the model of the values.
        parameters: fields; a name alone is a parameter of the command itself. Those without a name here come last.
    """
    model = source.request if isinstance(source, Operation) else source
    declared = [parameter for parameter in parameters if isinstance(parameter, Parameter)]

    def declare(function: Callable[..., None]) -> Any:
        own = dict(inspect.signature(function).parameters)
        given_as = next(name for name in ("request", "options") if name in own)
        del own[given_as]
        for one in declared:
            if one.read is not None:
                option = typer.Option("-i", "--input", metavar="FILE", help=one.file_help)
                own["input"] = inspect.Parameter(
                    "input",
                    inspect.Parameter.KEYWORD_ONLY,
                    default=None,
                    annotation=Annotated[list[Path] | None, option],
                )
        arranged = [own.pop("ctx")]
        arranged += [
            own.pop(parameter) if isinstance(parameter, str) else parameter.build_parameter(model)
            for parameter in parameters
        ]

        @wraps(function)
        def command(**arguments: Any) -> None:
            ctx = arguments["ctx"]
            plan(ctx)  # a format that the command lacks is reported before anything is read
            values = _take_values(ctx, model, declared, arguments)
            request: Any = values
            if given_as == "request":
                assert isinstance(source, Operation), "a command gets the request of an operation"
                request = build_request(ctx, source, values)
            function(**arguments, **{given_as: request})

        signature = inspect.Signature(
            [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*arranged, *own.values())]
        )
        command.__signature__ = signature  # type: ignore[attr-defined]  # typer reads it
        command.request = model  # type: ignore[attr-defined]  # errors name the limits of its fields
        return command

    return declare


def _take_values(
    ctx: typer.Context, model: Any, declared: list[Parameter], arguments: dict[str, Any]
) -> dict[str, Any]:
    """Take the values of fields out of the values that typer read, and return them as fields of the request."""
    values: dict[str, Any] = {}
    for one in declared:
        value = arguments.pop(one.name)
        group = one.path.rpartition(".")[0]
        if isinstance(value, Path):
            value = str(value)
        if one.joined and value is not None:
            value = " ".join(value)
        if one.convert is not None and value is not None:
            value = one.convert(value)
        if not group:
            values[one.name] = value
        elif value != _get_field(model, one.path).default:
            values.setdefault(group, {})[one.name] = value
    for one in declared:
        if one.read is not None:
            values[one.name] = one.read(ctx, values[one.name], arguments.pop("input"), values)
    return values


def _get_field(model: Any, path: str) -> Any:
    """Return a field of a request, or of a model inside it."""
    *parents, last = path.split(".")
    for parent in parents:
        model = next(
            kind for kind in list_types(model.model_fields[parent].annotation) if hasattr(kind, "model_fields")
        )
    return model.model_fields[last]


def _find_type(annotation: Any, *, free: bool) -> Any:
    """Return the type that typer reads for a field: a flag, a number, one of some words, or any word or words."""
    kinds = list_types(annotation)
    if any(get_origin(kind) is list for kind in kinds):
        return list[str]
    if not free and (choice := next((kind for kind in kinds if get_origin(kind) is Literal), None)):
        return choice
    return next((kind for kind in (bool, int) if kind in kinds), str)


def build_completion(*words: str) -> Callable[[str], list[str]]:
    """Return the completion function for an argument that is one of these words."""
    return lambda incomplete: [word for word in words if word.lower().startswith(incomplete.lower())]

"""The parameters of a command: fields of a request, each declared by what differs from the request's own declaration.

``@asks(OPERATION, argument("query", "QUERY"), option("offset"), ...)`` gives a command a parameter for each field; its
type, default and description are those of the request, so that the help says what the contract says. The command is
called with what was asked for as a dictionary, ready to be a request.
"""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_origin

import typer

from entrez_kit.core.model import Request, describe_field, types_in
from entrez_kit.core.operation import Operation

_THE_REQUESTS: Final = object()
"""Stands for the default that the request has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A field of a request as a parameter of a command.

    Args:
        path: the field; ``date_range.min_date`` goes deeper.
        names: what the option is called; an argument has none.
        metavar: what stands for its value.
        help: what is said in place of the field's description.
        more: what is said behind it.
        panel: where it stands in the help.
        words: what its value is completed to; the request says what is wrong with another.
        kind: what typer reads, where the field says too little.
        default: what it is unless given, where the request says otherwise.
        joined: whether several words are one text, so that a query needs no quotes.
    """

    path: str
    names: tuple[str, ...] = ()
    metavar: str | None = None
    help: str = ""
    more: str = ""
    panel: str | None = None
    words: Iterable[str] = ()
    kind: Any = None
    default: Any = _THE_REQUESTS
    joined: bool = False

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    def parameter(self, request: Any) -> inspect.Parameter:
        """Return the parameter that typer reads."""
        field = _field(request, self.path)
        # Square brackets are markup to the help page, and field tags to PubMed.
        text = f"{self.help or describe_field(field).replace('[', chr(92) + '[')} {self.more}".rstrip()
        kind: Any
        default = self.default
        if self.metavar is not None and self.metavar.endswith("..."):
            kind, default = list[str], None  # they may come from a file as well
        else:
            kind = self.kind or (list[str] if self.joined else _kind(field.annotation, free=bool(self.words)))
            if default is _THE_REQUESTS:
                default = (
                    inspect.Parameter.empty if field.is_required() else field.get_default(call_default_factory=True)
                )
            default = None if default == [] else default
        if self.names:
            metavar = self.metavar or ("N" if kind is int else None)
            complete = completion(*self.words) if self.words else None
            said = typer.Option(
                *self.names, metavar=metavar, help=text, rich_help_panel=self.panel, autocompletion=complete
            )
        else:
            said = typer.Argument(metavar=self.metavar, help=text)
        optional = kind | None if default is None else kind
        annotation = Annotated[optional, said]  # type: ignore[valid-type]  # typer reads it
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def option(path: str, *names: str, **differing: Any) -> Parameter:
    """Return the option for a field of a request: called as the field is, unless a long name is among its names."""
    if not any(name.startswith("--") for name in names):
        names = (*names, f"--{path.rpartition('.')[2].replace('_', '-')}")
    return Parameter(path=path, names=names, **differing)


def argument(path: str, metavar: str, **differing: Any) -> Parameter:
    """Return the argument for a field of a request; one that ends in three dots may be many, or none."""
    return Parameter(path=path, metavar=metavar, **differing)


def request_options(
    source: Operation[Any, Any] | type[Request], *parameters: Parameter | str
) -> Callable[[Callable[..., None]], Any]:
    """Give a command a parameter for each field it asks for, in this order, and call it with their values.

    Args:
        source: whose fields: a request, or the operation that has it.
        parameters: fields; a name alone is a parameter of the command's own, those that are not named come last.
    """
    request = source.request if isinstance(source, Operation) else source
    asked = [one for one in parameters if isinstance(one, Parameter)]

    def declare(function: Callable[..., None]) -> Any:
        own = dict(inspect.signature(function).parameters)
        own.pop("asked")
        made = [own.pop("ctx")]
        made += [own.pop(one) if isinstance(one, str) else one.parameter(request) for one in parameters]

        @wraps(function)
        def command(**given: Any) -> None:
            values: dict[str, Any] = {}
            for one in asked:
                value = given.pop(one.name)
                group = one.path.rpartition(".")[0]
                if isinstance(value, Path):
                    value = str(value)
                if not group:
                    values[one.name] = " ".join(value) if one.joined and value is not None else value
                elif value != _field(request, one.path).default:
                    values.setdefault(group, {})[one.name] = value
            function(asked=values, **given)

        signature = inspect.Signature(
            [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*made, *own.values())]
        )
        command.__signature__ = signature  # type: ignore[attr-defined]  # typer reads it
        return command

    return declare


def _field(model: Any, path: str) -> Any:
    """Return a field of a request, or of a model inside it."""
    *parents, last = path.split(".")
    for parent in parents:
        model = next(kind for kind in types_in(model.model_fields[parent].annotation) if hasattr(kind, "model_fields"))
    return model.model_fields[last]


def _kind(annotation: Any, *, free: bool) -> Any:
    """Return what typer has to read for a field: a switch, a number, one of some words, or any word, once or often."""
    kinds = types_in(annotation)
    if any(get_origin(kind) is list for kind in kinds):
        return list[str]
    if not free and (choice := next((kind for kind in kinds if get_origin(kind) is Literal), None)):
        return choice
    return next((kind for kind in (bool, int) if kind in kinds), str)


def completion(*words: str) -> Callable[[str], list[str]]:
    """Return what completes an argument that is one of these words."""
    return lambda incomplete: [word for word in words if word.lower().startswith(incomplete.lower())]

"""What commands that take many ids have in common: reading them, a progress bar, and lines for those that failed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import typer

from entrez_kit.errors import InvalidInput
from entrez_kit.model import Request, Result
from entrez_kit.operation import Operation
from entrez_kit.services import Services
from entrez_kit.tracing import Watch, watched

from ._formats import Failed
from ._input import STDIN, Known, read_ids, stdin_is_terminal
from ._progress import progress
from ._run import View, note, run, state

Req = TypeVar("Req", bound=Request)
Res = TypeVar("Res", bound=Result)

CODES: Final = {
    "not_found": "ENTITY_NOT_FOUND",
    "invalid": "INVALID_INPUT",
    "mismatch": "ENTITY_NOT_FOUND",
    "ambiguous": "AMBIGUOUS_QUERY",
    "error": "UPSTREAM_ERROR",
}
ONE_REQUEST: Final = 200
"""Up to so many ids there is nothing to watch."""

InputFiles = Annotated[
    list[Path] | None,
    typer.Option("-i", "--input", metavar="FILE", help="File of ids: text, JSON lines or a table. May be repeated."),
]


def failed(given: str, status: str, message: str | None, **more: Any) -> Failed:
    """Return the line of jsonl for an input that came to nothing."""
    extra = {name: value for name, value in more.items() if value}
    return Failed(input=given, status=status, error={"code": CODES[status], "message": message or ""}, **extra)


def run_for_ids(
    ctx: typer.Context,
    operation: Operation[Req, Res],
    arguments: Mapping[str, Any],
    view: View[Res],
    *,
    typed: Sequence[str] | None,
    files: Sequence[Path] | None,
    empty: Res,
    label: str,
    known: Known | None = None,
) -> None:
    """Read ids, run the operation on them under a progress bar, and print the result.

    Args:
        ctx: the command's context.
        operation: what to run; its request has the field ``ids``.
        arguments: the other fields of the request.
        view: how to show the result.
        typed: ids as typed; ``-`` is standard input.
        files: more ids.
        empty: what to print where standard input holds no ids: a search without hits may stand before us in the pipe.
        label: what the progress bar says.
        known: tells an identifier from a word of text, where ids are not those of articles.

    Raises:
        InvalidInput: no ids were given, or they cannot be read.
    """
    if not typed and not files:
        raise InvalidInput(
            "No ids were given.",
            invalid_input="ids",
            recovery_hint="Name ids; - reads them from standard input, -i FILE from a file.",
            details={"reason": "no_identifiers"},
        )
    if STDIN in (typed or ()) and stdin_is_terminal():
        note(ctx, "Type ids, one or many per line; Ctrl-D ends.")
    ids = read_ids(typed or [], files or [], known=known)
    if not ids:
        note(ctx, "No ids came from standard input; nothing was asked for.")
        run(ctx, replace(operation, function=lambda services, request: empty), {**arguments, "ids": ["0"]}, view)
        return
    run(ctx, _watched(ctx, operation, label, len(ids)), {**arguments, "ids": ids}, view)


def _watched(ctx: typer.Context, operation: Operation[Req, Res], label: str, total: int) -> Operation[Req, Res]:
    """Return the operation with a progress bar, where it takes more than a request."""
    if total <= ONE_REQUEST:
        return operation
    function = operation.function

    def call(services: Services, request: Req) -> Res:
        with progress(state(ctx), label, total=total) as advance:
            watch = Watch(wanted=lambda: True, progress=lambda done, known: advance(done, known or total))
            with watched(watch):
                return function(services, request)

    return replace(operation, function=call)

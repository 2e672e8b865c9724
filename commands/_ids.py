"""What commands over many ids have in common: reading them, and the lines of jsonl for those that came to nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from entrez_kit.errors import EntrezKitError, InvalidInput

from ._formats.writer import Failed
from ._input import Known, read_ids, stdin_is_terminal
from ._pipeline import note
from ._state import STDIN

CODES: Final = {
    "not_found": "ENTITY_NOT_FOUND",
    "invalid": "INVALID_INPUT",
    "mismatch": "ENTITY_NOT_FOUND",
    "ambiguous": "AMBIGUOUS_QUERY",
    "error": "UPSTREAM_ERROR",
}
ONE_REQUEST: Final = 200
"""Up to so many ids there is nothing to watch."""
NOTHING_ASKED: Final = "No ids came from standard input; nothing was asked for."

InputFiles = Annotated[
    list[Path] | None,
    typer.Option("-i", "--input", metavar="FILE", help="File of ids: text, JSON lines or a table. May be repeated."),
]


def failed(given: str, status: str, message: str | None, *, code: str | None = None, **more: Any) -> Failed:
    """Return the line of jsonl for an input that came to nothing."""
    extra = {name: value for name, value in more.items() if value}
    error = {"code": code or CODES[status], "message": message or ""}
    return Failed(input=given, status=status, error=error, **extra)


def read_inputs(
    ctx: typer.Context,
    typed: Sequence[str] | None,
    files: Sequence[Path] | None,
    *,
    field: str = "ids",
    noun: str = "ids",
    known: Known | None = None,
    hint: str = "Name ids; - reads them from standard input, -i FILE from a file.",
    error: type[EntrezKitError] = InvalidInput,
) -> list[str]:
    """Read the ids a command is to work on.

    Args:
        ctx: the command's context.
        typed: ids as typed; ``-`` is standard input.
        files: more ids.
        field: the field of the request that holds them.
        noun: what they are called.
        known: tells an identifier from a word of text, where ids are not those of articles.
        hint: what to do where none are given.
        error: what it is when none are given.

    Raises:
        InvalidInput: no ids were given, or they cannot be read.
    """
    if not typed and not files:
        raise error(
            f"No {noun} were given.", invalid_input=field, recovery_hint=hint, details={"reason": "no_identifiers"}
        )
    if STDIN in (typed or ()) and stdin_is_terminal():
        note(ctx, f"Type {noun}, one or many per line; Ctrl-D ends.")
    return read_ids(typed or (), files or (), known=known)


NAME_ARTICLES: Final = "Name PMIDs, PMCIDs or DOIs; - reads them from standard input, -i FILE from a file."

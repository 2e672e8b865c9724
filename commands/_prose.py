"""Print a text to read: rendered on a terminal, as it is into a pipe, a document where one is asked for."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from ._output import Sink
from ._pipeline import emit, plan, state
from ._state import SUFFIXES

if TYPE_CHECKING:
    from rich.console import RenderableType


def print_text(
    ctx: typer.Context, document: Any, text: str, rendered: "Callable[[], RenderableType] | None" = None
) -> None:
    """Print a text, or the document that holds it.

    A pipe gets the text itself unless json was asked for: a guide is read by people, a path by a shell.

    Args:
        ctx: the command's context.
        document: what json prints.
        text: what everything else prints.
        rendered: what a terminal shows; the text itself by default.
    """
    made = plan(ctx)
    if made.format == "table" and rendered is not None:
        emit(ctx, document, rendered)
    elif made.format == "json" and _asked_for(ctx):
        emit(ctx, document, lambda: text)
    else:
        with Sink(made.target) as sink:
            sink.data(text if text.endswith("\n") else f"{text}\n")


def _asked_for(ctx: typer.Context) -> bool:
    """Tell whether a format was named, by a flag or by the suffix of the file to write."""
    flags = state(ctx).flags
    target = flags.get("output")
    return bool(flags.get("json") or flags.get("format") or (target and target.suffix.lower() in SUFFIXES))

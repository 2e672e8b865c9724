"""`entrez-kit corpus checkpoint`: show the checkpoint of a query, set it, and show its log."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from entrez_kit.base.output_formats import Family
from entrez_kit.corpus.models import UserCheckpointRequest
from entrez_kit.corpus.operations import CHECKPOINT_GET, CHECKPOINT_SET

from . import _views
from ._emit import emit
from ._formats import View
from ._options import App, build_argument, build_option, request_options
from ._pipeline import build_request, get_state, run
from ._state import accept_formats

if TYPE_CHECKING:
    from entrez_kit.corpus.models import CheckpointGetResult, CheckpointSetResult

app = App(help="The checkpoint of a query: show it, set it, show its log.")


@app.command("get")
@request_options(CHECKPOINT_GET.request, build_argument("query_key", "KEY"))
def checkpoint_get_command(ctx: typer.Context, options: dict[str, Any]) -> None:
    """Show the entry date (EDAT) up to which a query is synced."""
    request = build_request(ctx, CHECKPOINT_GET, options)
    view: View[CheckpointGetResult] = View(lambda result, console: _views.corpus.render_checkpoint(result, console))
    run(ctx, CHECKPOINT_GET, request, view)


@app.command("set")
@request_options(
    UserCheckpointRequest,
    build_argument("query_key", "KEY"),
    build_argument("last_edat", "TIME"),
    build_option("note", metavar="TEXT", help="Reason of the change, for the log."),
)
def checkpoint_set_command(ctx: typer.Context, options: dict[str, Any]) -> None:
    """Set the date from which the next sync starts; an earlier date checks older records again. The change is logged.

    entrez-kit corpus checkpoint set crispr 2025-01-01 --note "backfill"
    """

    view: View[CheckpointSetResult] = View(
        lambda result, console: _views.corpus.render_new_checkpoint(result, console, query_key=options["query_key"])
    )
    run(ctx, CHECKPOINT_SET, build_request(ctx, CHECKPOINT_SET, options, UserCheckpointRequest), view)


@app.command("log")
@accept_formats(Family.SCREEN, Family.DOCUMENT, Family.ROWS)
def checkpoint_log_command(
    ctx: typer.Context, query_key: Annotated[str, typer.Argument(metavar="KEY", help="Name of the corpus.")]
) -> None:
    """Show the changes of a checkpoint by syncs, users and new terms, latest first."""
    from entrez_kit.corpus.store import store_of

    log = store_of(get_state(ctx).services).checkpoint_log(query_key)
    emit(ctx, log, lambda: _views.corpus.render_checkpoint_log(log), records=log.entries)

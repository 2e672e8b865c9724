"""`entrez-kit spell`: NCBI's spelling suggestion."""

from typing import Any

import typer

from entrez_kit.base.output_formats import Family
from entrez_kit.databases.spell import SPELL

from . import _views
from ._formats import View
from ._formats.fields import build_columns
from ._options import App, build_argument, build_option, request_options
from ._pipeline import build_request, run
from ._state import accept_formats

app = App()


@app.command("spell")
@accept_formats(Family.SCREEN, Family.DOCUMENT, Family.ROWS, fields="original,corrected")
@request_options(SPELL.request, build_argument("query", "QUERY", joined=True), build_option("db", metavar="DB"))
def spell_command(ctx: typer.Context, options: dict[str, Any]) -> None:
    """Check the spelling of a query.

    If NCBI suggests nothing, the query is returned unchanged; its spelling may still be wrong.
    entrez-kit spell astma inhaler
    """
    request = build_request(ctx, SPELL, options)
    columns = build_columns("original", "corrected", "has_suggestion")
    run(
        ctx,
        SPELL,
        request,
        View(table=lambda result, console: _views.databases.render_spelling(result, console), columns=columns),
    )

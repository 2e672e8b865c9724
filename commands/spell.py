"""`entrez-kit spell`: NCBI's spelling suggestion."""

import typer

from entrez_kit.base.output_formats import Family
from entrez_kit.databases.spell import SPELL, SpellRequest

from . import _views
from ._formats import View
from ._formats.fields import build_columns
from ._options import build_argument, build_option, request_options
from ._pipeline import run
from ._state import accept_formats


@accept_formats(Family.SCREEN, Family.DOCUMENT, Family.ROWS, fields="original,corrected")
@request_options(SPELL, build_argument("query", "QUERY", joined=True), build_option("db", metavar="DB"))
def command(ctx: typer.Context, request: SpellRequest) -> None:
    """Check the spelling of a query: entrez-kit spell astma inhaler.

    Without a suggestion the query is returned unchanged; its spelling may still be wrong.
    """
    columns = build_columns("original", "corrected", "has_suggestion")
    run(
        ctx,
        SPELL,
        request,
        View(table=lambda result, console: _views.databases.render_spelling(result, console), columns=columns),
    )

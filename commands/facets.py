"""`entrez-kit facets`: counts of a query's results by year, journal, type and MeSH heading."""

from typing import Any

import typer

from entrez_kit.base.output_formats import Family
from entrez_kit.pubmed.facets import COUNT_FACETS, FACETS, FacetRow, FacetsResult

from . import _views
from ._formats import View
from ._formats.fields import build_columns
from ._options import BROADER, App, build_argument, build_option, request_options
from ._pipeline import build_request, run
from ._state import accept_formats

app = App()


@app.command("facets")
@accept_formats(Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.COUNT, fields="value,count")
@request_options(
    COUNT_FACETS.request,
    build_argument("query_term", "QUERY", joined=True),
    build_option("facets", "--by", metavar="FACET", more="May be repeated; default: all.", words=FACETS),
    build_option("top", "-n", "--top"),
    build_option("max_records"),
    BROADER,
)
def facets_command(ctx: typer.Context, options: dict[str, Any]) -> None:
    """Count a query's results by year, journal, publication type and MeSH heading.

    entrez-kit facets crispr sickle cell

    One facet as a table for a spreadsheet:
    entrez-kit facets crispr --by year -n 30 -o years.csv
    """
    request = build_request(ctx, COUNT_FACETS, options)
    columns = build_columns("facet", "value", "count", "ui")
    view: View[FacetsResult] = View(
        lambda result, console: _views.databases.render_facets(result, console), record_model=FacetRow, columns=columns
    )
    run(ctx, COUNT_FACETS, request, view, label="Reading records")

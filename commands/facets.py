"""`entrez-kit facets`: what a query finds by year, journal, type and MeSH heading."""

from typing import Any

import typer

from entrez_kit.pubmed.facets import COUNT_FACETS, FACETS, FacetRow, FacetsResult

from ._formats.fields import columns_at
from ._options import argument, option, request_options
from ._pipeline import View, accepts, run, show_with


@accepts("table", "json", "jsonl", "csv", "tsv", "count")
@request_options(
    COUNT_FACETS,
    argument("query_term", "QUERY", joined=True),
    option("facets", "--by", metavar="FACET", more="May be repeated; all unless given.", words=FACETS),
    option("top", "-n", "--top"),
    option("max_records"),
    option("broader_results", "--broader/--no-broader"),
)
def command(ctx: typer.Context, asked: dict[str, Any]) -> None:
    """Count years, journals, types and MeSH headings of what a query finds.

    Says over how many of the results it counted: entrez-kit facets crispr sickle cell
    One kind as a table for a spreadsheet: entrez-kit facets crispr --by year -n 30 -o years.csv
    """
    columns = columns_at("facet", "value", "count", "ui")
    view: View[FacetsResult] = View(show_with("databases.facets_table"), record_model=FacetRow, columns=columns)
    run(ctx, COUNT_FACETS, asked | {"facets": ",".join(asked["facets"])}, view, label="Reading records")

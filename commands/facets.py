"""`entrez-kit facets`: what a query finds by year, journal, type and MeSH heading."""

from functools import partial
from typing import Annotated, Final

import typer

from entrez_kit.pubmed.facets import COUNT_FACETS, FACETS, FacetRow, FacetsResult

from ._formats.fields import as_data, columns_at
from ._pipeline import View, accepts, argument, option, run, show_with

COLUMNS: Final = ("facet", "value", "count", "ui")


field: Final = partial(option, COUNT_FACETS)


@accepts("table", "json", "jsonl", "csv", "tsv", "count")
def command(
    ctx: typer.Context,
    query_term: Annotated[list[str], argument(COUNT_FACETS, "query_term", metavar="QUERY")],
    facets: Annotated[
        list[str], field("facets", "--by", metavar="FACET", more="May be repeated; all unless given.", words=FACETS)
    ] = [*FACETS],  # noqa: B006  # typer copies it
    top: Annotated[int, field("top", "-n", "--top", metavar="N")] = 10,
    max_records: Annotated[int, field("max_records", "--max-records", metavar="N")] = 1_000,
) -> None:
    """Count years, journals, types and MeSH headings of what a query finds.

    Says over how many of the results it counted: entrez-kit facets crispr sickle cell
    One kind as a table for a spreadsheet: entrez-kit facets crispr --by year -n 30 -o years.csv
    """
    view: View[FacetsResult] = View(
        table=show_with("databases.facets_table"),
        records=lambda result: (as_data(row) for row in result.records_inside()),
        record_model=FacetRow,
        columns=columns_at(*COLUMNS),
        records_key="facets",
        total=lambda result: result.total_found,
    )
    arguments = {
        "query_term": " ".join(query_term),
        "facets": ",".join(facets),
        "top": top,
        "max_records": max_records,
    }
    run(ctx, COUNT_FACETS, arguments, view, label="Reading records")

"""`entrez-kit mesh`: headings, synonyms, scope notes and tree numbers."""

from typing import Annotated, Any

import typer

from entrez_kit.databases.mesh import MESH, MeshRecord, MeshResult

from ._formats import as_data
from ._run import View, accepts, help_of, run


@accepts("table", "json", "jsonl", "csv", "tsv", "ids")
def command(
    ctx: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="TERM", help=help_of(MESH, "query"))],
    max_results: Annotated[
        int, typer.Option("-n", "--max-results", metavar="N", help=help_of(MESH, "max_results"), show_default=True)
    ] = 10,
    offset: Annotated[int, typer.Option("--offset", metavar="N", help=help_of(MESH, "offset"), show_default=True)] = 0,
    include_details: Annotated[
        bool, typer.Option("--details/--no-details", help=help_of(MESH, "include_details"))
    ] = True,
) -> None:
    """Look up MeSH headings by name, synonym or identifier."""

    def table(result: MeshResult, console: Any) -> Any:
        from ._databases import mesh_table

        return mesh_table(result, console)

    columns = ("ui", "name", "kind", "tree_numbers", "entry_terms", "scope_note")
    view: View[MeshResult] = View(
        table=table,
        records=lambda result: (as_data(record) for record in result.results),
        record_model=MeshRecord,
        columns={name: lambda record, name=name: record.get(name) for name in columns},
        records_key="results",
        id_key="ui",
    )
    arguments = {
        "query": " ".join(query),
        "max_results": max_results,
        "offset": offset,
        "include_details": include_details,
    }
    run(ctx, MESH, arguments, view)

"""`entrez-kit mesh`: headings, synonyms, scope notes and tree numbers."""

from functools import partial
from typing import Annotated, Final

import typer

from entrez_kit.databases.mesh import MESH, MeshRecord, MeshResult

from ._formats.fields import as_data, columns_at
from ._pipeline import View, accepts, argument, note, option, plan, run, show_with

COLUMNS: Final = ("ui", "name", "kind", "tree_numbers", "entry_terms", "scope_note")


field: Final = partial(option, MESH)


@accepts("table", "json", "jsonl", "csv", "tsv", "ids", "count")
def command(
    ctx: typer.Context,
    query: Annotated[list[str], argument(MESH, "query", metavar="TERM")],
    max_results: Annotated[int, field("max_results", "-n", "--max-results", metavar="N")] = 10,
    offset: Annotated[int, field("offset", "--offset", metavar="N")] = 0,
    include_details: Annotated[bool, field("include_details", "--details/--no-details")] = True,
    include_tree: Annotated[bool, field("include_tree", "--tree")] = False,
) -> None:
    """Look up MeSH headings by name, synonym, identifier or tree number.

    The heading that the words name comes first: entrez-kit mesh heart attack
    What stands above and below it: entrez-kit mesh C14.280.647.500 --tree
    Its name is what a search takes: entrez-kit search asthma --mesh "Myocardial Infarction"
    """

    def remarks(result: MeshResult) -> None:
        if plan(ctx).format == "table" and result.next_offset is not None:
            note(ctx, f"For more: --offset {result.next_offset}")

    view: View[MeshResult] = View(
        table=show_with("databases.mesh_table"),
        records=lambda result: (as_data(record) for record in result.results),
        record_model=MeshRecord,
        columns=columns_at(*COLUMNS),
        records_key="results",
        id_key="ui",
        total=lambda result: result.total_found,
    )
    arguments = {
        "query": " ".join(query),
        "max_results": max_results,
        "offset": offset,
        "include_details": include_details,
        "include_tree": include_tree,
    }
    run(ctx, MESH, arguments, view, afterwards=remarks)

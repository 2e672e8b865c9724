"""`entrez-kit mesh`: headings, synonyms, scope notes and tree numbers."""

from typing import Any

import typer

from entrez_kit.databases.mesh import MESH, MeshResult

from ._formats.fields import columns_at
from ._options import argument, option, request_options
from ._pipeline import View, accepts, note, plan, run, show_with


@accepts("table", "json", "jsonl", "csv", "tsv", "ids", "count")
@request_options(
    MESH,
    argument("query", "TERM", joined=True),
    option("max_results", "-n"),
    option("offset"),
    option("include_details", "--details/--no-details"),
    option("include_tree", "--tree"),
)
def command(ctx: typer.Context, asked: dict[str, Any]) -> None:
    """Look up MeSH headings by name, synonym, identifier or tree number.

    The heading that the words name comes first: entrez-kit mesh heart attack
    What stands above and below it: entrez-kit mesh C14.280.647.500 --tree
    Its name is what a search takes: entrez-kit search asthma --mesh "Myocardial Infarction"
    """

    def remarks(result: MeshResult) -> None:
        if plan(ctx).format == "table" and result.next_offset is not None:
            note(ctx, f"For more: --offset {result.next_offset}")

    columns = columns_at("ui", "name", "kind", "tree_numbers", "entry_terms", "scope_note")
    view: View[MeshResult] = View(table=show_with("databases.mesh_table"), columns=columns, id_key="ui")
    run(ctx, MESH, asked, view, afterwards=remarks)

"""`entrez-kit mesh`: headings, synonyms, scope notes, tree numbers and subheadings."""

from typing import Any

import typer

from entrez_kit.base.output_formats import Family
from entrez_kit.databases.mesh import MESH, MeshResult

from . import _views
from ._formats import View
from ._formats.fields import build_columns
from ._options import App, build_argument, build_option, request_options
from ._pipeline import build_request, plan, report_omitted, run
from ._state import accept_formats

app = App()


@app.command("mesh")
@accept_formats(Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.IDS, Family.COUNT, fields="name,ui")
@request_options(
    MESH.request,
    build_argument("query", "TERM", joined=True),
    build_option("max_results", "-n"),
    build_option("offset"),
    build_option(
        "include_details",
        "--details/--no-details",
        help="Show tree numbers, scope note, entry terms and subheadings.",
    ),
    build_option("include_tree", "--tree", help="Show the headings above and below each heading."),
)
def mesh_command(ctx: typer.Context, options: dict[str, Any]) -> None:
    """Look up MeSH headings by name, synonym, identifier or tree number.

    The best match is first:
    entrez-kit mesh heart attack

    The headings above and below a heading:
    entrez-kit mesh C14.280.647.500 --tree

    A search with a heading:
    entrez-kit search asthma --mesh "Myocardial Infarction"
    """
    request = build_request(ctx, MESH, options)

    def report_notes(result: MeshResult) -> None:
        if not plan(ctx).format.has_total and result.next_offset is not None:
            report_omitted(ctx, f"There are more results. Add --offset {result.next_offset} to show them.")

    columns = build_columns("ui", "name", "kind", "tree_numbers", "entry_terms", "scope_note", "subheadings")
    view: View[MeshResult] = View(
        table=lambda result, console: _views.databases.render_mesh(result, console), columns=columns, id_key="ui"
    )
    run(ctx, MESH, request, view, afterwards=report_notes)

"""`entrez-kit spell`: NCBI's spelling suggestion."""

from functools import partial
from typing import Annotated, Any, Final

import typer

from entrez_kit.databases.spell import SPELL, SpellResult

from ._formats.fields import as_data, values_at
from ._pipeline import View, accepts, help_of, run

COLUMNS: Final = ("original", "corrected", "has_suggestion")


@accepts("table", "json", "jsonl", "csv", "tsv")
def command(
    ctx: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help=help_of(SPELL, "query"))],
    db: Annotated[str, typer.Option("--db", metavar="DB", help=help_of(SPELL, "db"), show_default=True)] = "pubmed",
) -> None:
    """Check the spelling of a query: entrez-kit spell astma inhaler.

    Without a suggestion the query comes back as it is; that is no proof that the spelling is right.
    """

    def table(result: SpellResult, console: Any) -> Any:
        from ._views.databases import spell_table

        return spell_table(result, console)

    view: View[SpellResult] = View(
        table=table,
        records=lambda result: [as_data(result)],
        columns={name: partial(values_at, path=name) for name in COLUMNS},
        records_key="",
    )
    run(ctx, SPELL, {"query": " ".join(query), "db": db}, view)

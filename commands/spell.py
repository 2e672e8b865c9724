"""`entrez-kit spell`: NCBI's spelling suggestion."""

from typing import Annotated, Any

import typer

from entrez_kit.databases.spell import SPELL, SpellResult

from ._formats import as_data
from ._run import View, help_of, run


def command(
    ctx: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help=help_of(SPELL, "query"))],
    db: Annotated[str, typer.Option("--db", metavar="DB", help=help_of(SPELL, "db"), show_default=True)] = "pubmed",
) -> None:
    """Check the spelling of a query."""

    def table(result: SpellResult, console: Any) -> Any:
        from ._databases import spell_table

        return spell_table(result, console)

    view: View[SpellResult] = View(
        table=table,
        records=lambda result: iter([as_data(result)]),
        record_model=SpellResult,
        columns={},
        records_key="",
    )
    run(ctx, SPELL, {"query": " ".join(query), "db": db}, view)

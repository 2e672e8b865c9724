"""`entrez-kit spell`: NCBI's spelling suggestion."""

from typing import Annotated, Final

import typer

from entrez_kit.databases.spell import SPELL, SpellResult

from ._formats.fields import as_data, columns_at
from ._pipeline import View, accepts, argument, option, run, show_with

COLUMNS: Final = ("original", "corrected", "has_suggestion")


@accepts("table", "json", "jsonl", "csv", "tsv")
def command(
    ctx: typer.Context,
    query: Annotated[list[str], argument(SPELL, "query", metavar="QUERY")],
    db: Annotated[str, option(SPELL, "db", "--db", metavar="DB")] = "pubmed",
) -> None:
    """Check the spelling of a query: entrez-kit spell astma inhaler.

    Without a suggestion the query comes back as it is; that is no proof that the spelling is right.
    """

    view: View[SpellResult] = View(
        table=show_with("databases.spell_table"),
        records=lambda result: [as_data(result)],
        columns=columns_at(*COLUMNS),
        records_key="",
    )
    run(ctx, SPELL, {"query": " ".join(query), "db": db}, view)

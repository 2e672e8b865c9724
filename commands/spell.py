"""`entrez-kit spell`: NCBI's spelling suggestion."""

from typing import Any

import typer

from entrez_kit.databases.spell import SPELL

from ._formats.fields import columns_at
from ._options import argument, option, request_options
from ._pipeline import View, accepts, run, show_with


@accepts("table", "json", "jsonl", "csv", "tsv")
@request_options(SPELL, argument("query", "QUERY", joined=True), option("db", metavar="DB"))
def command(ctx: typer.Context, asked: dict[str, Any]) -> None:
    """Check the spelling of a query: entrez-kit spell astma inhaler.

    Without a suggestion the query comes back as it is; that is no proof that the spelling is right.
    """
    columns = columns_at("original", "corrected", "has_suggestion")
    run(ctx, SPELL, asked, View(table=show_with("databases.spell_table"), columns=columns))

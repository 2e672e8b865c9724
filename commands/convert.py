"""`entrez-kit convert`: PMID, PMCID and DOI into each other."""

from pathlib import Path
from typing import Annotated, Any

import typer

from entrez_kit.pubmed.convert import CONVERT, Conversion, ConvertResult

from ._formats import as_data
from ._input import read_ids
from ._run import View, accepts, help_of, run

COLUMNS = ("requested_id", "status", "pmid", "pmcid", "doi", "note", "message")


@accepts("table", "json", "jsonl", "csv", "tsv", "ids")
def command(
    ctx: typer.Context,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", help=f"{help_of(CONVERT, 'ids')} - reads standard input.")
    ] = None,
    id_type: Annotated[str | None, typer.Option("--id-type", metavar="KIND", help=help_of(CONVERT, "id_type"))] = None,
    files: Annotated[
        list[Path] | None, typer.Option("-i", "--input", metavar="FILE", help="Read ids from a file. May be repeated.")
    ] = None,
) -> None:
    """Convert article identifiers: entrez-kit convert 99000001 PMC99000002 10.5555/ekit.2024.3."""

    def table(result: ConvertResult, console: Any) -> Any:
        from ._databases import convert_table

        return convert_table(result, console)

    view: View[ConvertResult] = View(
        table=table,
        records=lambda result: (as_data(record) for record in result.records),
        record_model=Conversion,
        columns={name: lambda record, name=name: record.get(name) for name in COLUMNS},
        records_key="records",
    )
    run(ctx, CONVERT, {"ids": read_ids(ids or [], files or []), "id_type": id_type}, view)

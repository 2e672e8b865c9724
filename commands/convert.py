"""`entrez-kit convert`: convert between PMID, PMCID and DOI."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from entrez_kit.base.output_formats import Family
from entrez_kit.citations.style.style_names import HABITS
from entrez_kit.pubmed.convert import CONVERT, Conversion, ConvertRequest, ConvertResult

from ._formats import View
from ._formats.fields import Record, build_columns, convert_to_data
from ._ids import ONE_REQUEST, describe_failure
from ._options import Parameter, build_ids_argument, build_option, request_options
from ._pipeline import run
from ._state import accept_formats, usage_error
from ._views.text import get_standing_status

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


FILES: Final = ("ris", "bibtex", "csl", "nbib")
_FILES: Final = "files of references"


def _render_convert_table(result: ConvertResult, console: "Console") -> "RenderableType":
    from ._views.databases import convert_table

    return convert_table(result, console)


def _build_argument() -> Parameter:
    """Return the argument for ids, or for files of references if --to is given."""
    ids = build_ids_argument("ids", more="Or, with --to, files of references; - reads standard input.")

    def read(ctx: typer.Context, typed: Any, files: Any, values: dict[str, Any]) -> list[str] | None:
        if ctx.params.get("to") is not None:
            ctx.meta[_FILES] = [*map(Path, typed or ()), *(files or ())]
            return []
        assert ids.read is not None, "an argument for ids reads them"
        return ids.read(ctx, typed, files, values)

    return replace(ids, read=read)


def _convert_files(ctx: typer.Context, to: str) -> None:
    """Write the records of files in another format.

    Raises:
        InvalidInput: the format is unknown, or there is no file.
    """
    from ._reference_files import read_entries, write_references

    target = HABITS.get(to.strip().lower(), to.strip().lower())
    files: list[Path] = ctx.meta.get(_FILES) or []
    if target not in FILES:
        raise usage_error(f"--to {to}: there is no such format.", f"to={to}", f"Choose from {', '.join(FILES)}.")
    if not files:
        raise usage_error("--to needs a file of references.", "to", "Example: entrez-kit convert refs.bib --to ris")
    write_references(ctx, read_entries(ctx, files), target)


@accept_formats(Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.IDS)
@request_options(
    CONVERT,
    _build_argument(),
    build_option("id_type", metavar="KIND", words=("pmid", "pmcid", "doi")),
)
def command(
    ctx: typer.Context,
    request: ConvertRequest,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="FORMAT", help="Format of the records of files: ris, bibtex, csl or nbib."),
    ] = None,
) -> None:
    """Convert article identifiers, one outcome per id, in order. Or convert files of references, record by record.

    A file of references, with all its records: entrez-kit convert refs.bib --to ris -o refs.ris

    Kinds may be mixed: entrez-kit convert 99000001 PMC99000002 10.5555/ekit.2025.0006 -f csv
    -f ids prints PMIDs, or the PMCID of an article outside PubMed.
    """

    if to is not None:
        _convert_files(ctx, to)
        return

    def yield_records(record: Conversion) -> Iterator[Record]:
        if record.status == "found":
            yield convert_to_data(record)
        else:
            yield describe_failure(record.requested_id, record.status, record.message)

    view: View[ConvertResult] = View(
        table=_render_convert_table,
        records=yield_records,
        columns=build_columns("requested_id", "pmid", "pmcid", "doi", "note") | {"standing": get_standing_status},
        ids=lambda record: [record.pmid or record.pmcid or record.doi] if record.status == "found" else [],
    )
    run(ctx, CONVERT, request, view, label="Converting", least=ONE_REQUEST)

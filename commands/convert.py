"""`entrez-kit convert`: convert between PMID, PMCID and DOI."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from entrez_kit.base.frontend_text import describe_wrong_value, list_choices
from entrez_kit.base.output_formats import BY_NAME, BY_SUFFIX, Family, Format, list_formats
from entrez_kit.citations.style.style_names import HABITS
from entrez_kit.pubmed.convert import CONVERT, Conversion, ConvertResult

from . import _views
from ._files import is_file
from ._formats import View
from ._formats.fields import Record, build_columns, convert_to_data
from ._ids import ONE_REQUEST, describe_failure, read_inputs
from ._options import App, FilesOfIds, build_ids_argument, build_option, request_options
from ._pipeline import build_request, get_state, plan, run
from ._reference_files import read_reference_files, select_files, write_references
from ._state import TEXT_SUFFIXES, accept_formats, refuse_fields, usage_error
from ._views.text import get_standing_status

app = App()

FILES: Final = list_formats(Family.REFERENCES)


def _choose_format(ctx: typer.Context, to: str | None) -> Format | None:
    """Return the format of --to, -f or -o for files of references; None if the arguments are ids.

    Raises:
        InvalidInput: the format of --to is unknown, or another one is selected too.
    """
    output = plan(ctx)
    if to is None and output.format not in FILES:
        return None
    selected = output.format if to is None else _read_format(to)
    flags, suffix = get_state(ctx).flags, output.target.suffix.lower() if output.target is not None else ""
    if flags.get("format") or flags.get("json"):
        is_other = output.format is not selected
    else:
        is_other = BY_SUFFIX.get(suffix, selected) is not selected and suffix not in (*TEXT_SUFFIXES, *selected.also_in)
    if is_other:
        raise usage_error(f"--to {to} cannot be used with {output.source}.", f"to={to}", "Name one format.")
    refuse_fields(replace(output, format=selected, source=output.source if to is None else f"--to {to}"))
    return selected


def _read_format(to: str) -> Format:
    """Return the format that --to names.

    Raises:
        InvalidInput: there is no such format.
    """
    name = to.strip().lower()
    selected = BY_NAME.get(HABITS.get(name, name))
    if selected is None or selected not in FILES:
        message = describe_wrong_value("--to", list_choices([file.name for file in FILES]), to)
        raise usage_error(message, f"to={to}", "`entrez-kit guide output` describes the formats.")
    return selected


def _convert_files(ctx: typer.Context, files: list[Path], target: Format) -> None:
    """Write the records of files in another format.

    Raises:
        InvalidInput: no file was given, or an argument is an id.
    """
    from ._id_lists import is_article_id

    if not files:
        raise usage_error("--to needs a file of references.", "to", "Example: entrez-kit convert refs.bib --to ris")
    ids = [str(file) for file in files if not is_file(str(file)) and is_article_id(str(file))]
    if ids:
        raise usage_error(
            f"{ids[0]} is an id, not a file of references.",
            f"ids={ids[0]}",
            f"To write the record of an id, run `entrez-kit fetch {ids[0]} -f {target}`.",
        )
    write_references(ctx, read_reference_files(ctx, files), target.name)


@app.command("convert")
@accept_formats(Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.IDS, Family.REFERENCES, fields="requested_id,pmid")
@request_options(
    CONVERT.request,
    build_ids_argument("ids", more="Or, with --to, files of references; - reads standard input."),
    build_option(
        "id_type",
        metavar="KIND",
        help="Kind of ids that are only numbers: pmid, pmcid or doi.",
        words=("pmid", "pmcid", "doi"),
    ),
)
def convert_command(
    ctx: typer.Context,
    options: dict[str, Any],
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="FORMAT", help="Format of the records of files: ris, bibtex, csl or nbib."),
    ] = None,
    input: FilesOfIds = None,
) -> None:
    """Convert article identifiers, one outcome per id, in order. Or convert files of references, record by record.

    All kinds of ids in one call:
    entrez-kit convert 99000001 PMC99000002 10.5555/ekit.2025.0006 -f csv

    A file of references, with all its records:
    entrez-kit convert refs.bib --to ris -o refs.ris

    -f ids prints PMIDs, or the PMCID of an article that is not in PubMed.
    """
    target = _choose_format(ctx, to)
    typed = options["ids"] or []
    if target is None and (files := [file for file in select_files(typed, None) if is_file(str(file))]):
        raise usage_error(
            f"{files[0]} is a file, and --to is missing: no format was given for its records.",
            "to",
            "Add --to ris, bibtex, csl or nbib to convert its records, or -i before the file to read ids from it.",
        )
    options["ids"] = read_inputs(ctx, typed, input) if target is None else []
    request = build_request(ctx, CONVERT, options)
    if target is not None:
        _convert_files(ctx, [*map(Path, typed), *(input or ())], target)
        return

    def yield_records(record: Conversion) -> Iterator[Record]:
        if record.status == "found":
            yield convert_to_data(record)
        else:
            yield describe_failure(record.requested_id, record.status, record.message)

    view: View[ConvertResult] = View(
        table=lambda result, console: _views.databases.render_conversions(result, console),
        records=yield_records,
        columns=build_columns("requested_id", "pmid", "pmcid", "doi", "note") | {"standing": get_standing_status},
        ids=lambda record: [record.pmid or record.pmcid or record.doi] if record.status == "found" else [],
    )
    run(ctx, CONVERT, request, view, label="Converting", least=ONE_REQUEST)

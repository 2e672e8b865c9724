"""`entrez-kit review`: a systematic review as a folder of plain files."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from entrez_kit.base.errors import Exit
from entrez_kit.base.frontend_text import format_count, join_names
from entrez_kit.base.output_formats import Family
from entrez_kit.core.operation import Operation
from entrez_kit.reviews.dedupe_records import DEDUPE_RECORDS
from entrez_kit.reviews.export_works import SCREEN_EXPORT
from entrez_kit.reviews.import_decisions import DIFFERENT, IN_REVIEW, SCREEN_IMPORT, ScreenImportResult
from entrez_kit.reviews.import_records import IMPORT_RECORDS
from entrez_kit.reviews.init_review import INIT_REVIEW
from entrez_kit.reviews.search_review import SEARCH_REVIEW
from entrez_kit.reviews.show_status import CONTRADICTORY, SHOW_STATUS
from entrez_kit.reviews.update_review import UPDATE_REVIEW
from entrez_kit.reviews.write_report import WRITE_REPORT
from entrez_kit.strategies.strategy_text import read_strategy_text

from . import _views
from ._files import name_file, read_content
from ._formats import View
from ._options import App, build_argument, build_option, request_options
from ._pipeline import build_request, run, warn
from ._reference_sources import read_file_to_merge
from ._state import accept_formats

app = App(
    help="Keep a systematic review as a folder of plain files: search, import, deduplicate, screen, update, report.\n\n"
    "`entrez-kit guide review` explains the files and the steps.",
)

screen_app = App(help="Export the works to screen, and import the decisions.")
app.add_typer(screen_app, name="screen")

FOLDER: Final = build_option("folder", metavar="DIR")


def _view(title: str, folder: str) -> View[Any]:
    return View(table=lambda result, console: _views.review.render_review(result, folder), title=title)


def _run_step(ctx: typer.Context, operation: Operation[Any, Any], options: dict[str, Any], label: str) -> Any:
    """Run an operation with a single answer, print it, and return it."""
    view = _view(operation.title, str(options["folder"]))
    return run(ctx, operation, build_request(ctx, operation, options), view, label=label)


@app.command("init")
@request_options(
    INIT_REVIEW.request,
    build_argument("folder", "DIR"),
    build_option("title", metavar="TEXT"),
    build_option("dialect", metavar="SERVICE"),
)
def init_command(
    ctx: typer.Context,
    options: dict[str, Any],
    strategy: Annotated[
        Path,
        typer.Option("--strategy", metavar="FILE", help="The strategy (.txt, .md, .docx), or - for standard input."),
    ],
) -> None:
    """Create the folder of a review with its strategy.

    entrez-kit review init asthma --strategy ovid.txt --title "Asthma and cough"
    """
    options["strategy"] = read_strategy_text(read_content(strategy), name_file(strategy))
    _run_step(ctx, INIT_REVIEW, options, "Creating the review")


@app.command("search")
@request_options(SEARCH_REVIEW.request, FOLDER)
def search_command(ctx: typer.Context, options: dict[str, Any]) -> None:
    """Run the strategy in PubMed, and keep all records with a certificate of completeness.

    entrez-kit review search

    In a local copy, without a request:
    entrez-kit review search --local NAME
    """
    _run_step(ctx, SEARCH_REVIEW, options, "Searching")


@app.command("import")
@request_options(
    IMPORT_RECORDS.request,
    FOLDER,
    build_option("source", metavar="NAME"),
    build_option("platform", metavar="TEXT"),
    build_option("searched", metavar="DATE"),
)
def import_command(
    ctx: typer.Context,
    options: dict[str, Any],
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",  # typer adds the dots
            help="Files of records. .ris .nbib .ciw .bib .json .xml (EndNote) .csv .txt, or -.",
        ),
    ],
) -> None:
    """Import the records of another database. Records of an earlier import are not added again.

    A trial register is recognized by its name. Set the kind of other registers and of websites in review.toml.
    entrez-kit review import --source Embase --searched 2026-11-23 embase-1.ris
    """
    options["files"] = [read_file_to_merge(ctx, file) for file in files]
    _run_step(ctx, IMPORT_RECORDS, options, "Importing")


@app.command("dedupe")
@request_options(DEDUPE_RECORDS.request, FOLDER)
def dedupe_command(ctx: typer.Context, options: dict[str, Any]) -> None:
    """Link the records of the same work. The exit status is 4 if you must decide pairs in duplicates.csv.

    It is also 4 if the records of a work have screening decisions that contradict each other.
    entrez-kit review dedupe
    """
    result = _run_step(ctx, DEDUPE_RECORDS, options, "Comparing")
    if result is not None and result.undecided:
        pairs = f"{format_count(len(result.undecided), 'pair')} of records"
        warn(ctx, f"Decide {pairs} in {result.file}: same, different or family. Then repeat the command.")
    is_contradictory = result is not None and any(one.code == CONTRADICTORY for one in result.warnings)
    if result is not None and (result.undecided or is_contradictory):
        raise typer.Exit(int(Exit.PARTIAL))


@app.command("status")
@request_options(SHOW_STATUS.request, FOLDER)
def status_command(ctx: typer.Context, options: dict[str, Any]) -> None:
    """Check all files of the review, and show its runs, numbers and next step.

    entrez-kit review status
    """
    _run_step(ctx, SHOW_STATUS, options, "Reading")


@app.command("update")
@request_options(UPDATE_REVIEW.request, FOLDER, build_option("by_date"))
def update_command(ctx: typer.Context, options: dict[str, Any]) -> None:
    """Search again, and list new, missing, changed, retracted and corrected records, and published preprints.

    Records that the search no longer finds are kept. New records are deduplicated against all others.
    entrez-kit review update
    """
    result = _run_step(ctx, UPDATE_REVIEW, options, "Searching")
    if result is not None and result.undecided:
        warn(
            ctx,
            f"{format_count(result.undecided, 'pair')} of records to decide in duplicates.csv. Then run review dedupe.",
        )


@screen_app.command("export")
@accept_formats(
    Family.SCREEN, Family.DOCUMENT, files="The RIS files are written to the folder screening of the review."
)
@request_options(SCREEN_EXPORT.request, FOLDER, build_option("stage", metavar="STAGE"), build_option("every", "--all"))
def screen_export_command(ctx: typer.Context, options: dict[str, Any]) -> None:
    """Write the works without a decision as RIS for Covidence, Rayyan or ASReview.

    The folder of the stage, such as screening/title_abstract, gets one file for each source, and all.ris.
    entrez-kit review screen export
    """
    _run_step(ctx, SCREEN_EXPORT, options, "Writing")


@screen_app.command("import")
@request_options(
    SCREEN_IMPORT.request,
    FOLDER,
    build_option("stage", metavar="STAGE"),
    build_option("decision", metavar="DECISION"),
    build_option("reason", metavar="TEXT"),
    build_option("automation"),
    build_option("replace"),
)
def screen_import_command(
    ctx: typer.Context,
    options: dict[str, Any],
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Exports of a screening program (.ris .csv .tsv .xml), or -."),
    ],
) -> None:
    """Import screening decisions.

    Rows that are unknown or contradict other decisions are listed and not applied. The exit status is then 4.

    From Rayyan or ASReview:
    entrez-kit review screen import rayyan.csv

    The list of excluded full texts from Covidence:
    entrez-kit review screen import out.csv --stage full_text --decision exclude
    """
    options["files"] = [read_file_to_merge(ctx, file) for file in files]
    result = _run_step(ctx, SCREEN_IMPORT, options, "Matching")
    if result is not None and (result.unknown or result.contradictory):
        warn(ctx, _describe_rest(result))
        raise typer.Exit(int(Exit.PARTIAL))


def _describe_rest(result: ScreenImportResult) -> str:
    """Return how many rows were not applied, and what to do about each group of them."""
    several = [row for row in result.unknown if len(row.records) > 1]
    different = [row for row in result.contradictory if row.why.startswith(DIFFERENT)]
    earlier = [row for row in result.contradictory if row.why.startswith(IN_REVIEW)]
    groups = (
        (len(result.unknown) - len(several), "of unknown records", ""),
        (len(several), "with several matching records", "Add the ids of the records, or deduplicate them."),
        (
            len(different),
            "with different decisions on one record",
            "Resolve these conflicts in the screening program, or give a table with the columns id and decision.",
        ),
        (len(earlier), "in conflict with earlier decisions", "--replace replaces earlier decisions."),
        (
            len(result.contradictory) - len(different) - len(earlier),
            "in conflict with another stage",
            "Correct these rows, or the decisions of the other stage in screening.csv.",
        ),
    )
    listed = " and ".join(f"{format_count(number, 'row')} {what}" for number, what, _ in groups if number)
    places = join_names(row.place for row in (*result.unknown, *result.contradictory))
    advices = (advice for number, _, advice in groups if number and advice)
    return " ".join([f"Not applied: {listed} ({places}).", *advices])


@app.command("report")
@accept_formats(
    Family.SCREEN,
    Family.DOCUMENT,
    files="The page, the diagram and the Word document are written to the folder report of the review.",
)
@request_options(WRITE_REPORT.request, FOLDER)
def report_command(ctx: typer.Context, options: dict[str, Any]) -> None:
    """Write the report: a page with all works, the PRISMA 2020 flow diagram, PRISMA-S, and the strategies for Word.

    All numbers are counted from the records. The files are in the folder report.
    entrez-kit review report
    """
    _run_step(ctx, WRITE_REPORT, options, "Writing")

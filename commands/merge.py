"""`entrez-kit merge`: merge files of references, and review the merges."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from entrez_kit.base.errors import Exit
from entrez_kit.base.frontend_text import describe_wrong_value, format_count, join_names
from entrez_kit.base.output_formats import Family, list_formats
from entrez_kit.references.merge.merge_documents import MergeResult
from entrez_kit.references.merge.merge_references import MERGE_REFERENCES
from entrez_kit.references.merge.works import FILES

from . import _views
from ._formats import Sink, TextWriter, View
from ._formats.fields import DocumentPaths, Record, build_columns
from ._options import App
from ._pipeline import build_request, get_state, note, run, warn
from ._reference_sources import read_file_to_merge, read_text_file
from ._state import accept_formats, usage_error

if TYPE_CHECKING:
    from entrez_kit.references.merge.review import ReviewRow

app = App()

COLUMNS: Final = (
    *("id", "title", "authors", "year", "journal", "volume", "issue", "pages", "doi", "pmid", "pmcid", "sources"),
    *("members", "families", "abstract"),
)


@app.command("merge")
@accept_formats(
    Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.PAGES, Family.COUNT, Family.REFERENCES, fields="title,sources"
)
def merge_command(
    ctx: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",  # typer adds the dots
            help="Files of records, in any order. .ris .nbib .ciw .bib .json .xml (EndNote) .csv .txt, manuscripts, "
            "or -.",
        ),
    ],
    source: Annotated[
        list[str] | None,
        typer.Option("--source", metavar="NAME=FILE", help="Database of a file, e.g. Embase=a.ris. May be repeated."),
    ] = None,
    review: Annotated[
        Path | None,
        typer.Option(
            "--review",
            metavar="FILE",
            help="CSV table of the pairs that you decide. Your decisions are read from it, and it is written again.",
        ),
    ] = None,
    undo: Annotated[
        list[str] | None,
        typer.Option(
            "--undo", metavar="ID", help="Take a record out of its group, e.g. embase.ris#12. May be repeated."
        ),
    ] = None,
) -> None:
    """Merge files of references from several databases: write each article once, and count the records of each file.

    Two records are merged if an identifier agrees, or title, authors, journal, volume and pages. A preprint and its
    article, a protocol and its report, and other related works stay separate records of one family. The exit status
    is 0 if every pair is decided, and 4 if you must decide pairs.
    entrez-kit merge pubmed.nbib embase.ris scopus.bib -o unique.ris

    Decide pairs in a table, and run the command again:
    entrez-kit merge pubmed.nbib embase.ris --review pairs.csv -o unique.ris
    """
    from entrez_kit.references.merge.review import read_review, write_review

    sources = _read_sources(source or [], files)
    earlier: list[ReviewRow] = []
    if review is not None and review.exists():
        earlier = read_review(read_text_file(review, "Name the table of decisions: a .csv or .tsv file."), str(review))
    decisions = [
        {"members": row.members, "fingerprints": row.fingerprints, "decision": row.decision, "note": row.note or None}
        for row in earlier
        if row.decision
    ]
    listed = [read_file_to_merge(ctx, file, sources.get(str(file))) for file in files]
    request = build_request(
        ctx, MERGE_REFERENCES, {"files": listed, "decisions": decisions, "separate": list(undo or [])}
    )
    result = run(ctx, MERGE_REFERENCES, request, _view(), label="Comparing")
    assert isinstance(result, MergeResult)
    if review is not None:
        with Sink(review) as sink:
            sink.write_data(write_review(result.review, [*earlier, *_list_undone(result, undo or [])]))
    _report_notes(ctx, result, review)
    if result.undecided:
        raise typer.Exit(int(Exit.PARTIAL))


def _list_undone(result: MergeResult, ids: Iterable[str]) -> "Iterator[ReviewRow]":
    """Yield a row with the decision for each pair of records that --undo separated."""
    from dataclasses import replace

    wanted = set(ids)
    for row in result.separated:
        if wanted & set(row.members):
            yield replace(row, decision="different")


def _read_sources(options: Iterable[str], files: list[Path]) -> dict[str, str]:
    """Return the database of each file that --source names.

    Raises:
        InvalidInput: a value has no equals sign, or names a file that is not merged.
    """
    found: dict[str, str] = {}
    names = [str(file) for file in files]
    for text in options:
        database, sign, file = text.partition("=")
        matching = [name for name in names if name == file or Path(name).name == file]
        if not sign or not database.strip() or not matching:
            accepted, hint = "NAME=FILE", "Example: --source Embase=embase.ris"
            if sign and database.strip():
                accepted = f"NAME=FILE with one of the files to merge ({join_names(names)})"
                hint = f"Add {file} to the files of the command." if file else hint
            raise usage_error(describe_wrong_value("--source", accepted, text), f"source={text}", hint)
        found.update(dict.fromkeys(matching, database.strip()))
    return found


def _yield_rows(result: MergeResult) -> Iterator[Record]:
    """Yield each work as a row."""
    return (work.build_row() for work in result.works)


def _view() -> View[MergeResult]:
    writers: dict[str, Any] = {}
    for output in list_formats(Family.REFERENCES):
        style = FILES[output.name]
        writers[output.name] = lambda sink, style=style: TextWriter(
            sink, lambda result: style.yield_pieces(result.works), whole=True
        )
    writers["md"] = lambda sink: TextWriter(sink, lambda result: _views.merge.write_report(result), whole=True)
    return View(
        table=lambda result, console: _views.merge.render_merge(result, console),
        records=_yield_rows,
        columns=build_columns(*COLUMNS),
        record_model=DocumentPaths(sample=[dict.fromkeys(COLUMNS, "")]),
        page=lambda record: _views.merge.write_work(record),
        total=lambda result: result.counts.works,
        title="Merged references",
        writers=writers,
    )


def _report_notes(ctx: typer.Context, result: MergeResult, review: Path | None) -> None:
    """Report the figures, and what is left to decide."""
    counts = result.counts
    if not get_state(ctx).stderr_is_terminal and not result.undecided:
        return
    note(
        ctx,
        f"{format_count(counts.records, 'record')}, {format_count(counts.works, 'work')}, "
        f"{format_count(counts.duplicates, 'duplicate')}, {format_count(counts.families, 'family', 'families')}.",
    )
    if result.undecided:
        where = f"in {review}" if review is not None else "with --review FILE"
        one, many = "pair of records is undecided. Decide it", "pairs of records are undecided. Decide them"
        warn(ctx, f"{format_count(counts.undecided, one, many)} {where}.")

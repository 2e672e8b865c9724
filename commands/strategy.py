"""`entrez-kit strategy`: translate the search strategy of a review to PubMed, and count its lines."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from entrez_kit.base.errors import Exit
from entrez_kit.base.name_lists import parse_names
from entrez_kit.base.output_formats import Family
from entrez_kit.strategies.findings import CODES
from entrez_kit.strategies.lint_strategy import LINT_STRATEGY, LintResult
from entrez_kit.strategies.measure_recall import MEASURE_RECALL, RecallResult
from entrez_kit.strategies.strategy_text import WORDS_HINT, read_strategy_text
from entrez_kit.strategies.translate_strategy import TRANSLATE_STRATEGY
from entrez_kit.strategies.translated_lines import StrategyResult

from . import _views
from ._files import name_corrected_file, name_file, read_content
from ._formats import Sink, View
from ._formats.fields import build_columns
from ._id_lists import ARTICLES, read_identifiers
from ._options import App, build_option, request_options
from ._pipeline import build_request, note, refuse_without, run
from ._state import STDIN, accept_formats, usage_error

app = App(help="Search strategies of reviews: translate them to PubMed, count their lines, check and test them.")

KNOWN: Final = "Give a file of identifiers, or of references (.ris, .bib, .nbib, .json)."
FORMATS: Final = (Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.PAGES)
COLUMNS: Final = build_columns(
    "number", "kind", "dialect", "original", "pubmed", "label", "loss", "depends_on", "count", "warnings"
) | {"proof_same": build_columns("proof.same")["same"]}
StrategyFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The strategy (.txt, .md, .docx), or - for standard input.")
]
WordFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--words",
        metavar="FILE",
        help="Text file with words. If PubMed cannot truncate a word such as edit*, the matching words of the file "
        "replace it. May be repeated.",
    ),
]
TRANSLATION: Final = (
    build_option("dialect", metavar="SERVICE"),
    build_option("proximity", metavar="near|and"),
)


def _view() -> View[StrategyResult]:
    return View(
        table=lambda result, console: _views.strategies.render_strategy(result, console),
        columns=COLUMNS,
        rows=lambda result: _views.strategies.list_rows(result),
        page=lambda record: _views.strategies.write_line(record),
        between="",
        title="Search strategy",
    )


def read_strategy_options(file: Path, words: list[Path] | None) -> dict[str, Any]:
    """Return the text of a strategy and the texts of its word lists."""
    options: dict[str, Any] = {"strategy": read_strategy_text(read_content(file), name_file(file))}
    if words:
        options["words"] = [read_strategy_text(read_content(path), name_file(path), WORDS_HINT) for path in words]
        options["words_name"] = ", ".join(path.name for path in words)
    return options


@app.command("translate")
@accept_formats(*FORMATS, fields="number,pubmed")
@request_options(TRANSLATE_STRATEGY.request, *TRANSLATION)
def translate_command(ctx: typer.Context, options: dict[str, Any], file: StrategyFile, words: WordFiles = None) -> None:
    """Translate a strategy to PubMed, and describe each difference in words. No request is sent.

    A strategy as printed in a paper:
    entrez-kit strategy translate ovid.txt

    An appendix in Word:
    entrez-kit strategy translate ovid.docx -o strategy.docx

    Labels that are proven on the records of a local copy:
    entrez-kit --local NAME strategy translate ovid.txt
    """
    options |= read_strategy_options(file, words)
    run(ctx, TRANSLATE_STRATEGY, build_request(ctx, TRANSLATE_STRATEGY, options), _view())


@app.command("count")
@accept_formats(*FORMATS, fields="number,count")
@request_options(TRANSLATE_STRATEGY.request, *TRANSLATION)
def count_command(ctx: typer.Context, options: dict[str, Any], file: StrategyFile, words: WordFiles = None) -> None:
    """Translate a strategy and count the records of each line in PubMed.

    A refused line, and every line that depends on it, has no count.
    entrez-kit strategy count ovid.txt
    """
    options |= {**read_strategy_options(file, words), "count": True}
    run(ctx, TRANSLATE_STRATEGY, build_request(ctx, TRANSLATE_STRATEGY, options), _view(), label="Counting")


KnownFiles = Annotated[
    list[Path],
    typer.Option(
        "--known",
        metavar="FILE",
        help="File of known relevant records: PMIDs, PMCIDs and DOIs, or references.",
    ),
]


@app.command("lint")
@accept_formats(*FORMATS, fields="line,message")
@request_options(
    LINT_STRATEGY.request,
    *TRANSLATION,
    build_option("online"),
    build_option("mesh", kind=Path, metavar="FILE"),
    build_option("ignore", metavar="CODES"),
)
def lint_command(
    ctx: typer.Context,
    options: dict[str, Any],
    file: StrategyFile,
    words: WordFiles = None,
    known: Annotated[
        list[Path] | None,
        typer.Option(
            "--known",
            metavar="FILE",
            help="File of known relevant records: PMIDs, PMCIDs and DOIs, or references. "
            "A NOT that excludes one is an error.",
        ),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on",
            metavar="CODES",
            help="Exit with status 4 only for these codes or severities (error, warning, note).",
        ),
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Write a copy with mechanical corrections, e.g. ovid.fixed.txt.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Allow --fix to overwrite an earlier file.")] = False,
) -> None:
    """Find problems of a strategy: syntax, line numbers, operators, wildcards, headings, limits.

    The exit status is 4 if there are errors or warnings, and 0 otherwise.
    entrez-kit strategy lint ovid.txt

    With counts and headings of PubMed, and status 4 only for errors:
    entrez-kit strategy lint ovid.txt --online --fail-on error

    With the headings of a MeSH file, without a request:
    entrez-kit strategy lint ovid.txt --mesh desc2026.gz
    """
    if not fix:
        refuse_without(ctx, "force", "--fix")
    levels = ["error", "warning", "note"]
    names = [*levels, *CODES]
    failures = parse_names(fail_on, names, noun="code", argument="fail_on", guide="lint") or levels[:2]
    options |= read_strategy_options(file, words)
    if known:
        options["known"] = [identifier for path in known for identifier in read_known(path)]
    target = _find_target(file, overwrite=force) if fix else None
    request = build_request(ctx, LINT_STRATEGY, options)
    view: View[LintResult] = View(
        table=lambda result, console: _views.strategies.render_lint(result, console),
        columns=build_columns("line", "code", "severity", "message", "fix", "press", "matters"),
        page=lambda record: _views.strategies.write_finding(record),
        between="",
        title="Findings",
    )
    found = run(ctx, LINT_STRATEGY, request, view, label="Checking")
    if not isinstance(found, LintResult):
        return
    if target is not None and found.fixed is not None:
        with Sink(target) as sink:
            sink.write_data(found.fixed.encode())
        note(ctx, f"The corrected copy is {target}.")
    elif target is not None:
        note(ctx, "There is nothing to correct mechanically, so no copy was written.")
    if any(finding.code in failures or finding.severity in failures for finding in found.findings):
        raise typer.Exit(int(Exit.PARTIAL))


def _find_target(file: Path, *, overwrite: bool) -> Path:
    """Return the path of the corrected copy.

    Raises:
        InvalidInput: the strategy is not a text file, or the copy exists.
    """
    if str(file) == STDIN or file.suffix.lower() == ".docx":
        what = "Standard input" if str(file) == STDIN else f"The Word document {file}"
        raise usage_error(f"{what} cannot be corrected.", "--fix", "--fix is for text files: save the lines as .txt.")
    return name_corrected_file(file, overwrite=overwrite)


@app.command("recall")
@accept_formats(*FORMATS, Family.IDS, fields="pmid,status")
@request_options(
    MEASURE_RECALL.request,
    *TRANSLATION,
    build_option("used_to_build"),
    build_option("changes", "--changes/--no-changes"),
)
def recall_command(
    ctx: typer.Context, options: dict[str, Any], file: StrategyFile, known: KnownFiles, words: WordFiles = None
) -> None:
    """Measure how many known relevant records a strategy finds, and which changes find the others.

    The known records are a list of ids or a file of references. Each change has the number of records that it adds.
    entrez-kit strategy recall ovid.txt --known included.ris
    """
    options |= read_strategy_options(file, words)
    options["known"] = [identifier for path in known for identifier in read_known(path)]
    view: View[RecallResult] = View(
        table=lambda result, console: _views.strategies.render_recall(result, console),
        columns=build_columns(
            "input", "pmid", "status", "title", "missed_by", "words", "change.add", "change.added_records"
        ),
        page=lambda record: _views.strategies.write_known_record(record),
        between="",
        title="Recall",
        ids=lambda result: [record.pmid for record in result.records if record.status == "missed" and record.pmid],
    )
    run(ctx, MEASURE_RECALL, build_request(ctx, MEASURE_RECALL, options), view, label="Searching")


def read_known(path: Path) -> list[str]:
    """Return the identifiers of known records; of a reference without one, its title."""
    from entrez_kit.references.files.reference_files import decode_file, detect_kind, read_reference_file

    content = read_content(path)
    name = name_file(path)
    text = decode_file(content, name, hint=KNOWN).text
    kind = detect_kind(text, name, path.suffix.lower(), hint=KNOWN)
    if kind == "ids":
        return list(read_identifiers(io.BytesIO(content), name, replace(ARTICLES, hint=f" {KNOWN}")))
    references = read_reference_file(text, name, kind).references
    return [
        reference.pmid or reference.pmcid or reference.doi or reference.title or reference.key
        for reference in references
    ]

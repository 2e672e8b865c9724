"""`entrez-kit check`: compare the references of a file with PubMed, and correct the file."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from entrez_kit.base.errors import Exit
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.name_lists import parse_names
from entrez_kit.base.output_formats import BY_SUFFIX, Family
from entrez_kit.references.check.check_references import CHECK_FILE, Checks
from entrez_kit.references.check.check_request import FileToCheck
from entrez_kit.references.check.check_result import CheckResult, LeftOut, ReferenceChange
from entrez_kit.references.check.findings import CODES
from entrez_kit.references.check.lookup.sources import SOURCES, parse_sources

from . import _views
from ._files import name_corrected_file, name_file
from ._formats import Sink, TextWriter, View
from ._formats.fields import Record, build_columns
from ._options import App, build_option, request_options
from ._pipeline import build_request, get_state, note, plan, refuse_without, run, suggest_next, warn
from ._reference_sources import MANUSCRIPT, ReferenceSource, read_source, read_text_file
from ._state import STDIN, accept_formats, usage_error
from ._views.text import STATUS_WORDS, list_findings

if TYPE_CHECKING:
    from entrez_kit.references.check.accepted import Accepted

app = App()

COLUMNS: Final = ("key", "line", "status", "codes", "pmid", "doi", "title", "findings", "candidate_pmids")
FIXES: Final = {"superseded": "newer", "duplicate": "unique"}
"""The options of --fix that correct findings with these codes."""
NOTHING: Final = "(nothing)"
"""The text for an empty field in the list of changes."""
IN_TEXT: Final = "in_text"
"""The name of findings in the text for --fail-on."""
UNCORRECTED: Final = {
    "ids": "A list of ids or of references as text",
    "nbib": "A MEDLINE file",
    "wos": "An export of the Web of Science",
    "cochrane": "An export of the Cochrane Library",
    MANUSCRIPT: "A manuscript",
}
"""The kinds of sources that cannot be corrected."""


Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",  # typer adds the dots
        help="References (.bib .ris .json .nbib .txt), manuscripts (.docx .tex .md .pdf .xml), PMCIDs or PMIDs, or -.",
    ),
]
InText = Annotated[
    bool,
    typer.Option(
        "--in-text", help="List citations without an entry, uncited entries, and numbers that are out of order."
    ),
]
AcceptFile = Annotated[
    Path | None,
    typer.Option(
        "--accept",
        metavar="FILE",
        help="File of accepted findings, which do not cause status 4. Each line has a key and codes, e.g. "
        "smith2020 mismatch.",
    ),
]
FailOn = Annotated[
    str | None,
    typer.Option(
        "--fail-on",
        metavar="CODES",
        help="Exit with status 4 only for findings with these codes, e.g. retracted,not_found,in_text.",
    ),
]
Fix = Annotated[bool, typer.Option("--fix", help="Write a corrected copy, e.g. refs.fixed.bib.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="List the changes of --fix; write no file.")]
Force = Annotated[bool, typer.Option("--force", help="Allow --fix to overwrite an earlier file.")]


@app.command("check")
@accept_formats(Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.PAGES, fields="key,status")
@request_options(
    CHECK_FILE.request,
    "file",
    build_option(
        "sources", kind=str, convert=parse_sources, metavar="NAMES", more=f"Comma-separated: {', '.join(SOURCES)}."
    ),
    build_option("retraction_watch", kind=Path, metavar="FILE"),
    "in_text",
    build_option("only"),
    build_option("newer", more="Only with --fix."),
    build_option("unique", more="Only with --fix."),
)
def check_command(
    ctx: typer.Context,
    options: dict[str, Any],
    file: Sources,
    in_text: InText = False,
    accept: AcceptFile = None,
    fail_on: FailOn = None,
    fix: Fix = False,
    dry_run: DryRun = False,
    force: Force = False,
) -> None:
    """Check the references of a file: does each exist, are its fields and all authors right, was it retracted?

    The exit status is 0 if all are verified, and 4 if there are findings.

    A manuscript before submission:
    entrez-kit check paper.docx --in-text --only problems

    A report for others:
    entrez-kit check refs.bib -o report.docx

    The changes that --fix would make:
    entrez-kit check refs.bib --fix --dry-run
    """
    corrects = fix or dry_run
    _refuse_references(ctx, file)
    _refuse_unused_options(ctx, fix=fix, corrects=corrects)
    failing = _parse_fail_on(fail_on)
    accepted = _read_accepted(accept)
    sources = [read_source(ctx, path, in_text=in_text) for path in file]
    mode, overwrite = ("dry_run", True) if dry_run else ("fix", force)
    targets = [_choose_target(source, mode, overwrite=overwrite) if corrects else None for source in sources]
    options |= {
        "references": [reference for source in sources for reference in source.references],
        "corrects": corrects,
        "files": [
            _describe_file(source, None if dry_run else target, accepted, is_alone=len(file) == 1)
            for source, target in zip(sources, targets, strict=True)
        ],
    }
    checks = run(ctx, CHECK_FILE, build_request(ctx, CHECK_FILE, options), _view(file), label="Checking")
    assert isinstance(checks, Checks)
    result = checks.result()
    if fix and not dry_run:
        _write_corrected(sources, targets, result)
    _report_notes(ctx, result, fix=corrects, dry_run=dry_run)
    if not corrects:
        _suggest_corrections(ctx, sources, result)
    counts = {**result.open_counts, IN_TEXT: len(result.in_text)}
    if any(counts.get(status) for status in failing):
        raise typer.Exit(int(Exit.PARTIAL))


def _refuse_unused_options(ctx: typer.Context, *, fix: bool, corrects: bool) -> None:
    """Refuse options that have no effect without --fix."""
    if not fix:
        refuse_without(ctx, "force", "--fix")
    if not corrects:
        for name in FIXES.values():
            refuse_without(ctx, name, "--fix")


def _parse_fail_on(text: str | None) -> list[str]:
    """Return the codes that cause status 4; all of them without --fail-on."""
    codes: list[str] = [*CODES, IN_TEXT]
    return parse_names(text, codes, noun="status", argument="fail_on") or codes


def _suggest_corrections(ctx: typer.Context, sources: list[ReferenceSource], result: CheckResult) -> None:
    """Suggest --fix if there are findings, and all sources are files that can be corrected."""
    if all(source.file is not None for source in sources) and set(result.open_counts) - {"verified"}:
        names = shlex.join(str(source.path) for source in sources)
        more = "".join(f" --{flag}" for code, flag in FIXES.items() if result.open_counts.get(code))
        suggest_next(ctx, f"check {names} --fix --dry-run{more}", f"check {names} -o report.docx")


def _read_accepted(file: Path | None) -> "Accepted | None":
    """Read the file of --accept."""
    if file is None:
        return None
    from entrez_kit.references.check.accepted import read_accepted

    text = read_text_file(file, "Name a text file: on each line the key of a reference and codes.")
    return read_accepted(text, name_file(file))


def _describe_file(
    source: ReferenceSource, target: Path | None, accepted: "Accepted | None", *, is_alone: bool
) -> FileToCheck:
    from entrez_kit.references.check.accepted import combine_accepted

    return FileToCheck(
        source.warnings,
        source.in_text,
        target=None if target is None else str(target),
        name=None if is_alone else str(source.path),
        total=len(source.references),
        accepted=source.accepted if accepted is None else combine_accepted(source.accepted, accepted),
    )


def _write_corrected(sources: list[ReferenceSource], targets: list[Path | None], result: CheckResult) -> None:
    """Write the corrected copy of each file with a change."""
    from entrez_kit.references.files.reference_files import encode_text

    start = 0
    for source, target in zip(sources, targets, strict=True):
        end = start + len(source.references)
        changes = {number - start: update for number, update in result.corrections.items() if start <= number < end}
        start = end
        if changes and target is not None and source.file is not None:
            with Sink(target) as sink:
                sink.write_data(encode_text(source.file.correct(changes), source.encoding))


def _refuse_references(ctx: typer.Context, files: list[Path]) -> None:
    """Refuse to write a report to a file name that looks like corrected references."""
    output = get_state(ctx).flags.get("output")
    selected = BY_SUFFIX.get(Path(output or "").suffix.lower())
    if selected is not None and selected.family is Family.REFERENCES:
        raise usage_error(
            f"--output {output}: this option writes the report, not references.",
            f"output={output}",
            f"--fix writes a corrected copy next to {files[0]}. Name a report file such as report.md.",
        )


def _choose_target(source: ReferenceSource, target_option: str, *, overwrite: bool) -> Path:
    """Return the path of the corrected file.

    Raises:
        InvalidInput: the source cannot be corrected, or the corrected file exists already.
    """
    if str(source.path) == STDIN or source.kind in UNCORRECTED:
        what = UNCORRECTED.get(source.kind, "A text from standard input")
        if source.kind == MANUSCRIPT and not source.path.exists():
            what = "The reference list of a published article"
        raise usage_error(
            f"{what} cannot be corrected: {name_file(source.path)}.",
            target_option,
            "--fix is for .bib, .ris and .json files. `entrez-kit fetch -i FILE -o refs.ris` fetches records of ids.",
        )
    return name_corrected_file(source.path, overwrite=overwrite)


def _view(files: list[Path]) -> View[CheckResult]:
    def create_report_writer(sink: Sink) -> TextWriter:
        return TextWriter(sink, lambda result: _views.check.write_report(result), between="\n", whole=True)

    return View(
        table=lambda result, console: _views.check.render_check(result, console),
        columns=build_columns(*(("file",) if len(files) > 1 else ()), *COLUMNS)
        | {"codes": _list_codes, "findings": list_findings},
        page=lambda record: _views.check.write_reference(record),
        writers={
            "md": lambda sink: TextWriter(
                sink, lambda result: _views.check.write_report(result), between="\n", whole=True
            )
        },
        title=f"The references of {', '.join(file.name for file in files)}",
    )


def _list_codes(record: Record) -> list[str]:
    """Return the codes of all findings without duplicates, the most serious first."""
    return sorted({finding["code"] for finding in record["findings"]}, key=CODES.index)


def _report_notes(ctx: typer.Context, result: CheckResult, *, fix: bool, dry_run: bool) -> None:
    """Report findings that the format cannot show, and the result of --fix."""
    unchecked = result.counts["unchecked"]
    if unchecked:
        elsewhere = get_state(ctx).services.settings.copy_label != ""
        advice = "Run the command without the local copy" if elsewhere else "Run the command again"
        warn(ctx, f"{format_count(unchecked, 'reference')} could not be checked. {advice}.")
    if plan(ctx).format.family is Family.ROWS:
        for text in _views.check.list_in_text_lines(result):
            warn(ctx, text)
    if not fix:
        return
    for change in result.changes:
        note(ctx, f"{_name_place(change)}: {change.field}: {change.old or NOTHING} -> {change.new or NOTHING}")
    for again in result.left_out:
        note(ctx, f"{_name_place(again)}: left out: {again.same_as} cites the same work. Cite it in the text.")
    written = {result.fixed: result.corrected} if result.fixed else {}
    written |= {file.fixed: file.corrected for file in result.files if file.fixed}
    for path, corrected in written.items():
        note(ctx, f"{format_count(corrected, 'reference')} corrected in {path}.")
    if not written and dry_run and result.corrected:
        note(ctx, f"{format_count(result.corrected, 'reference')} would be corrected; no file was written.")
    elif not written:
        findings = sum(len(reference.findings) for reference in result.references)
        problem = f"{format_count(findings, 'finding')} cannot be corrected" if findings else "Nothing to correct"
        note(ctx, f"{problem}; no file was written.")
    if result.uncorrected:
        named = []
        for one in result.uncorrected:
            words = [STATUS_WORDS.get(code, code) for code in one.codes] + ["accepted"] * one.accepted
            named.append(f"{f'{one.file}: ' if one.file else ''}{one.key} ({', '.join(words)})")
        note(ctx, f"Not corrected: {'; '.join(named)}.")


def _name_place(change: ReferenceChange | LeftOut) -> str:
    place = f"{change.key} (line {change.line})" if change.line else change.key
    return f"{change.file}: {place}" if change.file else place

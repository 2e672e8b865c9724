"""`entrez-kit verify`: search for the claims of a draft or a table in the articles that they cite."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entrez_kit.base.errors import Exit, InvalidInput
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.output_formats import Family
from entrez_kit.references.claims.claim_results import VerifyResult
from entrez_kit.references.claims.verify_claims import VERIFY_CLAIMS, ClaimOutcomes
from entrez_kit.references.files.references import Reference

from . import _views
from ._files import name_file, read_content, read_sibling
from ._formats import View
from ._formats.fields import Record, build_columns
from ._options import App
from ._pipeline import build_request, run, warn
from ._reference_sources import read_text_file
from ._state import accept_formats

if TYPE_CHECKING:
    from entrez_kit.references.claims.claim_files import ClaimFile

app = App()

COLUMNS = (
    *("line", "status", "claim", "ids", "place.pmid", "place.source", "place.section", "place.paragraph"),
    *("place.start", "place.end", "place.passage", "detail"),
)


File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A draft with citations (.md .docx .tex .xml), or a .csv, .tsv or .jsonl file with the columns claim "
        "and id; - reads stdin.",
    ),
]
Bibliography = Annotated[
    list[Path] | None,
    typer.Option(
        "--bibliography",
        metavar="FILE",
        help="File with the citation keys: .bib, .ris, .json or .nbib. May be repeated.",
    ),
]


@app.command("verify")
@accept_formats(Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.PAGES, fields="claim,status")
def verify_command(
    ctx: typer.Context,
    file: File,
    bibliography: Bibliography = None,
) -> None:
    """Check whether each cited paper contains the quotation or sentence that cites it.

    A claim is found if the abstract or the full text has it word for word, with the same numbers, units and
    negations, in a sentence that does not deny or question it. Each row shows the whole sentence. The exit status is
    0 if every claim is found, and 4 otherwise.
    entrez-kit verify draft.md --bibliography refs.bib
    entrez-kit verify claims.csv -o report.html
    """
    read = _read_claims(file, _read_bibliography(bibliography or []))
    for warning in read.warnings:
        warn(ctx, warning.message)
    request = build_request(ctx, VERIFY_CLAIMS, {"claims": [claim.model_dump() for claim in read.claims]})
    view: View[VerifyResult] = View(
        table=lambda result, console: _views.check.render_claims(result, console),
        columns=build_columns(*COLUMNS) | {"sentence": _find_sentence},
        page=lambda record: _views.check.write_claim(record),
        between="\n",
    )
    verification = run(ctx, VERIFY_CLAIMS, request, view, label="Verifying")
    assert isinstance(verification, ClaimOutcomes)
    result = verification.result()
    if unchecked := result.counts["unchecked"]:
        warn(ctx, f"{format_count(unchecked, 'claim')} could not be checked. Run the command again.")
    if result.findings:
        raise typer.Exit(int(Exit.PARTIAL))


def _read_bibliography(files: list[Path]) -> list[Reference]:
    """Return the references of files, whose keys a draft cites."""
    from entrez_kit.references.files.reference_files import HINT, detect_kind, read_reference_file

    references: list[Reference] = []
    for file in files:
        text, name = read_text_file(file, HINT), name_file(file)
        references += read_reference_file(text, name, detect_kind(text, name, file.suffix)).references
    return references


def _read_claims(file: Path, references: list[Reference]) -> "ClaimFile":
    """Read the claims of a draft or a table.

    Raises:
        InvalidInput: the file cannot be read, or has no claim with a citation.
    """
    from entrez_kit.references.claims.claim_files import DOCUMENTS, HINT, KINDS, read_claims, read_document_claims
    from entrez_kit.references.files.reference_files import decode_file
    from entrez_kit.references.manuscripts.read_manuscript import detect_suffix, refuse_others
    from entrez_kit.references.manuscripts.read_markdown import read_named_references

    content, name = read_content(file), name_file(file)
    refuse_others(content, name)
    suffix = file.suffix.lower() or detect_suffix(content) or ""
    beside = partial(read_sibling, file)
    if suffix in DOCUMENTS:
        return read_document_claims(content, name, suffix, beside, references)
    if suffix and suffix not in KINDS:
        raise InvalidInput(
            f"{name}: claims cannot be read from this type of file.",
            invalid_input=name,
            recovery_hint=HINT,
            details={"reason": "unknown_kind"},
        )
    text = decode_file(content, name, hint=HINT).text
    kind = KINDS.get(suffix) or _detect_kind(text)
    if kind != "md":
        return read_claims(text, name, kind, references)
    named, warnings = read_named_references(text, beside)
    read = read_claims(text, name, kind, [*references, *named])
    read.warnings = [*warnings, *read.warnings]
    return read


def _find_sentence(record: Record) -> str | None:
    """Return the whole sentence around the claim, or the nearest one."""
    place = record.get("place") or record.get("nearest")
    return place["sentence"] if place else None


def _detect_kind(text: str) -> str:
    """Return the kind of a text without a file name: JSON lines, a table, or a draft."""
    first = text.lstrip()[:1]
    if first in ("{", "["):
        return "jsonl" if first == "{" and "\n{" in text.strip() else "json"
    head = text.partition("\n")[0].casefold()
    return next((kind for kind, mark in (("tsv", "\t"), ("csv", ",")) if mark in head and "claim" in head), "md")

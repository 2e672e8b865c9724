"""`entrez-kit match`: find the PMIDs of references by journal, year, volume and page."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.output_formats import Family
from entrez_kit.pubmed.citation_matcher import Citation
from entrez_kit.references.match import LOOKUP_CITATION, CitationMatch, Matches, MatchResult

from . import _views
from ._files import name_file
from ._formats import View
from ._formats.fields import Record, build_columns, convert_to_data
from ._ids import describe_failure
from ._options import App, build_option, request_options
from ._pipeline import build_request, run, warn
from ._reference_sources import read_text_file
from ._state import STDIN, accept_formats
from ._views.text import get_standing_status

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

app = App()

BIBTEX: Final = (".bib", ".bibtex")
_OTHER_KINDS: Final = {"ris": "RIS", "nbib": "MEDLINE (.nbib)", "csl": "CSL-JSON"}
"""Files of references that this command does not read."""
ONE: Final = "One reference"


def _render_match_table(ctx: typer.Context, result: MatchResult, console: "Console") -> "RenderableType":
    """Return the table; the warnings about its rows go to stderr."""
    for match in result.results:
        for warning in match.warnings:
            warn(ctx, f"{match.key}: {warning.message}")
    return _views.databases.render_matches(result, console)


@app.command("match")
@accept_formats(Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.IDS, fields="key,pmid")
@request_options(
    Citation,
    "files",
    build_option("journal", metavar="NAME", panel=ONE),
    build_option("year", metavar="YYYY", help="Year of publication in four digits.", panel=ONE),
    build_option("volume", metavar="V", panel=ONE),
    build_option("issue", metavar="I", panel=ONE),
    build_option("first_page", "--page", metavar="P", help="First page, or article number.", panel=ONE),
    build_option("last_page", metavar="P", panel=ONE),
    build_option("author_name", "--author", metavar="NAME", panel=ONE),
    build_option("title", metavar="TEXT", help="Title; used if journal, volume and page find nothing.", panel=ONE),
    build_option("key", metavar="KEY", panel=ONE),
)
def match_command(
    ctx: typer.Context,
    options: dict[str, Any],
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE", help="BibTeX (.bib) or CSV files with references; - reads either from standard input."
        ),
    ] = None,
) -> None:
    """Find the PMIDs of references and compare each with the record: one outcome per reference, in order.

    csv, tsv and ids contain the matches; stderr lists the others. The exit status is 4 if only some matched.
    entrez-kit match refs.bib -f jsonl
    entrez-kit match --journal "N Engl J Med" --volume 381 --page 841
    """

    def yield_records(match: CitationMatch) -> Iterator[Record]:
        data = convert_to_data(match)
        if match.status == "matched":
            yield data
        else:
            more = {name: data.get(name) for name in ("candidate_pmids", "citation", "warnings", "findings")}
            yield describe_failure(match.key, match.status, match.detail, key=match.key, **more)

    own_citation = {name: value for name, value in options.items() if value}
    citations = ([own_citation] if own_citation else []) + [
        citation for path in files or [] for citation in _read_citations(path)
    ]
    if not citations:
        raise InvalidInput(
            "No references were given.",
            invalid_input="citations",
            recovery_hint="Name a .bib or CSV file, or give --journal, --year, --volume and --page.",
            details={"reason": "no_references"},
        )
    view: View[MatchResult] = View(
        table=partial(_render_match_table, ctx),
        records=yield_records,
        columns=build_columns("key", "pmid", "title", "matched_first_author")
        | {"warnings": _list_warnings, "standing": get_standing_status},
    )
    request = build_request(ctx, LOOKUP_CITATION, {"citations": citations})
    run(ctx, LOOKUP_CITATION, request, view, label="Matching", least=Matches.BATCH_SIZE)


def _list_warnings(record: Record) -> list[str]:
    return [str(warning["message"]) for warning in record.get("warnings") or ()]


def _read_citations(path: Path) -> list[dict[str, str]]:
    from entrez_kit.references.files.citation_lists import read_citations
    from entrez_kit.references.files.reference_files import KINDS, find_kind

    name, text = name_file(path), read_text_file(path, "Name a BibTeX or CSV file.")
    kind = _OTHER_KINDS.get(KINDS.get(path.suffix.lower()) or "") or _OTHER_KINDS.get(find_kind(text) or "")
    if kind is not None:
        raise InvalidInput(
            f"`match` reads BibTeX and CSV files, but {name} is a {kind} file.",
            invalid_input=name,
            recovery_hint=f"`entrez-kit check {path}` finds the PMIDs. "
            f"`entrez-kit convert {path} --to bibtex > refs.bib` converts the file.",
            details={"reason": "bad_csv"},
        )
    bibtex = path.suffix.lower() in BIBTEX or (str(path) == STDIN and text.lstrip().startswith(("@", "%")))
    return read_citations(text, name, bibtex=bibtex)

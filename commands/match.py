"""`entrez-kit match`: the PMIDs of references known by journal, year, volume and page."""

from pathlib import Path
from typing import Annotated, Any

import typer

from entrez_kit.errors import InvalidInput
from entrez_kit.pubmed.match import LOOKUP_CITATION, Citation, CitationMatch, MatchResult

from ._formats import as_data
from ._run import View, accepts, run

COLUMNS = ("key", "status", "pmid", "title", "matched_first_author", "candidate_pmids", "warnings", "detail")


def _help(name: str) -> str:
    return str(Citation.model_fields[name].description)


@accepts("table", "json", "jsonl", "csv", "tsv", "ids")
def command(
    ctx: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE...]", help="BibTeX (.bib) or CSV files with references; the options name one."),
    ] = None,
    journal: Annotated[str | None, typer.Option("--journal", metavar="NAME", help=_help("journal"))] = None,
    year: Annotated[str | None, typer.Option("--year", metavar="YYYY", help=_help("year"))] = None,
    volume: Annotated[str | None, typer.Option("--volume", metavar="V", help=_help("volume"))] = None,
    first_page: Annotated[str | None, typer.Option("--page", metavar="P", help=_help("first_page"))] = None,
    author_name: Annotated[str | None, typer.Option("--author", metavar="NAME", help=_help("author_name"))] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help=_help("title"))] = None,
    key: Annotated[str | None, typer.Option("--key", metavar="KEY", help=_help("key"))] = None,
) -> None:
    """Find references: entrez-kit match --journal "Invent Res" --year 2024 --volume 12 --page 737 --author "Doe J"."""

    def table(result: MatchResult, console: Any) -> Any:
        from ._databases import match_table

        return match_table(result, console)

    fields = {
        "journal": journal,
        "year": year,
        "volume": volume,
        "first_page": first_page,
        "author_name": author_name,
        "title": title,
        "key": key,
    }
    given = {name: value for name, value in fields.items() if value}
    citations = ([given] if given else []) + [citation for path in files or [] for citation in _read(path)]
    view: View[MatchResult] = View(
        table=table,
        records=lambda result: (as_data(match) for match in result.results),
        record_model=CitationMatch,
        columns={name: lambda record, name=name: record.get(name) for name in COLUMNS},
        records_key="results",
    )
    run(ctx, LOOKUP_CITATION, {"citations": citations}, view)


def _read(path: Path) -> list[dict[str, str]]:
    from entrez_kit.pubmed.citation_files import read_citations

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidInput(
            f"{path} cannot be read: {getattr(exc, 'strerror', None) or 'it is not UTF-8 text'}.",
            invalid_input=str(path),
            recovery_hint="Name a BibTeX or CSV file in UTF-8.",
            details={"reason": "cannot_read"},
        ) from None
    return read_citations(text, bibtex=path.suffix.lower() in (".bib", ".bibtex"))

"""`entrez-kit europepmc`: search Europe PMC, page by page or as far as wanted, preprints included."""

from functools import partial
from typing import Annotated, Any, Final

import typer

from entrez_kit.citations.files.entries import FILES
from entrez_kit.errors import InvalidInput
from entrez_kit.europepmc.search import EUROPEPMC_SEARCH, EuropePMCResult, Walk
from entrez_kit.services.europe_pmc import MAX_PAGE_SIZE

from ._formats.fields import as_data
from ._pipeline import View, accepts, completion, help_of, note, plan, run, show_with, was_typed
from ._views.markdown import page
from ._views.text import ARTICLE_COLUMNS, record_key

FORMATS: Final = ("table", "json", "jsonl", "csv", "tsv", "ids", "md", *FILES, "count")
COLUMNS: Final = {
    "id": record_key,
    **ARTICLE_COLUMNS,
    "source": lambda record: record.get("source"),
    "epmc_id": lambda record: record.get("epmc_id"),
    "preprint_server": lambda record: record.get("preprint_server"),
    "cited_by_count": lambda record: record.get("cited_by_count"),
    "is_open_access": lambda record: record.get("is_open_access"),
    "first_publication_date": lambda record: record.get("first_publication_date"),
}
_BRIEF: Final = ("table", "ids")
"""Formats that show no more than a brief record holds."""


def _help(name: str) -> str:
    return help_of(EUROPEPMC_SEARCH, name)


@accepts(*FORMATS)
def command(
    ctx: typer.Context,
    query: Annotated[
        list[str], typer.Argument(metavar="QUERY", help=f"{_help('query')} Several words need no quotes.")
    ],
    max_results: Annotated[
        int | None,
        typer.Option("-n", "--max-results", metavar="N", help=_help("max_results")),
    ] = None,
    page_size: Annotated[
        int, typer.Option("--page-size", metavar="N", help=_help("page_size"), show_default=True)
    ] = 25,
    cursor: Annotated[str, typer.Option("--cursor", metavar="CURSOR", help=_help("cursor"), show_default=True)] = "*",
    sources: Annotated[
        list[str],
        typer.Option(
            "--source",
            metavar="SOURCE",
            help=f"{_help('sources')} May be repeated.",
            show_default=True,
            autocompletion=completion(
                "MED", "PMC", "PPR", "PAT", "AGR", "CBA", "CTX", "ETH", "HIR", "NBK", "preprints"
            ),
        ),
    ] = ["MED", "PMC", "PPR"],  # noqa: B006  # typer reads the default and never changes it
    sort_by: Annotated[
        str,
        typer.Option(
            "--sort",
            metavar="ORDER",
            help=_help("sort_by"),
            show_default=True,
            autocompletion=completion("relevance", "date", "cited"),
        ),
    ] = "relevance",
    detail_level: Annotated[
        str, typer.Option("--detail", metavar="LEVEL", help=_help("detail_level"), show_default=True)
    ] = "full",
    synonyms: Annotated[bool, typer.Option("--synonyms", help=_help("synonyms"))] = False,
    preprints: Annotated[bool, typer.Option("--preprints", help="Only preprints; short for --source PPR.")] = False,
) -> None:
    """Search Europe PMC: PubMed's articles, preprints and more; -n goes through as many pages as it takes.

    entrez-kit europepmc base editing AND PUB_YEAR:2024 --preprints
    ids prints PMIDs, for records outside PubMed source and id (PPR:PPR123456).
    """
    arguments: dict[str, Any] = {
        "query": " ".join(query),
        "page_size": page_size,
        "cursor": cursor,
        "sources": _sources(ctx, sources, preprints),
        "sort_by": sort_by,
        "detail_level": detail_level,
        "synonyms": synonyms,
        "max_results": max_results,
    }
    form = plan(ctx).format
    if form in _BRIEF and not was_typed(ctx, "detail_level") and not plan(ctx).fields:
        arguments["detail_level"] = "brief"
    if max_results is not None and not was_typed(ctx, "page_size"):
        arguments["page_size"] = max(min(max_results, MAX_PAGE_SIZE), 1)
    run(ctx, EUROPEPMC_SEARCH, arguments, _view(), label="Retrieving records", afterwards=partial(_remarks, ctx))


def _sources(ctx: typer.Context, sources: list[str], preprints: bool) -> list[str]:
    if not preprints:
        return sources
    if was_typed(ctx, "sources"):
        raise InvalidInput(
            "--preprints and --source contradict each other.",
            invalid_input="preprints",
            recovery_hint="Give --preprints for preprints alone, or --source PPR beside other sources.",
            details={"reason": "bad_usage"},
        )
    return ["PPR"]


def _view() -> View[EuropePMCResult]:
    return View(
        table=show_with("europepmc.search_table"),
        records=lambda article: [as_data(article)],
        columns=COLUMNS,
        records_key="articles",
        page=page,
        ids=lambda article: [article.key],
        articles=lambda article: [article],
        total=lambda result: result.total_found,
    )


def _remarks(ctx: typer.Context, said: Walk | EuropePMCResult) -> None:
    if isinstance(said, Walk) and said.next_cursor and said.failure is None:
        note(ctx, f"{said.retrieved:,} of {said.total_found:,} records; go on with --cursor {said.next_cursor}")

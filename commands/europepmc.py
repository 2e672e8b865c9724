"""`entrez-kit europepmc`: search Europe PMC, page by page or as far as wanted, preprints included."""

from functools import partial
from typing import Annotated, Any, Final

import typer

from entrez_kit.citations.files.entries import FILES
from entrez_kit.errors import InvalidInput
from entrez_kit.europepmc.search import EUROPEPMC_SEARCH, EuropePMCResult, Walk
from entrez_kit.services.europe_pmc import MAX_PAGE_SIZE

from ._formats.fields import as_data
from ._pipeline import View, accepts, argument, note, option, plan, run, show_with, was_typed
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

field: Final = partial(option, EUROPEPMC_SEARCH)


@accepts(*FORMATS)
def command(
    ctx: typer.Context,
    query: Annotated[
        list[str], argument(EUROPEPMC_SEARCH, "query", metavar="QUERY", more="Several words need no quotes.")
    ],
    max_results: Annotated[int | None, field("max_results", "-n", "--max-results", metavar="N")] = None,
    page_size: Annotated[int, field("page_size", "--page-size", metavar="N")] = 25,
    cursor: Annotated[str, field("cursor", "--cursor", metavar="CURSOR")] = "*",
    sources: Annotated[
        list[str],
        field(
            "sources",
            "--source",
            metavar="SOURCE",
            more="May be repeated.",
            words=("MED", "PMC", "PPR", "PAT", "AGR", "CBA", "CTX", "ETH", "HIR", "NBK", "preprints"),
        ),
    ] = ["MED", "PMC", "PPR"],  # noqa: B006  # typer reads the default and never changes it
    sort_by: Annotated[
        str, field("sort_by", "--sort", metavar="ORDER", words=("relevance", "date", "cited"))
    ] = "relevance",
    detail_level: Annotated[str, field("detail_level", "--detail", metavar="LEVEL")] = "full",
    synonyms: Annotated[bool, field("synonyms", "--synonyms")] = False,
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

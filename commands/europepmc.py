"""`entrez-kit europepmc`: search Europe PMC, page by page or as far as wanted, preprints included."""

from functools import partial
from typing import Annotated, Any, Final

import typer

from entrez_kit.citations.write_files import FILES
from entrez_kit.pubmed.europepmc.search_europepmc import EUROPEPMC_SEARCH, EuropePMCResult, Walk
from entrez_kit.services.europe_pmc import MAX_PAGE_SIZE

from ._formats.fields import columns_at
from ._options import argument, option, request_options
from ._pipeline import View, accepts, note, plan, refuse_beside, run, show_with, was_typed
from ._views.markdown import page
from ._views.text import ARTICLE_COLUMNS, record_key

FORMATS: Final = ("table", "json", "jsonl", "csv", "tsv", "ids", "md", *FILES, "count")
COLUMNS: Final = {
    "id": record_key,
    **ARTICLE_COLUMNS,
    **columns_at("source", "epmc_id", "preprint_server"),
    **columns_at("cited_by_count", "is_open_access", "first_publication_date"),
}
_BRIEF: Final = ("table", "ids")
"""Formats that show no more than a brief record holds."""


@accepts(*FORMATS)
@request_options(
    EUROPEPMC_SEARCH,
    argument("query", "QUERY", joined=True, more="Several words need no quotes."),
    option("max_results", "-n"),
    option("page_size"),
    option("cursor", metavar="CURSOR"),
    option(
        "sources",
        "--source",
        metavar="SOURCE",
        more="May be repeated.",
        words=("MED", "PMC", "PPR", "PAT", "AGR", "CBA", "CTX", "ETH", "HIR", "NBK", "preprints"),
    ),
    option("sort_by", "--sort", metavar="ORDER", words=("relevance", "date", "cited")),
    option("detail_level", "--detail", metavar="LEVEL", words=("full", "brief")),
    option("synonyms"),
)
def command(
    ctx: typer.Context,
    asked: dict[str, Any],
    preprints: Annotated[bool, typer.Option("--preprints", help="Only preprints; short for --source PPR.")] = False,
) -> None:
    """Search Europe PMC: PubMed's articles, preprints and more; -n goes through as many pages as it takes.

    entrez-kit europepmc base editing AND PUB_YEAR:2024 --preprints
    ids prints PMIDs, for records outside PubMed source and id (PPR:PPR123456).
    """
    if preprints:
        hint = "Give --preprints for preprints alone, or --source PPR beside other sources."
        refuse_beside(ctx, "sources", "--preprints", hint)
        asked["sources"] = ["PPR"]
    if plan(ctx).format in _BRIEF and not was_typed(ctx, "detail_level") and not plan(ctx).fields:
        asked["detail_level"] = "brief"
    if asked["max_results"] is not None and not was_typed(ctx, "page_size"):
        asked["page_size"] = max(min(asked["max_results"], MAX_PAGE_SIZE), 1)
    run(
        ctx,
        EUROPEPMC_SEARCH,
        asked,
        _view(),
        label="Retrieving records",
        least=MAX_PAGE_SIZE,
        afterwards=partial(_remarks, ctx),
    )


def _view() -> View[EuropePMCResult]:
    return View(
        table=show_with("europepmc.search_table"),
        columns=COLUMNS,
        page=page,
        ids=lambda article: [article.key],
        articles=lambda article: [article],
    )


def _remarks(ctx: typer.Context, said: Walk | EuropePMCResult) -> None:
    if isinstance(said, Walk) and said.next_cursor and said.failure is None:
        note(ctx, f"{said.retrieved:,} of {said.total_found:,} records; go on with --cursor {said.next_cursor}")

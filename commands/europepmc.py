"""`entrez-kit europepmc`: search Europe PMC, including preprints, by page or for many results."""

from typing import Annotated, Any, Final

import typer

from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.output_formats import Family
from entrez_kit.pubmed.europepmc.search_europepmc import (
    EUROPEPMC_SEARCH,
    EuropePMCArticles,
    EuropePMCResult,
)
from entrez_kit.services.europe_pmc import MAX_PAGE_SIZE

from . import _views
from ._formats import View
from ._formats.fields import build_columns
from ._options import App, build_argument, build_option, request_options
from ._pipeline import build_request, plan, refuse_beside, report_omitted, run, was_typed
from ._state import accept_formats
from ._views.text import ARTICLE_COLUMNS, get_record_key

app = App()

COLUMNS: Final = {
    "id": get_record_key,
    **ARTICLE_COLUMNS,
    **build_columns("source", "epmc_id", "preprint_server"),
    **build_columns("cited_by_count", "is_open_access", "first_publication_date"),
}


@app.command("europepmc")
@accept_formats(
    Family.SCREEN,
    Family.DOCUMENT,
    Family.ROWS,
    Family.IDS,
    Family.PAGES,
    Family.REFERENCES,
    Family.COUNT,
    fields="pmid,title",
)
@request_options(
    EUROPEPMC_SEARCH.request,
    build_argument("query", "QUERY", joined=True, more="Several words need no quotes."),
    build_option("max_results", "-n"),
    build_option("page_size"),
    build_option("cursor", metavar="CURSOR", help="Start of the page: next_cursor of the previous page."),
    build_option(
        "sources",
        "--source",
        metavar="SOURCE",
        more="May be repeated.",
        words=("MED", "PMC", "PPR", "PAT", "AGR", "CBA", "CTX", "ETH", "HIR", "NBK", "preprints"),
    ),
    build_option("sort_by", "--sort", metavar="ORDER", words=("relevance", "date", "cited")),
    build_option("detail_level", "--detail", metavar="LEVEL", words=("full", "brief")),
    build_option("synonyms"),
)
def europepmc_command(
    ctx: typer.Context,
    options: dict[str, Any],
    preprints: Annotated[bool, typer.Option("--preprints", help="Preprints only; short for --source PPR.")] = False,
) -> None:
    """Search Europe PMC: PubMed's articles, preprints and more; -n fetches as many pages as needed.

    -f ids prints PMIDs, or source and id (PPR:PPR123456) of a record that is not in PubMed.
    entrez-kit europepmc base editing AND PUB_YEAR:2024 --preprints
    """
    request = build_request(ctx, EUROPEPMC_SEARCH, options)
    changes: dict[str, object] = {}
    if preprints:
        hint = "Give --preprints for preprints only, or --source PPR with other sources."
        refuse_beside(ctx, "sources", "--preprints", hint)
        changes["sources"] = ["PPR"]
    if plan(ctx).format.is_brief and not was_typed(ctx, "detail_level") and not plan(ctx).fields:
        changes["detail_level"] = "brief"
    if request.max_results is not None and not was_typed(ctx, "page_size"):
        changes["page_size"] = max(min(request.max_results, MAX_PAGE_SIZE), 1)

    def report_notes(hits: EuropePMCArticles) -> None:
        if hits.next_cursor and hits.failure is None and not plan(ctx).whole:
            count = f"{hits.retrieved:,} of {format_count(hits.total_found, 'record')}"
            report_omitted(ctx, f"{count}. For the next page add --cursor {hits.next_cursor}")

    run(
        ctx,
        EUROPEPMC_SEARCH,
        request.model_copy(update=changes),
        _view(request.query),
        label="Retrieving records",
        least=MAX_PAGE_SIZE,
        afterwards=report_notes,
    )


def _view(query: str) -> View[EuropePMCResult]:
    return View(
        table=lambda result, console: _views.europepmc.render_search(result, console),
        columns=COLUMNS,
        page=lambda record: _views.markdown.write_article(record),
        ids=lambda article: [article.key],
        articles=lambda article: [article],
        title=f"{query} - Europe PMC",
    )

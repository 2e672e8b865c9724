"""`entrez-kit show`: show one record as a page."""

from typing import Any

import typer

from entrez_kit.base.output_formats import Family
from entrez_kit.pubmed.fetch import FETCH_CONTENTS, FetchResult

from . import _views
from ._formats import PAGE_BREAK
from ._formats.fields import convert_to_data
from ._ids import NAME_ARTICLES, read_inputs
from ._options import App, FilesOfIds, request_options
from ._pipeline import build_request, get_state, plan, suggest_next
from ._state import accept_formats
from .fetch import FORMATS, IDS, fetch_and_print

app = App()


@app.command("show")
@accept_formats(*FORMATS, fields="pmid,journal_info.title")
@request_options(FETCH_CONTENTS.request, IDS)
def show_command(ctx: typer.Context, options: dict[str, Any], input: FilesOfIds = None) -> None:
    """Read a record as a page: retractions first, then title, authors, abstract, terms and links.

    -v adds affiliations, investigators and grants. Other formats contain the records, as with `fetch`.
    entrez-kit --demo show 99000001
    """
    options["pmids"] = read_inputs(ctx, options["pmids"], input, field="pmids", hint=NAME_ARTICLES)
    request = build_request(ctx, FETCH_CONTENTS, options)
    full = get_state(ctx).settings.verbose

    pmids: list[str] = []

    def render_pages(result: FetchResult, console: Any) -> Any:
        records = [convert_to_data(article) for article in result.articles or []]
        pmids.extend(str(record["pmid"]) for record in records)
        pages = (_views.markdown.write_article_for_screen(record, full=full) for record in records)
        return _views.reading.render_markdown_page(PAGE_BREAK.join(pages))

    selected = plan(ctx).format
    level = selected.details[0] if selected.details else "abstract_plus"
    grants = full and selected.family is Family.SCREEN
    request = request.model_copy(update={"detail_level": level, "include_grant_info": grants})
    fetch_and_print(ctx, request, render_pages)
    if pmids:
        suggest_next(ctx, f"fulltext {pmids[0]}", f"related {pmids[0]}", f"cite {pmids[0]}")

"""`entrez-kit show`: a record as a page to read."""

from typing import Any

import typer

from entrez_kit.pubmed.fetch import FetchResult

from ._formats.fields import as_data
from ._pipeline import accepts, plan, state
from .fetch import FORMATS, Ids, InputFiles, deliver


@accepts(*FORMATS)
def command(ctx: typer.Context, pmids: Ids = None, input: InputFiles = None) -> None:
    """Read a record as a page: retractions first, then title, authors, abstract, terms and links.

    -v adds affiliations, investigators and grants. Other formats print what fetch prints:
    entrez-kit --demo show 99000001
    """
    full = state(ctx).settings.verbose

    def page(result: FetchResult, console: Any) -> Any:
        from ._views.page import pages

        return pages([as_data(article) for article in result.articles or []], console, full=full)

    form = plan(ctx).format
    arguments: dict[str, Any] = {
        "pmids": pmids,
        "query_key": None,
        "web_env": None,
        "retstart": None,
        "retmax": None,
        "detail_level": "medline_text" if form == "nbib" else "abstract_plus",
        "include_mesh_terms": True,
        "include_grant_info": full and form == "table",
    }
    deliver(ctx, arguments, input or [], page)

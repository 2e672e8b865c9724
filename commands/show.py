"""`entrez-kit show`: a record as a page to read."""

from typing import Any

import typer

from entrez_kit.pubmed.fetch import FETCH_CONTENTS, FetchResult

from ._formats.fields import as_data
from ._ids import InputFiles
from ._options import request_options
from ._pipeline import accepts, plan, state
from .fetch import FORMATS, IDS, deliver


@accepts(*FORMATS)
@request_options(FETCH_CONTENTS, IDS)
def command(ctx: typer.Context, asked: dict[str, Any], input: InputFiles = None) -> None:
    """Read a record as a page: retractions first, then title, authors, abstract, terms and links.

    -v adds affiliations, investigators and grants. Other formats print what fetch prints:
    entrez-kit --demo show 99000001
    """
    full = state(ctx).settings.verbose

    def page(result: FetchResult, console: Any) -> Any:
        from ._views.page import pages

        return pages([as_data(article) for article in result.articles or []], console, full=full)

    form = plan(ctx).format
    asked["detail_level"] = "medline_text" if form == "nbib" else "abstract_plus"
    asked["include_grant_info"] = full and form == "table"
    deliver(ctx, asked, input or [], page)

"""`entrez-kit fulltext`: the full text of articles in sections, one outcome per identifier, in order."""

import sys
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

import typer

from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.output_formats import Family
from entrez_kit.fulltext.chain import BATCH
from entrez_kit.fulltext.fetch_fulltext import (
    FULLTEXT_PAGE,
    FulltextOutcome,
    FulltextResult,
    Fulltexts,
)

from . import _views
from ._formats import Sink, View, Writer
from ._formats.fields import Column, Record, build_columns, convert_to_data, get_values
from ._ids import NAME_ARTICLES, describe_failure, read_inputs
from ._options import App, FilesOfIds, build_ids_argument, build_option, request_options
from ._pipeline import build_request, get_state, note, plan, refuse_without, run
from ._state import accept_formats, is_terminal

app = App()


@app.command("fulltext")
@accept_formats(
    *(Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.IDS, Family.PAGES),
    files="The PDF of the publisher is not downloaded; --json names its page (pmc_url, source_url or publisher_url).",
    fields="pmid,title",
)
@request_options(
    FULLTEXT_PAGE.request,
    build_ids_argument("ids", "PMIDs, PMCIDs, DOIs, also mixed; - reads standard input."),
    "input",
    build_option("include_references", "--references"),
    build_option("sections", "--section", metavar="TEXT", more="May be repeated."),
    build_option("max_sections"),
    build_option("max_characters"),
    build_option(
        "overflow_mode",
        "--overflow",
        metavar="MODE",
        help="How --max-characters shortens a text: truncate keeps the first sections, outline a part of each section.",
    ),
)
def fulltext_command(ctx: typer.Context, options: dict[str, Any], input: FilesOfIds = None) -> None:
    """Fetch the full text of articles, from PMC, Europe PMC or an open-access copy.

    A terminal shows the complete text with references, in a pager if it is long. -f md writes Markdown, -f table the
    sections and their sizes, -f csv the source of each text, -f ids the articles that have a text.
    entrez-kit --demo fulltext PMC99000001 99000004 -f md -o articles.md
    """
    options["ids"] = read_inputs(ctx, options["ids"], input, hint=NAME_ARTICLES)
    request = build_request(ctx, FULLTEXT_PAGE, options)
    if request.max_characters is None and request.max_sections is None:
        refuse_without(ctx, "overflow_mode", "--max-characters")
    is_read = _is_read(ctx)
    request = request.model_copy(update={"for_readers": is_read or plan(ctx).format.is_markdown})
    run(
        ctx,
        FULLTEXT_PAGE,
        request,
        _view(ctx, is_read=is_read),
        label="Fetching",
        least=BATCH,
        afterwards=partial(_say_cuts, ctx),
    )


def _is_read(ctx: typer.Context) -> bool:
    """Return whether the text is shown for reading: on a terminal, unless another format is selected."""
    output = plan(ctx)
    if output.target is not None or not is_terminal(sys.stdout):
        return False
    wants_table = output.fields or get_state(ctx).get_preference("format", None) is not None
    return output.format.is_read and not (output.format.family is Family.SCREEN and wants_table)


def _view(ctx: typer.Context, *, is_read: bool) -> View[FulltextResult]:
    def write_on_screen(sink: Sink) -> Writer[Any]:
        return _views.fulltext.create_screen_writer(sink, get_state(ctx))

    def write_pages(sink: Sink) -> Writer[Any]:
        return _views.fulltext.FulltextWriter(sink)

    return View(
        table=lambda result, console: _views.fulltext.render_fulltext(result, console),
        records=_yield_records,
        columns=COLUMNS,
        ids=lambda item: (
            str(article.get("pmid") or article.get("pmcid") or article.get("doi")) for article in _yield_articles(item)
        ),
        writers=dict.fromkeys(("table", "md"), write_on_screen) if is_read else {"md": write_pages},
    )


def _yield_articles(item: FulltextOutcome) -> Iterator[Record]:
    if item.article is not None:
        yield convert_to_data(item.article)


def _yield_records(item: FulltextOutcome) -> Iterator[Record]:
    """Yield the article, or the jsonl line for an input without one."""
    yield from _yield_articles(item)
    unavailable = item.unavailable
    if unavailable is not None:
        message = f"no full text: {unavailable.reason}"
        known = {
            name: value
            for name, value in convert_to_data(unavailable).items()
            if name not in ("id", "id_type", "message")
        }
        yield describe_failure(item.id, item.status, unavailable.message or message, **known)
    elif item.article is None:
        yield describe_failure(item.id, item.status, "not a PMID, PMCID or DOI")


def _count_characters(record: Record) -> int:
    """Return the number of characters of text."""
    below = [*(record.get("sections") or ()), *(record.get("subsections") or ())]
    return len(record.get("content") or record.get("text") or "") + sum(map(_count_characters, below))


COLUMNS: Final[Mapping[str, Column]] = {
    **build_columns("pmid", "pmcid", "doi", "title"),
    "journal": partial(get_values, path="journal.title"),
    **build_columns("publication_date.year", "via_source", "license", "content_format", "source_url"),
    "sections": partial(get_values, path="sections.title"),
    "characters": _count_characters,
}
"""The columns of csv and tsv without --fields."""


def _say_cuts(ctx: typer.Context, texts: Fulltexts) -> None:
    """Report the texts that were cut, if the format does not."""
    if plan(ctx).whole or texts.truncation is None:
        return
    for cut in texts.truncation.articles:
        part = f"{cut.returned_characters:,} of {format_count(cut.original_characters, 'character')}"
        note(ctx, f"{cut.id}: {part} and {format_count(len(cut.sections), 'section')} cut.")

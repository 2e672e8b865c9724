"""`entrez-kit cite`: formatted citations, and files for reference managers."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import typer

from entrez_kit.base.output_formats import BY_NAME
from entrez_kit.citations.format_citations import FORMAT_CITATIONS, Citations, CitationsRequest, CitationsResult, Cited
from entrez_kit.citations.style.style_names import read_styles
from entrez_kit.citations.write_files import FILES
from entrez_kit.pubmed.record_fetcher import BATCH

from ._formats import Texts
from ._formats.fields import Record, as_data, columns_at
from ._formats.rows import refuse_lines_in_cells
from ._ids import NAME_ARTICLES, describe_failure
from ._options import ids_argument, option, request_options
from ._pipeline import Family, View, formats, plan, run, state, warn, was_typed
from ._state import Plan, list_formats, unknown_suffix, usage_error
from ._views.markdown import escaped

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

DEFAULT_STYLES: Final = ("apa",)


@formats(Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.TEXT, Family.PAGES, Family.REFERENCES)
@request_options(
    FORMAT_CITATIONS,
    ids_argument("pmids", more="- reads standard input.", hint=NAME_ARTICLES),
    option(
        "citation_styles",
        "--style",
        metavar="STYLE",
        default=[*DEFAULT_STYLES],
        convert=lambda given: read_styles(given) or None,
    ),
)
def command(ctx: typer.Context, request: CitationsRequest) -> None:
    """Cite PubMed records in the styles of journals, one citation per id, in order.

    Several styles at once: entrez-kit --demo cite 99000001 PMC99000002 --style apa,vancouver
    A file for a reference manager: entrez-kit --demo cite 99000001 --style csl -o references.json
    """
    made = plan(ctx)
    styles: list[str] = [*request.citation_styles] if request.citation_styles else [*DEFAULT_STYLES]
    if made.format.family is Family.REFERENCES:
        if was_typed(ctx, "citation_styles") and any(ctx.params["citation_styles"]) and styles != [made.format.name]:
            raise usage_error(
                f"--style has no effect in a file of the format {made.format}.",
                "citation_styles",
                f"Leave --style out, or add {made.format} to the styles and use --json.",
            )
        styles = [made.format.name]
    elif len(styles) == 1 and styles[0] in FILES and _wants_file(ctx, made, styles[0]):
        made = replace(made, format=BY_NAME[styles[0]])  # reference managers import it
    elif made.format.family is Family.TEXT:
        _refuse_other_suffixes(ctx, made)
    state(ctx).plan = made
    refuse_lines_in_cells(made, styles)
    markup = "markdown" if made.format.is_markdown else "plain"
    run(
        ctx,
        FORMAT_CITATIONS,
        request.model_copy(update={"citation_styles": styles, "markup": markup}),
        _view(styles),
        label="Citing",
        least=BATCH,
        idle="Standard input contained no identifiers, so nothing was cited.",
        afterwards=lambda citations: _warn_of_status(ctx, citations),
    )


def _refuse_other_suffixes(ctx: typer.Context, made: Plan) -> None:
    """Refuse a file such as .odt for plain citations, unless -f selects them."""
    if made.target is None or state(ctx).flags.get("format"):
        return
    if made.target.suffix.lower() not in ("", ".txt", ".text"):
        raise unknown_suffix(made.target, list_formats(ctx.command))


def _wants_file(ctx: typer.Context, made: Plan, style: str) -> bool:
    """Return whether the output is a file for reference managers: text, or no format and no other suffix was given."""
    if made.format.family is Family.TEXT:
        return True
    flags, target = state(ctx).flags, made.target
    is_chosen = flags.get("json") or flags.get("format")
    return not is_chosen and (target is None or target.suffix.lower() in ("", *BY_NAME[style].also_in))


def _render_citations_page(result: CitationsResult, console: "Console") -> "RenderableType":
    from ._views.citations import citations_page

    return citations_page(result, console)


def _view(styles: list[str]) -> View[CitationsResult]:
    return View(
        table=_render_citations_page,
        records=_records,
        columns=columns_at("pmid", "title", *(f"citations.{style}" for style in styles)),
        page=_item,
        between="",
        articles=lambda item: [item.article] if item.article is not None else [],
        title="References",
        writers={"text": lambda sink: Texts(sink, _lines)},
    )


def _records(item: Cited) -> Iterator[Record]:
    """Yield the citation, or the jsonl line for an input without one."""
    if item.citation is not None:
        yield as_data(item.citation)
    else:
        yield describe_failure(item.fetched.input, item.fetched.status, item.fetched.message)


def _lines(item: Cited) -> Iterator[str]:
    """Yield a citation in each style on one line; the formats of reference managers have several lines."""
    for text in item.citation.citations.values() if item.citation is not None else ():
        yield text.rstrip("\n") + "\n"


def _item(record: Record) -> str:
    """Return a citation as a Markdown list item, with the italics of its style."""
    return "".join(
        f"- {text if style not in FILES else escaped(text)}\n" for style, text in record["citations"].items()
    )


def _warn_of_status(ctx: typer.Context, citations: Citations) -> None:
    """Warn about the publication status of records, if the format does not show it."""
    if plan(ctx).whole or plan(ctx).format.is_data:
        return
    for label, pmids in citations.standings.items():
        warn(ctx, f"{label}: PMID {', '.join(dict.fromkeys(pmids))}.")

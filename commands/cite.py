"""`entrez-kit cite`: citations to paste, and files for reference managers."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import typer

from entrez_kit.base.errors import InvalidInput
from entrez_kit.citations.format_citations import FORMAT_CITATIONS, Citations, CitationsResult, Cited
from entrez_kit.citations.style.style_names import STYLE_NAMES, read_styles
from entrez_kit.citations.write_files import FILES
from entrez_kit.pubmed.record_fetcher import BATCH

from ._formats.fields import Record, as_data, columns_at
from ._formats.rows import fit_into_cells
from ._formats.writer import Texts
from ._ids import NAME_ARTICLES, InputFiles, failed, read_inputs
from ._options import argument, option, request_options
from ._pipeline import View, accepts, plan, run, show_with, state, warn, was_typed
from ._repeats import WrittenOnce
from ._state import Plan, unknown_suffix
from ._views.markdown import escaped

FORMATS: Final = (
    "table",
    "json",
    "jsonl",
    "csv",
    "tsv",
    "text",
    "md",
    "html",
    "docx",
    *(name for name in STYLE_NAMES if name in FILES),
)
DEFAULT_STYLES: Final = ("apa",)


@accepts(*FORMATS)
@request_options(
    FORMAT_CITATIONS,
    argument("pmids", "ID...", more="- reads standard input."),
    option("citation_styles", "--style", metavar="STYLE", default=[*DEFAULT_STYLES]),
)
def command(ctx: typer.Context, asked: dict[str, Any], input: InputFiles = None) -> None:
    """Cite PubMed records in the styles of journals, one citation per id, in order.

    Several styles at once: entrez-kit --demo cite 99000001 PMC99000002 --style apa,vancouver
    A file for a reference manager: entrez-kit --demo cite 99000001 --style csl -o references.json
    """
    styles: list[str] = read_styles(asked["citation_styles"]) or [*DEFAULT_STYLES]
    made = plan(ctx)
    if made.format in FILES:
        if was_typed(ctx, "citation_styles") and styles != [made.format] and any(asked["citation_styles"]):
            raise InvalidInput(
                f"--style does nothing in a file of the format {made.format}.",
                invalid_input="citation_styles",
                recovery_hint=f"Leave --style out, or ask for {made.format} as a style beside the others, with --json.",
                details={"reason": "bad_usage"},
            )
        styles = [made.format]
    elif len(styles) == 1 and styles[0] in FILES and (made.format == "text" or _by_default(ctx)):
        made = replace(made, format=styles[0])  # a pipe gets the file itself: it can be imported
    elif made.format == "text":
        _only_plain_suffixes(ctx, made)
    state(ctx).plan = made
    fit_into_cells(made, styles)
    ids = read_inputs(ctx, asked["pmids"], input, field="pmids", hint=NAME_ARTICLES)
    once = WrittenOnce()

    def finish(said: Citations | CitationsResult) -> None:
        once.report(ctx)
        _say_standings(ctx, said)

    run(
        ctx,
        FORMAT_CITATIONS,
        {"pmids": ids, "citation_styles": styles, "markup": "markdown" if made.is_markdown else "plain"},
        _view(styles, once),
        label="Citing",
        least=BATCH,
        idle="No identifiers came from standard input; nothing was cited.",
        afterwards=finish,
    )


def _only_plain_suffixes(ctx: typer.Context, made: Plan) -> None:
    """Refuse a file whose suffix promises what citations are not, such as .docx, unless -f says that they are meant."""
    if made.target is None or state(ctx).flags.get("format"):
        return
    if made.target.suffix.lower() not in ("", ".txt", ".text"):
        raise unknown_suffix(made.target, FORMATS)


def _by_default(ctx: typer.Context) -> bool:
    """Tell whether nobody asked for a format: not by a flag, not by the suffix of a file that is no list of items."""
    flags = state(ctx).flags
    target = flags.get("output")
    return not (flags.get("json") or flags.get("format")) and (target is None or plan(ctx).format == "json")


def _view(styles: list[str], once: WrittenOnce) -> View[CitationsResult]:
    return View(
        table=show_with("citations.citations_page"),
        records=_records,
        columns=columns_at("pmid", "title", *(f"citations.{style}" for style in styles)),
        page=_item,
        between="",
        articles=lambda item: [item.article] if item.article is not None and once.is_new(item.article.pmid) else [],
        title="References",
        writers={"text": lambda sink: Texts(sink, _lines)},
    )


def _records(item: Cited) -> Iterator[Record]:
    """Yield the citation, or what has a line of its own in jsonl where there is none."""
    if item.citation is not None:
        yield as_data(item.citation)
    else:
        yield failed(item.fetched.input, item.fetched.status, item.fetched.message)


def _lines(item: Cited) -> Iterator[str]:
    """Yield a citation in every style, a line each; a file for reference managers has lines of its own."""
    for text in item.citation.citations.values() if item.citation is not None else ():
        yield text.rstrip("\n") + "\n"


def _item(record: Record) -> str:
    """Return a citation as an item of a Markdown list; formatted styles come with their italics."""
    return "".join(
        f"- {text if style not in FILES else escaped(text)}\n" for style, text in record["citations"].items()
    )


def _say_standings(ctx: typer.Context, said: Citations | CitationsResult) -> None:
    """Say what must be known of a record before it is cited, also where the format has no place for it."""
    if isinstance(said, Citations) and plan(ctx).format != "jsonl":
        for label, pmids in said.standings.items():
            warn(ctx, f"{label}: PMID {', '.join(dict.fromkeys(pmids))}.")

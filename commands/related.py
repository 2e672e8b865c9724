"""`entrez-kit related`: similar, citing and cited articles, and the network around an article."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import typer

from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.output_formats import Family
from entrez_kit.citations.style.style_names import read_styles
from entrez_kit.relationships.find_relationships import RELATIONSHIPS
from entrez_kit.relationships.related_documents import RelationshipsResult, to_full_name

from . import _views
from ._formats import View
from ._formats.fields import Record, build_columns
from ._formats.rows import refuse_lines_in_cells
from ._ids import NAME_ARTICLES, read_inputs, run_each
from ._options import REGISTRATIONS, App, FilesOfIds, build_ids_argument, build_option, request_options
from ._pipeline import describe_rest, note, plan, refuse_beside, refuse_without, report_omitted, was_typed
from ._state import accept_formats
from ._views.text import get_standing_status

app = App()

COLUMNS: Final = (
    *("pmid", "title", "authors", "source", "pub_date", "doi", "pmcid", "retraction_status", "score", "depth"),
    *("source_count", "via", "epmc_source", "epmc_id", "citation", "link_url"),
)
"""The columns of csv and tsv; ``citation`` has the text of a reference list."""
CITATIONS: Final = "citation_formats"


@app.command("related")
@accept_formats(
    Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.IDS, Family.PAGES, Family.COUNT, fields="pmid,title"
)
@request_options(
    RELATIONSHIPS.request,
    build_ids_argument("source_pmid", more="May be repeated; - reads standard input."),
    "input",
    build_option(
        "relationship_type",
        "--type",
        metavar="RELATION",
        help="similar, citedin (articles that cite it) or references (articles that it cites). citation_formats prints "
        "citations of the article. Default: similar.",
        show_default=False,
        words=("similar", "citedin", "references", CITATIONS),
    ),
    build_option("max_related_results", "-n", "--max-results"),
    build_option("depth", help="Steps to follow; with 2 or 3, also the relations of the articles found."),
    build_option("budget", help="Maximum number of requests with --depth 2 or 3."),
    REGISTRATIONS,
    build_option(
        "citation_styles", "--style", metavar="STYLE", help="Styles of citation_formats.", more="May be repeated."
    ),
)
def related_command(ctx: typer.Context, options: dict[str, Any], input: FilesOfIds = None) -> None:
    """Find articles similar to, citing or cited by an article.

    --depth 2 follows references of references, ranked by the number of articles that lead to each:
    entrez-kit related 99000004 --type references --depth 2 -n 20

    Several articles, with the source of each result:
    entrez-kit gene pubmed NCBIGene:7157 -f ids | entrez-kit related -
    """
    ids = read_inputs(ctx, options.pop("source_pmid"), input, field="source_pmid", hint=NAME_ARTICLES)
    kind = to_full_name(options["relationship_type"])
    if kind != CITATIONS:
        refuse_without(ctx, "citation_styles", f"--type {CITATIONS}")
    if options["depth"] == 1:
        refuse_without(ctx, "budget", "--depth 2 or more")
    if kind == CITATIONS:
        refuse_beside(ctx, "max_related_results", f"--type {CITATIONS}", "Omit it: one article is cited.")
        is_default = not was_typed(ctx, "citation_styles")
        refuse_lines_in_cells(plan(ctx), read_styles(options["citation_styles"]), is_default=is_default)
    run_each(
        ctx,
        RELATIONSHIPS,
        "source_pmid",
        ids,
        options,
        _CITATIONS if kind == CITATIONS else _ARTICLES,
        left_out=_count_left_out,
        more="-n",
        afterwards=partial(_report_notes, ctx),
    )


_ARTICLES: Final[View[RelationshipsResult]] = View(
    table=lambda result, console: _views.related.render_related(result, console),
    columns=build_columns(*COLUMNS) | {"standing": get_standing_status},
    page=lambda record: _views.related.write_related(record),
    between="",
    ids=lambda result: (article.pmid for article in result.related_articles if article.pmid),
    title="Related articles",
)


def _yield_citations(result: RelationshipsResult) -> Iterator[Record]:
    """Yield a record for each style."""
    for style, text in result.citations.items():
        yield {"pmid": result.source_pmid, "style": style, "citation": text}


_CITATIONS: Final[View[RelationshipsResult]] = View(
    table=lambda result, console: _views.related.render_related(result, console),
    records=_yield_citations,
    record_model=Any,
    columns=build_columns("pmid", "style", "citation"),
    records_key="",  # in JSON the styles are members of the document
    total=lambda result: len(result.citations),
    page=lambda record: _views.related.write_styled_citation(record),
    between="\n",
    title="Citations",
)


def _count_left_out(result: RelationshipsResult) -> int:
    return 0 if result.relationship_type == CITATIONS else result.total_found - result.retrieved_count


def _report_notes(ctx: typer.Context, result: RelationshipsResult) -> None:
    """Report what the format cannot show."""
    selected = plan(ctx).format
    outside = sum(article.pmid is None for article in result.related_articles)
    if selected.family is Family.IDS and outside:
        note(ctx, f"{format_count(outside, 'work')} without a PMID omitted; --json has all.")
    rest = _count_left_out(result)
    if not selected.has_total and rest > 0:
        report_omitted(ctx, describe_rest(rest, f"-n {result.total_found}"))

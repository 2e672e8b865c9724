"""`entrez-kit related`: similar, citing and cited articles, and the network around an article."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import typer

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.citations.style.style_names import read_styles
from entrez_kit.relationships.find_relationships import RELATIONSHIPS
from entrez_kit.relationships.models import (
    RelationshipsResult,
    to_full_name,
)

from ._formats.fields import Record, columns_at
from ._formats.rows import fit_into_cells
from ._ids import NAME_ARTICLES, InputFiles, read_inputs, run_each
from ._options import argument, option, request_options
from ._pipeline import View, accepts, counted, note, plan, refuse_without, show_with
from ._views.markdown import escaped, item
from ._views.text import standing_status

COLUMNS: Final = (
    *("pmid", "title", "authors", "source", "pub_date", "doi", "pmcid", "retraction_status", "score", "depth"),
    *("source_count", "via", "epmc_source", "epmc_id", "citation", "link_url"),
)
"""What csv and tsv hold; words of a reference list stand in ``citation``."""
CITATIONS: Final = "citation_formats"


@accepts("table", "json", "jsonl", "csv", "tsv", "ids", "md", "count")
@request_options(
    RELATIONSHIPS,
    argument("source_pmid", "ID...", more="May be several; - reads standard input."),
    "input",
    option(
        "relationship_type",
        "--type",
        metavar="RELATION",
        words=("similar", "citedin", "references", CITATIONS),
    ),
    option("max_related_results", "-n", "--max-results"),
    option("depth"),
    option("budget"),
    option("citation_styles", "--style", metavar="STYLE", more="May be repeated."),
)
def command(ctx: typer.Context, asked: dict[str, Any], input: InputFiles = None) -> None:
    """Find articles similar to, citing or cited by an article.

    With --depth 2 it is a snowball, ranked by how many articles lead to each:
    entrez-kit related 99000004 --type references --depth 2 -n 20
    Around several, each record saying from which: entrez-kit gene pubmed NCBIGene:7157 -f ids | entrez-kit related -
    """
    kind = to_full_name(asked["relationship_type"])
    if kind != CITATIONS:
        refuse_without(ctx, "citation_styles", f"--type {CITATIONS}")
    if asked["depth"] == 1:
        refuse_without(ctx, "budget", "--depth 2 or more")
    if kind == CITATIONS:
        fit_into_cells(plan(ctx), read_styles(asked["citation_styles"]))
    view = _citations_view(plan(ctx).format) if kind == CITATIONS else _ARTICLES
    ids = read_inputs(ctx, asked.pop("source_pmid"), input, field="source_pmid", noun="ids", hint=NAME_ARTICLES)
    run_each(
        ctx,
        RELATIONSHIPS,
        "source_pmid",
        ids,
        asked,
        view,
        left_out=_left_out,
        more="-n",
        afterwards=partial(_remarks, ctx),
    )


def _item(record: Record) -> str:
    """Return a related article as an item of a list; a work outside PubMed by the words there are for it."""
    if record.get("pmid"):
        return item(record)
    words = [record.get(name) for name in ("title", "authors", "source")] if record.get("title") else []
    text = ". ".join(str(word) for word in words if word) or str(record.get("citation") or record.get("doi") or "")
    address = record.get("link_url")
    return f"- {escaped(text)}" + (f"  \n  <{address}>\n" if address else "\n")


_ARTICLES: Final[View[RelationshipsResult]] = View(
    table=show_with("related.related_table"),
    columns=columns_at(*COLUMNS) | {"standing": standing_status},
    page=_item,
    between="",
    ids=lambda result: (article.pmid for article in result.related_articles if article.pmid),
)


def _citations_view(form: str) -> View[RelationshipsResult]:
    def records(result: RelationshipsResult) -> Iterator[Record]:
        for style, text in result.citations.items():
            yield {"pmid": result.source_pmid, "style": style, "citation": text}

    return View(
        table=show_with("related.related_table"),
        records=records,
        # In JSON the styles are names in the document, so there are no records to look for fields in.
        record_model=str if form == "json" else Any,
        columns=columns_at("pmid", "style", "citation"),
        records_key="citations",
        total=lambda result: len(result.citations),
        page=lambda record: f"## {escaped(record['style'])}\n\n```\n{str(record['citation']).rstrip()}\n```\n",
        between="\n",
    )


def _left_out(result: RelationshipsResult) -> int:
    return 0 if result.relationship_type == CITATIONS else result.total_found - result.retrieved_count


def _remarks(ctx: typer.Context, result: RelationshipsResult) -> EntrezKitError | None:
    """Say on stderr what the format has no place for."""
    made = plan(ctx)
    outside = sum(article.pmid is None for article in result.related_articles)
    if made.format == "ids" and outside:
        note(ctx, f"{counted(outside, 'work')} without a PMID left out; json shows all.")
    rest = _left_out(result)
    if not made.says_total and rest > 0:
        note(ctx, f"{rest:,} more: add -n {result.total_found}")
    return None

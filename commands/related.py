"""`entrez-kit related`: similar, citing and cited articles, and the network around an article."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any, Final

import typer

from entrez_kit.citations.style.names import read_styles
from entrez_kit.errors import EntrezKitError
from entrez_kit.relationships.models import (
    DEFAULT_BUDGET,
    RelatedArticle,
    RelationshipsResult,
    full_name,
)
from entrez_kit.relationships.operation import RELATIONSHIPS

from ._formats.fields import Record, as_data, columns_at
from ._formats.rows import fit_into_cells
from ._ids import NAME_ARTICLES, InputFiles, read_inputs, run_each
from ._pipeline import View, accepts, argument, counted, note, option, plan, show_with
from ._views.markdown import escaped, item
from ._views.text import standing_status

COLUMNS: Final = (
    *("pmid", "title", "authors", "source", "pub_date", "doi", "pmcid", "retraction_status", "score", "depth"),
    *("source_count", "via", "epmc_source", "epmc_id", "citation", "link_url"),
)
"""What csv and tsv hold; words of a reference list stand in ``citation``."""
CITATIONS: Final = "citation_formats"


field: Final = partial(option, RELATIONSHIPS)


@accepts("table", "json", "jsonl", "csv", "tsv", "ids", "md", "count")
def command(
    ctx: typer.Context,
    source_pmid: Annotated[
        list[str] | None,
        argument(RELATIONSHIPS, "source_pmid", metavar="ID...", more="May be several; - reads standard input."),
    ] = None,
    input: InputFiles = None,
    relationship_type: Annotated[
        str,
        field("relationship_type", "--type", metavar="RELATION", words=("similar", "citedin", "references", CITATIONS)),
    ] = "pubmed_similar_articles",
    max_related_results: Annotated[int, field("max_related_results", "-n", "--max-results", metavar="N")] = 5,
    depth: Annotated[int, field("depth", "--depth", metavar="N")] = 1,
    budget: Annotated[int, field("budget", "--budget", metavar="N")] = DEFAULT_BUDGET,
    citation_styles: Annotated[
        list[str], field("citation_styles", "--style", metavar="STYLE", more="May be repeated.")
    ] = ["ris"],  # noqa: B006  # typer reads the default and never changes it
) -> None:
    """Find articles similar to, citing or cited by an article.

    With --depth 2 it is a snowball, ranked by how many articles lead to each:
    entrez-kit related 99000004 --type references --depth 2 -n 20
    Around several, each record saying from which: entrez-kit gene pubmed NCBIGene:7157 -f ids | entrez-kit related -
    """
    kind = full_name(relationship_type)
    arguments: dict[str, Any] = {
        "relationship_type": relationship_type,
        "max_related_results": max_related_results,
        "citation_styles": citation_styles,
        "depth": depth,
        "budget": budget,
    }
    form = plan(ctx).format
    if kind == CITATIONS:
        fit_into_cells(plan(ctx), read_styles(citation_styles))
    view = _citations_view(form) if kind == CITATIONS else _ARTICLES
    ids = read_inputs(ctx, source_pmid, input, field="source_pmid", noun="ids", hint=NAME_ARTICLES)
    afterwards = partial(_remarks, ctx)
    run_each(
        ctx,
        RELATIONSHIPS,
        "source_pmid",
        ids,
        arguments,
        view,
        label="Following links",
        left_out=_left_out,
        more="-n",
        afterwards=afterwards,
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
    records=lambda result: map(as_data, result.related_articles),
    record_model=RelatedArticle,
    columns=columns_at(*COLUMNS) | {"standing": standing_status},
    records_key="related_articles",
    total=lambda result: result.total_found,
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

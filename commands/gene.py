"""`entrez-kit gene`: from a symbol to candidates, from an id to the gene, from the gene to the literature."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import typer

from entrez_kit.base.errors import EntrezKitError, UnresolvedEntity
from entrez_kit.core.per_input import PerInputAnswer
from entrez_kit.databases.gene.gene_errors import looks_like_gene_id
from entrez_kit.databases.gene.get_genes import GET_GENE, GET_GENES, GET_PUBMED_LINKS, GeneBatch
from entrez_kit.databases.gene.models import Gene, GenePage, PubMedLinks
from entrez_kit.databases.gene.search_genes import SEARCH_GENES

from ._formats.fields import Record, as_data, columns_at
from ._ids import InputFiles, failed_input, read_inputs, run_each
from ._options import argument, option, request_options
from ._pipeline import View, accepts, note, plan, run, show_with

app = typer.Typer(help="Genes: find candidates by symbol or words, look one up, find articles about it.")

FORMATS: Final = ("table", "json", "jsonl", "csv", "tsv", "ids")


CANDIDATE_COLUMNS: Final = columns_at(
    "id", "symbol", "name", "description", "organism", "taxon_id", "match", "score", "status", "replaced_by"
)
SLIM_COLUMNS: Final = columns_at("id", "symbol", "name", "organism")
GENE_COLUMNS: Final = columns_at(
    "id",
    "symbol",
    "name",
    "organism",
    "taxon_id",
    "chromosome",
    "map_location",
    "gene_type",
    "status",
    "replaced_by",
    "aliases",
    "description",
    "cross_references.hgnc",
    "cross_references.ensembl_gene",
    "cross_references.uniprot",
    "cross_references.refseq",
    "cross_references.omim",
)


GENE_IDS: Final = argument("entrez_id", "ID...", help="NCBIGene:7157 ...; - reads standard input.")


@app.command("search")
@accepts(*FORMATS, "count")
@request_options(
    SEARCH_GENES,
    argument("query", "QUERY", joined=True),
    option("organism", metavar="NAME"),
    option("page_size"),
    option("cursor", metavar="CURSOR"),
    option("include_discontinued"),
    option("broader_results", "--broader/--no-broader"),
)
def search(ctx: typer.Context, asked: dict[str, Any]) -> None:
    """Find genes by symbol, alias, name or words, the likeliest first.

    entrez-kit gene search TP53 --organism human
    """
    view: View[GenePage] = View(
        table=show_with("gene.search_table"),
        total=lambda page: page.pagination.total_count,
        columns=CANDIDATE_COLUMNS,
        id_key="id",
    )

    def remarks(page: GenePage) -> EntrezKitError | None:
        if page.pagination.cursor and (plan(ctx).format not in ("table", "json", "count") or plan(ctx).fields):
            note(ctx, f"There are {page.pagination.total_count:,} genes; go on with --cursor {page.pagination.cursor}")
        return None

    run(ctx, SEARCH_GENES, asked, view, afterwards=remarks)


@app.command("get")
@accepts(*FORMATS)
@request_options(GET_GENE, GENE_IDS, "input", option("slim"))
def get(ctx: typer.Context, asked: dict[str, Any], input: InputFiles = None) -> None:
    """Look genes up by their ids, one outcome per id, in order.

    One id gives the gene itself, several give a list; what is missing is named and the status is 4:

    entrez-kit gene get NCBIGene:7157 NCBIGene:672
    """
    ids = _ids(ctx, asked["entrez_id"], input)
    columns = SLIM_COLUMNS if asked["slim"] else GENE_COLUMNS
    if len(ids) == 1:
        one: View[Gene] = View(
            table=show_with("gene.gene_page"),
            columns=columns,
            id_key="id",
        )
        run(ctx, GET_GENE, asked | {"entrez_id": ids[0]}, one)
        return
    several: View[GeneBatch] = View(
        table=show_with("gene.batch_table"),
        records=_records,
        columns=columns,
        id_key="id",
    )
    run(
        ctx,
        GET_GENES,
        {"inputs": ids, "arguments": {"slim": asked["slim"]}},
        several,
        idle="No gene ids came from standard input; nothing was looked up.",
    )


def _ids(ctx: typer.Context, typed: list[str] | None, files: list[Path] | None) -> list[str]:
    """Read gene ids; a bare number in the place of one is one."""
    read = read_inputs(
        ctx,
        typed,
        files,
        field="entrez_id=",
        noun="gene ids",
        known=looks_like_gene_id,
        hint="Name ids such as NCBIGene:7157; `entrez-kit gene search` finds them from a symbol.",
        error=UnresolvedEntity,
    )
    return [f"NCBIGene:{one}" if one.isascii() and one.isdecimal() and int(one) else one for one in read]


def _records(item: PerInputAnswer[Gene]) -> Iterator[Record]:
    """Yield the gene, or what has a line of its own in jsonl where there is none."""
    yield failed_input(item) if item.result is None else as_data(item.result)


@app.command("pubmed")
@accepts(*FORMATS, "count")
@request_options(GET_PUBMED_LINKS, GENE_IDS, "input", option("limit", "-n"), option("offset"))
def pubmed(ctx: typer.Context, asked: dict[str, Any], input: InputFiles = None) -> None:
    """List the PMIDs of articles about a gene, or about each of several: their records say which.

    entrez-kit gene pubmed NCBIGene:7157 -f ids | entrez-kit fetch -
    entrez-kit gene search TP53 --organism human -f ids | entrez-kit gene pubmed - -f csv
    """
    ids = _ids(ctx, asked.pop("entrez_id"), input)
    offset = asked["offset"]

    view: View[PubMedLinks] = View(
        table=show_with("gene.links_table"),
        total=lambda links: links.total_count,
        columns=columns_at("pmid"),
    )

    def remarks(links: PubMedLinks) -> None:
        shown = offset + len(links.pmids)
        if not plan(ctx).says_total and links.pmids and shown < links.total_count:
            note(ctx, f"{links.total_count - shown:,} more: add --offset {shown}, or --limit {links.total_count}")

    run_each(
        ctx,
        GET_PUBMED_LINKS,
        "entrez_id",
        ids,
        asked,
        view,
        left_out=lambda links: links.total_count - offset - len(links.pmids) if links.pmids else 0,
        more="--limit",
        afterwards=remarks,
    )

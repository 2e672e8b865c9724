"""`entrez-kit gene`: from a symbol to candidates, from an id to the gene, from the gene to the literature."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from entrez_kit.each import EachAnswer
from entrez_kit.errors import EntrezKitError, UnresolvedEntity
from entrez_kit.gene.errors import looks_like_gene_id
from entrez_kit.gene.links import GET_PUBMED_LINKS
from entrez_kit.gene.lookup import GET_GENE, GET_GENES, GeneBatch
from entrez_kit.gene.models import Gene, GenePage, PubMedLinks
from entrez_kit.gene.search import SEARCH_GENES

from ._formats.fields import Record, as_data, columns_at
from ._ids import InputFiles, failed_input, read_inputs, run_each
from ._pipeline import View, accepts, argument, note, option, plan, run, show_with

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


@app.command("search")
@accepts(*FORMATS, "count")
def search(
    ctx: typer.Context,
    query: Annotated[list[str], argument(SEARCH_GENES, "query", metavar="QUERY")],
    organism: Annotated[str | None, option(SEARCH_GENES, "organism", "--organism", metavar="NAME")] = None,
    page_size: Annotated[int, option(SEARCH_GENES, "page_size", "--page-size", metavar="N")] = 50,
    cursor: Annotated[str | None, option(SEARCH_GENES, "cursor", "--cursor", metavar="CURSOR")] = None,
    include_discontinued: Annotated[
        bool, option(SEARCH_GENES, "include_discontinued", "--include-discontinued")
    ] = False,
) -> None:
    """Find genes by symbol, alias, name or words, the likeliest first.

    entrez-kit gene search TP53 --organism human
    """
    arguments = {
        "query": " ".join(query),
        "organism": organism,
        "page_size": page_size,
        "cursor": cursor,
        "include_discontinued": include_discontinued,
    }
    view: View[GenePage] = View(
        table=show_with("gene.search_table"),
        total=lambda page: page.pagination.total_count or 0,
        records=lambda page: (as_data(item) for item in page.items),
        columns=CANDIDATE_COLUMNS,
        records_key="items",
        id_key="id",
    )

    def remarks(page: GenePage) -> EntrezKitError | None:
        if page.pagination.cursor and (plan(ctx).format not in ("table", "json", "count") or plan(ctx).fields):
            note(ctx, f"There are {page.pagination.total_count:,} genes; go on with --cursor {page.pagination.cursor}")
        return None

    run(ctx, SEARCH_GENES, arguments, view, afterwards=remarks)


@app.command("get")
@accepts(*FORMATS)
def get(
    ctx: typer.Context,
    entrez_id: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", help="NCBIGene:7157 ...; - reads standard input.")
    ] = None,
    input: InputFiles = None,
    slim: Annotated[bool, option(GET_GENE, "slim", "--slim")] = False,
) -> None:
    """Look genes up by their ids, one outcome per id, in order.

    One id gives the gene itself, several give a list; what is missing is named and the status is 4:

    entrez-kit gene get NCBIGene:7157 NCBIGene:672
    """
    ids = _ids(ctx, entrez_id, input)
    columns = SLIM_COLUMNS if slim else GENE_COLUMNS
    if len(ids) == 1:
        one: View[Gene] = View(
            table=show_with("gene.gene_page"),
            records=lambda gene: [as_data(gene)],
            columns=columns,
            records_key="",
            id_key="id",
        )
        run(ctx, GET_GENE, {"entrez_id": ids[0], "slim": slim}, one)
        return
    several: View[GeneBatch] = View(
        table=show_with("gene.batch_table"),
        records=_records,
        record_model=Gene,
        columns=columns,
        records_key="genes",
        id_key="id",
    )
    run(
        ctx,
        GET_GENES,
        {"inputs": ids, "arguments": {"slim": slim}},
        several,
        over="inputs",
        empty=GeneBatch(genes=[]),
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


def _records(item: EachAnswer[Gene]) -> Iterator[Record]:
    """Yield the gene, or what has a line of its own in jsonl where there is none."""
    yield failed_input(item) if item.result is None else as_data(item.result)


@app.command("pubmed")
@accepts(*FORMATS, "count")
def pubmed(
    ctx: typer.Context,
    entrez_id: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", help="NCBIGene:7157 ...; - reads standard input.")
    ] = None,
    input: InputFiles = None,
    limit: Annotated[int, option(GET_PUBMED_LINKS, "limit", "--limit", metavar="N")] = 10,
    offset: Annotated[int, option(GET_PUBMED_LINKS, "offset", "--offset", metavar="N")] = 0,
) -> None:
    """List the PMIDs of articles about a gene, or about each of several: their records say which.

    entrez-kit gene pubmed NCBIGene:7157 -f ids | entrez-kit fetch -
    entrez-kit gene search TP53 --organism human -f ids | entrez-kit gene pubmed - -f csv
    """
    ids = _ids(ctx, entrez_id, input)

    view: View[PubMedLinks] = View(
        table=show_with("gene.links_table"),
        total=lambda links: links.total_count,
        records=lambda links: ({"pmid": pmid} for pmid in links.pmids),
        columns=columns_at("pmid"),
        records_key="pmids",
        record_model=str,
    )

    def remarks(links: PubMedLinks) -> None:
        shown = offset + len(links.pmids)
        if not plan(ctx).says_total and links.pmids and shown < links.total_count:
            note(ctx, f"{links.total_count - shown:,} more: add --offset {shown}, or --limit {links.total_count}")

    arguments = {"limit": limit, "offset": offset}
    run_each(
        ctx,
        GET_PUBMED_LINKS,
        "entrez_id",
        ids,
        arguments,
        view,
        label="Following links",
        left_out=lambda links: links.total_count - offset - len(links.pmids) if links.pmids else 0,
        more="--limit",
        afterwards=remarks,
    )

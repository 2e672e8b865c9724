"""`entrez-kit gene`: find genes by symbol, look genes up by id, and find articles about genes."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from entrez_kit.base.errors import AmbiguousQuery, UnresolvedEntity
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.output_formats import Family
from entrez_kit.core.per_input import PerInputAnswer
from entrez_kit.databases.gene.find_symbols import FIND_SYMBOLS, SymbolOutcome, SymbolsResult
from entrez_kit.databases.gene.gene_errors import looks_like_gene_id
from entrez_kit.databases.gene.get_genes import GET_GENE, GET_GENES, GET_PUBMED_LINKS, GeneBatch
from entrez_kit.databases.gene.models import Gene, GenePage, PubMedLinks
from entrez_kit.databases.gene.search_genes import SEARCH_GENES

from . import _views
from ._formats import View
from ._formats.fields import Record, build_columns, convert_to_data
from ._id_lists import IdKind, refuse_file_name
from ._ids import describe_failed_input, read_inputs, run_each
from ._options import BROADER, App, FilesOfIds, build_argument, build_ids_argument, build_option, request_options
from ._pipeline import build_request, describe_rest, plan, refuse_beside, report_omitted, run, suggest_next
from ._state import STDIN, accept_formats

app = App(help="Genes: find candidates by symbol or words, look one up, find articles about it.")

FORMATS: Final = (Family.SCREEN, Family.DOCUMENT, Family.ROWS, Family.IDS)

CANDIDATE_COLUMNS: Final = build_columns(
    "id", "symbol", "name", "description", "organism", "taxon_id", "match", "score", "status", "replaced_by"
)
SLIM_COLUMNS: Final = build_columns("id", "symbol", "name", "organism")
GENE_COLUMNS: Final = build_columns(
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


GENE_IDS: Final = build_ids_argument("entrez_id", "NCBIGene:7157 ...; - reads standard input.")
FilesOfSymbols = Annotated[
    list[Path] | None,
    typer.Option(
        "-i",
        "--input",
        metavar="FILE",
        help="File of symbols: text, JSON lines, or a table with a column symbol, gene_symbol or gene. "
        "May be repeated.",
    ),
]

_SYMBOL: Final = re.compile(r"(?=[A-Za-z0-9.@-]*[A-Z0-9])[A-Za-z][A-Za-z0-9.@-]*")
"""A word that is written like a symbol: TP53, p53, Trp53, HLA-A; "cancer" and "AND" are not."""
LIST_OF_SYMBOLS: Final = IdKind(
    lambda word: True,
    # A table can be the result of an analysis of expression.
    ("symbol", "gene_symbol", "hgnc_symbol", "gene_name", "gene", "input"),
    "symbol",
    is_any_word=True,
)
LIST_OF_IDS: Final = IdKind(looks_like_gene_id, hint=" `entrez-kit gene search -i FILE` finds the ids of symbols.")
_OPERATORS: Final = frozenset(("AND", "OR", "NOT"))
SYMBOL_COLUMNS: Final = build_columns(
    "input", "status", "id", "symbol", "name", "organism", "taxon_id", "match", "candidates", "message"
)


def _is_symbol(word: str) -> bool:
    return word not in _OPERATORS and _SYMBOL.fullmatch(word) is not None


def _yield_symbol_records(item: SymbolOutcome) -> Iterator[Record]:
    """Yield the outcome of a symbol, with a gene or without."""
    yield convert_to_data(item)


@app.command("search")
@accept_formats(*FORMATS, Family.COUNT, fields="id,symbol")
@request_options(
    SEARCH_GENES.request,
    build_argument("query", "QUERY..."),
    "input",
    build_option("organism", metavar="NAME"),
    build_option("page_size"),
    build_option("cursor", metavar="CURSOR", help="Start of the page: pagination.cursor of the previous page."),
    build_option("include_discontinued"),
    BROADER,
)
def search_command(ctx: typer.Context, options: dict[str, Any], input: FilesOfSymbols = None) -> None:
    """Find genes by symbol, alias, name or words, best match first; or the gene of each symbol in a list.

    entrez-kit gene search TP53 --organism human

    A list is a file, standard input, or several symbols. It has one outcome per symbol, in order:
    entrez-kit gene search -i symbols.txt --organism human -o genes.csv
    entrez-kit gene pubmed -i genes.csv
    """
    words = options.pop("query") or []
    if input or STDIN in words or (len(words) > 1 and all(map(_is_symbol, words))):
        symbols = read_inputs(ctx, words, input, field="query=", noun="symbols", kind=LIST_OF_SYMBOLS)
        _search_list(ctx, symbols, options)
        return
    if not words:
        raise AmbiguousQuery(
            "No query was given.",
            invalid_input="query=",
            recovery_hint="Name a symbol or words; - reads symbols from standard input, -i FILE from a file.",
            details={"reason": "no_query"},
        )
    if len(words) == 1 and Path(words[0]).suffix:
        refuse_file_name(words[0], _is_symbol)
    request = build_request(ctx, SEARCH_GENES, {**options, "query": " ".join(words)})
    view: View[GenePage] = View(
        table=lambda page, console: _views.gene.render_search(page, console),
        total=lambda page: page.pagination.total_count or 0,
        columns=CANDIDATE_COLUMNS,
        id_key="id",
    )

    def report_notes(result: GenePage) -> None:
        page = result.pagination
        if page.cursor and (not plan(ctx).format.whole or plan(ctx).fields):
            total = format_count(page.total_count or 0, "gene")
            report_omitted(ctx, f"The search finds {total}. For the next page add --cursor {page.cursor}")
        if result.items:
            first = result.items[0].id
            suggest_next(ctx, f"gene get {first}", f"gene pubmed {first}")

    run(ctx, SEARCH_GENES, request, view, afterwards=report_notes)


def _search_list(ctx: typer.Context, symbols: list[str], options: dict[str, Any]) -> None:
    """Find the gene of each symbol in a list."""
    for name in ("cursor", "page_size"):
        refuse_beside(ctx, name, "a list of symbols", "Omit it: a list has one gene for each symbol, and no pages.")
    arguments = {"symbols": symbols, **{name: options[name] for name in ("organism", "include_discontinued")}}
    view: View[SymbolsResult] = View(
        table=lambda result, console: _views.gene.render_symbols(result, console),
        records=_yield_symbol_records,
        total=lambda result: result.total_found,
        columns=SYMBOL_COLUMNS,
        id_key="id",
    )
    request = build_request(ctx, FIND_SYMBOLS, arguments)
    run(ctx, FIND_SYMBOLS, request, view, idle="Standard input contained no symbols, so no request was sent.")


@app.command("get")
@accept_formats(*FORMATS, fields="id,symbol")
@request_options(GET_GENE.request, GENE_IDS, "input", build_option("slim"))
def get_command(ctx: typer.Context, options: dict[str, Any], input: FilesOfIds = None) -> None:
    """Look up genes by their ids, one outcome per id, in order.

    One id gives the gene, several give a list. The command names missing genes; the exit status is then 4, or 3 if
    all are missing.
    entrez-kit gene get NCBIGene:7157 NCBIGene:672
    """
    ids = _read_gene_ids(ctx, options.pop("entrez_id"), input)
    columns = SLIM_COLUMNS if options["slim"] else GENE_COLUMNS
    if len(ids) == 1:
        gene_view: View[Gene] = View(
            table=lambda gene, console: _views.gene.render_gene(gene, console),
            columns=columns,
            id_key="id",
        )
        run(ctx, GET_GENE, build_request(ctx, GET_GENE, {"entrez_id": ids[0], **options}), gene_view)
        return
    several: View[GeneBatch] = View(
        table=lambda batch, console: _views.gene.render_batch(batch, console),
        records=_yield_records,
        columns=columns,
        id_key="id",
    )
    run(
        ctx,
        GET_GENES,
        build_request(ctx, GET_GENES, {"inputs": ids, "arguments": options}),
        several,
        idle="Standard input contained no gene ids, so no request was sent.",
    )


def _read_gene_ids(ctx: typer.Context, typed: list[str] | None, files: list[Path] | None) -> list[str]:
    """Return gene ids with their prefix; a bare number is a gene id here."""
    ids = read_inputs(
        ctx,
        typed,
        files,
        field="entrez_id=",
        noun="gene ids",
        kind=LIST_OF_IDS,
        hint="Name ids such as NCBIGene:7157; `entrez-kit gene search` finds them from a symbol.",
        error=UnresolvedEntity,
    )
    return [f"NCBIGene:{text}" if text.isascii() and text.isdecimal() and int(text) else text for text in ids]


def _yield_records(item: PerInputAnswer[Gene]) -> Iterator[Record]:
    """Yield the gene, or the jsonl line for an input without one."""
    yield describe_failed_input(item) if item.result is None else convert_to_data(item.result)


@app.command("pubmed")
@accept_formats(*FORMATS, Family.COUNT, fields="pmid")
@request_options(GET_PUBMED_LINKS.request, GENE_IDS, "input", build_option("limit", "-n"), build_option("offset"))
def pubmed_command(ctx: typer.Context, options: dict[str, Any], input: FilesOfIds = None) -> None:
    """List the PMIDs of articles about a gene, or about several genes with the gene of each article.

    entrez-kit gene pubmed NCBIGene:7157 -f ids | entrez-kit fetch -

    The output of `gene search`:
    entrez-kit gene pubmed -i genes.csv -f csv
    """
    ids = _read_gene_ids(ctx, options.pop("entrez_id"), input)
    offset = options["offset"]

    view: View[PubMedLinks] = View(
        table=lambda links, console: _views.gene.render_links(links, console),
        total=lambda links: links.total_count,
        columns=build_columns("pmid"),
    )

    def report_notes(links: PubMedLinks) -> None:
        next_offset = offset + len(links.pmids)
        if not plan(ctx).format.has_total and links.pmids and next_offset < links.total_count:
            options_of_rest = f"--offset {next_offset} or --limit {links.total_count}"
            report_omitted(ctx, describe_rest(links.total_count - next_offset, options_of_rest))

    run_each(
        ctx,
        GET_PUBMED_LINKS,
        "entrez_id",
        ids,
        options,
        view,
        left_out=lambda links: links.total_count - offset - len(links.pmids) if links.pmids else 0,
        more="--limit",
        afterwards=report_notes,
    )

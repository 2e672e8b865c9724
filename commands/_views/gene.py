"""Tables and pages of genes."""

from typing import Final

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.identifiers import PUBMED
from entrez_kit.databases.gene.find_symbols import SymbolsResult
from entrez_kit.databases.gene.get_genes import GeneBatch
from entrez_kit.databases.gene.models import XREFS, CrossReferences, Gene, GenePage, GeneSearchCandidate, PubMedLinks

from .._console import has_links
from .tables import (
    FactList,
    ListingTable,
    build_article_link,
    build_fact_list,
    build_fixed_column,
    build_link,
    build_number_column,
    format_broader_line,
    format_failure,
)
from .text import to_line

GENE: Final = "https://www.ncbi.nlm.nih.gov/gene/"
WIDE: Final = 100
"""The least width, in columns, of a terminal that shows scores."""
_MANY: Final = 8
"""The maximum number of identifiers shown per database. The others are only counted."""


def render_search(page: GenePage, console: Console) -> RenderableType:
    """Return a table of the candidates with the kind of match, and the cursor of the next page."""
    parts: list[RenderableType] = []
    if page.items:
        parts.append(_render_candidates(page, console))
    parts.append(_format_count(page))
    if page.pagination.cursor:
        parts.append(Text(f"Next page: --cursor {page.pagination.cursor}", style="dim"))
    return Group(*parts)


def _render_candidates(page: GenePage, console: Console) -> Table:
    wide = console.width >= WIDE
    scores = [build_number_column("Score")] if wide else []
    table = ListingTable(
        build_fixed_column("Id"), build_fixed_column("Symbol"), "Organism", build_fixed_column("Match"), "Name", *scores
    )
    for item in page.items:
        cells: list[RenderableType] = [
            _render_id(item.id, console),
            Text(to_line(item.symbol), style="bold"),
            Text(to_line(item.organism)),
            Text(item.match),
            _format_name(item),
        ]
        table.add_row(*cells, *([Text(f"{item.score:.3f}", style="dim")] if wide else []))
    return table


def _format_name(item: GeneSearchCandidate | Gene) -> Text:
    text = Text(to_line(item.name))
    if item.status and item.status != "live":
        text.append(f" ({_format_status(item.status, item.replaced_by)})", style="bold yellow")
    return text


def _format_count(page: GenePage) -> Text:
    total = page.pagination.total_count or 0
    if not page.items and (left_out := format_broader_line(page.broader_total)):
        return left_out
    if not total:
        return Text("No results.", style="bold")
    if not page.items:
        return Text(f"None of {format_count(total, 'gene')} shown.", style="bold")
    return Text(f"{len(page.items):,} of {format_count(total, 'gene')}", style="bold")


def _format_status(status: str, replaced_by: str | None) -> str:
    return f"replaced by {replaced_by}" if status == "replaced" and replaced_by else status


def _render_id(curie: str, console: Console) -> Text:
    return build_link(curie, GENE + curie.removeprefix("NCBIGene:"), console)


def render_gene(gene: Gene, console: Console) -> RenderableType:
    """Return one gene as a page: heading, facts, summary, cross-references."""
    heading = Text.assemble(
        (to_line(gene.symbol), "bold"), "  ", to_line(gene.name), "  ", (to_line(gene.organism), "italic")
    )
    if "status" not in gene.model_fields_set:  # a slim record has no other fields
        return Group(heading, _render_id(gene.id, console))
    parts: list[RenderableType] = [heading]
    if gene.status != "live":
        parts.append(Text(f"This record is {_format_status(gene.status, gene.replaced_by)}.", style="bold yellow"))
    parts.append(_render_facts(gene, console))
    if gene.summary:
        parts += [Text(""), Text(to_line(gene.summary))]
    parts += [Text(""), _render_references(gene.cross_references)]
    return Group(*parts)


def _render_facts(gene: Gene, console: Console) -> FactList:
    where = " ".join(filter(None, (gene.chromosome and f"chromosome {gene.chromosome}", gene.map_location)))
    rows = [
        ("Id", _render_id(gene.id, console)),
        ("Type", gene.gene_type),
        ("Location", where),
        ("Taxon", gene.taxon_id),
        ("Aliases", ", ".join(gene.aliases)),
        ("Other names", gene.description if gene.description != gene.name else ""),
    ]
    return build_fact_list(rows, "bold")


def _render_references(references: CrossReferences) -> FactList:
    rows = []
    for key, value in references.model_dump().items():
        values = value if isinstance(value, list) else [value]
        more = f" and {len(values) - _MANY} more" if len(values) > _MANY else ""
        rows.append((XREFS[key][0], ", ".join(to_line(value) for value in values[:_MANY]) + more))
    return build_fact_list(rows, "bold")


def render_batch(batch: GeneBatch, console: Console) -> RenderableType:
    """Return a table of genes in the order of the inputs. A failed input has a message instead."""
    table = ListingTable(build_fixed_column("Id"), build_fixed_column("Symbol"), "Organism", "Location", "Name")
    genes = iter(batch.genes)
    if not batch.outcomes:
        for gene in genes:
            _add_gene(table, gene, console)
    for outcome in batch.outcomes:
        if outcome.status == "found":
            _add_gene(table, next(genes), console)
        else:
            table.add_row(Text(to_line(outcome.input)), "", "", "", format_failure(outcome))
    return table


def render_symbols(result: SymbolsResult, console: Console) -> RenderableType:
    """Return a table of symbols with their genes; a symbol without one has its candidates and a message."""
    table = ListingTable(
        build_fixed_column("Input"), build_fixed_column("Id"), build_fixed_column("Symbol"), "Organism", "Name"
    )
    for symbol in result.symbols:
        if symbol.id is not None:
            found = (
                _render_id(symbol.id, console),
                Text(to_line(symbol.symbol), style="bold"),
                Text(to_line(symbol.organism)),
            )
            table.add_row(Text(to_line(symbol.input)), *found, Text(to_line(symbol.name)))
        else:
            candidates = Text("\n").join(_render_id(candidate, console) for candidate in symbol.candidates)
            table.add_row(Text(to_line(symbol.input)), candidates, "", "", format_failure(symbol))
    return table


def _add_gene(table: Table, gene: Gene, console: Console) -> None:
    table.add_row(
        _render_id(gene.id, console),
        Text(to_line(gene.symbol), style="bold"),
        Text(to_line(gene.organism)),
        Text(to_line(gene.map_location or gene.chromosome)),
        _format_name(gene),
    )


def render_links(links: PubMedLinks, console: Console) -> RenderableType:
    """Return the linked PMIDs, one per line, and their total number."""
    if not links.total_count:
        return Group(Text(f"No articles are linked to {links.entrez_id}.", style="bold"))
    clickable = has_links(console)
    rows = [
        build_article_link(pmid, console)
        if clickable
        else Text.assemble((pmid, "cyan"), "  ", (f"{PUBMED}{pmid}/", "dim"))
        for pmid in links.pmids
    ]
    summary = f"{len(links.pmids):,} of {format_count(links.total_count, 'article')} linked to {links.entrez_id}"
    return Group(*rows, Text(summary, style="bold"))

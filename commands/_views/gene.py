"""What a terminal shows of genes."""

from typing import Final

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from entrez_kit.databases.gene.get_genes import GeneBatch
from entrez_kit.databases.gene.models import XREFS, CrossReferences, Gene, GenePage, GeneSearchCandidate, PubMedLinks

from .._console import has_links
from .tables import Listing, article_link, broader_line, facts, failed_words, fixed, linked, number
from .text import PUBMED, line

GENE: Final = "https://www.ncbi.nlm.nih.gov/gene/"
WIDE: Final = 100
"""From this width on, aliases and other names have room beside the name."""
_MANY: Final = 8
"""So many identifiers of one database are shown; the rest is counted."""


def search_table(page: GenePage, console: Console) -> RenderableType:
    """Return candidates with how they match, and how to see the next page."""
    parts: list[RenderableType] = []
    if page.items:
        parts.append(_candidates(page, console))
    parts.append(_count_line(page))
    if page.pagination.cursor:
        parts.append(Text(f"Next page: --cursor {page.pagination.cursor}", style="dim"))
    return Group(*parts)


def _candidates(page: GenePage, console: Console) -> Table:
    wide = console.width >= WIDE
    scores = [number("Score")] if wide else []
    table = Listing(fixed("Id"), fixed("Symbol"), "Organism", fixed("Match"), "Name", *scores)
    for item in page.items:
        cells: list[RenderableType] = [
            _id(item.id, console),
            Text(line(item.symbol), style="bold"),
            Text(line(item.organism)),
            Text(item.match),
            _name(item),
        ]
        table.add_row(*cells, *([Text(f"{item.score:.3f}", style="dim")] if wide else []))
    return table


def _name(item: GeneSearchCandidate | Gene) -> Text:
    text = Text(line(item.name))
    if item.status and item.status != "live":
        text.append(f" ({_status(item.status, item.replaced_by)})", style="bold yellow")
    return text


def _count_line(page: GenePage) -> Text:
    total = page.pagination.total_count or 0
    if not page.items and (left_out := broader_line(page.broader_total)):
        return left_out
    if not total:
        return Text("Nothing found.", style="bold")
    if not page.items:
        return Text(f"None of {total:,} genes shown.", style="bold")
    return Text(f"{len(page.items):,} of {total:,} {'gene' if total == 1 else 'genes'}", style="bold")


def _status(status: str, replaced_by: str | None) -> str:
    return f"replaced by {replaced_by}" if status == "replaced" and replaced_by else status


def _id(curie: str, console: Console) -> Text:
    return linked(curie, GENE + curie.removeprefix("NCBIGene:"), console)


def gene_page(gene: Gene, console: Console) -> RenderableType:
    """Return one gene as a page: heading, facts, summary, identifiers elsewhere."""
    heading = Text.assemble((line(gene.symbol), "bold"), "  ", line(gene.name), "  ", (line(gene.organism), "italic"))
    if "status" not in gene.model_fields_set:  # a slim record has nothing more
        return Group(heading, _id(gene.id, console))
    parts: list[RenderableType] = [heading]
    if gene.status != "live":
        parts.append(Text(f"This record is {_status(gene.status, gene.replaced_by)}.", style="bold yellow"))
    parts.append(_facts(gene, console))
    if gene.summary:
        parts += [Text(""), Text(line(gene.summary))]
    parts += [Text(""), _references(gene.cross_references)]
    return Group(*parts)


def _facts(gene: Gene, console: Console) -> Table:
    where = " ".join(filter(None, (gene.chromosome and f"chromosome {gene.chromosome}", gene.map_location)))
    rows = [
        ("Id", _id(gene.id, console)),
        ("Type", gene.gene_type),
        ("Location", where),
        ("Taxon", gene.taxon_id),
        ("Aliases", ", ".join(gene.aliases)),
        ("Other names", gene.description if gene.description != gene.name else ""),
    ]
    return facts(rows, "bold")


def _references(references: CrossReferences) -> Table:
    rows = []
    for key, value in references.model_dump().items():
        values = value if isinstance(value, list) else [value]
        more = f" and {len(values) - _MANY} more" if len(values) > _MANY else ""
        rows.append((XREFS[key][0], ", ".join(line(one) for one in values[:_MANY]) + more))
    return facts(rows, "bold")


def batch_table(batch: GeneBatch, console: Console) -> RenderableType:
    """Return several genes as a list, in the order of the inputs, with what is missing in its place."""
    table = Listing(fixed("Id"), fixed("Symbol"), "Organism", "Location", "Name")
    genes = iter(batch.genes)
    if not batch.outcomes:
        for gene in genes:
            _gene_row(table, gene, console)
    for outcome in batch.outcomes:
        if outcome.status == "found":
            _gene_row(table, next(genes), console)
        else:
            table.add_row(Text(line(outcome.input)), "", "", "", failed_words(outcome))
    return table


def _gene_row(table: Table, gene: Gene, console: Console) -> None:
    table.add_row(
        _id(gene.id, console),
        Text(line(gene.symbol), style="bold"),
        Text(line(gene.organism)),
        Text(line(gene.map_location or gene.chromosome)),
        _name(gene),
    )


def links_table(links: PubMedLinks, console: Console) -> RenderableType:
    """Return PMIDs, one per line, and how many there are in all."""
    if not links.total_count:
        return Group(Text(f"{links.entrez_id} exists and has no linked article.", style="bold"))
    clickable = has_links(console)
    rows = [
        article_link(pmid, console) if clickable else Text.assemble((pmid, "cyan"), "  ", (f"{PUBMED}{pmid}/", "dim"))
        for pmid in links.pmids
    ]
    shown = f"{len(links.pmids):,} of {links.total_count:,} articles about {links.entrez_id}"
    return Group(*rows, Text(shown, style="bold"))

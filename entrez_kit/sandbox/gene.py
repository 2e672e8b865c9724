"""The Gene database of the sandbox: NCBI's fields, summaries and records for the genes of this package."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Final

from entrez_kit.local.eutils.database import FetchCall, SearchCall, SearchOutcome
from entrez_kit.local.eutils.replies import Items, LocalReply, plain, xml
from entrez_kit.local.eutils.small_query import Found, SmallDatabase, SmallQuery, Values
from entrez_kit.local.records.collection import RecordCollection
from entrez_kit.local.records.fixture_files import read_fixture
from entrez_kit.query.fields import Field, define_field
from entrez_kit.sandbox.gene_records import GeneRecord, read_demo_genes
from entrez_kit.sandbox.links import LinkedDatabase
from entrez_kit.sandbox.taxonomy import add_descendants, find_taxa

GENE_SET: Final = (
    '<?xml version="1.0" ?>\n<!DOCTYPE Entrezgene-Set PUBLIC "-//NLM//DTD NCBI-Entrezgene, 21st January 2005//EN" '
    '"https://www.ncbi.nlm.nih.gov/data_specs/dtd/NCBI_Entrezgene.dtd">\n<Entrezgene-Set>\n'
)
_SORTS: Final = frozenset(("", "relevance", "weight", "name", "chromosome"))


_LONGEST_NAME: Final = 5
"""Maximum number of words in the name of an organism."""


@cache
def _read_fields() -> list[Field]:
    return [define_field(**row) for row in read_fixture("gene", "fields.json")]


def list_values(gene: GeneRecord) -> Values:
    """Return the values of a gene in each search field."""
    symbol, current = gene.shown_symbol, gene.status == 0
    organism = tuple(filter(None, (gene.organism, gene.common)))
    names = (gene.name, *gene.designations)
    places = (gene.chromosome, gene.location)
    synonyms = (f"LOC{gene.uid}", gene.locus_tag, *gene.synonyms)
    return {
        "ALL": (symbol, *synonyms, *names, gene.summary, *organism, *places, *gene.identifiers, *gene.accessions),
        "UID": (gene.uid,),
        "FILT": ("all", *(("current only",) if current else ())),
        "TITL": (symbol, *names),
        "ORGN": organism,
        "CHR": (gene.chromosome or "unknown",),
        "GENE": (symbol, f"LOC{gene.uid}", *gene.aliases),
        "MIM": gene.mim,
        "ACCN": gene.accessions,
        "PROP": (*(("alive",) if current else ()), f"genetype {gene.kind.replace('-', ' ')}"),
        "TID": (str(gene.taxid),),
        "GFN": (gene.name,),
        "PFN": gene.designations,
        "PREF": (symbol,),
    }


class OrganismQuery(SmallQuery):
    """A query on Gene. The name of an organism, with or without a tag, includes its strains."""

    def find_records(self, field: Field, text: str, *, explodes: bool = True) -> Found:
        """Return the genes that have a value in a field; an organism includes its strains."""
        if field.code != "ORGN":
            return super().find_records(field, text)
        name = text.strip().lower()
        number = name.removeprefix("txid")
        by_number = name.startswith("txid") and number.isascii() and number.isdigit()
        taxids = [str(int(number))] if by_number else [taxon["uid"] for taxon in find_taxa(text)]
        wanted = add_descendants(taxids) if explodes else taxids
        return frozenset(uid for uid, values in self.records.items() if values["TID"][0] in wanted)

    def match_name(self, run: Sequence[str], place: int) -> tuple[int, Found, str] | None:
        """Match the words from this position to an organism; genes with the name in any field match too."""
        for length in range(min(_LONGEST_NAME, len(run) - place), 0, -1):
            phrase = " ".join(run[place : place + length])
            taxa = find_taxa(phrase)
            if taxa:
                found = self.find_records(self.by_tag["orgn"], phrase) | self.find_records(self.by_tag["all"], phrase)
                return length, found, f'"{taxa[0]["values"]["ALLN"][0]}"[Organism] OR {phrase}[All Fields]'
        return None


class GeneDatabase(LinkedDatabase, SmallDatabase[GeneRecord]):
    """The Gene database with the demo genes; links to articles that are not in the collection are omitted."""

    has_version_1 = False
    name = "gene"
    menu = "Gene"
    description = "Gene database"
    summary_dtd = "20150202"

    def __init__(self, collection: RecordCollection, genes: Iterable[GeneRecord] | None = None) -> None:
        self.collection = collection
        self._given = genes

    @cached_property
    def records(self) -> dict[str, GeneRecord]:
        """The genes by id, read on first use."""
        return {gene.uid: gene for gene in (read_demo_genes() if self._given is None else self._given)}

    def search(self, request: SearchCall) -> SearchOutcome:
        """Find genes, most relevant first; genes of equal weight are sorted by id."""
        sort = (request.sort or "").strip().lower()
        by_name = sort == "name"
        ordered = sorted(
            self.records.values(),
            key=lambda gene: (gene.shown_symbol.lower() if by_name else "", -gene.weight, int(gene.uid)),
        )
        outcome = self._build_query(ordered).run(request)
        if sort not in _SORTS:
            outcome.resolved.messages.append(f"Unknown sort schema '{request.sort}' ignored")
        return outcome

    def _build_query(self, genes: Iterable[GeneRecord]) -> "OrganismQuery":
        return OrganismQuery({gene.uid: self._values[gene.uid] for gene in genes}, _read_fields())

    def query(self) -> SmallQuery:
        """Return a query that searches the genes."""
        return self._build_query(self.records.values())

    @cached_property
    def _values(self) -> Mapping[str, Values]:
        return {uid: list_values(gene) for uid, gene in self.records.items()}

    def summary(self, uid: str) -> Mapping[str, Any] | None:
        """Return the version 2 summary."""
        gene = self.find(uid)
        if gene is None:
            return None
        where = gene.region
        place: dict[str, Any] = {} if where is None else {"ChrLoc": gene.chromosome, "ChrAccVer": where[0]}
        place |= {} if where is None else {"ChrStart": where[1], "ChrStop": where[2], "ExonCount": 1}
        return {
            "Name": gene.shown_symbol,
            "Description": gene.name,
            "Status": gene.status,
            "CurrentID": int(gene.current),
            "Chromosome": gene.chromosome,
            "GeneticSource": "genomic",
            "MapLocation": gene.location,
            "OtherAliases": ", ".join(gene.aliases),
            "OtherDesignations": "|".join(gene.designations),
            "NomenclatureSymbol": gene.symbol if gene.official else "",
            "NomenclatureName": gene.name if gene.official else "",
            "NomenclatureStatus": "Official" if gene.official else "",
            "Mim": Items("int", gene.mim),
            "GenomicInfo": Items("GenomicInfoType", [place] if place else []),
            "GeneWeight": gene.weight,
            "Summary": gene.summary,
            "ChrSort": gene.chromosome.rjust(2, "0") if gene.chromosome else "",
            "ChrStart": min(where[1:]) if where else 999999999,
            "Organism": {"ScientificName": gene.organism, "CommonName": gene.common, "TaxID": gene.taxid},
            "LocationHist": Items("LocationHistType", []),
        }

    def fetch(self, request: FetchCall) -> LocalReply:
        """Return records as XML, text or a list of ids; unknown ids are omitted.

        Raises:
            BadRequest: no id is valid.
        """
        ids = self.canonical_ids(request.ids)
        genes = [self.records[uid] for uid in ids if uid in self.records]
        if request.rettype == "uilist":
            return plain("".join(f"{gene.uid}\n" for gene in genes))
        if request.retmode == "text":
            return plain("\n".join(_render_text(gene, place) for place, gene in enumerate(genes, start=1)))
        if not genes:
            return xml(f"{GENE_SET}<Error>GeneId {ids[0]} not found.</Error>\n</Entrezgene-Set>\n")
        body = b"\n".join(gene.raw for gene in genes)
        return LocalReply(GENE_SET.encode("utf-8") + body + b"\n</Entrezgene-Set>\n")


def _render_text(gene: GeneRecord, place: int) -> str:
    """Return the text format that EFetch sends for a gene."""
    organism = f"{gene.organism} ({gene.common})" if gene.common else gene.organism
    kind = "Official Symbol" if gene.official else "Symbol"
    lines = [f"\n{place}. {gene.shown_symbol}", f"{kind}: {gene.shown_symbol} and Name: {gene.name} [{organism}]"]
    if gene.aliases:
        lines.append(f"Other Aliases: {', '.join(gene.aliases)}")
    if gene.designations:
        lines.append(f"Other Designations: {'; '.join(gene.designations)}")
    if gene.chromosome:
        lines.append(f"Chromosome: {gene.chromosome}" + (f"; Location: {gene.location}" if gene.location else ""))
    lines += [f"MIM: {number}" for number in gene.mim]
    if gene.status == 1:
        lines.append(f"This record was replaced with GeneID: {gene.current}")
    elif gene.status == 2:
        lines.append("This record was discontinued.")
    return "\n".join([*lines, f"ID: {gene.uid}", ""])

"""The documents of the gene operations: candidates, genes, their cross-references, and links to PubMed."""

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from entrez_kit.core.model import Collected, Result, Warn, Warned, omit_if_empty

CURIE_PATTERN: Final = r"^NCBIGene:[0-9]+$"
"""``$`` is the very end here: pydantic matches with an engine that does not let a line break follow."""

MatchKind = Literal["symbol", "alias", "name", "other"]
Status = Literal["live", "discontinued", "replaced"]

GeneId = Annotated[str, Field(pattern=CURIE_PATTERN)]
DESIGNATIONS: Final = "; "
"""What stands between the designations in a description."""

XREFS: Final = {
    "hgnc": ("HGNC", r"^HGNC:[0-9]+$"),
    "ensembl_gene": ("Ensembl gene", r"^ENS[A-Z]*G[0-9]{11}$"),
    "ensembl_transcript": ("Ensembl transcripts", r"^ENS[A-Z]*T[0-9]{11}$"),
    "uniprot": ("UniProt", r"^[A-Z0-9]{6,10}$"),
    "entrez": ("Entrez", r"^[0-9]+$"),
    "refseq": ("RefSeq", r"^[NX][MR]_[0-9]+$"),
    "ucsc": ("UCSC", r"^UCSC:[A-Za-z0-9_]+\.[0-9]+$"),
    "pubmed": ("PubMed", r"^PMID:[0-9]+$"),
    "chembl": ("ChEMBL", r"^CHEMBL[0-9]+$"),
    "drugbank": ("DrugBank", r"^DB[0-9]{5}$"),
    "string": ("STRING", r"^[0-9]+\.[A-Za-z0-9]+$"),
    "biogrid": ("BioGRID", r"^[0-9]+$"),
    "stitch": ("STITCH", r"^(CID[sm])?[0-9]+$"),
    "iuphar": ("IUPHAR", r"^[0-9]+$"),
    "kegg": ("KEGG", r"^[a-z]{3,4}:[0-9]+$"),
    "kegg_pathway": ("KEGG pathways", r"^[a-z]{3,4}[0-9]{5}$"),
    "omim": ("OMIM", r"^[0-9]{6}$"),
    "orphanet": ("Orphanet", r"^ORPHA:[0-9]+$"),
    "mondo": ("MONDO", r"^MONDO:[0-9]{7}$"),
    "efo": ("EFO", r"^EFO:[0-9]{7}$"),
    "pdb": ("PDB", r"^[0-9][A-Z0-9]{3}$"),
    "pubchem_compound": ("PubChem compound", r"^[0-9]+$"),
    "pubchem_substance": ("PubChem substance", r"^[0-9]+$"),
}
"""By key, what people call the other place, and the form of its ids.

It is the cross-reference registry of ADR-001, which calls itself "22-key" and holds 23 in its version 1.3. Its Ensembl
patterns are for human genes only; here those of other species (ENSMUSG...) pass as well.
"""
XREF_PATTERNS: Final = {key: pattern for key, (_, pattern) in XREFS.items()}


def _one(key: str, description: str) -> Any:
    return omit_if_empty(pattern=XREF_PATTERNS[key], description=description)


def _many(description: str) -> Any:
    return omit_if_empty([], description=description)


class CrossReferences(Result):
    """Identifiers of the same gene elsewhere; a key without a value is absent.

    ``pubmed`` belongs to the registry but is never filled here: get_pubmed_links gives the literature.
    """

    hgnc: str | None = _one("hgnc", "HGNC id with prefix, e.g. HGNC:11998.")
    ensembl_gene: str | None = _one("ensembl_gene", "Ensembl gene without version, e.g. ENSG00000141510.")
    ensembl_transcript: list[Annotated[str, Field(pattern=XREF_PATTERNS["ensembl_transcript"])]] = _many(
        "Ensembl transcripts without version."
    )
    uniprot: list[Annotated[str, Field(pattern=XREF_PATTERNS["uniprot"])]] = _many(
        "UniProt accessions without prefix, the current Swiss-Prot entry first."
    )
    entrez: str | None = _one("entrez", "The gene's own number.")
    refseq: list[Annotated[str, Field(pattern=XREF_PATTERNS["refseq"])]] = _many("RefSeq transcripts without version.")
    ucsc: str | None = _one("ucsc", "UCSC gene.")
    pubmed: list[Annotated[str, Field(pattern=XREF_PATTERNS["pubmed"])]] = _many(
        "Never filled; the articles of a gene are asked for apart."
    )
    chembl: str | None = _one("chembl", "ChEMBL target.")
    drugbank: str | None = _one("drugbank", "DrugBank.")
    string: str | None = _one("string", "STRING protein, e.g. 9606.ENSP00000269305.")
    biogrid: str | None = _one("biogrid", "BioGRID interactor.")
    stitch: str | None = _one("stitch", "STITCH chemical.")
    iuphar: str | None = _one("iuphar", "IUPHAR/BPS target.")
    kegg: str | None = _one("kegg", "KEGG gene, e.g. hsa:7157.")
    kegg_pathway: list[Annotated[str, Field(pattern=XREF_PATTERNS["kegg_pathway"])]] = _many("KEGG pathways.")
    omim: str | None = _one("omim", "The gene's own entry in OMIM, not those of its phenotypes.")
    orphanet: str | None = _one("orphanet", "Orphanet.")
    mondo: str | None = _one("mondo", "MONDO.")
    efo: str | None = _one("efo", "EFO.")
    pdb: list[Annotated[str, Field(pattern=XREF_PATTERNS["pdb"])]] = _many("PDB structures.")
    pubchem_compound: str | None = _one("pubchem_compound", "PubChem compound.")
    pubchem_substance: str | None = _one("pubchem_substance", "PubChem substance.")


class Gene(Warned):
    """One record of NCBI Gene; of a slim one only id, symbol, name and organism are there.

    ``status`` is live, discontinued (withdrawn) or replaced (merged; ``replaced_by`` is the id to use instead).
    ``description`` holds the other designations, or the name where there are none. ``symbol`` is the locus tag where
    the gene has no symbol.
    """

    id: GeneId
    symbol: str
    name: str
    organism: str
    taxon_id: int | None = None
    description: str = ""
    summary: str | None = None
    map_location: str | None = None
    chromosome: str | None = None
    aliases: list[str] = Field(default_factory=list)
    gene_type: str | None = None
    status: Status = "live"
    replaced_by: GeneId | None = omit_if_empty()
    cross_references: CrossReferences = Field(default_factory=CrossReferences)

    def slim(self) -> "Gene":
        """Return the same gene with nothing but id, symbol, name and organism."""
        return Gene(id=self.id, symbol=self.symbol, name=self.name, organism=self.organism)

    @model_serializer(mode="wrap")
    def _only_what_was_given(self, handler: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]
        """Leave out what a slim gene does not have; null and empty fields of a full one stay.

        Without a return annotation the JSON schema comes from the fields, with one it would be "any object".
        """
        given = self.model_fields_set
        return {name: value for name, value in handler(self).items() if name in given}


class GeneSearchCandidate(Result):
    """One gene a search found.

    ``match`` says how: the query is its official symbol, one of its other symbols (alias), words of its names (name),
    or it was found elsewhere in the record (other). ``score`` falls from 1 with the rank over all pages. ``status`` and
    ``replaced_by`` appear only for records that are not current.
    """

    id: GeneId
    symbol: str
    name: str
    description: str
    organism: str
    taxon_id: int | None = None
    match: MatchKind
    score: float = Field(gt=0, le=1)
    status: Status | None = omit_if_empty()
    replaced_by: GeneId | None = omit_if_empty()


class Pagination(Result):
    """Where the next page begins (null on the last one) and how many genes there are on all pages."""

    cursor: str | None
    total_count: int | None
    page_size: int


class GenePage(Collected):
    """One page of candidates, best first. ``warnings`` is present only when there is something to say.

    ``query_broadened`` is true where NCBI dropped a part that the query requires; ``strict_total`` is what the query as
    written would find. Without ``broader_results`` only genes with the query as a symbol are listed then:
    ``pagination.total_count`` is ``strict_total`` (null if that is unknown), and ``broader_total`` counts the genes on
    all pages with ``broader_results``.
    """

    RECORDS: ClassVar = "items"

    query_broadened: bool | None = omit_if_empty()
    strict_total: int | None = omit_if_empty()
    broader_total: int | None = omit_if_empty()
    items: list[GeneSearchCandidate]
    pagination: Pagination
    warnings: list[Warn] = omit_if_empty([])


class PubMedLinks(Result):
    """PMIDs of articles NCBI links to a gene, in NCBI's order; ``total_count`` counts all of them.

    ``replaced_by`` is the id to use instead of one that was merged.
    """

    RECORDS: ClassVar = "pmids"

    entrez_id: GeneId
    replaced_by: GeneId | None = omit_if_empty()
    warnings: list[Warn] = omit_if_empty([])
    pmids: list[str]
    total_count: int

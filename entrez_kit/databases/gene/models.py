"""Result models of the gene operations: candidates, genes, their cross-references, and links to PubMed."""

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from entrez_kit.core.model import Collected, Result, Warn, Warned, omit_if_empty

CURIE_PATTERN: Final = r"^NCBIGene:[0-9]+$"
"""``$`` is the end of the text: in pydantic's engine no line break can follow."""

MatchKind = Literal["symbol", "alias", "name", "other"]
Status = Literal["live", "discontinued", "replaced"]

GeneId = Annotated[str, Field(pattern=CURIE_PATTERN)]
DESIGNATIONS: Final = "; "
"""The separator of designations in a description."""

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
"""The name and the id pattern of each external database, by key.

This is the cross-reference registry of ADR-001, which is named "22-key" and has 23 keys in its version 1.3. Its Ensembl
patterns accept human genes only; these also accept other species (ENSMUSG...).
"""
XREF_PATTERNS: Final = {key: pattern for key, (_, pattern) in XREFS.items()}


def _build_field(key: str, description: str) -> Any:
    return omit_if_empty(pattern=XREF_PATTERNS[key], description=description)


def _list_field(description: str) -> Any:
    return omit_if_empty([], description=description)


class CrossReferences(Result):
    """Identifiers of the same gene in other databases; a key without a value is absent.

    ``pubmed`` is part of the registry but always empty: get_pubmed_links returns the articles.
    """

    hgnc: str | None = _build_field("hgnc", "HGNC id with prefix, e.g. HGNC:11998.")
    ensembl_gene: str | None = _build_field("ensembl_gene", "Ensembl gene without version, e.g. ENSG00000141510.")
    ensembl_transcript: list[Annotated[str, Field(pattern=XREF_PATTERNS["ensembl_transcript"])]] = _list_field(
        "Ensembl transcripts without version."
    )
    uniprot: list[Annotated[str, Field(pattern=XREF_PATTERNS["uniprot"])]] = _list_field(
        "UniProt accessions without prefix, the current Swiss-Prot entry first."
    )
    entrez: str | None = _build_field("entrez", "The gene's own number.")
    refseq: list[Annotated[str, Field(pattern=XREF_PATTERNS["refseq"])]] = _list_field(
        "RefSeq transcripts without version."
    )
    ucsc: str | None = _build_field("ucsc", "UCSC gene.")
    pubmed: list[Annotated[str, Field(pattern=XREF_PATTERNS["pubmed"])]] = _list_field(
        "Always empty. Articles of a gene: get_pubmed_links."
    )
    chembl: str | None = _build_field("chembl", "ChEMBL target.")
    drugbank: str | None = _build_field("drugbank", "DrugBank.")
    string: str | None = _build_field("string", "STRING protein, e.g. 9606.ENSP00000269305.")
    biogrid: str | None = _build_field("biogrid", "BioGRID interactor.")
    stitch: str | None = _build_field("stitch", "STITCH chemical.")
    iuphar: str | None = _build_field("iuphar", "IUPHAR/BPS target.")
    kegg: str | None = _build_field("kegg", "KEGG gene, e.g. hsa:7157.")
    kegg_pathway: list[Annotated[str, Field(pattern=XREF_PATTERNS["kegg_pathway"])]] = _list_field("KEGG pathways.")
    omim: str | None = _build_field("omim", "The gene's own entry in OMIM, not those of its phenotypes.")
    orphanet: str | None = _build_field("orphanet", "Orphanet.")
    mondo: str | None = _build_field("mondo", "MONDO.")
    efo: str | None = _build_field("efo", "EFO.")
    pdb: list[Annotated[str, Field(pattern=XREF_PATTERNS["pdb"])]] = _list_field("PDB structures.")
    pubchem_compound: str | None = _build_field("pubchem_compound", "PubChem compound.")
    pubchem_substance: str | None = _build_field("pubchem_substance", "PubChem substance.")


class SuccessorGene(Result):
    """The gene that a record was merged into; a slim record has only id, symbol, name and organism."""

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

    @model_serializer(mode="wrap")
    def _omit_missing_fields(self, handler: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]
        """Omit the fields that a slim gene does not have; null and empty fields of a full gene stay.

        This has no return annotation: with one, the JSON schema would be "any object" instead of the fields.
        """
        fields_set = self.model_fields_set
        return {name: value for name, value in handler(self).items() if name in fields_set}


class Gene(SuccessorGene, Warned):
    """One record of NCBI Gene; a slim record has only id, symbol, name and organism.

    ``status`` is live, discontinued (withdrawn) or replaced (merged; ``replaced_by`` is the id to use instead, and
    ``successor`` its record). ``description`` contains the other designations, or else the name. ``symbol`` is the
    locus tag if the gene has no symbol.
    """

    successor: SuccessorGene | None = omit_if_empty()

    def slim(self) -> "Gene":
        """Return the same gene with only id, symbol, name and organism."""
        return Gene(id=self.id, symbol=self.symbol, name=self.name, organism=self.organism)


class GeneSearchCandidate(Result):
    """One gene found by a search.

    ``match`` is the kind of match: the query is its official symbol (symbol), another symbol (alias) or words of its
    names (name), or matches another part of the record (other). ``score`` decreases from 1 with the rank over all
    pages. ``status`` and ``replaced_by`` are present only for records that are not current.
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
    """The cursor of the next page (null on the last page) and the number of genes on all pages."""

    cursor: str | None
    total_count: int | None
    page_size: int


class GenePage(Collected):
    """One page of candidates, best first.

    ``query_broadened`` is true if NCBI dropped a part that the query requires; ``strict_total`` is the number of
    results of the query as written. Without ``broader_results`` such a search lists only genes with the query as a
    symbol: ``pagination.total_count`` is ``strict_total`` (null if unknown), and ``broader_total`` counts the genes on
    all pages with ``broader_results``.
    """

    RECORDS: ClassVar = "items"

    query_broadened: bool | None = omit_if_empty()
    strict_total: int | None = omit_if_empty()
    broader_total: int | None = omit_if_empty()
    items: list[GeneSearchCandidate]
    pagination: Pagination
    warnings: list[Warn] = omit_if_empty([])


class SuccessorLinks(Result):
    """PMIDs of articles about the gene that a record was merged into; ``total_count`` counts all of them."""

    entrez_id: GeneId
    pmids: list[str]
    total_count: int


class PubMedLinks(Result):
    """PMIDs of articles that NCBI links to a gene, in NCBI's order; ``total_count`` counts all of them.

    ``replaced_by`` is the id to use if the gene was merged into another; ``successor`` has the articles of that id.
    """

    RECORDS: ClassVar = "pmids"

    entrez_id: GeneId
    replaced_by: GeneId | None = omit_if_empty()
    warnings: list[Warn] = omit_if_empty([])
    pmids: list[str]
    total_count: int
    successor: SuccessorLinks | None = omit_if_empty()

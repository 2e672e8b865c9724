"""The Gene database of the sandbox: NCBI's fields, summaries and records over the genes that ship with this package."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from importlib import resources
from typing import Any, Final

from lxml import etree

from entrez_kit.sandbox import dates
from entrez_kit.sandbox.corpus import Corpus
from entrez_kit.sandbox.database import (
    BadRequest,
    Database,
    Description,
    FetchRequest,
    FieldInfo,
    Items,
    LinkInfo,
    SearchOutcome,
    SearchRequest,
)
from entrez_kit.sandbox.gene_query import FIELDS, GeneQuery
from entrez_kit.sandbox.replies import Reply, plain, xml

GENE_SET: Final = (
    '<?xml version="1.0" ?>\n<!DOCTYPE Entrezgene-Set PUBLIC "-//NLM//DTD NCBI-Entrezgene, 21st January 2005//EN" '
    '"https://www.ncbi.nlm.nih.gov/data_specs/dtd/NCBI_Entrezgene.dtd">\n<Entrezgene-Set>\n'
)
_SORTS: Final = frozenset(("", "relevance", "weight", "name", "chromosome"))


@dataclass(frozen=True)
class GeneRecord:
    """One gene: its XML as it is sent, and the parts that search and summaries use."""

    uid: str
    raw: bytes
    symbol: str
    locus_tag: str
    name: str
    synonyms: tuple[str, ...]
    designations: tuple[str, ...]
    summary: str
    organism: str
    common: str
    taxid: int
    chromosome: str
    location: str
    kind: str
    status: int
    current: str
    official: bool
    mim: tuple[str, ...]
    identifiers: tuple[str, ...]
    accessions: tuple[str, ...]
    region: tuple[str, int, int] | None

    @property
    def shown_symbol(self) -> str:
        """The symbol, or the locus tag of a gene without one."""
        return self.symbol or self.locus_tag or f"LOC{self.uid}"

    @property
    def aliases(self) -> tuple[str, ...]:
        """The other symbols, the locus tag first, as NCBI lists them."""
        tag = (self.locus_tag,) if self.symbol and self.locus_tag else ()
        return tag + self.synonyms

    @property
    def weight(self) -> int:
        """How much is known of the gene; NCBI ranks by a weight of its own."""
        return len(self.raw)


def _text(element: Any, path: str) -> str:
    return " ".join((element.findtext(path) or "").split())


def _texts(element: Any, path: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for one in element.iterfind(path) if (text := " ".join((one.text or "").split()))))


def _tag_value(tag: Any) -> str:
    return _text(tag, "Dbtag_tag/Object-id/Object-id_id") or _text(tag, "Dbtag_tag/Object-id/Object-id_str")


def read_gene(raw: bytes) -> GeneRecord:
    """Read one ``Entrezgene`` element."""
    element: Any = etree.fromstring(raw, etree.XMLParser(resolve_entities=False, no_network=True))
    ref, source = element.find("Entrezgene_gene/Gene-ref"), element.find("Entrezgene_source/BioSource")
    organism = source.find("BioSource_org/Org-ref")
    tags = {_text(tag, "Dbtag_db"): _tag_value(tag) for tag in ref.iterfind("Gene-ref_db/Dbtag")}
    accessions = _texts(element, ".//Gene-commentary_accession")
    return GeneRecord(
        uid=_text(element, "Entrezgene_track-info/Gene-track/Gene-track_geneid"),
        raw=raw,
        symbol=_text(ref, "Gene-ref_locus"),
        locus_tag=_text(ref, "Gene-ref_locus-tag"),
        name=_text(ref, "Gene-ref_desc"),
        synonyms=_texts(ref, "Gene-ref_syn/Gene-ref_syn_E"),
        designations=_texts(element, "Entrezgene_prot/Prot-ref/Prot-ref_desc")
        + _texts(element, "Entrezgene_prot/Prot-ref/Prot-ref_name/Prot-ref_name_E"),
        summary=_text(element, "Entrezgene_summary"),
        organism=_text(organism, "Org-ref_taxname"),
        common=_text(organism, "Org-ref_common"),
        taxid=int(_tag_value(organism.find("Org-ref_db/Dbtag"))),
        chromosome=_text(source, "BioSource_subtype/SubSource/SubSource_name"),
        location=_text(ref, "Gene-ref_maploc"),
        kind=element.find("Entrezgene_type").get("value"),
        status=int(_text(element, "Entrezgene_track-info/Gene-track/Gene-track_status")),
        current=next(map(_tag_value, element.iterfind(".//Gene-track_current-id/Dbtag")), "0"),
        official=element.find("Entrezgene_properties") is not None,
        mim=(tags["MIM"],) if "MIM" in tags else (),
        identifiers=tuple(value if ":" in value else f"{db}:{value}" for db, value in tags.items()),
        accessions=accessions,
        region=_region(element),
    )


def _region(element: Any) -> tuple[str, int, int] | None:
    """Return accession, start and stop on the reference sequence; start is the larger one on the minus strand."""
    locus = element.find("Entrezgene_locus/Gene-commentary")
    interval = None if locus is None else locus.find("Gene-commentary_seqs/Seq-loc/Seq-loc_int/Seq-interval")
    if interval is None:
        return None
    ends = [int(_text(interval, f"Seq-interval_{name}")) for name in ("from", "to")]
    strand = interval.find("Seq-interval_strand/Na-strand")
    if strand is not None and strand.get("value") == "minus":
        ends.reverse()
    version = _text(locus, "Gene-commentary_version")
    return _text(locus, "Gene-commentary_accession") + (f".{version}" if version else ""), ends[0], ends[1]


def demo_genes() -> list[GeneRecord]:
    """Read the genes that are part of this package; none where they are not installed."""
    folder = resources.files("entrez_kit.fixtures").joinpath("gene")
    if not folder.is_dir():
        return []
    records = []
    for item in sorted((item for item in folder.iterdir() if item.name.endswith(".xml")), key=lambda item: item.name):
        root = etree.fromstring(item.read_bytes(), etree.XMLParser(resolve_entities=False, no_network=True))
        records += [read_gene(etree.tostring(element, with_tail=False)) for element in root.iterfind("Entrezgene")]
    return records


def demo_links() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Read which articles of the demo corpus belong to which gene, by kind of link."""
    file = resources.files("entrez_kit.fixtures").joinpath("gene", "links.json")
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


class GeneDatabase(Database):
    """Gene over the demo genes; links lead to those articles of the corpus that exist in it."""

    name = "gene"
    menu = "Gene"
    description = "Gene database"
    summary_dtd = "20150202"
    links = (LinkInfo("gene_pubmed", "pubmed", "PubMed Links", "PubMed articles about this gene", 130),)

    def __init__(self, corpus: Corpus, genes: Iterable[GeneRecord] | None = None) -> None:
        self.corpus = corpus
        self._given = genes

    @cached_property
    def genes(self) -> dict[str, GeneRecord]:
        """The genes by id, read when first asked for."""
        return {gene.uid: gene for gene in (demo_genes() if self._given is None else self._given)}

    @cached_property
    def _links(self) -> Mapping[str, Mapping[str, Sequence[str]]]:
        return demo_links()

    @property
    def count(self) -> int:
        """Number of genes."""
        return len(self.genes)

    def search(self, request: SearchRequest) -> SearchOutcome:
        """Find genes; most relevant first, genes of equal weight by id."""
        query = GeneQuery(self.genes.values(), history=request.history, field=request.field)
        found = query.run(request.term)
        sort = (request.sort or "").strip().lower()
        messages = list(query.messages)
        if sort not in _SORTS:
            messages.append(f"Unknown sort schema '{request.sort}' ignored")
        by_name = sort == "name"
        ordered = sorted(
            (self.genes[uid] for uid in found),
            key=lambda gene: (gene.shown_symbol.lower() if by_name else "", -gene.weight, int(gene.uid)),
        )
        return SearchOutcome(
            ids=[gene.uid for gene in ordered],
            translation=query.translation,
            translations=query.translations,
            phrases_not_found=query.phrases_not_found,
            fields_not_found=query.fields_not_found,
            quoted_phrases_not_found=query.quoted_not_found,
            messages=messages,
        )

    def summary(self, uid: str) -> Mapping[str, Any] | None:
        """Return the version 2 summary."""
        gene = self._gene(uid)
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

    def _gene(self, uid: str) -> GeneRecord | None:
        canonical = self.canonical(uid)
        return None if canonical is None else self.genes.get(canonical)

    def has(self, uid: str) -> bool:
        """Tell whether a gene with this id exists, current or not."""
        return self._gene(uid) is not None

    def fetch(self, request: FetchRequest) -> Reply:
        """Return records as XML, short texts or a list of ids; unknown ids are left out of them.

        Raises:
            BadRequest: no id has the form of one.
        """
        ids = list(dict.fromkeys(filter(None, map(self.canonical, request.ids))))
        if not ids:
            raise BadRequest("ID list is empty! Possibly it has no correct IDs.")
        genes = [self.genes[uid] for uid in ids if uid in self.genes]
        if request.rettype == "uilist":
            return plain("".join(f"{gene.uid}\n" for gene in genes))
        if request.retmode == "text":
            return plain("\n".join(_as_text(gene, place) for place, gene in enumerate(genes, start=1)))
        if not genes:
            return xml(f"{GENE_SET}<Error>GeneId {ids[0]} not found.</Error>\n</Entrezgene-Set>\n")
        body = b"\n".join(gene.raw for gene in genes)
        return Reply(GENE_SET.encode("utf-8") + body + b"\n</Entrezgene-Set>\n")

    def linked(self, link: str, uid: str) -> Sequence[tuple[str, int]]:
        """Return the articles about a gene."""
        canonical = self.canonical(uid)
        pmids = self._links.get(link, {}).get(canonical or "", ())
        return [(pmid, 0) for pmid in pmids if self.corpus.number(pmid) is not None]

    def describe(self) -> Description:
        """Return what EInfo shows."""
        fields = [
            FieldInfo(
                field.code,
                field.label,
                field.description,
                len({value for gene in self.genes.values() for value in field.values(gene)}),
                is_numerical=field.kind == "number",
                single_token=field.kind != "words",
                hierarchy=field.code == "ORGN",
                is_hidden=field.code == "UID",
            )
            for field in FIELDS
        ]
        return Description("Build-sandbox", f"{dates.slashed(dates.as_number(date.today()))} 00:00", fields)


def _as_text(gene: GeneRecord, place: int) -> str:
    """Return the short text EFetch sends for a gene unless XML is asked for."""
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

"""The genes of the sandbox: the parser of the records in this package, for searches and summaries."""

from dataclasses import dataclass
from typing import Any

from lxml import etree

from entrez_kit.local.records.fixture_files import read_fixtures


@dataclass(frozen=True)
class GeneRecord:
    """One gene: its original XML, and the parts that searches and summaries use."""

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
        """The size of the record as a measure of relevance; NCBI's own weight is not public."""
        return len(self.raw)


def _get_text(element: Any, path: str) -> str:
    return " ".join((element.findtext(path) or "").split())


def _get_texts(element: Any, path: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for one in element.iterfind(path) if (text := " ".join((one.text or "").split()))))


def _get_tag_value(tag: Any) -> str:
    return _get_text(tag, "Dbtag_tag/Object-id/Object-id_id") or _get_text(tag, "Dbtag_tag/Object-id/Object-id_str")


def _build_parser() -> Any:
    return etree.XMLParser(resolve_entities=False, no_network=True)


def read_gene(raw: bytes) -> GeneRecord:
    """Parse one ``Entrezgene`` element."""
    element: Any = etree.fromstring(raw, _build_parser())
    ref, source = element.find("Entrezgene_gene/Gene-ref"), element.find("Entrezgene_source/BioSource")
    organism = source.find("BioSource_org/Org-ref")
    tags = {_get_text(tag, "Dbtag_db"): _get_tag_value(tag) for tag in ref.iterfind("Gene-ref_db/Dbtag")}
    accessions = _get_texts(element, ".//Gene-commentary_accession")
    return GeneRecord(
        uid=_get_text(element, "Entrezgene_track-info/Gene-track/Gene-track_geneid"),
        raw=raw,
        symbol=_get_text(ref, "Gene-ref_locus"),
        locus_tag=_get_text(ref, "Gene-ref_locus-tag"),
        name=_get_text(ref, "Gene-ref_desc"),
        synonyms=_get_texts(ref, "Gene-ref_syn/Gene-ref_syn_E"),
        designations=_get_texts(element, "Entrezgene_prot/Prot-ref/Prot-ref_desc")
        + _get_texts(element, "Entrezgene_prot/Prot-ref/Prot-ref_name/Prot-ref_name_E"),
        summary=_get_text(element, "Entrezgene_summary"),
        organism=_get_text(organism, "Org-ref_taxname"),
        common=_get_text(organism, "Org-ref_common"),
        taxid=int(_get_tag_value(organism.find("Org-ref_db/Dbtag"))),
        chromosome=_get_text(source, "BioSource_subtype/SubSource/SubSource_name"),
        location=_get_text(ref, "Gene-ref_maploc"),
        kind=element.find("Entrezgene_type").get("value"),
        status=int(_get_text(element, "Entrezgene_track-info/Gene-track/Gene-track_status")),
        current=next(map(_get_tag_value, element.iterfind(".//Gene-track_current-id/Dbtag")), "0"),
        official=element.find("Entrezgene_properties") is not None,
        mim=(tags["MIM"],) if "MIM" in tags else (),
        identifiers=tuple(value if ":" in value else f"{db}:{value}" for db, value in tags.items()),
        accessions=accessions,
        region=_get_region(element),
    )


def _get_region(element: Any) -> tuple[str, int, int] | None:
    """Return accession, start and stop on the reference sequence; on the minus strand, start is larger than stop."""
    locus = element.find("Entrezgene_locus/Gene-commentary")
    interval = None if locus is None else locus.find("Gene-commentary_seqs/Seq-loc/Seq-loc_int/Seq-interval")
    if interval is None:
        return None
    ends = [int(_get_text(interval, f"Seq-interval_{name}")) for name in ("from", "to")]
    strand = interval.find("Seq-interval_strand/Na-strand")
    if strand is not None and strand.get("value") == "minus":
        ends.reverse()
    version = _get_text(locus, "Gene-commentary_version")
    return _get_text(locus, "Gene-commentary_accession") + (f".{version}" if version else ""), ends[0], ends[1]


def read_demo_genes() -> list[GeneRecord]:
    """Read the genes of this package; none if they are not installed."""
    roots = [etree.fromstring(file, _build_parser()) for file in read_fixtures("gene", ".xml")]
    return [read_gene(etree.tostring(one, with_tail=False)) for root in roots for one in root.iterfind("Entrezgene")]

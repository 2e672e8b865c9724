"""Collect a gene's identifiers in other databases from its Entrezgene record.

A record also contains ids of other things: interaction partners, phenotypes, markers, related genes. So ids are read
only from the elements about the gene itself or its own products.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from entrez_kit.databases.gene.models import XREF_PATTERNS, XREFS, CrossReferences

OWN_PRODUCTS: Final = ("NCBI Reference Sequences (RefSeq)", "Related Sequences")
"""Headings of the comments about the gene's own sequences; all elements below them are about the gene."""
OWN_LINKS: Final = ("Additional Links", "Pathways")
"""Headings of the comments whose direct entries are the gene's links to other resources."""
INTERACTIONS: Final = "Interactions"

_BY_IDS: Final = ("ensembl_gene", "ensembl_transcript", "uniprot", "entrez", "refseq", "pubmed")
KEYS: Final = {label.lower(): key for key, (label, _) in XREFS.items() if key not in _BY_IDS} | {
    "mim": "omim",
    "kegg pathway": "kegg_pathway",
    "iuphar/bps": "iuphar",
}
"""Names of databases in the record, in lower case, and their keys; Ensembl and UniProt need special handling."""

_PREFIXES: Final = {"hgnc": "HGNC:", "orphanet": "ORPHA:", "mondo": "MONDO:", "efo": "EFO:", "ucsc": "UCSC:"}
_CHECKS: Final = {key: re.compile(pattern.strip("^$"), re.ASCII) for key, pattern in XREF_PATTERNS.items()}
_VERSION: Final = re.compile(r"\.[0-9]+")
_PATHWAY: Final = re.compile(r"(?<![A-Za-z])([a-z]{3,4}[0-9]{5})(?![0-9])")


def collect(gene: Any, number: str) -> CrossReferences:
    """Return the cross-references of an ``Entrezgene`` element.

    Args:
        number: the gene's own id.
    """
    identifiers = _Identifiers()
    identifiers.add("entrez", number)
    # Ids of the gene itself, the most authoritative element first.
    for path in ("Entrezgene_gene/Gene-ref/Gene-ref_db", "Entrezgene_xref", "Entrezgene_unique-keys"):
        for group in gene.iterfind(path):
            for tag in yield_tags(group.iterfind("Dbtag")):
                identifiers.tag(*tag)
    for commentary in _find_commentaries(gene):
        identifiers.add_accession(commentary)
        for source in commentary.iterfind("Gene-commentary_source/Other-source"):
            for tag in yield_tags(source.iterfind("Other-source_src/Dbtag")):
                identifiers.tag(*tag, url=source.findtext("Other-source_url") or "")
    interactor = _find_interactor(gene)
    if interactor:
        identifiers.add("biogrid", interactor)
    return identifiers.build_references()


class _Identifiers:
    """Values by key, each in the registry's format; values in other formats are omitted."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, None]] = {}
        self._swiss_prot: set[str] = set()
        self._current: set[str] = set()

    def add(self, key: str, value: str) -> None:
        """Add a value; add the key's prefix if it is missing."""
        value = value.strip()
        prefix = _PREFIXES.get(key, "")
        if prefix and value and not value.upper().startswith(prefix):
            value = prefix + value
        if _CHECKS[key].fullmatch(value):
            self._values.setdefault(key, {})[value] = None

    def tag(self, db: str, value: str, url: str = "") -> None:
        """Add the id of one ``Dbtag``."""
        name = db.strip().lower()
        if name == "ensembl":
            bare = _VERSION.sub("", value.strip())
            self.add("ensembl_gene", bare)
            self.add("ensembl_transcript", bare)
        elif name.startswith("uniprot"):
            accession = _VERSION.sub("", value.strip().removeprefix("UniProtKB:"))
            self.add("uniprot", accession)
            if name.endswith("swiss-prot"):
                self._swiss_prot.add(accession)
        elif name == "kegg pathway":
            named = _PATHWAY.findall(url) or [value]  # only the URL contains the species
            self.add("kegg_pathway", named[0])
        elif name in KEYS:
            self.add(KEYS[name], value)

    def add_accession(self, commentary: Any) -> None:
        """Add the sequence of a commentary if it is a RefSeq transcript, and remember a current UniProt entry."""
        accession = _VERSION.sub("", (commentary.findtext("Gene-commentary_accession") or "").strip())
        self.add("refseq", accession)
        self._current.add(accession)

    def build_references(self) -> CrossReferences:
        """Return the collected values; the first one if the registry allows only one."""
        # NCBI also lists secondary accessions; only the current accession is a sequence in the record too.
        if "uniprot" in self._values:
            main = self._swiss_prot & self._current
            order = {
                accession: 2 - (accession in self._swiss_prot) - (accession in main)
                for accession in self._values["uniprot"]
            }
            self._values["uniprot"] = dict.fromkeys(sorted(order, key=order.__getitem__))
        document: dict[str, Any] = {}
        for key, values in self._values.items():
            many = CrossReferences.model_fields[key].annotation != str | None
            document[key] = list(values) if many else next(iter(values))
        return CrossReferences(**document)


def yield_tags(elements: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Yield the database and the id of each ``Dbtag``."""
    for element in elements:
        db = (element.findtext("Dbtag_db") or "").strip()
        value = element.findtext("Dbtag_tag/Object-id/Object-id_str") or element.findtext(
            "Dbtag_tag/Object-id/Object-id_id"
        )
        if db and value and value.strip():
            yield db, value.strip()


def _find_commentaries(gene: Any) -> Iterator[Any]:
    """Yield the commentaries about the gene's own sequences (regions, transcripts and their proteins) and links."""
    for commentary in gene.iterfind("Entrezgene_locus/Gene-commentary"):
        yield from commentary.iter("Gene-commentary")
    for comment in gene.iterfind("Entrezgene_comments/Gene-commentary"):
        heading = (comment.findtext("Gene-commentary_heading") or "").strip()
        if heading in OWN_PRODUCTS:
            yield from comment.iter("Gene-commentary")
        elif heading in OWN_LINKS:
            yield from comment.iterfind("Gene-commentary_comment/Gene-commentary")


def _find_interactor(gene: Any) -> str | None:
    """Return the gene's BioGRID id, the source of all its interactions. The partners' ids are nested deeper."""
    ids = {
        value
        for comment in gene.iterfind("Entrezgene_comments/Gene-commentary")
        if (comment.findtext("Gene-commentary_heading") or "").strip() == INTERACTIONS
        for source in comment.iterfind(
            "Gene-commentary_comment/Gene-commentary/Gene-commentary_source/Other-source/Other-source_src"
        )
        for db, value in yield_tags(source.iterfind("Dbtag"))
        if db.lower() == "biogrid"
    }
    return ids.pop() if len(ids) == 1 else None

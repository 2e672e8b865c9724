"""The Nucleotide database of the sandbox: a few invented sequences to try fetching and linking."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from entrez_kit.local.eutils.database import (
    BadRequest,
    FetchCall,
)
from entrez_kit.local.eutils.replies import LocalReply, plain, xml
from entrez_kit.local.eutils.small_query import SmallDatabase, SmallField, SmallQuery
from entrez_kit.local.records.text import xml_text
from entrez_kit.sandbox.links import LinkedDatabase, describe_links
from entrez_kit.sandbox.taxonomy import BY_TAXID

FIELDS: Final = (
    SmallField("ALL", "All Fields", "words", ("all",), "All terms from all searchable fields"),
    SmallField("UID", "UID", "number", ("uid",), "Unique number assigned to each sequence"),
    SmallField("TITL", "Title", "words", ("title", "ti"), "Words in definition line"),
    SmallField("ORGN", "Organism", "whole", ("organism", "orgn"), "Scientific and common names of organism"),
    SmallField("ACCN", "Accession", "whole", ("accn", "accession"), "Accession number of sequence"),
    SmallField("GENE", "Gene Name", "whole", ("gene", "sym"), "Name of gene associated with sequence"),
)
_LINE: Final = 70


@dataclass(frozen=True, slots=True)
class Nucleotides:
    """One invented sequence. Its accession begins with ZZ9, a prefix of no real accession."""

    uid: str
    accession: str
    title: str
    taxid: int
    gene: str
    sequence: str

    @property
    def bare(self) -> str:
        """The accession without its version."""
        return self.accession.partition(".")[0]


def _invent(seed: int, length: int) -> str:
    """Return an invented sequence, the same for the same seed."""
    letters, state = [], seed
    for _ in range(length):
        state = (state * 1_103_515_245 + 12_345) % (1 << 31)
        letters.append("ACGT"[state >> 29])
    return "".join(letters)


SEQUENCES: Final = (
    Nucleotides(
        "990000101",
        "ZZ900001.1",
        "invented sequence near TP53, mRNA",
        9606,
        "TP53",
        _invent(1, 210),
    ),
    Nucleotides(
        "990000102",
        "ZZ900002.2",
        "invented sequence near BRCA1, mRNA",
        9606,
        "BRCA1",
        _invent(2, 333),
    ),
    Nucleotides(
        "990000103",
        "ZZ900003.1",
        "invented sequence near Trp53, mRNA",
        10090,
        "Trp53",
        _invent(3, 140),
    ),
    Nucleotides("990000104", "ZZ900004.1", "invented sequence near PAU8", 559292, "PAU8", _invent(4, 70)),
    Nucleotides("990000105", "ZZ900005.1", "invented sequence near thrA", 511145, "thrA", _invent(5, 71)),
    Nucleotides("990000106", "ZZ900006.1", "invented sequence of no gene", 39947, "", _invent(6, 35)),
)


class NuccoreDatabase(LinkedDatabase, SmallDatabase):
    """Invented sequences in FASTA, GenBank and XML; searches use words, organism, gene and accession."""

    name = "nuccore"
    menu = "Nucleotide"
    description = "Core Nucleotide database"
    links = describe_links("nuccore", "nuccore_gene", "nuccore_taxonomy")

    def __init__(self, sequences: Sequence[Nucleotides] = SEQUENCES) -> None:
        self._by_uid = {one.uid: one for one in sequences}
        self._by_accession = {name: one for one in sequences for name in (one.accession, one.bare)}

    @property
    def count(self) -> int:
        """Number of sequences."""
        return len(self._by_uid)

    def canonical(self, uid: str) -> str | None:
        """Return the UID of a number or a known accession; None for an unknown accession, as at NCBI."""
        known = self._by_accession.get(uid.strip().upper())
        return known.uid if known is not None else super().canonical(uid)

    def query(self) -> SmallQuery:
        """Return a query that searches the sequences."""
        return SmallQuery(
            {
                uid: {
                    "ALL": (one.title, one.accession, one.bare, one.gene, *BY_TAXID[one.taxid].names),
                    "UID": (uid,),
                    "TITL": (one.title,),
                    "ORGN": (*BY_TAXID[one.taxid].names, f"txid{one.taxid}"),
                    "ACCN": (one.accession, one.bare),
                    "GENE": (one.gene,) if one.gene else (),
                }
                for uid, one in self._by_uid.items()
            },
            FIELDS,
        )

    def _find_sequence(self, uid: str) -> Nucleotides | None:
        canonical = self.canonical(uid)
        return None if canonical is None else self._by_uid.get(canonical)

    def summary(self, uid: str) -> Mapping[str, Any] | None:
        """Return the version 2 summary."""
        one = self._find_sequence(uid)
        if one is None:
            return None
        return {
            "Caption": one.bare,
            "Title": f"{BY_TAXID[one.taxid].names[0]} {one.title}",
            "Extra": f"gi|{one.uid}|gb|{one.accession}|",
            "Gi": int(one.uid),
            "CreateDate": "2025/01/01",
            "UpdateDate": "2025/01/01",
            "TaxId": one.taxid,
            "Slen": len(one.sequence),
            "MolType": "mrna" if "mRNA" in one.title else "dna",
            "Organism": BY_TAXID[one.taxid].names[0],
            "AccessionVersion": one.accession,
        }

    def fetch(self, request: FetchCall) -> LocalReply:
        """Return sequences as FASTA, GenBank or XML; unknown numbers are omitted.

        Raises:
            BadRequest: an id is neither a number nor a known accession, or the format is unknown.
        """
        for uid in request.ids:
            if self.canonical(uid) is None:
                raise BadRequest(f"Failed to understand id: {uid}")
        found = [one for uid in request.ids if (one := self._find_sequence(uid)) is not None]
        if request.rettype in ("acc", "uilist"):
            return plain("".join(f"{one.accession if request.rettype == 'acc' else one.uid}\n" for one in found))
        if request.rettype == "fasta":
            return plain("".join(_to_fasta(one) for one in found))
        if request.rettype in ("gb", "gbwithparts"):
            return (
                _answer_gbset(found) if request.retmode == "xml" else plain("".join(_to_genbank(one) for one in found))
            )
        if request.rettype in ("", "native"):
            return _answer_gbset(found)
        raise BadRequest(f"Unsupported rettype parameter value: {request.rettype}")


def _format_definition(one: Nucleotides) -> str:
    return f"{BY_TAXID[one.taxid].names[0]} {one.title}"


def _to_fasta(one: Nucleotides) -> str:
    lines = [one.sequence[start : start + _LINE] for start in range(0, len(one.sequence), _LINE)]
    return "\n".join([f">{one.accession} {_format_definition(one)}", *lines, "", ""])


def _to_genbank(one: Nucleotides) -> str:
    rows = []
    for start in range(0, len(one.sequence), 60):
        row = one.sequence[start : start + 60].lower()
        rows.append(f"{start + 1:>9} " + " ".join(row[place : place + 10] for place in range(0, len(row), 10)))
    organism = BY_TAXID[one.taxid].names[0]
    return "\n".join(
        [
            f"LOCUS       {one.bare:<16} {len(one.sequence):>11} bp    DNA     linear   SYN 01-JAN-2025",
            f"DEFINITION  {_format_definition(one)}.",
            f"ACCESSION   {one.bare}",
            f"VERSION     {one.accession}",
            f"SOURCE      {organism}",
            f"  ORGANISM  {organism}",
            "ORIGIN",
            *rows,
            "//",
            "",
            "",
        ]
    )


def _answer_gbset(found: Sequence[Nucleotides]) -> LocalReply:
    records = "".join(
        f"<GBSeq><GBSeq_locus>{one.bare}</GBSeq_locus><GBSeq_length>{len(one.sequence)}</GBSeq_length>"
        f"<GBSeq_definition>{xml_text(_format_definition(one))}</GBSeq_definition>"
        f"<GBSeq_accession-version>{one.accession}</GBSeq_accession-version>"
        f"<GBSeq_sequence>{one.sequence.lower()}</GBSeq_sequence></GBSeq>\n"
        for one in found
    )
    return xml(f'<?xml version="1.0" encoding="UTF-8" ?>\n<GBSet>\n{records}</GBSet>\n')

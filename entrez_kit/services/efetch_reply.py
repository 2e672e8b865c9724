"""Replies of EFetch: the rules for records in the format of rettype and retmode."""

from collections.abc import Mapping
from typing import Final

from entrez_kit.services.transport import Expect

# The XML roots that EFetch may send for PubMed. The other databases have many formats, so any root is accepted.
_PUBMED_ROOTS: Final = frozenset({"PubmedArticleSet", "PubmedBookArticleSet", "PubmedArticle", "PubmedBookArticle"})
_PUBMED_LIST_ROOTS: Final = frozenset({"IdList", "eFetchResult"})
_PUBMED_RECORD: Final = r"<(?:MedlineCitation|BookDocument)\b[^<>]*>\s*<PMID\b[^<>]*>\s*([0-9]+)"
_LISTED_ID: Final = r"<Id>\s*([0-9]+)"
_PUBMED_TEXT: Final[Mapping[str, str]] = {
    "medline": r"(?m)^PMID- *([0-9]+)",
    "abstract": r"(?m)^PMID: *([0-9]+)",
}
_SEQUENCE_DATABASES: Final = frozenset({"nuccore", "nucleotide", "protein"})
_FASTA: Final = r"(?m)^>(\S+)"
_FASTA_WITH_END: Final = _FASTA + r".*\n(?:[^>\r\n].*\n)*+(?=\r?\n|>)"
"""NCBI writes an empty line after each sequence, so a last sequence without it is cut."""
_TEXT_RECORDS: Final[Mapping[str, str]] = {
    "fasta": _FASTA,
    **dict.fromkeys(("gb", "gbwithparts", "gp"), r"(?m)^LOCUS +(\S+)"),
    **dict.fromkeys(("acc", "uilist"), r"(?m)^[^\S\n]*([^\s<].*)\n"),  # a last line without its end may be cut
}
"""By rettype: the regular expression that finds the name of each record."""


def expect_records(db: str, rettype: str | None, retmode: str | None, id_count: int | None) -> Expect:
    """Return the rules for an EFetch reply. They are strict only for PubMed: NCBI's defaults differ per database."""
    mode, pubmed = (retmode or "").lower(), db.strip().lower() == "pubmed"
    rettype = (rettype or "").lower()
    if mode == "xml":
        if not pubmed:
            return Expect("xml")
        if rettype == "uilist":
            return Expect("xml", _PUBMED_LIST_ROOTS, id_count, _LISTED_ID)
        return Expect("xml", _PUBMED_ROOTS, id_count, _PUBMED_RECORD)
    from entrez_kit.services.flat_files import READERS, read_asn1  # only text needs them

    if mode in ("html", "asn.1", "native"):
        return Expect("any", read=read_asn1)
    record = _TEXT_RECORDS.get(rettype)
    if pubmed:
        record = _PUBMED_TEXT.get(rettype, record)
    elif rettype == "fasta" and db.strip().lower() in _SEQUENCE_DATABASES:
        record = _FASTA_WITH_END
    return Expect("text", frozenset(), id_count, record, read=READERS.get(rettype, read_asn1))

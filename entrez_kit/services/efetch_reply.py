"""Replies of EFetch: the rules for records in the format of rettype and retmode."""

from collections.abc import Mapping
from typing import Final

from entrez_kit.services.transport import Expect

# The XML roots that EFetch may send for PubMed. The other databases have many formats, so any root is accepted.
_PUBMED_ROOTS: Final = frozenset({"PubmedArticleSet", "PubmedBookArticleSet", "PubmedArticle", "PubmedBookArticle"})
_PUBMED_LIST_ROOTS: Final = frozenset({"IdList", "eFetchResult"})
_PUBMED_RECORD: Final = r"<Pubmed(Book)?Article[\s>]"
_MEDLINE_RECORD: Final = r"(?m)^PMID- "
_TEXT_RECORDS: Final[Mapping[str, str]] = {
    "fasta": r"(?m)^>",
    **dict.fromkeys(("gb", "gbwithparts", "gp"), r"(?m)^LOCUS "),
    "abstract": r"(?m)^PMID: *[0-9]",  # of PubMed; one line of each record
    **dict.fromkeys(("acc", "uilist"), r"(?m)^.*\S.*\n"),  # a last line without its end may be cut
}
"""By rettype: the regular expression that matches once per record."""


def expect_records(db: str, rettype: str | None, retmode: str | None, id_count: int | None) -> Expect:
    """Return the rules for an EFetch reply. They are strict only for PubMed: NCBI's defaults differ per database."""
    mode, pubmed = (retmode or "").lower(), db.strip().lower() == "pubmed"
    rettype = (rettype or "").lower()
    if mode == "xml":
        if not pubmed:
            return Expect("xml")
        if rettype == "uilist":
            return Expect("xml", _PUBMED_LIST_ROOTS)
        return Expect("xml", _PUBMED_ROOTS, id_count, _PUBMED_RECORD)
    if mode in ("html", "asn.1", "native"):
        return Expect("any")
    from entrez_kit.services.flat_files import READERS  # only text needs them

    if pubmed and rettype == "medline":
        return Expect("text", frozenset(), id_count, _MEDLINE_RECORD, read=READERS["medline"])
    return Expect("text", frozenset(), id_count, _TEXT_RECORDS.get(rettype), read=READERS.get(rettype, bytes))

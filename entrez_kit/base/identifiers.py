"""Identifiers of articles in their common forms: PMID, PMCID, DOI, and addresses with one of them."""

import re
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote, unquote, urlsplit

from entrez_kit.base.errors import InvalidInput, wrong_value

IdKind = Literal["pmid", "pmcid", "doi"]
Key = tuple[IdKind, str]

PUBMED: Final = "https://pubmed.ncbi.nlm.nih.gov/"
BOOKSHELF: Final = "https://www.ncbi.nlm.nih.gov/books/"
PMC: Final = "https://pmc.ncbi.nlm.nih.gov/articles/"
MAX_PMID_DIGITS: Final = 10
"""A PMID has no more digits; some tools read longer numbers as floating-point numbers."""

_PMID: Final = re.compile(r"(?:pmid|pubmed|med)?\s*+[:=]?\s*+([0-9]+)", re.IGNORECASE)
_PMCID: Final = re.compile(r"(?:pmcid\s*+[:=]?\s*+|pmc:)?pmc\s*+([0-9]+)(?:\.[0-9]+)?", re.IGNORECASE)
_DOI_PREFIX: Final = re.compile(
    r"(?:(?:https?://)?(?:(?:dx|www)\.)?doi\.org/\s*+|doi\s*+[:=]\s*+|doi\s*+(?=10\.|https?://))+", re.IGNORECASE
)
_SEARCH_PAGES: Final = (("pubmed.ncbi.nlm.nih.gov",), ("www.ncbi.nlm.nih.gov", "pubmed"))
DOI: Final = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/\S+")


@dataclass(frozen=True, slots=True)
class Identifier:
    """One identifier: its kind, its normal form ("123", "PMC123", "10.x/y") and the original text."""

    kind: IdKind
    value: str
    original: str

    @property
    def key(self) -> "Key":
        """The key for comparisons, which ignores the letter case of a DOI."""
        return self.kind, self.value.lower() if self.kind == "doi" else self.value


def read_identifier(text: str) -> Identifier | None:
    """Parse one identifier; return None if the text is not an identifier.

    Accepts ``123``, ``PMID:123``, ``PMC123``, ``PMC123.1``, a DOI with or without ``doi:``, addresses at doi.org,
    PubMed, PMC and Europe PMC, and Europe PMC's ``MED:123`` and ``PMC:PMC123``. A DOI keeps its letter case; compare
    ``key``, which ignores it.
    """
    if text.isascii() and text.isdigit():
        return _parse_pmid(text, text)
    original = text
    text = text.strip().strip("<>").rstrip(",;.")
    if text.startswith(("(", "[")) and text[1:].rstrip(")]") and text[-1:] in (")", "]"):
        text = text[1:-1].rstrip(",;.")
    if match := _PMID.fullmatch(text):
        return _parse_pmid(match[1], original)
    if match := _PMCID.fullmatch(text):
        return _parse_pmcid(match[1], original)
    doi = normalize_doi(text)
    if DOI.fullmatch(doi):
        return Identifier("doi", doi, original)
    return _parse_address(text, original)


def _parse_pmid(digits: str, original: str) -> Identifier | None:
    number = digits.lstrip("0")
    if not number or len(number) > MAX_PMID_DIGITS:
        return None
    return Identifier("pmid", number, original)


def _parse_pmcid(digits: str, original: str) -> Identifier | None:
    number = digits.lstrip("0")
    return Identifier("pmcid", f"PMC{number}", original) if number else None


def _parse_address(text: str, original: str) -> Identifier | None:
    """Extract the identifier from an address at PubMed, PMC or Europe PMC."""
    address = text if "://" in text else f"https://{text}"
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").lower()
    except ValueError:
        return None
    words = [word for word in unquote(parts.path).split("/") if word]
    if host == "pubmed.ncbi.nlm.nih.gov" and words:
        return _parse_pmid(words[0], original) if re.fullmatch("[0-9]+", words[0]) else None
    if (host, *words) in _SEARCH_PAGES and (term := re.search(r"(?<![^&])term=([0-9]+)(?![^&])", parts.query)):
        return _parse_pmid(term[1], original)
    if host.endswith("ncbi.nlm.nih.gov") or host in ("europepmc.org", "www.europepmc.org"):
        for index, word in enumerate(words):
            if match := _PMCID.fullmatch(word):
                return _parse_pmcid(match[1], original)
            if word.lower() in ("pubmed", "med") and index + 1 < len(words) and words[index + 1].isascii():
                following = words[index + 1]
                return _parse_pmid(following, original) if re.fullmatch("[0-9]+", following) else None
    return None


def format_doi_url(doi: str) -> str:
    """Return the URL of a DOI. Characters with a meaning in URLs are escaped."""
    return "https://doi.org/" + quote(doi, safe="/:;()[],.@!$&'*+=~-_")


# Identifiers in records in one form: PMC123, a bare DOI, a bare ORCID

_BARE_PMCID: Final = re.compile(r"(?:PMC)*\s*0*([1-9][0-9]*)(?:\.[0-9]+)?", re.IGNORECASE)
_ORCID: Final = re.compile(r"(?<![0-9])([0-9]{4})-?([0-9]{4})-?([0-9]{4})-?([0-9]{3}[0-9Xx])(?![0-9A-Za-z])")


def normalize_pmcid(text: str) -> str | None:
    """Normalize a PMCID in any spelling ("123", "pmc123", "PMC123.1", "PMCPMC123"); None if the text is not a PMCID."""
    if text.startswith("PMC") and text.isascii() and text[3:].isdigit() and text[3] != "0":
        return text
    match = _BARE_PMCID.fullmatch(text.strip())
    return f"PMC{match[1]}" if match else None


def no_pmcid_error(text: str) -> InvalidInput:
    """Return the error for a text that is not a PMCID."""
    return wrong_value("pmcid", "a PMCID such as PMC1234567", text)


def normalize_doi(text: str) -> str:
    """Remove the prefix of a DOI ("doi:", "https://doi.org/"); keep the letter case.

    A DOI after a prefix can be a part of an address: it is decoded, and parameters such as "?utm_source=" are removed.
    """
    text = text.strip()
    if match := _DOI_PREFIX.match(text):
        text = re.sub(r"\?utm_.*$", "", unquote(text[match.end() :]))
    return text


def normalize_orcid(text: str | None) -> str | None:
    """Extract an ORCID from a number with or without hyphens, or from an address; None without one."""
    match = _ORCID.search(text or "")
    return "-".join(match.groups()).upper() if match else None

"""PubMed's search fields: their tags, the parts of a record that they search, and their descriptions."""

from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["text", "value", "date", "uid", "filter"]

EVERYWHERE: Final = (
    "title",
    "vernacular",
    "abstract",
    "keyword",
    "mesh",
    "ptype",
    "substance",
    "journal",
    "author",
    "affiliation",
    "grant",
    "ids",
    "book",
    "coi",
)
"""The word lists that [All Fields] searches."""


@dataclass(frozen=True, slots=True)
class PubMedField:
    """One search field.

    ``kind`` is "text" (words and phrases in ``sources``), "value" (whole values in ``sources``), "date", "uid" or
    "filter".
    """

    code: str
    label: str
    kind: Kind
    sources: tuple[str, ...]
    tags: tuple[str, ...]
    description: str
    hidden: bool = False


def _define(
    code: str, label: str, kind: Kind, sources: str, tags: str, description: str, hidden: bool = False
) -> PubMedField:
    names = tuple(tag.strip() for tag in tags.split(","))
    return PubMedField(
        code, label, kind, tuple(sources.split()), (label.lower(), code.lower(), *names), description, hidden
    )


FIELDS: Final[tuple[PubMedField, ...]] = (
    PubMedField("ALL", "All Fields", "text", EVERYWHERE, ("all fields", "all"), "All terms from all searchable fields"),
    _define("UID", "UID", "uid", "pmid", "pmid", "Unique number assigned to publication", hidden=True),
    _define("FILT", "Filter", "filter", "", "filter, sb, subset", "Limits the records"),
    _define("TITL", "Title", "text", "title book", "ti", "Words in title of publication"),
    _define("MESH", "MeSH Terms", "value", "mesh", "mh, mesh", "Medical Subject Headings assigned to publication"),
    _define("MAJR", "MeSH Major Topic", "value", "majr", "majr", "MeSH terms of major importance to publication"),
    _define("JOUR", "Journal", "value", "journal", "ta, so", "Journal abbreviation of publication"),
    _define("AFFL", "Affiliation", "text", "affiliation", "ad", "Author's institutional affiliation and address"),
    _define("ECNO", "EC/RN Number", "value", "registry", "rn", "EC number for enzyme or CAS registry number"),
    _define(
        "SUBS",
        "Supplementary Concept",
        "value",
        "substance",
        "nm, substance name",
        "CAS chemical name or MEDLINE Substance Name",
    ),
    _define("PDAT", "Date - Publication", "date", "pdat", "dp, publication date", "Date of publication"),
    _define(
        "EDAT",
        "Date - Entry",
        "date",
        "edat",
        "entrez date, entry date",
        "Date publication first accessible through Entrez",
    ),
    _define("VOL", "Volume", "value", "volume", "vi", "Volume number of publication"),
    _define("PAGE", "Pagination", "value", "page", "pg", "Page number(s) of publication"),
    _define("PTYP", "Publication Type", "value", "ptype", "pt", "Type of publication (e.g., review)"),
    _define("LANG", "Language", "value", "language", "la", "Language of publication"),
    _define("ISS", "Issue", "value", "issue", "ip", "Issue number of publication"),
    _define("SUBH", "MeSH Subheading", "value", "subheading", "sh", "Additional specificity for MeSH term"),
    _define(
        "SI", "Secondary Source ID", "value", "accession", "si", "Cross-reference from publication to other databases"
    ),
    _define("MHDA", "Date - MeSH", "date", "mhda", "mesh date", "Date publication was indexed with MeSH terms"),
    _define(
        "TIAB",
        "Title/Abstract",
        "text",
        "title book abstract keyword",
        "tiab",
        "Free text associated with Abstract/Title",
    ),
    _define("AB", "Abstract", "text", "abstract", "ab", "Free text of the abstract"),
    _define("OTRM", "Other Term", "text", "keyword", "ot", "Other terms associated with publication"),
    _define("COLN", "Author - Corporate", "value", "group", "cn, corporate author", "Corporate Author of publication"),
    _define("CNTY", "Place of Publication", "value", "country", "pl", "Country of publication"),
    _define("GRNT", "Grants and Funding", "text", "grant", "gr, grant number", "NIH Grant Numbers"),
    _define("MDAT", "Date - Modification", "date", "mdat", "lr, modification date", "Date of last modification"),
    _define("CDAT", "Date - Completion", "date", "cdat", "dcom, completion date", "Date of completion"),
    _define(
        "PID",
        "Article Identifier",
        "value",
        "aid",
        "aid, doi, pmc, pmcid",
        "Identifiers of the article: DOI, PII, PMCID",
    ),
    _define("FAUT", "Author - First", "value", "first_author", "1au, first author", "First Author of publication"),
    _define(
        "FULL", "Full Author Name", "value", "full_author", "fau, author - full", "Full Author Name(s) of publication"
    ),
    _define("TT", "Transliterated Title", "text", "vernacular", "tt", "Words in transliterated title of publication"),
    _define("LAUT", "Author - Last", "value", "last_author", "lastau, last author", "Last Author of publication"),
    _define("PPDT", "Print Publication Date", "date", "ppdat", "ppdat", "Date of print publication"),
    _define("EPDT", "Electronic Publication Date", "date", "epdat", "epdat", "Date of Electronic publication"),
    _define("LID", "Location ID", "value", "lid", "lid", "ELocation ID"),
    _define("CRDT", "Date - Create", "date", "crdt", "create date", "Date publication was created in PubMed"),
    _define("BOOK", "Book", "text", "book", "book title", "ID of the book that contains the document"),
    _define("ISBN", "ISBN", "value", "isbn", "isbn", "ISBN"),
    _define("PUBN", "Publisher", "value", "publisher", "publisher", "Publisher's name"),
    _define("ED", "Author - Editor", "value", "editor", "ed, editor", "Section's Editor"),
    _define("AUID", "Author - Identifier", "value", "auid", "auid", "Author Identifier"),
    _define("COIS", "Conflict of Interest Statements", "text", "coi", "cois", "Conflict of Interest Statements"),
    _define(
        "WORD",
        "Text Word",
        "text",
        "title vernacular abstract keyword mesh ptype substance book",
        "tw, text words, text",
        "Free text associated with publication",
    ),
    _define("INVR", "Investigator", "value", "investigator", "ir", "Investigator"),
    _define("AUTH", "Author", "value", "author", "au", "Author(s) of publication"),
)
ALL_FIELDS: Final = FIELDS[0]
BY_TAG: Final = {tag: field for field in FIELDS for tag in field.tags}

LANGUAGES: Final = {
    "eng": "english",
    "fre": "french",
    "ger": "german",
    "spa": "spanish",
    "ita": "italian",
    "jpn": "japanese",
    "chi": "chinese",
    "rus": "russian",
    "por": "portuguese",
    "pol": "polish",
    "dut": "dutch",
    "kor": "korean",
    "tur": "turkish",
    "swe": "swedish",
    "dan": "danish",
    "nor": "norwegian",
    "hun": "hungarian",
    "cze": "czech",
    "und": "undetermined",
    "mul": "multiple languages",
}
"""Names of the language codes MEDLINE uses most."""


def find_field(tag: str) -> PubMedField | None:
    """Return the field of a tag, ignoring case and an optional ``:noexp``; None for an unknown tag."""
    name = " ".join(tag.lower().split())
    name = name.removesuffix(":noexp").strip()
    return BY_TAG.get(name)

"""PubMed's search fields: tags, the name in a QueryTranslation, and the parts of a record that each field searches."""

import re
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["text", "value", "mesh", "name", "journal", "id", "action", "date", "uid", "filter"]

EVERYWHERE: Final = (
    *("title", "vernacular", "abstract", "keyword", "mesh", "ptype", "substance", "registry", "journal", "author"),
    *("affiliation", "investigator", "person", "grant", "ids", "accession", "language", "volume", "issue", "page"),
    *("book", "publisher", "note", "coi"),
)
"""The word lists that [All Fields] searches: all but the place of publication and the dates."""
_WORDS: Final = "title abstract keyword mesh ptype substance person group accession note book"
"""The word lists of [Text Word]; the transliterated title is not one of them."""


@dataclass(frozen=True, slots=True)
class Field:
    """One search field.

    ``kind`` says how a term is matched: "text" (words and phrases), "value" (whole values), "mesh" (headings or
    publication types, which include narrower ones), "name" (people), "journal", "id" (identifiers with their
    punctuation), "action", "date", "uid" or "filter". ``sources`` are the word lists or value lists of an index.
    ``proximity`` says whether ``[field:~N]`` is possible.
    """

    code: str
    label: str
    kind: Kind
    sources: tuple[str, ...]
    tags: tuple[str, ...]
    description: str
    proximity: bool = False
    hidden: bool = False


def _define(
    code: str,
    label: str,
    kind: Kind,
    sources: str,
    tags: str,
    description: str,
    *,
    proximity: bool = False,
    hidden: bool = False,
) -> Field:
    names = tuple(dict.fromkeys((label.lower(), code.lower(), *(tag.strip() for tag in tags.split(",") if tag))))
    return Field(code, label, kind, tuple(sources.split()), names, description, proximity, hidden)


FIELDS: Final[tuple[Field, ...]] = (
    _define("ALL", "All Fields", "text", " ".join(EVERYWHERE), "all", "All terms from all searchable fields"),
    _define("UID", "UID", "uid", "uid", "pmid", "Unique number assigned to publication", hidden=True),
    _define("FILT", "Filter", "filter", "filter", "filter, sb, subset", "Limits the records"),
    _define("TITL", "Title", "text", "title book", "ti", "Words in title of publication", proximity=True),
    _define(
        "WORD",
        "Text Word",
        "text",
        _WORDS,
        "tw, text words, text",
        "Free text associated with publication",
    ),
    _define(
        "MESH", "MeSH Terms", "mesh", "mesh", "mh, mesh, mesh term", "Medical Subject Headings assigned to publication"
    ),
    _define("MAJR", "MeSH Major Topic", "mesh", "majr", "majr, mj", "MeSH terms of major importance to publication"),
    _define("JOUR", "Journal", "journal", "journal", "ta, jour, so", "Journal abbreviation of publication"),
    _define(
        "AFFL",
        "Affiliation",
        "text",
        "affiliation",
        "ad",
        "Author's institutional affiliation and address",
        proximity=True,
    ),
    _define("ECNO", "EC/RN Number", "id", "registry", "rn, ec", "EC number for enzyme or CAS registry number"),
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
    _define("PAGE", "Pagination", "value", "page", "pg, page number", "Page number(s) of publication"),
    _define("PTYP", "Publication Type", "mesh", "ptype", "pt", "Type of publication (e.g., review)"),
    _define("LANG", "Language", "value", "language", "la", "Language of publication"),
    _define("ISS", "Issue", "value", "issue", "ip", "Issue number of publication"),
    _define(
        "SUBH",
        "MeSH Subheading",
        "mesh",
        "subheading",
        "sh, subheading, subheadings, mesh subheadings",
        "Additional specificity for MeSH term",
    ),
    _define(
        "SI", "Secondary Source ID", "id", "accession", "si", "Cross-reference from publication to other databases"
    ),
    _define("MHDA", "Date - MeSH", "date", "mhda", "mesh date", "Date publication was indexed with MeSH terms"),
    _define(
        "TIAB",
        "Title/Abstract",
        "text",
        "title book abstract keyword",
        "tiab",
        "Free text associated with Abstract/Title",
        proximity=True,
    ),
    _define("OTRM", "Other Term", "text", "keyword", "ot", "Other terms associated with publication"),
    _define("COLN", "Author - Corporate", "value", "group", "cn, corporate author", "Corporate Author of publication"),
    _define("CNTY", "Place of Publication", "value", "country", "pl, place", "Country of publication", hidden=True),
    _define(
        "PAPX",
        "Pharmacological Action",
        "action",
        "mesh substance",
        "pa",
        "MeSH pharmacological action pre-explosions",
    ),
    _define("GRNT", "Grants and Funding", "text", "grant", "gr, grant number", "NIH Grant Numbers"),
    _define("MDAT", "Date - Modification", "date", "mdat", "lr, modification date", "Date of last modification"),
    _define("CDAT", "Date - Completion", "date", "cdat", "dcom, completion date", "Date of completion"),
    _define(
        "PID",
        "Article Identifier",
        "id",
        "aid",
        "aid, doi, pmc, pmcid",
        "Identifiers of the article: DOI, PII, PMCID",
        hidden=True,
    ),
    _define("FAUT", "Author - First", "name", "first_author", "1au, first author", "First Author of publication"),
    _define("FULL", "Full Author Name", "name", "author", "fau, author - full", "Full Author Name(s) of publication"),
    _define("TT", "Transliterated Title", "text", "vernacular", "tt", "Words in transliterated title of publication"),
    _define("LAUT", "Author - Last", "name", "last_author", "lastau, last author", "Last Author of publication"),
    _define("PPDT", "Print Publication Date", "date", "ppdat", "ppdat", "Date of print publication", hidden=True),
    _define(
        "EPDT",
        "Electronic Publication Date",
        "date",
        "epdat",
        "epdat",
        "Date of Electronic publication",
        hidden=True,
    ),
    _define("LID", "Location ID", "id", "lid", "lid", "ELocation ID"),
    _define("CRDT", "Date - Create", "date", "crdt", "create date", "Date publication was created in PubMed"),
    _define("BOOK", "Book", "text", "book", "book title", "ID of the book that contains the document"),
    _define("ISBN", "ISBN", "value", "isbn", "isbn", "ISBN"),
    _define("PUBN", "Publisher", "value", "publisher", "publisher", "Publisher's name"),
    _define("ED", "Author - Editor", "name", "editor", "ed, editor", "Section's Editor"),
    _define("AUID", "Author - Identifier", "id", "auid", "auid", "Author Identifier"),
    _define("PS", "Subject - Personal Name", "name", "person", "ps, personal name as subject", "Person as subject"),
    _define("COIS", "Conflict of Interest Statements", "text", "coi", "cois", "Conflict of Interest Statements"),
    _define("FINV", "Full Investigator Name", "name", "investigator", "fir", "Full name of investigator"),
    _define("INVR", "Investigator", "name", "investigator", "ir", "Investigator"),
    _define("JID", "NLM Unique ID", "value", "jid", "nlmid", "NLM catalog identifier of the journal", hidden=True),
    _define("ISSN", "ISSN", "journal", "journal", "is", "ISSN of the journal", hidden=True),
    _define("AUTH", "Author", "name", "author", "au", "Author(s) of publication"),
)
BY_CODE: Final = {field.code: field for field in FIELDS}
ALL_FIELDS: Final = BY_CODE["ALL"]
ABSTRACT: Final = Field("AB", "Abstract", "text", ("abstract",), (), "Abstract", hidden=True)
"""PubMed has no field for abstracts alone; other services have one."""
_BY_TAG: Final = {tag: field for field in FIELDS for tag in field.tags}

_NEAR: Final = re.compile(r"(.*?) ?: ?~ ?([0-9]{1,6})")
_SUFFIX: Final = re.compile(r"(.*?) ?: ?(no ?exp|exp)")


@dataclass(frozen=True, slots=True)
class Tag:
    """A field tag: the field, whether narrower terms are excluded, and the distance of a proximity search."""

    field: Field
    explodes: bool = True
    distance: int | None = None


def parse_tag(text: str) -> Tag | None:
    """Parse a tag without its brackets, ignoring case and spaces; None if no such field exists."""
    name = " ".join(text.lower().split())
    distance, explodes = None, True
    if match := _NEAR.fullmatch(name):
        name, distance = match[1], int(match[2])
    if match := _SUFFIX.fullmatch(name):
        name, explodes = match[1], match[2] == "exp"
    field = _BY_TAG.get(name)
    return None if field is None else Tag(field, explodes, distance)


LANGUAGES: Final = {
    **{"eng": "english", "fre": "french", "ger": "german", "spa": "spanish", "ita": "italian", "jpn": "japanese"},
    **{"chi": "chinese", "rus": "russian", "por": "portuguese", "pol": "polish", "dut": "dutch", "kor": "korean"},
    **{"tur": "turkish", "swe": "swedish", "dan": "danish", "nor": "norwegian", "hun": "hungarian", "cze": "czech"},
    **{"fin": "finnish", "rum": "romanian", "bul": "bulgarian", "slo": "slovak", "slv": "slovenian"},
    **{"hrv": "croatian", "srp": "serbian", "ukr": "ukrainian", "gre": "greek", "heb": "hebrew", "ara": "arabic"},
    **{"per": "persian", "cat": "catalan", "est": "estonian", "lav": "latvian", "lit": "lithuanian"},
    **{"und": "undetermined", "mul": "multiple languages"},
}
"""Names of the language codes that MEDLINE uses most."""

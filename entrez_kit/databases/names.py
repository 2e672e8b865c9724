"""How databases and records are named in requests to any database."""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Final

from pydantic import AfterValidator

from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import FrontendText, NextCall, PerFrontend
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.services import Services
from entrez_kit.services.known_shapes import XmlShape, log_drift
from entrez_kit.services.xml_reply import malformed_error, parse_reply

LIST_HINT: Final = FrontendText(
    "Call ", NextCall("entrez_info"), " without ", PerFrontend("a name", "db"), " for the list."
)
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{1,30}")
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:|/-]{0,99}")
"""UIDs are digits; sequence databases and some others take accessions as well."""
_DIGITS: Final = re.compile(r"0*([0-9]{1,19})")

LASTING: Final = frozenset({"pubmed", "pmc", "gene", "mesh", "taxonomy", "nuccore", "protein"})
"""Databases that are not looked up in NCBI's list before they are used."""
SYNONYMS: Final = frozenset({"nucleotide", "nuccore"})
"""NCBI takes both names for one database, whichever it lists."""

UI_LETTERS: Final = {"67": "C", "68": "D", "81": "Q"}
"""The first two digits of an eight-digit Entrez UID of MeSH stand for the letter of the unique identifier."""


def _database(value: str) -> str:
    name = value.strip().lower()
    if not _NAME.fullmatch(name):
        raise ValueError("no name of an Entrez database; they are lower-case words such as pubmed, gene or nuccore")
    return name


DatabaseName = Annotated[str, AfterValidator(_database)]


def read_uid(db: str, text: str) -> str | None:
    """Return an id as NCBI takes it in a database: digits, or an accession where the database may have them.

    Besides bare UIDs the usual spellings are understood: PMID:123, PMC123, NCBIGene:7157, txid9606, rs328, D003924.
    None where the text cannot be an id of the database.
    """
    text = text.strip()
    if db in _SPELLINGS:
        return _digits(text) or _SPELLINGS[db](text)
    return _digits(text) or (text if _ID.fullmatch(text) and text.strip("0") else None)


def looks_like_uid(db: str, word: str) -> bool:
    """Tell whether a word in a list is an id of a database: one that ``read_uid`` reads, with a digit in it."""
    return any(letter in "0123456789" for letter in word) and read_uid(db.strip().lower(), word) is not None


def _digits(text: str) -> str | None:
    match = _DIGITS.fullmatch(text)
    return match[1].lstrip("0") or None if match else None


def _prefixed(prefixes: str, text: str) -> str | None:
    match = re.fullmatch(rf"(?:{prefixes})\s*([0-9]+)", text, re.IGNORECASE)
    return _digits(match[1]) if match else None


def _article(kind: str, text: str) -> str | None:
    identifier = read_identifier(text)
    return identifier.value.removeprefix("PMC") if identifier is not None and identifier.kind == kind else None


def entrez_uid(ui: str) -> str | None:
    """Turn a unique identifier of MeSH into its Entrez UID (D003924 -> 68003924), or None where no rule leads to it.

    Identifiers given since 2014 have nine digits, and their UIDs cannot be told from them.
    """
    match = re.fullmatch(r"([CDQ])([0-9]{6})", ui.strip().upper())
    if not match:
        return None
    return next(prefix for prefix, letter in UI_LETTERS.items() if letter == match[1]) + match[2]


_SPELLINGS: Final[Mapping[str, Callable[[str], str | None]]] = {
    "pubmed": partial(_article, "pmid"),
    "pmc": partial(_article, "pmcid"),
    "gene": partial(_prefixed, "NCBIGene:|GeneID:|gene:"),
    "taxonomy": partial(_prefixed, "txid|taxid:|NCBITaxon:"),
    "snp": partial(_prefixed, "rs"),
    "mesh": entrez_uid,
}
"""Databases whose ids are digits and nothing else, and how these are written elsewhere."""


def check_database(services: Services, db: str, field: str = "db") -> None:
    """Refuse a name that NCBI does not list, before NCBI takes its time to say so.

    The list counts for a day. Where it cannot be had, the request itself will show.

    Raises:
        InvalidInput: there is no such database.
    """
    demo = services.settings.demo
    if db in LASTING and not demo:
        return
    try:
        known = services.eutils.einfo(read=parse_database_list).value
    except EntrezKitError:
        return
    if db in known or (db in SYNONYMS and SYNONYMS & set(known)):
        return
    near = [] if db in LASTING else get_close_matches(db, {*known, *LASTING}, n=1, cutoff=0.7)
    meant = f"There is no Entrez database {db!r}." + (f" Did you mean {near[0]!r}?" if near else "")
    has = f"The demo has only these databases: {', '.join(known)}."
    raise InvalidInput(
        meant if not demo else f"{meant} {has}" if near else has,
        invalid_input=f"{field}={db}",
        recovery_hint="Ask NCBI itself: leave out the demo." if demo and not set(near) & set(known) else LIST_HINT,
        details={"reason": "unknown_database"},
    )


EINFO: Final = XmlShape(
    "EInfo", "einfo.dtd", due={"DbInfo": "DbName Count FieldList LastUpdate", "Field": "Name", "Link": "Name"}
)


def parse_database_list(content: bytes) -> list[str]:
    """Return the names of all databases from an EInfo reply.

    Raises:
        UpstreamError: the reply is not a list of databases.
    """
    root = parse_reply(content, "einfo", "eInfoResult")
    log_drift(EINFO, content)
    names = [name for element in root.iterfind("DbList/DbName") if (name := (element.text or "").strip())]
    if not names or len(set(names)) < len(names):
        raise malformed_error("einfo", "a database that is listed twice" if names else "no database in it")
    return names

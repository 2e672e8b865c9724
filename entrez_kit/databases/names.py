"""Names of databases, and ids of their records."""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Final

from pydantic import AfterValidator

from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import FrontendText, NextCall, PerFrontend, join_with
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.core.model import WrongValue
from entrez_kit.services import Services
from entrez_kit.services.known_shapes import XmlShape, log_drift
from entrez_kit.services.small_replies import malformed_error, parse_reply

LIST_HINT: Final = FrontendText(
    "Call ", NextCall("entrez_info"), " without ", PerFrontend("a name", "db"), " for the list."
)
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{1,30}")
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:|/-]{0,99}")
"""UIDs are digits; sequence databases and some others also accept accessions."""
_DIGITS: Final = re.compile(r"0*([0-9]{1,19})")

PERMANENT_DATABASES: Final = frozenset({"pubmed", "pmc", "gene", "mesh", "taxonomy", "nuccore", "protein"})
"""Databases that are not checked against NCBI's list."""
SYNONYMS: Final = frozenset({"nucleotide", "nuccore"})
"""NCBI accepts both names for one database, although it lists only one."""

UI_LETTERS: Final = {"67": "C", "68": "D", "81": "Q"}
"""The first two digits of an eight-digit Entrez UID of MeSH stand for the letter of the unique identifier."""


def _check_name(value: str) -> str:
    name = value.strip().lower()
    if not _NAME.fullmatch(name):
        raise WrongValue("the name of an Entrez database, such as pubmed or gene")
    return name


DatabaseName = Annotated[str, AfterValidator(_check_name)]


def read_uid(db: str, text: str) -> str | None:
    """Read an id of a database: digits, or an accession if the database may have them.

    The usual spellings are accepted: PMID:123, PMC123, NCBIGene:7157, txid9606, rs328, D003924. Return None if the text
    cannot be an id of the database.
    """
    text = text.strip()
    if db in _SPELLINGS:
        return _read_digits(text) or _SPELLINGS[db](text)
    return _read_digits(text) or (text if _ID.fullmatch(text) and text.strip("0") else None)


def looks_like_uid(db: str, word: str) -> bool:
    """Return whether a word in a list is an id of a database: ``read_uid`` accepts it, and it has a digit."""
    return any(letter in "0123456789" for letter in word) and read_uid(db.strip().lower(), word) is not None


def _read_digits(text: str) -> str | None:
    match = _DIGITS.fullmatch(text)
    return match[1].lstrip("0") or None if match else None


def _read_prefixed(prefixes: str, text: str) -> str | None:
    match = re.fullmatch(rf"(?:{prefixes})\s*([0-9]+)", text, re.IGNORECASE)
    return _read_digits(match[1]) if match else None


def _read_article(kind: str, text: str) -> str | None:
    identifier = read_identifier(text)
    return identifier.value.removeprefix("PMC") if identifier is not None and identifier.kind == kind else None


def to_entrez_uid(ui: str) -> str | None:
    """Convert a unique identifier of MeSH to its Entrez UID (D003924 -> 68003924).

    Return None for identifiers with nine digits (since 2014), because their UIDs do not follow from them.
    """
    match = re.fullmatch(r"([CDQ])([0-9]{6})", ui.strip().upper())
    if not match:
        return None
    return next(prefix for prefix, letter in UI_LETTERS.items() if letter == match[1]) + match[2]


_SPELLINGS: Final[Mapping[str, Callable[[str], str | None]]] = {
    "pubmed": partial(_read_article, "pmid"),
    "pmc": partial(_read_article, "pmcid"),
    "gene": partial(_read_prefixed, "NCBIGene:|GeneID:|gene:"),
    "taxonomy": partial(_read_prefixed, "txid|taxid:|NCBITaxon:"),
    "snp": partial(_read_prefixed, "rs"),
    "mesh": to_entrez_uid,
}
"""Databases whose ids are only digits, and the functions that read other spellings."""


def check_database(services: Services, db: str, field: str = "db") -> None:
    """Raise an error if NCBI does not list a database, because NCBI itself refuses unknown names slowly.

    The list is cached for a day. If it is unavailable, nothing is raised, and the request itself will fail.

    Raises:
        InvalidInput: the database does not exist.
    """
    demo = services.settings.demo
    if db in PERMANENT_DATABASES and not demo:
        return
    try:
        databases = services.eutils.einfo(read=parse_database_list).value
    except EntrezKitError:
        return
    if db in databases or (db in SYNONYMS and SYNONYMS & set(databases)):
        return
    near = (
        [] if db in PERMANENT_DATABASES else get_close_matches(db, {*databases, *PERMANENT_DATABASES}, n=1, cutoff=0.7)
    )
    message, hint = f"Entrez has no database {db!r}.", LIST_HINT
    if demo:
        message = f"The demo has no database {db!r}. It has {join_with(databases)}."
        hint = FrontendText("NCBI has more databases: omit ", PerFrontend("--demo", "the demo", "demo=True"), ".")
    if near and (near[0] in databases or not demo):
        hint = FrontendText(f"Did you mean {near[0]}? ", LIST_HINT)
    raise InvalidInput(
        message,
        invalid_input=f"{field}={db}",
        recovery_hint=hint,
        details={"reason": "unknown_database"},
    )


EINFO: Final = XmlShape(
    "EInfo", "einfo.dtd", required={"DbInfo": "DbName Count FieldList LastUpdate", "Field": "Name", "Link": "Name"}
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
        raise malformed_error("einfo", "it lists a database twice" if names else "it lists no database")
    return names

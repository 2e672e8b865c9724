"""How databases and records are named in requests to any database."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{1,30}")
_UID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:|/-]{0,63}")
"""UIDs are digits; sequence databases take accessions with versions as well."""


def _database(value: str) -> str:
    name = value.strip().lower()
    if not _NAME.fullmatch(name):
        raise ValueError("no name of an Entrez database; they are lower-case words such as pubmed, gene or nuccore")
    return name


def _uid(value: str) -> str:
    uid = value.strip()
    if not _UID.fullmatch(uid):
        raise ValueError("neither a UID (digits) nor an accession")
    return uid


DatabaseName = Annotated[str, AfterValidator(_database)]
Uid = Annotated[str, AfterValidator(_uid)]

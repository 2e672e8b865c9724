"""The request of a gene search, and the cursors of its pages."""

import base64
import binascii
import json
from typing import Final

from pydantic import Field, field_validator

from entrez_kit.core.model import Request, WrongValue
from entrez_kit.core.query_input import BroaderResults

MAX_PAGE: Final = 100
MAX_QUERY: Final = 1_000


def encode_cursor(offset: int) -> str:
    """Return the cursor of the page at an offset: base64 of ``{"offset": N}``."""
    return base64.b64encode(json.dumps({"offset": offset}).encode()).decode()


def decode_cursor(cursor: str) -> int:
    """Return the offset of a cursor.

    Raises:
        ValueError: the text is not a cursor of this search.
    """
    try:
        document = json.loads(base64.b64decode(cursor.encode("ascii"), validate=True))
    except (binascii.Error, UnicodeError, ValueError, RecursionError):
        document = None
    offset = document.get("offset") if isinstance(document, dict) and len(document) == 1 else None
    if type(offset) is not int or not 0 <= offset <= 10**9:
        raise WrongValue("a cursor of a gene search")
    return offset


class SearchGenesRequest(Request):
    """The query, the organism and the page."""

    query: str = Field(
        max_length=MAX_QUERY,
        description="Words, or Entrez syntax: apo*[sym] AND 11[chr].",
    )
    organism: str | None = Field(
        default=None,
        description="Name or taxid (txid9606).",
    )
    page_size: int = Field(default=50, ge=1, le=MAX_PAGE, description="Genes per page.")
    cursor: str | None = Field(default=None, description="pagination.cursor of a page.")
    include_discontinued: bool = Field(
        default=False,
        description="Include withdrawn and merged records.",
    )
    broader_results: BroaderResults = True

    @field_validator("query")
    @classmethod
    def _check_query(cls, value: str) -> str:
        text = " ".join(value.split())
        if len(text) < 2 or not any(character.isalnum() for character in text):
            raise WrongValue("a query of 2 or more characters with at least one letter or digit")
        return text

    @field_validator("cursor")
    @classmethod
    def _check_cursor(cls, value: str | None) -> str | None:
        if value is not None:
            decode_cursor(value)
        return value

    @property
    def offset(self) -> int:
        """The number of genes before this page."""
        return decode_cursor(self.cursor) if self.cursor else 0

"""Lines of Web of Science."""

import re
from typing import ClassVar, Final

from entrez_kit.query.dialects.expressions import Grammar, LineToken, join_with_and
from entrez_kit.query.dialects.lexer import HASH, Lexer, make_prefix_reader, make_proximity_reader
from entrez_kit.query.dialects.notes import Note
from entrez_kit.query.dialects.periods import parse_period
from entrez_kit.query.dialects.service_fields import WOS
from entrez_kit.query.dialects.tree import Node, Unknown

_CODES: Final = {
    "document type": "DT",
    "language": "LA",
    "publication year": "PY",
    "research area": "SU",
    "web of science categorie": "WC",
}
_NAMED: Final = re.compile(rf" (and|not|or) ([^()=]{{2,200}}?) \(({'|'.join(_CODES)})s?\)", re.IGNORECASE)
"""A refinement with the name of its field, as Web of Science prints it since 2021."""
REMARKS: Final = re.compile(r" ?\b(?:timespan|indexes) ?[:=] ?.*", re.IGNORECASE)
"""The years and the indexes that Web of Science prints after a search."""
_TIMESPAN: Final = re.compile(r"\btimespan ?[:=] ?([^.,;]*)", re.IGNORECASE)


def parse_timespan(text: str) -> list[Node]:
    """Return the meaning of the remarks after a search: the years of the timespan; none for all years."""
    match = _TIMESPAN.search(text)
    span = re.sub(r"\bindexes\b.*", "", match[1], flags=re.IGNORECASE).strip() if match else ""
    if not span or span.lower() == "all years":
        return []
    return [parse_period(span, "year") or Unknown(f"Timespan={span}", "the years cannot be read")]


def _read_years(lexer: Lexer, match: re.Match[str]) -> LineToken:
    node = parse_period(match[1].strip("() "), "year") or Unknown(match[0], "the years cannot be read")
    return LineToken("node", match[0], node=node)


def _read_same(lexer: Lexer, match: re.Match[str]) -> LineToken:
    lexer.notes.append(Note("SAME was read as AND; in older strategies it means the same sentence."))
    return LineToken("operator", "AND")


def _write_field(match: re.Match[str]) -> str:
    """Return a refinement such as "and Article or Review (Document Types)" with the code of its field."""
    return f" {match[1]} {_CODES[match[3].lower()]}=({match[2]})"


class WosLexer(Lexer):
    """Web of Science."""

    grammar = Grammar((("OR",), ("AND",), ("NOT",), ("NEAR",)), join_with_and, WOS["TS"])
    signs = (
        (
            re.compile(r"PY ?= ?(\( ?[0-9]{4} ?(?:- ?[0-9]{4})? ?\)|[0-9]{4}(?: ?- ?[0-9]{4})?)", re.IGNORECASE),
            _read_years,
        ),
        (re.compile(rf"({'|'.join(WOS)}) ?= ?", re.IGNORECASE), make_prefix_reader(WOS)),
        (re.compile(r"near(?:/([0-9]+))?(?=[ ()\"]|$)", re.IGNORECASE), make_proximity_reader(default=15)),
        (re.compile(r"SAME(?=[ (\"])"), _read_same),
        HASH,
    )
    wildcards: ClassVar = {"*": "*", "?": "#", "$": "?"}
    varies = "unquoted"

    def __init__(self, text: str) -> None:
        refined = re.sub(r",? ?\brefined by:? ?", " AND ", text, flags=re.IGNORECASE)
        refined = re.sub(r"\b(?:AND )?\[excluding\] ?", "NOT ", refined, flags=re.IGNORECASE)
        super().__init__(_NAMED.sub(_write_field, refined))

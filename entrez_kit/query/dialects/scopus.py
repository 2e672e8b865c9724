"""Lines of Scopus."""

import re
from typing import ClassVar, Final

from entrez_kit.query.dialects.expressions import Grammar, LineToken, join_with_and
from entrez_kit.query.dialects.lexer import HASH, Lexer, make_prefix_reader, make_proximity_reader
from entrez_kit.query.dialects.limits import make_limit
from entrez_kit.query.dialects.notes import LineError
from entrez_kit.query.dialects.periods import make_days
from entrez_kit.query.dialects.service_fields import SCOPUS
from entrez_kit.query.dialects.tree import Node, make_words


def _read_year(lexer: Lexer, match: re.Match[str]) -> LineToken:
    sign, year = match[1], int(match[2])
    low, high = {
        ">": (year + 1, 3000),
        "<": (0, year - 1),
        "=": (year, year),
        "AFT": (year + 1, 3000),
        "BEF": (0, year - 1),
        "IS": (year, year),
    }[sign.upper()]
    return LineToken("node", match[0], node=make_days("year", low * 10000 + 101, high * 10000 + 1231))


_EXCLUDE: Final = r"EXCLUDE ?\( ?[A-Z]++ ?, ?(?:\"[^\"]*+\"|[^\"()]*+) ?\)"
_EXCLUSIONS: Final = re.compile(rf"\bAND ?(\( ?{_EXCLUDE}(?: OR {_EXCLUDE})* ?\)|{_EXCLUDE})", re.IGNORECASE)
"""Values that the site excludes from the results."""


def _read_limit(lexer: Lexer, match: re.Match[str]) -> LineToken:
    field, value = match[1].upper(), match[2].strip()
    if field == "PUBYEAR" and value.isdigit():
        node: Node = make_days("year", int(value) * 10000 + 101, int(value) * 10000 + 1231)
        return LineToken("node", match[0], node=node)
    limit = make_limit(value, match[0])
    lexer.notes += limit.notes
    return LineToken("node", match[0], node=limit.node)


def _read_exact_phrase(lexer: Lexer, match: re.Match[str]) -> LineToken | None:
    words = make_words(match[1], re.sub(r"[*$#?]", " ", match[1]))
    return None if words is None else LineToken("text", match[1], node=words)


def _refuse_function(lexer: Lexer, match: re.Match[str]) -> LineToken | None:
    if not lexer.starts_unit():
        return None
    raise LineError(f"the field {match[1]!r} is unknown", "unknown-field")


class ScopusLexer(Lexer):
    """Scopus; OR binds before proximity operators and AND."""

    grammar = Grammar((("NOT",), ("AND",), ("NEAR",), ("OR",)), join_with_and, SCOPUS["TITLE-ABS-KEY"])
    signs = (
        (
            re.compile(r"(?:LIMIT-TO|EXCLUDE) ?\( ?([A-Z]++) ?, ?\"?((?<=\")[^\"]*+|[^\"()]*+)\"? ?\)", re.IGNORECASE),
            _read_limit,
        ),
        (re.compile(r"PUBYEAR ?(>|<|=|AFT|BEF|IS) ?([0-9]{4})", re.IGNORECASE), _read_year),
        (
            re.compile(rf"({'|'.join(sorted(SCOPUS, key=len, reverse=True))}) ?(?=\()", re.IGNORECASE),
            make_prefix_reader(SCOPUS),
        ),
        (re.compile(r"((?!AND|OR\b|NOT\b)[A-Z]{3,}(?:-[A-Z]+)*) ?(?=\()"), _refuse_function),
        (re.compile(r"\{ ?(?!(?:or|and) #)([^{}]*+)\}", re.IGNORECASE), _read_exact_phrase),
        (re.compile(r"W/([0-9]{1,3})(?=[ ()\"{]|$)", re.IGNORECASE), make_proximity_reader()),
        (re.compile(r"PRE/([0-9]{1,3})(?=[ ()\"{]|$)", re.IGNORECASE), make_proximity_reader(ordered=True)),
        HASH,
    )
    wildcards: ClassVar = {"*": "*", "?": "#"}
    varies = "always"

    def __init__(self, text: str) -> None:
        super().__init__(_EXCLUSIONS.sub(r"AND NOT \1", text))

"""Lines of Embase.com."""

import re
from typing import ClassVar, Final

from entrez_kit.query.dialects.expressions import Grammar, LineToken, join_with_and
from entrez_kit.query.dialects.lexer import HASH, Lexer, make_proximity_reader, make_suffix_reader
from entrez_kit.query.dialects.limits import make_limit
from entrez_kit.query.dialects.notes import LineError
from entrez_kit.query.dialects.periods import OPEN_END, make_days, parse_period
from entrez_kit.query.dialects.service_fields import ALL_TEXT, EMBASE
from entrez_kit.query.dialects.tree import Node, Unknown
from entrez_kit.query.dialects.values import make_heading

_CODES: Final = "|".join(EMBASE)


def _read_heading(lexer: Lexer, match: re.Match[str]) -> LineToken:
    name = match[1] or match[2]
    marks = match[3].lower().split("/")
    return LineToken(
        "node",
        match[0],
        node=make_heading(name, explodes="exp" in marks, major="mj" in marks, vocabulary="emtree"),
    )


def _read_since(lexer: Lexer, match: re.Match[str]) -> LineToken:
    day, month, year = (int(part) for part in match.groups()[:3])
    node = make_days("entry", year * 10000 + month * 100 + day, OPEN_END)
    return LineToken("node", match[0], node=node)


def _read_suffix(lexer: Lexer, match: re.Match[str]) -> LineToken:
    if (scope := EMBASE.get(match[1].lower())) is not None and scope.values:
        return LineToken("node", match[0], node=Unknown(match[0], "PubMed has no equivalent of the field", "field"))
    raise LineError(f"the field {match[1]!r} is unknown", "unknown-field")


def _read_limit(lexer: Lexer, match: re.Match[str]) -> LineToken:
    name, kind = match[1].strip().lower(), match[2].lower()
    node: Node
    if kind == "py":
        node = parse_period(name, "year") or Unknown(match[0], "the years cannot be read")
        return LineToken("node", match[0], node=node)
    limit = make_limit(name, match[0])
    lexer.notes += limit.notes
    return LineToken("node", match[0], node=limit.node)


def _read_quoted(lexer: Lexer, match: re.Match[str]) -> LineToken | None:
    words = lexer.make_words(match[1])
    return None if words is None else LineToken("text", match[1], node=words)


class EmbaseLexer(Lexer):
    """Embase.com."""

    grammar = Grammar((("OR",), ("AND", "NOT"), ("NEAR",)), join_with_and, ALL_TEXT)
    signs = (
        (
            re.compile(
                r"(?:'([^']+)'|(?<![\w-])([\w-]++))/((?:exp|de|mj|br|syn)(?:/(?:exp|mj|de|[a-z]{2}(?:_[a-z]{2})*))*)\b",
                re.IGNORECASE,
            ),
            _read_heading,
        ),
        (re.compile(r"\[([^\[\]]++)\]/(lim|py|la)\b", re.IGNORECASE), _read_limit),
        (re.compile(r"\[([0-9]{1,2})-([0-9]{1,2})-([0-9]{4})\]/sd\b", re.IGNORECASE), _read_since),
        (re.compile(r"'?((?<=')[^']+|(?<![\w-])[\w-]++)'?/(it)\b", re.IGNORECASE), _read_limit),
        (re.compile(r"'[^']+'/([a-z_]+)", re.IGNORECASE), _read_suffix),
        (re.compile(r"'([^']*)'"), _read_quoted),
        (
            re.compile(rf": ?((?:{_CODES})(?: ?, ?(?:{_CODES}))*)\b", re.IGNORECASE),
            make_suffix_reader(EMBASE),
        ),
        (re.compile(r"near/([0-9]+)\b", re.IGNORECASE), make_proximity_reader(minus=1)),
        (re.compile(r"next/([0-9]+)\b", re.IGNORECASE), make_proximity_reader(ordered=True, minus=1)),
        HASH,
    )
    wildcards: ClassVar = {"*": "*", "?": "#", "$": "?"}
    word: ClassVar = re.compile(r"[^ ()\":\[\]]+")

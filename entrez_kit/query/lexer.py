"""The lexer of PubMed queries: tokens with their positions, and the repairs that PubMed makes without an error."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from entrez_kit.base.invisible import TYPOGRAPHIC_QUOTES

TokenKind = Literal["open", "close", "operator", "colon", "word", "quoted", "tag", "history"]
OPERATORS: Final = frozenset(("AND", "OR", "NOT"))

NCBI_MESSAGES: Final = frozenset(("unmatched_quote", "unmatched_parenthesis"))
"""Codes of the repairs about which PubMed itself warns."""

_SIGNS: Final = {"&": "AND", "|": "OR"}
_HISTORY: Final = re.compile(r"#[0-9]{1,6}(?![\w-])")
_WORD: Final = re.compile(r"[^\s()\"\[\]&|]+")
_FOLD: Final = str.maketrans(dict.fromkeys(TYPOGRAPHIC_QUOTES, '"'))


@dataclass(frozen=True, slots=True)
class QueryToken:
    """A part of a query. ``text`` has no quotes or brackets; ``start`` and ``end`` are positions in the query."""

    kind: TokenKind
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Repair:
    """A correction of a query. ``message`` is NCBI's message, or ours if NCBI corrects silently."""

    code: str
    message: str
    start: int


def tokenize(query: str) -> tuple[list[QueryToken], list[Repair]]:
    """Return the tokens of a query and the repairs. Typographic quotation marks are read as plain ones."""
    text = query.translate(_FOLD)
    tokens: list[QueryToken] = []
    repairs: list[Repair] = []
    if text != query:
        first = next(position for position, (old, new) in enumerate(zip(query, text, strict=True)) if old != new)
        signs = " ".join(dict.fromkeys(sign for sign in query if sign in TYPOGRAPHIC_QUOTES))
        repairs.append(Repair("typographic_quotes", f"Read {signs} as plain quotation marks.", first))
    position = 0
    while position < len(text):
        sign = text[position]
        start, position = position, position + 1
        if sign.isspace():
            continue
        if sign in "()":
            tokens.append(QueryToken("open" if sign == "(" else "close", sign, start, position))
        elif sign in _SIGNS:
            tokens.append(QueryToken("operator", _SIGNS[sign], start, position))
        elif sign == '"':
            end = text.find('"', position)
            if end < 0:
                repairs.append(Repair("unmatched_quote", "Unmatched double quote ignored.", start))
                continue
            inner, position = text[position:end], end + 1
            tokens.append(QueryToken("quoted", " ".join(inner.split()), start, position))
        elif sign == "[":
            end = text.find("]", position)
            if end < 0:
                repairs.append(Repair("unmatched_bracket", "Unmatched square bracket ignored.", start))
                continue
            inner, position = text[position:end], end + 1
            tokens.append(QueryToken("tag", " ".join(inner.split()), start, position))
        elif sign == "]":
            repairs.append(Repair("unmatched_bracket", "Unmatched square bracket ignored.", start))
        else:
            position = _scan_word(text, start, tokens)
    return tokens, repairs


def _scan_word(text: str, start: int, tokens: list[QueryToken]) -> int:
    """Add a word, an operator, a reference to a search or the colon of a range; return the position after it."""
    if match := _HISTORY.match(text, start):
        tokens.append(QueryToken("history", match[0], start, match.end()))
        return match.end()
    match = _WORD.match(text, start)
    assert match is not None  # the caller has excluded every other character
    word, end = match[0], match.end()
    after_operand = bool(tokens) and tokens[-1].kind in ("tag", "quoted")
    if word == ":" or (word[0] == ":" and after_operand):
        tokens.append(QueryToken("colon", ":", start, start + 1))
        return start + 1
    tokens.append(QueryToken("operator" if word in OPERATORS else "word", word, start, end))
    return end

"""Lines of Ovid: MEDLINE and Embase."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final

from entrez_kit.query.dialects.expressions import Grammar, LineToken, join_as_phrase, unite_scopes
from entrez_kit.query.dialects.lexer import Lexer, read_numbers, read_reference, skip_remark
from entrez_kit.query.dialects.notes import LineError, Note
from entrez_kit.query.dialects.service_fields import OVID
from entrez_kit.query.dialects.tree import LineReference, Near, Node, ParsedLine, WordPatterns, change_leaves, walk
from entrez_kit.query.dialects.values import make_heading

_LIMITED: Final = re.compile(r"[*$]([0-9]{1,2})(?![\w*])")
_CODES: Final = "|".join(OVID)
_SUFFIX: Final = re.compile(rf" ?\. ?((?:{_CODES})(?: ?, ?(?:{_CODES}))*) ?,? ?(?:\.(?!\w)|(?=[ )]|$))", re.IGNORECASE)
_UNKNOWN_SUFFIX: Final = re.compile(r" ?\.([a-z_]{2,8}(?: ?[.,] ?[a-z_]{2,8})*)\.(?=[ )]|$)", re.IGNORECASE)
_WITHOUT_DOT: Final = re.compile(rf"(?<=\)) ?((?:{_CODES})(?: ?, ?(?:{_CODES}))*)\.(?=[ )]|$)", re.IGNORECASE)
_HEADING: Final = re.compile(
    r"(?P<exp>exp(?:lode)?\.? ?(?=[ *\"]))? ?(?P<star>\*)? ?(?P<exp2>exp (?=\w))?"
    r"(?P<name>\"[^\"]{1,120}\"|[^()\"/.\[\]]{1,120}?) ?/"
    r"(?P<sub>(?:[a-z]{2}(?![a-z0-9]))(?: ?, ?[a-z]{2}(?![a-z0-9]))*)?(?P<tail> exp\b)?"
    r"(?P<gloss> ?\[[^\[\]]*\])?(?= |\)|$)",
    re.IGNORECASE,
)
_NOT_A_NAME: Final = re.compile(
    r" (?:or|not|adj[0-9]*) |^(?:or|and|not|#?[0-9]{1,4} and)\b| and exp |[$?]|\*", re.IGNORECASE
)


def _read_heading(lexer: Lexer, match: re.Match[str]) -> LineToken | None:
    name = match["name"].strip()
    if not lexer.starts_unit() or _NOT_A_NAME.search(name) or not re.search(r"[^\W\d_]", name):
        return None
    qualifiers = match["sub"] or ""
    if qualifiers.lower() in ("or",):  # "Neoplasms/ or x" without the space
        return None
    explodes = bool(match["exp"] or match["exp2"] or match["tail"])
    node = make_heading(
        name, explodes=explodes, major=bool(match["star"]), qualifiers=qualifiers, vocabulary=lexer.vocabulary
    )
    return LineToken("node", match[0], node=node)


def _read_suffix(lexer: Lexer, match: re.Match[str]) -> LineToken | None:
    if not lexer.tokens or lexer.tokens[-1].kind not in ("close", "text", "scope", "node"):
        return None
    codes = [code.strip().lower() for code in match[1].split(",")]
    return LineToken("scope", match[0].strip(), scope=unite_scopes(codes, OVID))


def _read_unknown_suffix(lexer: Lexer, match: re.Match[str]) -> LineToken | None:
    if not lexer.tokens or lexer.tokens[-1].kind not in ("close", "text", "scope", "node"):
        return None
    if "." in match[1]:
        raise LineError(f"the fields in {match[0].strip()!r} need commas, such as .ti,ab.")
    return _read_suffix(lexer, match)


def _refuse_missing_dot(lexer: Lexer, match: re.Match[str]) -> LineToken:
    raise LineError(f"the dot before the field {match[1]!r} is missing")


def _refuse_frequency(lexer: Lexer, match: re.Match[str]) -> LineToken:
    raise LineError("PubMed cannot count how often a word occurs (freq)", "not-in-pubmed")


def _read_adjacent(lexer: Lexer, match: re.Match[str]) -> LineToken:
    if not match[1] or not int(match[1]):
        return LineToken("near", match[0], distance=0, ordered=True)
    return LineToken("near", match[0], distance=int(match[1]) - 1, skips=True)


def _mark_limit(match: re.Match[str]) -> str:
    """Return the mark for up to N characters, which for N = 1 is the mark of an optional character."""
    return "?" if match[1] == "1" else f"<{match[1]}>"


class OvidLexer(Lexer):
    """Ovid: MEDLINE, or another database with headings of ``vocabulary``."""

    grammar = Grammar((("OR",), ("AND", "NOT"), ("NEAR",)), join_as_phrase, OVID["mp"])
    signs = (
        (re.compile(r"\[[^\[\]]*\]"), skip_remark),
        (re.compile(r"(or|and) ?/ ?([0-9][0-9 ,–-]*)", re.IGNORECASE), read_numbers),
        (_SUFFIX, _read_suffix),
        (_UNKNOWN_SUFFIX, _read_unknown_suffix),
        (_WITHOUT_DOT, _refuse_missing_dot),
        (re.compile(r"/ ?freq ?= ?[0-9]+", re.IGNORECASE), _refuse_frequency),
        (re.compile(r"(?:adj)([0-9]*)(?=[ ()\"]|$)", re.IGNORECASE), _read_adjacent),
        (_HEADING, _read_heading),
        (re.compile(r"#([0-9]{1,4})(?=[ )]|$)"), read_reference),
    )
    wildcards: ClassVar = {"*": "*", "$": "*", "#": "#", "?": "?"}

    def __init__(self, text: str, *, vocabulary: str = "mesh") -> None:
        united = re.sub(rf"\.({_CODES})\. or \.({_CODES})\.", r".\1,\2.", text, flags=re.IGNORECASE)  # (x).ti. or .ab.
        super().__init__(re.sub(r"\bexp ?\* ?", "exp *", united, flags=re.IGNORECASE))
        self.vocabulary = vocabulary

    def mark_wildcards(self, text: str) -> str:
        return re.sub(r"(?<=\w):(?= |$)", "*", super().mark_wildcards(_LIMITED.sub(_mark_limit, text)))

    def find_word_end(self, position: int) -> int:
        end = super().find_word_end(position)
        for dot in range(position + 1, end):
            if self.text[dot] == "." and (_SUFFIX.match(self.text, dot) or _UNKNOWN_SUFFIX.match(self.text, dot)):
                return dot
        return end

    def parse(self) -> ParsedLine:
        parsed = super().parse()
        if self.tokens and _is_suffix_of_last(self.tokens):
            note = Note("a field without parentheses applies only to the term before it.", "suffix-binds-last")
            parsed = replace(parsed, notes=(*parsed.notes, note))
        return replace(parsed, node=_read_bare_numbers(parsed.node))


def _is_suffix_of_last(tokens: Sequence[LineToken]) -> bool:
    """Return whether a term without a field is beside one with a field at the end of the line."""
    depth = 0
    bare = False
    scopes = 0
    for index, token in enumerate(tokens):
        depth += (token.kind == "open") - (token.kind == "close")
        if depth or token.kind not in ("text", "scope"):
            continue
        if token.kind == "scope":
            scopes += 1
        elif index + 1 == len(tokens) or tokens[index + 1].kind not in ("scope", "text"):
            bare = bare or not token.text.isdigit()
    return bare and scopes == 1 and tokens[-1].kind == "scope"


def _read_bare_numbers(node: Node) -> Node:
    """Read a number without a field as the number of a line, as Ovid does."""

    def change(leaf: Node) -> Node:
        is_number = isinstance(leaf, WordPatterns) and leaf.scope == OVID["mp"] and leaf.text.isdigit()
        return (
            LineReference(int(leaf.text))
            if is_number and isinstance(leaf, WordPatterns) and len(leaf.text) < 4
            else leaf
        )

    inside = {id(part) for near in walk(node) if isinstance(near, Near) for part in walk(near)}
    return change_leaves(node, lambda leaf: leaf if id(leaf) in inside else change(leaf))

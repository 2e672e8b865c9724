"""Lines of EBSCO: MEDLINE and CINAHL."""

import re
from typing import ClassVar

from entrez_kit.query.dialects.expressions import Grammar, LineToken, join_within
from entrez_kit.query.dialects.lexer import HASH, Lexer, make_prefix_reader, make_proximity_reader, read_reference
from entrez_kit.query.dialects.notes import LineError
from entrez_kit.query.dialects.periods import parse_period
from entrez_kit.query.dialects.service_fields import ALL_TEXT, EBSCO
from entrez_kit.query.dialects.tree import Unknown
from entrez_kit.query.dialects.values import make_heading


def _read_heading(lexer: Lexer, match: re.Match[str]) -> LineToken:
    name, explodes = match[2], match[2].endswith("+") or "+/" in match[2]
    name, _, qualifiers = name.replace("+", "").partition("/")
    node = make_heading(
        name,
        explodes=explodes,
        major=match[1].upper() == "MM",
        qualifiers=qualifiers,
        vocabulary=lexer.vocabulary,
    )
    return LineToken("node", match[0], node=node)


def _read_bare_heading(lexer: Lexer, match: re.Match[str]) -> LineToken | None:
    return _read_heading(lexer, match) if lexer.starts_unit() else None


def _read_entry(lexer: Lexer, match: re.Match[str]) -> LineToken:
    node = parse_period(match[1], "entry") or Unknown(match[0], "the dates cannot be read")
    return LineToken("node", match[0], node=node)


def _refuse_field(lexer: Lexer, match: re.Match[str]) -> LineToken | None:
    if not lexer.starts_unit():
        return None
    if match[1] in ("MH", "MM"):
        raise LineError(f'a heading after {match[1]} needs quotation marks, such as {match[1]} "Asthma+"')
    raise LineError(f"the field {match[1]!r} is unknown", "unknown-field")


class EbscoLexer(Lexer):
    """EBSCO: MEDLINE, or another database with headings of ``vocabulary``."""

    grammar = Grammar((("OR",), ("AND", "NOT"), ("NEAR",)), join_within(5), ALL_TEXT)
    signs = (
        (re.compile(r"(M[HMJ]) ?\(? ?\"([^\"]++)\" ?\)?(?<!\"\))", re.IGNORECASE), _read_heading),
        (re.compile(r"(M[HM]) ([A-Z][^()\"]*?\+?)(?= (?:or|and|not)\b|\)|$)", re.IGNORECASE), _read_bare_heading),
        (re.compile(r"EM ([0-9]{4,8} ?-? ?[0-9]{0,8})(?= |\)|$)"), _read_entry),
        (re.compile(r"(M[HMJ]|EM|ZR|ZT|RV|AN|UI|GC)(?= ?\(| [\w\"])"), _refuse_field),
        (re.compile(rf"({'|'.join(EBSCO)}|ti|tx|ab(?! initio))(?= |\(|\") ?"), make_prefix_reader(EBSCO)),
        (re.compile(r"((?!OR|IN)[A-Z]{2})(?= ?[(\"])"), _refuse_field),
        (re.compile(r"N([0-9]{1,3})(?=[ ()\"]|$)", re.IGNORECASE), make_proximity_reader()),
        (re.compile(r"W([0-9]{1,3})(?=[ ()\"]|$)", re.IGNORECASE), make_proximity_reader(ordered=True)),
        (re.compile(r"S([0-9]{1,4})(?=[ )]|$)"), read_reference),
        HASH,
    )
    wildcards: ClassVar = {"*": "*", "?": "#", "#": "?"}

    def __init__(self, text: str, *, vocabulary: str = "mesh") -> None:
        super().__init__(text)
        self.vocabulary = vocabulary

"""Lines of the Cochrane Library."""

import re
from typing import ClassVar

from entrez_kit.query.dialects.expressions import Grammar, LineToken, join_with_and
from entrez_kit.query.dialects.lexer import BRACES, HASH, Lexer, make_proximity_reader, make_suffix_reader
from entrez_kit.query.dialects.notes import LineError
from entrez_kit.query.dialects.periods import OPEN_END, make_days
from entrez_kit.query.dialects.qualifiers import QUALIFIERS
from entrez_kit.query.dialects.service_fields import ALL_TEXT, COCHRANE
from entrez_kit.query.dialects.tree import AnyOf, Unknown, Value
from entrez_kit.query.dialects.values import make_heading


def _read_heading(lexer: Lexer, match: re.Match[str]) -> LineToken:
    node = make_heading(match[2] or match[3], explodes=not match[1], qualifiers=match[4] or "")
    return LineToken("node", match[0], node=node)


def _read_descriptor(lexer: Lexer, match: re.Match[str]) -> LineToken:
    remark = match[2].lower()
    if "explode tree" in remark and "all" not in remark:
        return LineToken(
            "node", match[0], node=Unknown(match[0], "single trees cannot be exploded; list the descriptors")
        )
    codes = ",".join(re.findall(r"\b([A-Z]{2})\b", match[2].split("qualifier")[-1])) if "qualifier" in remark else ""
    node = make_heading(match[1], explodes="this term only" not in remark, qualifiers=codes)
    return LineToken("node", match[0], node=node)


def _read_dates(lexer: Lexer, match: re.Match[str]) -> LineToken | None:
    years = re.findall(r"[0-9]{4}", match[0])
    lexer.tokens.append(LineToken("operator", "AND"))
    high = int(years[1]) * 10000 + 1231 if len(years) > 1 else OPEN_END
    return LineToken("node", match[0], node=make_days("year", int(years[0]) * 10000 + 101, high))


def _read_qualifiers(lexer: Lexer, match: re.Match[str]) -> LineToken:
    codes = [code.strip().lower() for code in match[1].split(",")]
    if unknown := [code for code in codes if code not in QUALIFIERS]:
        raise LineError(f"the qualifier {unknown[0]!r} is unknown")
    return LineToken("node", match[0], node=AnyOf(tuple(Value("SUBH", QUALIFIERS[code]) for code in codes)))


def _refuse_brackets(lexer: Lexer, match: re.Match[str]) -> LineToken:
    raise LineError(f'{match[0]!r} is not a heading; write [mh Name] or [mh "Name, Part"]')


class CochraneLexer(Lexer):
    """The Cochrane Library; the remark that word variations were searched is omitted."""

    grammar = Grammar((("OR",), ("AND", "NOT"), ("NEAR",)), join_with_and, ALL_TEXT)
    signs = (
        (
            re.compile(
                r"\[ ?mh (\^)? ?(?:\"([^\"]{1,300})\"|([^\[\]\"/]{1,300}+)) ?(?:/ ?([A-Za-z, ]{1,300}+))?\]",
                re.IGNORECASE,
            ),
            _read_heading,
        ),
        (re.compile(r"\[ ?mh ?/ ?([a-z, ]{2,300}+)\]", re.IGNORECASE), _read_qualifiers),
        (
            re.compile(
                r"mesh descriptor:? ?\[([^\[\]]++)\] ?((?:explode all trees|this term only|explode trees?[ 0-9,]*)?"
                r"(?: ?and with qualifier\(?s?\)?:? ?\[[^\[\]]*+\])?)",
                re.IGNORECASE,
            ),
            _read_descriptor,
        ),
        (
            re.compile(
                r"(?:(?:with )?(?:publication|cochrane library publication) (?:date|year)s?\b[^#)]{0,80}?|, ?from )"
                r"[0-9]{4}"
                r"(?: ?(?:to|-|and) ?(?:(?:\w{1,20} )?[0-9]{4}|present))?(?>(?:(?: ?, ?| )in \w++)*)",
                re.IGNORECASE,
            ),
            _read_dates,
        ),
        (re.compile(r": ?([a-z]{2,3}(?: ?, ?[a-z]{2,3})*)\b", re.IGNORECASE), make_suffix_reader(COCHRANE)),
        (re.compile(r"near(?:/([0-9]+))?(?=[ ()\"]|$)", re.IGNORECASE), make_proximity_reader(default=6)),
        (re.compile(r"next(?:/([0-9]+))?(?=[ ()\"]|$)", re.IGNORECASE), make_proximity_reader(ordered=True)),
        (
            re.compile(
                r"mesh descriptor:? ?([^\[\]#():]{2,100}?),?"
                r" (explode all trees|this term only|explode trees?[ 0-9,and]*)",
                re.IGNORECASE,
            ),
            _read_descriptor,
        ),
        (re.compile(r"\[[^\]]*\]"), _refuse_brackets),
        BRACES,
        HASH,
    )
    wildcards: ClassVar = {"*": "*", "?": "#"}
    word: ClassVar = re.compile(r"[^ ()\":\[\]]+")

    def __init__(self, text: str) -> None:
        super().__init__(re.sub(r"\( ?word variations[^()]*+\)", "", text, flags=re.IGNORECASE))

"""Lines that consist of numbers of other lines, operators and brackets."""

import re
from collections.abc import Sequence
from typing import Final

from entrez_kit.query.dialects.expressions import Grammar, LineToken, Parser
from entrez_kit.query.dialects.notes import NUMBER_WITHOUT_SIGN, LineError
from entrez_kit.query.dialects.service_fields import ALL_TEXT
from entrez_kit.query.dialects.tree import LineReference, Node, ParsedLine
from entrez_kit.query.dialects.values import convert_value, join_numbers, parse_numbers

_LIST: Final = r"(?:[#S] ?)?[0-9]{1,4}(?![0-9])(?> ?[,–-] ?(?:[#S] ?)?[0-9]{1,4}(?![0-9]))*"
_NUMBER_SIGNS: Final = re.compile(
    rf"(?P<open>\()|(?P<close>\))|\{{ ?(?P<brace>or|and) (?P<braced>[^{{}}]*+)\}}"
    r"|(?P<before>(?:[#S] ?)?[0-9]{1,4} ?[-–] ?(?:[#S] ?)?[0-9]{1,4}) ?/ ?(?P<after>or|and)\b"
    rf"|(?P<slash>or|and) ?/ ?(?P<list>{_LIST})"
    r"|(?P<joined>or|and) (?P<range>(?:[#S] ?)?[0-9]{1,4} ?[-–] ?(?:[#S] ?)?[0-9]{1,4})(?![0-9])"
    r"|(?P<operator>or|and|not)\b|(?:[#S] ?)?(?P<number>[0-9]{1,4})(?![0-9])",
    re.IGNORECASE,
)
_ONLY_NUMBERS: Final = re.compile(
    r"(?:[0-9\s()#,/+&;:–-]|\b(?:lines?|sets?|to)\b|(?<![^\W\d_])(?:or|and|not)(?![^\W\d_]))+", re.IGNORECASE
)
_REFERENCE: Final = re.compile(r"\b(?:or|and|not)\b|^[#S]?[0-9]+$|^\(*#[0-9]+\)*$", re.IGNORECASE)


def _list_number_signs(text: str) -> list[re.Match[str]] | None:
    """Return the numbers, operators and brackets of a line; None if it has anything else."""
    matches: list[re.Match[str]] = []
    position = 0
    while position < len(text):
        if text[position] == " ":
            position += 1
            continue
        match = _NUMBER_SIGNS.match(text, position)
        if match is None:
            return None
        matches.append(match)
        position = match.end()
    return matches


def is_reference_line(text: str) -> bool:
    """Return whether a line consists only of numbers of lines, operators and brackets."""
    plain = text.strip().rstrip(".,;")
    if _REFERENCE.search(plain) is None:
        return False
    signs = _list_number_signs(plain)
    return signs is not None and any(sign.lastgroup not in ("open", "close", "operator") for sign in signs)


def refuse_unclear_references(text: str) -> None:
    """Refuse a line that names other lines in a form that no service has, such as "1, 2 or 3" or "1+2".

    Its numbers would otherwise be searched as words.

    Raises:
        LineError: the line has several numbers of at most three digits, and no word but operators.
    """
    numbers = re.findall(r"[0-9]+", text)
    if len(numbers) > 1 and max(map(len, numbers)) < 4 and _ONLY_NUMBERS.fullmatch(text):
        raise LineError(f"{text!r} has no valid form for numbers of lines; write them as in '1 or 2 or 3' or 'or/1-3'")


def parse_references(text: str, levels: tuple[tuple[str, ...], ...]) -> ParsedLine:
    """Return the meaning of a line of numbers.

    Args:
        text: the line.
        levels: the operators of the service, from the last to the first to bind.

    Raises:
        LineError: the line is not an expression.
    """
    plain = text.strip().rstrip(".,;")
    signs = _list_number_signs(plain)
    if signs is None:
        raise LineError("the line has more than numbers of lines and operators")
    tokens: list[LineToken] = []
    for match in signs:
        if match["open"] or match["close"]:
            tokens.append(LineToken("open" if match["open"] else "close", match[0]))
        elif match["operator"]:
            tokens.append(LineToken("operator", match["operator"].upper()))
        elif match["number"]:
            tokens.append(LineToken("node", match[0], node=LineReference(int(match["number"]))))
        else:
            operator = match["brace"] or match["after"] or match["slash"] or match["joined"]
            numbers = parse_numbers(match["braced"] or match["before"] or match["list"] or match["range"])
            if match["joined"] and tokens and tokens[-1].kind in ("node", "close"):  # 1 or 2-4
                tokens.append(LineToken("operator", operator.upper()))
            tokens.append(LineToken("node", match[0], node=join_numbers(operator, numbers)))
    parser = Parser(Grammar(levels, _refuse_adjacent, ALL_TEXT), tokens, convert_value)
    node = parser.parse()
    mixed = bool(re.search(r"#[0-9]", plain)) and bool(re.search(r"(?:^|[ (])[0-9]+(?:$|[ )])", plain))
    return ParsedLine(node, (*parser.notes, NUMBER_WITHOUT_SIGN) if mixed else tuple(parser.notes))


def _refuse_adjacent(units: Sequence[Node]) -> Node:
    raise LineError("an operator is missing between two numbers")

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
    rf"|(?P<slash>or|and)(?: ?/ ?| (?=[0-9]{{1,4}} ?[-–]))(?P<list>{_LIST})"
    r"|(?P<operator>or|and|not)\b|(?:[#S] ?)?(?P<number>[0-9]{1,4})(?![0-9])",
    re.IGNORECASE,
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
            operator = match["brace"] or match["after"] or match["slash"]
            numbers = parse_numbers(match["braced"] or match["before"] or match["list"])
            tokens.append(LineToken("node", match[0], node=join_numbers(operator, numbers)))
    parser = Parser(Grammar(levels, _refuse_adjacent, ALL_TEXT), tokens, convert_value)
    node = parser.parse()
    mixed = bool(re.search(r"#[0-9]", plain)) and bool(re.search(r"(?:^|[ (])[0-9]+(?:$|[ )])", plain))
    return ParsedLine(node, (*parser.notes, NUMBER_WITHOUT_SIGN) if mixed else tuple(parser.notes))


def _refuse_adjacent(units: Sequence[Node]) -> Node:
    raise LineError("an operator is missing between two numbers")

"""Limits of Ovid: ``limit 3 to (humans and english language)``."""

import re
from typing import Final

from entrez_kit.query.dialects.limits import LONG_NAMES, find_limit, is_missing_limit, omit_limit
from entrez_kit.query.dialects.periods import parse_period
from entrez_kit.query.dialects.tree import AllOf, AnyOf, LineReference, ParsedLine, Unknown

_PIECES: Final = re.compile(rf'"[^"]*"|(?:{LONG_NAMES})\b|[()]| (?:and(?! over\b)|or) |[^"() ]+| |"', re.IGNORECASE)
"""The pieces of limits. Names that contain "and" are pieces, and "80 and over" has no operator."""


def parse_limit(number: int, text: str, *, is_mesh: bool) -> ParsedLine:
    """Return the meaning of ``limit NUMBER to TEXT``.

    Args:
        number: the number of the line that is limited.
        text: the limits.
        is_mesh: whether the records have the indexing of MEDLINE.
    """
    limits = [_parse_limit(part.strip(), is_mesh) for part in _split_at(_remove_parentheses(text), "and")]
    notes = dict.fromkeys(note for limit in limits for note in limit.notes)
    return ParsedLine(AllOf((LineReference(number), *(limit.node for limit in limits))), tuple(notes))


def _split_at(text: str, operator: str) -> list[str]:
    """Split a text at an operator that is not in quotation marks, parentheses or a name."""
    parts, depth = [""], 0
    for piece in _PIECES.findall(text):
        depth += (piece == "(") - (piece == ")")
        if not depth and piece.lower() == f" {operator} ":
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _remove_parentheses(text: str) -> str:
    """Return a text without the parentheses around all of it."""
    inner = text.strip()
    while inner.startswith("(") and inner.endswith(")") and _has_balanced(inner[1:-1]):
        inner = inner[1:-1].strip()
    return inner


def _has_balanced(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return not depth


def _parse_limit(text: str, is_mesh: bool) -> ParsedLine:
    inner = _remove_parentheses(text)
    for operator, kind in (("and", AllOf), ("or", AnyOf)):
        parts = _split_at(inner, operator)
        if len(parts) > 1:
            limits = [_parse_limit(part.strip(), is_mesh) for part in parts]
            notes = dict.fromkeys(note for limit in limits for note in limit.notes)
            return ParsedLine(kind(tuple(limit.node for limit in limits)), tuple(notes))
    if match := re.fullmatch(r"(yr|ed|dt|da|dc|dd|ep|up|rd) ?=(.*)", inner, re.IGNORECASE):
        code = match[1].lower()
        clock = "year" if code == "yr" else "change" if code in ("up", "rd") else "entry"
        node = parse_period(match[2].strip(' "'), clock)
        return ParsedLine(node or Unknown(text, "the dates of the limit cannot be read"))
    known = find_limit(inner, is_mesh=is_mesh)
    if known is not None:
        return known
    if is_missing_limit(inner.strip("\"' ")) or re.match(r"[\"']?[0-9]{3,4} [a-z]", inner, re.IGNORECASE):
        return ParsedLine(omit_limit(inner))
    return ParsedLine(Unknown(text, "PubMed has no such limit; write the filter as a separate line"))

"""Fields with whole values: headings, publication types, languages, people, dates and numbers of lines."""

import re
from typing import Final

from entrez_kit.query.dialects.limits import find_limit, find_type, is_missing_type
from entrez_kit.query.dialects.notes import LineError
from entrez_kit.query.dialects.periods import parse_period
from entrez_kit.query.dialects.qualifiers import DELETED, PUBLICATION_TYPES, QUALIFIERS
from entrez_kit.query.dialects.tree import (
    AllOf,
    AnyOf,
    Exclude,
    LineReference,
    Node,
    Scope,
    SubjectHeading,
    Unknown,
    Value,
)

_BRACKETS: Final = re.compile(r" ?\[[^\[\]]*\] ?| ?\(publication type\) ?", re.IGNORECASE)


def make_heading(
    name: str, *, explodes: bool = False, major: bool = False, qualifiers: str = "", vocabulary: str = "mesh"
) -> Node:
    """Return a heading, or the publication type that is typed as one."""
    plain = " ".join(_BRACKETS.sub("", name.strip().strip("\"'“”")).replace("*", "").split()).rstrip(".")
    if vocabulary != "mesh":  # the subheadings are others, too; only the words of the heading are searched
        return SubjectHeading(plain, explodes, major, (), vocabulary)
    names: list[str] = []
    for code in re.split(r"[,/ ]+", qualifiers.strip()):
        if not code:
            continue
        known = QUALIFIERS.get(code.lower())
        if known is None:
            return Unknown(f"{name}/{qualifiers}", f"the qualifier {code!r} is unknown")
        if known in DELETED:
            return Unknown(f"{name}/{known}", DELETED[known])
        names.append(known)
    if plain.lower() in PUBLICATION_TYPES and not names:
        return Value("PTYP" if explodes else "PTYP=", plain)
    return SubjectHeading(plain, explodes, major, tuple(names), vocabulary)


def convert_value(text: str, scope: Scope) -> Node:
    """Return the meaning of a text in a field with whole values."""
    code = scope.values[0]
    plain = " ".join(text.strip().strip("\"'").replace("$", "*").split())
    if code.startswith("unknown "):
        return Unknown(f"{text} in {scope.name}", f"PubMed has no equivalent of the field {code[8:]!r}", "field")
    if code.startswith("thesaurus "):
        if "*" in plain:
            return Unknown(f"{text} in {scope.name}", "PubMed has no words of the headings of other services", "field")
        return make_heading(plain, vocabulary=code[10:].partition(":")[0])
    if code.startswith("limit "):
        return Unknown(f"{text} in {scope.name}", f"PubMed has no limit {code[6:]!r}", kind="limit")
    if code == "TYPE":
        limit = find_limit(plain, is_mesh=False)
        return Unknown(plain, "PubMed has no such publication type", kind="limit") if limit is None else limit.node
    if code in ("entry", "change", "year"):
        return parse_period(plain, code) or Unknown(text, "the date cannot be read")
    if code == "MESH":
        return Value("MESH", plain, text.strip()) if "*" in plain else make_heading(plain)
    if code in ("SUBH", "SUBH+"):
        return Value(code, QUALIFIERS.get(plain.lower(), plain))
    if code == "PTYP":
        if is_missing_type(plain.lower()):
            return Unknown(plain, "PubMed has no such publication type", kind="limit")
        kind = find_type(plain.lower())
        return Value("PTYP=", plain if kind in (None, plain.lower()) else kind)
    return Value(code, plain)


_NUMBERS: Final = re.compile(r"(?:[#Ss] ?)?([0-9]+)(?: ?(?:[-–]|\bto\b) ?(?:[#Ss] ?)?([0-9]+))?")
_MAX_RANGE: Final = 500


def parse_numbers(text: str) -> list[int]:
    """Return the numbers of a list such as "1-4,7", "1 - 4" or "#1-#4 #7".

    Raises:
        LineError: a range ends before it begins, or the list is empty.
    """
    numbers: list[int] = []
    for match in _NUMBERS.finditer(text):
        low, high = int(match[1]), int(match[2] or match[1])
        if high < low:
            raise LineError(f"the range {match[0]!r} ends before it begins")
        numbers += range(low, min(high, low + _MAX_RANGE) + 1)
    if not numbers:
        raise LineError(f"{text.strip()!r} has no number of a line")
    return numbers


def join_numbers(operator: str, numbers: list[int]) -> Node:
    """Return the lines joined with an operator."""
    parts = tuple(LineReference(number) for number in numbers)
    if len(parts) == 1:
        return parts[0]
    if operator.upper() == "NOT":
        node: Node = parts[0]
        for part in parts[1:]:
            node = Exclude(node, part)
        return node
    return AllOf(parts) if operator.upper() == "AND" else AnyOf(parts)

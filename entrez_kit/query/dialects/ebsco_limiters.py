"""Limiters that EBSCO prints after a search: ``Limiters - English Language; Age Groups: Aged: 65+ years``."""

import re
from typing import Final

from entrez_kit.query.dialects.limits import find_limit, omit_limit, split_limits
from entrez_kit.query.dialects.notes import Note
from entrez_kit.query.dialects.periods import parse_period
from entrez_kit.query.dialects.tree import AnyOf, Node, ParsedLine, Unknown

LIMITERS: Final = re.compile(r" (?:limiters|expanders|search modes?|interface|narrow by)\b.*", re.IGNORECASE)
"""The remarks that EBSCO prints after a search."""
_REMARKS: Final = re.compile(
    r"\b(limiters|expanders|search modes?|interface|narrow by [a-z ]*?)(?: ?- ?| ?: ?(?:- )?)", re.IGNORECASE
)
_PUBLISHED: Final = re.compile(
    r"(?:published date|publication year|date of publication)[a-z ]*:? ?"
    r"(?P<low>[0-9]{8}|[0-9]{4})? ?- ?(?P<high>[0-9]{8}|[0-9]{4})?",
    re.IGNORECASE,
)
_SEPARATOR: Final = re.compile(", (?=[A-Z])")
"""Between the values of a limiter."""
_KINDS: Final = re.compile(
    r"(?:age groups?|age related|language|publication type|gender|sex|species|clinical queries|population(?: group)?)"
    r" ?: ?",
    re.IGNORECASE,
)


def parse_limiters(text: str, *, is_mesh: bool) -> tuple[list[Node], list[Note]]:
    """Return the meaning of the limiters that EBSCO prints after a search, and the notes about them."""
    nodes: list[Node] = []
    notes: list[Note] = []
    pieces = _REMARKS.split(text)
    for name, remark in zip(pieces[1::2], pieces[2::2], strict=True):
        if name.lower().startswith("expander"):
            notes.append(Note("Expanders add words that the strategy does not show; they cannot be repeated."))
        elif name.lower().startswith(("limiter", "narrow")):
            for limit in (
                _parse_limiter(part.strip(" .-"), is_mesh) for part in remark.split(";") if part.strip(" .-")
            ):
                nodes.append(limit.node)
                notes += limit.notes
    return nodes, list(dict.fromkeys(notes))


def _parse_limiter(text: str, is_mesh: bool) -> ParsedLine:
    """Return the meaning of one limiter; the values of one limiter are alternatives."""
    if match := _PUBLISHED.fullmatch(text):
        low, high = match["low"] or "0001", match["high"] or "3000"
        days = parse_period(f"{low}-{high}", "year")
        return ParsedLine(days or Unknown(text, "the dates of the limiter cannot be read"))
    whole = find_limit(text, is_mesh=is_mesh)
    if whole is not None:
        return whole
    values = [value for value in split_limits(_KINDS.sub("", text), _SEPARATOR) if value]
    limits = [find_limit(value, is_mesh=is_mesh) for value in values]
    known = [limit for limit in limits if limit is not None]
    if not known or len(known) < len(values):
        return ParsedLine(omit_limit(text))
    nodes = tuple(limit.node for limit in known)
    notes = dict.fromkeys(note for limit in known for note in limit.notes)
    return ParsedLine(nodes[0] if len(nodes) == 1 else AnyOf(nodes), tuple(notes))

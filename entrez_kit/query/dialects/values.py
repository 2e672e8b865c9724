"""Fields with whole values: headings, publication types, languages, people, dates and numbers of lines."""

import calendar
import re
from typing import Final

from entrez_kit.query.dialects.notes import LineError, Note
from entrez_kit.query.dialects.qualifiers import DELETED, PUBLICATION_TYPES, QUALIFIERS
from entrez_kit.query.dialects.tree import (
    AllOf,
    AnyOf,
    DayRange,
    Exclude,
    LineReference,
    Loss,
    Node,
    ParsedLine,
    PubMedQuery,
    Scope,
    SubjectHeading,
    Unknown,
    Value,
)
from entrez_kit.query.fields import LANGUAGES

_PERIOD: Final = re.compile(r"([0-9]{4})(?:[/-]?([0-9]{2}))?(?:[/-]?([0-9]{2}))?\*?|([0-9]{4,6})\$")
_BRACKETS: Final = re.compile(r" ?\[[^\[\]]*\] ?| ?\(publication type\) ?", re.IGNORECASE)
LIMITERS: Final = re.compile(r" (?:limiters|expanders|search modes?|interface|narrow by)\b.*", re.IGNORECASE)
"""The remarks that EBSCO prints after a search."""
_LIMITED_DATES: Final = re.compile(
    r"published date:? ?(?P<low>[0-9]{8}|[0-9]{4})? ?- ?(?P<high>[0-9]{8}|[0-9]{4})?", re.IGNORECASE
)
OPEN_END: Final = 3000_12_31
CLOCKS: Final = {
    "entry": (
        Loss("narrower", "the entry dates of the service and of PubMed are different clocks (crdt and edat are near)"),
        Loss("wider", "PubMed's date of entry may be earlier than that of the service"),
    ),
    "change": (
        Loss("narrower", "PubMed knows only the last change of a record"),
        Loss("wider", "PubMed's date of the last change may differ"),
    ),
    "year": (Loss("wider", "PubMed matches the print date and the electronic date"),),
}


def make_heading(
    name: str, *, explodes: bool = False, major: bool = False, qualifiers: str = "", vocabulary: str = "mesh"
) -> Node:
    """Return a heading, or the publication type that is typed as one."""
    plain = " ".join(_BRACKETS.sub("", name.strip().strip("\"'“”")).replace("*", "").split()).rstrip(".")
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
    if vocabulary == "mesh" and plain.lower() in PUBLICATION_TYPES and not names:
        return Value("PTYP" if explodes else "PTYP=", plain)
    return SubjectHeading(plain, explodes, major, tuple(names), vocabulary)


def convert_value(text: str, scope: Scope) -> Node:
    """Return the meaning of a text in a field with whole values."""
    code = scope.values[0]
    plain = " ".join(text.strip().strip("\"'").replace("$", "*").split())
    if code.startswith("unknown "):
        return Unknown(f"{text} in {scope.name}", f"PubMed has no equivalent of the field {code[8:]!r}")
    if code in ("entry", "change", "year"):
        return parse_period(plain, code) or Unknown(text, "the date cannot be read")
    if code == "MESH":
        return Value("MESH", plain, text.strip()) if "*" in plain else make_heading(plain)
    if code in ("SUBH", "SUBH+"):
        return Value(code, QUALIFIERS.get(plain.lower(), plain))
    if code == "PTYP":
        return Value("PTYP=", plain)
    return Value(code, plain)


def parse_period(text: str, clock: str) -> Node | None:
    """Return the days of a period such as 2017*, 201705* or 20170501, or of a range of two with a hyphen."""
    low, _, high = text.replace(" ", "").partition("-") if re.search(r"[0-9]{4} ?-", text) else (text, "", "")
    first = _read_period(low)
    if first is None:
        return None
    if high.lower() in ("current", "present", "date"):
        return make_days(clock, first[0], OPEN_END)
    if not high and "-" in text:  # "1990 -" has no end
        return make_days(clock, first[0], OPEN_END)
    last = _read_period(high) if high else first
    return None if last is None else make_days(clock, first[0], last[1])


def _read_period(text: str) -> tuple[int, int] | None:
    match = _PERIOD.fullmatch(text)
    if match is None:
        return None
    digits = match[4] or "".join(part or "" for part in match.groups()[:3])
    year = int(digits[:4])
    if len(digits) == 4:
        return year * 10000 + 101, year * 10000 + 1231
    month = int(digits[4:6])
    if not 1 <= month <= 12 or not year:
        return None
    if len(digits) == 6:
        return year * 10000 + month * 100 + 1, year * 10000 + month * 100 + calendar.monthrange(year, month)[1]
    return int(digits), int(digits)


def make_days(clock: str, low: int, high: int) -> DayRange:
    """Return a range of days with the losses of its clock."""
    return DayRange(clock, low, high, CLOCKS[clock])


# limits

_AGES: Final = {
    "all adult (19 plus years)": "adult[mh]",
    "all child (0 to 18 years)": "infant[mh] OR child[mh] OR adolescent[mh]",
    "all infant (birth to 23 months)": "infant[mh]",
    "newborn infant (birth to 1 month)": "infant, newborn[mh]",
    "infant (1 to 23 months)": "infant[mh:noexp]",
    "preschool child (2 to 5 years)": "child, preschool[mh]",
    "child (6 to 12 years)": "child[mh:noexp]",
    "adolescent (13 to 18 years)": "adolescent[mh]",
    "adult (19 to 44 years)": "adult[mh:noexp]",
    "young adult (19 to 24 years)": "young adult[mh]",
    "middle age (45 to 64 years)": "middle aged[mh]",
    "middle aged (45 plus years)": "middle aged[mh] OR aged[mh]",
    "all aged (65 and over)": "aged[mh]",
    "aged (80 and over)": "aged, 80 and over[mh]",
}
_SUBSETS: Final = {
    "humans": "humans[mh]",
    "human": "humans[mh]",
    "animals": "animals[mh]",
    "female": "female[mh]",
    "male": "male[mh]",
    "abstracts": "hasabstract",
}
_CLINICAL: Final = {
    "therapy (maximizes sensitivity)": "(clinical[tiab] AND trial[tiab]) OR clinical trials as topic[mh] OR "
    "clinical trial[pt] OR random*[tiab] OR random allocation[mh] OR therapeutic use[sh]",
    "therapy (maximizes specificity)": "randomized controlled trial[pt] OR "
    "(randomized[tiab] AND controlled[tiab] AND trial[tiab])",
    "reviews (maximizes specificity)": 'medline[tiab] OR "systematic review"[tiab] OR meta-analysis[pt] OR '
    "intervention*[ti]",
    "reviews (best balance of sensitivity and specificity)": "meta-analysis[tw] OR meta-analysis[pt] OR review[pt] OR "
    "search*[tiab]",
}
"""The therapy filters of PubMed's Clinical Queries (2004), and the review filters of McMaster (2005)."""
_NOT_INDEXED: Final = Note("the limit drops every record that is not yet indexed with MeSH", "limit-drops-unindexed")


def parse_limit(number: int, text: str) -> ParsedLine:
    """Return the meaning of ``limit NUMBER to TEXT``."""
    parts: list[Node] = [LineReference(number)]
    notes: list[Note] = []
    for part in _split_at(_remove_parentheses(text), "and"):
        limit = _parse_limit(part.strip())
        parts.append(limit.node)
        notes += limit.notes
    return ParsedLine(AllOf(tuple(parts)), tuple(notes))


_PIECES: Final = re.compile(r'"[^"]*"|[()]| (?:and|or) |[^"() ]+| |"', re.IGNORECASE)


def _split_at(text: str, operator: str) -> list[str]:
    """Split a text at an operator that is not in quotation marks or parentheses."""
    parts, depth = [""], 0
    for piece in _PIECES.findall(text):
        depth += (piece == "(") - (piece == ")")
        if not depth and piece.strip().lower() == operator:
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


def _parse_limit(text: str) -> ParsedLine:
    inner = _remove_parentheses(text)
    wanted = _split_at(inner, "and")
    if len(wanted) > 1:
        limits = [_parse_limit(part.strip()) for part in wanted]
        return ParsedLine(
            AllOf(tuple(limit.node for limit in limits)), tuple(n for limit in limits for n in limit.notes)
        )
    choices = _split_at(inner, "or")
    if len(choices) > 1:
        limits = [_parse_limit(choice.strip()) for choice in choices]
        notes = [note for limit in limits for note in limit.notes]
        return ParsedLine(AnyOf(tuple(limit.node for limit in limits)), tuple(notes[:1]))
    if match := re.fullmatch(r"(yr|ed|dt|da|ep|up|rd) ?=(.*)", inner, re.IGNORECASE):
        code = match[1].lower()
        clock = "year" if code == "yr" else "change" if code in ("up", "rd") else "entry"
        node = parse_period(match[2].strip(' "'), clock)
        return ParsedLine(node or Unknown(text, "the dates of the limit cannot be read"))
    name = inner.strip("\"' ").lower()
    if name.startswith("humans only"):
        name = "humans"
    if match := re.fullmatch(r"(?:\()?([a-z]+)(?: language)?", name):
        if name in _SUBSETS:
            return ParsedLine(PubMedQuery(_SUBSETS[name]), () if name == "abstracts" else (_NOT_INDEXED,))
        if name.endswith(" language") or name in LANGUAGES.values():
            note = Note("A restriction to a language needs a reason in the protocol.")
            return ParsedLine(Value("LANG", match[1]), (note,))
    if name in _AGES:
        return ParsedLine(PubMedQuery(_AGES[name]), (_NOT_INDEXED,))
    singular = name.removesuffix(", all").removesuffix(" articles").removesuffix(" article")
    if kind := next((kind for kind in (name, singular, singular.removesuffix("s")) if kind in PUBLICATION_TYPES), None):
        return ParsedLine(Value("PTYP" if name.endswith(", all") else "PTYP=", kind))
    if name in _CLINICAL:
        differs = (
            Loss(
                "wider",
                "the filter has the text that its authors published for therapy in 2004 and for reviews in 2005",
            ),
            Loss("narrower", "the filter of the service may have another text"),
        )
        return ParsedLine(PubMedQuery(_CLINICAL[name], differs))
    return ParsedLine(Unknown(text, "PubMed has no such limit; write the filter as a separate line"))


def parse_limiters(text: str) -> tuple[list[Node], list[Note]]:
    """Return the meaning of the limiters that EBSCO prints after a search, and the notes about them."""
    nodes: list[Node] = []
    notes: list[Note] = []
    limiters, _, expanders = text.partition("Expanders")
    if match := _LIMITED_DATES.search(limiters):
        low, high = _read_period(match["low"] or "0001"), _read_period(match["high"] or "3000")
        if low is not None and high is not None:
            nodes.append(make_days("year", low[0], high[1]))
    nodes += [Value("LANG", name) for name in LANGUAGES.values() if re.search(rf"\b{name}\b", limiters, re.IGNORECASE)]
    if "limiter" in limiters.lower() and not nodes:
        nodes.append(Unknown(" ".join(limiters.split()), "PubMed has no equivalent of this limiter"))
    if expanders:
        notes.append(Note("Expanders add words that the strategy does not show; they cannot be repeated."))
    return nodes, notes


# numbers of lines

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

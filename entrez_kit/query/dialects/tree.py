"""The meaning of a line of a search strategy, independent of the service that it was written for.

A word is a pattern: ``*`` is any number of characters, ``#`` is one character, ``?`` is one or none, and ``<3>`` is up
to three.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from entrez_kit.query.dialects.notes import Note
from entrez_kit.query.words import fold

Direction = Literal["wider", "narrower", "substitute"]
MARKS: Final = re.compile(r"\*|#|\?|<[0-9]+>")
_PATTERN: Final = re.compile(r"(?:[^\W_]|\*|#|\?|<[0-9]+>)+")
_WRITTEN: Final = re.compile(r"(?:[^\W_]|[*$#?]|(?<=\w):(?=\s|$))+")
_REGULAR: Final = {"*": r"\w*", "#": r"\w", "?": r"\w?"}


@dataclass(frozen=True, slots=True)
class Loss:
    """A difference between a line and its translation.

    ``wider`` finds more records, ``narrower`` can miss records, and ``substitute`` searches something else.
    """

    direction: Direction
    text: str
    is_limit: bool = False
    """Whether a limit was left out."""

    def negate(self) -> "Loss":
        """Return the loss of a part that NOT excludes."""
        other: dict[Direction, Direction] = {"wider": "narrower", "narrower": "wider", "substitute": "substitute"}
        return replace(self, direction=other[self.direction])


@dataclass(frozen=True, slots=True)
class Scope:
    """The fields of a line: word lists of an index, and codes of fields with whole values."""

    name: str
    sources: frozenset[str] = frozenset()
    values: tuple[str, ...] = ()
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class WordPatterns:
    """Patterns that follow each other in one value of a word list.

    ``varies`` says that the service also finds plurals and spelling variants of the words. ``written`` has the patterns
    with the wildcards of the service, for messages.
    """

    patterns: tuple[str, ...]
    text: str
    scope: Scope | None = None
    varies: bool = False
    written: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Near:
    """Two parts with at most ``distance`` words between them.

    ``ordered`` demands that the left part is first; ``skips`` does not count stopwords.
    """

    left: "Node"
    right: "Node"
    distance: int
    ordered: bool = False
    skips: bool = False


@dataclass(frozen=True, slots=True)
class SubjectHeading:
    """A subject heading; ``vocabulary`` is the thesaurus: mesh, emtree, cinahl, psycinfo, amed, cab or other."""

    name: str
    explodes: bool = False
    major: bool = False
    qualifiers: tuple[str, ...] = ()
    vocabulary: str = "mesh"


@dataclass(frozen=True, slots=True)
class Value:
    """A whole value of a field of PubMed, such as a language or an author; ``written`` is its text in the line."""

    code: str
    text: str
    written: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class DayRange:
    """A range of days (yyyymmdd). ``clock`` is the date that the service compares: year, entry or change."""

    clock: str
    low: int
    high: int
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class PubMedQuery:
    """A part in PubMed's own language; ``references`` are the numbers of lines in it, written as ``#1``."""

    query: str
    losses: tuple[Loss, ...] = ()
    references: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LineReference:
    """The records of another line."""

    number: int


@dataclass(frozen=True, slots=True)
class AllOf:
    """The records that all parts find: AND."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The records that at least one part finds: OR."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Exclude:
    """The records of the left part without those of the right part: NOT."""

    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True)
class Unknown:
    """A part without an equivalent in PubMed.

    A limit is left out, and so is a field if it is an alternative. Another part makes the line unsearchable.
    """

    text: str
    reason: str
    kind: Literal["part", "field", "limit"] = "part"


Node: TypeAlias = (
    WordPatterns
    | Near
    | SubjectHeading
    | Value
    | DayRange
    | PubMedQuery
    | LineReference
    | AllOf
    | AnyOf
    | Exclude
    | Unknown
)


@dataclass(frozen=True, slots=True)
class ParsedLine:
    """A parsed line: its meaning, and what its author should know about it."""

    node: Node
    notes: tuple[Note, ...] = ()


def list_children(node: Node) -> tuple[Node, ...]:
    """Return the parts of a node."""
    if isinstance(node, AllOf | AnyOf):
        return node.parts
    return (node.left, node.right) if isinstance(node, Near | Exclude) else ()


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all of its parts, from left to right."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += reversed(list_children(part))


def list_references(node: Node) -> list[int]:
    """Return the numbers of the lines that a node refers to."""
    numbers: list[int] = []
    for part in walk(node):
        if isinstance(part, LineReference):
            numbers.append(part.number)
        elif isinstance(part, PubMedQuery):
            numbers += part.references
    return list(dict.fromkeys(numbers))


def change_leaves(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return a copy of a node with its leaves changed."""
    if isinstance(node, AllOf | AnyOf):
        return replace(node, parts=tuple(change_leaves(part, change) for part in node.parts))
    if isinstance(node, Near | Exclude):
        return replace(node, left=change_leaves(node.left, change), right=change_leaves(node.right, change))
    return change(node)


def split_patterns(text: str) -> tuple[str, ...]:
    """Return the folded patterns of a text; a piece of marks alone is omitted."""
    return tuple(piece for piece in _PATTERN.findall(fold(text)) if MARKS.sub("", piece))


def make_words(text: str, marked: str) -> WordPatterns | None:
    """Return the words of a text; None if it has no word.

    Args:
        text: the text as written.
        marked: the text with ``*``, ``#``, ``?`` and ``<3>`` for the wildcards of the service.
    """
    patterns = split_patterns(marked)
    if not patterns:
        return None
    written = tuple(piece for piece in _WRITTEN.findall(text) if any(map(str.isalnum, piece)))
    return WordPatterns(
        patterns, " ".join(text.split()), written=written if len(written) == len(patterns) else patterns
    )


def join_words(words: Sequence[WordPatterns]) -> WordPatterns:
    """Return adjacent words as one phrase, in the first field that one of them has."""
    return WordPatterns(
        tuple(pattern for part in words for pattern in part.patterns),
        " ".join(part.text for part in words),
        next((part.scope for part in words if part.scope is not None), None),
        varies=any(part.varies for part in words),
        written=tuple(written for part in words for written in part.written),
    )


def has_marks(pattern: str) -> bool:
    """Return whether a pattern has a wildcard."""
    return MARKS.search(pattern) is not None


def get_stem(pattern: str) -> str:
    """Return the characters of a pattern before its first wildcard."""
    return MARKS.split(pattern, maxsplit=1)[0]


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern."""
    pieces: list[str] = []
    end = 0
    for mark in MARKS.finditer(pattern):
        pieces.append(re.escape(pattern[end : mark.start()]))
        pieces.append(_REGULAR.get(mark[0]) or rf"\w{{0,{mark[0][1:-1]}}}")
        end = mark.end()
    return re.compile("".join((*pieces, re.escape(pattern[end:]))))

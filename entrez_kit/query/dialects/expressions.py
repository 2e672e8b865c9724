"""The parser of expressions: tokens of any service, its order of operators, and what adjacent words mean."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from entrez_kit.query.dialects.scopes import unite
from entrez_kit.query.dialects.tree import (
    All,
    Any,
    CannotExpressError,
    Exclude,
    Heading,
    Near,
    Node,
    Scope,
    Unknown,
    Value,
    Words,
    rebuild,
    walk,
)
from entrez_kit.query.dialects.tree import Days as DayRange

TokenKind = Literal["open", "close", "operator", "near", "text", "scope", "prefix", "node"]
DEEPEST: Final = 80
"""Maximum depth of parentheses."""


@dataclass(frozen=True, slots=True)
class Token:
    """A part of a line. ``text`` is the operator or the words; ``node`` is a finished part."""

    kind: TokenKind
    text: str = ""
    scope: Scope | None = None
    node: Node | None = None
    distance: int = 0
    ordered: bool = False
    skips: bool = False


class LineError(Exception):
    """A line cannot be read; the message says why. ``warnings`` are about its characters."""

    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grammar:
    """How a service reads operators and words.

    Args:
        levels: the operators from the last to the first to bind; NEAR are the proximity operators.
        join: returns the meaning of adjacent units without an operator between them.
        default: the fields of words without a field.
    """

    levels: tuple[tuple[str, ...], ...]
    join: Callable[[Sequence[Node]], Node]
    default: Scope


@dataclass(slots=True)
class Parser:
    """Parses the tokens of one line."""

    grammar: Grammar
    tokens: Sequence[Token]
    convert: Callable[[str, Scope], Node]
    place: int = 0
    depth: int = 0
    warnings: list[str] = field(default_factory=list)
    seen: list[set[str]] = field(default_factory=lambda: [set()])

    def parse(self) -> Node:
        """Return the meaning of the line.

        Raises:
            LineError: the line is not an expression.
        """
        if not self.tokens:
            raise LineError("the line has no search term")
        node = self._parse_level(0)
        if self.place < len(self.tokens):
            token = self.tokens[self.place]
            what = (
                "a closing parenthesis has no opening one" if token.kind == "close" else f"{token.text!r} does not fit"
            )
            raise LineError(what)
        return self._set_scope(node, self.grammar.default)

    def _peek(self) -> Token | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def _parse_level(self, level: int) -> Node:
        if level == len(self.grammar.levels):
            return self._parse_run()
        left = self._parse_level(level + 1)
        names = self.grammar.levels[level]
        while (token := self._peek()) is not None:
            name = "NEAR" if token.kind == "near" else token.text if token.kind == "operator" else ""
            if name not in names:
                break
            self.place += 1
            self._note_operator(name)
            right = self._parse_level(level + 1)
            if name == "NEAR":  # a field after the last word is that of all words of the proximity search
                scopes = [one.scope for one in walk(right) if isinstance(one, Words) and one.scope is not None]
                left = self._set_scope(left, scopes[0]) if scopes and not scopes[0].values else left
            left = _combine(name, left, right, token)
        return left

    def _note_operator(self, name: str) -> None:
        seen = self.seen[-1]
        seen.add(name)
        if len(seen & {"AND", "OR", "NOT"}) > 1 and "OR" in seen:
            text = "implicit-precedence: AND or NOT and OR are mixed without parentheses."
            if text not in self.warnings:
                self.warnings.append(text)

    def _parse_run(self) -> Node:
        units = [self._parse_unit()]
        while (token := self._peek()) is not None and token.kind in ("text", "open", "node", "prefix"):
            units.append(self._parse_unit())
        return units[0] if len(units) == 1 else self.grammar.join(units)

    def _parse_unit(self) -> Node:
        token = self._peek()
        if token is None:
            raise LineError("the line ends after an operator")
        self.place += 1
        if token.kind == "prefix":
            assert token.scope is not None
            following = self._peek()
            is_open = following is not None and following.kind == "open"
            level = next(place for place, names in enumerate(self.grammar.levels) if "NEAR" in names)
            return self._set_scope(self._parse_unit() if is_open else self._parse_level(level), token.scope)
        if token.kind == "open":
            node = self._parse_group()
        elif token.kind == "text":
            self.place -= 1
            node = self._parse_words()
        elif token.kind == "node":
            assert token.node is not None
            node = token.node
        elif token.kind == "operator" and token.text == "NOT":
            raise LineError("NOT has no term before it")
        else:
            raise LineError(
                "a closing parenthesis has no opening one" if token.kind == "close" else f"{token.text!r} lacks a term"
            )
        while (token := self._peek()) is not None and token.kind == "scope":
            self.place += 1
            assert token.scope is not None
            node = self._set_scope(node, token.scope)
        return node

    def _parse_group(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise LineError("the parentheses are nested too deeply")
        self.seen.append(set())
        node = self._parse_level(0)
        self.seen.pop()
        self.depth -= 1
        token = self._peek()
        if token is None or token.kind != "close":
            raise LineError("an opening parenthesis is not closed" if token is None else f"{token.text!r} does not fit")
        self.place += 1
        return node

    def _parse_words(self) -> Node:
        """Return the adjacent words at this place."""
        parts: list[Node] = []
        while (token := self._peek()) is not None and token.kind == "text":
            assert token.node is not None
            parts.append(token.node)
            self.place += 1
        return parts[0] if len(parts) == 1 else self.grammar.join(parts)

    def _set_scope(self, node: Node, scope: Scope) -> Node:
        def change(leaf: Node) -> Node:
            if not isinstance(leaf, Words) or leaf.scope is not None:
                return leaf
            if not scope.values:
                return replace(leaf, scope=scope)
            parts: list[Node] = [replace(leaf, scope=replace(scope, values=()))] if scope.sources else []
            parts += [
                self.convert(leaf.text, replace(scope, sources=frozenset(), values=(one,))) for one in scope.values
            ]
            return parts[0] if len(parts) == 1 else Any(tuple(parts))

        return rebuild(node, change)


def _combine(name: str, left: Node, right: Node, token: Token) -> Node:
    if name == "AND":
        return All((*_parts(left, All), *_parts(right, All)))
    if name == "OR":
        return Any((*_parts(left, Any), *_parts(right, Any)))
    if name == "NOT":
        return Exclude(left, right)
    return Near(left, right, token.distance, token.ordered, token.skips)


def _parts(node: Node, kind: type[All] | type[Any]) -> tuple[Node, ...]:
    return node.parts if isinstance(node, kind) else (node,)


def join_as_phrase(units: Sequence[Node]) -> Node:
    """Return adjacent units as an ordered phrase, as Ovid reads them."""
    node = units[0]
    for unit in units[1:]:
        if isinstance(node, Words) and isinstance(unit, Words):
            node = Words((*node.patterns, *unit.patterns), f"{node.text} {unit.text}", node.scope or unit.scope)
        elif all(isinstance(one, Words | Any | Near) for one in (node, unit)):
            node = Near(node, unit, 0, ordered=True)
        else:
            raise LineError("an operator is missing between two terms")
    return node


def join_with_and(units: Sequence[Node]) -> Node:
    """Return adjacent units that all have to match."""
    return All(tuple(part for unit in units for part in _parts(unit, All)))


def join_within(distance: int) -> Callable[[Sequence[Node]], Node]:
    """Return the function for a service that reads adjacent words as near each other."""

    def join(units: Sequence[Node]) -> Node:
        node = units[0]
        for unit in units[1:]:
            if all(isinstance(one, Words | Near) for one in (node, unit)):
                node = Near(node, unit, distance)
            else:
                node = All((*_parts(node, All), unit))
        return node

    return join


def check_proximity(node: Node) -> None:
    """Refuse a proximity operator around AND, NOT, headings or different fields.

    Raises:
        CannotExpressError: no search has this meaning.
    """
    for one in walk(node):
        if not isinstance(one, Near):
            continue
        inner = list(walk(one))
        if any(isinstance(part, All | Exclude) for part in inner):
            raise CannotExpressError("AND or NOT inside a proximity operator has no meaning")
        if any(isinstance(part, Heading | Value | DayRange | Unknown) for part in inner):
            raise CannotExpressError("a proximity operator takes words of text fields only")
        if len({part.scope for part in inner if isinstance(part, Words)}) > 1:
            raise CannotExpressError("the words of a proximity operator are in different fields")


def unite_scopes(codes: Sequence[str], known: dict[str, Scope]) -> Scope:
    """Return the scope of a list of field codes.

    Raises:
        LineError: a code is unknown.
    """
    unknown = [code for code in codes if code not in known]
    if unknown:
        raise LineError(f"the field {unknown[0]!r} is unknown")
    return unite([known[code] for code in codes])

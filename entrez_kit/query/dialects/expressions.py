"""The parser of expressions: tokens of any service, its order of operators, and what adjacent words mean."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final, Literal

from entrez_kit.query.dialects.notes import CannotExpressError, LineError, Note
from entrez_kit.query.dialects.service_fields import unite
from entrez_kit.query.dialects.tree import (
    AllOf,
    AnyOf,
    Exclude,
    Loss,
    Near,
    Node,
    Scope,
    WordPatterns,
    change_leaves,
    join_words,
    walk,
)

TokenKind = Literal["open", "close", "operator", "near", "text", "scope", "prefix", "node"]
MAX_DEPTH: Final = 80
"""Maximum depth of parentheses."""


@dataclass(frozen=True, slots=True)
class LineToken:
    """A part of a line. ``text`` is the operator or the words; ``node`` is a finished part."""

    kind: TokenKind
    text: str = ""
    scope: Scope | None = None
    node: Node | None = None
    distance: int = 0
    ordered: bool = False
    skips: bool = False


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
    tokens: Sequence[LineToken]
    convert: Callable[[str, Scope], Node]
    position: int = 0
    depth: int = 0
    notes: list[Note] = field(default_factory=list)
    seen: list[set[str]] = field(default_factory=lambda: [set()])
    has_whole_values: bool = False
    """Whether the words belong to a field with whole values, so that adjacent words are one value."""

    def parse(self) -> Node:
        """Return the meaning of the line.

        Raises:
            LineError: the line is not an expression.
        """
        if not self.tokens:
            raise LineError("the line has no search term")
        node = self._parse_level(0)
        if self.position < len(self.tokens):
            token = self.tokens[self.position]
            what = (
                "a closing parenthesis has no opening one" if token.kind == "close" else f"{token.text!r} does not fit"
            )
            raise LineError(what)
        return self._set_scope(node, self.grammar.default)

    def _peek(self) -> LineToken | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def _parse_level(self, level: int) -> Node:
        if level == len(self.grammar.levels):
            return self._parse_run()
        chain = _Chain(self._parse_level(level + 1))
        names = self.grammar.levels[level]
        while (token := self._peek()) is not None:
            name = "NEAR" if token.kind == "near" else token.text if token.kind == "operator" else ""
            if name not in names:
                break
            self.position += 1
            self._note_operator(name)
            right = self._parse_level(level + 1)
            if name == "NEAR":  # a field after the last word is that of all words of the proximity search
                scopes = [
                    part.scope for part in walk(right) if isinstance(part, WordPatterns) and part.scope is not None
                ]
                if scopes and not scopes[0].values:
                    chain.left = self._set_scope(chain.finish(), scopes[0])
            chain.add(name, right, token)
        return chain.finish()

    def _note_operator(self, name: str) -> None:
        seen = self.seen[-1]
        seen.add(name)
        if len(seen & {"AND", "OR", "NOT"}) > 1 and "OR" in seen:
            note = Note("AND or NOT and OR are mixed without parentheses.", "implicit-precedence")
            if note not in self.notes:
                self.notes.append(note)

    def _parse_run(self) -> Node:
        units = [self._parse_unit()]
        while (token := self._peek()) is not None and token.kind in ("text", "open", "node", "prefix"):
            units.append(self._parse_unit())
        return units[0] if len(units) == 1 else self.grammar.join(units)

    def _parse_unit(self) -> Node:
        token = self._peek()
        if token is None:
            raise LineError("the line ends after an operator")
        self.position += 1
        if token.kind == "prefix":
            assert token.scope is not None
            following = self._peek()
            is_open = following is not None and following.kind == "open"
            level = next(position for position, names in enumerate(self.grammar.levels) if "NEAR" in names)
            self._descend()
            outer, self.has_whole_values = self.has_whole_values, bool(token.scope.values and not token.scope.sources)
            node = self._parse_unit() if is_open else self._parse_level(level)
            self.has_whole_values = outer
            self.depth -= 1
            return self._set_scope(node, token.scope)
        if token.kind == "open":
            node = self._parse_group()
        elif token.kind == "text":
            self.position -= 1
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
            self.position += 1
            assert token.scope is not None
            node = self._set_scope(node, token.scope)
        return node

    def _parse_group(self) -> Node:
        self._descend()
        self.seen.append(set())
        node = self._parse_level(0)
        self.seen.pop()
        self.depth -= 1
        token = self._peek()
        if token is None or token.kind != "close":
            raise LineError("an opening parenthesis is not closed" if token is None else f"{token.text!r} does not fit")
        self.position += 1
        return node

    def _descend(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise LineError("the parentheses are nested too deeply")

    def _parse_words(self) -> Node:
        """Return the adjacent words at this position."""
        parts: list[Node] = []
        while (token := self._peek()) is not None and token.kind == "text":
            assert token.node is not None
            parts.append(token.node)
            self.position += 1
        if self.has_whole_values:
            return join_words([part for part in parts if isinstance(part, WordPatterns)])
        return parts[0] if len(parts) == 1 else self.grammar.join(parts)

    def _set_scope(self, node: Node, scope: Scope) -> Node:
        known = _drop_unknown_fields(scope) if scope.sources else scope

        def change(leaf: Node) -> Node:
            if not isinstance(leaf, WordPatterns) or leaf.scope is not None:
                return leaf
            if not known.values:
                return replace(leaf, scope=known)
            parts: list[Node] = [replace(leaf, scope=replace(known, values=()))] if known.sources else []
            parts += [
                self.convert(leaf.text, replace(known, sources=frozenset(), values=(value,))) for value in known.values
            ]
            return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

        return change_leaves(node, change)


def _drop_unknown_fields(scope: Scope) -> Scope:
    """Return the fields of a list that PubMed has, with a loss for each other one."""
    unknown = [value for value in scope.values if value.startswith(("unknown ", "thesaurus "))]
    names = [re.split("[ :]", value)[-1] for value in unknown]
    losses = tuple(Loss("narrower", f"PubMed has no equivalent of the field {name!r}") for name in names)
    values = tuple(value for value in scope.values if value not in unknown)
    return replace(scope, values=values, losses=(*scope.losses, *losses)) if unknown else scope


@dataclass(slots=True)
class _Chain:
    """Operands that operators of one level join from left to right. Those of AND and of OR are one list."""

    left: Node
    others: list[Node] = field(default_factory=list)
    operator: str = ""
    depth: int = 0

    def add(self, name: str, right: Node, token: LineToken) -> None:
        """Join an operand.

        Raises:
            LineError: the line joins too many operands with NOT or a proximity operator.
        """
        if name in ("AND", "OR"):
            if name != self.operator:
                self.left, self.operator = self.finish(), name
            self.others += _list_parts(right, AllOf if name == "AND" else AnyOf)
            return
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise LineError(f"more than {MAX_DEPTH} parts are joined with NOT or with proximity operators")
        left = self.finish()
        self.left = (
            Exclude(left, right) if name == "NOT" else Near(left, right, token.distance, token.ordered, token.skips)
        )

    def finish(self) -> Node:
        """Return the operands that have been joined."""
        if self.others:
            kind = AllOf if self.operator == "AND" else AnyOf
            self.left = kind((*_list_parts(self.left, kind), *self.others))
            self.others, self.operator = [], ""
        return self.left


def _list_parts(node: Node, kind: type[AllOf] | type[AnyOf]) -> tuple[Node, ...]:
    return node.parts if isinstance(node, kind) else (node,)


def join_as_phrase(units: Sequence[Node]) -> Node:
    """Return adjacent units as an ordered phrase, as Ovid reads them."""
    if not all(isinstance(part, WordPatterns | AnyOf | Near) for unit in units for part in walk(unit)):
        raise LineError("an operator is missing between two terms")
    phrases: list[Node] = []
    for is_words, group in groupby(units, lambda unit: isinstance(unit, WordPatterns)):
        members = list(group)
        phrases += [join_words([unit for unit in members if isinstance(unit, WordPatterns)])] if is_words else members
    return _nest_near(phrases, 0, ordered=True)


def _nest_near(units: Sequence[Node], distance: int, *, ordered: bool) -> Node:
    """Return units that are near each other from left to right.

    Raises:
        LineError: there are too many of them.
    """
    if len(units) > MAX_DEPTH:
        raise LineError(f"more than {MAX_DEPTH} parts are near each other")
    node, *others = units
    for unit in others:
        node = Near(node, unit, distance, ordered)
    return node


def join_with_and(units: Sequence[Node]) -> Node:
    """Return adjacent units that all have to match."""
    return AllOf(tuple(part for unit in units for part in _list_parts(unit, AllOf)))


def join_within(distance: int) -> Callable[[Sequence[Node]], Node]:
    """Return the function for a service that reads adjacent words as near each other."""

    def join(units: Sequence[Node]) -> Node:
        parts: list[Node] = []
        for is_text, group in groupby(units, lambda unit: isinstance(unit, WordPatterns | Near)):
            members = list(group)
            parts += [_nest_near(members, distance, ordered=False)] if is_text else members
        return parts[0] if len(parts) == 1 else join_with_and(parts)

    return join


def check_proximity(node: Node) -> None:
    """Refuse a proximity operator around AND, NOT, headings, numbers of lines or different fields.

    Raises:
        CannotExpressError: no search has this meaning.
    """
    for near in walk(node):
        if not isinstance(near, Near):
            continue
        inner = list(walk(near))
        if any(isinstance(part, AllOf | Exclude) for part in inner):
            raise CannotExpressError("AND or NOT inside a proximity operator has no meaning", "syntax-error")
        if not all(isinstance(part, WordPatterns | AnyOf | Near) for part in inner):
            raise CannotExpressError("a proximity operator takes words of text fields only", "syntax-error")
        if len({part.scope for part in inner if isinstance(part, WordPatterns)}) > 1:
            raise CannotExpressError("the words of a proximity operator are in different fields", "syntax-error")


def unite_scopes(codes: Sequence[str], known: dict[str, Scope]) -> Scope:
    """Return the scope of a list of field codes.

    Raises:
        LineError: a code is unknown.
    """
    unknown = [code for code in codes if code not in known]
    if unknown:
        raise LineError(f"the field {unknown[0]!r} is unknown", "unknown-field")
    return unite([known[code] for code in codes])

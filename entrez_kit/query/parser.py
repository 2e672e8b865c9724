"""The parser of PubMed queries: a syntax tree, read strictly from left to right, without precedence.

The language has no syntax errors: what does not fit is left out, and each omission is one of the repairs. That is why
the parser is written by hand: a grammar of a parser library would have to accept every text, and loading such a library
takes longer than all of this package.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from entrez_kit.query import unsettled
from entrez_kit.query.lexer import QueryToken, Repair, tokenize
from entrez_kit.query.words import split_words

T = TypeVar("T")

_IMPLIED: Final = "AND"


@dataclass(frozen=True, slots=True)
class Operand:
    """A quoted phrase or a run of words, with its tag.

    ``text`` is the original text with the tag, ``phrase`` the text without quotes and tag. The upper bound of a range
    such as ``2019[dp] : 2020[dp]`` is in ``upper``. A reference to an earlier search is ``#1`` in ``phrase``.
    """

    text: str
    phrase: str
    quoted: bool = False
    tag: str | None = None
    upper: "Operand | None" = None
    is_history: bool = False
    start: int = 0
    end: int = 0

    @property
    def words(self) -> list[str]:
        """The folded words."""
        return split_words(f"{self.phrase} {self.upper.phrase}" if self.upper else self.phrase)


@dataclass(frozen=True, slots=True)
class Part:
    """A member of a group, with the operator before it.

    ``start`` and ``end`` are positions in the query, with the parentheses around the member and the tag after them.
    """

    operator: str
    node: "Operand | Group"
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Group:
    """A query, or the part of one between parentheses; its parts are joined from left to right.

    ``tag`` is the tag after the parentheses, which applies to each term in them that has none.
    """

    parts: tuple[Part, ...]
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class Syntax:
    """A parsed query and the repairs made on the way, in the order of their positions."""

    text: str
    root: Group
    repairs: tuple[Repair, ...] = ()

    @property
    def dangling(self) -> list[str]:
        """The operators that lack an operand, which Entrez ignores; NOT needs no operand before it."""
        return [repair.message.split()[0] for repair in self.repairs if repair.code == "dangling_operator"]


class _OpenGroup:
    """A group that is being read."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.parts: list[Part] = []
        self.operator: QueryToken | None = None


def parse(query: str) -> Syntax:
    """Parse a query; every text is a query."""
    tokens, repairs = tokenize(query)
    return _Parser(query, tokens, repairs).parse()


class _Parser:
    def __init__(self, query: str, tokens: list[QueryToken], repairs: list[Repair]) -> None:
        self._query = query
        self._tokens = unsettled.read_lowercase_operators(tokens, repairs)
        self._repairs = repairs
        self._inherited = unsettled.find_tags_after_parentheses(self._tokens, repairs)

    def parse(self) -> Syntax:
        tokens = self._tokens
        frames = [_OpenGroup(0)]
        index = 0
        while index < len(tokens):
            token = tokens[index]
            frame = frames[-1]
            if token.kind == "open":
                frames.append(_OpenGroup(token.start))
            elif token.kind == "close":
                if len(frames) > 1:
                    self._close(frames, index)
                else:
                    self._report("unmatched_parenthesis", "Unmatched parenthesis ignored.", token.start)
            elif token.kind == "operator":
                self._set_operator(frame, token)
            elif token.kind in ("word", "quoted", "history"):
                index = self._read_operand(frame, index)
                continue
            elif token.kind == "tag" and (index == 0 or tokens[index - 1].kind != "close"):
                self._report("tag_without_term", f"The tag [{token.text}] has no term before it.", token.start)
            index += 1  # a colon without a range has no effect
        while len(frames) > 1:
            self._report("unmatched_parenthesis", "Unmatched parenthesis ignored.", frames[-1].start)
            self._close(frames, len(tokens))
        self._drop_operator(frames[0])
        repairs = tuple(sorted(self._repairs, key=lambda repair: repair.start))
        return Syntax(self._query, Group(tuple(frames[0].parts)), repairs)

    def _report(self, code: str, message: str, start: int) -> None:
        self._repairs.append(Repair(code, message, start))

    def _set_operator(self, frame: _OpenGroup, token: QueryToken) -> None:
        if frame.operator is not None and token.text != "NOT":
            self._drop_operator(frame)
        elif not frame.parts and token.text != "NOT":
            frame.operator = token
            self._drop_operator(frame)
            return
        frame.operator = token

    def _drop_operator(self, frame: _OpenGroup) -> None:
        if frame.operator is not None:
            name = frame.operator.text
            self._report("dangling_operator", f"{name} has no term on one side.", frame.operator.start)
            frame.operator = None

    def _add(self, frame: _OpenGroup, node: Operand | Group, start: int, end: int) -> None:
        operator = frame.operator
        frame.operator = None
        frame.parts.append(Part(operator.text if operator else _IMPLIED, node, start, end))

    def _close(self, frames: list[_OpenGroup], index: int) -> None:
        """Add the innermost group, which the token at this index closes, to the group around it."""
        inner = frames.pop()
        self._drop_operator(inner)
        if not inner.parts:
            self._drop_operator(frames[-1])
            return
        if index == len(self._tokens):  # the parenthesis is not closed
            start, end = inner.parts[0].start, inner.parts[-1].end
        else:
            start, end = inner.start, self._tokens[index].end
        tag = None
        if index + 1 < len(self._tokens) and self._tokens[index + 1].kind == "tag":
            tag, end = self._tokens[index + 1].text, self._tokens[index + 1].end
        node: Operand | Group = Group(tuple(inner.parts), tag)
        if len(inner.parts) == 1 and _is_unit(inner.parts[0]):  # the parentheses have no effect
            node = inner.parts[0].node
            if isinstance(node, Group):
                node = replace(node, tag=node.tag or tag)
        self._add(frames[-1], node, start, end)

    def _read_operand(self, frame: _OpenGroup, index: int) -> int:
        operand, index = self._read_term(index)
        tokens = self._tokens
        if index + 1 < len(tokens) and tokens[index].kind == "colon" and tokens[index + 1].kind in ("word", "quoted"):
            upper, index = self._read_term(index + 1)
            tag = upper.tag or operand.tag
            text = self._query[operand.start : upper.end]
            operand = replace(operand, upper=upper, tag=tag, text=text, end=upper.end)
        if operand.phrase:
            self._add(frame, operand, operand.start, operand.end)
        return index

    def _read_term(self, index: int) -> tuple[Operand, int]:
        tokens = self._tokens
        first = tokens[index]
        end = index + 1
        if first.kind == "word":
            while end < len(tokens) and tokens[end].kind == "word":
                end += 1
        phrase = " ".join(token.text for token in tokens[index:end])
        last = tokens[end - 1]
        tag = self._inherited.get(index)
        if end < len(tokens) and tokens[end].kind == "tag":
            last = tokens[end]
            tag = last.text or tag
            end += 1
        text = " ".join(self._query[first.start : last.end].split()).replace(" [", "[")
        operand = Operand(
            text, phrase, first.kind == "quoted", tag, None, first.kind == "history", first.start, last.end
        )
        return operand, end


def _is_unit(part: Part) -> bool:
    """Return whether parentheses around a part have no effect."""
    node = part.node
    if part.operator == "NOT":
        return False
    return isinstance(node, Group) or node.quoted or node.tag is not None or " " not in node.phrase


def fold_tree(root: Group, leaf: Callable[[Operand], T], join: Callable[[Sequence[tuple[str, T]], bool], T]) -> T:
    """Compute a value from a syntax tree, from its operands up, without recursion.

    Args:
        root: the tree.
        leaf: returns the value of an operand.
        join: returns the value of a group from the operators and values of its parts; the second argument is whether
            the group has parentheses.
    """
    frames: list[tuple[Group, list[tuple[str, T]]]] = [(root, [])]
    while True:
        group, done = frames[-1]
        if len(done) < len(group.parts):
            part = group.parts[len(done)]
            if isinstance(part.node, Group):
                frames.append((part.node, []))
            else:
                done.append((part.operator, leaf(part.node)))
            continue
        frames.pop()
        value = join(done, bool(frames))
        if not frames:
            return value
        outer, so_far = frames[-1]
        so_far.append((outer.parts[len(so_far)].operator, value))

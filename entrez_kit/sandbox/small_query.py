"""Run a query on a database of a few records: fields, parentheses, and AND, OR, NOT from left to right as in Entrez."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from entrez_kit.sandbox.database import BadRequest, Database, FieldInfo, SearchCall, SearchOutcome
from entrez_kit.sandbox.lexer import QueryToken, tokenize
from entrez_kit.sandbox.text import STOP_WORDS, normalize, words

Values = Mapping[str, Sequence[str]]
"""The values of a record by the code of the field."""
Found = frozenset[str]


@dataclass(frozen=True, slots=True)
class SmallField:
    """A search field: "words" match phrases, "whole" matches normalized values, "number" matches unchanged values."""

    code: str
    label: str
    kind: Literal["words", "whole", "number"]
    tags: tuple[str, ...]
    description: str
    is_tree: bool = False

    def matches(self, values: Sequence[str], text: str) -> bool:
        """Return whether one of the values of a record matches the text; a trailing ``*`` truncates."""
        if self.kind == "number":
            return text.strip() in values
        stem = text.rstrip().endswith("*")
        if self.kind == "whole":
            wanted = normalize(text)
            return any(normalize(value) == wanted or (stem and normalize(value).startswith(wanted)) for value in values)
        return any(_has_phrase(words(value), words(text), stem) for value in values)


def _has_phrase(words_there: Sequence[str], wanted: Sequence[str], stem: bool) -> bool:
    if not wanted:
        return False
    for start in range(len(words_there) - len(wanted) + 1):
        here = words_there[start : start + len(wanted)]
        if list(here) == list(wanted):
            return True
        if stem and list(here[:-1]) == list(wanted[:-1]) and here[-1].startswith(wanted[-1]):
            return True
    return False


@dataclass(frozen=True, slots=True)
class QueryPart:
    """Part of a query: its records (None if the part is ignored) and its translation."""

    found: Found | None
    text: str


class SmallQuery:
    """One query on a few records. A database with special terms overrides ``match_name`` and ``find_records``.

    Args:
        records: the values of each record in each field, in the order of the results.
        fields: the search fields; the first one is for words without a tag.
    """

    def __init__(self, records: Mapping[str, Values], fields: Sequence[SmallField]) -> None:
        self.records = records
        self._fields = fields
        self._by_tag = {
            tag: field for field in fields for tag in (field.code.lower(), field.label.lower(), *field.tags)
        }
        self._phrases: list[str] = []
        self._quoted: list[str] = []
        self._unknown: list[str] = []
        self._translations: list[tuple[str, str]] = []
        self._history: Callable[[int], Sequence[str] | None] = lambda number: None
        self._default: str | None = None

    def run(self, request: SearchCall) -> SearchOutcome:
        """Evaluate a query.

        Raises:
            BadRequest: the query names a history set that does not exist.
        """
        self._history, self._default = request.history, request.field
        tokens, remarks = tokenize(request.term)
        part = self._evaluate(tokens)
        found = part.found if part is not None and part.found is not None else frozenset()
        return SearchOutcome(
            ids=[uid for uid in self.records if uid in found],
            translation=part.text if part is not None else "",
            translations=self._translations,
            phrases_not_found=self._phrases,
            fields_not_found=self._unknown,
            quoted_phrases_not_found=self._quoted,
            messages=remarks,
        )

    def field_infos(self) -> tuple[FieldInfo, ...]:
        """Return the fields as EInfo lists them."""
        return tuple(
            FieldInfo(
                field.code,
                field.label,
                field.description,
                len({value for values in self.records.values() for value in values.get(field.code, ())}),
                is_numerical=field.kind == "number",
                single_token=field.kind != "words",
                hierarchy=field.is_tree,
                is_hidden=field.code == "UID",
            )
            for field in self._fields
        )

    def _evaluate(self, tokens: Sequence[QueryToken]) -> QueryPart | None:
        outer: list[tuple[QueryPart | None, str | None]] = []
        current: QueryPart | None = None
        operator: str | None = None
        for token in tokens:
            if token.kind == "operator":
                operator = token.text
            elif token.kind == "open":
                outer.append((current, operator))
                current, operator = None, None
            elif token.kind == "close" and outer:
                inner = current
                current, operator = outer.pop()
                current = self._join(current, operator, QueryPart(inner.found, f"({inner.text})") if inner else None)
                operator = None
            elif token.kind == "operand":
                current = self._join(current, operator, self._evaluate_operand(token))
                operator = None
        while outer:
            inner = current
            current, operator = outer.pop()
            current = self._join(current, operator, inner)
        return current

    def _join(self, left: QueryPart | None, operator: str | None, right: QueryPart | None) -> QueryPart | None:
        if right is None or right.found is None:
            return left
        if left is None or left.found is None:
            return QueryPart(frozenset(self.records) - right.found, f"NOT {right.text}") if operator == "NOT" else right
        name = operator or "AND"
        found = {"AND": left.found & right.found, "OR": left.found | right.found, "NOT": left.found - right.found}[name]
        return QueryPart(found, f"{left.text} {name} {right.text}")

    def _evaluate_operand(self, token: QueryToken) -> QueryPart:
        tag = token.tag or self._default
        if tag is None:
            return self._evaluate_untagged(token)
        name = " ".join(tag.lower().split())
        explodes = not name.endswith(":noexp")
        field = self._by_tag.get(name.removesuffix(":noexp").removesuffix(":exp").strip())
        if field is None:
            self._unknown.append(tag)
            return self._evaluate_untagged(QueryToken("operand", token.text, token.quoted))
        found = self.find_records(field, token.text, explodes=explodes)
        shown = f'"{token.text}"[{field.label}]' if token.quoted else f"{token.text}[{field.label}]"
        if not found and token.quoted:
            self._quoted.append(shown)
        elif not found:
            self._phrases.append(f"{token.text}[{tag}]")
        return QueryPart(found, shown)

    def _evaluate_untagged(self, token: QueryToken) -> QueryPart:
        first = self._fields[0]
        if token.quoted:
            found = self.find_records(first, token.text)
            if found:
                return QueryPart(found, f'"{token.text}"[{first.label}]')
            self._quoted.append(f'"{token.text}"')
        run = [token.text] if first.kind == "whole" else token.words
        current: QueryPart | None = None
        place = 0
        while place < len(run):
            length, part = self._match_next(run, place)
            current = self._join(current, "AND", part)
            place += length
        return current or QueryPart(None, "")

    def _match_next(self, run: Sequence[str], place: int) -> tuple[int, QueryPart | None]:
        """Match words from this position; return the number of words and their part of the query."""
        word = run[place]
        if word.startswith("#") and word[1:].isascii() and word[1:].isdigit():
            kept = self._history(int(word[1:]))
            if kept is None:
                raise BadRequest(f"Unable to obtain query {word}")
            return 1, QueryPart(frozenset(kept) & frozenset(self.records), word)
        named = self.match_name(run, place)
        if named is not None:
            length, found, shown = named
            self._translations.append((" ".join(run[place : place + length]), shown))
            return length, QueryPart(found, f"({shown})")
        if word.lower() in STOP_WORDS and len(run) > 1:
            return 1, None
        found = self.find_records(self._fields[0], word)
        if not found:
            self._phrases.append(word)
        return 1, QueryPart(found, f"{word}[{self._fields[0].label}]")

    def match_name(self, run: Sequence[str], place: int) -> tuple[int, Found, str] | None:
        """Match words from this position to a special term; return their number, the records and the translation."""
        return None

    def find_records(self, field: SmallField, text: str, *, explodes: bool = True) -> Found:
        """Return the records that have a value in a field; in a tree, ``explodes`` includes the narrower terms."""
        return frozenset(uid for uid, values in self.records.items() if field.matches(values.get(field.code, ()), text))


class SmallDatabase(Database):
    """A database with few records; each search scans all of them."""

    @abstractmethod
    def query(self) -> SmallQuery:
        """Return a query that searches the records."""

    def search(self, request: SearchCall) -> SearchOutcome:
        """Find records by the fields of the database."""
        return self.query().run(request)

    def fields(self) -> Sequence[FieldInfo]:
        """Return the search fields that EInfo lists."""
        return self.query().field_infos()

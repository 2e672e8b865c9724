"""Run a query on a database of a few records: fields, Entrez's left-to-right AND, OR, NOT, and parentheses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from entrez_kit.sandbox.database import BadRequest, FieldInfo, SearchOutcome, SearchRequest
from entrez_kit.sandbox.lexer import Token, tokenize
from entrez_kit.sandbox.text import STOP_WORDS, normal, words

Values = Mapping[str, Sequence[str]]
"""What a record has in each field, by the field's code."""
Found = frozenset[str]
_ALL: Final = "ALL"


@dataclass(frozen=True, slots=True)
class SmallField:
    """A search field: "words" are found as phrases, "whole" values as a whole, "number" as they are."""

    code: str
    label: str
    kind: Literal["words", "whole", "number"]
    tags: tuple[str, ...]
    description: str

    def matches(self, values: Sequence[str], text: str) -> bool:
        """Tell whether one of a record's values answers the text; a trailing ``*`` truncates."""
        if self.kind == "number":
            return text.strip() in values
        stem = text.rstrip().endswith("*")
        if self.kind == "whole":
            wanted = normal(text)
            return any(normal(value) == wanted or (stem and normal(value).startswith(wanted)) for value in values)
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
class _Part:
    """Part of a query: its records (None where it was dropped) and how it reads."""

    found: Found | None
    text: str


class SmallQuery:
    """One query over a few records.

    Args:
        records: what each record has in each field, in the order results come in.
        fields: the search fields; the first one stands for words without a tag.
    """

    def __init__(self, records: Mapping[str, Values], fields: Sequence[SmallField]) -> None:
        self._records = records
        self._fields = fields
        self._by_tag = {
            tag: field for field in fields for tag in (field.code.lower(), field.label.lower(), *field.tags)
        }
        self._phrases: list[str] = []
        self._quoted: list[str] = []
        self._unknown: list[str] = []
        self._history: Callable[[int], Sequence[str] | None] = lambda number: None
        self._default: str | None = None

    def run(self, request: SearchRequest) -> SearchOutcome:
        """Evaluate a query.

        Raises:
            BadRequest: a set of the history is named that does not exist.
        """
        self._history, self._default = request.history, request.field
        tokens, remarks = tokenize(request.term)
        part = self._evaluate(tokens)
        found = part.found if part is not None and part.found is not None else frozenset()
        return SearchOutcome(
            ids=[uid for uid in self._records if uid in found],
            translation=part.text if part is not None else "",
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
                len({value for values in self._records.values() for value in values.get(field.code, ())}),
                is_numerical=field.kind == "number",
                single_token=field.kind != "words",
                is_hidden=field.code == "UID",
            )
            for field in self._fields
        )

    def _evaluate(self, tokens: Sequence[Token]) -> _Part | None:
        outer: list[tuple[_Part | None, str | None]] = []
        current: _Part | None = None
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
                current = self._join(current, operator, _Part(inner.found, f"({inner.text})") if inner else None)
                operator = None
            elif token.kind == "operand":
                current = self._join(current, operator, self._operand(token))
                operator = None
        while outer:
            inner = current
            current, operator = outer.pop()
            current = self._join(current, operator, inner)
        return current

    def _join(self, left: _Part | None, operator: str | None, right: _Part | None) -> _Part | None:
        if right is None or right.found is None:
            return left
        if left is None or left.found is None:
            return _Part(frozenset(self._records) - right.found, f"NOT {right.text}") if operator == "NOT" else right
        name = operator or "AND"
        found = {"AND": left.found & right.found, "OR": left.found | right.found, "NOT": left.found - right.found}[name]
        return _Part(found, f"{left.text} {name} {right.text}")

    def _operand(self, token: Token) -> _Part:
        tag = token.tag or self._default
        if tag is None:
            return self._untagged(token)
        field = self._by_tag.get(" ".join(tag.lower().split()))
        if field is None:
            self._unknown.append(tag)
            return self._untagged(Token("operand", token.text, token.quoted))
        found = self._matching(field, token.text)
        shown = f'"{token.text}"[{field.label}]' if token.quoted else f"{token.text}[{field.label}]"
        if not found:
            (self._quoted if token.quoted else self._phrases).append(shown)
        return _Part(found, shown)

    def _untagged(self, token: Token) -> _Part:
        field = self._fields[0]
        if token.quoted:
            found = self._matching(field, token.text)
            if found:
                return _Part(found, f'"{token.text}"[{field.label}]')
            self._quoted.append(f'"{token.text}"')
        current: _Part | None = None
        for word in token.words:
            part = self._word(field, word, alone=len(token.words) == 1)
            current = self._join(current, "AND", part)
        return current or _Part(None, "")

    def _word(self, field: SmallField, word: str, *, alone: bool) -> _Part | None:
        if word.startswith("#") and word[1:].isascii() and word[1:].isdigit():
            kept = self._history(int(word[1:]))
            if kept is None:
                raise BadRequest(f"Unable to obtain query {word}")
            return _Part(frozenset(kept) & frozenset(self._records), word)
        if word.lower() in STOP_WORDS and not alone:
            return None
        found = self._matching(field, word)
        if not found:
            self._phrases.append(word)
        return _Part(found, f"{word}[{field.label}]")

    def _matching(self, field: SmallField, text: str) -> Found:
        return frozenset(
            uid for uid, values in self._records.items() if field.matches(values.get(field.code, ()), text)
        )

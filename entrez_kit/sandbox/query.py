"""Run a PubMed query from left to right, as PubMed does, and report its translation and warnings."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from entrez_kit.sandbox import dates
from entrez_kit.sandbox.database import BadRequest
from entrez_kit.sandbox.fields import ALL_FIELDS, BY_TAG, PubMedField, find_field
from entrez_kit.sandbox.lexer import QueryToken, tokenize
from entrez_kit.sandbox.lookup import Lookup, split_phrase
from entrez_kit.sandbox.text import STOP_WORDS, normalize, words

_HAS_ABSTRACT: Final = frozenset(("hasabstract", "has abstract"))
_NEAR: Final = re.compile(r"(.*):~([0-9]{1,3})")
_HISTORY: Final = re.compile(r"#([0-9]{1,6})")
_LONGEST_NAME: Final = 8
"""Maximum number of words that are tried as one MeSH heading or journal title."""


@dataclass(slots=True)
class Unit:
    """Part of a query: its records (None if PubMed ignores the part), its translation, and its main operator."""

    bits: int | None
    text: str
    joined: str | None = None


@dataclass(slots=True)
class Findings:
    """The records found by a query, and PubMed's translation and warnings."""

    bits: int = 0
    translation: str = ""
    translations: list[tuple[str, str]] = field(default_factory=list)
    phrases_not_found: list[str] = field(default_factory=list)
    fields_not_found: list[str] = field(default_factory=list)
    phrases_ignored: list[str] = field(default_factory=list)
    quoted_not_found: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    ranking: list[str] = field(default_factory=list)


def join(left: Unit | None, operator: str, right: Unit, everything: int) -> Unit | None:
    """Join two parts; a part that PubMed ignores has no effect."""
    if right.bits is None:
        return left
    if left is None or left.bits is None:
        if operator != "NOT":
            return right
        return Unit(everything & ~right.bits, f"NOT {_parenthesize(right, 'NOT')}", "NOT")
    found = {"AND": left.bits & right.bits, "OR": left.bits | right.bits, "NOT": left.bits & ~right.bits}[operator]
    before = f"({left.text})" if left.joined not in (None, operator) else left.text
    return Unit(found, f"{before} {operator} {_parenthesize(right, operator)}", operator)


def _parenthesize(unit: Unit, operator: str) -> str:
    flat = unit.joined is None or (unit.joined == operator and operator != "NOT")
    return unit.text if flat else f"({unit.text})"


class PubMedQuery:
    """One query on one index.

    Args:
        lookup: finds words, phrases and values in the index.
        history: returns the records of ``#n``; None if there is no such set.
        field: the field of words without a tag, from ESearch's ``field`` parameter.
        today: the last day of a relative range such as "last 5 years".
    """

    def __init__(
        self,
        lookup: Lookup,
        *,
        history: Callable[[int], int | None] = lambda number: None,
        field: str | None = None,
        today: date | None = None,
    ) -> None:
        self._lookup = lookup
        self._history = history
        self._today = today or date.today()
        self._everything = lookup.index.everything
        self.findings = Findings()
        self._default: PubMedField | None = None
        if field:
            self._default = find_field(field)
            if self._default is None:
                self.findings.fields_not_found.append(field)

    def run(self, term: str) -> Findings:
        """Evaluate a query.

        Raises:
            BadRequest: the query names a history set that does not exist.
        """
        tokens, remarks = tokenize(term)
        self.findings.messages += remarks
        outcome = self._evaluate(tokens)
        if outcome is None or outcome.bits is None:
            self.findings.translation = " ".join(token.text for token in tokens)
        else:
            self.findings.bits, self.findings.translation = outcome.bits, outcome.text
        return self.findings

    def restrict(self, datetype: str, low: int, high: int) -> None:
        """Keep only records with a date in this range, from ESearch's date parameters."""
        named = find_field(datetype) or BY_TAG["pdat"]
        if named.kind != "date":
            named = BY_TAG["pdat"]
        found = self.findings
        found.bits &= self._lookup.index.between(named.sources[0], low, high)
        clause = f"{dates.format_day(low)}:{dates.format_day(high)}[{named.label}]"
        before = f"({found.translation})" if re.search(r" (OR|NOT) ", found.translation) else found.translation
        found.translation = f"{before} AND {clause}"

    def _evaluate(self, tokens: Sequence[QueryToken]) -> Unit | None:
        outer: list[tuple[Unit | None, str | None]] = []
        current: Unit | None = None
        operator: str | None = None
        unmatched = False
        place = 0
        while place < len(tokens):
            token = tokens[place]
            place += 1
            if token.kind == "operator":
                operator = token.text
                continue
            if token.kind == "open":
                outer.append((current, operator))
                current, operator = None, None
                continue
            if token.kind == "close":
                if not outer:
                    unmatched = True
                    continue
                inner = current or Unit(None, "")
                current, operator = outer.pop()
                unit = inner
            elif token.kind == "operand":
                upper = tokens[place + 1] if place + 1 < len(tokens) and tokens[place].kind == "range" else None
                if upper is not None and upper.kind == "operand":
                    unit = self._evaluate_range(token, upper)
                    place += 2
                else:
                    unit = self._evaluate_operand(token)
            else:
                continue  # a colon without a range
            current = join(current, operator or "AND", unit, self._everything)
            operator = None
        while outer:
            unmatched = True
            inner, (current, operator) = current or Unit(None, ""), outer.pop()
            current = join(current, operator or "AND", inner, self._everything)
        if unmatched:
            self.findings.messages.append("Unmatched parenthesis ignored.")
        return current

    def _evaluate_operand(self, token: QueryToken) -> Unit:
        if token.tag is None:
            return self._evaluate_quoted(token) if token.quoted else self._evaluate_run(token.words)
        tag, distance = token.tag, None
        near = _NEAR.fullmatch(tag)
        if near:
            tag, distance = near.group(1), int(near.group(2))
        named = find_field(tag)
        if normalize(token.text) in _HAS_ABSTRACT:
            return Unit(self._lookup.filter("hasabstract"), f"hasabstract[{named.label if named else 'All Fields'}]")
        if named is None:
            self.findings.fields_not_found.append(token.tag)
            return (
                self._evaluate_quoted(QueryToken("operand", token.text, token.quoted))
                if token.quoted
                else self._evaluate_plain(token.words)
            )
        if distance is not None and named.kind == "text":
            text = f'"{_format_term(token.text)}"[{named.label}:~{distance}]'
            self.findings.ranking += words(token.text)
            return Unit(self._lookup.near(named, token.text, distance), text)
        if named.kind == "text":
            return self._evaluate_text(named, token)
        return self._evaluate_tagged(named, token)

    def _evaluate_tagged(self, named: PubMedField, token: QueryToken) -> Unit:
        """Evaluate a value field; the tag applies to the longest run of unquoted words before it that is a value."""
        whole = self._evaluate_value(named, token.text, token.quoted)
        if whole.bits:
            return whole
        if token.quoted:
            if named.kind == "value":
                self.findings.quoted_not_found.append(f'"{token.text}"[{token.tag}]')
            return whole
        split = token.words
        for cut in range(1, len(split)):
            unit = self._evaluate_value(named, " ".join(split[cut:]), quoted=False)
            if unit.bits:
                before = self._evaluate_run(split[:cut])
                return join(None if before.bits is None else before, "AND", unit, self._everything) or unit
        self.findings.phrases_not_found.append(f"{token.text}[{token.tag}]")
        return whole

    def _evaluate_value(self, named: PubMedField, text: str, quoted: bool) -> Unit:
        if named.kind == "date":
            return self._evaluate_date(named, text)
        if named.kind == "uid":
            return self._evaluate_uids(text)
        if named.kind == "filter":
            return Unit(self._lookup.filter(text), f'"{_format_term(text)}"[Filter]')
        found = self._lookup.value(named, text, quoted=quoted)
        bare = named.code in ("AUTH", "FAUT", "LAUT", "FULL", "INVR") and not quoted
        shown = _format_term(text) if bare else f'"{_format_term(text)}"'
        return Unit(found, f"{shown}[{named.label}]")

    def _evaluate_date(self, named: PubMedField, text: str) -> Unit:
        low, _, high = text.partition(":")
        found = dates.parse_range(low, high or low) or dates.parse_relative_range(text, self._today)
        if found is None:
            return Unit(0, f'"{_format_term(text)}"[{named.label}]')
        return self._evaluate_date_span(named, *found)

    def _evaluate_date_span(self, named: PubMedField, low: int, high: int) -> Unit:
        found = self._lookup.index.between(named.sources[0], low, high)
        return Unit(found, f"{dates.format_day(low)}:{dates.format_day(high)}[{named.label}]")

    def _evaluate_uids(self, text: str) -> Unit:
        found, shown = 0, []
        for one in re.split(r"[\s,;]+", text):
            low, _, high = one.partition(":")
            if not (low.isascii() and low.isdigit() and (high or low).isascii() and (high or low).isdigit()):
                continue
            found |= self._lookup.index.between("uid", int(low), int(high or low))
            shown.append(f"{one}[UID]")
        return Unit(found, " OR ".join(shown) or f"{text}[UID]", "OR" if len(shown) > 1 else None)

    def _evaluate_range(self, low: QueryToken, high: QueryToken) -> Unit:
        tag = high.tag or low.tag
        named = find_field(tag) if tag else None
        if named is not None and named.kind == "date":
            found = dates.parse_range(low.text, high.text)
            if found is not None:
                return self._evaluate_date_span(named, *found)
        if named is not None and named.kind == "uid":
            return self._evaluate_uids(f"{low.text}:{high.text}")
        first, second = self._evaluate_operand(low), self._evaluate_operand(high)
        return join(first, "AND", second, self._everything) or Unit(None, "")

    def _evaluate_text(self, named: PubMedField, token: QueryToken) -> Unit:
        """Evaluate words in a text field as a phrase; if no record has the phrase, evaluate each word separately."""
        self.findings.ranking += words(token.text)
        found = self._lookup.text(named, token.text)
        if found:
            return Unit(found, f'"{_format_term(token.text)}"[{named.label}]')
        if token.quoted:
            self.findings.quoted_not_found.append(f'"{token.text}"[{token.tag}]')
        if len(token.words) == 1:
            if not token.quoted:
                self.findings.phrases_not_found.append(f"{token.text}[{token.tag}]")
            return Unit(0, f'"{_format_term(token.text)}"[{named.label}]')
        shown = " AND ".join(f'"{_format_term(word)}"[{named.label}]' for word in token.words)
        return Unit(self._lookup.each_word(named, token.text), shown, "AND")

    def _evaluate_quoted(self, token: QueryToken) -> Unit:
        """Evaluate a quoted phrase without a tag; if no record has the phrase, evaluate each word separately."""
        named = self._default or ALL_FIELDS
        if named.kind != "text":
            return self._evaluate_tagged(named, QueryToken("operand", token.text, quoted=True, tag=named.label))
        if normalize(token.text) in _HAS_ABSTRACT:
            return Unit(self._lookup.filter("hasabstract"), "hasabstract[All Fields]")
        found = self._lookup.text(named, token.text)
        if found:
            self.findings.ranking += words(token.text)
            return Unit(found, f'"{_format_term(token.text)}"[{named.label}]')
        self.findings.quoted_not_found.append(f'"{token.text}"')
        return self._evaluate_plain(token.words, report=len(token.words) > 1)

    def _evaluate_plain(self, run: Sequence[str], *, report: bool = True) -> Unit:
        """Evaluate each word separately, without mapping; unknown words are ignored."""
        named = self._default or ALL_FIELDS
        unit: Unit | None = None
        for word in run:
            if word.lower() in STOP_WORDS and len(run) > 1:
                continue
            unit = join(unit, "AND", self._evaluate_word(named, word, report=report), self._everything)
        return unit or Unit(None, "")

    def _evaluate_word(self, named: PubMedField, word: str, *, report: bool = True) -> Unit:
        if named.kind != "text":
            return self._evaluate_value(named, word, quoted=False)
        split, open_end = split_phrase(word)
        if not split:
            return Unit(None, "")
        found = self._lookup.text(named, word)
        if not found and len(split) > 1 and not open_end:
            found = self._lookup.each_word(named, " ".join(split))
        if not found:
            if report:
                self.findings.phrases_not_found.append(word)
            return Unit(None, "")
        self.findings.ranking += split
        return Unit(found, f'"{" ".join(split)}{"*" if open_end else ""}"[{named.label}]')

    def _evaluate_run(self, run: Sequence[str]) -> Unit:
        """Evaluate words without quotes or tag: PubMed first maps them to headings, journals and authors."""
        if self._default is not None:
            if self._default.kind == "text":
                return self._evaluate_plain(run)
            return self._evaluate_tagged(self._default, QueryToken("operand", " ".join(run), tag=self._default.label))
        unit: Unit | None = None
        place = 0
        while place < len(run):
            length, mapped = self._map_words(run, place)
            unit = join(unit, "AND", mapped, self._everything)
            place += length
        return unit or Unit(None, "")

    def _map_words(self, run: Sequence[str], place: int) -> tuple[int, Unit]:
        """Map words from this position; return the number of mapped words and their part of the query."""
        first = run[place]
        referred = _HISTORY.fullmatch(first)
        if referred:
            return 1, self._recall_set(int(referred.group(1)), first)
        if normalize(first) in _HAS_ABSTRACT:
            return 1, Unit(self._lookup.filter("hasabstract"), "hasabstract[All Fields]")
        for length in range(min(_LONGEST_NAME, len(run) - place), 0, -1):
            phrase = " ".join(run[place : place + length])
            key = normalize(phrase)
            if not key or (length == 1 and key in STOP_WORDS):
                continue
            unit = self._find_name(phrase, key, length)
            if unit is not None:
                self.findings.translations.append((phrase, unit.text))
                self.findings.ranking += words(phrase)
                return length, unit
        if first.isascii() and first.isdigit() and (found := self._lookup.index.between("uid", int(first), int(first))):
            return 1, Unit(found, f"{first}[UID]")
        if first.lower() in STOP_WORDS:
            if len(run) == 1:
                self.findings.phrases_ignored.append(first)
            return 1, Unit(None, "")
        return 1, self._evaluate_word(ALL_FIELDS, first)

    def _find_name(self, phrase: str, key: str, length: int) -> Unit | None:
        heading = self._lookup.heading(key) if "*" not in phrase else None
        split = key.split()
        journal = self._lookup.index.value("journal", key) if length > 1 and heading is None else 0
        if heading is not None or journal:
            named = f'"{heading}"[MeSH Terms]' if heading is not None else f'"{key}"[Journal]'
            found = journal if heading is None else self._lookup.index.value("mesh", heading)
            pieces = [named, f'"{key}"[All Fields]']
            if len(split) > 1:
                pieces.insert(1, "(" + " AND ".join(f'"{word}"[All Fields]' for word in split) + ")")
            return Unit(found | self._lookup.each_word(ALL_FIELDS, key), " OR ".join(pieces), "OR")
        if length == 2 and len(split) == 2 and len(split[1]) <= 2 and split[1].isalpha() and split[1] not in STOP_WORDS:
            found = self._lookup.value(BY_TAG["author"], phrase, quoted=False)
            if found:
                return Unit(found, f"{key}[Author]")
        return None

    def _recall_set(self, number: int, text: str) -> Unit:
        found = self._history(number)
        if found is None:
            raise BadRequest(f"Unable to obtain query #{number}")
        return Unit(found, text)


def _format_term(text: str) -> str:
    """Return a term in the form of QueryTranslation: lower case, with punctuation."""
    return " ".join(text.lower().split())

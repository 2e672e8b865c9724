"""The common part of Europe PMC's query language: words, phrases, fields, AND, OR, NOT, parentheses.

A query is parsed once; the evaluator of PubMed's language combines the records of its leaves on each shelf.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyroaring import BitMap

from entrez_kit.local.eutils.mesh import read_demo_vocabulary
from entrez_kit.query import dates
from entrez_kit.query.algebra import And, Everything, HistorySet, Not, Or, Query, Term
from entrez_kit.query.evaluate import Evaluator
from entrez_kit.query.fields import ABSTRACT, BY_CODE
from entrez_kit.query.mapping import to_leaf
from entrez_kit.query.parser import Operand
from entrez_kit.query.resolve import Resolver
from entrez_kit.query.words import split_pattern, split_words
from entrez_kit.sandbox.europepmc_records import Shelf
from entrez_kit.sandbox.service_data import EUROPEPMC

if TYPE_CHECKING:
    from entrez_kit.query.segments.search_index import SearchIndex

_TOKEN: Final = re.compile(
    r"\s*+(?:(?P<field>[A-Za-z][A-Za-z0-9_]*):\s*+)?"
    r'(?:(?P<open>\()|"(?P<phrase>(?>(?:\\.|[^"\\])*))"|\[(?P<range>[^\]]*+)\]|(?P<word>(?>(?:\\.|[^\s()"\[\]\\])+)))|\s*+(?P<close>\))'
)
_CLOSING: Final = re.compile(r"\s*+\)")
_TEXT: Final = {name: BY_CODE[code] for name, code in EUROPEPMC["text_fields"].items()} | {"ABSTRACT": ABSTRACT}
_VALUES: Final[dict[str, str]] = EUROPEPMC["value_fields"]
_FLAGS: Final[dict[str, str]] = EUROPEPMC["flags"]
_IDS: Final = frozenset(("EXT_ID", "PMCID"))
_OPERATORS: Final = frozenset(("AND", "OR", "NOT"))
_MAX_DEPTH: Final = 200


class BadQuery(Exception):
    """The query cannot be parsed."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A word, phrase or range, with its field if there is one."""

    field: str
    text: str
    quoted: bool = False
    ranged: bool = False


@dataclass(frozen=True, slots=True)
class EuropePMCQuery:
    """A parsed query and its leaves. In ``query``, ``HistorySet(n)`` is the leaf with this number."""

    query: Query
    leaves: tuple[Clause, ...]

    @property
    def ranking(self) -> tuple[str, ...]:
        """The words for the relevance score."""
        texts = [leaf.text for leaf in self.leaves if leaf.field in ("", "TITLE", "TITLE_ABS")]
        return tuple(dict.fromkeys(word for text in texts for word in split_words(text)))

    def run(self, shelf: Shelf) -> BitMap:
        """Return the records of a shelf that match the query."""
        names_sources = any(leaf.field == "SRC" for leaf in self.leaves)
        leaves = Evaluator(shelf.index, lambda number: _run_leaf(self.leaves[number], shelf, names_sources))
        return leaves.evaluate(self.query)


def parse(query: str) -> EuropePMCQuery:
    """Parse a query.

    Raises:
        BadQuery: parentheses or quotes are unbalanced, or the query ends with an operator.
    """
    if query.replace('\\"', "").count('"') % 2:
        raise BadQuery("a quotation mark is never closed")
    parser = _EuropePMCParser(query)
    records = parser.parse_expression("", 0)
    if not parser.is_at_end():
        raise BadQuery("a closing parenthesis has no opening one")
    return EuropePMCQuery(records, tuple(parser.leaves))


class _EuropePMCParser:
    def __init__(self, query: str) -> None:
        self._query = query
        self._place = 0
        self.leaves: list[Clause] = []

    def is_at_end(self) -> bool:
        """Return whether only white space is left."""
        return not self._query[self._place :].strip()

    def parse_expression(self, field: str, depth: int) -> Query:
        """Parse up to the end or to a closing parenthesis; AND binds more tightly than OR."""
        if depth > _MAX_DEPTH:
            raise BadQuery("too many parentheses")
        alternatives: list[Query] = []
        current: Query | None = None
        operator = "AND"
        pending = False
        while True:
            match = _TOKEN.match(self._query, self._place)
            if match is None or match["close"]:
                break
            word = match["word"]
            if word in _OPERATORS and not match["field"]:
                self._place = match.end()
                if word == "OR":
                    alternatives.append(current or Everything())
                    current = None
                # "AND NOT" is one operator.
                operator, pending = ("NOT" if word == "NOT" else "AND"), True
                continue
            part = self._parse_part(match, (match["field"] or field).upper(), depth)
            if operator == "NOT":
                current = Not(current or Everything(), part)
            else:
                current = part if current is None else And((current, part))
            operator, pending = "AND", False
        if pending:
            raise BadQuery("the query ends with an operator")
        last = current or Everything()
        return Or((*alternatives, last)) if alternatives else last

    def _parse_part(self, match: "re.Match[str]", field: str, depth: int) -> Query:
        self._place = match.end()
        if match["open"]:
            inner = self.parse_expression(field, depth + 1)
            closing = _CLOSING.match(self._query, self._place)
            if closing is None:
                raise BadQuery("an opening parenthesis is never closed")
            self._place = closing.end()
            return inner
        text = next(match[name] for name in ("phrase", "range", "word") if match[name] is not None)
        plain = re.sub(r"\\(.)", r"\1", text)
        self.leaves.append(Clause(field, plain, match["phrase"] is not None, match["range"] is not None))
        return HistorySet(len(self.leaves) - 1)


def _run_leaf(leaf: Clause, shelf: Shelf, names_sources: bool) -> BitMap:
    field, text = leaf.field, leaf.text.strip()
    if not text or (field in _IDS and leaf.quoted and names_sources):
        return BitMap()  # in the real service, a quoted id in a query with a source finds nothing
    if field == "SRC":
        return shelf.find_source(text.upper())
    if field == "EXT_ID":
        return shelf.find_id(text)
    if field in ("PUB_YEAR", "FIRST_PDATE", "E_PDATE", "P_PDATE"):
        return _find_dates(shelf.index, text, leaf.ranged)
    if field in _FLAGS:
        records = shelf.index.find_value("filter", _FLAGS[field])
        return records if text.lower() in ("y", "yes", "true") else BitMap(range(shelf.index.size)) - records
    evaluator = Evaluator(shelf.index)
    if field in _TEXT:
        words = split_pattern(text)
        if not words:
            return BitMap()
        if leaf.quoted or text.endswith("*"):
            return evaluator.evaluate(to_leaf(_TEXT[field], words))
        return evaluator.evaluate(And(tuple(Term(_TEXT[field], word) for word in words)))
    if field not in _VALUES:
        return BitMap()
    resolver = Resolver(evaluator, read_demo_vocabulary())
    return evaluator.evaluate(resolver.resolve_operand(Operand(text, text, leaf.quoted, _VALUES[field])))


def _find_dates(index: "SearchIndex", text: str, ranged: bool) -> BitMap:
    if ranged:
        ends = re.split(r"(?<!\s)\s++TO\s++", text.strip(), flags=re.IGNORECASE)
        if len(ends) != 2:
            return BitMap()
        low, high = (end.replace("-", "/").strip() for end in ends)
        span = dates.parse_range("0001" if low == "*" else low, "9999" if high == "*" else high)
    else:
        span = dates.parse_days(text.replace("-", "/"))
    return BitMap() if span is None else index.find_range("pdat", *span)

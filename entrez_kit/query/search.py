"""Search an index with a query in PubMed's language."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from pyroaring import BitMap

from entrez_kit.base.errors import InvalidInput
from entrez_kit.query.algebra import And, Range, Shown
from entrez_kit.query.evaluate import Evaluator
from entrez_kit.query.fields import BY_CODE, parse_tag
from entrez_kit.query.lexer import Repair
from entrez_kit.query.mesh import Vocabulary
from entrez_kit.query.parser import parse
from entrez_kit.query.printing import print_days, print_query
from entrez_kit.query.resolve import Resolver
from entrez_kit.query.units import Fidelity, Report

if TYPE_CHECKING:
    from entrez_kit.query.segments.search_index import SearchIndex


@dataclass(frozen=True, slots=True)
class QueryMatches:
    """The records that a query matches, and what PubMed reports about the query."""

    records: BitMap
    translation: str
    fidelity: Fidelity
    resolved: Report
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True, slots=True)
class DateLimit:
    """The date parameters of ESearch: a type such as ``pdat`` or ``edat``, and the first and last day (yyyymmdd)."""

    kind: str
    low: int
    high: int


def refuse_history(number: int) -> BitMap:
    """Refuse a reference to an earlier search.

    Raises:
        InvalidInput: always.
    """
    raise InvalidInput(
        f"#{number} refers to an earlier search, and there is none.",
        invalid_input=f"query=#{number}",
        recovery_hint=f"Replace #{number} with its search in parentheses.",
        details={"reason": "no_history"},
    )


def search(
    query: str,
    index: "SearchIndex",
    vocabulary: Vocabulary | None = None,
    *,
    history: Callable[[int], BitMap] = refuse_history,
    field: str | None = None,
    limit: DateLimit | None = None,
    today: date | None = None,
    lenient: bool = False,
) -> QueryMatches:
    """Search an index.

    Args:
        query: the query.
        index: the index of the records.
        vocabulary: MeSH, the journals and the filters.
        history: returns the records of ``#n``; it may raise an error if no such search exists.
        field: the field of words without a tag.
        limit: the date parameters.
        today: the last day of a relative range such as "last 5 years".
        lenient: whether to imitate PubMed, which searches without a field or a word that it does not know. Otherwise an
            unknown field is an error, and an unknown word matches no record.

    Raises:
        InvalidInput: no copy of PubMed can answer a part of the query, there is no search history, or (unless
            ``lenient``) a field is unknown.
    """
    evaluator = Evaluator(index, history)
    syntax = parse(query)
    resolver = Resolver(evaluator, vocabulary or Vocabulary(), query=query, field=field, today=today, lenient=lenient)
    whole = resolver.resolve(syntax)
    report, resolved = whole.report, whole.query
    if resolved is None:
        return QueryMatches(BitMap(), " ".join(query.split()), report.fidelity, report, syntax.repairs)
    if limit is not None:
        tag = parse_tag(limit.kind)
        column = tag.field if tag is not None and tag.field.kind == "date" else BY_CODE["PDAT"]
        days = print_days(limit.low, limit.high, column.label)
        clause = Shown(Range(column.sources[0], limit.low, limit.high), days)
        resolved = And((*(resolved.parts if isinstance(resolved, And) else (resolved,)), clause))
    # As recorded: if PubMed drops an unknown word from a query, the translation is the query as it was sent.
    as_sent = lenient and any(not phrase.endswith("]") for phrase in report.phrases_not_found)
    translation = query.strip() if as_sent else print_query(resolved)
    return QueryMatches(evaluator.evaluate(resolved), translation, report.fidelity, report, syntax.repairs)

"""Compare a search with the query as written: NCBI drops what it does not know, which gives more records."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypedDict

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.frontend_text import FrontendText, PerFrontend, format_count
from entrez_kit.core.model import Warn
from entrez_kit.core.query_input import has_operator
from entrez_kit.services.small_replies import DROPPED, NAMED, ESearchReply

if TYPE_CHECKING:
    from entrez_kit.query.parser import Operand
    from entrez_kit.query.reduction import Part

_WORD: Final = re.compile(r"\w+")
CHECKED: Final = 50
"""Maximum number of dropped parts that are compared with the query individually."""


@dataclass(frozen=True, slots=True)
class Strictness:
    """The difference between a search and the original query.

    ``differs`` is true if there is a difference. ``count`` is the number of records that the original query matches, if
    it is known without a request; otherwise ``term`` is the query to count. Both can be unknown.
    """

    differs: bool
    count: int | None = None
    term: str | None = None


def compare_strictly(term: str, reply: ESearchReply) -> Strictness:
    """Compare a search with the original query, in which a part that NCBI dropped matches no record.

    An alternative without records has no effect, so the search for ``a OR unknown`` equals the query, and the search
    for ``a AND unknown`` does not. A phrase that is still in NCBI's translation was not dropped.
    """
    fields = {item.text.casefold() for item in reply.warnings if (item.code, item.fate) == _FIELD}
    phrases = {_to_key(item.text) for item in reply.warnings if (item.code, item.fate) in _PHRASES} - {()}
    split = {_to_key(item.text) for item in reply.warnings if item.fate == "split"}
    if not (fields or phrases or split):
        return Strictness(differs=False)
    from entrez_kit.query.reduction import Whole, reduce_query

    lengths = sorted({len(phrase) for phrase in phrases})
    located: set[tuple[str, ...]] = set()
    vague: set[str] = set()

    def find_unknown(operand: "Operand") -> list[tuple[str, ...]]:
        words = operand.words
        runs = (tuple(words[at : at + length]) for length in lengths for at in range(len(words) - length + 1))
        return [run for run in runs if run in phrases]

    def to_original(operand: "Operand") -> "Part":
        unknown = find_unknown(operand)
        located.update(unknown)
        if unknown or (operand.tag or "").casefold() in fields:
            return Whole.NOTHING
        if operand.quoted and tuple(operand.words) in split:
            vague.add(operand.text)
        return operand.text

    def to_searched(operand: "Operand") -> "Part":
        gone = {word for run in find_unknown(operand) for word in run}
        if gone or operand.text in vague or (operand.tag or "").casefold() in fields:
            return " ".join(word for word in operand.words if word not in gone) or None
        return operand.text

    strict = reduce_query(term, to_original)
    if located != phrases:
        return Strictness(differs=True)  # NCBI names a phrase in another form than the query
    if strict == reduce_query(term, to_searched):
        return Strictness(differs=False)
    if not isinstance(strict, str):
        return Strictness(differs=True, count=0)
    return Strictness(differs=True, term=None if any(text in strict for text in vague) else strict)


_FIELD: Final = ("field_not_found", "dropped")
_PHRASES: Final = frozenset({("phrase_not_found", "dropped"), ("quoted_phrase_not_found", "dropped")})


def _to_key(text: str) -> tuple[str, ...]:
    """Return the words of a phrase in NCBI's message, without quotes and field tag."""
    return tuple(_WORD.findall(text.partition("[")[0].casefold()))


class Totals(TypedDict):
    """The fields of a result with the numbers of records found, for the original and the broadened query."""

    query_broadened: bool | None
    strict_total: int | None
    broader_total: int | None
    total_found: int | None


@dataclass(frozen=True, slots=True)
class Broadening:
    """Whether a search matched more records than the query as written would match.

    Args:
        count: how many records the search matched.
        broadened: whether these are more than the query as written matches.
        strict_total: how many records the query as written matches, if known.
        required: the phrases and fields that NCBI dropped although the query requires them.
        dangling: operators with an operand missing; NCBI ignores these without a warning.
    """

    count: int
    broadened: bool = False
    strict_total: int | None = None
    required: tuple[str, ...] = ()
    dangling: tuple[str, ...] = ()

    def is_left_out(self, broader_results: bool) -> bool:
        """Return whether a caller with this argument gets no results: the search matched more than the query."""
        return self.broadened and not broader_results

    def build_totals(self, broader_results: bool, before: int = 0) -> Totals:
        """Return the totals of a result.

        Args:
            broader_results: the argument of the request.
            before: how many records other searches of the same request matched.
        """
        strict = None if self.strict_total is None else before + self.strict_total
        found, left_out = before + self.count, self.is_left_out(broader_results)
        return {
            "query_broadened": self.broadened or None,
            "strict_total": strict,
            "broader_total": found if left_out else None,
            "total_found": strict if left_out else found,
        }

    def list_warnings(self, reply: ESearchReply, broader_results: bool = True) -> list[Warn]:
        """Return the warnings about a search: first that it is broader than the query, then NCBI's own, by kind."""
        found = [Warn(code=one.code, message=one.message, terms=list(one.terms)) for one in reply.warning_messages]
        if self.dangling:
            has = "it has" if len(self.dangling) == 1 else "they have"
            text = f"NCBI ignored {' and '.join(self.dangling)} in the query: {has} no term on one side."
            found.append(Warn(code="dangling_operator", message=text))
        if self.broadened:
            named = ", ".join(map(repr, self.required[:NAMED])) + (" ..." if len(self.required) > NAMED else "")
            text = f"The results ({reply.count:,}) are broader than the query: NCBI dropped {named}."
            if self.strict_total is not None:
                text += f" The query as written finds {format_count(self.strict_total, 'record')}."
            found.insert(0, Warn(code="query_broadened", message=text, terms=list(self.required)))
        if self.is_left_out(broader_results):
            option = PerFrontend("--broader", "broader_results=true", "broader_results=True")
            message = FrontendText("The broader results are left out; ", option, " returns them.")
            found.insert(1, Warn(code="broader_results_left_out", message=message))
        return found


def find_required_parts(term: str, reply: ESearchReply) -> tuple[str, ...]:
    """Return the phrases and fields that NCBI dropped and that the query requires.

    A dropped alternative changes no result, so it is left out: of ``(a OR unknown) AND missing`` only ``missing`` is
    returned. If no single part explains the difference, all are returned.
    """
    warnings = [warning for warning in reply.warnings if warning.code in DROPPED and warning.fate != "kept"]
    required = [
        warning for warning in warnings[:CHECKED] if compare_strictly(term, replace(reply, warnings=[warning])).differs
    ] or warnings
    return tuple(dict.fromkeys(one.text for one in required))


def compare_with_query(term: str, reply: ESearchReply, count: Callable[[str], int | None]) -> Broadening:
    """Compare a search with the original query.

    Args:
        term: the query that was sent.
        reply: NCBI's reply.
        count: counts the records of another query. It is called at most once. If it returns None or raises an
            EntrezKitError, the total stays unknown.
    """
    strict = compare_strictly(term, reply)
    dangling: tuple[str, ...] = ()
    if has_operator(term):  # else the parser is not imported
        from entrez_kit.query.parser import parse

        dangling = tuple(dict.fromkeys(parse(term).dangling))
    if not strict.differs:
        return Broadening(reply.count, dangling=dangling)
    total = strict.count
    if strict.term is not None:
        with suppress(EntrezKitError):
            total = count(strict.term)
    broadened = reply.count > 0 and (total is None or total < reply.count)
    return Broadening(
        reply.count,
        broadened=broadened,
        strict_total=total if total != reply.count else None,
        required=find_required_parts(term, reply) if broadened else (),
        dangling=dangling,
    )

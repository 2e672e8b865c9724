"""Parse a query like Entrez, from left to right, and simplify it if parts match every record or no record.

This gives the records that a search would find if NCBI had not dropped a part of the query. It also gives the query
for records that the search misses because they have no MeSH terms yet.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, Final, TypedDict

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import Argument, FrontendText, PerFrontend
from entrez_kit.core.model import Stripped, Warn
from entrez_kit.services.small_replies import DROPPED, NAMED, ESearchReply

_TOKEN: Final = re.compile(r'"[^"]*"|\[[^\[\]]*\]|[()]|[^\s()"\[\]]+|["\[\]]')
_WORD: Final = re.compile(r"\w+")
CHECKED: Final = 50
"""Maximum number of dropped parts that are compared with the query individually."""


class Whole(Enum):
    """A part of a query that matches every record, or no record."""

    EVERYTHING = "everything"
    NOTHING = "nothing"


Part = str | Whole | None
"""A part of a query: a term, everything or nothing; None for an omitted part."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A phrase or a sequence of words, and its field tag; ``text`` is the original text."""

    text: str
    phrase: str
    quoted: bool = False
    tag: str | None = None

    @property
    def words(self) -> list[str]:
        """The words in lower case."""
        return _WORD.findall(self.phrase.casefold())


def reduce_query(term: str, exchange: Callable[[Operand], Part]) -> Part:
    """Replace the operands of a query and return the simplified query; None if nothing remains."""
    outer: list[tuple[Part, str]] = []
    current: Part = None
    operator = "AND"
    for token in _tokenize(term):
        if token == "(":
            outer.append((current, operator))
            current, operator = None, "AND"
        elif isinstance(token, str) and token != ")":
            operator = token
        else:
            if isinstance(token, Operand):
                part = exchange(token)
            elif outer:
                part = f"({current})" if isinstance(current, str) and " " in current else current
                current, operator = outer.pop()
            else:
                continue  # a closing parenthesis without an opening one
            current, operator = _join_parts(current, operator, part), "AND"
    while outer:
        part, (current, operator) = current, outer.pop()
        current = _join_parts(current, operator, f"({part})" if isinstance(part, str) else part)
    return current


def _join_parts(left: Part, operator: str, right: Part) -> Part:
    """Join two parts like Entrez: an omitted part has no effect."""
    if right is None:
        return left
    if left is None:
        if operator != "NOT":
            return right
        left = Whole.EVERYTHING
    if operator == "NOT":
        if right is Whole.NOTHING or left is Whole.NOTHING:
            return left
        if right is Whole.EVERYTHING:
            return Whole.NOTHING
        return f"all[sb] NOT {right}" if left is Whole.EVERYTHING else f"{left} NOT {right}"
    neutral, absorbing = (Whole.EVERYTHING, Whole.NOTHING) if operator == "AND" else (Whole.NOTHING, Whole.EVERYTHING)
    if left is absorbing or right is absorbing:
        return absorbing
    if left is neutral:
        return right
    return left if right is neutral else f"{left} {operator} {right}"


def find_dangling_operators(term: str) -> list[str]:
    """Return the operators of a query that lack an operand, which Entrez ignores; NOT needs no operand before it."""
    found: list[str] = []
    before: str | Operand = "("
    for token in (*_tokenize(term), ")"):
        if before in ("AND", "OR", "NOT") and token in ("AND", "OR", ")"):
            found.append(str(before))
        elif before == "(" and token in ("AND", "OR"):
            found.append(str(token))
        before = token
    return found


def _tokenize(term: str) -> Iterator[str | Operand]:
    """Yield parentheses, operators and operands. The colon of a range belongs to the operand around it."""
    text: list[str] = []
    phrase: list[str] = []
    quoted, tag = False, None

    def end_operand() -> Iterator[Operand]:
        nonlocal text, phrase, quoted, tag
        if phrase:
            yield Operand(" ".join(text).replace(" [", "["), " ".join(phrase), quoted, tag)
        text, phrase, quoted, tag = [], [], False, None

    for match in _TOKEN.finditer(term):
        token = match[0]
        if token in ("AND", "OR", "NOT") or token in "()":
            yield from end_operand()
            yield token
        elif token.startswith("[") and len(token) > 1:
            if phrase:
                text.append(token)
                tag = " ".join(token[1:-1].split())
        elif token.startswith('"') and len(token) > 1:
            if phrase and text[-1] != ":":
                yield from end_operand()
            quoted = not phrase
            text.append(token)
            phrase.append(token[1:-1])
        elif token in '"[]':
            continue  # it is unpaired, and Entrez ignores it
        else:
            if (quoted or tag is not None) and token != ":" and text[-1] != ":":
                yield from end_operand()
            text.append(token)
            phrase.append(token)
    yield from end_operand()


# The records that a search would find if NCBI dropped nothing


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
    fields = {item.text.casefold() for item in reply.complaints if (item.code, item.fate) == _FIELD}
    phrases = {_to_key(item.text) for item in reply.complaints if (item.code, item.fate) in _PHRASES} - {()}
    split = {_to_key(item.text) for item in reply.complaints if item.fate == "split"}
    if not (fields or phrases or split):
        return Strictness(differs=False)
    lengths = sorted({len(phrase) for phrase in phrases})
    located: set[tuple[str, ...]] = set()
    vague: set[str] = set()

    def find_unknown(operand: Operand) -> list[tuple[str, ...]]:
        words = operand.words
        runs = (tuple(words[at : at + length]) for length in lengths for at in range(len(words) - length + 1))
        return [run for run in runs if run in phrases]

    def to_original(operand: Operand) -> Part:
        unknown = find_unknown(operand)
        located.update(unknown)
        if unknown or (operand.tag or "").casefold() in fields:
            return Whole.NOTHING
        if operand.quoted and tuple(operand.words) in split:
            vague.add(operand.text)
        return operand.text

    def to_searched(operand: Operand) -> Part:
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


BroaderResults = Annotated[bool, Field(description="Accept a broadened query.")]
"""The argument of every search that lists or counts results: whether it lists those of a broadened query."""
NO_BROADER_RESULTS: Final = {"broader_results": False}
"""What agents get by default: they often read the total and the ids, and not the warnings."""


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

    def leaves_out(self, broader_results: bool) -> bool:
        """Return whether a caller with this argument gets no results: the search matched more than the query."""
        return self.broadened and not broader_results

    def totals(self, broader_results: bool, before: int = 0) -> Totals:
        """Return the totals of a result.

        Args:
            broader_results: the argument of the request.
            before: how many records other searches of the same request matched.
        """
        strict = None if self.strict_total is None else before + self.strict_total
        found, left_out = before + self.count, self.leaves_out(broader_results)
        return {
            "query_broadened": self.broadened or None,
            "strict_total": strict,
            "broader_total": found if left_out else None,
            "total_found": strict if left_out else found,
        }

    def warnings(self, reply: ESearchReply, broader_results: bool = True) -> list[Warn]:
        """Return the warnings about a search: first that it is broader than the query, then NCBI's own, by kind."""
        found = [Warn(code=one.code, message=one.message, terms=list(one.terms)) for one in reply.remarks]
        if self.dangling:
            text = f"NCBI ignored {' and '.join(self.dangling)} in the query: an operand is missing on one side."
            found.append(Warn(code="dangling_operator", message=text))
        if self.broadened:
            named = ", ".join(map(repr, self.required[:NAMED])) + (" ..." if len(self.required) > NAMED else "")
            text = f"The results ({reply.count:,}) are broader than the query: NCBI dropped {named}."
            if self.strict_total is not None:
                text += f" The query as written finds {self.strict_total:,}."
            found.insert(0, Warn(code="query_broadened", message=text, terms=list(self.required)))
        if self.leaves_out(broader_results):
            option = PerFrontend("--broader", "broader_results=true", "broader_results=True")
            message = FrontendText("The broader results are left out; ", option, " returns them.")
            found.insert(1, Warn(code="broader_results_left_out", message=message))
        return found


def find_required_parts(term: str, reply: ESearchReply) -> tuple[str, ...]:
    """Return the phrases and fields that NCBI dropped and that the query requires.

    A dropped alternative changes no result, so it is left out: of ``(a OR unknown) AND missing`` only ``missing`` is
    returned. If no single part explains the difference, all are returned.
    """
    complaints = [one for one in reply.complaints if one.code in DROPPED and one.fate != "kept"]
    required = [
        one for one in complaints[:CHECKED] if compare_strictly(term, replace(reply, complaints=[one])).differs
    ] or complaints
    return tuple(dict.fromkeys(one.text for one in required))


def broadening(term: str, reply: ESearchReply, count: Callable[[str], int | None]) -> Broadening:
    """Compare a search with the original query.

    Args:
        term: the query that was sent.
        reply: NCBI's reply.
        count: counts the records of another query. It is called at most once. If it returns None or raises an
            EntrezKitError, the total stays unknown.
    """
    strict = compare_strictly(term, reply)
    dangling = tuple(dict.fromkeys(find_dangling_operators(term)))
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


# Records that a search misses because they have no MeSH terms

_MESH_TAG: Final = re.compile(
    r"(?:mesh(?: terms?| major topic| subheadings?)?|mh|majr|subheadings?|sh|pharmacological action|pa)"
    r"(?:\s*:\s*no\s*exp)?"
)
CHECK_TAGS: Final = frozenset({"humans", "animals", "male", "female", "child", "adult", "aged", "mice", "rats"})
"""MeSH headings for the subjects of a study; as search words they are too general."""


def is_mesh_only(operand: Operand) -> bool:
    """Return whether only records with MeSH terms can match an operand."""
    return operand.tag is not None and _MESH_TAG.fullmatch(operand.tag.casefold().replace(" :", ":")) is not None


@dataclass(frozen=True, slots=True)
class MeshGap:
    """The parts of a query without MeSH (``rest``); if all parts are MeSH terms (``by_words``), their words."""

    rest: str
    by_words: bool = False


def find_mesh_gap(term: str) -> MeshGap | None:
    """Return the query for records without MeSH terms; None if the search finds them, or if no query remains.

    The search finds them if MeSH is an alternative or only excludes records: ``NOT (animals[mh] NOT humans[mh])``
    excludes no record without MeSH terms.
    """
    if reduce_query(term, lambda one: Whole.NOTHING if is_mesh_only(one) else one.text) is not Whole.NOTHING:
        return None
    rest = reduce_query(term, lambda one: None if is_mesh_only(one) else one.text)
    if isinstance(rest, str):
        return MeshGap(rest)
    words = reduce_query(term, _to_words)
    return MeshGap(words, by_words=True) if isinstance(words, str) else None


def _to_words(operand: Operand) -> Part:
    words = operand.phrase.partition("/")[0].replace(",", " ").casefold().split()
    return Whole.EVERYTHING if not words or words[0] in CHECK_TAGS else f"({' '.join(words)})"


# Dates in the format of Entrez, and its values for open bounds


class DateBounds(TypedDict, total=False):
    """ESearch's date parameters: all three, or an empty mapping."""

    datetype: str
    mindate: str
    maxdate: str


EARLIEST: Final = "0001"
LATEST: Final = "3000"
"""Bounds that NCBI treats as open. NCBI ignores a date filter with one bound, so both are always sent."""


def bounds(min_date: str | None, max_date: str | None, date_type: str | None) -> DateBounds:
    """Return ESearch's date parameters, always with both bounds, since NCBI ignores a single bound."""
    if not (min_date or max_date) or not date_type:
        return {}
    return {"datetype": date_type, "mindate": min_date or EARLIEST, "maxdate": max_date or LATEST}


_DATE: Final = re.compile(
    r"(?P<year>[0-9]{4})(?:[/-](?P<month>[0-9]{1,2})(?:[/-](?P<day>[0-9]{1,2}))?)?"
    r"|(?P<year_>[0-9]{4})\.(?P<month_>[0-9]{1,2})\.(?P<day_>[0-9]{1,2})"
)
"""With dots only full dates: 2020.5 is a number."""


def normalize_date(text: str) -> str:
    """Return a date in NCBI's format: YYYY, YYYY/MM or YYYY/MM/DD.

    Raises:
        ValueError: the text is not a date.
    """
    match = _DATE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is not a date; write YYYY, YYYY/MM or YYYY/MM/DD")
    year, month, day = (match[name] or match[f"{name}_"] for name in ("year", "month", "day"))
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        raise ValueError(f"{text!r} is not a calendar date") from None
    return "/".join(part if len(part) == 4 else part.zfill(2) for part in (year, month, day) if part)


EntrezDate = Annotated[str, AfterValidator(normalize_date)]


# A PubMed term from a user's query and filters, which cannot change each other's meaning


MAX_PUBMED_RESULTS: Final = 9_999
"""PubMed's ESearch returns only the first 9,999 records of any search."""
SPECIES: Final = {"humans": "humans[MeSH Terms]", "animals": "animals[MeSH Terms:noexp]"}


def check_balance(query: str, field: str = "query_term") -> None:
    """Refuse a query with an unpaired quote or parenthesis.

    Args:
        query: the query.
        field: the name of the argument.

    Raises:
        InvalidInput: the message names the character and its position, counted from 1.
    """
    open_places: list[int] = []
    quote_place = 0
    for place, character in enumerate(query, start=1):
        if character == '"':
            quote_place = 0 if quote_place else place
        elif quote_place:
            continue
        elif character == "(":
            open_places.append(place)
        elif character == ")":
            if not open_places:
                raise _unbalanced_error(query, field, "closing parenthesis", place, "has no opening one")
            open_places.pop()
    if quote_place:
        raise _unbalanced_error(query, field, "quotation mark", quote_place, "is not closed")
    if open_places:
        raise _unbalanced_error(query, field, "opening parenthesis", open_places[-1], "is not closed")


def _unbalanced_error(query: str, field: str, what: str, place: int, problem: str) -> InvalidInput:
    return InvalidInput(
        FrontendText(Argument(field), f": the {what} at character {place} {problem}."),
        invalid_input=f"{field}={query}",
        recovery_hint=FrontendText(
            "Close all quotes and parentheses of the query", PerFrontend("; put single quotes around it", ""), "."
        ),
        details={"reason": "unbalanced_query", "position": place},
    )


def quote_filter(value: str, field: str) -> str:
    """Quote a filter value, so that it stays one value.

    Raises:
        InvalidInput: the value is blank or contains a quotation mark, a square bracket or a control character.
    """
    text = " ".join(value.split())
    if not text or re.search(r'["\[\]\x00-\x1f]', text):
        raise InvalidInput(
            FrontendText(
                Argument(field),
                f": {value!r} is not a valid filter value; it must not be blank or contain quotes or brackets.",
            ),
            invalid_input=f"{field}={value}",
            recovery_hint="Give one plain value; write combinations and field tags in the query itself.",
            details={"reason": "bad_filter_value"},
        )
    return f'"{text}"'


def date_clause(min_date: str, max_date: str, date_type: str) -> str:
    """Return date bounds as a clause of a PubMed term."""
    return f'("{min_date}"[{date_type}] : "{max_date}"[{date_type}])'


# A query that a user typed or pasted


_TYPOGRAPHIC: Final = str.maketrans(
    {
        **dict.fromkeys("“”„‟″«»＂", '"'),
        **dict.fromkeys("‘’‚‛′＇", "'"),
        **dict.fromkeys("‐‑‒–—―−－", "-"),
        **dict(zip("（）［］", "()[]", strict=True)),
    }
)
_QUOTED: Final = re.compile(r'"[^"]*"')
_HISTORY: Final = re.compile(r"(?<![\w#])#[0-9]+\b")
_NUMBERED: Final = re.compile(r"(?:#|\bS)?\b1[.):]?\s+\S.*\s(?:#|\bS)?2[.):]?\s+\S", re.DOTALL)
_LINE_NUMBER: Final = re.compile(r"\s*(?:#|S)?([0-9]{1,3})[.):]?\s+\S")
_LOWERCASE: Final = re.compile(r"(?<=\s)(?:or|not)(?=\s)")

_SUSPICIOUS: Final = re.compile(
    r"[./:={]|\badj|\blimit\s|\bM[HMJ]\s*\"|\b(?:TI|AB|TX|SU)\s|\b(?:TITLE|LIMIT|AUTHKEY|SRCTITLE|PUBYEAR)\b|\[mh\s"
)
"""Every query in another syntax has one of these, so plain queries need not load what recognizes it."""


@dataclass(frozen=True, slots=True)
class QueryInput:
    """A query in the form that is sent, and warnings about changes and possible mistakes."""

    text: str
    warnings: tuple[Warn, ...] = ()


@lru_cache(maxsize=32)
def read_query(query: str, field: str = "query_term") -> QueryInput:
    """Return a query with plain quotation marks, dashes and spaces, and the warnings about it.

    The results are cached, because one search needs them several times.

    Args:
        query: the text of a field of type ``QueryText``.
        field: the name of the argument, for messages.

    Raises:
        InvalidInput: a quote or parenthesis is not closed.
    """
    warnings = []
    text = query.translate(_TYPOGRAPHIC)
    if text != query:
        changed = "".join(dict.fromkeys(one for one in query if ord(one) in _TYPOGRAPHIC))
        message = f"Typographic characters in the query were replaced by plain ones: {' '.join(changed)}"
        warnings.append(Warn(code="typographic_characters", message=message))
    text = " ".join(text.split())
    check_balance(text, field)
    if words := dict.fromkeys(_LOWERCASE.findall(_QUOTED.sub('"x"', text))):
        message = f"PubMed may read lowercase {' and '.join(map(repr, words))} as a word. Write operators in capitals."
        warnings.append(Warn(code="lowercase_operator", message=message, terms=list(words)))
    return QueryInput(text, tuple(warnings))


def check_syntax(query: str, field: str = "query_term") -> None:
    """Refuse the syntax of another service, a numbered list of searches, and a reference to a search history.

    Raises:
        InvalidInput: ``details.reason`` is foreign_syntax, numbered_list or no_history.
    """
    text = _QUOTED.sub('"x"', query.translate(_TYPOGRAPHIC))
    if _is_numbered(text):
        raise _refusal_error(
            field,
            query,
            "this is a numbered list of searches. PubMed would read the numbers as words.",
            "Give one query; join the lines with AND and OR.",
            "numbered_list",
        )
    if found := _HISTORY.search(text):
        raise _refusal_error(
            field,
            query,
            f"{found[0]} refers to a search history, which entrez-kit does not have.",
            f"Replace {found[0]} with its search in parentheses.",
            "no_history",
        )
    if not _SUSPICIOUS.search(text):
        return
    from entrez_kit.query.foreign_syntax import find_foreign_sign

    if sign := find_foreign_sign(text):
        service, part = sign
        guide = PerFrontend("; see `entrez-kit guide searching`", "")
        hint = FrontendText(
            'Write it in PubMed\'s syntax, for example "heart failure"[tiab] or neoplasms[mh]', guide, "."
        )
        problem = f"{part!r} is {service} syntax. PubMed would search its letters as words."
        raise _refusal_error(field, query, problem, hint, "foreign_syntax", service=service)


def _is_numbered(text: str) -> bool:
    """Return whether a text is a list of searches with the numbers 1, 2 ... at the beginning of its lines."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        return _NUMBERED.match(text.lstrip()) is not None and re.match(r"\s*(?:#|S)?1[.):]\s", text) is not None
    numbers = [int(found[1]) for line in lines if (found := _LINE_NUMBER.match(line))]
    return len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers))) and numbers[0] <= 1


def _refusal_error(
    field: str, query: str, problem: str, hint: str | FrontendText, reason: str, **details: str
) -> InvalidInput:
    return InvalidInput(
        FrontendText(Argument(field), f": {problem}"),
        invalid_input=f"{field}={query}",
        recovery_hint=hint,
        details={"reason": reason, **details},
    )


def _check_query(query: Any, info: ValidationInfo) -> Any:
    if isinstance(query, str):
        check_syntax(query, info.field_name or "query_term")
    return query


QueryText = Annotated[Stripped, BeforeValidator(_check_query)]
"""A query in a request: refused before its length is checked, so that the message names the actual problem."""

"""Queries and dates in requests: their types, their checks, and the terms that filters add to a query."""

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Annotated, Any, Final, TypedDict

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import Argument, FrontendText, PerFrontend, describe_wrong_value
from entrez_kit.base.invisible import TYPOGRAPHIC_QUOTES
from entrez_kit.core.model import Stripped, Warn, WrongValue

# Dates in the format of Entrez, and its values for open bounds


class DateBounds(TypedDict, total=False):
    """ESearch's date parameters: all three, or an empty mapping."""

    datetype: str
    mindate: str
    maxdate: str


EARLIEST: Final = "0001"
LATEST: Final = "3000"
"""Bounds that NCBI treats as open. NCBI ignores a date filter with one bound, so both are always sent."""


def build_date_bounds(min_date: str | None, max_date: str | None, date_type: str | None) -> DateBounds:
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
        WrongValue: the text is not a date.
    """
    match = _DATE.fullmatch(text.strip())
    if not match:
        raise WrongValue("a date", "Write YYYY, YYYY/MM or YYYY/MM/DD.")
    year, month, day = (match[name] or match[f"{name}_"] for name in ("year", "month", "day"))
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        raise WrongValue("a valid date", "Correct the month or the day.") from None
    return "/".join(part if len(part) == 4 else part.zfill(2) for part in (year, month, day) if part)


EntrezDate = Annotated[str, AfterValidator(normalize_date)]


# A PubMed term from a user's query and filters, which cannot change each other's meaning


SPECIES: Final = {"humans": "humans[MeSH Terms]", "animals": "animals[MeSH Terms:noexp]"}


def check_balance(query: str, field: str = "query_term", *, brackets: bool = False) -> None:
    """Refuse a query with an unpaired quotation mark or parenthesis.

    Args:
        query: the query.
        field: the name of the argument.
        brackets: whether to refuse a square bracket that is not closed: in Entrez, a filter after it would be a part of
            the field tag.

    Raises:
        InvalidInput: the message names the character and its position, counted from 1.
    """
    open_positions: list[int] = []
    open_brackets: list[int] = []
    quote_position = 0
    for position, character in enumerate(query, start=1):
        if character == '"':
            quote_position = 0 if quote_position else position
        elif quote_position:
            continue
        elif character == "(":
            open_positions.append(position)
        elif character == ")":
            if not open_positions:
                raise _unbalanced_error(query, field, "closing parenthesis", position, "has no opening one")
            open_positions.pop()
        elif character == "[" and brackets:
            open_brackets.append(position)
        elif character == "]" and open_brackets:
            open_brackets.pop()
    if quote_position:
        raise _unbalanced_error(query, field, "quotation mark", quote_position, "is not closed")
    if open_positions:
        raise _unbalanced_error(query, field, "opening parenthesis", open_positions[-1], "is not closed")
    if open_brackets:
        raise _unbalanced_error(query, field, "square bracket", open_brackets[-1], "is not closed")


def _unbalanced_error(query: str, field: str, what: str, position: int, problem: str) -> InvalidInput:
    return InvalidInput(
        FrontendText(Argument(field), f": the {what} at character {position} {problem}."),
        invalid_input=f"{field}={query}",
        recovery_hint=FrontendText(
            "Close all quotation marks, parentheses and square brackets of the query.",
            PerFrontend(" In a shell, put single quotes around the query.", ""),
        ),
        details={"reason": "unbalanced_query", "position": position},
    )


def quote_filter(value: str, field: str) -> str:
    """Quote a filter value, so that it stays one value.

    Raises:
        InvalidInput: the value is blank or contains a quotation mark, a square bracket or a control character.
    """
    text = " ".join(value.split())
    if not text or re.search(r'["\[\]\x00-\x1f]', text):
        raise InvalidInput(
            describe_wrong_value(
                Argument(field), "a text that is not empty and has no quotation marks or square brackets", value
            ),
            invalid_input=f"{field}={value}",
            recovery_hint="Give one plain value. Write combinations and field tags in the query itself.",
            details={"reason": "bad_filter_value"},
        )
    return f'"{text}"'


def build_date_clause(min_date: str, max_date: str, date_type: str) -> str:
    """Return date bounds as a clause of a PubMed term."""
    return f'("{min_date}"[{date_type}] : "{max_date}"[{date_type}])'


# A query that a user typed or pasted


_TYPOGRAPHIC: Final = str.maketrans(
    {
        **dict.fromkeys(TYPOGRAPHIC_QUOTES, '"'),
        **dict.fromkeys("‘’‚‛′＇", "'"),
        **dict.fromkeys("‐‑‒–—―−－", "-"),
        **dict(zip("（）［］", "()[]", strict=True)),
    }
)
_QUOTED: Final = re.compile(r'"[^"]*"')
_HISTORY: Final = re.compile(r"(?<![\w#])#[0-9]+\b")
_NUMBERED: Final = re.compile(r"(?:#|\bS)?\b1[.):]?\s+\S.*\s(?:#|\bS)?2[.):]?\s+\S", re.DOTALL)
_LINE_NUMBER: Final = re.compile(r"\s*(?:#|S)?([0-9]{1,3})[.):]?\s+\S")
_OPERATOR: Final = re.compile(r"\b(?:AND|OR|NOT)\b|[&|]")
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
        InvalidInput: a quotation mark, parenthesis or square bracket is not closed.
    """
    warnings = []
    text = query.translate(_TYPOGRAPHIC)
    if text != query:
        changed = "".join(dict.fromkeys(one for one in query if ord(one) in _TYPOGRAPHIC))
        message = f"Typographic characters in the query were replaced by plain ones: {' '.join(changed)}"
        warnings.append(Warn(code="typographic_characters", message=message))
    text = " ".join(text.split())
    check_balance(text, field, brackets=True)
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
            FrontendText(
                "Give one query; join the lines with AND and OR",
                PerFrontend(
                    ". `search --strategy FILE` searches the last line of a list",
                    ". The tool translate_strategy (toolset review) joins them",
                    ". `EntrezKit.translate_strategy` joins them",
                ),
                ".",
            ),
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
        command = PerFrontend(
            "`entrez-kit strategy translate FILE` translates it to",
            "The tool translate_strategy (toolset review) translates it to",
            "`EntrezKit.translate_strategy` translates it to",
        )
        hint = FrontendText(command, ' PubMed\'s syntax, such as "heart failure"[tiab] or neoplasms[mh].')
        problem = f"{part!r} is {service} syntax. PubMed would read it as plain words."
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

BroaderResults = Annotated[bool, Field(description="Accept a broadened query.")]
"""The argument of every search that lists or counts results: whether it lists those of a broadened query."""
NO_BROADER_RESULTS: Final = {"broader_results": False}
"""What agents get by default: they often read the total and the ids, and not the warnings."""


def has_operator(query: str) -> bool:
    """Return whether a query may have an operator; one in quotes counts too."""
    return _OPERATOR.search(query) is not None

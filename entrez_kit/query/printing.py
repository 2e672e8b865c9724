"""Print a resolved query as PubMed's QueryTranslation."""

import re
from typing import Final

from entrez_kit.query.algebra import And, Everything, Not, Or, Query, Shown

_PUNCTUATION: Final = re.compile(r"[^\w*]|_")


def print_query(query: Query) -> str:
    """Return the QueryTranslation of a query. Parentheses of the user are kept if they contain several terms."""
    pieces: list[str] = []
    waiting: list[Query | str] = [query]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            pieces.append(part)
        elif isinstance(part, Shown):
            pieces.append(part.text)
        elif isinstance(part, And | Or):
            sign = " AND " if isinstance(part, And) else " OR "
            listed: list[Query | str] = []
            for index, inner in enumerate(part.parts):
                listed += ([sign] if index else []) + _enclose(inner)
            waiting += reversed(listed)
        elif isinstance(part, Not):
            left: list[Query | str] = [] if isinstance(part.left, Everything) else [*_enclose(part.left, ()), " "]
            waiting += reversed([*left, "NOT ", *_enclose(part.right)])
        else:
            raise TypeError(f"{part!r} has no printed form; the resolver wraps it in Shown.")
    return "".join(pieces)


def _enclose(part: Query, plain: tuple[type, ...] | None = None) -> list[Query | str]:
    """Return a part with parentheses if it has several terms."""
    composed = isinstance(part, And | Or) or (isinstance(part, Not) and plain is None)
    return ["(", part, ")"] if composed else [part]


def quote_term(text: str, label: str) -> str:
    """Return a term in quotes with the name of its field."""
    return f'"{text}"[{label}]'


def print_field_value(text: str, label: str) -> str:
    """Return a value as PubMed prints it: in lower case and in quotes, with the name of its field."""
    return quote_term(" ".join(text.lower().split()), label)


def print_words(text: str) -> str:
    """Return a tagged term as PubMed prints it: as typed, with spaces instead of punctuation."""
    return " ".join(_PUNCTUATION.sub(" ", text).split())


def print_days(low: int, high: int, label: str) -> str:
    """Return a range of days with the name of its field."""
    return f"{print_day(low)}:{print_day(high)}[{label}]"


def print_day(number: int) -> str:
    """Return yyyymmdd as "yyyy/mm/dd"."""
    return f"{number // 10000:04}/{number // 100 % 100:02}/{number % 100:02}"

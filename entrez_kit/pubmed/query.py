"""Build a PubMed search term from a user's query and filters, so that neither can change the meaning of the other."""

import re
from collections.abc import Sequence
from typing import Final

from entrez_kit.errors import InvalidInput
from entrez_kit.wording import Argument, ByDoor, Wording

MAX_PUBMED_RESULTS: Final = 9_999
"""PubMed's ESearch shows only the first 9,999 records of any search."""
SPECIES: Final = {"humans": "humans[MeSH Terms]", "animals": "animals[MeSH Terms:noexp]"}


def check_balance(query: str, field: str = "query_term") -> None:
    """Refuse a query whose quotes or parentheses do not pair up.

    Args:
        query: the query.
        field: what the caller knows it by.

    Raises:
        InvalidInput: the message names the character and its place, counted from 1.
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
                raise _unbalanced(query, field, "closing parenthesis", place, "has no opening one before it")
            open_places.pop()
    if quote_place:
        raise _unbalanced(query, field, "quotation mark", quote_place, "is never closed")
    if open_places:
        raise _unbalanced(query, field, "opening parenthesis", open_places[-1], "is never closed")


def _unbalanced(query: str, field: str, what: str, place: int, problem: str) -> InvalidInput:
    return InvalidInput(
        Wording(Argument(field), f": the {what} at character {place} {problem}."),
        invalid_input=f"{field}={query}",
        recovery_hint=Wording(
            "Pair up the quotes and parentheses of the query", ByDoor("; put single quotes around it", ""), "."
        ),
        details={"reason": "unbalanced_query", "position": place},
    )


def quoted(value: str, field: str) -> str:
    """Quote a filter value so that it stays one value.

    Raises:
        InvalidInput: the value holds a quotation mark, a square bracket or a control character.
    """
    text = " ".join(value.split())
    if not text or re.search(r'["\[\]\x00-\x1f]', text):
        raise InvalidInput(
            Wording(
                Argument(field),
                f": {value!r} cannot be used as a filter value; it must not be blank or hold quotes or brackets.",
            ),
            invalid_input=f"{field}={value}",
            recovery_hint="Give one plain value; write combinations and field tags in the query itself.",
            details={"reason": "bad_filter_value"},
        )
    return f'"{text}"'


def build_term(
    query: str,
    *,
    publication_types: Sequence[str] = (),
    author: str | None = None,
    journal: str | None = None,
    mesh_terms: Sequence[str] = (),
    language: str | None = None,
    species: str | None = None,
    has_abstract: bool = False,
    free_full_text: bool = False,
) -> str:
    """Return the ESearch term: the query in parentheses, then one clause for each filter.

    Publication types are alternatives, MeSH terms all have to match. Without filters the query is returned as it is.

    Raises:
        InvalidInput: unbalanced quotes or parentheses, or a filter value that would not stay one value.
    """
    check_balance(query)
    clauses: list[str] = []
    if publication_types:
        alternatives = [
            f"{quoted(kind, 'filter_by_publication_types')}[Publication Type]" for kind in publication_types
        ]
        clauses.append(alternatives[0] if len(alternatives) == 1 else f"({' OR '.join(alternatives)})")
    if author:
        clauses.append(f"{quoted(author, 'author')}[Author]")
    if journal:
        clauses.append(f"{quoted(journal, 'journal')}[Journal]")
    clauses += [f"{quoted(term, 'mesh_terms')}[MeSH Terms]" for term in mesh_terms]
    if language:
        clauses.append(f"{quoted(language, 'language')}[Language]")
    if species:
        clauses.append(SPECIES[species])
    if has_abstract:
        clauses.append("hasabstract")
    if free_full_text:
        clauses.append("free full text[Filter]")
    return " AND ".join([f"({query})", *clauses]) if clauses else query


def date_clause(min_date: str, max_date: str, date_type: str) -> str:
    """Write date bounds as a clause of a PubMed term."""
    return f'("{min_date}"[{date_type}] : "{max_date}"[{date_type}])'

"""A query for Europe PMC: the user's own, kept apart from the filter on sources, and mended where it finds nothing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from entrez_kit.entrez_query import check_balance
from entrez_kit.errors import InvalidInput
from entrez_kit.model import Warn
from entrez_kit.wording import Argument, Wording

_ESCAPED: Final = re.compile(r"\\.")
_QUOTED_ID: Final = re.compile(r'\b(EXT_ID|PMCID|PMC_ID)\s*:\s*"\s*([A-Za-z0-9._-]+)\s*"', re.IGNORECASE)
_PUBMED_TAG: Final = re.compile(
    r"\[\s*(?:ti|tiab|title|title/abstract|ab|au|author|1au|lastau|ad|affiliation|pt|publication type|mh|mesh|majr"
    r"|mesh terms|ta|journal|dp|pdat|edat|la|language|sb|filter|pmid|uid|all fields|tw|text word|nm|si|gr)"
    r"(?:\s*:\s*\w+)?\s*\]",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Query:
    """What is sent, and what the user should know about it."""

    text: str
    warnings: list[Warn]


def build_query(query: str, sources: Sequence[str]) -> Query:
    """Return the query in parentheses with a clause for the sources, so that an OR in it cannot get past them.

    Raises:
        InvalidInput: it has no word, or quotes or parentheses that do not pair up.
    """
    query = " ".join(query.split())
    if not any(character.isalnum() for character in query):
        raise InvalidInput(
            Wording(Argument("query"), ": at least one word is needed"),
            invalid_input=f"query={query}",
            recovery_hint="Give a word, a phrase in double quotes, or a field such as AUTH:doudna.",
            details={"reason": "blank_query"},
        )
    # Europe PMC may read \" and \( as plain characters or as what they are: the query has to hold together either way.
    check_balance(query, "query")
    masked = _ESCAPED.sub("..", query)
    check_balance(masked, "query")
    if masked.endswith("\\"):
        raise InvalidInput(
            Wording(Argument("query"), ": it ends with a backslash that has nothing to escape"),
            invalid_input=f"query={query}",
            recovery_hint="Take the backslash away.",
            details={"reason": "unbalanced_query", "position": len(query)},
        )
    warnings = []
    bare = _QUOTED_ID.sub(r"\1:\2", query)
    if bare != query:
        warnings.append(
            Warn(
                code="ids_unquoted",
                message="Europe PMC finds no quoted id where sources are named; the quotes around ids were taken away.",
            )
        )
    if tag := _PUBMED_TAG.search(query):
        warnings.append(
            Warn(
                code="pubmed_syntax",
                message=f"{tag[0]} is PubMed's way to name a field; Europe PMC takes it for words. "
                "It writes TITLE:word, AUTH:name, KW:term, PUB_TYPE:review.",
            )
        )
    clauses = " OR ".join(f"SRC:{source}" for source in sources)
    return Query(f"({bare}) AND ({clauses})" if len(sources) > 1 else f"({bare}) AND {clauses}", warnings)

"""PubMed's filters: those that records themselves answer, and those that need data outside of the records."""

import json
import re
from pathlib import Path
from typing import Final

from entrez_kit.base.errors import InvalidInput

_FOLDER: Final = Path(__file__).parent
_DATA: Final = json.loads((_FOLDER / "filters.json").read_text(encoding="utf-8"))
STATUS_FILTERS: Final[dict[str, str]] = _DATA["statuses"]
"""By the status of a record, the filter that it matches."""
NOTICE_FILTERS: Final[dict[str, str]] = {name: f"has{name}" for name in _DATA["notices"]} | _DATA["other_notices"]
"""By the lower-case type of a comment or correction, the filter of the records that have one."""
BARE: Final = frozenset((*_DATA["bare"], *NOTICE_FILTERS.values()))
"""Filters that need no tag, normalized."""
KNOWN: Final = BARE | {*STATUS_FILTERS.values(), "all", "data", "pubmed pmc"}
"""Filters that exist although no record may match them, normalized."""
APPROXIMATE: Final = frozenset(_DATA["approximate"])
"""Filters that the records answer nearly: embargo dates, for example, are not in them."""
STRATEGIES: Final[dict[str, str]] = json.loads((_FOLDER / "strategies.json").read_text(encoding="utf-8"))
"""The queries of Clinical Queries and systematic reviews, by the normalized name of the filter.

PubMed does not publish the records of these filters but their queries (PubMed User Guide, "Clinical Queries Filters";
"Search Strategy Used to Create the PubMed Systematic Reviews Filter", as of 2018). NLM may change them at any time, so
an answer with one is approximate.
"""

_LINKOUT: Final = re.compile(r"(?:free )?full text|lo(?:all|prov|attr|cat|group|free).*|ffrft.*|fft")
_BOOKS: Final = re.compile(r"pubmed books|books|pmcbook.*")
_STRATEGIES: Final = re.compile(r"clinical queries.*|litc.*|medical genetics|cochrane.*|.* sb")


def find_filter(key: str) -> str:
    """Return the name under which an index lists a filter, from the normalized name in a query."""
    name: str = _DATA["synonyms"].get(key, key)
    return name


def explain_unknowable(key: str) -> str | None:
    """Return why no copy of PubMed can answer a filter; None if the records answer it."""
    if _LINKOUT.fullmatch(key):
        return "it needs the links to publishers (LinkOut), which the records of PubMed do not contain"
    if _BOOKS.fullmatch(key):
        return "books are not in the files of PubMed"
    if _STRATEGIES.fullmatch(key):
        return "it is a search strategy that PubMed maintains outside of the records"
    return None


def unknowable_error(text: str, reason: str, query: str) -> InvalidInput:
    """Return the error for a part of a query that no copy of PubMed can answer."""
    return InvalidInput(
        f"No copy of PubMed can answer {text!r}: {reason}.",
        invalid_input=f"query={query}",
        recovery_hint="Remove that part of the query, or search PubMed itself.",
        details={"reason": "not_in_copy", "part": text},
    )


def missing_actions_error(text: str, query: str) -> InvalidInput:
    """Return the error for a pharmacologic action in a copy that has no file of them."""
    return InvalidInput(
        f"The copy cannot answer {text!r}: it has no pharmacologic actions.",
        invalid_input=f"query={query}",
        recovery_hint="Import MeSH's file of them (such as pa2026.xml) into the copy.",
        details={"reason": "not_in_copy", "part": text},
    )

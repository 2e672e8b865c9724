"""The codes of findings about strategies, with their severities."""

from dataclasses import dataclass
from typing import Final, Literal

Severity = Literal["error", "warning", "note"]
CODES: Final[dict[str, Severity]] = {
    "syntax-error": "error",
    "not-in-pubmed": "error",
    "unknown-field": "error",
    "missing-reference": "error",
    "circular-reference": "error",
    "forward-reference": "error",
    "half-open-date": "error",
    "short-truncation": "error",
    "wildcard-trap": "error",
    "proximity-ignored": "error",
    "not-mesh": "error",
    "count-mismatch": "error",
    "not-removes-known": "error",
    "no-hits": "error",
    "dropped-phrase": "error",
    "implicit-precedence": "warning",
    "unbalanced-quotes": "warning",
    "heading-renamed": "warning",
    "unused-line": "warning",
    "range-over-combination": "warning",
    "suffix-binds-last": "warning",
    "other-dialect": "warning",
    "missing-number": "warning",
    "number-gap": "warning",
    "lowercase-operator": "warning",
    "foreign-explode": "warning",
    "phrase-not-mapped": "warning",
    "untagged-term": "warning",
    "redundant-term": "warning",
    "duplicate-line": "warning",
    "date-limit-inside": "warning",
    "limit-drops-unindexed": "warning",
    "filter-for-central": "warning",
    "explosion-of-hits": "warning",
    "typographic-characters": "note",
    "heading-without-text": "note",
    "language-limit": "note",
    "reference-style": "note",
}
"""Every code of a finding with its severity; guide ``lint`` explains each."""
PRESS: Final[dict[str, str]] = {
    **dict.fromkeys(("implicit-precedence", "proximity-ignored", "not-removes-known", "range-over-combination"), "2"),
    **dict.fromkeys(("not-mesh", "heading-renamed", "heading-without-text", "foreign-explode"), "3"),
    **dict.fromkeys(("short-truncation", "wildcard-trap", "redundant-term", "phrase-not-mapped", "untagged-term"), "4"),
    **dict.fromkeys(("limit-drops-unindexed", "language-limit", "date-limit-inside", "half-open-date"), "6"),
    "filter-for-central": "6",
}
"""The element of the PRESS checklist by code; 5, spelling, syntax and line numbers, for all others."""


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A finding about a line, or about the whole strategy (without a ``line``)."""

    code: str
    line: int | None
    message: str
    fix: str = ""

"""Find alternatives of a search that another alternative already includes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from entrez_kit.base.frontend_text import format_count
from entrez_kit.query.dialects.tree import compile_pattern, get_stem, has_marks
from entrez_kit.strategies.findings import LineProblem


@dataclass(frozen=True, slots=True)
class Alternative:
    """A term that OR joins with others: its folded words with their wildcards, its field, and its text."""

    pattern: str
    field: str
    text: str


def find_redundant(number: int | None, terms: Sequence[Alternative]) -> Iterator[LineProblem]:
    """Find the alternatives of a line that another one includes."""
    counts = Counter((term.pattern, term.field) for term in terms)
    truncated = [term for term in terms if has_marks(term.pattern) and get_stem(term.pattern)]
    reported: set[str] = set()
    for term in terms:
        count = counts[term.pattern, term.field]
        if count > 1 and term.pattern:
            if term.text not in reported:
                yield LineProblem(
                    "redundant-term", number, f"{term.text} is there {format_count(count, 'time')}.", "remove one"
                )
            reported.add(term.text)
            continue
        wider = next((other for other in truncated if _includes(other, term)), None)
        if wider is not None:
            yield LineProblem("redundant-term", number, f"{wider.text} includes {term.text}.", f"remove {term.text}")


def _includes(wider: Alternative, term: Alternative) -> bool:
    """Return whether a truncated word matches all that another word of the same field matches."""
    if wider.field != term.field or wider.pattern == term.pattern or " " in f"{wider.pattern}{term.pattern}":
        return False
    if not has_marks(term.pattern):
        return compile_pattern(wider.pattern).fullmatch(term.pattern) is not None
    stem = get_stem(wider.pattern)
    return wider.pattern == f"{stem}*" and get_stem(term.pattern).startswith(stem)

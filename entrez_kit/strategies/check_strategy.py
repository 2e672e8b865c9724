"""Check a strategy as a whole: its references, counts, repeated lines, wildcards and headings."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from entrez_kit.base.frontend_text import format_count
from entrez_kit.query.dialects.renamed_headings import RENAMED
from entrez_kit.query.dialects.tree import (
    AllOf,
    AnyOf,
    Exclude,
    LineReference,
    PubMedQuery,
    SubjectHeading,
    WordPatterns,
    get_stem,
    list_children,
    walk,
)
from entrez_kit.query.fields import parse_tag
from entrez_kit.query.parser import parse
from entrez_kit.query.words import STOP_WORDS, normalize
from entrez_kit.strategies.check_pubmed_lines import list_operands
from entrez_kit.strategies.findings import LineProblem
from entrez_kit.strategies.strategy import MAX_WILDCARDS, Strategy
from entrez_kit.strategies.translated_lines import WorkingLine


def _check_ranges(strategy: Strategy) -> Iterator[LineProblem]:
    """Find ranges that include a line which already combines other lines of the range."""
    numbered = strategy.numbered
    for line in strategy.lines:
        if line.kind != "reference" or not re.search(r"[0-9]\s*[-–]\s*[#S]?[0-9]", line.printed.text):
            continue
        for number in line.depends_on:
            other = numbered.get(number)
            if other is not None and other.kind == "reference" and set(other.depends_on) & set(line.depends_on):
                message = f"The range includes line {number}, which already combines lines of it."
                yield LineProblem("range-over-combination", line.number, message)


def _check_counts(strategy: Strategy) -> Iterator[LineProblem]:
    """Compare the counts printed beside lines with those of the lines that they combine."""
    for line in strategy.lines:
        message = _find_mismatch(line, strategy.numbered)
        if message is not None:
            yield LineProblem("count-mismatch", line.number, message)


def _find_mismatch(line: WorkingLine, numbered: Mapping[int, WorkingLine]) -> str | None:
    """Return how the printed count of a line contradicts those of the lines that it combines."""
    count, node = line.printed.printed_count, line.node
    if count is None or node is None or line.kind != "reference":
        return None
    references = [part for part in list_children(node) if isinstance(part, LineReference)]
    if len(references) < len(list_children(node)):
        return None
    parts = [numbered[reference.number] for reference in references if reference.number in numbered]
    counts = {part.number: part.printed.printed_count for part in parts if part.printed.printed_count is not None}
    if not counts:
        return None
    smallest, largest = min(counts, key=counts.__getitem__), max(counts, key=counts.__getitem__)
    if isinstance(node, AnyOf) and count < counts[largest]:
        return f"OR has {format_count(count, 'record')}, fewer than the {counts[largest]:,} of line {largest}."
    if isinstance(node, AnyOf) and len(counts) == len(parts) and count > sum(counts.values()):
        return f"OR has {format_count(count, 'record')}, more than its lines together."
    if isinstance(node, AllOf) and count > counts[smallest]:
        return f"AND has {format_count(count, 'record')}, more than the {counts[smallest]:,} of line {smallest}."
    left = parts[0].printed.printed_count
    if isinstance(node, Exclude) and left is not None and count > left:
        return f"NOT has {format_count(count, 'record')}, more than the {left:,} of line {parts[0].number}."
    return None


def _check_unused(strategy: Strategy) -> Iterator[LineProblem]:
    final = strategy.final
    if final is None or final.kind == "refused":
        return
    used = find_closure(strategy, final)
    for line in strategy.lines:
        if line.kind not in ("comment", "header") and line not in used:
            yield LineProblem("unused-line", line.number, "No line that leads to the last one uses this line.")


def find_closure(strategy: Strategy, line: WorkingLine) -> set[WorkingLine]:
    """Return the lines that a line depends on, and itself."""
    numbered, closure, waiting = strategy.numbered, set[WorkingLine](), [line]
    while waiting:
        current = waiting.pop()
        if current not in closure:
            closure.add(current)
            waiting += [numbered[number] for number in current.depends_on if number in numbered]
    return closure


def _check_duplicates(strategy: Strategy) -> Iterator[LineProblem]:
    seen: dict[str, int] = {}
    for line in strategy.lines:
        if line.kind in ("comment", "header") or line.number is None:
            continue
        key = " ".join(re.sub(r"[()]", " ", line.printed.text.lower()).split())
        if key in seen:
            yield LineProblem("duplicate-line", line.number, f"The line repeats line {seen[key]}.")
        else:
            seen[key] = line.number


def _check_wildcards(strategy: Strategy) -> Iterator[LineProblem]:
    final = strategy.final
    query = strategy.expand(final) if final is not None else None
    if query is not None and query.count("*") > MAX_WILDCARDS and final is not None:
        text = f"The query has {query.count('*')} wildcards; PubMed answers more than {MAX_WILDCARDS} like an outage."
        yield LineProblem("wildcard-trap", final.number, text)


def _list_terms(strategy: Strategy) -> Iterator[tuple[int | None, SubjectHeading | tuple[str, ...]]]:
    """Yield the number of the line and each heading, or the words of each text term, of a strategy."""
    for line in strategy.lines:
        for part in walk(line.node) if line.node is not None else ():
            if isinstance(part, WordPatterns):
                yield line.number, tuple(get_stem(pattern) for pattern in part.patterns)
            elif isinstance(part, SubjectHeading):
                yield line.number, part
            elif isinstance(part, PubMedQuery):
                for operand in list_operands(parse(part.query).root):
                    tag = parse_tag(operand.tag) if operand.tag else None
                    is_heading = tag is not None and tag.field.code in ("MESH", "MAJR")
                    yield (
                        line.number,
                        SubjectHeading(operand.phrase.partition("/")[0]) if is_heading else tuple(operand.words),
                    )


def list_headings(strategy: Strategy) -> list[tuple[int | None, str]]:
    """Return the MeSH headings of a strategy with the numbers of their lines."""
    return [
        (number, term.name)
        for number, term in _list_terms(strategy)
        if isinstance(term, SubjectHeading) and term.vocabulary == "mesh"
    ]


def check_currency(strategy: Strategy, find_name: Callable[[str], str | None]) -> Iterator[LineProblem]:
    """Find headings that MeSH does not have, or has under another name.

    Args:
        strategy: the strategy.
        find_name: returns the present name of a heading or an entry term; None if MeSH does not have it.
    """
    for number, name in dict.fromkeys(list_headings(strategy)):
        current = find_name(name) or find_name(RENAMED.get(name.lower(), name))
        if current is None:
            yield LineProblem("not-mesh", number, f"{name!r} is not a MeSH heading.")
        elif normalize(current) != normalize(name):
            yield LineProblem("heading-renamed", number, f"{name!r} is now {current!r}.")


def _check_headings(strategy: Strategy) -> Iterator[LineProblem]:
    """Find headings whose words no line searches as text."""
    listed = list(_list_terms(strategy))
    texts = {word[:5] for _, term in listed if not isinstance(term, SubjectHeading) for word in term}
    for number, name in [(number, term.name) for number, term in listed if isinstance(term, SubjectHeading)]:
        words = [word[:5] for word in normalize(name).split() if word not in STOP_WORDS and len(word) > 3]
        if words and name.lower() not in ("humans", "animals") and not any(word in texts for word in words):
            yield LineProblem("heading-without-text", number, f"No line searches the words of {name!r} as text.")


def _check_central(strategy: Strategy) -> Iterator[LineProblem]:
    if strategy.dialect != "cochrane":
        return
    for line in strategy.lines:
        if re.search(r"randomi[sz#?*]|placebo", line.printed.text, re.IGNORECASE) and re.search(
            r":ti|:pt|\[mh", line.printed.text
        ):
            text = "CENTRAL holds only trials; a filter for trials loses some of them."
            yield LineProblem("filter-for-central", line.number, text, "remove the filter")


STRATEGY_RULES: Final = (
    _check_ranges,
    _check_counts,
    _check_unused,
    _check_duplicates,
    _check_wildcards,
    _check_headings,
    _check_central,
)

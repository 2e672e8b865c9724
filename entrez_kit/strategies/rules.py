"""The rules of ``strategy lint``: problems of a strategy that its lines show without a search."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from entrez_kit.query import unsettled
from entrez_kit.query.dialects.currency import RENAMED
from entrez_kit.query.dialects.tree import (
    All,
    Any,
    Days,
    Exclude,
    Heading,
    PubMed,
    Reference,
    Value,
    Words,
    children,
    compile_pattern,
    get_stem,
    has_marks,
    walk,
)
from entrez_kit.query.fields import parse_tag
from entrez_kit.query.parser import Group, Operand, parse
from entrez_kit.query.words import STOP_WORDS, normalize
from entrez_kit.strategies.models import WorkingLine
from entrez_kit.strategies.strategy import MAX_WILDCARDS, Strategy

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
_DATES: Final = r"(?:dp|pdat|edat|crdt|mhda|dcom|lr|mdat|ppdat|epdat|date - [a-z]+|publication date)"
_HALF_OPEN: Final = re.compile(
    rf'(?<![0-9/"\]])(?<![0-9/"\]] ) ?: ?"?[0-9][0-9/]*+"? ?\[{_DATES}\]|[0-9]"? ?: ?\[{_DATES}\]'
    rf"|\[{_DATES}\] ?: ?(?![0-9\" ])|\[{_DATES}\] ?: ?$",
    re.IGNORECASE,
)
_YEARS: Final = re.compile(r"\byr ?= ?\"? ?(?:[0-9]{4} ?- ?\"? ?$|- ?[0-9]{4})", re.IGNORECASE)
_FOREIGN_MARKS: Final = re.compile(r"(?<=\w)[?$#](?=\w|\[|\s|$)")


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A finding about a line; ``line`` is None if it is about the strategy."""

    code: str
    line: int | None
    message: str
    fix: str = ""


def find_problems(strategy: Strategy) -> list[LineProblem]:
    """Return the problems that the lines of a strategy show, in the order of the lines."""
    problems: list[LineProblem] = []
    for line in strategy.lines:
        if line.kind in ("comment", "header"):
            continue
        for rule in _LINE_RULES:
            problems += rule(line, strategy)
    for whole in _STRATEGY_RULES:
        problems += whole(strategy)
    return sorted(dict.fromkeys(problems), key=lambda problem: (problem.line is None, problem.line or 0))


# One line

_WITHOUT_ANIMALS: Final = "NOT (animals[mh] NOT humans[mh])"
"""The limit to humans that keeps the records that are not yet indexed with MeSH."""


def _check_refusal(line: WorkingLine, strategy: Strategy) -> Iterator[LineProblem]:
    if (refusal := line.refusal) is not None:
        fix = _suggest_range(line) if refusal.code in ("missing-reference", "circular-reference") else ""
        yield LineProblem(refusal.code, line.number, f"{refusal.text}.", fix)


def _suggest_range(line: WorkingLine) -> str:
    """Return a range that ends before the line, if its range extends too far."""
    match = re.search(r"\b(or|and)/([0-9]+)-([0-9]+)", line.printed.text, re.IGNORECASE)
    if match is None or line.number is None or int(match[3]) < line.number:
        return ""
    return f"{match[1]}/{match[2]}-{line.number - 1}"


def _check_notes(line: WorkingLine, strategy: Strategy) -> Iterator[LineProblem]:
    """Report the notes whose code is that of a finding."""
    for note in (*line.printed.notes, *line.notes):
        if note.code in CODES:
            is_limit_to_humans = note.code == "limit-drops-unindexed" and _limits_to_humans(line)
            fix = _WITHOUT_ANIMALS if is_limit_to_humans else ""
            yield LineProblem(note.code, line.number, f"{note.text.removesuffix('.')}.", fix)


def _limits_to_humans(line: WorkingLine) -> bool:
    parts = walk(line.node) if line.node is not None else ()
    return any(isinstance(part, PubMed) and part.query == "humans[mh]" for part in parts)


def _check_characters(line: WorkingLine, strategy: Strategy) -> Iterator[LineProblem]:
    signs = dict.fromkeys(sign for sign in line.printed.original if sign in "“”„‟‘’‚´–—−\u00a0\u00ad…")
    if signs:
        characters = " ".join(
            sign if sign.isprintable() and sign != "\u00a0" else f"U+{ord(sign):04X}" for sign in signs
        )
        yield LineProblem(
            "typographic-characters", line.number, f"{characters} was read as a plain character.", "plain characters"
        )


def _check_dates(line: WorkingLine, strategy: Strategy) -> Iterator[LineProblem]:
    text = line.printed.text
    if (line.dialect == "pubmed" and (match := _HALF_OPEN.search(text))) or (match := _YEARS.search(text)):
        yield LineProblem(
            "half-open-date", line.number, f"{match[0].strip()!r} has one bound.", "write both, such as 2010:3000[dp]"
        )


def _list_operands(text: str) -> Iterator[tuple[Operand, Group]]:
    waiting = [parse(text).root]
    while waiting:
        group = waiting.pop()
        for part in group.parts:
            if isinstance(part.node, Group):
                waiting.append(part.node)
            else:
                yield part.node, group


def _check_pubmed(line: WorkingLine, strategy: Strategy) -> Iterator[LineProblem]:
    if not isinstance(line.node, PubMed) or line.dialect != "pubmed":
        return
    number = line.number
    for operand, _ in _list_operands(line.node.query):
        if operand.is_history:
            continue
        tag = parse_tag(operand.tag) if operand.tag else None
        if operand.tag and tag is None:
            yield LineProblem("unknown-field", number, f"PubMed has no field [{operand.tag}].")
        for word in operand.phrase.split():
            stem, star, _ = word.strip('"').partition("*")
            if star and not stem:
                yield LineProblem("wildcard-trap", number, f"{word} begins with a wildcard, which PubMed drops.")
            elif star and len(re.sub(r"\W", "", stem)) < unsettled.SHORTEST_STEM and " " not in operand.phrase:
                text = f"{word} has fewer than {unsettled.SHORTEST_STEM} letters before *; PubMed searches {stem}."
                yield LineProblem("short-truncation", number, text, "list the words")
        if match := _FOREIGN_MARKS.search(operand.phrase):
            yield LineProblem("wildcard-trap", number, f"{match[0]} in {operand.phrase} is no wildcard of PubMed.", "*")
        if tag is not None and tag.distance is not None:
            if "*" in operand.phrase:
                text = f"{operand.text}: PubMed ignores the distance of a truncated word."
                yield LineProblem("proximity-ignored", number, text, "list the words")
            elif not unsettled.allows_proximity(
                tag.field.proximity, operand.phrase.split(), tag.distance, operand.quoted
            ):
                text = f"{operand.text}: a distance needs quotation marks, two words, and [ti], [tiab] or [ad]."
                yield LineProblem("proximity-ignored", number, text)
        if operand.tag is None and not operand.phrase.isdigit():
            if operand.quoted or "*" in operand.phrase or re.search(r"\w-\w", operand.phrase):
                text = f"{operand.text} has no field, and its quotation marks, * or hyphen turn term mapping off."
                yield LineProblem("phrase-not-mapped", number, text, "add a field, such as [tiab]")
            elif normalize(operand.phrase) not in STOP_WORDS:
                text = f"{operand.text} has no field; PubMed maps it to headings and other words."
                yield LineProblem("untagged-term", number, text, "add a field, such as [tiab] or [mh]")
        if tag is not None and tag.field.kind == "mesh" and (new := RENAMED.get(operand.phrase.lower())):
            yield LineProblem("heading-renamed", number, f"{operand.phrase!r} is now {new!r}.", new)
    yield from _check_groups(line)


def _check_groups(line: WorkingLine) -> Iterator[LineProblem]:
    """Find mixed operators and redundant alternatives in the groups of a line of PubMed."""
    assert isinstance(line.node, PubMed)
    waiting = [parse(line.node.query).root]
    while waiting:
        group = waiting.pop()
        waiting += [part.node for part in group.parts if isinstance(part.node, Group)]
        operators = {part.operator for part in group.parts[1:]}
        if "OR" in operators and len(operators) > 1:
            text = f"{' and '.join(sorted(operators))} are mixed; PubMed reads them from left to right."
            yield LineProblem("implicit-precedence", line.number, text, "add parentheses")
        if operators != {"OR"}:
            continue
        terms = [part.node for part in group.parts if isinstance(part.node, Operand)]
        yield from _find_redundant(
            line.number,
            [
                (normalize_pattern(term.phrase), (term.tag or "").lower(), term.text)
                for term in terms
                if not term.is_history
            ],
        )


def normalize_pattern(text: str) -> str:
    """Return the folded words of a term with their wildcards."""
    return " ".join(re.findall(r"[\w*]+", text.lower()))


def _find_redundant(number: int | None, terms: list[tuple[str, str, str]]) -> Iterator[LineProblem]:
    """Find alternatives that another one includes. Each has its pattern, its field and its text."""
    seen: Counter[tuple[str, str]] = Counter((pattern, field) for pattern, field, _ in terms)
    truncated = [(pattern, field, text) for pattern, field, text in terms if has_marks(pattern) and get_stem(pattern)]
    reported_texts: set[str] = set()
    for pattern, field, text in terms:
        if seen[pattern, field] > 1 and pattern:
            if text not in reported_texts:
                yield LineProblem(
                    "redundant-term", number, f"{text} is there {seen[pattern, field]} times.", "remove one"
                )
            reported_texts.add(text)
            continue
        for wider, same, label in truncated:
            if same == field and wider != pattern and " " not in f"{wider}{pattern}" and not has_marks(pattern):
                if compile_pattern(wider).fullmatch(pattern):
                    yield LineProblem("redundant-term", number, f"{label} includes {text}.", f"remove {text}")
                    break
            elif same == field and wider != pattern and has_marks(pattern) and " " not in f"{wider}{pattern}":
                stem = get_stem(wider)
                if wider == f"{stem}*" and get_stem(pattern).startswith(stem):
                    yield LineProblem("redundant-term", number, f"{label} includes {text}.", f"remove {text}")
                    break


def _check_alternatives(line: WorkingLine, strategy: Strategy) -> Iterator[LineProblem]:
    if line.node is None:
        return
    for node in walk(line.node):
        if isinstance(node, Any):
            words = [part for part in node.parts if isinstance(part, Words)]
            terms = [(" ".join(part.patterns), part.scope.name if part.scope else "", part.text) for part in words]
            yield from _find_redundant(line.number, terms)
            days = sum(isinstance(part, Days) for part in node.parts)
            if 0 < days < len(node.parts):
                yield LineProblem("date-limit-inside", line.number, "A date is an alternative of search terms.")
        if isinstance(node, Words) and any(
            has_marks(pattern) and "*" in pattern and 0 < len(get_stem(pattern)) < unsettled.SHORTEST_STEM
            for pattern in node.patterns
        ):
            text = f"{node.text} has fewer than {unsettled.SHORTEST_STEM} letters before its wildcard."
            yield LineProblem("short-truncation", line.number, text, "list the words")


def _check_limits(line: WorkingLine, strategy: Strategy) -> Iterator[LineProblem]:
    node = line.node
    if isinstance(node, PubMed) and line.dialect == "pubmed":
        root = parse(node.query).root
        for part in root.parts[1:]:
            if part.operator == "AND" and isinstance(part.node, Operand):
                tag = parse_tag(part.node.tag) if part.node.tag else None
                if tag is not None and tag.field.code == "MESH" and normalize(part.node.phrase) in ("humans", "human"):
                    text = "AND humans[mh] drops every record that is not yet indexed with MeSH."
                    yield LineProblem("limit-drops-unindexed", line.number, text, _WITHOUT_ANIMALS)
                if tag is not None and tag.field.code == "LANG":
                    yield LineProblem("language-limit", line.number, "A restriction to a language needs a reason.")
    elif node is not None and any(isinstance(part, Value) and part.code == "LANG" for part in walk(node)):
        yield LineProblem("language-limit", line.number, "A restriction to a language needs a reason.")


def _check_ranges(line: WorkingLine, strategy: Strategy) -> Iterator[LineProblem]:
    text = line.printed.text
    if not re.search(r"[0-9]\s*[-–]\s*[#S]?[0-9]", text) or line.kind != "reference":
        return
    numbered = strategy.numbered
    for number in line.depends_on:
        other = numbered.get(number)
        if other is not None and other.kind == "reference" and set(other.depends_on) & set(line.depends_on):
            message = f"The range includes line {number}, which already combines lines of it."
            yield LineProblem("range-over-combination", line.number, message)


def _check_counts(line: WorkingLine, strategy: Strategy) -> Iterator[LineProblem]:
    """Compare the count printed beside a line with those of the lines that it combines."""
    count, node = line.printed.printed_count, line.node
    if count is None or node is None or line.kind != "reference":
        return
    if not all(isinstance(part, Reference) for part in children(node)):
        return
    numbered = strategy.numbered
    parts = [
        numbered[part.number] for part in children(node) if isinstance(part, Reference) and part.number in numbered
    ]
    counts = {line.number: line.printed.printed_count for line in parts if line.printed.printed_count is not None}
    if not counts:
        return
    if isinstance(node, Any):
        number, largest = max(counts.items(), key=lambda item: item[1])
        if count < largest:
            text = f"OR has {count:,} records, fewer than the {largest:,} of line {number}."
            yield LineProblem("count-mismatch", line.number, text)
        elif len(counts) == len(parts) and count > sum(counts.values()):
            yield LineProblem("count-mismatch", line.number, f"OR has {count:,} records, more than its lines together.")
    elif isinstance(node, All):
        number, smallest = min(counts.items(), key=lambda item: item[1])
        if count > smallest:
            text = f"AND has {count:,} records, more than the {smallest:,} of line {number}."
            yield LineProblem("count-mismatch", line.number, text)
    elif isinstance(node, Exclude):
        left = parts[0].printed.printed_count
        if left is not None and count > left:
            text = f"NOT has {count:,} records, more than the {left:,} of line {parts[0].number}."
            yield LineProblem("count-mismatch", line.number, text)


# The strategy


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


def _list_terms(strategy: Strategy) -> Iterator[tuple[int | None, Heading | tuple[str, ...]]]:
    """Yield the number of the line and each heading, or the words of each text term, of a strategy."""
    for line in strategy.lines:
        for part in walk(line.node) if line.node is not None else ():
            if isinstance(part, Words):
                yield line.number, tuple(get_stem(pattern) for pattern in part.patterns)
            elif isinstance(part, Heading):
                yield line.number, part
            elif isinstance(part, PubMed):
                for operand, _ in _list_operands(part.query):
                    tag = parse_tag(operand.tag) if operand.tag else None
                    is_heading = tag is not None and tag.field.code in ("MESH", "MAJR")
                    yield line.number, Heading(operand.phrase.partition("/")[0]) if is_heading else tuple(operand.words)


def list_headings(strategy: Strategy) -> list[tuple[int | None, str]]:
    """Return the MeSH headings of a strategy with the numbers of their lines."""
    return [
        (number, term.name)
        for number, term in _list_terms(strategy)
        if isinstance(term, Heading) and term.vocabulary == "mesh"
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
    texts = {word[:5] for _, term in listed if not isinstance(term, Heading) for word in term}
    for number, name in [(number, term.name) for number, term in listed if isinstance(term, Heading)]:
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


_LINE_RULES: Final[tuple[Callable[[WorkingLine, Strategy], Iterator[LineProblem]], ...]] = (
    _check_refusal,
    _check_notes,
    _check_characters,
    _check_dates,
    _check_pubmed,
    _check_alternatives,
    _check_limits,
    _check_ranges,
    _check_counts,
)
_STRATEGY_RULES: Final[tuple[Callable[[Strategy], Iterator[LineProblem]], ...]] = (
    _check_unused,
    _check_duplicates,
    _check_wildcards,
    _check_headings,
    _check_central,
)

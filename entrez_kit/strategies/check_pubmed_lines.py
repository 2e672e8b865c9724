"""Check lines in PubMed's own language: fields, wildcards, distances, term mapping, operators and limits."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from entrez_kit.query import unsettled
from entrez_kit.query.dialects.renamed_headings import RENAMED
from entrez_kit.query.dialects.tree import PubMedQuery
from entrez_kit.query.fields import Tag, parse_tag
from entrez_kit.query.parser import Group, Operand, parse
from entrez_kit.query.words import STOP_WORDS, normalize, split_pattern
from entrez_kit.strategies.check_lines import WITHOUT_ANIMALS
from entrez_kit.strategies.findings import LineProblem
from entrez_kit.strategies.redundancy import Alternative, find_redundant
from entrez_kit.strategies.translated_lines import WorkingLine

_FOREIGN_MARKS: Final = re.compile(r"(?<=\w)[?$#](?=\w|\[|\s|$)")


def check_pubmed_line(line: WorkingLine) -> Iterator[LineProblem]:
    """Find the problems of a line in PubMed's language."""
    if not isinstance(line.node, PubMedQuery) or line.dialect != "pubmed":
        return
    root = parse(line.node.query).root
    for operand in list_operands(root):
        if operand.is_history:
            continue
        tag = parse_tag(operand.tag) if operand.tag else None
        for rule in _OPERAND_RULES:
            yield from rule(line.number, operand, tag)
    for group in _list_groups(root):
        yield from _check_group(line.number, group)
    yield from _check_limits(line.number, root)


def _list_groups(root: Group) -> Iterator[Group]:
    """Yield a group and all groups in it."""
    waiting = [root]
    while waiting:
        group = waiting.pop()
        waiting += [part.node for part in group.parts if isinstance(part.node, Group)]
        yield group


def list_operands(root: Group) -> Iterator[Operand]:
    """Yield all operands of a group and of the groups in it."""
    for group in _list_groups(root):
        yield from (part.node for part in group.parts if isinstance(part.node, Operand))


# operands


def _check_field(number: int | None, operand: Operand, tag: Tag | None) -> Iterator[LineProblem]:
    if operand.tag and tag is None:
        yield LineProblem("unknown-field", number, f"PubMed has no field [{operand.tag}].")


def _check_wildcards(number: int | None, operand: Operand, tag: Tag | None) -> Iterator[LineProblem]:
    for word in operand.phrase.split():
        if word.startswith("*"):
            yield LineProblem("wildcard-trap", number, f"{word} begins with a wildcard, which PubMed drops.")
    is_one_term = operand.quoted or tag is not None
    for term in [operand.phrase] if is_one_term else operand.phrase.split():
        stem, star, _ = term.partition("*")
        if star and stem and not unsettled.can_truncate(stem):
            searched = " ".join(split_pattern(term))
            text = f"{term} has fewer than {unsettled.SHORTEST_STEM} letters before *; PubMed searches {searched}."
            yield LineProblem("short-truncation", number, text, "list the words")
    if match := _FOREIGN_MARKS.search(operand.phrase):
        yield LineProblem("wildcard-trap", number, f"{match[0]} in {operand.phrase} is not a wildcard of PubMed.", "*")


def _check_distance(number: int | None, operand: Operand, tag: Tag | None) -> Iterator[LineProblem]:
    if tag is None or tag.distance is None:
        return
    if "*" in operand.phrase:
        text = f"{operand.text}: PubMed ignores the distance of a truncated word."
        yield LineProblem("proximity-ignored", number, text, "list the words")
    elif not unsettled.allows_proximity(tag.field.proximity, operand.phrase.split(), tag.distance, operand.quoted):
        text = f"{operand.text}: a distance needs quotation marks, two words, and [ti], [tiab] or [ad]."
        yield LineProblem("proximity-ignored", number, text)


def _check_mapping(number: int | None, operand: Operand, tag: Tag | None) -> Iterator[LineProblem]:
    if operand.tag is not None or operand.phrase.isdigit():
        return
    if operand.quoted or "*" in operand.phrase or re.search(r"\w-\w", operand.phrase):
        text = f"{operand.text} has no field, and its quotation marks, * or hyphen turn term mapping off."
        yield LineProblem("phrase-not-mapped", number, text, "add a field, such as [tiab]")
    elif normalize(operand.phrase) not in STOP_WORDS:
        text = f"{operand.text} has no field; PubMed maps it to headings and other words."
        yield LineProblem("untagged-term", number, text, "add a field, such as [tiab] or [mh]")


def _check_heading(number: int | None, operand: Operand, tag: Tag | None) -> Iterator[LineProblem]:
    if tag is not None and tag.field.kind == "mesh" and (name := RENAMED.get(operand.phrase.lower())):
        yield LineProblem("heading-renamed", number, f"{operand.phrase!r} is now {name!r}.", name)


_OPERAND_RULES: Final[tuple[Callable[[int | None, Operand, Tag | None], Iterator[LineProblem]], ...]] = (
    _check_field,
    _check_wildcards,
    _check_distance,
    _check_mapping,
    _check_heading,
)


# groups


def _check_group(number: int | None, group: Group) -> Iterator[LineProblem]:
    """Find mixed operators and redundant alternatives."""
    operators = {part.operator for part in group.parts[1:]}
    if "OR" in operators and len(operators) > 1:
        text = f"{' and '.join(sorted(operators))} are mixed; PubMed reads them from left to right."
        yield LineProblem("implicit-precedence", number, text, "add parentheses")
    if operators == {"OR"}:
        terms = [part.node for part in group.parts if isinstance(part.node, Operand) and not part.node.is_history]
        alternatives = [
            Alternative(_normalize_pattern(term.phrase), (term.tag or "").lower(), term.text) for term in terms
        ]
        yield from find_redundant(number, alternatives)


def _normalize_pattern(text: str) -> str:
    """Return the folded words of a term with their wildcards."""
    return " ".join(re.findall(r"[\w*]+", text.lower()))


def _check_limits(number: int | None, root: Group) -> Iterator[LineProblem]:
    """Find limits to humans and to a language that AND adds to the line."""
    for part in root.parts[1:]:
        if part.operator == "AND" and isinstance(part.node, Operand):
            tag = parse_tag(part.node.tag) if part.node.tag else None
            if tag is not None and tag.field.code == "MESH" and normalize(part.node.phrase) in ("humans", "human"):
                text = "AND humans[mh] drops every record that is not yet indexed with MeSH."
                yield LineProblem("limit-drops-unindexed", number, text, WITHOUT_ANIMALS)
            if tag is not None and tag.field.code == "LANG":
                yield LineProblem("language-limit", number, "A restriction to a language needs a reason.")

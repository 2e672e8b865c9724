"""The references between the lines of a strategy: their mistakes, their order, and the losses that they pass on."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from entrez_kit.query.dialects.notes import Note, Refusal
from entrez_kit.query.dialects.tree import Direction, Loss
from entrez_kit.query.parser import Group, parse
from entrez_kit.strategies.translated_lines import WorkingLine

REFERENCE: Final = re.compile(r'"[^"]*"|#([0-9]+)\b')
"""A quoted phrase, or the number of a line in a translation."""


def refuse_wrong_references(lines: Sequence[WorkingLine]) -> None:
    """Refuse lines that refer to themselves, to a missing line or to a comment; note references to later lines."""
    numbered = index_lines(lines)
    for line in lines:
        if (refusal := _find_wrong_reference(line, numbered)) is not None:
            line.refuse(refusal)
        elif line.number is not None and (later := [other for other in line.depends_on if other > line.number]):
            line.notes.append(Note(f"#{later[0]} comes later in the list.", "forward-reference"))
    for line in [line for line in lines if line.kind != "refused" and _is_circular(line, numbered)]:
        line.refuse(Refusal("the lines that it refers to refer to it", "circular-reference"))


def index_lines(lines: Sequence[WorkingLine]) -> dict[int, WorkingLine]:
    """Return the lines by number."""
    return {line.number: line for line in lines if line.number is not None}


def _find_wrong_reference(line: WorkingLine, numbered: Mapping[int, WorkingLine]) -> Refusal | None:
    if line.number in line.depends_on:
        return Refusal(f"the line refers to itself (#{line.number})", "circular-reference")
    missing = [f"#{number}" for number in line.depends_on if number not in numbered]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        text = f"{', '.join(missing[:5])} {verb} not in the list (1-{max(numbered, default=0)})"
        return Refusal(text, "missing-reference")
    comment = next((number for number in line.depends_on if numbered[number].kind in ("comment", "header")), None)
    return None if comment is None else Refusal(f"#{comment} is a comment, not a search", "missing-reference")


def _is_circular(line: WorkingLine, numbered: Mapping[int, WorkingLine]) -> bool:
    waiting, seen = list(line.depends_on), set[int]()
    while waiting:
        number = waiting.pop()
        if number == line.number:
            return True
        if number not in seen and number in numbered and numbered[number].kind != "refused":
            seen.add(number)
            waiting += numbered[number].depends_on
    return False


def list_in_order(lines: Sequence[WorkingLine]) -> Iterator[WorkingLine]:
    """Yield the lines, each after those that it depends on."""
    numbered = index_lines(lines)
    done: set[WorkingLine] = set()
    for line in lines:
        waiting = [line]
        while waiting:
            current = waiting[-1]
            todo = [
                numbered[number]
                for number in current.depends_on
                if number in numbered and numbered[number] not in done and current.kind != "refused"
            ]
            if todo and len(waiting) <= len(lines):
                waiting.append(todo[0])
                continue
            waiting.pop()
            if current not in done:
                done.add(current)
                yield current


def list_used_lines(query: str) -> list[int]:
    """Return the numbers of the lines that a translation refers to."""
    return list(dict.fromkeys(int(match[1]) for match in REFERENCE.finditer(query) if match[1]))


def inherit_losses(query: str, numbered: Mapping[int, WorkingLine]) -> list[Loss]:
    """Return one loss for each direction in which the lines differ that a translation refers to."""
    through: dict[Direction, dict[int, None]] = {}
    for number, is_excluded in _list_polarities(query):
        for loss in numbered[number].losses:
            direction = (loss.negate() if is_excluded else loss).direction
            through.setdefault(direction, {})[number] = None
    return [
        Loss(direction, f"because of line{'s' if len(numbers) > 1 else ''} {', '.join(map(str, sorted(numbers)))}")
        for direction, numbers in through.items()
    ]


def _list_polarities(query: str) -> list[tuple[int, bool]]:
    """Return the lines that a translation refers to, and whether NOT excludes them."""
    polarities: list[tuple[int, bool]] = []
    waiting = [(part, False) for part in parse(query).root.parts] if "#" in query else []
    while waiting:
        part, excluded = waiting.pop()
        excluded = excluded != (part.operator == "NOT")
        if isinstance(part.node, Group):
            waiting += [(inner, excluded) for inner in part.node.parts]
        elif part.node.is_history:
            polarities.append((int(part.node.phrase[1:]), excluded))
    return polarities

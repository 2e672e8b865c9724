"""Translate a strategy: find the meaning of each line, resolve its references, and translate it to PubMed."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from entrez_kit.base.errors import InvalidInput
from entrez_kit.query.dialects.detect import choose_dialect, detect
from entrez_kit.query.dialects.notes import CannotExpressError, Note, Refusal, RefusedLineError
from entrez_kit.query.dialects.pieces import choose_label
from entrez_kit.query.dialects.readers import parse_line
from entrez_kit.query.dialects.reference_lines import is_reference_line
from entrez_kit.query.dialects.services import Dialect
from entrez_kit.query.dialects.spellings import WordList
from entrez_kit.query.dialects.translate import Translator
from entrez_kit.query.dialects.translate_proximity import Proximity
from entrez_kit.query.dialects.tree import (
    Direction,
    Exclude,
    LineReference,
    Loss,
    Node,
    PubMedQuery,
    list_children,
    list_references,
    walk,
)
from entrez_kit.query.mesh import Vocabulary
from entrez_kit.query.parser import Group, parse
from entrez_kit.strategies.read_strategy import PrintedLine, find_second_list, read_lines
from entrez_kit.strategies.translated_lines import Proof, StrategyLine, StrategyResult, WorkingLine

MAX_QUERY: Final = 1_000_000
"""Largest number of characters of a query with all of its lines in it."""
_DATABASES: Final = {
    "emtree": re.compile(r"\b(?:embase|emcare)\b", re.IGNORECASE),
    "cinahl": re.compile(r"\bcinahl\b", re.IGNORECASE),
    "psycinfo": re.compile(r"\b(?:apa )?psyc(?:info|articles|extra)\b", re.IGNORECASE),
    "amed": re.compile(r"\bamed\b|\ballied and complementary medicine\b", re.IGNORECASE),
    "cab": re.compile(r"\bglobal health\b|\bcab abstracts\b", re.IGNORECASE),
}
"""Databases of Ovid and EBSCO whose headings are not MeSH, by thesaurus."""
MAX_WILDCARDS: Final = 256
"""PubMed answers a query with more truncated words like an outage."""


@dataclass
class Strategy:
    """A strategy whose lines have a meaning and a translation."""

    dialect: Dialect
    lines: list[WorkingLine]

    @cached_property
    def numbered(self) -> dict[int, WorkingLine]:
        """The lines by number."""
        return {line.number: line for line in self.lines if line.number is not None}

    @property
    def final(self) -> WorkingLine | None:
        """The last line that is a search; some services print it first."""
        searches = [line for line in self.lines if line.kind not in ("comment", "header")]
        numbered = [line for line in searches if line.number is not None]
        return max(numbered, key=lambda line: line.number or 0) if numbered else searches[-1] if searches else None

    def expand(self, line: WorkingLine) -> str | None:
        """Return the translation of a line with all other lines in it.

        None if one of them was refused, or is longer than ``MAX_QUERY`` characters.
        """
        if not line.is_search:
            return None
        known: dict[int, str | None] = {}
        numbered = self.numbered

        def fill(current: WorkingLine) -> str | None:
            for number in current.depends_on:
                if number not in known:
                    known[number] = fill(numbered[number])
                if known[number] is None:
                    return None
            text = re.sub(
                r'"[^"]*"|#([0-9]+)\b',
                lambda match: match[0] if match[1] is None else f"({known[int(match[1])]})",
                current.pubmed,
            )
            return text if len(text) <= MAX_QUERY else None

        return fill(line)

    def to_result(
        self, counts: Mapping[int, int] | None = None, proofs: Mapping[int, Proof] | None = None
    ) -> StrategyResult:
        """Return the document of the strategy, with the counts and the proofs of its lines by number."""
        final = self.final
        return StrategyResult(
            dialect=self.dialect,
            lines=[self._to_line(line, counts or {}, proofs or {}) for line in self.lines],
            final=final.number if final is not None else None,
            query=self.expand(final) if final is not None else None,
        )

    def _to_line(self, line: WorkingLine, counts: Mapping[int, int], proofs: Mapping[int, Proof]) -> StrategyLine:
        printed = line.printed
        is_text = line.kind in ("comment", "header")
        losses = [f"{loss.direction}: {loss.text}" for loss in line.losses]
        if line.refusal is not None:
            losses = [f"not_expressible: {line.refusal}"]
        elif line.blocked_by is not None:
            losses = [f"not_expressible: line {line.blocked_by} was refused"]
        return StrategyLine(
            number=line.number,
            original=printed.original,
            kind=line.kind,
            dialect=line.dialect,
            repaired=_find_repair(printed) if not is_text else None,
            pubmed=line.pubmed or None,
            label=None
            if is_text
            else "not_expressible"
            if line.refusal is not None or line.blocked_by is not None
            else choose_label(line.losses),
            loss=losses,
            depends_on=line.depends_on,
            count=counts.get(line.number) if line.number is not None else None,
            proof=proofs.get(line.number) if line.number is not None else None,
            warnings=[str(note) for note in (*printed.notes, *line.notes)],
        )


def _find_repair(printed: PrintedLine) -> str | None:
    """Return the text of a line if its characters were changed in the reading."""
    plain = " ".join(printed.original.split())
    return None if printed.text in plain else printed.text


def read_strategy(
    text: str,
    *,
    dialect: Dialect | None = None,
    proximity: Proximity = "near",
    words: WordList | None = None,
    vocabulary: Vocabulary | None = None,
) -> Strategy:
    """Read and translate a strategy.

    Raises:
        InvalidInput: the text has no line that could be a search, or it has several numbered strategies.
    """
    if (row := find_second_list(text)) is not None:
        raise InvalidInput(
            f"The text has several strategies: the numbers begin again at row {row}.",
            invalid_input=text.splitlines()[row - 1].strip()[:80],
            recovery_hint="Give each strategy in a file of its own.",
            details={"reason": "several_strategies", "row": row},
        )
    printed = read_lines(text)
    expressions = [line for line in printed if line.role == "expression"]
    if not expressions:
        raise InvalidInput(
            "The strategy has no search line.",
            invalid_input=f"strategy={text[:80]}",
            recovery_hint="Give the lines of a strategy, one per line.",
            details={"reason": "no_search_line"},
        )
    main = dialect or choose_dialect(line.text for line in expressions)
    headers = " ".join(line.text for line in printed if line.role != "expression")
    body = " ".join(line.text for line in expressions)
    thesaurus = _find_thesaurus(headers, body)
    lines = [_parse_line(line, main, thesaurus) for line in printed]
    strategy = Strategy(main, lines)
    _resolve_references(strategy)
    translator = Translator(words, proximity, vocabulary)
    for line in list_in_order(strategy):
        _translate(line, strategy, translator)
    return strategy


def _find_thesaurus(headers: str, body: str) -> str:
    """Return the thesaurus of the headings: that of a database that the headers name, or MeSH."""
    if re.search(r"\buse\s+(?:oemezd|emczd|emed)", body):
        return "emtree"
    if re.search(r"\bmedline\b", headers, re.IGNORECASE):
        return "cinahl" if re.search(r"\bcinahl\b", headers, re.IGNORECASE) else "mesh"
    return next((name for name, sign in _DATABASES.items() if sign.search(headers)), "mesh")


def _parse_line(printed: PrintedLine, main: Dialect, thesaurus: str) -> WorkingLine:
    if printed.role == "comment":
        return WorkingLine(printed, "comment")
    if printed.role == "header":
        return WorkingLine(printed, "header")
    dialect = main if is_reference_line(printed.text) else detect(printed.text, main) or main
    line = WorkingLine(printed, "search", dialect)
    if dialect != main:
        line.notes.append(Note(f"the line has the syntax of {dialect}.", "other-dialect"))
    try:
        parsed = parse_line(printed.text, dialect, vocabulary=thesaurus)
    except RefusedLineError as exc:
        line.notes += exc.notes
        _refuse(line, exc.refusal)
        return line
    line.node = parsed.node
    line.notes += parsed.notes
    line.depends_on = list_references(parsed.node)
    if line.depends_on and all(
        isinstance(part, LineReference) for part in walk(parsed.node) if not list_children(part)
    ):
        line.kind = "reference"
    return line


def _refuse(line: WorkingLine, refusal: Refusal) -> None:
    line.kind, line.refusal, line.pubmed = "refused", refusal, ""


def _resolve_references(strategy: Strategy) -> None:
    """Refuse lines that refer to a missing line or to themselves, and mark those that depend on a refused line."""
    numbered = strategy.numbered
    last = max(numbered, default=0)
    for line in strategy.lines:
        missing = [number for number in line.depends_on if number not in numbered or number == line.number]
        texts = [n for n in line.depends_on if n in numbered and numbered[n].kind in ("comment", "header")]
        if line.number in line.depends_on:
            _refuse(line, Refusal(f"the line refers to itself (#{line.number})", "circular-reference"))
        elif missing:
            names = ", ".join(f"#{number}" for number in missing[:5])
            text = f"{names} {'is' if len(missing) == 1 else 'are'} not in the list (1-{last})"
            _refuse(line, Refusal(text, "missing-reference"))
        elif texts:
            _refuse(line, Refusal(f"#{texts[0]} is a comment, not a search", "missing-reference"))
        elif line.number is not None and any(number > line.number for number in line.depends_on):
            later = next(number for number in line.depends_on if number > (line.number or 0))
            line.notes.append(Note(f"#{later} comes later in the list.", "forward-reference"))
    for line in [line for line in strategy.lines if line.kind != "refused" and _is_circular(line, numbered)]:
        _refuse(line, Refusal("the lines that it refers to refer to it", "circular-reference"))
    for line in list_in_order(strategy):
        for number in line.depends_on:
            other = numbered.get(number)
            if line.kind != "refused" and other is not None and line.blocked_by is None:
                if other.kind == "refused":
                    line.blocked_by = number
                elif other.blocked_by is not None:
                    line.blocked_by = other.blocked_by
        if line.blocked_by is not None:
            line.notes.append(_note_blocked(line.blocked_by))


def _note_blocked(number: int | None) -> Note:
    return Note(f"the line depends on line {number}, which was refused.", "not-counted")


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


def list_in_order(strategy: Strategy) -> Iterator[WorkingLine]:
    """Yield the lines, each after those that it depends on."""
    numbered = strategy.numbered
    done: set[WorkingLine] = set()
    for line in strategy.lines:
        waiting = [line]
        while waiting:
            current = waiting[-1]
            todo = [
                numbered[number]
                for number in current.depends_on
                if number in numbered and numbered[number] not in done and current.kind != "refused"
            ]
            if todo and len(waiting) <= len(strategy.lines):
                waiting.append(todo[0])
                continue
            waiting.pop()
            if current not in done:
                done.add(current)
                yield current


def _translate(line: WorkingLine, strategy: Strategy, translator: Translator) -> None:
    if line.node is None or line.kind == "refused":
        return
    try:
        piece = translator.translate(line.node)
    except CannotExpressError as exc:
        _refuse(line, exc.refusal)
        _block(strategy, line)
        return
    line.pubmed, line.operator, line.own_losses = piece.text, piece.operator, piece.losses
    line.notes += piece.notes
    line.losses = tuple(dict.fromkeys((*line.own_losses, *inherit_losses(line.node, strategy.numbered))))


def inherit_losses(node: Node, numbered: Mapping[int, WorkingLine]) -> list[Loss]:
    """Return one loss for each direction in which the lines differ that a line refers to."""
    through: dict[Direction, dict[int, None]] = {}
    for number, is_excluded in _list_polarities(node):
        for loss in numbered[number].losses:
            direction = (loss.negate() if is_excluded else loss).direction
            through.setdefault(direction, {})[number] = None
    return [
        Loss(direction, f"because of line{'s' if len(numbers) > 1 else ''} {', '.join(map(str, sorted(numbers)))}")
        for direction, numbers in through.items()
    ]


def _list_polarities(node: Node) -> list[tuple[int, bool]]:
    """Return the lines that a line refers to, and whether NOT excludes them."""
    polarities: list[tuple[int, bool]] = []
    waiting: list[tuple[Node, bool]] = [(node, False)]
    while waiting:
        part, excluded = waiting.pop()
        if isinstance(part, LineReference):
            polarities.append((part.number, excluded))
        elif isinstance(part, PubMedQuery):
            polarities += [(number, is_not != excluded) for number, is_not in _list_query_polarities(part.query)]
        elif isinstance(part, Exclude):
            waiting += [(part.left, excluded), (part.right, not excluded)]
        else:
            waiting += [(child, excluded) for child in list_children(part)]
    return polarities


def _list_query_polarities(query: str) -> list[tuple[int, bool]]:
    """Return the lines that a query of PubMed refers to, and whether NOT excludes them."""
    polarities: list[tuple[int, bool]] = []
    waiting = [(part, False) for part in parse(query).root.parts]
    while waiting:
        part, excluded = waiting.pop()
        excluded = excluded != (part.operator == "NOT")
        if isinstance(part.node, Group):
            waiting += [(inner, excluded) for inner in part.node.parts]
        elif part.node.is_history:
            polarities.append((int(part.node.phrase[1:]), excluded))
    return polarities


def _block(strategy: Strategy, refused: WorkingLine) -> None:
    """Mark the lines that depend on a line that was refused after its references were resolved."""
    blocked = {refused.number}
    changed = True
    while changed:
        changed = False
        for line in strategy.lines:
            if line.blocked_by is None and line.kind in ("search", "reference") and blocked & set(line.depends_on):
                line.blocked_by = refused.number
                line.notes.append(_note_blocked(refused.number))
                blocked.add(line.number)
                changed = True

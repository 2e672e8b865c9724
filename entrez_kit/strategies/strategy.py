"""Translate a strategy: find the meaning of each line, resolve its references, and translate it to PubMed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from entrez_kit.base.errors import InvalidInput
from entrez_kit.query.dialects.detect import choose_dialect, detect, find_signs
from entrez_kit.query.dialects.notes import CannotExpressError, MissingLimitError, Note, Refusal, RefusedLineError
from entrez_kit.query.dialects.pieces import choose_label
from entrez_kit.query.dialects.readers import find_unsupported_service, parse_line
from entrez_kit.query.dialects.reference_lines import is_reference_line
from entrez_kit.query.dialects.services import Dialect
from entrez_kit.query.dialects.spellings import WordList
from entrez_kit.query.dialects.translate import LimitedLines, Translator
from entrez_kit.query.dialects.translate_proximity import Proximity
from entrez_kit.query.dialects.tree import LineReference, list_children, list_references, walk
from entrez_kit.query.mesh import Vocabulary
from entrez_kit.strategies.line_references import (
    REFERENCE,
    index_lines,
    inherit_losses,
    list_in_order,
    list_used_lines,
    refuse_wrong_references,
)
from entrez_kit.strategies.printed_lines import find_second_list, read_strategy_lines
from entrez_kit.strategies.printed_rows import PrintedLine
from entrez_kit.strategies.translated_lines import Proof, StrategyLine, StrategyResult, WorkingLine

MAX_QUERY: Final = 1_000_000
"""Largest number of characters of a query with all of its lines in it."""
_DATABASES: Final = {
    "emtree": re.compile(r"\b(?:embase|emcare)\b", re.IGNORECASE),
    "cinahl": re.compile(r"\bcinahl\b|exclude medline records", re.IGNORECASE),
    "psycinfo": re.compile(r"\b(?:apa )?psyc(?:info|articles|extra)\b", re.IGNORECASE),
    "amed": re.compile(r"\bamed\b|\ballied and complementary medicine\b", re.IGNORECASE),
    "cab": re.compile(r"\bglobal health\b|\bcab abstracts\b", re.IGNORECASE),
}
"""Databases of Ovid and EBSCO whose headings are not MeSH, by thesaurus."""
_DATABASE: Final = re.compile(r"\bDatabase - [\w ]{3,60}|\bExclude MEDLINE [Rr]ecords")
"""The database that EBSCO prints after a search, and the limiter of one that is not MEDLINE."""
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
        return index_lines(self.lines)

    @property
    def final(self) -> WorkingLine | None:
        """The last line that is a search; some services print it first."""
        searches = [line for line in self.lines if line.kind not in ("comment", "header")]
        return max(searches, key=lambda line: line.number or 0, default=None)

    def expand(self, line: WorkingLine) -> str | None:
        """Return the translation of a line with all other lines in it.

        None if one of them was refused, or is longer than ``MAX_QUERY`` characters.
        """
        if not line.is_search:
            return None
        known: dict[int, str | None] = {}
        waiting = [line]
        while waiting:
            used = list_used_lines(waiting[-1].pubmed)
            missing = [self.numbered[number] for number in used if number not in known]
            if missing:
                waiting += missing
                continue
            current = waiting.pop()
            text = _insert_lines(current.pubmed, known)
            if current.number is not None:
                known[current.number] = text
        return text

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
        label = None if is_text else choose_label(line.losses)
        if line.refusal is not None or line.blocked_by is not None:
            reason = line.refusal if line.refusal is not None else f"line {line.blocked_by} was refused"
            label, losses = "not_expressible", [f"not_expressible: {reason}"]
        return StrategyLine(
            number=line.number,
            original=printed.original,
            kind=line.kind,
            dialect=line.dialect,
            repaired=_find_repair(printed) if not is_text else None,
            pubmed=line.pubmed or None,
            label=label,
            loss=losses,
            depends_on=line.depends_on,
            count=counts.get(line.number) if line.number is not None else None,
            proof=proofs.get(line.number) if line.number is not None else None,
            warnings=[str(note) for note in (*printed.notes, *line.notes)],
        )


def _insert_lines(query: str, lines: Mapping[int, str | None]) -> str | None:
    """Return a translation with other lines in it; None if one of them has no text, or the result is too long."""
    if any(lines[number] is None for number in list_used_lines(query)):
        return None
    text = REFERENCE.sub(lambda match: match[0] if match[1] is None else f"({lines[int(match[1])]})", query)
    return text if len(text) <= MAX_QUERY else None


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
    printed = read_strategy_lines(text)
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
    names = " ".join((headers, *_DATABASE.findall(body)))
    thesaurus = _find_thesaurus(names, body)
    is_plain = dialect is None and not any(find_signs(line.text) for line in expressions)
    service = find_unsupported_service(headers) if is_plain else None
    lines = [_parse_line(line, main, thesaurus, service) for line in printed]
    refuse_wrong_references(lines)
    _translate_lines(lines, words, proximity, vocabulary)
    return Strategy(main, lines)


def _find_thesaurus(headers: str, body: str) -> str:
    """Return the thesaurus of the headings: that of a database that the headers name, or MeSH.

    MEDLINE has no descriptors in the field DE of EBSCO.
    """
    if re.search(r"\buse\s+(?:oemezd|emczd|emed)", body):
        return "emtree"
    if re.search(r"\bmedline\b", headers, re.IGNORECASE):
        return "cinahl" if _DATABASES["cinahl"].search(headers) else "mesh"
    named = next((name for name, sign in _DATABASES.items() if sign.search(headers)), None)
    return named or ("other" if re.search(r"\bDE \(?\"", body) else "mesh")


def _parse_line(printed: PrintedLine, main: Dialect, thesaurus: str, service: str | None) -> WorkingLine:
    """Return a line with its meaning.

    Args:
        printed: the line as printed.
        main: the service of most lines.
        thesaurus: the thesaurus of the headings.
        service: the service of the headers if its lines cannot be read.
    """
    if printed.role == "comment":
        return WorkingLine(printed, "comment")
    if printed.role == "header":
        return WorkingLine(printed, "header")
    is_reference = is_reference_line(printed.text)
    dialect = main if is_reference else detect(printed.text, main) or main
    line = WorkingLine(printed, "search", dialect)
    if service is not None and not is_reference:
        text = (
            f"the headers name {service}, whose lines cannot be read; give the dialect if they are for another service"
        )
        line.refuse(Refusal(text, "syntax-error"))
        return line
    if dialect != main:
        line.notes.append(Note(f"the line has the syntax of {dialect}.", "other-dialect"))
    try:
        parsed = parse_line(printed.text, dialect, vocabulary=thesaurus)
    except RefusedLineError as exc:
        line.notes += exc.notes
        line.refuse(exc.refusal)
        return line
    line.node = parsed.node
    line.notes += parsed.notes
    line.depends_on = list_references(parsed.node)
    if line.depends_on and all(
        isinstance(part, LineReference) for part in walk(parsed.node) if not list_children(part)
    ):
        line.kind = "reference"
    return line


def _translate_lines(
    lines: Sequence[WorkingLine], words: WordList | None, proximity: Proximity, vocabulary: Vocabulary | None
) -> None:
    """Translate the lines, each after those that it depends on, and mark those that depend on a refused line."""
    numbered = index_lines(lines)
    missing: dict[int, str] = {}
    widened: set[int] = set()
    translator = Translator(words, proximity, vocabulary, LimitedLines(missing, widened))
    for line in list_in_order(lines):
        if line.node is None or line.kind == "refused":
            continue
        try:
            piece = translator.translate(line.node)
        except CannotExpressError as exc:
            line.refuse(exc.refusal)
            if isinstance(exc, MissingLimitError) and line.number is not None:
                missing[line.number] = str(exc)
            continue
        line.pubmed, line.operator, line.own_losses = piece.text, piece.operator, piece.losses
        line.notes += piece.notes
        references = list_used_lines(line.pubmed)
        if line.number is not None and (any(loss.is_limit for loss in piece.losses) or widened & set(references)):
            widened.add(line.number)
        _mark_blocked(line, [numbered[number] for number in references])
        line.inherit_losses(inherit_losses(line.pubmed, numbered))


def _mark_blocked(line: WorkingLine, references: Sequence[WorkingLine]) -> None:
    """Mark a line that refers to a refused line, directly or through another one."""
    for other in references:
        line.blocked_by = other.number if other.kind == "refused" else other.blocked_by
        if line.blocked_by is not None:
            text = f"the line depends on line {line.blocked_by}, which was refused."
            line.notes.append(Note(text, "not-counted"))
            return

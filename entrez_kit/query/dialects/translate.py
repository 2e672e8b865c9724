"""Translate the meaning of a line to PubMed, with every difference in words."""

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Final

from entrez_kit.query.dialects.notes import CannotExpressError, MissingLimitError
from entrez_kit.query.dialects.pieces import Piece, join_pieces, quote
from entrez_kit.query.dialects.service_fields import choose_tags
from entrez_kit.query.dialects.spellings import WordList, expand_phrase
from entrez_kit.query.dialects.translate_proximity import VARIANTS_LOST, Proximity, ProximityTranslator
from entrez_kit.query.dialects.translate_values import translate_days, translate_heading, translate_value
from entrez_kit.query.dialects.tree import (
    AllOf,
    AnyOf,
    DayRange,
    Exclude,
    LineReference,
    Loss,
    Near,
    Node,
    PubMedQuery,
    SubjectHeading,
    Unknown,
    Value,
    WordPatterns,
)
from entrez_kit.query.mesh import Vocabulary

_ATOM: Final = re.compile(r'(?:"[^"]*"|[^\s()"\[\]]+(?: [^\s()"\[\]]+)*?)\s?\[[^\[\]]*\]|#[0-9]+|[\w*]+')


@dataclass(frozen=True, slots=True)
class LimitedLines:
    """The lines with limits that PubMed lacks.

    ``missing`` are limits only, with the reasons. ``widened`` are searched without a limit, or refer to such a line.
    """

    missing: Mapping[int, str] = field(default_factory=dict)
    widened: Set[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Translator:
    """Translates lines.

    Args:
        words: the word list for truncated words that PubMed cannot search; without one, a proximity search with
            truncation becomes AND.
        proximity: "near" keeps the distance where PubMed can; "and" never does and misses nothing.
        vocabulary: MeSH, to find out whether a heading exists.
        lines: the lines with limits that PubMed lacks.
        is_excluded: whether NOT excludes what is translated. Without one of its limits it would exclude more.
    """

    words: WordList | None = None
    proximity: Proximity = "near"
    vocabulary: Vocabulary | None = None
    lines: LimitedLines = field(default_factory=LimitedLines)
    is_excluded: bool = False

    def translate(self, node: Node) -> Piece:
        """Return the translation of a line.

        Raises:
            CannotExpressError: PubMed has no search for the line.
        """
        if isinstance(node, AnyOf):
            return self._translate_any(node)
        if isinstance(node, AllOf):
            return self._translate_all(node)
        if isinstance(node, Exclude):
            return self._translate_exclusion(node)
        if isinstance(node, WordPatterns):
            return self._translate_words(node)
        if isinstance(node, Near):
            return ProximityTranslator(self.translate, self.words, self.proximity).translate_near(node)
        if isinstance(node, SubjectHeading):
            return translate_heading(node, self.vocabulary)
        if isinstance(node, Value):
            return translate_value(node)
        if isinstance(node, DayRange):
            return translate_days(node)
        if isinstance(node, PubMedQuery):
            return Piece(node.query, "" if _ATOM.fullmatch(node.query) else "mixed", node.losses)
        if isinstance(node, LineReference):
            return self._translate_reference(node.number)
        assert isinstance(node, Unknown)
        error = MissingLimitError if node.kind == "limit" else CannotExpressError
        raise error(f"{node.text!r}: {node.reason}")

    def _translate_reference(self, number: int) -> Piece:
        if (reason := self.lines.missing.get(number)) is not None:
            raise MissingLimitError(f"line {number} ({reason})")
        if self.is_excluded and number in self.lines.widened:
            raise CannotExpressError(f"line {number} has a limit that PubMed lacks, and would exclude too much")
        return Piece(f"#{number}")

    def _translate_all(self, node: AllOf) -> Piece:
        """Translate parts that AND joins; a limit that PubMed lacks is left out, which is a loss."""
        pieces: list[Piece] = []
        missing: list[MissingLimitError] = []
        for part in node.parts:
            try:
                pieces.append(self.translate(part))
            except MissingLimitError as exc:
                missing.append(exc)
        if missing and (self.is_excluded or not pieces):
            raise missing[0]
        losses = (Loss("wider", f"a limit was left out: {exc}", is_limit=True) for exc in missing)
        return join_pieces("AND", pieces).add_losses(*losses)

    def _translate_any(self, node: AnyOf) -> Piece:
        """Translate alternatives; one that PubMed cannot search is left out, which is a loss.

        If one of several limits is missing, the others would limit more, so the limits are left out together.
        """
        pieces: list[Piece] = []
        failures: list[CannotExpressError] = []
        losses: list[Loss] = []
        for part in node.parts:
            try:
                pieces.append(self.translate(part))
            except CannotExpressError as exc:
                is_unread = isinstance(part, Unknown) and part.kind == "part"
                if is_unread or (isinstance(exc, MissingLimitError) and not self.is_excluded):
                    raise
                failures.append(exc)
                losses.append(Loss("narrower", f"an alternative was left out: {exc}"))
        if not pieces:
            raise failures[0]
        joined = join_pieces("OR", pieces)
        return replace(joined, losses=(*joined.losses, *losses))

    def _translate_exclusion(self, node: Exclude) -> Piece:
        left = self.translate(node.left)
        try:
            right = replace(self, is_excluded=not self.is_excluded).translate(node.right)
        except CannotExpressError as exc:
            return left.add_losses(Loss("wider", f"what the line excludes was left out: {exc}"))
        losses = tuple(dict.fromkeys((*left.losses, *(loss.negate() for loss in right.losses))))
        notes = tuple(dict.fromkeys((*left.notes, *right.notes)))
        return Piece(f"{left.enclose()} NOT {right.enclose()}", "NOT", losses, notes)

    def _translate_words(self, node: WordPatterns) -> Piece:
        assert node.scope is not None, "the parser sets the scope of every word"
        tags, losses = choose_tags(node.scope.sources)
        forms, added = expand_phrase(node, self.words)
        variants = (VARIANTS_LOST,) if node.varies else ()
        terms = [quote(form, tag) for tag in tags for form in forms]
        all_losses = dict.fromkeys((*node.scope.losses, *losses, *added, *variants))
        return Piece(" OR ".join(terms), "OR" if len(terms) > 1 else "", tuple(all_losses))

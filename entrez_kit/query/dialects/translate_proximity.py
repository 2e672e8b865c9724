"""Translate proximity searches: PubMed has a distance for plain words of three fields, and for no truncated word."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import prod
from typing import Final, Literal

from entrez_kit.query.dialects.notes import CannotExpressError
from entrez_kit.query.dialects.pieces import Piece, join_pieces
from entrez_kit.query.dialects.service_fields import choose_tags, describe_difference
from entrez_kit.query.dialects.spellings import WordList, expand_patterns
from entrez_kit.query.dialects.tree import AnyOf, Loss, Near, Node, Scope, WordPatterns, join_words, walk
from entrez_kit.query.fields import BY_CODE

Proximity = Literal["near", "and"]
MAX_COMBINATIONS: Final = 300
"""Maximum number of proximity searches for two groups of words."""
VARIANTS_LOST: Final = Loss("narrower", "the service also finds plurals and spelling variants of words")
_TAGS: Final = frozenset(("ti", "tiab", "ad"))
"""The fields that allow a distance."""
_DISTANCE_LOST: Final = Loss("wider", "the words may be anywhere in the fields; PubMed has no distance for them")
_STOPWORDS_COUNTED: Final = Loss("narrower", "PubMed counts stopwords between the words, and Ovid does not")


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a proximity search: phrases of plain words, and alternatives with truncation."""

    phrases: list[tuple[str, ...]]
    truncated: list[WordPatterns]
    losses: tuple[Loss, ...]


@dataclass(frozen=True, slots=True)
class ProximityTranslator:
    """Translates a proximity search.

    Args:
        translate: translates a part that is not a proximity search.
        word_list: the word list for truncated words.
        proximity: "near" keeps the distance where PubMed can; "and" never does.
    """

    translate: Callable[[Node], Piece]
    word_list: WordList | None
    proximity: Proximity

    def translate_near(self, node: Near) -> Piece:
        """Return adjacent words as phrases, words at a distance as proximity searches, and other words with AND.

        Raises:
            CannotExpressError: PubMed can search no alternative of one side.
        """
        sides, gaps = _list_sides(node)
        scope = next(part.scope for part in walk(node) if isinstance(part, WordPatterns))
        assert scope is not None, "the parser sets the scope of every word"
        if self.proximity == "near" and all(gap.ordered and not gap.distance for gap in gaps):
            phrases = list_phrases(node)
            return self._translate_alternatives(phrases) if phrases else self._join_with_and(sides)
        is_adjacent = len(gaps) == 1 and not gaps[0].distance
        expanded = [self._expand_side(side, is_adjacent=is_adjacent) for side in sides]
        if self.proximity == "near" and all(expanded):
            return self._join_at_distance(sides, gaps, scope, [side for side in expanded if side is not None])
        return self._join_with_and(sides)

    def _expand_side(self, side: Node, *, is_adjacent: bool) -> _Side | None:
        """Return the alternatives of one side; None if they contain another proximity search.

        Args:
            side: the side.
            is_adjacent: whether the side forms phrases with the other one, which PubMed can truncate in a later word.
        """
        if any(isinstance(part, Near) for part in walk(side)):
            return None
        alternatives = _list_alternatives(side)
        phrases: list[tuple[str, ...]] = []
        truncated: list[WordPatterns] = []
        losses = [VARIANTS_LOST] if any(words.varies for words in alternatives) else []
        failure: CannotExpressError | None = None
        for words in alternatives:
            try:
                spellings, added = self._expand_alternative(words)
            except CannotExpressError as exc:
                if is_adjacent and exc.refusal.code == "short-truncation":
                    truncated.append(words)
                    continue
                failure = exc
                losses.append(_note_omission(exc))
                continue
            if spellings is None:
                truncated.append(words)
            else:
                phrases += spellings
                losses += added
        if failure is not None and not phrases and not truncated:
            raise failure
        return _Side(phrases, truncated, tuple(losses))

    def _expand_alternative(self, words: WordPatterns) -> tuple[list[tuple[str, ...]] | None, tuple[Loss, ...]]:
        """Return the spellings of an alternative without truncation; None if one has to be truncated."""
        options, losses = expand_patterns(words, self.word_list, prefers_list=True)
        if any("*" in form for forms in options for form in forms):
            return None, ()
        return list(product(*options)), losses

    def _join_at_distance(
        self, sides: Sequence[Node], gaps: Sequence[Near], scope: Scope, expanded: Sequence[_Side]
    ) -> Piece:
        """Translate each combination of plain words to a proximity search, and join those with truncation."""
        tag, scope_losses = _choose_tag(scope)
        if tag is None or (any(side.truncated for side in expanded) and len(expanded) > 2):
            return self._join_with_and(sides)
        count = prod(len(side.phrases) for side in expanded)
        if count > MAX_COMBINATIONS:
            text = f"more than {MAX_COMBINATIONS} combinations ({count:,}), so the distance was given up"
            return self._join_with_and(sides).add_losses(Loss("wider", text))
        distance = sum(gap.distance for gap in gaps)
        pieces: list[Piece] = []
        for combination in product(*(side.phrases for side in expanded)):
            words = [word for phrase in combination for word in phrase]
            text = f'"{" ".join(words)}"[{tag}:~{distance}]'
            losses = (*scope_losses, *_list_distance_losses(combination, gaps))
            pieces.append(Piece(text, "", losses))
        omissions = [loss for side in expanded for loss in side.losses]
        if any(side.truncated for side in expanded):
            joined, added = self._join_truncated(sides, gaps[0], [side.truncated for side in expanded], bool(pieces))
            pieces += joined
            omissions += added
        return join_pieces("OR", pieces).add_losses(*omissions)

    def _join_truncated(
        self, sides: Sequence[Node], gap: Near, truncated: Sequence[Sequence[WordPatterns]], has_others: bool
    ) -> tuple[list[Piece], list[Loss]]:
        """Translate the combinations with a truncated word: a phrase if the words are adjacent, AND otherwise.

        Args:
            sides: the sides.
            gap: the proximity between them.
            truncated: the alternatives of each side with a truncated word.
            has_others: whether there are combinations without a truncated word.
        """
        left, right = (_list_alternatives(side) for side in sides)
        if not gap.distance:
            pairs = [(a, b) for a, b in product(left, right) if a in truncated[0] or b in truncated[1]]
            if 2 * len(pairs) <= MAX_COMBINATIONS:
                phrases = [join_words(order) for pair in pairs for order in permutations(pair)]
                return self._translate_phrases(phrases, gap, has_others)
        plain_left = [words for words in left if words not in truncated[0]]
        groups = [parts for parts in ((truncated[0], right), (plain_left, truncated[1])) if all(parts)]
        return [
            join_pieces("AND", [self._translate_alternatives(part) for part in parts]).add_losses(_DISTANCE_LOST)
            for parts in groups
        ], []

    def _translate_phrases(
        self, phrases: Sequence[WordPatterns], gap: Near, has_others: bool
    ) -> tuple[list[Piece], list[Loss]]:
        """Translate the phrases of adjacent words in both orders; one that PubMed cannot search is left out."""
        pieces: list[Piece] = []
        losses: list[Loss] = [_STOPWORDS_COUNTED] if gap.skips else []
        failure: CannotExpressError | None = None
        for phrase in phrases:
            try:
                pieces.append(self.translate(phrase))
            except CannotExpressError as exc:
                failure = exc
                losses.append(_note_omission(exc))
        if failure is not None and not pieces and not has_others:
            raise failure
        return pieces, losses

    def _translate_alternatives(self, words: Sequence[WordPatterns]) -> Piece:
        return self.translate(words[0] if len(words) == 1 else AnyOf(tuple(words)))

    def _join_with_and(self, sides: Sequence[Node]) -> Piece:
        return join_pieces("AND", [self.translate(side) for side in sides]).add_losses(_DISTANCE_LOST)


def _list_sides(node: Near) -> tuple[list[Node], list[Near]]:
    """Return the sides of nested proximity searches in order, and the proximity between each two of them."""
    sides: list[Node] = []
    gaps: list[Near] = []

    def visit(part: Node) -> None:
        if isinstance(part, Near):
            visit(part.left)
            gaps.append(part)
            visit(part.right)
        else:
            sides.append(part)

    visit(node)
    return sides, gaps


def _list_alternatives(side: Node) -> list[WordPatterns]:
    return [part for part in walk(side) if isinstance(part, WordPatterns)]


def list_phrases(node: Near) -> list[WordPatterns]:
    """Return the phrases that words without a distance form in their order; none if they have one, or are too many."""
    sides, gaps = _list_sides(node)
    if any(gap.distance or not gap.ordered for gap in gaps):
        return []
    alternatives = [_list_alternatives(side) for side in sides]
    if prod(map(len, alternatives)) > MAX_COMBINATIONS:
        return []
    return [join_words(combination) for combination in product(*alternatives)]


def _note_omission(failure: CannotExpressError) -> Loss:
    return Loss("narrower", f"an alternative was left out: {failure}")


def _choose_tag(scope: Scope) -> tuple[str | None, tuple[Loss, ...]]:
    """Return the tag for a proximity search in a scope: a field that allows one."""
    tags, losses = choose_tags(scope.sources)
    if len(tags) == 1 and tags[0] in _TAGS:
        return tags[0], (*scope.losses, *losses)
    covered = frozenset(BY_CODE["TIAB"].sources)
    if not scope.sources & covered and "everything" not in scope.sources:
        return None, ()
    if "everything" in scope.sources:
        return "tiab", (*scope.losses, Loss("narrower", "a proximity search is possible in [tiab] only"))
    missed, gained = scope.sources - covered, covered - scope.sources - {"book"}
    return "tiab", (*scope.losses, *describe_difference(missed, gained, ("tiab",)))


def _list_distance_losses(combination: Sequence[Sequence[str]], gaps: Sequence[Near]) -> list[Loss]:
    """Return how one proximity search of PubMed differs from that of the line."""
    losses: list[Loss] = []
    if any(gap.ordered and gap.distance for gap in gaps) or any(gap.ordered for gap in gaps[1:]):
        losses.append(Loss("wider", "PubMed finds the words in any order"))
    if any(gap.skips for gap in gaps):
        losses.append(_STOPWORDS_COUNTED)
    if len(combination) > 2:
        losses.append(Loss("wider", "several distances became one distance over all words"))
    if any(len(phrase) > 1 for phrase in combination):
        losses.append(Loss("wider", "the words of a phrase may be apart within the distance"))
    return losses

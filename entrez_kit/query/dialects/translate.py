"""Translate the meaning of a line to PubMed, with every difference in words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import prod
from typing import Final, Literal

from entrez_kit.query.dialects.notes import CannotExpressError, Note
from entrez_kit.query.dialects.qualifiers import MERGED, NOT_LEAVES
from entrez_kit.query.dialects.renamed_headings import LEAVES, RENAMED
from entrez_kit.query.dialects.service_fields import choose_tags, describe_difference
from entrez_kit.query.dialects.tree import (
    MARKS,
    AllOf,
    AnyOf,
    DayRange,
    Direction,
    Exclude,
    LineReference,
    Loss,
    Near,
    Node,
    PubMedQuery,
    Scope,
    SubjectHeading,
    Unknown,
    Value,
    WordPatterns,
    compile_pattern,
    get_stem,
    has_marks,
    walk,
)
from entrez_kit.query.fields import BY_CODE
from entrez_kit.query.mesh import Vocabulary
from entrez_kit.query.printing import print_day
from entrez_kit.query.unsettled import SHORTEST_STEM
from entrez_kit.query.words import STOP_WORDS, normalize

Label = Literal["exact", "wider", "narrower", "not_expressible"]
Proximity = Literal["near", "and"]
MAX_VARIANTS: Final = 729
"""Maximum number of spellings of a term."""
MAX_WINDOWS: Final = 300
"""Maximum number of proximity searches for two groups of words."""
MAX_LISTED: Final = 100
"""Maximum number of words of the word list for one truncated word."""
_CHARACTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
_PROXIMITY: Final = {"ti": "TITL", "tiab": "TIAB", "ad": "AFFL"}
_ATOM: Final = re.compile(r'(?:"[^"]*"|[^\s()"\[\]]+(?: [^\s()"\[\]]+)*?)\s?\[[^\[\]]*\]|#[0-9]+|[\w*]+')


def list_directions(losses: Iterable[Loss]) -> set[Direction]:
    """Return the directions in which a translation differs."""
    return {loss.direction for loss in losses}


def choose_label(losses: Iterable[Loss]) -> Label:
    """Return the label of a translation: ``narrower`` can miss records, whatever it finds in addition."""
    directions = list_directions(losses)
    if "substitute" in directions:
        return "not_expressible"
    return "narrower" if "narrower" in directions else "wider" if directions else "exact"


@dataclass(frozen=True, slots=True)
class WordList:
    """Words from which variants of truncated words are taken; ``name`` states their origin."""

    name: str
    words: tuple[str, ...]

    def match(self, pattern: str) -> list[str]:
        """Return the words that match a pattern."""
        stem, compiled = get_stem(pattern), compile_pattern(pattern)
        return [word for word in self.words if word.startswith(stem) and compiled.fullmatch(word)]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a query; ``operator`` is its outermost operator, "" for a single term."""

    text: str
    operator: str = ""
    losses: tuple[Loss, ...] = ()
    notes: tuple[Note, ...] = ()

    def enclose(self, *plain: str) -> str:
        """Return the text in parentheses, unless it is a term or its operator is one of these."""
        return self.text if not self.operator or self.operator in plain else f"({self.text})"


@dataclass(frozen=True, slots=True)
class Translator:
    """Translates lines.

    Args:
        words: the word list for truncated words that PubMed cannot search; without one, a proximity search with
            truncation becomes AND.
        proximity: "near" keeps the distance where PubMed can; "and" never does and misses nothing.
        vocabulary: MeSH, to find out whether a heading exists.
    """

    words: WordList | None = None
    proximity: Proximity = "near"
    vocabulary: Vocabulary | None = None

    def translate(self, node: Node) -> Piece:
        """Return the translation of a line.

        Raises:
            CannotExpressError: PubMed has no search for the line.
        """
        if isinstance(node, AnyOf):
            return self._translate_any(node)
        if isinstance(node, AllOf):
            return join_pieces("AND", [self.translate(part) for part in node.parts])
        if isinstance(node, Exclude):
            left, right = self.translate(node.left), self.translate(node.right)
            losses = tuple(dict.fromkeys((*left.losses, *(loss.negate() for loss in right.losses))))
            notes = tuple(dict.fromkeys((*left.notes, *right.notes)))
            return Piece(f"{left.enclose()} NOT {right.enclose()}", "NOT", losses, notes)
        if isinstance(node, WordPatterns):
            return self._translate_words(node)
        if isinstance(node, Near):
            return self._translate_near(node)
        if isinstance(node, SubjectHeading):
            return self._translate_heading(node)
        if isinstance(node, Value):
            return self._translate_value(node)
        if isinstance(node, DayRange):
            return _translate_days(node)
        if isinstance(node, PubMedQuery):
            return Piece(node.query, "" if _ATOM.fullmatch(node.query) else "mixed", node.losses)
        if isinstance(node, LineReference):
            return Piece(f"#{node.number}")
        assert isinstance(node, Unknown)
        raise CannotExpressError(f"{node.text!r}: {node.reason}")

    def _translate_any(self, node: AnyOf) -> Piece:
        """Translate alternatives; one that PubMed cannot search is left out, which is a loss."""
        pieces: list[Piece] = []
        failures: list[CannotExpressError] = []
        losses: list[Loss] = []
        for part in node.parts:
            try:
                pieces.append(self.translate(part))
            except CannotExpressError as exc:
                if isinstance(part, Unknown):  # without a limit that is an alternative, the others would limit more
                    raise
                failures.append(exc)
                losses.append(Loss("narrower", f"an alternative was left out: {exc}"))
        if not pieces:
            raise failures[0]
        joined = join_pieces("OR", pieces)
        return replace(joined, losses=(*joined.losses, *losses))

    # words

    def _translate_words(self, node: WordPatterns) -> Piece:
        assert node.scope is not None, "the parser sets the scope of every word"
        tags, losses = choose_tags(node.scope.sources)
        forms, added = self._expand_phrase(node.patterns)
        varies = (_VARIES,) if node.varies else ()
        terms = [quote(form, tag) for tag in tags for form in forms]
        all_losses = dict.fromkeys((*node.scope.losses, *losses, *added, *varies))
        return Piece(" OR ".join(terms), "OR" if len(terms) > 1 else "", tuple(all_losses))

    def _expand_phrase(self, patterns: Sequence[str]) -> tuple[list[str], tuple[Loss, ...]]:
        """Return the forms of a phrase that PubMed can search, and the losses."""
        if len(patterns) == 1 and patterns[0] in STOP_WORDS:
            raise CannotExpressError(f"PubMed ignores the word {patterns[0]!r}")
        options: list[Sequence[str]] = []
        losses: list[Loss] = []
        for pattern in patterns:
            forms, added = self.expand_pattern(pattern)
            options.append(forms)
            losses += added
        if prod(len(forms) for forms in options) > MAX_VARIANTS:
            text = f"{' '.join(patterns)!r} has more than {MAX_VARIANTS} spellings"
            raise CannotExpressError(text, "wildcard-trap")
        return [" ".join(words) for words in product(*options)], tuple(losses)

    def expand_pattern(self, pattern: str) -> tuple[Sequence[str], tuple[Loss, ...]]:
        """Return the words and truncated words by which PubMed can search a pattern.

        Raises:
            CannotExpressError: the word is too short before its wildcard, and there is no word list.
        """
        if not has_marks(pattern):
            return (pattern,), ()
        stem = get_stem(pattern)
        only_stars = all(mark == "*" for mark in MARKS.findall(pattern))
        if only_stars and len(stem) >= SHORTEST_STEM:
            return (re.sub(r"\*+", "*", pattern),), ()
        if self.words is not None and (listed := self.words.match(pattern)) and len(listed) <= MAX_LISTED:
            text = f"{_show(pattern)} became the words of {self.words.name}: {', '.join(listed)}"
            return listed, (Loss("narrower", text),)
        if len(stem) >= SHORTEST_STEM:
            starred = re.sub(r"\*+", "*", MARKS.sub("*", pattern))
            return (starred,), (Loss("wider", f"{_show(pattern)} became {starred}, which allows any characters"),)
        return self._list_spellings(pattern)

    def _list_spellings(self, pattern: str) -> tuple[Sequence[str], tuple[Loss, ...]]:
        """Return a pattern with its first single characters written out, until PubMed can truncate the rest."""
        forms = [pattern]
        while any(has_marks(form) and len(get_stem(form)) < SHORTEST_STEM for form in forms):
            following: list[str] = []
            for form in forms:
                mark = MARKS.search(form)
                if mark is None or len(get_stem(form)) >= SHORTEST_STEM:
                    following.append(form)
                    continue
                if mark[0] not in "#?" or not (mark.start() or len(form) > 2):
                    if not mark.start():
                        raise CannotExpressError(f"{_show(pattern)} begins with a wildcard", "wildcard-trap")
                    least = f"fewer than {SHORTEST_STEM} characters before the wildcard"
                    text = f"{_show(pattern)} has {least}; give a word list to list its variants"
                    raise CannotExpressError(text, "short-truncation")
                ending = form[mark.end() :]
                following += [form[: mark.start()] + sign + ending for sign in _CHARACTERS]
                following += [form[: mark.start()] + ending] if mark[0] == "?" else []
            if len(following) > MAX_VARIANTS:
                text = f"{_show(pattern)} has more than {MAX_VARIANTS} spellings"
                raise CannotExpressError(text, "wildcard-trap")
            forms = following
        spellings: list[str] = []
        losses: dict[Loss, None] = {}
        for form in forms:
            if has_marks(form) and not all(mark == "*" for mark in MARKS.findall(form)):
                losses[Loss("wider", f"{_show(pattern)} became a truncated word, which allows any characters")] = None
                form = MARKS.sub("*", form)
            spellings.append(re.sub(r"\*+", "*", form))
        return list(dict.fromkeys(spellings)), tuple(losses)

    # proximity

    def _translate_near(self, node: Near) -> Piece:
        slots, gaps = _flatten(node)
        scope = next(part.scope for part in walk(node) if isinstance(part, WordPatterns))
        assert scope is not None, "the parser sets the scope of every word"
        phrases = [self._expand_slot(slot) for slot in slots]
        if self.proximity == "near" and all(gap.ordered and not gap.distance for gap in gaps):
            return self._translate_adjacent(slots, scope)
        if self.proximity == "near" and all(phrases):
            return self._translate_windows(slots, gaps, scope, [phrase for phrase in phrases if phrase is not None])
        return self._translate_and(slots, scope)

    def _expand_slot(self, slot: Node) -> "_Slot | None":
        """Return the alternatives of one side of a proximity search; None if they contain another one."""
        alternatives = [part for part in walk(slot) if isinstance(part, WordPatterns)]
        if any(isinstance(part, Near) for part in walk(slot)):
            return None
        plain: list[tuple[str, ...]] = []
        starred: list[Node] = []
        losses = [_VARIES] if any(words.varies for words in alternatives) else []
        failure: CannotExpressError | None = None
        for words in alternatives:
            try:
                forms, added = self._expand_alternative(words)
            except CannotExpressError as exc:
                failure = exc
                losses.append(Loss("narrower", f"an alternative was left out: {exc}"))
                continue
            if forms is None:
                starred.append(words)
            else:
                plain += forms
                losses += added
        if failure is not None and not plain and not starred:
            raise failure
        return _Slot(plain, starred, tuple(losses))

    def _expand_alternative(self, words: WordPatterns) -> tuple[list[tuple[str, ...]] | None, list[Loss]]:
        """Return the spellings of an alternative without truncation; None if one has to be truncated."""
        options: list[Sequence[str]] = []
        losses: list[Loss] = []
        for pattern in words.patterns:
            listed = self.words.match(pattern) if self.words is not None and has_marks(pattern) else []
            if listed and len(listed) <= MAX_LISTED and self.words is not None:
                text = f"{_show(pattern)} became the words of {self.words.name}: {', '.join(listed)}"
                options.append(listed)
                losses.append(Loss("narrower", text))
                continue
            forms, added = self.expand_pattern(pattern)
            options.append(forms)
            losses += added
        if any("*" in form for option in options for form in option):
            return None, []
        return list(product(*options)), losses

    def _translate_adjacent(self, slots: Sequence[Node], scope: Scope) -> Piece:
        """Translate an ordered phrase with alternatives: each combination is a phrase."""
        combinations = list(product(*(_list_alternatives(slot) for slot in slots)))
        if len(combinations) > MAX_WINDOWS:
            return self._translate_and(slots, scope)
        parts = [
            WordPatterns(tuple(pattern for words in combination for pattern in words.patterns), "", scope)
            for combination in combinations
        ]
        return self._translate_any(AnyOf(tuple(parts))) if len(parts) > 1 else self._translate_words(parts[0])

    def _translate_windows(
        self, slots: Sequence[Node], gaps: Sequence[Near], scope: Scope, phrases: "Sequence[_Slot]"
    ) -> Piece:
        tag, scope_losses = _choose_proximity_tag(scope)
        if tag is None or (any(slot.starred for slot in phrases) and len(phrases) > 2):
            return self._translate_and(slots, scope)
        combinations = prod(len(slot.plain) for slot in phrases)
        if combinations > MAX_WINDOWS:
            text = f"{combinations} combinations are more than {MAX_WINDOWS}, so the distance was given up"
            return _add_losses(self._translate_and(slots, scope), Loss("wider", text))
        distance = sum(gap.distance for gap in gaps)
        pieces: list[Piece] = []
        for combination in product(*(slot.plain for slot in phrases)):
            words = [word for phrase in combination for word in phrase]
            text = f'"{" ".join(words)}"[{tag}:~{distance}]'
            pieces.append(Piece(text, "", (*scope_losses, *self._describe_window(combination, gaps, phrases))))
        pieces += self._translate_starred(slots, gaps, scope, phrases)
        return join_pieces("OR", pieces)

    def _describe_window(
        self, combination: Sequence[Sequence[str]], gaps: Sequence[Near], phrases: "Sequence[_Slot]"
    ) -> tuple[Loss, ...]:
        losses = [loss for slot in phrases for loss in slot.losses]
        if any(gap.ordered and gap.distance for gap in gaps) or any(gap.ordered for gap in gaps[1:]):
            losses.append(Loss("wider", "PubMed finds the words in any order"))
        if any(gap.skips for gap in gaps):
            losses.append(Loss("narrower", "PubMed counts stopwords between the words, and Ovid does not"))
        if len(combination) > 2:
            losses.append(Loss("wider", "several distances became one distance over all words"))
        if any(len(phrase) > 1 for phrase in combination):
            losses.append(Loss("wider", "the words of a phrase may be apart within the distance"))
        return tuple(losses)

    def _translate_starred(
        self, slots: Sequence[Node], gaps: Sequence[Near], scope: Scope, phrases: "Sequence[_Slot]"
    ) -> list[Piece]:
        """Translate the combinations with a truncated word: a phrase if the words are adjacent, AND otherwise."""
        if not any(slot.starred for slot in phrases):
            return []
        left, right = (_list_alternatives(slot) for slot in slots)
        starred = [tuple(slot.starred) for slot in phrases]
        if not gaps[0].distance:
            pairs = [(a, b) for a, b in product(left, right) if a in starred[0] or b in starred[1]]
            if 2 * len(pairs) <= MAX_WINDOWS:
                phrases_in_order = []
                for pair in pairs:
                    for order in permutations(pair):
                        patterns = tuple(pattern for words in order for pattern in words.patterns)
                        phrases_in_order.append(self._translate_words(WordPatterns(patterns, "", scope)))
                skips = Loss("narrower", "PubMed counts stopwords between the words, and Ovid does not")
                return [_add_losses(phrase, skips) if gaps[0].skips else phrase for phrase in phrases_in_order]
        plain_left = [words for words in left if words not in starred[0]]
        sides: list[tuple[Sequence[Node], Sequence[Node]]] = [(starred[0], right), (plain_left, starred[1])]
        pieces = []
        for first, second in sides:
            if first and second:
                both = [self._translate_any(AnyOf(tuple(side))) for side in (first, second)]
                pieces.append(_add_losses(join_pieces("AND", both), _DISTANCE_LOST))
        return pieces

    def _translate_and(self, slots: Sequence[Node], scope: Scope) -> Piece:
        joined = join_pieces("AND", [self.translate(slot) for slot in slots])
        return _add_losses(joined, _DISTANCE_LOST)

    # values

    def _translate_heading(self, node: SubjectHeading) -> Piece:
        current = RENAMED.get(node.name.lower())
        known = None
        vocabulary = self.vocabulary
        if vocabulary is not None and not vocabulary.headings.is_empty:
            known = vocabulary.headings.find(normalize(node.name)) or (
                vocabulary.headings.find(normalize(current)) if current else None
            )
        words = " ".join(re.sub(r"[^\w\s-]", " ", " ".join(reversed(node.name.split(", ")))).split())
        if node.vocabulary != "mesh":
            origin = {"emtree": "Emtree", "cinahl": "CINAHL"}[node.vocabulary]
            if known is not None:
                text = f"{node.name!r} is a heading of {origin}; the MeSH heading {known.name!r} is proposed for it"
                proposed = SubjectHeading(known.name, node.explodes, node.major)
                return Piece(print_heading(proposed), "", (Loss("substitute", text),))
            text = f"{node.name!r} is a heading of {origin}, not of MeSH; its words are searched instead"
            return Piece(quote(words, "tiab"), "", (Loss("substitute", text),))
        if known is None and current is None and vocabulary is not None and not vocabulary.headings.is_empty:
            note = Note(f"{node.name!r} is not a MeSH heading.", "not-mesh")
            text = f"{node.name!r} is not a MeSH heading; its words are searched instead"
            return Piece(quote(words, "tiab"), "", (Loss("substitute", text),), (note,))
        name = current if known is None else known.name
        notes: tuple[Note, ...] = ()
        if name is not None and normalize(name) != normalize(node.name):
            notes = (Note(f"{node.name!r} is now {name!r}.", "heading-renamed"),)
            node = replace(node, name=name)
        losses: list[Loss] = []
        for qualifier in node.qualifiers:
            if qualifier in MERGED:
                losses.append(Loss("wider", f"the qualifier {qualifier!r} is now {MERGED[qualifier]!r}"))
            elif qualifier in NOT_LEAVES and node.explodes:
                losses.append(Loss("wider", f"PubMed includes the qualifiers below {qualifier!r}"))
        return Piece(print_heading(node), "OR" if len(node.qualifiers) > 1 else "", tuple(losses), notes)

    def _translate_value(self, node: Value) -> Piece:
        losses: tuple[Loss, ...] = ()
        if node.code == "PTYP=":
            losses = (Loss("wider", "[pt] includes narrower publication types"),)
        return Piece(print_value(node), "", losses)


_VARIES: Final = Loss("narrower", "the service also finds plurals and spelling variants of words")
_DISTANCE_LOST: Final = Loss("wider", "the words may be anywhere in the fields; PubMed has no distance for them")


@dataclass(frozen=True, slots=True)
class _Slot:
    """One side of a proximity search: phrases of plain words, and alternatives with truncation."""

    plain: list[tuple[str, ...]]
    starred: list[Node]
    losses: tuple[Loss, ...]


def _add_losses(piece: Piece, *losses: Loss) -> Piece:
    return replace(piece, losses=tuple(dict.fromkeys((*piece.losses, *losses))))


def _show(pattern: str) -> str:
    return pattern.replace("<", "*").replace(">", "")


def _flatten(node: Near) -> tuple[list[Node], list[Near]]:
    """Return the sides of nested proximity searches in order, and the proximity between each two of them."""
    slots: list[Node] = []
    gaps: list[Near] = []

    def visit(part: Node) -> None:
        if isinstance(part, Near):
            visit(part.left)
            gaps.append(part)
            visit(part.right)
        else:
            slots.append(part)

    visit(node)
    return slots, gaps


def _list_alternatives(slot: Node) -> list[WordPatterns]:
    return [part for part in walk(slot) if isinstance(part, WordPatterns)]


def _choose_proximity_tag(scope: Scope) -> tuple[str | None, tuple[Loss, ...]]:
    """Return the tag for a proximity search in a scope: a field that allows one."""
    tags, losses = choose_tags(scope.sources)
    if len(tags) == 1 and tags[0] in _PROXIMITY:
        return tags[0], (*scope.losses, *losses)
    covered = frozenset(BY_CODE["TIAB"].sources)
    if not scope.sources & covered and "everything" not in scope.sources:
        return None, ()
    missed = scope.sources - covered
    if "everything" in scope.sources:
        return "tiab", (*scope.losses, Loss("narrower", "a proximity search is possible in [tiab] only"))
    return "tiab", (*scope.losses, *describe_difference(missed, covered - scope.sources - {"book"}, ("tiab",)))


def join_pieces(operator: str, pieces: Sequence[Piece]) -> Piece:
    """Join pieces with AND or OR; nested groups are in parentheses, because PubMed has no precedence."""
    if len(pieces) == 1:
        return pieces[0]
    losses = tuple(dict.fromkeys(loss for piece in pieces for loss in piece.losses))
    notes = tuple(dict.fromkeys(note for piece in pieces for note in piece.notes))
    texts = list(dict.fromkeys(piece.enclose(operator) for piece in pieces))
    return Piece(f" {operator} ".join(texts), operator if len(texts) > 1 else pieces[0].operator, losses, notes)


def quote(form: str, tag: str) -> str:
    """Return a word or a phrase with its tag."""
    return f'"{form}"[{tag}]' if " " in form or (tag == "all" and "*" not in form) else f"{form}[{tag}]"


def print_heading(node: SubjectHeading, *, noexp: bool | None = None) -> str:
    """Return a heading in PubMed's syntax.

    Args:
        node: the heading.
        noexp: whether narrower headings are excluded; by default as Cochrane prints it.
    """
    name = " ".join(re.sub(r'["\[\]]', " ", node.name).split())
    excluded = not node.explodes and name.lower() not in LEAVES if noexp is None else noexp
    tag = f"{'majr' if node.major else 'mh'}{':noexp' if excluded else ''}"
    if not node.qualifiers:
        return f'"{name}"[{tag}]'
    names = dict.fromkeys(MERGED.get(qualifier, qualifier) for qualifier in node.qualifiers)
    return " OR ".join(f'"{name}/{qualifier}"[{tag}]' for qualifier in names)


def print_value(node: Value, *, exact: bool = False) -> str:
    """Return a whole value in PubMed's syntax; ``exact`` excludes narrower publication types."""
    text = node.text.replace('"', "")
    match node.code:
        case "PTYP=":
            return f'"{text}"[{"pt:noexp" if exact else "pt"}]'
        case "PTYP":
            return f'"{text}"[pt]'
        case "SUBH":
            return f'"{text}"[{"sh:noexp" if exact or text.lower() in NOT_LEAVES else "sh"}]'
        case "SUBH+":
            return f'"{text}"[sh]'
        case "LANG":
            return f"{text.lower()}[la]"
        case "AUTH":
            stem = text.rstrip("*").strip()
            return f"{stem.lower()}[au]" if text.endswith("*") else f'"{stem.lower()}"[au]'
        case "JOUR":
            return f'"{text}"[ta]'
        case "ISSN":
            return f"{text}[is]"
        case "UID":
            return f"{text}[pmid]"
        case "ECNO":
            return f"{text}[rn]"
        case "SUBS":
            return f'"{text}"[nm]'
        case _:
            raise CannotExpressError(f"PubMed has no field for {node.text!r}")


def _translate_days(node: DayRange) -> Piece:
    whole = node.low % 10000 == 101 and node.high % 10000 == 1231
    low, high = (
        str(day // 10000) if whole and node.clock == "year" else print_day(day) for day in (node.low, node.high)
    )
    if node.clock == "year":
        return Piece(f"{low}:{high}[dp]", "", node.losses)
    if node.clock == "change":
        return Piece(f"{low}:{high}[lr]", "", node.losses)
    return Piece(f"{low}:{high}[crdt] OR {low}:{high}[edat]", "OR", node.losses)

"""Find a quoted or stated sentence in a text, word by word and number by number, whatever typesetting did to it.

Both are folded to the words, numbers and signs they hold. Line breaks, hyphenation, ligatures, brackets and the kind of
quotation marks and dashes make no difference; a digit, a sign, a power, a unit or a word more or less does. Nothing is
guessed: what is only similar is not found, and what differs is named.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

from entrez_kit.model import Result
from entrez_kit.sentences import sentence_breaks

DifferenceKind = Literal["number", "unit", "negation", "words"]

NEGATIONS: Final = frozenset(
    (
        *("no", "not", "never", "none", "nor", "neither", "without", "cannot", "un", "non", "hardly"),
        *("fail", "fails", "failed", "lack", "lacks", "lacked", "absence", "absent"),
        *("don", "doesn", "didn", "isn", "aren", "wasn", "weren", "won", "couldn", "hasn", "hadn"),  # before a 't
    )
)
LIKE: Final = 0.72
"""Share of a claim's words that a passage must hold, and of the passage's that the claim must, to be compared."""
LEAST_WORDS: Final = 4
"""Fewer words are like many passages; they are found as they stand, or not."""
_MOST_SENTENCES: Final = 6

_HYPHENS: Final = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2212\u00ad\ufe63\uff0d")
_MINUS: Final = frozenset("-\u2010\u2011\u2013\u2212\ufe63\uff0d")
_SIGNS: Final = {"≤": "<=", "≥": ">=", "⩽": "<=", "⩾": ">=", "×": "x", "∼": "~", "≈": "~"}
_KEPT: Final = frozenset("<>=±%‰/+~°^")
_THIN: Final = "\u2007\u2009\u00a0\u202f"
_RAISED: Final = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-", strict=True))
_LOWERED: Final = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_APART: Final = str.maketrans({"œ": "oe", "Œ": "OE", "æ": "ae", "Æ": "AE", "ø": "o", "Ø": "O", "ł": "l", "ß": "ss"})

_NUMBER: Final = re.compile(rf"(?:[0-9]{{1,3}}(?:[,{_THIN}][0-9]{{3}})+(?![0-9])|[0-9]+)(?:[.·][0-9]+)?")
_SCRIPT: Final = re.compile(f"[{''.join(_RAISED)}]+|[{''.join(_LOWERED)}]+")
_LIST: Final = r"[0-9]{1,3}(?:\s*[,;\u2010-\u2013-]\s*[0-9]{1,3})*"
_MARKERS: Final = re.compile(
    rf"\[{_LIST}\]|\^\({_LIST}\)|(?:(?<=[.,;:)\"”])|(?<=[a-z]{{3}}))(?![²³](?![⁰¹²³⁴-⁹,]))[⁰¹²³⁴-⁹]+(?:[,⁻–][⁰¹²³⁴-⁹]+)*"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or sign, ``text`` folded and ``cased`` with its capitals; offsets are those of the text."""

    text: str
    cased: str
    start: int
    end: int

    @property
    def is_number(self) -> bool:
        """Whether it is a number."""
        return self.text[-1].isdigit()


@dataclass(frozen=True, slots=True)
class Passage:
    """Where something stands in a text: offsets of characters, the end not included."""

    start: int
    end: int


class ClaimDifference(Result):
    """What a claim says otherwise than the passage; one of the two may be empty."""

    kind: DifferenceKind
    claimed: str
    found: str


@dataclass(frozen=True, slots=True)
class Twin:
    """A passage that says nearly what a claim says; ``likeness`` is 1.0 where they hold the same words."""

    passage: Passage
    differences: list[ClaimDifference]
    likeness: float


class Folded:
    """A text, folded to what counts.

    Args:
        text: as it is read.
        with_markers: whether the numbers of references in it ([12], ^(3-5)) count.
    """

    def __init__(self, text: str, *, with_markers: bool = True) -> None:
        self.text = text
        skipped = [] if with_markers else [match.span() for match in _MARKERS.finditer(text)]
        self.tokens = list(_tokens(text, skipped))
        # All tokens in a row. A number is set off: "1" and "2" are not "12".
        self._begins, parts, at = list[int](), list[str](), 0
        for token in self.tokens:
            self._begins.append(at)
            parts.append(f"\x01{token.text}\x01" if token.is_number else token.text)
            at += len(parts[-1])
        self._row = "".join(parts)

    def find(self, claim: "Folded") -> Passage | None:
        """Return where a claim stands, word by word; None where it does not."""
        at = self._row.find(claim._row) if claim._row else -1
        if at < 0:
            return None
        numbers = {begin: number for number, begin in enumerate([*self._begins, len(self._row)])}
        while at >= 0:
            first, behind = numbers.get(at), numbers.get(at + len(claim._row))
            if first is not None and behind is not None and self._same_words(first, behind, claim):
                return Passage(self.tokens[first].start, self.tokens[behind - 1].end)
            at = self._row.find(claim._row, at + 1)
        return None

    def _same_words(self, first: int, behind: int, claim: "Folded") -> bool:
        """Tell whether what is the same in a row is so in words and capitals: "notable" is not "not able"."""
        offset = self._begins[first]
        mine = {begin - offset: number for number, begin in enumerate(self._begins[first:behind], first)}
        theirs = {begin: number for number, begin in enumerate(claim._begins)}
        for joints, others, text in ((mine, theirs, self), (theirs, mine, claim)):
            if not all(text._is_hyphenated(joints[at]) for at in joints.keys() - others.keys()):
                return False
        cased = "".join(token.cased for token in self.tokens[first:behind])
        at, after_number = 0, False
        for token in claim.tokens:
            other = cased[at : at + len(token.cased)]
            at += len(token.cased)
            if other != token.cased and not _same_capitals(other, token.cased, is_unit=after_number):
                return False
            after_number = token.is_number
        return True

    def _is_hyphenated(self, number: int) -> bool:
        before, token = self.tokens[number - 1], self.tokens[number]
        return bool(_HYPHENS.intersection(self.text[before.end : token.start]))

    def sentences(self) -> list[list[Token]]:
        """Return the tokens, sentence by sentence."""
        ends = [end for end, _ in sentence_breaks(self.text, lines=True)]
        parts: list[list[Token]] = [[]]
        number = 0
        for token in self.tokens:
            while number < len(ends) and token.start >= ends[number]:
                number += 1
                if parts[-1]:
                    parts.append([])
            parts[-1].append(token)
        return [part for part in parts if part]


def _same_capitals(one: str, other: str, *, is_unit: bool) -> bool:
    """Tell whether words that differ in capitals only are the same: Tp53 is another species' gene, and Mg is no mg."""
    if is_unit:
        return False
    if one[1:] == one[1:].lower() and other[1:] == other[1:].lower():
        return True  # a word that begins a sentence here and not there
    return len(one) > 6 and (one.isupper() or other.isupper())  # too long for a symbol


def _tokens(text: str, skipped: Sequence[tuple[int, int]]) -> Iterator[Token]:
    at, size = 0, len(text)
    gaps = iter(skipped)
    gap = next(gaps, (size, size))
    while at < size:
        if at >= gap[0]:
            at, gap = max(at, gap[1]), next(gaps, (size, size))
            continue
        sign = text[at]
        stop = at + 1
        if script := _SCRIPT.match(text, at):
            stop = script.end()
            if sign in _RAISED:
                yield Token("^", "^", at, at)
            digits = "".join(_RAISED.get(one) or _LOWERED[one] for one in script[0])
            yield Token(digits, digits, at, stop)
        elif number := _NUMBER.match(text, at):
            stop = number.end()
            digits = _sign_before(text, at) + re.sub(f"[,{_THIN}]", "", number[0]).replace("·", ".")
            yield Token(digits, digits, at, stop)
        elif sign.isalpha():
            while stop < size and (text[stop].isalpha() or unicodedata.combining(text[stop])):
                stop += 1
            yield _word(text[at:stop], at, stop)
        elif sign in _KEPT or sign in _SIGNS:
            kept = _SIGNS.get(sign, sign)
            yield Token(kept, kept, at, stop)
        else:
            for one in unicodedata.normalize("NFKC", sign):  # a sign that stands for letters or a number: ℃, ½
                if one.isalnum() or one in _KEPT:
                    yield _word(one, at, stop)
        at = stop


def _sign_before(text: str, at: int) -> str:
    """Return what belongs to a number and stands before it; a dash between numbers or in a word is no minus."""
    sign = ""
    before = text[at - 1 : at]
    if before == "." and not text[at - 2 : at - 1].isalnum():
        sign, at = "0.", at - 1
        before = text[at - 1 : at]
    if before in _MINUS and not text[at - 2 : at - 1].isalnum():
        return "-" + sign
    return sign


def _word(text: str, start: int, end: int) -> Token:
    letters = "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))
    cased = letters.translate(_APART)
    folded = cased.casefold()
    return Token(folded, cased if len(cased) == len(folded) else folded, start, end)


def nearest(text: Folded, claim: Folded) -> Twin | None:
    """Return the passage of a text that is most like a claim, and how they differ; None where none is like it."""
    wanted = {token.text for token in claim.tokens}
    if len(wanted) < LEAST_WORDS:
        return None
    sentences = text.sentences()
    shares = [len(wanted.intersection(token.text for token in part)) / len(wanted) for part in sentences]
    best: Twin | None = None
    for number in sorted(range(len(sentences)), key=shares.__getitem__, reverse=True)[:_MOST_SENTENCES]:
        if shares[number] < LIKE / 3:
            break
        for first, behind in ((number, number + 1), (number - 1, number + 1), (number, number + 2)):
            if first < 0 or behind > len(sentences):
                continue
            twin = _compared([token for part in sentences[first:behind] for token in part], claim, text.text)
            if twin is not None and (best is None or twin.likeness > best.likeness):
                best = twin
    return best


def _compared(window: Sequence[Token], claim: Folded, text: str) -> Twin | None:
    mine, theirs = [token.text for token in claim.tokens], [token.text for token in window]
    if len(theirs) > 40 * len(mine):
        return None
    matcher = SequenceMatcher(None, theirs, mine, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    same = sum(block.size for block in blocks)
    if same / len(mine) < LIKE:
        return None
    # What the claim changed at its beginning or its end stands beside what it kept.
    first = max(0, blocks[0].a - blocks[0].b)
    behind = min(len(window), blocks[-1].a + len(mine) - blocks[-1].b)
    if same / (behind - first) < LIKE:
        return None
    matcher.set_seq1(theirs[first:behind])
    differences: list[ClaimDifference] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        found, claimed = window[first + i1 : first + i2], claim.tokens[j1:j2]
        if tag != "equal" and _in_a_row(found) != _in_a_row(claimed):  # else one of them is hyphenated
            differences.append(_difference(found, text, claim, j1, j2))
        elif tag == "equal":
            differences += [
                _difference(found[n : n + 1], text, claim, j1 + n, j1 + n + 1)
                for n, token in enumerate(claimed)
                if token.cased != found[n].cased
                and not _same_capitals(token.cased, found[n].cased, is_unit=_behind_number(claim, j1 + n))
            ]
    passage = Passage(window[first].start, window[behind - 1].end)
    if not differences:  # the words are divided otherwise: "notable", "not able"
        differences = [_difference(window[first:behind], text, claim, 0, len(mine))]
    return Twin(passage, differences, 2 * same / (behind - first + len(mine)))


def _in_a_row(tokens: Sequence[Token]) -> str:
    return "".join(token.text for token in tokens)


def _behind_number(claim: Folded, at: int) -> bool:
    return at > 0 and claim.tokens[at - 1].is_number


def _difference(theirs: Sequence[Token], text: str, claim: Folded, start: int, end: int) -> ClaimDifference:
    mine = claim.tokens[start:end]
    words = [token.text for token in (*mine, *theirs)]
    kind: DifferenceKind = "words"
    if any(token.is_number or token.text in ("<", ">", "<=", ">=", "=", "±", "^", "~") for token in (*mine, *theirs)):
        kind = "number"
    elif not NEGATIONS.isdisjoint(words):
        kind = "negation"
    elif _behind_number(claim, start) and len(words) <= 6:
        kind = "unit"
    return ClaimDifference(kind=kind, claimed=_quoted(claim.text, mine), found=_quoted(text, theirs))


def _quoted(text: str, tokens: Sequence[Token]) -> str:
    return " ".join(text[tokens[0].start : tokens[-1].end].split()) if tokens else ""

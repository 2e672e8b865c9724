"""Find a quoted or stated sentence in a text by its words and numbers, independent of typesetting.

Both are folded to words, numbers and signs. Line breaks, hyphenation, ligatures, brackets, quotation marks, dashes, and
the symbol or word of a unit do not matter. An added or missing digit, sign, power, unit or word is a difference. A
passage that is only similar is not a match, and each of its differences is reported.
"""

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Final, Literal

from entrez_kit.base.sentences import yield_sentence_breaks
from entrez_kit.core.model import Result
from entrez_kit.references.claims.units import find_unit_name, yield_unit_tokens

DifferenceKind = Literal["number", "unit", "negation", "words"]

NEGATIONS: Final = frozenset(
    (
        *("no", "not", "never", "none", "nor", "neither", "without", "cannot", "un", "non", "hardly"),
        *("fail", "fails", "failed", "lack", "lacks", "lacked", "absence", "absent"),
        *("don", "doesn", "didn", "isn", "aren", "wasn", "weren", "won", "couldn", "hasn", "hadn"),  # before a 't
    )
)
_RANGE_WORDS: Final = frozenset(("to", "and", "or", "through"))
"""Words between two numbers."""
LIKE: Final = 0.72
"""Minimum share of the words of the claim in the passage, and of the words of the passage in the claim."""
MIN_WORDS: Final = 4
"""A claim of fewer words is similar to many passages, so only exact matches are found."""

_HYPHENS: Final = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2212\u00ad\ufe63\uff0d")
_JOINT: Final = re.compile("[" + "".join(map(re.escape, sorted(_HYPHENS))) + r"]|[_^]\(")
"""A hyphen, or the beginning of an index that Unicode does not have ("k_(cat)"): words can be joined there."""
_MAX_PARTS: Final = 6
_MINUS: Final = frozenset("-\u2010\u2011\u2013\u2212\ufe63\uff0d")
_SIGNS: Final = {"≤": "<=", "≥": ">=", "⩽": "<=", "⩾": ">=", "×": "x", "∼": "~", "≈": "~"}
_KEPT: Final = frozenset("<>=±%‰/+~°^")
_THIN: Final = "\u2007\u2009\u00a0\u202f"
_RAISED: Final = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-", strict=True))
_LOWERED: Final = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_APART: Final = str.maketrans({"œ": "oe", "Œ": "OE", "æ": "ae", "Æ": "AE", "ø": "o", "Ø": "O", "ł": "l", "ß": "ss"})

_TOKEN: Final = re.compile(
    # The most common case is first: a word of ASCII letters before an ASCII character.
    r"(?P<word>[A-Za-z]++(?![^\x00-\x7f]))"
    rf"|(?P<number>(?:[0-9]{{1,3}}(?:[,{_THIN}][0-9]{{3}})+(?![0-9])|[0-9]++)(?:[.·][0-9]++)?)"
    rf"|(?P<sign>[{''.join(sorted(_KEPT))}{''.join(_SIGNS)}])"
    rf"|(?P<script>[{''.join(_RAISED)}]++|[{''.join(_LOWERED)}]++)"
    r"|(?P<charge>(?<=[A-Za-z0-9(])[-\u2212](?=[,.;:)]| (?!(?:and|or|to)\b)|$))"
    r"|(?P<power>(?<=(?<![0-9.])10)\((?=-?[0-9]{1,2}\)))"
    r"|(?P<other>[^\x00-\x7f]|[A-Za-z])"
)
_ION: Final = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z][a-z]?[0-9]{0,2}){1,4}(?:\([0-9]?)?$")
"""The symbols before the minus of a charge: Cl-, HCO3(-)."""
_BASE: Final = re.compile(r"(?<![A-Za-z0-9])[0-9]+(?:[.,·][0-9]+)*$|[)\]]$")
"""A number, or the bracket after one, before its power."""
_MAX_ION: Final = 16
"""Maximum characters of symbols before a charge, and of a number before its power."""
_LIST: Final = r"[0-9]{1,3}(?:\s*[,;\u2010-\u2013-]\s*[0-9]{1,3})*"
_MARKERS: Final = re.compile(
    rf"\[{_LIST}\]|\^\({_LIST}\)|(?:(?<=[.,;:)\"”])|(?<=[a-z]{{3}}))(?![²³](?![⁰¹²³⁴-⁹,]))[⁰¹²³⁴-⁹]+(?:[,⁻–][⁰¹²³⁴-⁹]+)*"
)
_SET_OFF: Final = "\x01"
"""Separates numbers, so that "1" and "2" do not equal "12"."""


@dataclass(frozen=True, slots=True)
class PassageToken:
    """A word, number or sign: ``text`` is folded, ``cased`` has its capitals, offsets are in the original text."""

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
    """The place of a passage in a text: character offsets, the end exclusive."""

    start: int
    end: int


class ClaimDifference(Result):
    """A difference between the claim and the passage; one of the two may be empty."""

    kind: DifferenceKind
    claimed: str
    found: str


@dataclass(frozen=True, slots=True)
class NearMatch:
    """A passage that nearly equals the claim; ``likeness`` is 1.0 if both have the same words."""

    passage: Passage
    differences: list[ClaimDifference]
    likeness: float


class FoldedText:
    """A text, folded to its significant tokens.

    The tokens are stored in two strings with offsets, which need a tenth of the memory of token objects.

    Args:
        text: the original text.
        with_markers: whether to keep the numbers of references in the text ([12], ^(3-5)).
        after_number: whether the text follows a number, so that its first word may be a unit.
        wrapped: whether its lines are lines of a page, so that the end of a line does not end a sentence.
    """

    __slots__ = ("__dict__", "_begins", "_cased", "_ends", "_row", "_starts", "has_markers", "text", "wrapped")

    def __init__(
        self, text: str, *, with_markers: bool = True, after_number: bool = False, wrapped: bool = False
    ) -> None:
        self.text = text
        self.wrapped = wrapped
        plain = text if with_markers else _MARKERS.sub(lambda marker: " " * len(marker[0]), text)
        self.has_markers = plain != text
        self._begins, self._starts, self._ends = array("I"), array("I"), array("I")
        row, cased, at = list[str](), list[str](), 0
        for folded, original, start, end in _yield_tokens(plain, after_number=after_number):
            if not folded:
                continue
            if folded[-1].isdigit():
                folded = original = f"{_SET_OFF}{folded}{_SET_OFF}"
            row.append(folded)
            cased.append(original)
            self._begins.append(at)
            self._starts.append(start)
            self._ends.append(end)
            at += len(folded)
        self._begins.append(at)
        self._row, self._cased = "".join(row), "".join(cased)

    def __len__(self) -> int:
        return len(self._starts)

    def get_token(self, number: int) -> PassageToken:
        """Return a token by its index, from 0."""
        span = slice(self._begins[number], self._begins[number + 1])
        return PassageToken(
            self._row[span].strip(_SET_OFF),
            self._cased[span].strip(_SET_OFF),
            self._starts[number],
            self._ends[number],
        )

    def list_tokens(self, first: int = 0, behind: int | None = None) -> list[PassageToken]:
        """Return the tokens from ``first`` to ``behind``, exclusive."""
        return [self.get_token(number) for number in range(first, len(self) if behind is None else behind)]

    def yield_words(self, first: int = 0, behind: int | None = None) -> Iterator[str]:
        """Yield the folded words, numbers and signs from ``first`` to ``behind``, exclusive."""
        row, begins = self._row, self._begins
        for number in range(first, len(self) if behind is None else behind):
            yield row[begins[number] : begins[number + 1]].strip(_SET_OFF)

    def find(self, claim: "FoldedText") -> Passage | None:
        """Return the first passage with exactly the words of the claim; None if there is no such passage."""
        return next(self.find_all(claim), None)

    def find_all(self, claim: "FoldedText", start: int = 0) -> Iterator[Passage]:
        """Yield the passages with exactly the words of the claim, starting at an offset of the text."""
        if not claim._row:
            return
        at = self._begins[bisect_left(self._starts, start)]
        while (at := self._row.find(claim._row, at)) >= 0:
            first = bisect_left(self._begins, at)
            behind = bisect_left(self._begins, at + len(claim._row))
            whole = self._begins[first] == at and self._begins[behind] == at + len(claim._row)
            if whole and self._is_same(first, behind, claim):
                yield Passage(self._starts[first], self._ends[behind - 1])
            at += 1

    def _is_same(self, first: int, behind: int, claim: "FoldedText") -> bool:
        """Return true if tokens with equal letters have equal words and capitals: "notable" is not "not able"."""
        offset = self._begins[first]
        mine = {self._begins[number] - offset: number for number in range(first, behind)}
        theirs = {begin: number for number, begin in enumerate(claim._begins[:-1])}
        for joints, others, text in ((mine, theirs, self), (theirs, mine, claim)):
            if not all(text.is_hyphenated(joints[at]) for at in joints.keys() - others.keys()):
                return False
        after_number = False
        for number in range(len(claim)):
            begin, end = claim._begins[number], claim._begins[number + 1]
            one, other = claim._cased[begin:end], self._cased[offset + begin : offset + end]
            if one != other and not _has_same_capitals(other, one, is_unit=after_number):
                return False
            after_number = one[0] == _SET_OFF
        return True

    def is_hyphenated(self, *numbers: int) -> bool:
        """Return true if a hyphen, or the beginning of an index, is between one of the tokens and the one before it."""
        return any(
            0 < number < len(self)
            and _JOINT.search(self.text, self._ends[number - 1], self._starts[number]) is not None
            for number in numbers
        )

    @cached_property
    def compounds(self) -> list[tuple[int, str]]:
        """Hyphenated words of up to six parts, each as one word with the index of its first token."""
        joints = {bisect_right(self._starts, match.start()) for match in _JOINT.finditer(self.text)}
        differences: list[tuple[int, str]] = []
        for number in sorted(joint for joint in joints if 0 < joint < len(self)):
            # Yield a longer word for each further part.
            word, behind = next(self.yield_words(number - 1, number)), number
            while word.isalpha() and behind in joints and behind < min(len(self), number + _MAX_PARTS - 1):
                word += next(self.yield_words(behind, behind + 1))
                behind += 1
                differences.append((number - 1, word))
        return differences

    @cached_property
    def sentences(self) -> "array[int]":
        """The first token of each sentence with tokens, then the number of all tokens."""
        firsts = array("I")
        for begin in self._sentence_starts:
            number = bisect_left(self._starts, begin)
            if number < len(self) and (not firsts or number > firsts[-1]):
                firsts.append(number)
        firsts.append(len(self))
        return firsts

    @cached_property
    def _sentence_starts(self) -> "array[int]":
        starts = array("I", [0])
        for end, begin in yield_sentence_breaks(self.text, lines=True):
            # In wrapped text, the end of a line ends a sentence only after a mark or before an empty line.
            if not self.wrapped or self.text.count("\n", end, begin) != 1 or self.text[end - 1] in ".!?…\"'”’»)]":
                starts.append(begin)
        return starts

    def find_sentence(self, passage: Passage) -> Passage:
        """Return the whole sentence or sentences that contain a passage."""
        starts = self._sentence_starts
        begin = starts[max(0, bisect_right(starts, passage.start) - 1)]
        number = bisect_left(starts, passage.end)
        end = starts[number] if number < len(starts) else len(self.text)
        whole = self.text[begin:end]
        return Passage(begin + len(whole) - len(whole.lstrip()), begin + len(whole.rstrip()))


class FoldedClaim:
    """A claim in the forms that are searched in texts.

    Args:
        text: the claim. Its first word may be the unit of an omitted number.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = FoldedText(text)
        first = self.folded.get_token(0).text if len(self.folded) else ""
        self.forms = [self.folded]
        if find_unit_name(first) or first in ("percent", "per"):
            self.forms.append(FoldedText(text, after_number=True))

    def find_all(self, text: FoldedText, start: int = 0) -> Iterator[Passage]:
        """Yield the passages of a text that equal the claim, starting at an offset."""
        for form in self.forms:
            yield from text.find_all(form, start)

    @cached_property
    def certain_words(self) -> list[str]:
        """Words in every text that contains the claim, independent of typesetting."""
        certain: set[str] | None = None
        for form in self.forms:
            words = {
                word
                for number, word in enumerate(form.yield_words())
                # A cross can be a sign or a letter, and the text may have a hyphenated word as one word.
                if word.isalpha() and word != "x" and not form.is_hyphenated(number, number + 1)
            }
            certain = words if certain is None else certain & words
        return sorted(certain or ())


def _has_same_capitals(one: str, other: str, *, is_unit: bool) -> bool:
    """Return true if words with different capitals are the same word.

    They are not for genes (Tp53 belongs to another species) and units (Mg is not mg).
    """
    if is_unit:
        return False
    if one[1:] == one[1:].lower() and other[1:] == other[1:].lower():
        return True  # one of them begins a sentence
    return len(one) > 6 and (one.isupper() or other.isupper())  # too long for a symbol


def _yield_tokens(text: str, *, after_number: bool) -> Iterator[tuple[str, str, int, int]]:
    """Yield tokens: folded, with capitals, and their offsets."""
    at, size = 0, len(text)
    if after_number:
        for unit, start, end in yield_unit_tokens(text, 0):
            yield unit, unit, start, end
            at = end
    while (match := _TOKEN.search(text, at)) is not None:
        start, at = match.span()
        match match.lastgroup:
            case "word":
                yield match[0].lower(), match[0], start, at
            case "number":
                digits = _find_sign_before(text, start) + re.sub(f"[,{_THIN}]", "", match[0]).replace("·", ".")
                yield digits, digits, start, at
                for unit, begin, end in yield_unit_tokens(text, at):
                    yield unit, unit, begin, end
                    at = end
            case "sign" | "power":
                symbol = "^" if match["power"] else _SIGNS.get(match[0], match[0])
                if symbol != "^" or _is_power(text, start):
                    yield symbol, symbol, start, at
            case "charge":
                if _ION.search(text[max(0, start - _MAX_ION) : start]):
                    yield "-", "-", start, at
            case "script":
                digits = "".join(_RAISED.get(letter) or _LOWERED[letter] for letter in match[0])
                if match[0][0] in _RAISED and _is_power(text, start):
                    yield "^", "^", start, start
                    yield digits, digits, start, at
                else:
                    for part in re.finditer("[0-9]+|[+-]", digits):
                        yield part[0], part[0], start + part.start(), start + part.end()
                for unit, begin, end in yield_unit_tokens(text, at):
                    yield unit, unit, begin, end
                    at = end
            case _ if match[0].isalpha():
                while at < size and (text[at].isalpha() or unicodedata.combining(text[at])):
                    at += 1
                yield *_fold_word(text[start:at]), start, at
            case _:  # a sign for letters or a number: ℃, ½
                for character in unicodedata.normalize("NFKC", match[0]):
                    if character.isalnum() or character in _KEPT:
                        yield *_fold_word(character), start, at


def _is_power(text: str, at: int) -> bool:
    """Return true if a raised number follows a number. After a letter, it equals the same number in line: cm2, CD4+."""
    return _BASE.search(text[max(0, at - _MAX_ION) : at]) is not None


def _find_sign_before(text: str, at: int) -> str:
    """Return the sign or point before a number; a dash between numbers or in a word is not a minus."""
    sign = ""
    before = text[at - 1 : at]
    if before == "." and not text[at - 2 : at - 1].isalnum():
        sign, at = "0.", at - 1
        before = text[at - 1 : at]
    if before in _MINUS and not text[at - 2 : at - 1].isalnum():
        return "-" + sign
    return sign


def _fold_word(text: str) -> tuple[str, str]:
    letters = "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))
    cased = letters.translate(_APART)
    folded = cased.casefold()
    return folded, cased if len(cased) == len(folded) else folded


def compare_claim(text: FoldedText, first: int, behind: int, claim: FoldedText) -> NearMatch | None:
    """Compare a claim with tokens of a text; return None if they are not similar."""
    mine, theirs = list(claim.yield_words()), list(text.yield_words(first, behind))
    if len(mine) < MIN_WORDS or len(theirs) > 40 * len(mine):
        return None
    if (Counter(mine) & Counter(theirs)).total() / len(mine) < LIKE:
        return None
    matcher = SequenceMatcher(None, theirs, mine, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    same = sum(block.size for block in blocks)
    if same / len(mine) < LIKE:
        return None
    # A change at the beginning or end of the claim is next to unchanged words.
    begin = max(0, blocks[0].a - blocks[0].b)
    end = min(len(theirs), blocks[-1].a + len(mine) - blocks[-1].b)
    if same / (end - begin) < LIKE:
        return None
    matcher.set_seq1(theirs[begin:end])
    window, claimed = text.list_tokens(first + begin, first + end), claim.list_tokens()
    differences = list(_yield_differences(matcher, text.text, window, claim.text, claimed))
    if not differences:  # the words are split differently: "notable", "not able"
        differences = [_build_difference(text.text, window, claim.text, claimed, after_number=False)]
    return NearMatch(Passage(window[0].start, window[-1].end), differences, 2 * same / (len(window) + len(claimed)))


def _yield_differences(
    matcher: "SequenceMatcher[str]",
    text: str,
    window: Sequence[PassageToken],
    claim: str,
    claimed: Sequence[PassageToken],
) -> Iterator[ClaimDifference]:
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        theirs, mine = window[i1:i2], claimed[j1:j2]
        if tag == "equal":
            for number, (one, other) in enumerate(zip(mine, theirs, strict=True), start=j1):
                after = _follows_number(claimed, number)
                if one.cased != other.cased and not _has_same_capitals(one.cased, other.cased, is_unit=after):
                    yield _build_difference(text, [other], claim, [one], after_number=after)
        elif _join_tokens(theirs) != _join_tokens(mine):  # otherwise they differ only in a hyphen
            yield _build_difference(text, theirs, claim, mine, after_number=_follows_number(claimed, j1))


def _join_tokens(tokens: Sequence[PassageToken]) -> str:
    return "".join(token.text for token in tokens)


def _follows_number(tokens: Sequence[PassageToken], number: int) -> bool:
    return number > 0 and tokens[number - 1].is_number


def _build_difference(
    text: str, theirs: Sequence[PassageToken], claim: str, mine: Sequence[PassageToken], *, after_number: bool
) -> ClaimDifference:
    words = [token.text for token in (*mine, *theirs)]
    kind: DifferenceKind = "words"
    if any(token.is_number or token.text in ("<", ">", "<=", ">=", "=", "±", "^", "~") for token in (*mine, *theirs)):
        kind = "number"
    elif not NEGATIONS.isdisjoint(words):
        kind = "negation"
    elif after_number and len(words) <= 6 and not _RANGE_WORDS.issuperset(words):
        kind = "unit"
    return ClaimDifference(kind=kind, claimed=_quote(claim, mine), found=_quote(text, theirs))


def _quote(text: str, tokens: Sequence[PassageToken]) -> str:
    return " ".join(text[tokens[0].start : tokens[-1].end].split()) if tokens else ""

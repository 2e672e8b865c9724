"""Words as the full-text index knows them: normalised, cut into tokens, stemmed.

They are cut and stemmed as SQLite's tokenizer ``porter ascii`` does it, after ``plain``: letters lose their marks,
Greek letters are named, superscripts and subscripts stand on the line (10⁶ is 106, T_(H)17 is TH17), and what is
neither letter nor digit becomes a space.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from entrez_kit.markup import on_the_line


class IndexRow(NamedTuple):
    """What is indexed of a record; ``terms`` are MeSH headings and keywords."""

    pmid: int
    title: str
    abstract: str
    terms: str


def listed(words: str) -> list[str]:
    """Return the words of a text block."""
    return words.split()


GREEK: Final = listed(
    """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon phi
    chi psi omega
    """
)
_LETTERS: Final = {
    **{chr(0x3B1 + place): f" {name} " for place, name in enumerate(GREEK)},
    "µ": " mu ", "ϑ": " theta ", "ϕ": " phi ", "ϵ": " epsilon ", "ϱ": " rho ", "ϰ": " kappa ",
    "æ": "ae", "œ": "oe", "ø": "o", "å": "a", "ß": "ss", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h",
    "ŋ": "n", "ﬁ": "fi", "ﬂ": "fl", "ﬀ": "ff", "ﬃ": "ffi", "ﬄ": "ffl",
    "\u00ad": "", "\u200b": "", "\u200c": "", "\u200d": "", "\u2060": "", "\ufeff": "",
}  # fmt: skip
_FOLDING: Final = str.maketrans(_LETTERS)
_MARKS: Final = re.compile("[\u0300-\u036f]+")
_FOREIGN: Final = re.compile(r"[^\x00-\x7f]+")
_NO_WORD: Final = re.compile(r"[\W_]+")
_SEPARATORS: Final = {code: " " for code in range(128) if not chr(code).isalnum()}
_ASCII_WORDS: Final = bytes(ord(chr(code).lower()) if chr(code).isalnum() else 32 for code in range(128)) + bytes(128)

STOP_WORDS: Final = frozenset(
    listed(
        """
        a about above after again against all also although always am among an and another any are as at be because been
        before being below between both but by can cannot could did do does doing done due during each either enough
        especially etc ever every few for from further had has have having he hence her here hers him his how however i
        if in into is it its itself just may me might more most mostly much must my nearly neither no nor not of often
        on once only onto or other others our ours out over overall own per perhaps quite rather really regarding seem
        seen several she should show showed shown shows since so some such than that the their theirs them then there
        thereby therefore these they this those through thus to too toward towards until up upon us use used using
        various very was we were what when where whether which while who whom whose why will with within without would
        you your
        """
    )
)
"""Words that say nothing about what a text is about; a query leaves them out."""

REQUEST_WORDS: Final = frozenset(
    listed(
        """
        article articles available basis best case cases concerning describe description determine different discuss
        effect effects evidence exist exists find findings found give given importance important include included
        including information involve involved kind known literature made make mechanism paper papers possible present
        previously recent relate related relation relationship report reported reports result results review role
        studies study type types value way work
        """
    )
)
"""Words people ask questions with; they count, but for less than what is asked about."""


def plain(text: str) -> str:
    """Return the text with nothing but ASCII in it, and letters and digits of other scripts in lower case."""
    text = on_the_line(text)
    return text if text.isascii() else _FOREIGN.sub(lambda run: _folded(run[0]), text)


def words_of(text: str) -> list[str]:
    """Return the words of a text, normalised, in order. What is ``plain`` already stays the same."""
    if not text.isascii():
        text = plain(text)
        if not text.isascii():
            return text.lower().translate(_SEPARATORS).split()
    return text.encode("ascii").translate(_ASCII_WORDS).decode("ascii").split()


@lru_cache(maxsize=1 << 14)
def _folded(run: str) -> str:
    bare = _MARKS.sub("", unicodedata.normalize("NFD", run.lower()))
    folded = _MARKS.sub("", unicodedata.normalize("NFC", bare.translate(_FOLDING)))
    return _NO_WORD.sub(" ", folded)


# Porter's stemmer ----------------------------------------------------------------------------------------------------

_STEP_2: Final = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("logi", "log"),
    ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"),
    ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"),
    ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_STEP_3: Final = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_STEP_4: Final = tuple(
    (ending, "")
    for ending in (
        "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti", "ous", "ive", "ize",
        "al", "er", "ic", "ou",
    )
)  # fmt: skip
_ENDS_2, _ENDS_3, _ENDS_4 = (tuple(ending for ending, _ in step) for step in (_STEP_2, _STEP_3, _STEP_4))
_SHAPES: Final = {code: "v" if chr(code) in "aeiou" else "y" if chr(code) == "y" else "c" for code in range(256)}
_LONGEST_STEMMED: Final = 64
"""Bytes; SQLite leaves longer words as they are."""


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """Return the stem of a normalised word.

    M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, 130-137, with the author's later changes
    (``bli``, ``logi``), as SQLite's FTS5 has it: it works on bytes, and a byte that is no ASCII letter is a consonant.
    """
    if word.isascii():
        return _stem(word) if 2 < len(word) <= _LONGEST_STEMMED else word
    as_bytes = word.encode("utf-8").decode("latin-1")
    if len(as_bytes) > _LONGEST_STEMMED:
        return word
    return _stem(as_bytes).encode("latin-1").decode("utf-8", "replace")


def can_mark(stem: str) -> bool:
    """Say whether a stem can mark what a text is about."""
    return len(stem) > 1 and stem not in _UNMARKING and not stem.isdigit()


def _stem(word: str) -> str:
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, _STEP_2, _ENDS_2, 0)
    word = _replace(word, _STEP_3, _ENDS_3, 0)
    word = _replace(word, _STEP_4, _ENDS_4, 1)
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word


def _plural(word: str) -> str:
    if word.endswith("s") and not word.endswith("ss"):
        if word.endswith("es") and ((len(word) > 4 and word.endswith("sses")) or (len(word) > 3 and word[-3] == "i")):
            return word[:-2]
        return word[:-1]
    if word.endswith("sses"):
        return word[:-2]
    return word


def _past(word: str) -> str:
    if word.endswith("eed") and len(word) > 3:
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            start = word[: -len(ending)]
            return _mended(start) if _has_vowel(start) else word
    return word


def _mended(start: str) -> str:
    if start.endswith(("at", "bl", "iz")) and len(start) > 2:
        return start + "e"
    if len(start) > 1 and start[-1] == start[-2] and start[-1] not in "aeioulsz":
        return start[:-1]
    if _measure(start) == 1 and _ends_short(start):
        return start + "e"
    return start


def _replace(word: str, endings: tuple[tuple[str, str], ...], every: tuple[str, ...], measure: int) -> str:
    if not word.endswith(every):
        return word
    for ending, replacement in endings:
        if word.endswith(ending):
            start = word[: -len(ending)]
            if ending == "ion" and start[-1:] not in ("s", "t"):
                return word
            return start + replacement if _measure(start) > measure else word
    return word


def _shape(word: str) -> str:
    """Return a v for each vowel and a c for each consonant; a y after a consonant is a vowel."""
    known = word.translate(_SHAPES)
    if "y" not in known:
        return known
    shape, consonant = [], False
    for letter in word:
        consonant = not (letter in "aeiou" or (letter == "y" and consonant))
        shape.append("c" if consonant else "v")
    return "".join(shape)


def _measure(start: str) -> int:
    return _shape(start).count("vc")


def _has_vowel(start: str) -> bool:
    return "v" in _shape(start)


def _ends_short(start: str) -> bool:
    return start[-1:] not in ("w", "x", "y") and _shape(start).endswith("cvc")


_UNMARKING: Final = frozenset(map(stem, STOP_WORDS))

"""Words as PubMed indexes them: folded, split at punctuation, without stemming; and PubMed's stopwords."""

import json
import re
import unicodedata
from pathlib import Path
from typing import Final

from entrez_kit.base.markup import flatten_scripts
from entrez_kit.query.unsettled import can_truncate

_PATTERN: Final = re.compile(r"(?:[^\W_]|\*)+")
_WORD: Final = re.compile(r"[^\W_]+")
_DATA: Final = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))
STOP_WORDS: Final = frozenset(" ".join(_DATA["stop_words"]).split())
"""Words that PubMed ignores in a query (PubMed User Guide, "Stopwords")."""

GREEK: Final[list[str]] = _DATA["greek"].split()
_LETTERS: Final = {**{chr(0x3B1 + offset): name for offset, name in enumerate(GREEK)}, **_DATA["letters"]}
_TABLE: Final = str.maketrans(_LETTERS)


def fold(text: str) -> str:
    """Remove case and accents and spell Greek letters: "Müller" is the word muller, "17β" the word 17beta."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    return plain.casefold().translate(_TABLE)


_FOREIGN: Final = re.compile(r"[^\x00-\x7f]+")
_ASCII: Final = bytes(ord(chr(code).lower()) if chr(code).isalnum() else 0x20 for code in range(128)).ljust(256)
"""The folded form of each ASCII character as a byte; a space if no word contains it."""


class _FoldedWords(dict[int, str]):
    """The folded form of each character, with a space for each character that no word contains."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = "".join(character if _WORD.fullmatch(character) else " " for character in fold(chr(code)))
        return folded


_FOLDED: Final = _FoldedWords()


def split_words(text: str) -> list[str]:
    """Split text into folded words at every punctuation mark, including hyphens, apostrophes and underscores."""
    if "^" in text or "_(" in text:
        text = flatten_scripts(text)
    # Most texts have few characters that are not ASCII, and most of these are in no word.
    if not text.isascii():
        text = _FOREIGN.sub(lambda run: run[0].translate(_FOLDED), text)
        if not text.isascii():
            return _WORD.findall(text.casefold())
    return text.encode().translate(_ASCII).decode().split()


def normalize(text: str) -> str:
    """Return the folded words of a value, joined by single spaces, for comparison."""
    return " ".join(split_words(text))


def split_pattern(text: str) -> list[str]:
    """Return the folded words of a term: a word, or a phrase. ``*`` is kept only if PubMed truncates the term.

    A ``*`` at the beginning of a word is dropped.
    """
    words = _PATTERN.findall(fold(text))
    is_truncated = can_truncate("".join(words).partition("*")[0])
    patterns = [re.sub(r"\*+", "*" if is_truncated else "", word.lstrip("*")) for word in words]
    return [pattern for pattern in patterns if pattern]

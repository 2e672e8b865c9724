"""Words as PubMed indexes them: folded, split at punctuation, without stemming; and PubMed's stopwords."""

import re
import unicodedata
from typing import Final

from entrez_kit.base.markup import on_the_line

_WORD: Final = re.compile(r"[^\W_]+")
_STOP_WORDS: Final = (
    "a about again all almost also although always among an and another any are as at be because been before being "
    "between both but by can could did do does done due during each either enough especially etc for found from "
    "further had has have having here how however i if in into is it its itself just kg km made mainly make may mg "
    "might ml mm most mostly must nearly neither no nor obtained of often on our overall perhaps pmid quite rather "
    "really regarding seem seen several should show showed shown shows significantly since so some such than that "
    "the their theirs them then there therefore these they this those through thus to upon various very was we were "
    "what when which while with within without would"
)
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""Words that PubMed ignores in a query (PubMed User Guide, "Stopwords")."""

_GREEK: Final = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon "
    "phi chi psi omega"
)
GREEK: Final = tuple(_GREEK.split())
_LETTERS: Final = {
    **{chr(0x3B1 + place): name for place, name in enumerate(GREEK)},
    **{"ϑ": "theta", "ϕ": "phi", "ϵ": "epsilon", "ϰ": "kappa", "ϱ": "rho", "ϖ": "pi"},
    **{"ø": "o", "đ": "d", "ł": "l", "ı": "i", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h"},
}
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
        found = self[code] = "".join(one if _WORD.fullmatch(one) else " " for one in fold(chr(code)))
        return found


_FOLDED: Final = _FoldedWords()


def split_words(text: str) -> list[str]:
    """Split text into folded words at every punctuation mark, including hyphens, apostrophes and underscores."""
    if "^" in text or "_(" in text:
        text = on_the_line(text)
    # Most texts have few characters that are not ASCII, and most of these are in no word.
    if not text.isascii():
        text = _FOREIGN.sub(lambda run: run[0].translate(_FOLDED), text)
        if not text.isascii():
            return _WORD.findall(text.casefold())
    return text.encode().translate(_ASCII).decode().split()


def normalize(text: str) -> str:
    """Return the folded words of a value, joined by single spaces, for comparison."""
    return " ".join(split_words(text))

"""Find the ends of sentences: after a full stop, unless it belongs to an abbreviation."""

import re
from collections.abc import Iterator
from typing import Final

_GAP: Final = r"[.!?…][\"'”’»)\]]*(?P<gap>\s++)(?=[\"'“„«(\[]*[^\W_a-z]|@)"
"""A punctuation mark, white space, and a character that can begin a sentence."""
_BREAK_IN_LINE: Final = re.compile(_GAP + "(?P<line>)")
_BREAK: Final = re.compile(_GAP + r"|(?<!\s)(?P<line>\s*\n\s*)")
"""The same, or the end of a line. The lookbehind makes the search several times faster."""
_ABBREVIATION: Final = re.compile(
    r"\b(?:(?i:(?<=\.)[a-z]|vs|cf|c|al|approx|ca|resp|figs?|eq|refs?|tab|nos?|dr|prof|st|spp?|var|subsp|suppl|inc|ltd"
    r"|vol|pp?)|Mr|Mrs|Ms|[A-Z])\.$"
)


def yield_sentence_breaks(text: str, *, lines: bool) -> Iterator[tuple[int, int]]:
    """Yield the end of each sentence but the last, and the start of the next; with ``lines`` a line ends a sentence."""
    for match in (_BREAK if "\n" in text else _BREAK_IN_LINE).finditer(text):
        if match["gap"] is None:
            if lines:
                yield match.span("line")
        elif not _ABBREVIATION.search(text, max(0, match.start("gap") - 12), match.start("gap")):
            yield match.span("gap")


def ends_sentence(word: str) -> bool:
    """Return whether a word ends a sentence."""
    return word.endswith((".", "!", "?")) and not _ABBREVIATION.search(word)

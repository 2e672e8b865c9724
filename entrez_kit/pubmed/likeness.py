"""Tell whether two titles are of one work although they are not written alike."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

LEAST_PART: Final = 4
"""Words of a title that may stand for the whole."""
MAX_WORDS: Final = 120
"""So many words are compared one by one, since that costs more than the product of two lengths."""
ALIKE: Final = 0.75
"""Share of letters that a misspelt word has in common with the one that is meant."""
_SMALL: Final = frozenset(("a", "an", "the", "of", "in", "on", "and", "for", "to", "with", "by"))


def begins(one: str, other: str) -> bool:
    """Tell whether one of two titles begins with all of the other, as it does where a subtitle is left out.

    Both are folded: words in small letters, a blank between.
    """
    smaller, larger = sorted((one, other), key=len)
    return len(smaller.split()) >= LEAST_PART and f"{larger} ".startswith(f"{smaller} ")


def titles_alike(one: str, other: str) -> bool:
    """Tell whether two folded titles are one: a part is left out at the end, or words are misspelt or divided.

    A word that is another one makes it another title: phase 2 and phase 3, lung and breast.
    """
    if one.replace(" ", "") == other.replace(" ", "") or begins(one, other):
        return True
    first, second = one.split()[:MAX_WORDS], other.split()[:MAX_WORDS]
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    ends = [(0, 0), *((block.a + block.size, block.b + block.size) for block in blocks)]
    starts = [*((block.a, block.b) for block in blocks), (len(first), len(second))]
    gaps = [(first[a:c], second[b:d]) for (a, b), (c, d) in zip(ends, starts, strict=True)]
    changed = sum(max(len(mine), len(theirs)) for mine, theirs in gaps)
    return changed * 2 < max(len(first), len(second), 1) and all(_misspelt(mine, theirs) for mine, theirs in gaps)


def _misspelt(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Tell whether some words are others with mistakes in them."""
    one, other = ("".join(word for word in words if word not in _SMALL) for words in (mine, theirs))
    if one == other:
        return True
    if not one or not other or one.isdigit() or other.isdigit():
        return False
    matcher = SequenceMatcher(None, one[:MAX_WORDS], other[:MAX_WORDS], autojunk=False)
    return matcher.ratio() >= ALIKE

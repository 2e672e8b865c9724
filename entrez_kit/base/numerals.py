"""Roman numbers, which mark the items of lists."""

from itertools import pairwise
from typing import Final

_ROMAN: Final = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


def to_roman(number: int) -> str:
    """Return a number as a Roman number in lower case, written with c, l, x, v and i."""
    values = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
    text = ""
    for value, letters in values:
        text += letters * (number // value)
        number %= value
    return text


def read_roman(text: str) -> int:
    """Return the value of a Roman number in lower case, or 0 if a text is not one."""
    total = 0
    for letter, after in pairwise(f"{text} "):
        value = _ROMAN.get(letter, 0)
        total += -value if _ROMAN.get(after, 0) > value else value
    return total if to_roman(total) == text else 0

"""Units after a number: symbols and words, so that "19 d" equals "19 days"."""

import re
from collections.abc import Iterator
from typing import Final

_MICRO: Final = ("u", "µ", "μ")
_PREFIXES: Final = {
    "k": "kilo",
    "d": "deci",
    "c": "centi",
    "m": "milli",
    **dict.fromkeys(_MICRO, "micro"),
    "n": "nano",
    "p": "pico",
}


def _yield_names() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield each unit: its name, the singular of its word, and its symbols."""
    yield "second", "second", ("s", "sec", "secs")
    yield "millisecond", "millisecond", ("ms", "msec")
    yield "minute", "minute", ("min", "mins")
    yield "hour", "hour", ("h", "hr", "hrs")
    yield "day", "day", ("d",)
    yield "week", "week", ("wk", "wks")
    yield "month", "month", ("mo", "mos", "mth", "mths")
    yield "year", "year", ("y", "yr", "yrs")
    yield "gram", "gram", ("g",)
    yield "litre", "litre", ("L", "l")
    yield "litre", "liter", ()
    yield "mole", "mole", ("mol",)
    yield "microgram", "microgram", ("mcg",)
    for symbol, prefix in _PREFIXES.items():
        yield f"{prefix}gram", f"{prefix}gram", (f"{symbol}g",)
        yield f"{prefix}mole", f"{prefix}mole", (f"{symbol}mol",)
        yield f"{prefix}metre", f"{prefix}metre", (f"{symbol}m",)
        yield f"{prefix}metre", f"{prefix}meter", ()
        yield f"{prefix}litre", f"{prefix}litre", (f"{symbol}L", f"{symbol}l")
        yield f"{prefix}litre", f"{prefix}liter", ()


_SYMBOLS: Final = {
    symbol: name
    for name, _, symbols in _yield_names()
    for symbol in symbols
    if symbol not in ("pm", "dm", "um")  # an hour of the day; rare; a word
}
_WORDS: Final = {form: name for name, word, _ in _yield_names() for form in (word, f"{word}s")}
PERCENT: Final = "%"
_UNIT: Final = re.compile(
    r"[\s\u2009\u2010\u2011\u2013-]{0,2}(?:(?P<percent>per\s?cent)|(?P<unit>[A-Za-zµμ]{1,11}))"
    r"(?=[23²³]?(?![^\W_]))",
    re.IGNORECASE,
)
_DIVISION: Final = re.compile(r"\s?(?P<per>/|per(?=\s))\s?(?P<unit>[A-Za-zµμ]{1,11})(?![^\W_])")

_INVERSE: Final = re.compile(r"[\s·⋅]?(?P<unit>[A-Za-zµμ]{1,11})(?P<per>[⁻]¹|\^?[-\u2212]1)(?![0-9])")
"""A unit in the denominator: "L⁻¹", "L-1"."""


def find_unit_name(text: str) -> str | None:
    """Return the name of a unit, given its symbol or its word; None if the text is not a known unit."""
    return _SYMBOLS.get(text) or _WORDS.get(text.casefold())


def yield_unit_tokens(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Yield the unit that follows a number as tokens: its name with its offsets, then "per" and the next unit.

    Args:
        text: the whole text.
        start: where the number ends.
    """
    match = _UNIT.match(text, start)
    if match is None:
        return
    if match["percent"]:
        yield PERCENT, match.start("percent"), match.end()
        return
    while match is not None and (name := find_unit_name(match["unit"])):
        if match.re is _DIVISION:
            yield "per", match.start("per"), match.end("per")
        elif match.re is _INVERSE:
            yield "per", match.start("unit"), match.start("unit")
        yield name, match.start("unit"), match.end()
        match = _DIVISION.match(text, match.end()) or _INVERSE.match(text, match.end())

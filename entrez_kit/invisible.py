"""Characters nobody sees: they steer terminals, turn the direction of text, or hide what stands between others.

Text for people loses them (``visible``); data keeps every one, in JSON as an escape (``escape_json``).
"""

import re
from typing import Final

_CONTROLS: Final = "\x00-\x08\x0b-\x1f\x7f-\x9f"
"""C0 but tab and newline, DEL and C1."""
_MARKS: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Soft hyphens, directions, spaces without width, fillers, line separators, tags."""
_JOINERS: Final = "(?<![^\x00-\u02ff])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\u02ff])"
"""Marks that join or part the letters of Persian or Hindi, where they stand between no such letters."""

_HIDDEN: Final = re.compile(f"[{_CONTROLS}{_MARKS}]|{_JOINERS}")
_UNDRAWN: Final = re.compile(f"[{_MARKS}]|{_JOINERS}")
_ESCAPED: Final = re.compile(f"[\x7f-\x9f{_MARKS}\ud800-\udfff]|{_JOINERS}")


def visible(text: str) -> str:
    """Return text for people: without controls, marks of direction and what has no width."""
    return _HIDDEN.sub("", text)


def drawn(text: str) -> str:
    """Return text that was laid out for a terminal, with the program's own escapes, without the marks of others."""
    return _UNDRAWN.sub("", text)


def escape_json(text: str) -> str:
    r"""Write characters nobody sees as \uXXXX in a text that is JSON: the same data, and nothing to fall for.

    Some readers of lines break at U+2028, and some terminals obey C1.
    """
    return _ESCAPED.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))

"""Characters nobody sees: they steer terminals, turn the direction of text, or hide what stands between others.

Text for people loses them (``visible``); data keeps every one, in JSON as an escape (``escape_json``).
"""

import re
from collections import Counter
from collections.abc import Callable
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

_HIDDEN: Final = f"{_CONTROLS}{_MARKS}"
_PLAIN: Final = b"\t\n" + bytes(range(0x20, 0x7F))
_ESCAPED: Final = f"\x7f-\x9f{_MARKS}\ud800-\udfff"


def visible(text: str) -> str:
    """Return text for people: without controls, marks of direction and what has no width."""
    return text if text.isascii() and text.isprintable() else _replaced(_HIDDEN, "", text)


def clean_query(text: str) -> tuple[str, str]:
    """Return a query without invisible characters, and the characters removed.

    Line breaks become newlines, and a tab becomes a blank. They are not counted: pasted queries often have several
    lines.
    """
    if text.isascii() and text.isprintable():
        return text, ""
    spaced = re.sub("\r\n|[\n\v\f\r\x85\u2028\u2029]", "\n", text).replace("\t", " ")
    cleaned = _replaced(_HIDDEN, "", spaced)
    kept = Counter(cleaned)
    return cleaned, "".join(dict.fromkeys(one for one in spaced if not kept[one]))


def drawn(text: str) -> str:
    """Return text that was laid out for a terminal, with the program's own escapes, without the marks of others."""
    return text if text.isascii() else _replaced(_MARKS, "", text)


def escape_json(text: str) -> str:
    r"""Write characters nobody sees as \uXXXX in a text that is JSON: the same data, and nothing to fall for.

    Some readers of lines break at U+2028, and some terminals obey C1.
    """
    if text.isascii():
        return text.replace("\x7f", "\\u007f")
    return _replaced(_ESCAPED, _escape, text)


def escape_json_bytes(content: bytes) -> bytes:
    """Write characters nobody sees as ``escape_json`` does; most lines have none, and are not decoded for that."""
    if content.isascii():
        return content.replace(b"\x7f", b"\\u007f")
    return escape_json(content.decode("utf-8")).encode("utf-8") if _may_hold(_ESCAPED, content) else content


def _replaced(characters: str, by: str | Callable[[re.Match[str]], str], text: str) -> str:
    """Replace characters, and joiners where they join nothing."""
    if not _may_hold(characters, text.encode("utf-8", "surrogatepass")):
        return text
    # What one class of characters can tell from the rest goes through a text at ten times the speed.
    return re.sub(f"(?=[{characters}\u200c\u200d])(?:[{characters}]|{_JOINERS})", by, text)


def _may_hold(characters: str, content: bytes) -> bool:
    """Look for characters, or any joiner, among what is left without plain ASCII, which takes a tenth of the time."""
    rare = content.translate(None, _PLAIN).decode("utf-8", "surrogatepass")
    return bool(rare) and re.search(f"[{characters}\u200c\u200d]", rare) is not None


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))

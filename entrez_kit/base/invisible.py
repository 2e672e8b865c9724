"""Invisible characters, which control terminals, change the direction of text, or hide other text.

They are removed from text for people (``visible``). Data keeps all of them; JSON has them as escapes (``escape_json``).
"""

import re
from collections import Counter
from collections.abc import Callable
from typing import Final

TYPOGRAPHIC_QUOTES: Final = "“”„‟″«»＂"
"""Quotation marks that word processors write instead of the plain one."""
_CONTROLS: Final = "\x00-\x08\x0b-\x1f\x7f-\x9f"
"""C0 except tab and newline, DEL and C1."""
_MARKS: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Soft hyphens, direction marks, zero-width spaces, fillers, line separators, tags."""
_JOINERS: Final = "(?<![^\x00-\u02ff])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\u02ff])"
"""Zero-width joiners and non-joiners that are not between letters of a script such as Persian or Hindi."""

_HIDDEN: Final = f"{_CONTROLS}{_MARKS}"
_PLAIN: Final = b"\t\n" + bytes(range(0x20, 0x7F))
_ESCAPED: Final = f"\x7f-\x9f{_MARKS}\ud800-\udfff"


def remove_invisible(text: str) -> str:
    """Return text for people: without control characters, direction marks and zero-width characters."""
    return text if text.isascii() and text.isprintable() else _replace(_HIDDEN, "", text)


def clean_query(text: str) -> tuple[str, str]:
    """Return a query without invisible characters, and the characters removed.

    Line breaks become newlines, and a tab becomes a blank. They are not counted: pasted queries often have several
    lines.
    """
    if text.isascii() and text.isprintable():
        return text, ""
    spaced = re.sub("\r\n|[\n\v\f\r\x85\u2028\u2029]", "\n", text).replace("\t", " ")
    cleaned = _replace(_HIDDEN, "", spaced)
    counts = Counter(cleaned)
    return cleaned, "".join(dict.fromkeys(character for character in spaced if not counts[character]))


def strip_marks(text: str) -> str:
    """Return rendered terminal output without invisible marks; the program's own escape sequences stay."""
    return text if text.isascii() else _replace(_MARKS, "", text)


def escape_json(text: str) -> str:
    r"""Write invisible characters in a JSON text as \uXXXX, which does not change the data.

    Some programs break lines at U+2028, and some terminals interpret C1 characters.
    """
    if text.isascii():
        return text.replace("\x7f", "\\u007f")
    return _replace(_ESCAPED, _escape, text)


def escape_json_bytes(content: bytes) -> bytes:
    """Escape invisible characters like ``escape_json``; most lines have none and are not decoded."""
    if content.isascii():
        return content.replace(b"\x7f", b"\\u007f")
    return escape_json(content.decode("utf-8")).encode("utf-8") if _may_hold(_ESCAPED, content) else content


def _replace(characters: str, by: str | Callable[[re.Match[str]], str], text: str) -> str:
    """Replace characters, and joiners that join nothing."""
    if not _may_hold(characters, text.encode("utf-8", "surrogatepass")):
        return text
    # The lookahead is a single character class, which makes the search ten times faster.
    return re.sub(f"(?=[{characters}\u200c\u200d])(?:[{characters}]|{_JOINERS})", by, text)


def _may_hold(characters: str, content: bytes) -> bool:
    """Return whether a text may have these characters or a joiner; without ASCII the search is ten times faster."""
    rare = content.translate(None, _PLAIN).decode("utf-8", "surrogatepass")
    return bool(rare) and re.search(f"[{characters}\u200c\u200d]", rare) is not None


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[index]:02x}{units[index + 1]:02x}" for index in range(0, len(units), 2))

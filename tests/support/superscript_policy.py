"""The policy on superscripts and subscripts, implemented a second time to check the readers.

No code of the product is used: Unicode itself says which characters can be raised or lowered.
``mark_scripts`` writes an element with every script in marked brackets, ``to_canonical`` brings that and the product's
text to one form.
"""

import html
import re
import unicodedata
from typing import Any, Final

SIGNS: Final = "+=/-\u2010\u2011\u2012\u2013\u2212"
DASHES: Final = "-\u2010\u2011\u2012\u2013\u2212"
KINDS: Final = {"sup": "^", "sub": "_", "inf": "_"}


def _find_scripts(kind: str) -> dict[str, str]:
    """Return the raised or lowered characters of Unicode's older blocks with the character of each."""
    found = {}
    for code in range(0x80, 0x3000):
        parts = unicodedata.decomposition(chr(code)).split()
        if parts[:1] == [kind] and len(parts) == 2:
            found[chr(code)] = chr(int(parts[1], 16))
    return found


RAISED: Final = _find_scripts("<super>")
LOWERED: Final = _find_scripts("<sub>")
_DASHES: Final = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212"), "-")


def has_unicode(mark: str, text: str) -> bool:
    """Return whether Unicode has a raised or lowered form of each character; a dash between digits is not a minus."""
    known = set((RAISED if mark == "^" else LOWERED).values()) | set(SIGNS) - {"/"}
    return bool(text) and all(letter in known for letter in text) and not re.search(f"[0-9][{DASHES}][0-9]", text)


def mark_scripts(element: Any, before: str = "") -> str:
    """Return the words of an element, each outermost script in marked brackets unless the policy leaves it unmarked."""
    if element is None:
        return ""
    pieces = [element.text or ""]
    for child in element:
        name = child.tag.rpartition("}")[2] if isinstance(child.tag, str) else ""
        inner = (
            "".join(child.itertext())
            if name in KINDS
            else mark_scripts(child, before + "".join(pieces))
            if name
            else ""
        )
        marked = _write_script(KINDS[name], inner, before + "".join(pieces)) if name in KINDS else inner
        pieces += [marked, child.tail or ""]
    return "".join(pieces)


def _write_script(mark: str, text: str, before: str) -> str:
    core = text.strip()
    ordinal = mark == "^" and core in ("st", "nd", "rd", "th") and before[-1:].isdecimal()
    alone = len(core) == 1 and core in DASHES and (mark == "_" or not before.strip() or before[-1:].isspace())
    if ordinal or alone or not any(letter.isalnum() or letter in SIGNS for letter in core):
        return text
    return text.replace(core, f"{mark}({core})", 1)


def to_canonical(text: str) -> str:
    """Return a text without blanks, every script in single marked brackets, neighbours joined."""
    text = text.replace("™", "^(TM)")
    for mark, known in (("^", RAISED), ("_", LOWERED)):
        run = "[" + re.escape("".join(known)) + "]+"
        text = re.sub(run, lambda found, mark=mark, known=known: f"{mark}({''.join(known[c] for c in found[0])})", text)  # type: ignore[misc]
    text = re.sub(r"\s+", "", text).translate(_DASHES)
    for _ in range(9):
        text = re.sub(r"([\^_])\(\(([^()]*)\)\)", r"\1(\2)", text)
        text = re.sub(r"([\^_])\(([^()]*)[\^_]\(([^()]*)\)", r"\1(\2\3", text)  # one inside another
        text = re.sub(r"\^\(([^()]*)\)\^\(", r"^(\1", text)
        text = re.sub(r"_\(([^()]*)\)_\(", r"_(\1", text)
    return text


def find_badly_written(text: str) -> list[str]:
    """Return the scripts in brackets that Unicode has characters for."""
    return [mark + inner for mark, inner in re.findall(r"([\^_])\(([^()]*)\)", text) if has_unicode(mark, inner)]


def list_scripts(text: str) -> list[str]:
    """Return the scripts of a text in marked brackets, each with the character before it."""
    return re.findall(r"[^\^_]?[\^_]\([^()]*\)", to_canonical(text))


def mark_html_scripts(text: str) -> str:
    """Return a text that holds markup as characters, its scripts in marked brackets, all other markup left in it."""
    pieces = [""]
    for part in re.split(r"(<(?:sup|sub|inf)>.*?</(?:sup|sub|inf)>)", html.unescape(html.unescape(text))):
        found = re.fullmatch(r"<(sup|sub|inf)>(.*?)</\1>", part)
        pieces.append(_write_script(KINDS[found[1]], found[2], "".join(pieces)) if found else part)
    return "".join(pieces)

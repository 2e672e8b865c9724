"""Write superscripts and subscripts in plain text when markup is removed.

The rules for every parser of markup in entrez-kit:

- If Unicode has a raised or lowered form of every character of a script, these characters are used: 10⁶, H₂O, Ca²⁺.
- Any other script is in brackets after a mark: IFNAR^(-/-), T_(H)17, PM_(2.5). A dash between digits is a range, not a
  minus, so 0-120 is in brackets.
- A space separates a superscript that is a note mark or a reference callout from the text before it: "Transport ᵃ",
  "cells. ^(12,13)". Lowercase letters after a word are such a mark. So are numbers after the end of a sentence or
  clause, or after a lowercase word, except ² and ³, which are powers (height²).
- Signs other than letters, numbers and charges (®, †, °) and the endings of English ordinals (20th) do not change.
- Two scripts in a row never form one number: 10<sup>6</sup><sup>2</sup> is "10⁶ ²".

A parser inserts ``SUPERSCRIPT`` or ``SUBSCRIPT`` before the text of such an element and ``END`` after it. Then it
passes the whole line to ``write_scripts``, because the result depends on the surrounding text.
"""

import re
from typing import Final

SUPERSCRIPT: Final = "\x0e"
SUBSCRIPT: Final = "\x0f"
CALLOUT: Final = "\x10"
"""Begins a superscript that is a note mark or a callout after any text."""
END: Final = "\x11"
"""Marks during parsing; no XML document can contain these characters."""

XML_ENCODING: Final = re.compile(rb"<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._:-]{1,40})[\"']")
"""The encoding in the XML declaration at the beginning of a document."""

_DIGITS: Final = "0123456789"
_UP: Final = {
    **dict(zip(_DIGITS + "+=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁼⁽⁾", strict=True)),
    **dict.fromkeys("-\u2010\u2011\u2012\u2013\u2212", "⁻"),
    **dict(zip("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True)),
    **dict(zip("ABDEGHIJKLMNOPRTUVW", "ᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ", strict=True)),
    **dict(zip("βγδθφχ", "ᵝᵞᵟᶿᵠᵡ", strict=True)),
}
_DOWN: Final = {
    **dict(zip(_DIGITS + "+=()", "₀₁₂₃₄₅₆₇₈₉₊₌₍₎", strict=True)),
    **dict.fromkeys("-\u2010\u2011\u2012\u2013\u2212", "₋"),
    **dict(zip("aehijklmnoprstuvx", "ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True)),
    **dict(zip("βγρφχ", "ᵦᵧᵨᵩᵪ", strict=True)),
}
_RAISED: Final = frozenset(_UP.values())
_LOWERED: Final = frozenset(_DOWN.values())
_FOREIGN: Final = re.compile(r"[^\x00-\x7f]+")
_LINE_TABLE: Final = str.maketrans(
    {
        raised: plain
        for table in (_UP, _DOWN)
        for plain, raised in table.items()
        if plain not in "\u2010\u2011\u2012\u2013"
    }
    | {"⁻": "-", "₋": "-"}
)

_DASHES: Final = "-\u2010\u2011\u2012\u2013\u2212"
_RANGE: Final = re.compile(f"[0-9][{_DASHES}][0-9]")
_BRACKETED: Final = re.compile(r"[\^_]\([^()]*\)")
_TYPED_POWER: Final = re.compile(r"(?<=[0-9])\^(?=[-+\u2212]?[0-9])")
_NUMBERS: Final = re.compile(
    r"[(\[]?[0-9]{1,3}[a-z]?(?: ?[,;\u2010-\u2013-] ?(?:[0-9]{1,3}[a-z]?|[a-z*†‡§¶#]))*[,.]?[)\]]?"
)
_LETTERS: Final = re.compile(r"[(\[]?[a-z](?: ?[,;] ?(?:[a-z]|[0-9]{1,3}|[*†‡§¶#]))*,?[)\]]?")
_MAX_MARK: Final = 200
_WORD_BEFORE: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}+\Z")
_ROMAN: Final = frozenset("IVXLC")
_ENDS_CLAUSE: Final = tuple('.,;:?!…"”。，、；：')
_TAIL: Final = 32
"""Number of characters before a script that the rules check."""
_MAX_DEPTH: Final = 8
"""Deeper scripts are merged into the script around them, so that the time is linear in the length of the text."""
_PIECE: Final = re.compile(f"[{SUPERSCRIPT}-{END}]|[^{SUPERSCRIPT}-{END}]+")
_JOINTS: Final = tuple(f",;/{_DASHES}")


def format_superscript(text: str) -> str:
    """Return a superscript as text, for instance a power in a formula: ⁿ, ^(n/2)."""
    return _format_script(text, _UP, _RAISED, "^")


def format_subscript(text: str) -> str:
    """Return a subscript as text: ₂, _(max/2)."""
    return _format_script(text, _DOWN, _LOWERED, "_")


def write_scripts(text: str) -> str:
    """Replace the marked superscripts and subscripts of a text; one without an end mark ends with the text."""
    if SUPERSCRIPT not in text and SUBSCRIPT not in text and CALLOUT not in text:
        return text.replace(END, "")
    frames = [_Frame("")]
    too_deep = 0
    for piece in _PIECE.findall(text):
        if piece == END:
            if too_deep:
                too_deep -= 1
            elif len(frames) > 1:
                inner = frames.pop()
                frames[-1].add_script(inner.kind, inner.finish())
        elif piece in (SUPERSCRIPT, SUBSCRIPT, CALLOUT):
            if len(frames) > _MAX_DEPTH:
                too_deep += 1
            else:
                frames.append(_Frame(piece))
        else:
            frames[-1].add_text(piece)
    while len(frames) > 1:
        inner = frames.pop()
        frames[-1].add_script(inner.kind, inner.finish())
    return frames[0].finish()


def flatten_scripts(text: str) -> str:
    """Return a text with its scripts as ordinary characters: 106, H2O, CD4+, TH17, PM2.5; "10^6" becomes 106 too.

    Use it to compare and find words, not for output, because it turns a power into another number.
    """
    if not text.isascii():
        text = _FOREIGN.sub(lambda run: run[0].translate(_LINE_TABLE), text)
    for _ in range(_MAX_DEPTH if "^(" in text or "_(" in text else 0):
        plain = _BRACKETED.sub(lambda match: match[0][2:-1], text)
        if plain == text:
            break
        text = plain
    return _TYPED_POWER.sub("", text) if "^" in text else text


class _Frame:
    """The text inside one script, or of the whole line."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._pieces: list[str] = []
        self._tail = ""
        self._waiting: list[str] = []  # pieces of one script, until something else follows
        self._waiting_kind = ""

    def add_text(self, text: str) -> None:
        self._flush()
        self._add(text)

    def add_script(self, kind: str, text: str) -> None:
        """Add a script; merge it with the script before it if a comma or a dash joins the two."""
        if not text.strip():
            self.add_text(text)
            return
        family = SUBSCRIPT if kind == SUBSCRIPT else SUPERSCRIPT
        own = SUBSCRIPT if self._waiting_kind == SUBSCRIPT else SUPERSCRIPT
        if self._waiting and family == own and (text.startswith(_JOINTS) or self._waiting[-1].endswith(_JOINTS)):
            self._waiting.append(text)
            return
        self._flush()
        self._waiting, self._waiting_kind = [text], kind

    def finish(self) -> str:
        self._flush()
        return "".join(self._pieces)

    def _add(self, text: str) -> None:
        self._pieces.append(text)
        self._tail = (self._tail + text[-_TAIL:])[-_TAIL:]

    def _flush(self) -> None:
        if not self._waiting:
            return
        text, self._waiting = "".join(self._waiting), []
        core, before = text.strip(), self._tail
        if core in tuple(_DASHES) and (self._waiting_kind == SUBSCRIPT or not before or before[-1].isspace()):
            written, apart = core, False  # a dash without a base
        elif self._waiting_kind == SUBSCRIPT:
            written = format_subscript(core)
            apart = before[-1:] in _LOWERED and before[-1].isnumeric() and core[0].isdigit()
        elif core in ("st", "nd", "rd", "th") and before[-1:].isdecimal():
            written, apart = core, False
        else:
            written = format_superscript(core)
            apart = _stands_apart(core, before, known=self._waiting_kind == CALLOUT)
        start, end = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        self._add(f"{' ' if apart and not start else start}{written}{end}")


def _stands_apart(mark: str, before: str, *, known: bool) -> bool:
    """Return whether a superscript is a note mark or callout, which needs a space before it."""
    last = before[-1:]
    if not last or last.isspace() or last in "([{":
        return False
    if known or (last in _RAISED and last.isnumeric() and mark[0].isdigit()):
        return True
    if len(mark) > _MAX_MARK or not any(letter.isalnum() for letter in mark):
        return False
    found = _WORD_BEFORE.search(before)
    word = found[0] if found else ""
    if _NUMBERS.fullmatch(mark):
        return last in _ENDS_CLAUSE or (len(word) >= 4 and word[1:].islower() and mark not in ("2", "3"))
    if _LETTERS.fullmatch(mark):
        return last in _ENDS_CLAUSE or (
            bool(word) and (last.islower() or word.isupper()) and not _ROMAN.issuperset(word)
        )
    return False


def _format_script(text: str, table: dict[str, str], done: frozenset[str], mark: str) -> str:
    core = text.strip()
    if not core or not any(letter.isalnum() or letter in f"+=/{_DASHES}" for letter in core):
        return core
    if core == "TM" and mark == "^":
        return "™"
    if all(letter in done for letter in core) or (_BRACKETED.fullmatch(core) and core[0] == mark):
        return core
    if all(letter in table for letter in core) and not _RANGE.search(core):
        return "".join(table[letter] for letter in core)
    inner = core[1:-1] if core[0] == "(" and core.find(")") == len(core) - 1 else core
    return f"{mark}({inner})"

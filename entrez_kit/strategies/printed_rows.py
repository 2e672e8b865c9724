"""The rows of a strategy: their characters written plainly, and several rows joined to one line."""

import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

from entrez_kit.query.dialects.notes import Note

Role = Literal["expression", "comment", "header"]
ENDS_OPEN: Final = re.compile(
    r"(?:\b(?:or|and|not|adj[0-9]*+|near(?:/[0-9]++)?|next)|,|[([{]|(?:^|\b(?:or|and|not) |[(,] ?)exp"
    r"|\b(?:or|and) ?/|[0-9] ?-|^[0-9]+ ?/|^limit .{1,40} to|\bexplode(?: all)?|\bthis term|\band with"
    r"|(?:^|\b(?:or|and|not) |\( ?)(?-i:TI|AB|TX|SU|MH|MM|PT)) ?$",
    re.IGNORECASE,
)
_HYPHENATED: Final = re.compile(
    r"(?:^|[\s(\"'])(?:after|all|anti|co|cross|double|evidence|follow|half|high|home|hospital|in|inter|intra|long|low|meta"
    r"|mid|mini|multi|near|non|off|on|over|peri|placebo|population|post|pre|pro|quasi|re|school|self|semi|short|single"
    r"|sub|t|triple|two|under|up|well|work|x)-$",
    re.IGNORECASE,
)
"""The first parts of words that are written with a hyphen also inside a row."""
_FIELD_NAMES: Final = {
    "TOPIC": "TS",
    "TITLE": "TI",
    "AUTHOR": "AU",
    "PUBLICATION NAME": "SO",
    "YEAR PUBLISHED": "PY",
    "PUBLICATION YEARS": "PY",
    "RESEARCH AREAS": "SU",
    "WEB OF SCIENCE CATEGORIES": "WC",
    "COUNTRIES/REGIONS": "CU",
    "LANGUAGE": "LA",
    "LANGUAGES": "LA",
    "DOCUMENT TYPE": "DT",
    "DOCUMENT TYPES": "DT",
    "ADDRESS": "AD",
}
"""The names of fields that Web of Science prints in place of their codes."""
_FIELD_NAME: Final = re.compile(rf"\b({'|'.join(_FIELD_NAMES)}) ?: ?(?=\()")

_CHARACTERS: Final = {
    **dict.fromkeys("“”„‟″«»＂", '"'),
    **dict.fromkeys("‘’‚‛´′`", "'"),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""),
    **{"…": "...", "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "＊": "*"},
}
_TABLE: Final = str.maketrans(_CHARACTERS)
_BULLET: Final = re.compile(r"^\s*[-•▪◦·]\s+(?=\S)")
_ENTITIES: Final = {"&amp;": "&", "&quot;": '"', "&lt;": "<", "&gt;": ">", "&#39;": "'", "&nbsp;": " "}


@dataclass(slots=True)
class PrintedLine:
    """A line of a strategy as printed.

    ``original`` has the characters of the file with their line breaks, so that the joined lines are the file. ``text``
    is the expression without its number and its printed count.
    """

    original: str
    role: Role
    text: str = ""
    number: int | None = None
    printed_count: int | None = None
    notes: list[Note] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    """The text of each printed row; one of them may have the count."""

    def append(self, original: str, row: str) -> None:
        """Add a row that continues the line, with a note if a word was divided between two rows."""
        is_soft = self.original.rstrip().endswith("\u00ad")
        self.original += original
        self.rows.append(row)
        self.text, note = join_rows(self.text, row, is_soft=is_soft)
        if note is not None:
            self.notes.append(note)


@lru_cache(maxsize=1024)
def repair(text: str) -> str:
    """Return a text with the characters that a word processor or a web page changed written plainly."""
    plain = _BULLET.sub("", replace_characters(text))
    plain = re.sub(r"\bexp\.\s+(?=[A-Z])", "exp ", plain)
    plain = re.sub(r"\bexp(?=\*)", "exp ", plain)
    plain = _FIELD_NAME.sub(lambda match: f"{_FIELD_NAMES[match[1]]}=", plain)
    return " ".join(unicodedata.normalize("NFC", plain).split())


def replace_characters(text: str) -> str:
    """Return a text with plain quotation marks, hyphens and spaces, and without entities of HTML."""
    plain = text.translate(_TABLE)
    for entity, sign in _ENTITIES.items():
        plain = plain.replace(entity, sign)
    return plain


def join_rows(above: str, below: str, *, is_soft: bool = False) -> tuple[str, Note | None]:
    """Return two rows of one line as one text, and a note if a word was divided between them."""
    if not above or not below:
        return above + below, None
    if is_soft or re.search(r"[0-9] ?-$", above):
        return above.rstrip() + below, None
    if not (above.endswith("-") and above[-2:-1].isalpha() and below[0].islower()):
        return f"{above} {below}", None
    joined = above + below if _HYPHENATED.search(above) else above[:-1] + below
    word = re.split(r"[\s()\"]", joined[len(above.rpartition(" ")[0]) :].strip('( "'))[0]
    return joined, Note(f"a word was divided at the end of a row; it was read as {word!r}.")


def is_open(text: str) -> bool:
    """Return whether an expression cannot end here."""
    has_open_quotes = text.count('"') % 2 == 1 or text.rfind("[") > text.rfind("]")
    return count_open(text) > 0 or has_open_quotes or ENDS_OPEN.search(text) is not None


def count_open(text: str) -> int:
    """Return the number of open parentheses, without those in quotes."""
    outside = re.sub(r'"[^"]*"', "", text)
    return outside.count("(") - outside.count(")")

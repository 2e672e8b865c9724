"""Split NCBI's text of records into parts, so that a reply can be cut between them."""

import re
from dataclasses import dataclass
from typing import Final

_MAX_LINE: Final = 300
"""The maximum number of characters of a line in one part; a longer line is split."""
_MEDLINE: Final = re.compile(r"^(?=PMID- )", re.MULTILINE)
_MARKUP: Final = re.compile(
    r"""<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)"""
    r"""|<(/?)[A-Za-z_](?:[^<>"'/]|"[^"<]*"|'[^'<]*'|/(?!>))*(/?)>""",
    re.DOTALL,
)
_LINE: Final = re.compile(rf"[^\n]{{0,{_MAX_LINE - 1}}}(?:\n|[^\n])")


@dataclass(frozen=True, slots=True)
class RecordText:
    """A text in parts; ``head``, some parts and ``tail`` are a valid document.

    Args:
        head: the text before the first record.
        parts: the records of XML and MEDLINE, or the lines of any other text.
        tail: the text after the last record.
        has_records: whether the parts are records.
    """

    head: str
    parts: list[str]
    tail: str
    has_records: bool


def split_record_text(text: str) -> RecordText:
    """Split a text; its joined parts are the same text."""
    if text.lstrip().startswith("PMID-"):
        head, *records = _MEDLINE.split(text)
        return RecordText(head, records, "", has_records=True)
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        from entrez_kit.databases.fetch import split_frame

        if (frame := split_frame(text)) is not None and frame.tail:
            return RecordText(frame.head, _split_elements(frame.content), frame.tail, has_records=True)
    return RecordText("", _LINE.findall(text), "", has_records=False)


def _split_elements(inside: str) -> list[str]:
    """Split the content of an XML element after each of its child elements."""
    parts: list[str] = []
    depth = start = 0
    for match in _MARKUP.finditer(inside):
        closes, is_empty = match[1], match[2]
        if closes is None:  # a comment, a processing instruction or character data
            continue
        depth += -1 if closes else 0 if is_empty else 1
        if depth == 0:
            parts.append(inside[start : match.end()])
            start = match.end()
    if parts:
        parts[-1] += inside[start:]
        return parts
    return [inside] if inside.strip() else []

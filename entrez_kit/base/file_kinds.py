"""Detect files that are not text, by their beginning, to name them in messages."""

import re
from pathlib import PurePath
from typing import Final, NamedTuple


class FileKind(NamedTuple):
    """A kind of file that is not text: its name with an article, and how to get a text from it."""

    name: str
    advice: str


_AS_TEXT: Final = "Save it as text (.txt)."
_AS_DOCUMENT: Final = "Save it as .docx, or as .pdf or .txt."
WORD: Final = FileKind("a Word document", _AS_TEXT)
PDF: Final = FileKind("a PDF", "Copy its lines into a text file.")
# A file without a suffix, such as standard input, can be a Word document.
ZIP: Final = FileKind("a ZIP archive or an Office document", "Save the document as text (.txt), or unpack the archive.")
_WORKBOOK: Final = FileKind("an Excel workbook", "Save the sheet as .csv.")
_OPEN_DOCUMENT: Final = FileKind("an OpenDocument text (.odt)", _AS_DOCUMENT)
_OLD_OFFICE: Final = FileKind(
    "a Word or Excel file of the old format (.doc, .xls), or one with a password",
    "Save it as .docx or .csv without a password, or as .pdf or .txt.",
)
_RICH_TEXT: Final = FileKind("rich text (.rtf)", _AS_DOCUMENT)
_WEB_PAGE: Final = FileKind("a web page", f"{_AS_DOCUMENT} If it should be another file, download it again.")
OTHER_DOCUMENTS: Final = (_OLD_OFFICE, _RICH_TEXT, _OPEN_DOCUMENT, _WEB_PAGE)
"""Documents in formats that are not read, also in the place of a Word document or a PDF."""
_BY_SUFFIX: Final = {
    **dict.fromkeys((".docx", ".docm"), WORD),
    **dict.fromkeys((".xlsx", ".xlsm"), _WORKBOOK),
    ".odt": _OPEN_DOCUMENT,
    ".zip": FileKind("a ZIP archive", "Unpack it."),
    ".pdf": PDF,
}
_SIGNS: Final = (
    (re.compile(rb"%PDF-"), PDF),
    (re.compile(rb"\xd0\xcf\x11\xe0"), _OLD_OFFICE),
    (re.compile(rb"\{\\rtf"), _RICH_TEXT),
    (re.compile(rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis", re.DOTALL), _OPEN_DOCUMENT),
    (re.compile(rb"PK\x03\x04"), ZIP),
    (re.compile(rb"\x1f\x8b"), FileKind("a gzip archive", "Unpack it.")),
    (re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8"), FileKind("an image", "Copy the text in it into a text file.")),
    (re.compile(rb"<(?:!doctype )?html\b", re.IGNORECASE), _WEB_PAGE),
)
_HEAD: Final = 500
"""The number of bytes in which the signs are searched."""


def detect_file_kind(content: bytes, name: str) -> FileKind | None:
    """Return the kind of a file that is not text, or is text in a markup that is not read; None for other files.

    Args:
        content: the file, or its beginning.
        name: its name. The suffix decides between documents that are ZIP archives.
    """
    head = content[:_HEAD].lstrip()
    found = next((kind for sign, kind in _SIGNS if sign.match(head)), None)
    return find_kind_by_suffix(name) or found if found is ZIP else found


def find_kind_by_suffix(name: str) -> FileKind | None:
    """Return the kind of a file that its suffix states; None for text and unknown suffixes."""
    return _BY_SUFFIX.get(PurePath(name).suffix.lower())

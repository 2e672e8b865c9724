"""Read the text of a strategy from a file: plain text, Markdown or a Word document."""

from typing import Final

from entrez_kit.base.file_kinds import WORD, ZIP, detect_file_kind
from entrez_kit.references.files.reference_files import decode_file

STRATEGY_HINT: Final = (
    "Give a text file (.txt, .md) or a Word document (.docx) with the lines of the search as printed, or - for "
    "standard input."
)
WORDS_HINT: Final = "Give a text file with the words, separated by spaces or line breaks."


def read_strategy_text(content: bytes, name: str, hint: str = STRATEGY_HINT) -> str:
    """Return the text of a strategy; a paragraph or a row of a table of a Word document is a line.

    Raises:
        InvalidInput: the file is empty, binary, or not a Word document.
    """
    if detect_file_kind(content, name) in (WORD, ZIP):
        from entrez_kit.references.manuscripts.read_docx import read_docx_lines

        return "\n".join(read_docx_lines(content, name)) + "\n"
    return decode_file(content, name, hint=hint).text

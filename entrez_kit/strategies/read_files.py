"""Read the text of a strategy from a file: plain text, Markdown or a Word document."""

from entrez_kit.references.files.reference_files import decode_file
from entrez_kit.references.files.references import unreadable_error

FILES = "Give a text file (.txt, .md), a Word document (.docx), or - for standard input."


def read_file(content: bytes, name: str) -> str:
    """Return the text of a strategy; a paragraph or a row of a table of a Word document is a line.

    Raises:
        InvalidInput: the file is empty, binary, or not a Word document.
    """
    if content.startswith(b"PK\x03\x04"):
        from entrez_kit.references.manuscripts.read_docx import read_docx_lines

        return "\n".join(read_docx_lines(content, name)) + "\n"
    if content.startswith(b"%PDF-"):
        hint = f"Copy its lines into a text file. {FILES}"
        raise unreadable_error(name, "the lines of a PDF cannot be read", hint=hint)
    return decode_file(content, name, hint=FILES).text

"""Select the reader for a manuscript."""

import re
from typing import Final

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.file_kinds import OTHER_DOCUMENTS, detect_file_kind
from entrez_kit.base.frontend_text import join_names
from entrez_kit.references.check.pasted.find_lists import HEADINGS
from entrez_kit.references.files.references import unreadable_error
from entrez_kit.references.manuscripts.document import Beside, Manuscript

READ: Final = (".docx", ".tex", ".bbl", ".md", ".qmd", ".rmd", ".markdown", ".xml", ".nxml", ".jats", ".pdf")
"""Suffixes of manuscripts. A Markdown file can also be a list of identifiers."""
TEXT: Final = (".docx", ".tex", ".md", ".qmd", ".rmd", ".markdown")
"""Suffixes of manuscripts whose text can be searched for citations."""
FILES: Final = (
    "Name a file of references (.bib, .ris, .json, .nbib, or .txt with the text of references) or a manuscript (.docx, "
    ".tex, .md, .pdf, .xml)."
)
"""The supported formats."""
HINT: Final = "Put the list under the heading References or Bibliography, or give it as a .txt file."
BIB_HINT: Final = (
    "Put the files named by \\bibliography or \\addbibresource in the folder of the .tex file or below it, or put the "
    ".bbl file there."
)


def read_manuscript(
    content: bytes, name: str, suffix: str, beside: Beside = lambda _: None, *, has_text: bool = False
) -> Manuscript:
    """Read a manuscript.

    Args:
        content: the file.
        name: its name in messages.
        suffix: its suffix. The content decides between XML formats.
        beside: reads the files that it names; by default it returns no file.
        has_text: whether it has text besides the list. A Markdown file without text can be a list without a heading.

    Raises:
        InvalidInput: the file cannot be read, exceeds a limit, or has no list of references.
    """
    if not content.strip():
        raise unreadable_error(name, "it is empty", hint=FILES)
    manuscript = _read_by_suffix(content, name, suffix.lower(), beside, has_text=has_text)
    if not manuscript.references:
        raise _no_list(manuscript, name, suffix.lower())
    return manuscript


def _no_list(manuscript: Manuscript, name: str, suffix: str) -> InvalidInput:
    """Return the error for a manuscript without a list: where the list was searched, and the citations in the text."""
    from entrez_kit.references.manuscripts.calls import check_calls

    where = manuscript.searched or f"no line has only the word {', '.join(HEADINGS[:-1])} or {HEADINGS[-1]}"
    missing = [warning.message.rstrip(".") for warning in manuscript.warnings]
    calls = [finding.call for finding in check_calls(manuscript)]
    text = f"citations without an entry: {join_names(calls)}" if calls else ""
    problem = "; ".join(part for part in (f"no list of references was found: {where}", *missing, text) if part)
    return unreadable_error(name, problem, hint=BIB_HINT if suffix in (".tex", ".bbl") else HINT)


def _read_by_suffix(content: bytes, name: str, suffix: str, beside: Beside, *, has_text: bool) -> Manuscript:
    match suffix:
        case ".docx":
            from entrez_kit.references.manuscripts.read_docx import read_docx

            return read_docx(content, name)
        case ".tex" | ".bbl":
            from entrez_kit.references.manuscripts.read_latex import read_latex

            return read_latex(content, name, beside)
        case ".pdf":
            from entrez_kit.references.manuscripts.articles import read_pdf_references

            return read_pdf_references(content, name)
        case ".xml" | ".nxml" | ".jats":
            from entrez_kit.references.manuscripts.articles import read_article_xml

            return read_article_xml(content, name)
    from entrez_kit.references.manuscripts.read_markdown import read_markdown

    return read_markdown(content, name, beside, has_text=has_text)


def refuse_others(content: bytes, name: str) -> None:
    """Reject documents in unsupported formats.

    Raises:
        InvalidInput: the document has such a format.
    """
    kind = detect_file_kind(content, name)
    if kind in OTHER_DOCUMENTS:
        raise unreadable_error(name, f"this is {kind.name}", hint=kind.advice)


def detect_suffix(content: bytes) -> str | None:
    """Return the suffix of a file without a name, detected from its beginning; None if it is not a manuscript."""
    if content.startswith(b"PK\x03\x04"):
        return ".docx"
    if content.startswith(b"%PDF-"):
        return ".pdf"
    if re.match(rb"\s*<(?:\?xml|!DOCTYPE|article\b|xml\b)", content[:500]):
        return ".xml"
    if re.search(rb"\\(?:documentclass|begin\{(?:document|thebibliography)\}|entry\{)", content[:20_000]):
        return ".tex"
    if re.match(rb"---\r?\n", content) or re.search(rb"^(?:#{1,6} |\[\^[^\]\s]{1,60}\]: )", content, re.MULTILINE):
        return ".md"
    return None

"""Find out what a file of references is, and read it."""

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from entrez_kit.references.files.read_bibtex import BibtexFile
from entrez_kit.references.files.read_csl import CslFile
from entrez_kit.references.files.read_nbib import read_nbib
from entrez_kit.references.files.read_ris import RisFile
from entrez_kit.references.files.references import ReferenceFile, unreadable

KINDS: Final[dict[str, str]] = {
    **dict.fromkeys((".bib", ".bibtex"), "bibtex"),
    ".ris": "ris",
    ".json": "csl",
    **dict.fromkeys((".nbib", ".medline"), "nbib"),
    **dict.fromkeys((".txt", ".text", ".md", ".ids", ".csv", ".tsv", ".jsonl"), "ids"),
}
"""What a suffix stands for; ids are left to whoever reads identifiers."""
PLAIN_TEXT: Final = ("", ".txt", ".text", ".md")
"""Suffixes of what may also be references as they are written out."""
_SIGNS: Final = (
    ("ris", re.compile(r"\s*+(?:[0-9]++\.\s*+)?TY {1,2}- ")),
    ("nbib", re.compile(r"\s*+PMID *+- ?[0-9]")),
    ("bibtex", re.compile(r"(?>(?:\s*+%[^\n]*+\n)*)\s*+@[A-Za-z]++\s*+[{(]")),
    ("csl", re.compile(r'\s*+(?>(?:\[\s*+)?)\{[^\[\]{}]*?"(?:type|title|DOI|items|references|author)"')),
    (
        "ids",
        re.compile(
            r"(?>(?:\s*+#[^\n]*+)*)\s*+"
            r"(?:(?>(?:PMID|PMC|PMCID|DOI)?)\s*+:?\s*+[0-9]|https?://|\[\s*+[\"0-9])",
            re.IGNORECASE,
        ),
    ),
)
READERS: Final[dict[str, Callable[[str, str], ReferenceFile]]] = {
    "bibtex": BibtexFile,
    "ris": RisFile,
    "csl": CslFile,
    "nbib": read_nbib,
}
HINT: Final = "Name a .bib, .ris, .json (CSL-JSON) or .nbib file."


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file and how it was encoded, so that it can be written the same way."""

    text: str
    encoding: str


def decoded(content: bytes, name: str, *, hint: str = HINT) -> Decoded:
    """Return the text of a file: UTF-8, UTF-16 with its mark, or else Windows' western European.

    Raises:
        InvalidInput: the file is empty, or no text.
    """
    if not content.strip():
        raise unreadable(name, "the file is empty", hint=hint)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encodings = ["utf-16"]
    elif content.startswith(codecs.BOM_UTF8):
        encodings = ["utf-8-sig"]
    else:
        encodings = ["utf-8", "cp1252"]
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\x00" not in text:
            return Decoded(text, encoding)
    raise unreadable(name, "this is no text", hint=hint)


def encoded(text: str, encoding: str) -> bytes:
    """Return a text in the encoding of its file, or in UTF-8 where that has no room for a letter that was added."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode("utf-8")


def kind_of(text: str, name: str, suffix: str, *, hint: str = HINT) -> str:
    """Return what a file is: bibtex, ris, csl, nbib or ids; by its suffix, or else by how it begins.

    Raises:
        InvalidInput: it is none of them.
    """
    known = KINDS.get(suffix.lower())
    looks = next((kind for kind, sign in _SIGNS if sign.match(text)), None)
    if known is not None and known != "ids":
        return known
    # PubMed saves MEDLINE as .txt, and others save anything so; what comes through a pipe is at least text.
    kind = looks or known or ("ids" if suffix in PLAIN_TEXT else None)
    if kind is None:
        raise unreadable(name, "this is no kind of reference file that is known", hint=hint)
    return kind


def reference_file(text: str, name: str, kind: str) -> ReferenceFile:
    """Read a file of references.

    Args:
        text: what it holds.
        name: what messages call it.
        kind: bibtex, ris, csl or nbib.

    Raises:
        InvalidInput: it cannot be read, or holds no reference; the message says where.
    """
    file = READERS[kind](text, name)
    if not file.references:
        raise unreadable(name, "there is no reference in this file", hint=HINT)
    return file

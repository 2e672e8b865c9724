"""Detect the format of a file of references, and read the file."""

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from entrez_kit.base.file_kinds import detect_file_kind, find_kind_by_suffix
from entrez_kit.references.files.read_bibtex import read_bibtex
from entrez_kit.references.files.read_csl_json import read_csl_json
from entrez_kit.references.files.read_exports import read_cochrane, read_wos
from entrez_kit.references.files.read_nbib import read_nbib
from entrez_kit.references.files.read_ris import read_ris
from entrez_kit.references.files.references import ReferenceFile, unreadable_error

KINDS: Final[dict[str, str]] = {
    **dict.fromkeys((".bib", ".bibtex"), "bibtex"),
    ".ris": "ris",
    ".json": "csl",
    **dict.fromkeys((".nbib", ".medline"), "nbib"),
    ".ciw": "wos",
    **dict.fromkeys((".txt", ".text", ".md", ".ids", ".csv", ".tsv", ".jsonl"), "ids"),
}
"""Formats by suffix. Files of ids are read by another module."""
PLAIN_TEXT: Final = ("", ".txt", ".text", ".md")
"""Suffixes of files that can also be lists of references as text."""
_SIGNS: Final = (
    ("ris", re.compile(r"\s*+(?:[0-9]++\.\s*+)?TY {1,2}- ")),
    ("nbib", re.compile(r"\s*+PMID *+- ?[0-9]")),
    ("wos", re.compile(r"\s*+(?:FN [^\n]*+\n\s*+VR |PT\tAU\t)")),
    ("cochrane", re.compile(r"\s*+Record #[0-9]++ of [0-9]++\s++[A-Z]{2,3}: ")),
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
    "bibtex": read_bibtex,
    "ris": read_ris,
    "csl": read_csl_json,
    "nbib": read_nbib,
    "wos": read_wos,
    "cochrane": read_cochrane,
}
HINT: Final = "Name a .bib, .ris, .json (CSL-JSON) or .nbib file."
_LABEL: Final = re.compile(
    r"%[0-9A-Z](?= )|[A-Z][A-Z0-9](?: {1,2}-)?(?= )|[A-Z][A-Za-z() ]{1,30}:(?= )|[A-Z]{2,3}-(?= )"
)
"""The label of a field at the beginning of a line: "%T ", "T1 ", "TI  - ", "Title: "."""
_TITLES: Final = frozenset(("%T", "T1", "TI", "Title:", "TI:", "TI  -", "TI -", "TI-"))
_SHARE_OF_LABELS: Final = 0.5
"""The smallest share of lines with a label in a file with the fields of an unknown format."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file and its encoding, which is used again to write the corrected file."""

    text: str
    encoding: str


def decode_file(content: bytes, name: str, *, hint: str = HINT) -> Decoded:
    """Decode a file: UTF-8, UTF-16 with a byte order mark, or else Windows-1252.

    Raises:
        InvalidInput: the file is empty or binary.
    """
    if not content.strip():
        raise unreadable_error(name, "it is empty", hint=hint)
    if (kind := detect_file_kind(content, name)) is not None:
        raise unreadable_error(name, f"this is not a text file, but {kind.name}", hint=f"{kind.advice} {hint}")
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
    stated = find_kind_by_suffix(name)
    neither = f"neither a text file nor {stated.name}; the file may be damaged" if stated else "not a text file"
    raise unreadable_error(name, f"this is {neither}", hint=hint)


def encode_text(text: str, encoding: str) -> bytes:
    """Encode a text in the encoding of its file, or in UTF-8 if that encoding does not have all characters."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode("utf-8")


def find_kind(text: str) -> str | None:
    """Return the format of a file by its beginning; None if it is unknown."""
    return next((kind for kind, sign in _SIGNS if sign.match(text)), None)


def detect_kind(text: str, name: str, suffix: str, *, hint: str = HINT) -> str:
    """Detect the format of a file by its suffix, or else by its beginning: a key of ``READERS``, or ids.

    Raises:
        InvalidInput: the format is unknown.
    """
    known = KINDS.get(suffix.lower())
    looks = find_kind(text)
    if known is not None and known != "ids":
        return known
    # PubMed saves MEDLINE files as .txt, and a .txt file can have any format. Piped input is treated as text.
    kind = looks or known or ("ids" if suffix in PLAIN_TEXT else None)
    if kind is None:
        raise unreadable_error(name, "the format of this file is unknown", hint=hint)
    if kind == "ids" and (labels := _find_labels(text)):
        problem = f"the records of this file have fields ({', '.join(labels)}) of a format that cannot be read"
        raise unreadable_error(name, problem, hint="Export the records as RIS, or convert the file to RIS.")
    return kind


def _find_labels(text: str) -> list[str]:
    """Return some labels of a text that has a field on most lines, with titles; empty for other texts."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not line.startswith("  ")]
    labels = [match[0] for line in lines if (match := _LABEL.match(f"{line} "))]
    if len(labels) < _SHARE_OF_LABELS * len(lines) or not _TITLES & set(labels) or len(set(labels)) < MIN_LABELS:
        return []
    return list(dict.fromkeys(labels))[:MIN_LABELS]


MIN_LABELS: Final = 3
"""The fewest labels of a format with fields."""


def read_reference_file(text: str, name: str, kind: str) -> ReferenceFile:
    """Read a file of references.

    Args:
        text: the content of the file.
        name: the name of the file in messages.
        kind: bibtex, ris, csl or nbib.

    Raises:
        InvalidInput: the file cannot be read or has no references. The message has the line if it is known.
    """
    if kind not in READERS:  # a list of ids
        raise unreadable_error(name, "this file is not a file of references", hint=HINT)
    file = READERS[kind](text, name)
    if not file.references:
        raise unreadable_error(name, "this file does not contain a reference", hint=HINT)
    return file

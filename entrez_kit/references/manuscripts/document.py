"""The parts of a manuscript that are checked: its references, its text and its citations."""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from entrez_kit.base.errors import InvalidInput
from entrez_kit.core.model import Warn
from entrez_kit.references.files.reference_files import READERS, decode_file, detect_kind
from entrez_kit.references.files.references import Reference, ReferenceFile, unreadable_error

MAX_FILES: Final = 20
MAX_RANGE: Final = 100
"""A longer range of numbers is not a citation."""
DASH: Final = r"[-‐-―−]"
_NUMBERS: Final = re.compile(rf"([0-9]{{1,4}})(?:\s*+{DASH}\s*+([0-9]{{1,4}}))?")
Beside = Callable[[str], bytes | None]
"""Reads a file from the folder of the manuscript, for example its .bib or .bbl file; None if there is no such file."""


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph of the text, with the number of its first line, or of the paragraph."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph with citations as ``[1, 3-5]`` or ``[@{key}]``; ``line`` is None if it is in an included file."""

    line: int | None
    text: str
    is_quote: bool = False


class LineNumbers:
    """Finds the line number of an offset in a text by binary search."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def find(self, place: int) -> int:
        """Return the number of the line, from 1, that contains an offset."""
        return bisect_left(self._ends, place) + 1


def parse_citation_numbers(text: str) -> Iterator[int]:
    """Yield the numbers in a citation: "1, 3-5" has 1, 3, 4 and 5."""
    for match in _NUMBERS.finditer(text):
        first, last = int(match[1]), int(match[2] or match[1])
        if 0 < first <= last <= first + MAX_RANGE:
            yield from range(first, last + 1)


@dataclass(frozen=True, slots=True)
class KeyCall:
    """A citation by the key of an entry: ``\\cite`` in LaTeX, ``[@key]`` in pandoc, or a reference manager's field."""

    key: str
    line: int
    text: str


@dataclass(slots=True)
class Manuscript:
    """The references of a document, its text and its citations.

    Args:
        references: the entries of its list.
        text: its paragraphs without the list.
        calls: its citations by key.
        counts: "paragraph" if the numbers of lines and citations count paragraphs instead of lines.
        keyed: whether all citations are by key, so that the text is not searched for numbers and names.
        warnings: warnings about the file.
        searched: why no list was found, for a format in which the list does not have a heading.
        file: the records with all their fields, if the document is a file of a reference manager.
    """

    references: list[Reference]
    text: Sequence[Line] = ()
    calls: Sequence[KeyCall] = ()
    keyed: bool = False
    counts: Literal["paragraph"] | None = None
    warnings: list[Warn] = field(default_factory=list)
    searched: str = ""
    file: ReferenceFile | None = None


def list_cited_entries(
    names: Iterable[str], beside: Beside, called: Collection[str] | None
) -> tuple[list[Reference], list[Warn]]:
    """Return the cited entries of the bibliography files that a manuscript names, and warnings about these files.

    Args:
        beside: reads the files.
        called: the keys of cited entries; None for all entries.

    Raises:
        InvalidInput: one of the files cannot be read.
    """
    references: list[Reference] = []
    warnings: list[Warn] = []
    for name in list(dict.fromkeys(names))[:MAX_FILES]:
        content = beside(name)
        if content is None:
            warnings.append(missing_warning(name))
            continue
        text = decode_file(content, name).text
        file = READERS[detect_kind(text, name, f".{name.rpartition('.')[2]}")](text, name)
        warnings += file.warnings
        references += [reference for reference in file.references if called is None or reference.key in called]
    return references, warnings


def missing_warning(name: str) -> Warn:
    """Return the warning for a missing file that the manuscript names."""
    return Warn(code="file_missing", message=f"{name} is not in the folder of the manuscript.")


def too_large_error(name: str, what: str) -> InvalidInput:
    """Return the error for a file that exceeds a limit."""
    return unreadable_error(
        name, f"{what} is larger than any manuscript", hint="Take the list of references out of it."
    )

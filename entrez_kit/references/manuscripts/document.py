"""What a manuscript holds for checking."""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from entrez_kit.base.errors import InvalidInput
from entrez_kit.core.model import Warn
from entrez_kit.references.files.reference_files import READERS, decoded, kind_of
from entrez_kit.references.files.references import Reference, unreadable

MAX_FILES: Final = 20
MAX_RANGE: Final = 100
"""A longer range of numbers calls no references."""
DASH: Final = r"[-‐-―−]"
_NUMBERS: Final = re.compile(rf"([0-9]{{1,4}})(?:\s*+{DASH}\s*+([0-9]{{1,4}}))?")
Beside = Callable[[str], bytes | None]
"""Reads a file that a manuscript names (its .bib, its .bbl), from the folder it stands in; None where there is none."""


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph of the text, with the line or paragraph it begins at."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph with its calls as ``[1, 3-5]`` or ``[@{key}]``; ``line`` is missing for a part in another file."""

    line: int | None
    text: str
    is_quote: bool = False


class LineNumbers:
    """Find the line of a place in a text, in a time that does not grow with the number of lines before it."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def at(self, place: int) -> int:
        """Return the number of the line, from 1, that a place is in."""
        return bisect_left(self._ends, place) + 1


def numbers_called(text: str) -> Iterator[int]:
    """Yield the numbers of a call: of "1, 3-5" these are 1, 3, 4 and 5."""
    for match in _NUMBERS.finditer(text):
        first, last = int(match[1]), int(match[2] or match[1])
        if 0 < first <= last <= first + MAX_RANGE:
            yield from range(first, last + 1)


@dataclass(frozen=True, slots=True)
class KeyCall:
    """A call in the text by the key of an entry: LaTeX's ``\\cite``, pandoc's ``[@key]``, or a reference manager's."""

    key: str
    line: int
    text: str


@dataclass(slots=True)
class Manuscript:
    """The references of a document and, for what calls them, its text.

    Args:
        references: the entries of its list.
        text: its paragraphs without the list.
        calls: calls by key, where the document has such.
        counts: what the numbers of lines and calls count, where these are no lines.
        keyed: whether entries are called by key alone, and the text need not be looked through for numbers and names.
        warnings: what there is to say about the file.
        sought: what was looked for in vain, where that is no heading.
    """

    references: list[Reference]
    text: Sequence[Line] = ()
    calls: Sequence[KeyCall] = ()
    keyed: bool = False
    counts: Literal["paragraph"] | None = None
    warnings: list[Warn] = field(default_factory=list)
    sought: str = ""


def entries_beside(
    names: Iterable[str], beside: Beside, called: Collection[str] | None
) -> tuple[list[Reference], list[Warn]]:
    """Return the entries of the files that a manuscript names which it calls, and what there is to say about these.

    Args:
        names: the files.
        beside: reads them.
        called: keys of entries; None for all of them.

    Raises:
        InvalidInput: one of the files cannot be read.
    """
    references: list[Reference] = []
    warnings: list[Warn] = []
    for name in list(dict.fromkeys(names))[:MAX_FILES]:
        content = beside(name)
        if content is None:
            warnings.append(missing(name))
            continue
        text = decoded(content, name).text
        found = READERS[kind_of(text, name, f".{name.rpartition('.')[2]}")](text, name)
        warnings += found.warnings
        references += [one for one in found.references if called is None or one.key in called]
    return references, warnings


def missing(name: str) -> Warn:
    """Return the warning for a file that a manuscript names and that is not there."""
    return Warn(code="file_missing", message=f"{name} does not stand beside the manuscript.")


def too_large(name: str, what: str) -> InvalidInput:
    """Return the error for a file beyond a limit."""
    return unreadable(name, f"{what} is larger than any manuscript", hint="Take the list of references out of it.")

"""Read MEDLINE text (.nbib): fields with a tag, whose values continue on indented lines."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

_FIELD: Final = re.compile(r"([A-Z]{2,4}) *- ?(.*)")
_INDENT: Final = "    "
"""The smallest indent of a line that continues a value; PubMed writes six spaces."""


class MedlineField(NamedTuple):
    """A field: its tag, its value on one line, and the number of its first line. An empty line has no tag."""

    tag: str
    value: str
    line: int


class MedlineLineError(ValueError):
    """A line that does not belong to a field.

    Args:
        line: the number of the line.
    """

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line} is not a field of a MEDLINE record")
        self.line = line


def read_fields(lines: Iterable[str]) -> Iterator[MedlineField]:
    """Yield the fields of MEDLINE text, and the empty lines between them. An empty line inside a value is omitted.

    Raises:
        MedlineLineError: a line is neither a field nor the continuation of one.
    """
    tag, texts, start, blank = "", [""], 0, 0
    for number, line in enumerate(lines, start=1):
        if match := _FIELD.fullmatch(line):
            if tag:
                yield _join_texts(tag, texts, start)
            if blank:
                yield MedlineField("", "", blank)
            tag, texts, start, blank = match[1], [match[2].strip()], number, 0
        elif not line.strip():
            blank = blank or number
        elif tag and line.startswith(_INDENT):
            texts.append(line.strip())
            blank = 0
        else:
            raise MedlineLineError(number)
    if tag:
        yield _join_texts(tag, texts, start)


def _join_texts(tag: str, texts: list[str], line: int) -> MedlineField:
    return MedlineField(tag, " ".join(text for text in texts if text), line)

"""Read MEDLINE text (.nbib): fields with a tag, whose values continue on indented lines, and records of fields."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

_FIELD: Final = re.compile(r"([A-Z]{2,4}) *- ?(.*)")
_INDENT: Final = "    "
"""The smallest indent of a line that continues a value; PubMed writes six spaces."""
ONCE: Final = frozenset({"PMID", "OWN", "STAT", "TI", "BTI", "DP", "JT", "TA", "SO"})
"""Tags that a record has only once."""


class MedlineField(NamedTuple):
    """A field: its tag, its value on one line, and the number of its first line. An empty line has no tag."""

    tag: str
    value: str
    line: int


class MedlineFields(NamedTuple):
    """The fields of a record as tags and values, and the number of its first line."""

    fields: list[tuple[str, str]]
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


def split_records(lines: Iterable[str]) -> Iterator[MedlineFields]:
    """Yield the records of MEDLINE text.

    A record begins at its line PMID. One without it begins below an empty line, at a repeated tag that a record has
    only once: an empty line can also be inside of a record.

    Raises:
        MedlineLineError: a line does not belong to a field.
    """
    above: MedlineFields | None = None
    for record in _split_at_empty_lines(lines):
        if above is not None and _is_continuation(record, above):
            above.fields.extend(record.fields)
            continue
        if above is not None:
            yield above
        above = record
    if above is not None:
        yield above


def _is_continuation(record: MedlineFields, above: MedlineFields) -> bool:
    """Return whether fields below an empty line belong to the record above it."""
    tags = {tag for tag, _ in record.fields}
    return "PMID" not in tags and all(tag not in tags for tag, _ in above.fields if tag in ONCE)


def _split_at_empty_lines(lines: Iterable[str]) -> Iterator[MedlineFields]:
    """Yield the fields between two empty lines, or from a line PMID to the next."""
    fields: list[tuple[str, str]] = []
    start = 0
    for field in read_fields(lines):
        if field.tag in ("", "PMID") and fields:
            yield MedlineFields(fields, start)
            fields = []
        if field.tag:
            start = start if fields else field.line
            fields.append((field.tag, field.value))
    if fields:
        yield MedlineFields(fields, start)

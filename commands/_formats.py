"""From documents to bytes: json, jsonl, csv, tsv, ids, md, and projection on fields.

Text stays as PubMed has it in json and jsonl. In csv and tsv a cell is one line, and one that a spreadsheet would run
as a formula (it starts with ``=``, ``@``, or ``+`` or ``-`` before anything but a number, also full-width or behind
what nobody sees) gets an apostrophe in front.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Protocol, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from entrez_kit.errors import InvalidInput
from entrez_kit.invisible import escape_json

from ._output import Sink, plain

Record = Mapping[str, Any]
Column = Callable[[Record], Any]
"""Makes one cell out of a record."""

JOINER: Final = "; "
"""Between the values of one cell; a comma is part of many MeSH terms and names."""
PAGE_BREAK: Final = "\n---\n\n"
"""Between two pages of Markdown."""
_FORMULA_SIGNS: Final = "=@\uff1d\uff20"
_NUMBER_SIGNS: Final = "+-\uff0b\uff0d"
"""What formulas begin with, also in the width of Chinese characters, which spreadsheets take for the same."""
_NUMBER: Final = re.compile(r"[+-][0-9]+(\.[0-9]+)?")


class Failed(dict[str, Any]):
    """The record of an input that came to nothing: a line of jsonl, whole whatever the fields; nothing elsewhere."""


def json_text(document: Any, *, indent: int | None = 2) -> str:
    """Return a document (models, mappings, lists) as JSON, other scripts than Latin kept readable."""
    try:
        text = to_json(document, indent=indent).decode("utf-8")
    except PydanticSerializationError:  # a lone surrogate, from an argument that is no valid text
        import json

        text = json.dumps(as_data(document), indent=indent)
    return escape_json(text)


def as_data(document: Any) -> Any:
    """Return a model as plain data, as its JSON has it; anything else as it is."""
    if isinstance(document, BaseModel):
        return document.model_dump(mode="json")
    if isinstance(document, list | tuple):
        return [as_data(item) for item in document]
    if isinstance(document, Mapping):
        return {key: as_data(value) for key, value in document.items()}
    return document


# Projection


class Shape:
    """Which dotted paths a document has: read from its model, or from the document itself where there is no model."""

    def __init__(self, model: Any = None, sample: Iterable[Record] = ()) -> None:
        self._model = model
        self._sample = list(sample) if model is None else []

    def names(self) -> list[str]:
        """Return the names at the top."""
        if self._model is not None:
            return list(_fields(self._model) or ())
        return list(dict.fromkeys(name for record in self._sample for name in record))

    def below(self, path: str) -> "Shape":
        """Return the shape of what a path leads to; free-form where nothing is known about it."""
        kinds: Any = self._model
        for name in path.split("."):
            kinds = (_fields(kinds) or {}).get(name, Any)
        return Shape(kinds)

    def knows(self, path: str) -> bool:
        """Tell whether a dotted path can lead to a value."""
        head, *rest = path.split(".")
        if self._model is None:
            return head in self.names()
        kinds: Any = self._model
        for name in (head, *rest):
            fields = _fields(kinds)
            if fields is None or (fields and name not in fields):
                return False
            if not fields:  # free-form data: anything may be in there
                return True
            kinds = fields[name]
        return True


def _fields(annotation: Any) -> dict[str, Any] | None:
    """Return the fields below an annotation, {} for free-form data, None for a plain value."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {name: info.annotation for name, info in annotation.model_fields.items()}
    origin = get_origin(annotation)
    if origin is Annotated:
        return _fields(get_args(annotation)[0])
    if annotation is Any or origin is dict:
        return {}
    if origin in (list, tuple, Union, UnionType):
        below = [_fields(part) for part in get_args(annotation) if part is not NoneType and part is not Ellipsis]
        known = [fields for fields in below if fields is not None]
        if not known:
            return None
        return {name: kind for fields in known for name, kind in fields.items()}
    return None


def unknown_field(path: str, known: Sequence[str]) -> InvalidInput:
    """Return the error for a field that does not exist."""
    near = get_close_matches(path, known, n=1)
    return InvalidInput(
        f"--fields names an unknown field: {path}." + (f" Did you mean {near[0]}?" if near else ""),
        invalid_input=f"fields={path}",
        recovery_hint=f"Fields are: {', '.join(known)}. Dots go deeper, e.g. journal_info.title.",
        details={"reason": "unknown_field", "fields": list(known)},
    )


def project(value: Any, paths: Sequence[str]) -> Any:
    """Keep only the paths of a document, in the order they are given; lists are projected item by item."""
    if isinstance(value, list):
        return [project(item, paths) for item in value]
    if not isinstance(value, Mapping):
        return value
    deeper: dict[str, list[str]] = {}
    whole: set[str] = set()
    for path in paths:
        head, _, rest = path.partition(".")
        deeper.setdefault(head, [])
        if rest:
            deeper[head].append(rest)
        else:
            whole.add(head)
    return {
        head: value[head] if head in whole else project(value[head], rests)
        for head, rests in deeper.items()
        if head in value
    }


def values_at(value: Any, path: str) -> Any:
    """Return what a dotted path leads to; through a list it leads to a list."""
    for index, name in enumerate(parts := path.split(".")):
        if isinstance(value, list):
            found = [values_at(item, ".".join(parts[index:])) for item in value]
            return [item for item in found if item is not None]
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def cell(value: Any) -> str:
    """Return a value as the text of one cell: one line, lists joined, mappings as their values."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return " ".join(text for item in value.values() if (text := cell(item)))
    if isinstance(value, list | tuple):
        return JOINER.join(text for item in value if (text := cell(item)))
    return plain(" ".join(str(value).split()))


def harmless(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would run as a formula."""
    start = plain(text).lstrip()[:1]  # a spreadsheet passes over blanks, and over what nobody sees
    runs = start in _FORMULA_SIGNS or (start in _NUMBER_SIGNS and len(text) > 1 and not _NUMBER.fullmatch(text))
    return f"'{text}" if start and runs else text


def columns_for(fields: Sequence[str], columns: Mapping[str, Column], shape: Shape) -> dict[str, Column]:
    """Return the columns to print: the default ones, or those the user named, which may also be dotted paths.

    Raises:
        InvalidInput: a field does not exist.
    """
    if not fields:
        return dict(columns)
    chosen: dict[str, Column] = {}
    for path in fields:
        if path in columns:
            chosen[path] = columns[path]
        elif shape.knows(path):
            chosen[path] = lambda record, path=path: values_at(record, path)  # type: ignore[misc]
        else:
            raise unknown_field(path, list(dict.fromkeys([*columns, *shape.names()])))
    return chosen


# Writers: one record at a time, so that memory does not grow with the number of records


class Writer(Protocol):
    """Turns records into one format."""

    def begin(self) -> None:
        """Write what stands before the records."""

    def record(self, record: Record) -> None:
        """Write one record."""

    def end(self) -> None:
        """Write what stands after the records."""


class JsonLines:
    """One record per line; handed over at once, for whoever reads along."""

    def __init__(self, sink: Sink, fields: Sequence[str], shape: Shape) -> None:
        for path in fields:
            if not shape.knows(path):
                raise unknown_field(path, shape.names())
        self._sink = sink
        self._fields = fields

    def begin(self) -> None:
        """Write nothing: there is no header."""

    def record(self, record: Record) -> None:
        """Write a record on a line of its own."""
        # A record that is known by its identifier alone keeps it: {} would tell nothing.
        self.line(project(record, self._fields) if self._fields and len(record) > 1 else record)

    def line(self, document: Any) -> None:
        """Write a document on a line of its own, whole."""
        self._sink.data(json_text(document, indent=None) + "\n")
        self._sink.flush()

    def end(self) -> None:
        """Write nothing: every line was handed over."""


class Rows:
    """A header and one row per record, comma- or tab-separated, quoted where needed."""

    def __init__(self, sink: Sink, columns: Mapping[str, Column], delimiter: str) -> None:
        self._sink = sink
        self._columns = columns
        self._delimiter = delimiter

    def begin(self) -> None:
        """Write the header, which is there even when no record follows."""
        self._row(list(self._columns))

    def record(self, record: Record) -> None:
        """Write a record as a row."""
        self._row([harmless(cell(column(record))) for column in self._columns.values()])

    def _row(self, cells: list[str]) -> None:
        line = io.StringIO()
        csv.writer(line, delimiter=self._delimiter, lineterminator="\n").writerow(cells)
        self._sink.data(line.getvalue())

    def end(self) -> None:
        """Hand over the last rows."""
        self._sink.flush()


class Ids:
    """One identifier per line."""

    def __init__(self, sink: Sink, key: str = "pmid") -> None:
        self._sink = sink
        self._key = key

    def begin(self) -> None:
        """Write nothing: there is no header."""

    def record(self, record: Record) -> None:
        """Write the record's identifier."""
        self._sink.data(f"{record[self._key]}\n")

    def end(self) -> None:
        """Hand over the last lines."""
        self._sink.flush()


class Pages:
    """Markdown, one page or item per record."""

    def __init__(self, sink: Sink, page: Callable[[Record], str], between: str = PAGE_BREAK) -> None:
        self._sink = sink
        self._page = page
        self._between = between
        self._first = True

    def begin(self) -> None:
        """Write nothing: there is no header."""

    def record(self, record: Record) -> None:
        """Write a record's page."""
        if not self._first:
            self._sink.data(self._between)
        self._first = False
        self._sink.data(self._page(record))

    def end(self) -> None:
        """Hand over the last page."""
        self._sink.flush()

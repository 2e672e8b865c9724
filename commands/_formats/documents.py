"""Documents: the whole result as JSON, or one line of JSON for each record."""

import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from entrez_kit.base.invisible import escape_json, escape_json_bytes

from . import Failed, Job, Sink, Writer
from .fields import Attributes, DocumentPaths, Record, convert_to_data, project, unknown_field


def format_json(document: Any, *, indent: int | None = 2) -> str:
    """Return a document (models, mappings, lists) as JSON. Letters of other scripts are not escaped."""
    return encode_json(document, indent=indent).decode("utf-8")


def encode_json(document: Any, *, indent: int | None = 2) -> bytes:
    """Return a document as JSON in UTF-8."""
    try:
        return escape_json_bytes(to_json(document, indent=indent, fallback=_unwrap_model))
    except PydanticSerializationError:  # a lone surrogate, from an argument that is not valid Unicode
        import json

        return escape_json(json.dumps(convert_to_data(document), indent=indent)).encode("utf-8")


def _unwrap_model(value: Any) -> Any:
    if isinstance(value, Attributes):
        return value.model
    raise TypeError(f"{type(value).__name__} has no JSON form")


class PackedTexts:
    """The compressed texts of many records. They need a tenth of the memory of models."""

    def __init__(self) -> None:
        self._packer = zlib.compressobj(1)
        self._packed: list[bytes] = []

    def __len__(self) -> int:
        return len(self._packed)

    def add(self, text: bytes) -> None:
        """Append a text."""
        self._packed.append(self._packer.compress(text))

    def __iter__(self) -> Iterator[bytes]:
        unpacker = zlib.decompressobj()
        for piece in (*self._packed, self._packer.flush()):
            yield unpacker.decompress(piece)


class DocumentWriter(Writer[Any]):
    """Writes the whole document, or the fields of the document or of its records that ``--fields`` names.

    Without ``--fields``, it takes each record when it arrives and stores its text, because the rest of the document is
    known only after the last record.

    Args:
        sink: the destination.
        fields: the paths that ``--fields`` names.
        records_key: the field that holds the records.
        records: the paths of a record.
        document: the paths of the document.

    Raises:
        InvalidInput: a field does not exist.
    """

    whole = True
    empty_list: ClassVar[str]
    """The line of a top-level field that is an empty list."""
    list_begin: ClassVar[str]
    list_end: ClassVar[str] = ""
    between_items: ClassVar[bytes] = b""

    def __init__(
        self, sink: Sink, fields: Sequence[str], records_key: str, records: DocumentPaths, document: DocumentPaths
    ) -> None:
        super().__init__(sink, lambda result: (result,))
        self._key = records_key
        self._taken = PackedTexts()
        self._paths = []
        for path in fields:
            if records_key and records.knows(path):
                self._paths.append(f"{records_key}.{path}")
            elif document.knows(path):
                self._paths.append(path)
            else:
                known = [*(records.list_names() if records_key else ()), *document.list_names()]
                nested = (records.find_nested() if records_key else None) or document.find_nested()
                raise unknown_field(path, list(dict.fromkeys(known)), nested)
        self.take_record = None if fields else self._store_record

    @abstractmethod
    def render(self, document: Any) -> str:
        """Return a document as text."""

    @abstractmethod
    def render_item(self, record: Any) -> bytes:
        """Return a record as an item of the list of records."""

    def _store_record(self, record: Any) -> None:
        """Store the text of a record."""
        self._taken.add((self.between_items if self._taken else b"") + self.render_item(record))

    def put(self, piece: Any) -> None:
        """Write the document."""
        if self._paths:
            piece = convert_to_data(piece)
            # NCBI's warnings come first and are always included, because --fields must not hide a warning.
            named = ("query_broadened", "strict_total", "warnings") if isinstance(piece, dict) else ()
            present = [name for name in named if piece.get(name) not in (None, []) and name not in self._paths]
            piece = project(piece, [*present, *self._paths])
        elif self._key and isinstance(piece, BaseModel):
            inside = getattr(piece, self._key, None)
            if isinstance(inside, list) and (inside or self._taken) and self._put_by_record(piece, inside):
                return
        self.sink.write_data(self.render(piece) + "\n")

    def _put_by_record(self, document: BaseModel, inside: list[Any]) -> bool:
        """Write the document record by record, because one text of a large document needs several times its memory.

        Return False if the document without records has no empty list of records; its place is then unknown.
        """
        empty = "\n" + self.render(document.model_copy(update={self._key: []}))
        head, place, tail = empty.partition(self.empty_list.format(self._key))
        if not place:
            return False
        self.sink.write_data((head + self.list_begin.format(self._key)).removeprefix("\n"))
        between = self.between_items
        written = ((b"" if number == 0 else between) + self.render_item(record) for number, record in enumerate(inside))
        for piece in self._taken or written:
            self.sink.write_data(piece)
        self.sink.write_data(self.list_end + tail + "\n")
        return True


class JsonWriter(DocumentWriter):
    """Writes a document as JSON."""

    empty_list, list_begin, list_end, between_items = '\n  "{}": []', '\n  "{}": [', "\n  ]", b","

    def render(self, document: Any) -> str:
        """Return a document as JSON."""
        return format_json(document)

    def render_item(self, record: Any) -> bytes:
        """Return a record as an item of the list of records."""
        return b"\n    " + encode_json(record).replace(b"\n", b"\n    ")


def create_json_writer(job: Job) -> JsonWriter:
    """Return the writer of JSON."""
    return JsonWriter(job.sink, job.plan.fields, job.records_key, job.record, job.document)


class Lines(Writer[Record]):
    """Writes one record per line."""

    def __init__(
        self, sink: Sink, records: Callable[[Any], Iterable[Record]], fields: Sequence[str], shape: DocumentPaths
    ) -> None:
        super().__init__(sink, records)
        for path in fields:
            if not shape.knows(path):
                raise unknown_field(path, shape.list_names(), shape.find_nested())
        self._fields = fields

    def put(self, piece: Record) -> None:
        """Write a record. ``--fields`` does not apply to a failed input or to a record with only an identifier."""
        if self._fields and len(piece) > 1 and not isinstance(piece, Failed):
            piece = project(piece, self._fields)
        self.sink.write_data(encode_json(piece, indent=None) + b"\n")


def create_lines_writer(job: Job) -> Lines:
    """Return the writer of one line of JSON for each record."""
    return Lines(job.sink, job.view.records, job.plan.fields, job.record)

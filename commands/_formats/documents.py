"""JSON: the whole document, or a line for each record."""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from entrez_kit.base.invisible import escape_json, escape_json_bytes

from .._output import Sink
from .fields import Attributes, DocumentPaths, Record, as_data, project, unknown_field
from .writer import Failed, Writer


def json_text(document: Any, *, indent: int | None = 2) -> str:
    """Return a document (models, mappings, lists) as JSON, other scripts than Latin kept readable."""
    return json_bytes(document, indent=indent).decode("utf-8")


def json_bytes(document: Any, *, indent: int | None = 2) -> bytes:
    """Return a document as JSON in UTF-8."""
    try:
        return escape_json_bytes(to_json(document, indent=indent, fallback=_model))
    except PydanticSerializationError:  # a lone surrogate, from an argument that is no valid text
        import json

        return escape_json(json.dumps(as_data(document), indent=indent)).encode("utf-8")


def _model(value: Any) -> Any:
    if isinstance(value, Attributes):
        return value.model
    raise TypeError(f"{type(value).__name__} is nothing that JSON has")


def record_text(record: Any) -> bytes:
    """Return a record as it stands in the list of its document."""
    return b"\n    " + json_bytes(record).replace(b"\n", b"\n    ")


class RecordTexts:
    """The texts of many records, packed, until the rest of their document is known: a tenth of the room of models."""

    def __init__(self) -> None:
        self._packer = zlib.compressobj(1)
        self._packed: list[bytes] = []

    def add(self, record: Any) -> None:
        """Take the next record."""
        self._packed.append(self._packer.compress((b"," if self._packed else b"") + record_text(record)))

    def __iter__(self) -> Iterator[bytes]:
        unpacker = zlib.decompressobj()
        for piece in (*self._packed, self._packer.flush()):
            yield unpacker.decompress(piece)


class JsonWriter(Writer[Any]):
    """The whole document, or what ``--fields`` names of it, in the document or in its records.

    Args:
        sink: where it goes.
        fields: what ``--fields`` names.
        records_key: where the records stand.
        records: which fields a record has.
        document: which fields the document has.
        texts: the records, where their texts were made as they came.
    """

    whole = True

    def __init__(
        self,
        sink: Sink,
        fields: Sequence[str],
        records_key: str,
        records: DocumentPaths,
        document: DocumentPaths,
        texts: RecordTexts | None = None,
    ) -> None:
        super().__init__(sink, lambda result: (result,))
        self._key = records_key
        self._texts = texts
        self._paths = []
        for path in fields:
            if records_key and records.knows(path):
                self._paths.append(f"{records_key}.{path}")
            elif document.knows(path):
                self._paths.append(path)
            else:
                raise unknown_field(path, list(dict.fromkeys([*records.names(), *document.names()])))

    def put(self, piece: Any) -> None:
        """Write the document."""
        if self._paths:
            piece = as_data(piece)
            # What NCBI complained about stays and stands first: fewer fields must not mean fewer warnings.
            told = ("query_broadened", "strict_total", "warnings") if isinstance(piece, dict) else ()
            kept = [name for name in told if piece.get(name) not in (None, [])]
            piece = project(piece, [*(name for name in kept if name not in self._paths), *self._paths])
        inside: Any = getattr(piece, self._key, None) if self._key and isinstance(piece, BaseModel) else None
        head = place = tail = ""
        if inside and isinstance(inside, list):
            # Record by record: as one text a large document takes several times its size.
            empty = json_text(piece.model_copy(update={self._key: []}))
            head, place, tail = empty.partition(f'\n  "{self._key}": []')
        if not place:
            self.sink.data(json_text(piece) + "\n")
            return
        self.sink.data(head + place.removesuffix("]"))
        for piece in self._texts or ((b"," if number else b"") + record_text(one) for number, one in enumerate(inside)):
            self.sink.data(piece)
        self.sink.data("\n  ]" + tail + "\n")


class Lines(Writer[Record]):
    """One record per line."""

    def __init__(
        self, sink: Sink, records: Callable[[Any], Iterable[Record]], fields: Sequence[str], shape: DocumentPaths
    ) -> None:
        super().__init__(sink, records)
        for path in fields:
            if not shape.knows(path):
                raise unknown_field(path, shape.names())
        self._fields = fields

    def put(self, piece: Record) -> None:
        """Write a record on a line of its own; what failed, and a record known by its identifier alone, stay whole."""
        if self._fields and len(piece) > 1 and not isinstance(piece, Failed):
            piece = project(piece, self._fields)
        self.sink.data(json_bytes(piece, indent=None) + b"\n")

"""What `corpus export` writes that no other command does: Parquet."""

import io
from typing import TYPE_CHECKING, Any

from entrez_kit.errors import InvalidInput

from ._formats.writer import Writer
from ._output import Sink

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Parquet(Writer[dict[str, Any]]):
    """Rows in a file of columns.

    Raises:
        InvalidInput: it is no text for a terminal.
        NotConfigured: the package for Parquet is not installed; found out before anything is read.
    """

    def __init__(self, sink: Sink) -> None:
        from entrez_kit.corpus.parquet import ParquetFile

        if sink.isatty():
            raise InvalidInput(
                "Parquet is no text for a terminal.",
                invalid_input="format=parquet",
                recovery_hint="Name a file: -o corpus.parquet",
                details={"reason": "bad_usage"},
            )
        super().__init__(sink, lambda row: (row,))
        self._file = ParquetFile(_SinkStream(sink))

    def begin(self) -> None:
        """Write the head."""
        self._file.begin()

    def put(self, piece: dict[str, Any]) -> None:
        """Write a row."""
        self._file.write(piece)

    def end(self) -> None:
        """Write what is left."""
        self._file.end()
        super().end()


class _SinkStream(io.RawIOBase):
    """The sink as a binary stream that only goes forward."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._place = 0

    def writable(self) -> bool:
        """Say that it can be written."""
        return True

    def write(self, content: "ReadableBuffer") -> int:
        """Write bytes."""
        written = bytes(content)
        self._sink.data(written)
        self._place += len(written)
        return len(written)

    def tell(self) -> int:
        """Return how much was written."""
        return self._place

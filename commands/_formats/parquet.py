"""Parquet files."""

import io
from typing import TYPE_CHECKING, Any, Final

from entrez_kit.base.extras import require
from entrez_kit.corpus.store.reading import COLUMNS, LISTS, NUMBERS

from .._state import usage_error
from . import Job, Sink, Writer

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


PAGE: Final = 2_000
"""The number of records in memory, and in a row group."""


class Parquet(Writer[dict[str, Any]]):
    """Writes rows to a Parquet file, in constant memory.

    Raises:
        InvalidInput: standard output is a terminal.
        NotConfigured: the package for Parquet is not installed. This is checked before any record is read.
    """

    def __init__(self, sink: Sink) -> None:
        if sink.isatty():
            raise usage_error(
                "Parquet cannot be printed to a terminal.", "format=parquet", "Name a file: -o corpus.parquet"
            )
        require("parquet", "The format parquet")
        super().__init__(sink, lambda row: (row,))
        self._stream = _SinkStream(sink)
        self._file: Any = None
        self._page: list[dict[str, Any]] = []

    def begin(self) -> None:
        """Open the file and write its header."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        kinds = {
            **dict.fromkeys(LISTS, pa.list_(pa.string())),
            **dict.fromkeys(NUMBERS, pa.int32()),
            "pmid": pa.int64(),
        }
        schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
        self._file = pq.ParquetWriter(pa.PythonFile(self._stream, mode="w"), schema)

    def put(self, piece: dict[str, Any]) -> None:
        """Write a row."""
        self._page.append(piece)
        if len(self._page) == PAGE:
            self._write_page()

    def end(self) -> None:
        """Write the remaining rows and the footer."""
        if self._page:
            self._write_page()
        self._file.close()
        super().end()

    def _write_page(self) -> None:
        import pyarrow as pa

        self._file.write_batch(pa.RecordBatch.from_pylist(self._page, schema=self._file.schema))
        self._page = []


def create_parquet_writer(job: Job) -> Parquet:
    """Return the writer of Parquet."""
    return Parquet(job.sink)


class _SinkStream(io.RawIOBase):
    """The sink as a binary stream that cannot seek."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._place = 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, content: "ReadableBuffer") -> int:
        """Write bytes."""
        written = bytes(content)
        self._sink.write_data(written)
        self._place += len(written)
        return len(written)

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self._place

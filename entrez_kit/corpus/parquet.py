"""The records of the corpus as one Parquet file, a column for each thing a table would have."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from entrez_kit.extras import require

if TYPE_CHECKING:
    import sqlite3
    from io import RawIOBase

PAGE: Final = 2_000
"""Records held at a time, and the size of a row group."""

TEXTS: Final = ("title", "abstract", "journal", "pdat", "edat", "lr", "doi", "pmcid", "retraction_status")
LISTS: Final = ("authors", "pub_types", "mesh", "keywords")
NUMBERS: Final = ("year", "version")
TIMES: Final = ("first_seen_at", "last_seen_at")
COLUMNS: Final = ("pmid", *TEXTS, *LISTS, *NUMBERS, *TIMES)


class ParquetFile:
    """A file that rows are written into, in constant memory.

    Args:
        stream: takes the bytes; it need not be able to go back.

    Raises:
        NotConfigured: the extra parquet is not installed.
    """

    def __init__(self, stream: "BinaryIO | RawIOBase") -> None:
        require("parquet", "The format parquet")
        import pyarrow as pa

        self._schema = pa.schema(
            [
                ("pmid", pa.int64()),
                *((name, pa.string()) for name in TEXTS),
                *((name, pa.list_(pa.string())) for name in LISTS),
                *((name, pa.int32()) for name in NUMBERS),
                *((name, pa.string()) for name in TIMES),
            ]
        )
        self._stream = pa.PythonFile(stream, mode="w")
        self._file: Any = None
        self._page: list[dict[str, Any]] = []

    def begin(self) -> None:
        """Write the head."""
        import pyarrow.parquet as pq

        self._file = pq.ParquetWriter(self._stream, self._schema)

    def write(self, row: dict[str, Any]) -> None:
        """Take a row, as ``rows`` gives it."""
        self._page.append(row)
        if len(self._page) == PAGE:
            self._write_page()

    def end(self) -> None:
        """Write what is left, and the foot."""
        if self._page:
            self._write_page()
        self._file.close()

    def _write_page(self) -> None:
        import pyarrow as pa

        self._file.write_batch(pa.RecordBatch.from_pylist(self._page, schema=self._schema))
        self._page = []


def rows(connection: "sqlite3.Connection", query_key: str | None) -> Iterator[dict[str, Any]]:
    """Yield the records of the corpus, or of one query, by PMID."""
    source = "documents" if query_key is None else "membership JOIN documents USING (pmid)"
    chosen = "" if query_key is None else "query_key = :key AND"
    found = connection.execute(
        f"SELECT {', '.join(COLUMNS)} FROM {source} WHERE {chosen} status = 'current' ORDER BY pmid",
        {"key": query_key},
    )
    for row in found:
        yield {name: json.loads(row[name]) if name in LISTS else row[name] for name in COLUMNS}

"""The records of the corpus as one Parquet file, a column for each thing a table would have."""

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from entrez_kit.extras import require

if TYPE_CHECKING:
    import sqlite3
    from io import RawIOBase

    from entrez_kit.corpus.store.store import Store

PAGE: Final = 2_000
"""Records held at a time, and the size of a row group."""

TEXTS: Final = ("title", "abstract", "journal", "pdat", "edat", "lr", "doi", "pmcid", "retraction_status")
LISTS: Final = ("authors", "pub_types", "mesh", "keywords")
NUMBERS: Final = ("year", "version")
TIMES: Final = ("first_seen_at", "last_seen_at")
COLUMNS: Final = ("pmid", *TEXTS, *LISTS, *NUMBERS, *TIMES)


def write_parquet(
    store: "Store",
    query_key: str | None,
    stream: "BinaryIO | RawIOBase",
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write the records of the corpus, or of one query, and return how many; in constant memory.

    Args:
        store: the corpus.
        query_key: which query, or None for the whole corpus.
        stream: takes the bytes; it need not be able to go back.
        progress: called with the number of records written so far.

    Raises:
        NotConfigured: the extra parquet is not installed.
        EntityNotFound: there is no such query.
        StoreError: the corpus cannot be read.
    """
    require("parquet", "The format parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq

    store.known_key(query_key)
    schema = pa.schema(
        [
            ("pmid", pa.int64()),
            *((name, pa.string()) for name in TEXTS),
            *((name, pa.list_(pa.string())) for name in LISTS),
            *((name, pa.int32()) for name in NUMBERS),
            *((name, pa.string()) for name in TIMES),
        ]
    )
    done = 0
    with store.reading() as connection, pq.ParquetWriter(pa.PythonFile(stream, mode="w"), schema) as writer:
        for page in _pages(connection, query_key):
            writer.write_batch(pa.RecordBatch.from_pylist(page, schema=schema))
            done += len(page)
            if progress is not None:
                progress(done)
    return done


def _pages(connection: "sqlite3.Connection", query_key: str | None) -> Iterator[list[dict[str, Any]]]:
    source = "documents" if query_key is None else "membership JOIN documents USING (pmid)"
    chosen = "" if query_key is None else "query_key = :key AND"
    rows = connection.execute(
        f"SELECT {', '.join(COLUMNS)} FROM {source} WHERE {chosen} status = 'current' ORDER BY pmid",
        {"key": query_key},
    )
    while page := rows.fetchmany(PAGE):
        yield [{name: json.loads(row[name]) if name in LISTS else row[name] for name in COLUMNS} for row in page]

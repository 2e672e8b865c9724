"""The word index of the corpus and its updates.

The index is the one of copies (``entrez_kit.query.segments``), over the stems of each record: immutable files
``corpus.db.words-*`` next to the corpus. A record has a number, which grows with each version of it. A transaction that
writes a record also adds its PMID to a queue. ``catch_up`` indexes the queued records, some thousands at a time: it
writes a file, marks the old versions as removed, and merges neighbouring files of similar size. A search also indexes
the queued records, into a temporary file, so its result always matches the stored records.

Tables: ``lexical_queue`` (records to index or remove), ``lexical_segments`` (the files) and ``lexical_members`` (the
numbers of the records that a query has found; those of removed records have the key ``REMOVED``). A file is complete
before a transaction lists it. If a listed file is missing, the index is rebuilt from the records.
"""

import json
import re
import secrets
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from entrez_kit.base.errors import StoreError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.corpus.search.terms import IndexRow, find_stems, normalize_words
from entrez_kit.corpus.store.database import DamagedIndex
from entrez_kit.query.record_terms import RecordTerms, SortKeys
from entrez_kit.query.segments.merge import merge_segments
from entrez_kit.query.segments.search_index import SearchIndex
from entrez_kit.query.segments.segment import Segment
from entrez_kit.query.segments.writer import SegmentWriter

AT_ONCE: Final = 16_384
"""Records indexed by one pass."""
MERGED: Final = 4
"""The number of neighbouring files of similar size that are merged into one."""
FEW: Final = 500
"""The number of queued records that a search can index for itself in some hundredths of a second."""
REMOVED: Final = ""
"""The key of the removed records; the key of a query is never blank."""
LISTED: Final = "IN (SELECT value FROM json_each(?))"
_NAME: Final = re.compile(r"[0-9a-f]{16}")
_DAMAGED: Final = ("damaged_index", "unreadable_index")

# Reading -------------------------------------------------------------------------------------------------------------

_opened: dict[Path, tuple[tuple[object, ...], SearchIndex]] = {}
"""The last index of each corpus, which keeps the postings of frequent words."""


@contextmanager
def open_index(connection: sqlite3.Connection) -> Iterator[SearchIndex]:
    """Open the index for a search; it includes queued records.

    Raises:
        sqlite3.DatabaseError: the index is damaged.
    """
    try:
        segments = _open_segments(connection)
        queued = [
            row[0] for row in open_tuple_cursor(connection).execute(_QUEUED if segments is not None else _CURRENT)
        ]
        removed = BitMap() if segments is None else read_set(connection, REMOVED)
        if not queued:
            yield _open_written(connection, segments or [], removed)
            return
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            removed |= _find_numbers(segments or [], queued)
            added = _write_segment(connection, Path(folder) / "queued", queued)
            yield SearchIndex([*(segments or []), *added], removed)
    except StoreError as exc:
        if exc.reason not in _DAMAGED:
            raise
        raise DamagedIndex(f"malformed full-text index: {exc.message}") from None
    except (ValueError, LookupError) as exc:
        raise DamagedIndex(f"malformed full-text index: {exc}") from None


_QUEUED: Final = "SELECT pmid FROM lexical_queue ORDER BY pmid"
_CURRENT: Final = "SELECT pmid FROM documents WHERE status = 'current' ORDER BY pmid"


def _open_written(connection: sqlite3.Connection, segments: Sequence[Segment], removed: BitMap) -> SearchIndex:
    """Return the index without queued records; the last one if it has not changed."""
    corpus_file = find_corpus_file(connection)
    key = (tuple(segment.path for segment in segments), removed.serialize())
    if corpus_file is None or not segments:
        return SearchIndex(segments, removed)
    opened = _opened.get(corpus_file)
    if opened is None or opened[0] != key:
        opened = _opened[corpus_file] = (key, SearchIndex(segments, removed))
    return opened[1]


def _open_segments(connection: sqlite3.Connection) -> list[Segment] | None:
    """Open the files of the index in order; return None if one is missing."""
    corpus_file, segments = find_corpus_file(connection), list[Segment]()
    known = _opened.get(corpus_file) if corpus_file is not None else None
    opened = {segment.path: segment for segment in known[1].segments} if known is not None else {}
    for first, count, name in open_tuple_cursor(connection).execute(
        "SELECT first, records, name FROM lexical_segments ORDER BY 1"
    ):
        if corpus_file is None or not _NAME.fullmatch(name) or first != sum(segment.records for segment in segments):
            raise ValueError("the list of its files is damaged")
        path = _find_path(corpus_file, name)
        if not path.exists():
            return None
        segment = opened.get(path) or Segment(path)
        if segment.records != count:
            raise ValueError(f"{path.name} has {format_count(segment.records, 'record')} instead of {count}")
        segments.append(segment)
    return segments


def find_corpus_file(connection: sqlite3.Connection) -> Path | None:
    """Return the path of the corpus file; None for a corpus in memory."""
    name = connection.execute("PRAGMA database_list").fetchone()[2]
    return Path(name) if name else None


def _find_path(corpus_file: Path, name: str) -> Path:
    return corpus_file.with_name(f"{corpus_file.name}.words-{name}")


def read_set(connection: sqlite3.Connection, key: str) -> BitMap:
    """Return the numbers of the records that a query has found, or of removed ones."""
    row = connection.execute("SELECT records FROM lexical_members WHERE query_key = ?", (key,)).fetchone()
    return BitMap() if row is None else BitMap.deserialize(row[0])


def find_members(connection: sqlite3.Connection, index: SearchIndex, query_key: str) -> BitMap:
    """Return the numbers of the records that a query has found, in an index with queued records."""
    numbers = read_set(connection, query_key)
    queued = _read_column(connection, f"{_MEMBERS_QUEUED} ORDER BY pmid", query_key)
    if queued:
        numbers |= _find_numbers(index.segments, queued)
    return numbers & index.list_records()


_MEMBERS_QUEUED: Final = "SELECT pmid FROM lexical_queue CROSS JOIN membership USING (pmid) WHERE query_key = ?"


def read_member_pmids(connection: sqlite3.Connection, query_key: str) -> NDArray[np.uint32]:
    """Return the current records that a query has found."""
    with open_index(connection) as index:
        return np.array(index.read_pmids(find_members(connection, index, query_key).to_array()), dtype=np.uint32)


def count_records(connection: sqlite3.Connection) -> int:
    """Count the current records."""
    count: int = connection.execute("SELECT count(*) FROM documents WHERE status = 'current'").fetchone()[0]
    return count


def count_queued(connection: sqlite3.Connection) -> int:
    """Count the records waiting to be indexed or removed: all of them if the index is incomplete."""
    with suppress(ValueError, StoreError):
        if _open_segments(connection) is None:
            return max(1, count_records(connection))
    count: int = connection.execute("SELECT count(*) FROM lexical_queue").fetchone()[0]
    return count


def read_index_rows(connection: sqlite3.Connection, pmids: Sequence[int]) -> Iterator[IndexRow]:
    """Yield the fields to index of the current records among ``pmids``, by PMID."""
    rows = open_tuple_cursor(connection).execute(
        f"SELECT pmid, title, abstract, mesh, keywords FROM documents WHERE pmid {LISTED} AND status = 'current' "
        "ORDER BY pmid",
        (json.dumps(pmids),),
    )
    for pmid, title, abstract, mesh, keywords in rows:
        yield IndexRow(pmid, title, abstract or "", "; ".join((*json.loads(mesh), *json.loads(keywords))))


def read_terms(row: IndexRow) -> RecordTerms:
    """Return the stems of a record; its new words are stemmed in one call, which is a transaction of SQLite."""
    texts = {"title": [row.title], "abstract": [row.abstract], "terms": row.terms.split("; ")}
    split = {source: [normalize_words(text) for text in parts if text] for source, parts in texts.items()}
    stem = find_stems(chain.from_iterable(chain.from_iterable(split.values()))).__getitem__
    return RecordTerms(
        {source: [list(map(stem, words)) for words in parts if words] for source, parts in split.items()}
    )


def _read_column(connection: sqlite3.Connection, statement: str, *values: object) -> list[int]:
    return [row[0] for row in connection.execute(statement, values)]


def open_tuple_cursor(connection: sqlite3.Connection) -> sqlite3.Cursor:
    """Return a cursor whose rows are tuples."""
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor


# Updates -------------------------------------------------------------------------------------------------------------


def catch_up(connection: sqlite3.Connection) -> int:
    """Index at most ``AT_ONCE`` queued records; return their number. Call it until it returns 0."""
    corpus_file = find_corpus_file(connection)
    if corpus_file is None:
        return 0
    segments = _open_segments(connection)
    if segments is None:
        segments = []
        reset(connection)
    pmids = _read_column(connection, f"{_QUEUED} LIMIT ?", AT_ONCE)
    if not pmids:
        return 0
    _delete_unlisted(connection, corpus_file)
    removed = read_set(connection, REMOVED) | _find_numbers(segments, pmids)
    _write_set(connection, REMOVED, removed)
    first = sum(segment.records for segment in segments)
    name = secrets.token_hex(8)
    for added in _write_segment(connection, _find_path(corpus_file, name), pmids):
        connection.execute("INSERT INTO lexical_segments VALUES (?, ?, ?)", (first, added.records, name))
        segments.append(added)
        _add_found(connection, added, first)
    connection.execute("DELETE FROM lexical_queue WHERE pmid <= ?", (pmids[-1],))
    total = sum(segment.records for segment in segments)
    if 2 * len(removed) > total:
        reset(connection)  # numbers of removed records take room, too
    else:
        _merge_segments(connection, corpus_file, segments, removed)
    return len(pmids)


def add_members(connection: sqlite3.Connection, query_key: str, pmids: Sequence[int]) -> None:
    """Record that a query has found records; records not indexed yet are skipped."""
    numbers = _find_numbers(_open_segments(connection) or [], pmids) - read_set(connection, REMOVED)
    if numbers:
        _write_set(connection, query_key, read_set(connection, query_key) | numbers)


def reset(connection: sqlite3.Connection) -> None:
    """Empty the index, and queue every record."""
    for table in ("lexical_segments", "lexical_members", "lexical_queue"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute("INSERT INTO lexical_queue SELECT pmid FROM documents WHERE status = 'current'")


def _find_numbers(segments: Iterable[Segment], pmids: Sequence[int]) -> BitMap:
    """Return the numbers of all versions of records in the index."""
    numbers, first, pmid_array = BitMap(), 0, np.array(pmids, np.int64)
    for segment in segments:
        numbers |= BitMap((np.flatnonzero(np.isin(segment.pmids, pmid_array)) + first).tolist())
        first += segment.records
    return numbers


def _write_set(connection: sqlite3.Connection, key: str, numbers: BitMap) -> None:
    connection.execute("INSERT OR REPLACE INTO lexical_members VALUES (?, ?)", (key, numbers.serialize()))


def _write_segment(connection: sqlite3.Connection, path: Path, pmids: Sequence[int]) -> list[Segment]:
    """Write the current records among ``pmids`` to a file; return no file if there are none."""
    with SegmentWriter(path) as writer:
        count = 0
        for row in read_index_rows(connection, pmids):
            writer.add(read_terms(row), SortKeys(row.pmid))
            count += 1
        return [writer.finish()] if count else []


def _add_found(connection: sqlite3.Connection, segment: Segment, first: int) -> None:
    """Add the records of a new file to the queries that have found them."""
    pmids: list[int] = segment.pmids.tolist()
    number_of = {pmid: first + position for position, pmid in enumerate(pmids)}
    members: defaultdict[str, BitMap] = defaultdict(BitMap)
    for query_key, pmid in connection.execute(
        f"SELECT query_key, pmid FROM membership WHERE pmid {LISTED}", (json.dumps(pmids),)
    ):
        members[query_key].add(number_of[pmid])
    for query_key, numbers in members.items():
        _write_set(connection, query_key, read_set(connection, query_key) | numbers)


def _merge_segments(
    connection: sqlite3.Connection, corpus_file: Path, segments: Sequence[Segment], removed: BitMap
) -> None:
    """Merge the last files if there are several of similar size."""
    sizes = [segment.records for segment in segments]
    for level in sorted({size.bit_length() // 2 for size in sizes}):
        begin = len(sizes)
        while begin and sizes[begin - 1].bit_length() // 2 <= level:
            begin -= 1
        if len(sizes) - begin >= MERGED:
            first, name = sum(sizes[:begin]), secrets.token_hex(8)
            paths = [segment.path for segment in segments[begin:]]
            merge_segments(paths, _find_path(corpus_file, name), (removed - BitMap(range(first))).shift(-first))
            connection.execute("DELETE FROM lexical_segments WHERE first >= ?", (first,))
            connection.execute("INSERT INTO lexical_segments VALUES (?, ?, ?)", (first, sum(sizes[begin:]), name))
            return


def _delete_unlisted(connection: sqlite3.Connection, corpus_file: Path) -> None:
    """Delete files that were replaced before the last update, or that a killed process left.

    Files replaced by the last update stay until now, because a search that began before it may open them.
    """
    used_files = {_find_path(corpus_file, row[0]) for row in connection.execute("SELECT name FROM lexical_segments")}
    for path in corpus_file.parent.glob(f"{corpus_file.name}.words-*"):
        if path not in used_files:
            with suppress(OSError):
                path.unlink()

"""The full-text index of the corpus and its updates.

A transaction that writes a record also adds its PMID to a queue. ``catch_up`` indexes the queued records, some
thousands at a time: it writes a new block and marks the records as deleted in older blocks. Blocks of similar size are
merged to keep their number small; a merge drops deleted records. A search reads queued records from the records table,
so its result always matches the stored records.

Tables: ``lexical_queue`` (records to index or remove), ``lexical_stems`` (stems and their numbers),
``lexical_blocks`` (records of a block and their lengths), ``lexical_postings`` (one row per block and stem, see
``postings``), ``lexical_marks`` (the same by record, for feedback) and ``lexical_members`` (one bit per record of a
block: whether a query has found it).
"""

import heapq
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, groupby
from operator import itemgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from entrez_kit.corpus.search.postings import MOST_RECORDS, Block, Marks, Postings, build, sift
from entrez_kit.corpus.search.terms import IndexRow

AT_ONCE: Final = 8_192
"""Records indexed by one pass."""
MERGED: Final = 4
"""The number of blocks of similar size that are merged into one."""
FEW: Final = 500
"""The number of queued records that a search can read directly in some hundredths of a second."""

# Updates -------------------------------------------------------------------------------------------------------------


def count_queued(connection: sqlite3.Connection) -> int:
    """Count the records waiting to be indexed or removed."""
    found: int = connection.execute("SELECT count(*) FROM lexical_queue").fetchone()[0]
    return found


def catch_up(connection: sqlite3.Connection) -> int:
    """Index at most ``AT_ONCE`` queued records; return their number. Call it until it returns 0."""
    pmids = _column(connection, "SELECT pmid FROM lexical_queue ORDER BY pmid LIMIT ?", AT_ONCE)
    if not pmids:
        return 0
    _strike(connection, pmids)
    block = build(rows_of(connection, pmids))
    if len(block.pmids):
        _write(connection, block)
    connection.execute("DELETE FROM lexical_queue WHERE pmid <= ?", (pmids[-1],))
    _merge_blocks(connection)
    return len(pmids)


def add_members(connection: sqlite3.Connection, query_key: str, pmids: Sequence[int]) -> None:
    """Record that a query has found records; records not indexed yet are skipped."""
    wanted = np.array(pmids, dtype=np.uint32)
    for block, listed in connection.execute("SELECT block, pmids FROM lexical_blocks").fetchall():
        among = np.isin(np.frombuffer(listed, dtype="<u4"), wanted)
        if among.any():
            known = connection.execute(
                "SELECT members FROM lexical_members WHERE query_key = ? AND block = ?", (query_key, block)
            ).fetchone()
            if known is not None:
                among |= bits(known[0], len(among))
            _put_members(connection, query_key, block, among)


def members_among(connection: sqlite3.Connection, query_key: str, pmids: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return a mask of the records that a query has found."""
    found = _column(
        connection,
        f"SELECT pmid FROM membership WHERE query_key = ? AND pmid {LISTED}",
        query_key,
        json.dumps(pmids.tolist()),
    )
    return np.isin(pmids, np.array(found, dtype=np.uint32))


def member_pmids(connection: sqlite3.Connection, query_key: str) -> NDArray[np.uint32]:
    """Return the current records that a query has found."""
    queued = "SELECT pmid FROM lexical_queue CROSS JOIN membership USING (pmid) WHERE query_key = ?"
    parts = [np.array(_column(connection, queued, query_key), dtype=np.uint32)]
    for pmids, members in raw(connection).execute(
        "SELECT pmids, members FROM lexical_blocks JOIN lexical_members USING (block) WHERE query_key = ?", (query_key,)
    ):
        parts.append(np.frombuffer(pmids, "<u4")[bits(members, len(pmids) // 4)])
    return np.concatenate(parts)


def records(connection: sqlite3.Connection) -> int:
    """Count the records that are in blocks."""
    found: int = connection.execute("SELECT coalesce(sum(records), 0) FROM lexical_blocks").fetchone()[0]
    return found


def _column(connection: sqlite3.Connection, statement: str, *values: object) -> list[int]:
    return [row[0] for row in connection.execute(statement, values)]


LISTED: Final = "IN (SELECT value FROM json_each(?))"


def rows_of(connection: sqlite3.Connection, pmids: Sequence[int]) -> Iterator[IndexRow]:
    """Yield the fields to index of the current records among ``pmids``, by PMID."""
    found = raw(connection).execute(
        f"SELECT pmid, title, abstract, mesh, keywords FROM documents WHERE pmid {LISTED} AND status = 'current' "
        "ORDER BY pmid",
        (json.dumps(pmids),),
    )
    for pmid, title, abstract, mesh, keywords in found:
        yield IndexRow(pmid, title, abstract or "", "; ".join((*json.loads(mesh), *json.loads(keywords))))


def bits(packed: bytes, count: int) -> NDArray[np.bool_]:
    return np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=count).view(np.bool_)


def kept_of(struck: bytes | None, count: int) -> NDArray[np.bool_]:
    """Return a mask of the entries of a block that are not deleted."""
    return np.ones(count, dtype=np.bool_) if struck is None else ~bits(struck, count)


def _strike(connection: sqlite3.Connection, pmids: Sequence[int]) -> None:
    """Mark records as deleted in their blocks."""
    wanted = np.array(pmids, dtype=np.uint32)
    for block, struck, listed in connection.execute("SELECT block, struck, pmids FROM lexical_blocks").fetchall():
        kept = kept_of(struck, len(listed) // 4)
        found = kept & np.isin(np.frombuffer(listed, dtype="<u4"), wanted)
        if found.any():
            _count(connection, marks_of(connection, block, np.flatnonzero(found).tolist()), -1)
            kept &= ~found
            connection.execute(
                "UPDATE lexical_blocks SET records = ?, struck = ? WHERE block = ?",
                (int(np.count_nonzero(kept)), np.packbits(~kept).tobytes(), block),
            )


def _next_block(connection: sqlite3.Connection) -> int:
    number: int = connection.execute("SELECT coalesce(max(block), 0) + 1 FROM lexical_blocks").fetchone()[0]
    return number


def _write(connection: sqlite3.Connection, block: Block) -> None:
    """Write a new block with its postings, marks and members."""
    place = _next_block(connection)
    connection.execute(
        "INSERT INTO lexical_blocks VALUES (?, ?, NULL, ?, ?)",
        (place, len(block.pmids), block.lengths.astype("<u2").tobytes(), block.pmids.astype("<u4").tobytes()),
    )
    numbers = _assign_numbers(connection, block.stems)
    names = np.array([numbers[stem] for stem in block.stems], dtype=np.uint32)
    connection.executemany(
        "INSERT INTO lexical_postings VALUES (?, ?, ?)",
        ((place << 32 | number, matches, positions) for number, matches, positions in block.encode(names)),
    )
    marks = block.marks(names)
    connection.executemany(
        "INSERT INTO lexical_marks VALUES (?, ?)",
        ((place << 16 | number, one.encoded) for number, one in enumerate(marks)),
    )
    _count(connection, marks, 1)
    members = defaultdict(list)
    for query_key, pmid in connection.execute(
        f"SELECT query_key, pmid FROM membership WHERE pmid {LISTED}", (json.dumps(block.pmids.tolist()),)
    ):
        members[query_key].append(pmid)
    for query_key, pmids in members.items():
        _put_members(connection, query_key, place, np.isin(block.pmids, np.array(pmids, dtype=np.uint32)))


def _put_members(connection: sqlite3.Connection, query_key: str, block: int, among: NDArray[np.bool_]) -> None:
    packed = np.packbits(among).tobytes()
    connection.execute("INSERT OR REPLACE INTO lexical_members VALUES (?, ?, ?)", (query_key, block, packed))


def marks_of(connection: sqlite3.Connection, block: int, records: Iterable[int]) -> list[Marks]:
    """Return the marks of some records of a block, in the order of their numbers."""
    places = ",".join(str(block << 16 | record) for record in records)
    found = connection.execute(f"SELECT marks FROM lexical_marks WHERE place IN ({places}) ORDER BY place")
    return [Marks.of(row[0]) for row in found]


def _count(connection: sqlite3.Connection, marks: Sequence[Marks], sign: int) -> None:
    """Add or subtract records in the record count of each of their stems."""
    if marks:
        stems, counts = np.unique(np.concatenate([one.numbers for one in marks]), return_counts=True)
        connection.executemany(
            "UPDATE lexical_stems SET records = records + ? WHERE number = ?",
            zip((sign * counts).tolist(), stems.tolist(), strict=True),
        )


def numbers_of(connection: sqlite3.Connection, stems: Iterable[str]) -> dict[str, int]:
    """Return the numbers of stems; unknown stems are omitted."""
    found = connection.execute(
        f"SELECT stem, number FROM lexical_stems WHERE stem {LISTED}", (json.dumps(list(stems)),)
    )
    return {row[0]: row[1] for row in found}


def _assign_numbers(connection: sqlite3.Connection, stems: Sequence[str]) -> dict[str, int]:
    """Return the numbers of stems; assign numbers to new stems."""
    known = numbers_of(connection, stems)
    new = json.dumps(sorted(stem for stem in stems if stem not in known))
    connection.execute("INSERT INTO lexical_stems (stem) SELECT value FROM json_each(?)", (new,))
    return known | numbers_of(connection, json.loads(new))


def _merge_blocks(connection: sqlite3.Connection) -> None:
    """Merge blocks of similar size, and rewrite a block if more than half of it is deleted."""
    while True:
        sizes: dict[int, list[tuple[int, int]]] = defaultdict(list)
        blocks = connection.execute(
            "SELECT block, records, length(lengths) / 2 FROM lexical_blocks ORDER BY 2"
        ).fetchall()
        chosen = [block for block, records, all_records in blocks if records < all_records / 2][:1]
        for block, records, _ in blocks:
            sizes[records.bit_length() // 2].append((block, records))
        for alike in sizes.values():
            if not chosen and len(alike) >= MERGED:
                totals = accumulate(records for _, records in alike)
                fitting = [block for (block, _), total in zip(alike, totals, strict=True) if total <= MOST_RECORDS]
                chosen = fitting if len(fitting) > 1 else []
        if not chosen:
            return
        _merge(connection, chosen)


def _merge(connection: sqlite3.Connection, blocks: Sequence[int]) -> None:
    """Write the records of some blocks that are not deleted into a new block, and drop the old ones."""
    place, offset = _next_block(connection), 0
    lengths: list[bytes] = []
    pmids: list[bytes] = []
    streams = []
    members: dict[str, list[tuple[int, NDArray[np.bool_]]]] = defaultdict(list)
    for block in blocks:
        struck, length, listed = connection.execute(
            "SELECT struck, lengths, pmids FROM lexical_blocks WHERE block = ?", (block,)
        ).fetchone()
        count = len(listed) // 4
        kept = kept_of(struck, count)
        lengths.append(np.frombuffer(length, dtype="<u2")[kept].tobytes())
        pmids.append(np.frombuffer(listed, dtype="<u4")[kept].tobytes())
        gone = [(block << 16 | record,) for record in np.flatnonzero(~kept).tolist()]
        connection.executemany("DELETE FROM lexical_marks WHERE place = ?", gone)
        moved = enumerate((block << 16 | record for record in np.flatnonzero(kept).tolist()), place << 16 | offset)
        connection.executemany("UPDATE lexical_marks SET place = ? WHERE place = ?", moved)
        streams.append(_renumber(connection, block, offset, None if struck is None else kept))
        for query_key, packed in connection.execute(
            "SELECT query_key, members FROM lexical_members WHERE block = ?", (block,)
        ):
            members[query_key].append((offset, bits(packed, count)[kept]))
        offset += int(np.count_nonzero(kept))
    stem = itemgetter(0)
    merge = ((number, list(found)) for number, found in groupby(heapq.merge(*streams, key=stem), key=stem))
    connection.executemany(
        "INSERT INTO lexical_postings VALUES (?, ?, ?)",
        (
            (
                place << 32 | number,
                b"".join(chain(map(itemgetter(1), found), map(itemgetter(2), found))),
                b"".join(map(itemgetter(3), found)),
            )
            for number, found in merge
        ),
    )
    for block in blocks:
        connection.execute(
            "DELETE FROM lexical_postings WHERE place >= ? AND place < ?", (block << 32, (block + 1) << 32)
        )
        connection.execute("DELETE FROM lexical_members WHERE block = ?", (block,))
        connection.execute("DELETE FROM lexical_blocks WHERE block = ?", (block,))
    if offset:
        connection.execute(
            "INSERT INTO lexical_blocks VALUES (?, ?, NULL, ?, ?)", (place, offset, b"".join(lengths), b"".join(pmids))
        )
    for query_key, found in members.items():
        among = np.zeros(offset, dtype=np.bool_)
        for start, part in found:
            among[start : start + len(part)] = part
        if among.any():
            _put_members(connection, query_key, place, among)


def _renumber(
    connection: sqlite3.Connection, block: int, offset: int, kept: NDArray[np.bool_] | None
) -> Iterator[tuple[int, bytes, bytes, bytes]]:
    """Yield the postings of a block by stem, renumbered for a block in which its records begin at ``offset``."""
    shift = np.uint16(offset)
    renumbered = None if kept is None else (np.cumsum(kept) - 1).astype(np.uint16)
    for number, matches, positions in raw(connection).execute(
        "SELECT place & 4294967295, matches, positions FROM lexical_postings WHERE place >= ? AND place < ? "
        "ORDER BY place",
        (block << 32, (block + 1) << 32),
    ):
        half = len(matches) // 2
        docs, counts = matches[:half], matches[half:]
        if kept is not None and renumbered is not None:
            postings = sift(Postings.of(matches, positions), kept)
            if not len(postings.docs):
                continue
            docs, counts = (renumbered[postings.docs] + shift).tobytes(), postings.counts.tobytes()
            positions = postings.positions.tobytes()
        elif offset:
            docs = (np.frombuffer(docs, dtype="<u2") + shift).tobytes()
        yield number, docs, counts, positions


def raw(connection: sqlite3.Connection) -> sqlite3.Cursor:
    """Return a cursor whose rows are tuples."""
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor

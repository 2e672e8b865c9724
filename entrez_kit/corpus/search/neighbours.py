"""A nearest-neighbour graph over the vectors of a large corpus.

From ``MIN_GRAPH_VECTORS`` vectors on, a comparison with each of them is too slow. The graph (HNSW: Y. Malkov and
D. Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable Small World graphs",
IEEE TPAMI 42(4), 2020) finds nearly all of the nearest vectors. The library usearch builds it, if it is installed. The
graph is a file next to the corpus; a search maps it into memory.

The table ``vector_graphs`` has the file name and the last block of the index in the graph. A new file is complete
before the table names it, so an unfinished file is never read. The library can crash on a file that another person
prepared, and the corpus may come from the same person. So a file is read only if a record in the cache folder of this
user has its SHA-256 hash; otherwise a sync builds the graph. Vectors of later blocks are compared individually, and the
results of the graph are compared with the current vectors, so that deleted or changed vectors are not returned. A file
that is missing, damaged or from another library is ignored until it is rebuilt.
"""

import hashlib
import json
import os
import secrets
import sqlite3
import stat
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from entrez_kit.base.errors import StoreError
from entrez_kit.base.private_files import is_foreign, open_private
from entrez_kit.base.progress import report_progress
from entrez_kit.corpus.search import vector_index
from entrez_kit.corpus.search.index import find_corpus_file
from entrez_kit.corpus.search.quantized import Floats
from entrez_kit.corpus.store import corpus_stats
from entrez_kit.corpus.store.database import lock_corpus

if TYPE_CHECKING:
    from entrez_kit.corpus.store.store import Store

MIN_REQUESTED: Final = 240
"""The minimum number of passages requested from the graph; more increase the recall."""
BEHIND: Final = 16
"""A graph is updated if it lacks one passage in this many; until then these are compared individually."""
GONE: Final = 4
"""A graph is rebuilt if one passage in this many was deleted."""
LINKS: Final = 16
LOOKED_AT: Final = 64
"""HNSW parameters: the neighbours of a passage, and the candidates examined to choose them."""


class Graph(NamedTuple):
    """A graph loaded for a search; ``block`` is the last block of the index in it."""

    block: int
    index: Any

    def find_nearest(self, vector: Floats, count: int) -> NDArray[np.int64]:
        """Return the approximately nearest passages to a vector."""
        nearest: NDArray[np.int64] = self.index.search(vector, count).keys.astype(np.int64)
        return nearest


class _GraphRow(NamedTuple):
    """The row of a graph in the table."""

    block: int
    passages: int
    file: str
    made_by: str


_COLUMNS: Final = "block, passages, file, made_by"
"""The columns of a graph in the table, in the order of ``_GraphRow``."""


class _GraphRecord(NamedTuple):
    """The hash and identity of a graph file, recorded when this program wrote it.

    ``identity`` changes if the file is written, copied or moved, and cannot be set by another program.
    """

    sha256: str
    identity: tuple[int, ...]


class _GraphFile(NamedTuple):
    """A graph file of this user: its row, its record, and its identity now."""

    row: _GraphRow
    path: Path
    record: _GraphRecord
    identity: tuple[int, ...]


def open_graph(connection: sqlite3.Connection, model: str, dim: int) -> Graph | None:
    """Return the graph of a model's vectors; None if there is no usable graph."""
    file = _find_file(connection, model, dim)
    index = None if file is None else _map_graph(file, dim)
    return None if file is None or index is None else Graph(file.row.block, index)


def keep_up(store: "Store", model: str) -> None:
    """Build the graph of a model if it has many vectors, or update it if it lacks many of them.

    Searches compare every vector if usearch is not installed, another process builds the graph, or the disk is full.
    """
    with store.reading() as connection:
        dim = vector_index.read_dimensions(connection).get(model)
        if dim is None or find_spec("usearch") is None or not _is_behind(connection, model, dim):
            return
    try:
        with lock_corpus(store.path, "graph", "is being given a graph by another process", "graph_running", ""):
            _renew(store, model, dim)
    except StoreError as exc:
        if exc.reason != "graph_running":
            raise


def _find_file(connection: sqlite3.Connection, model: str, dim: int) -> _GraphFile | None:
    """Return the graph file that the table names; None if it is missing, or if this program did not write it."""
    values = connection.execute(
        f"SELECT {_COLUMNS} FROM vector_graphs WHERE model = ? AND dim = ?", (model, dim)
    ).fetchone()
    corpus_file = find_corpus_file(connection)
    if values is None or corpus_file is None or find_spec("usearch") is None:
        return None
    row = _GraphRow(*values)
    path = corpus_file.parent / row.file
    if path.parent != corpus_file.parent or not path.name.startswith(f"{corpus_file.name}.graph-"):
        return None
    record = _read_record(_record_of(connection, path))
    try:
        status = path.lstat()
    except OSError:
        return None
    if record is None or not stat.S_ISREG(status.st_mode) or is_foreign(status):
        return None
    return _GraphFile(row, path, record, _identify(status))


def _identify(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _record_of(connection: sqlite3.Connection, path: Path) -> Path | None:
    """Return the path of the record of a graph file."""
    folder: Path | None = getattr(connection, "graph_records", None)
    return None if folder is None else folder / f"{path.name}.json"


def _read_record(path: Path | None) -> _GraphRecord | None:
    """Return the record of a graph file; None if it is missing, invalid, or another user can write it."""
    if path is None:
        return None
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or is_foreign(status, root=False) or status.st_mode & 0o022:
            return None
        document = json.loads(path.read_text(encoding="utf-8"))
        return _GraphRecord(str(document["sha256"]), tuple(document["identity"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _write_record(path: Path, record: _GraphRecord) -> None:
    with os.fdopen(open_private(path, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as file:
        json.dump(record._asdict(), file)


def _find_intact(connection: sqlite3.Connection, model: str, dim: int) -> _GraphRow | None:
    """Return the row of a usable graph whose file has the recorded hash."""
    file = _find_file(connection, model, dim)
    if file is None or _map_graph(file, dim) is None:
        return None
    with suppress(OSError):
        return file.row if _hash_file(file.path) == file.record.sha256 else None
    return None


def _is_behind(connection: sqlite3.Connection, model: str, dim: int) -> bool:
    graph = _find_intact(connection, model, dim)
    passages, fresh = connection.execute(
        "SELECT coalesce(sum(passages), 0), coalesce(sum(passages) FILTER (WHERE block > ?), 0) FROM vector_blocks "
        "WHERE model = ?",
        (graph.block if graph is not None else 0, model),
    ).fetchone()
    if passages < corpus_stats.MIN_GRAPH_VECTORS:
        return False
    removed = graph.passages - (passages - fresh) if graph is not None else 0
    return bool(fresh * BEHIND > passages or removed * GONE > passages)


@lru_cache(maxsize=2)
def _map_graph(file: _GraphFile, dim: int) -> Any:
    """Return the graph in a file; None if the file does not match its record.

    The file is mapped into memory, so damaged content could crash the process. If the file changed since the last
    check, its checksum is compared first. A sync always compares it.
    """
    from usearch.index import Index

    if file.row.made_by != _name_library():
        return None
    try:
        if file.identity != file.record.identity and _hash_file(file.path) != file.record.sha256:
            return None
        index = Index.restore(str(file.path), view=True)
    except Exception:  # the compiled part of the library raises errors of any type
        return None
    return index if index is not None and (index.ndim, len(index)) == (dim, file.row.passages) else None


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _name_library() -> str:
    import usearch

    return f"usearch {usearch.__version__}"


# Building ------------------------------------------------------------------------------------------------------------


def _renew(store: "Store", model: str, dim: int) -> None:
    """Write a graph of the current vectors, name it in the table, and delete all other graph files."""
    with store.reading() as connection:
        index, block = _grow(connection, model, dim, _find_intact(connection, model, dim), store.path)
    path = store.path.with_name(f"{store.path.name}.graph-{secrets.token_hex(8)}")
    try:
        os.close(open_private(path))
        index.save(str(path))
        with path.open("rb") as file:
            os.fsync(file.fileno())
        _write_record(store.graph_records / f"{path.name}.json", _GraphRecord(_hash_file(path), _identify(path.stat())))
    except (OSError, RuntimeError):  # the disk is full: the library raises a plain RuntimeError
        with suppress(OSError):
            path.unlink()
        return
    row = _GraphRow(block, len(index), path.name, _name_library())
    with store.writing() as connection:
        connection.execute(
            # Versions that compared the size, the checksum and the time of a file make a new graph.
            f"INSERT OR REPLACE INTO vector_graphs (model, dim, {_COLUMNS}, size, checksum, modified) "
            f"SELECT ?, ?{', ?' * len(row)}, 0, 0, 0 "
            "WHERE EXISTS (SELECT 1 FROM vector_blocks WHERE model = ? AND dim = ?)",  # unless deleted meanwhile
            (model, dim, *row, model, dim),
        )
        used_files = {row[0] for row in connection.execute("SELECT file FROM vector_graphs")}
    for other in store.path.parent.glob(f"{store.path.name}.graph-*"):
        if other.name not in used_files:
            with suppress(OSError):  # a system may not delete files in use; the next run does
                other.unlink()
                (store.graph_records / f"{other.name}.json").unlink()


def _grow(connection: sqlite3.Connection, model: str, dim: int, known: _GraphRow | None, path: Path) -> tuple[Any, int]:
    """Return a graph of all indexed vectors, grown from the existing one if possible, and the last block."""
    from usearch.index import Index

    live = vector_index.read_passages(connection, model)
    index: Any = None
    last = 0
    if known is not None:
        index, last = Index.restore(str(path.with_name(known.file))), known.block
        removed = index.keys[:].astype(np.int64)
        removed = removed[np.isin(removed, live, invert=True)]
        if len(removed) * GONE > len(live):
            index, last = None, 0
        elif len(removed):
            index.remove(removed)
    if index is None:
        index = Index(ndim=dim, metric="ip", dtype="i8", connectivity=LINKS, expansion_add=LOOKED_AT)
    for block in vector_index.read_vector_blocks(connection, model, dim, last):
        chunks = block.chunks[block.kept]
        outdated = chunks[index.contains(chunks)]
        if len(outdated):
            index.remove(outdated)
        index.add(chunks, block.vectors.approximate(block.kept))
        last = block.number
        report_progress(len(index), len(live))
    return index, last

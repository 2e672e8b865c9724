"""Neighbours: a graph over the vectors of a large corpus, which a search walks to those nearest to a query.

Past ``reading.MANY`` vectors to compare every one takes longer than anybody should wait. The graph (HNSW:
Y. Malkov and D. Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable Small
World graphs", IEEE TPAMI 42(4), 2020) finds nearly all of the nearest; the library usearch makes it, where that is
installed. It lies in a file beside the corpus, which a search maps and reads some pages of.

The table ``vector_graphs`` names the file and the last block of the index that is in it. A new file is written under a
name of its own before the table names it, so that one that was left unfinished is never read. The library can crash on
a file that another person prepared, and the corpus may come from the same person. So a file is read only if a record
in the cache folder of this user has its SHA-256 hash; otherwise a sync builds the graph. What
came after that block is compared vector by vector, and what the graph finds is compared once more with the vectors as
they are now: so one that was deleted or changed since then is not found as it was. A file that is missing, damaged or
of another library is passed over until it is made anew.
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

from entrez_kit.base import tracing
from entrez_kit.base.errors import StoreError
from entrez_kit.base.private_files import is_foreign, open_private
from entrez_kit.corpus.search import vector_index
from entrez_kit.corpus.search.quantized import Floats
from entrez_kit.corpus.store import reading

if TYPE_CHECKING:
    from entrez_kit.corpus.store.store import Store

FEWEST_ASKED: Final = 240
"""Passages that the graph is asked for at least: the more, the surer the nearest are among them."""
BEHIND: Final = 16
"""A graph that lacks one passage in so many is brought up to date; until then these are compared one by one."""
GONE: Final = 4
"""One of whose passages one in so many is gone is made anew."""
LINKS: Final = 16
LOOKED_AT: Final = 64
"""Neighbours of a passage in the graph, and how many are looked at to choose them."""
_GREATEST: Final = 127


class Graph(NamedTuple):
    """A graph as it is searched; ``block`` is the last block of the index that is in it."""

    block: int
    index: Any

    def near(self, vector: Floats, count: int) -> NDArray[np.int64]:
        """Return passages that are nearest to a vector, as far as the graph finds them."""
        found: NDArray[np.int64] = self.index.search(_codes(vector), count).keys.astype(np.int64)
        return found


class _File(NamedTuple):
    """What the table says of a graph's file; size, checksum and modified are for older versions, none is trusted."""

    block: int
    passages: int
    file: str
    made_by: str
    size: int
    checksum: int
    modified: int


def graph_of(connection: sqlite3.Connection, model: str, dim: int) -> Graph | None:
    """Return the graph of a model's vectors; None where there is none that can be used."""
    known = _known(connection, model, dim)
    place = _place(connection)
    if known is None or place is None or find_spec("usearch") is None:
        return None
    path = place.parent / known.file
    if path.parent != place.parent or not path.name.startswith(f"{place.name}.graph-"):
        return None
    try:
        found = path.lstat()
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode) or is_foreign(found):
        return None
    record = _read_record(_record_of(connection, path))
    if record is None:
        return None
    index = _map_graph(path, dim, known, record, _identify(found))
    return None if index is None else Graph(known.block, index)


def keep_up(store: "Store", model: str) -> None:
    """Make the graph of a model's vectors where there are many, or bring it up to date where it lags far behind.

    Without usearch, while another process is at it, or where there is no room for the file, searches compare every
    vector.
    """
    from entrez_kit.corpus.store.database import alone

    with store.reading() as connection:
        dim = vector_index.dimensions(connection).get(model)
        if dim is None or find_spec("usearch") is None or not _lags(connection, model, dim):
            return
    try:
        with alone(store.path, "graph", "is being given a graph by another process", "graph_running", ""):
            _renew(store, model, dim)
    except StoreError as exc:
        if exc.reason != "graph_running":
            raise


def _known(connection: sqlite3.Connection, model: str, dim: int) -> _File | None:
    row = connection.execute(
        f"SELECT {', '.join(_File._fields)} FROM vector_graphs WHERE model = ? AND dim = ?", (model, dim)
    ).fetchone()
    return None if row is None else _File(*row)


class _Record(NamedTuple):
    """What this program noted of a file of a graph when it wrote it.

    ``identity`` changes when the file is written, copied or moved, and no program can set all of it.
    """

    sha256: str
    identity: tuple[int, ...]


def _identify(found: os.stat_result) -> tuple[int, ...]:
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _record_of(connection: sqlite3.Connection, path: Path) -> Path | None:
    """Return where the record of a graph's file is."""
    folder: Path | None = getattr(connection, "graph_records", None)
    return None if folder is None else folder / f"{path.name}.json"


def _read_record(path: Path | None) -> _Record | None:
    """Return the record of a graph file; None if it is missing, invalid, or another user can write it."""
    if path is None:
        return None
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or is_foreign(found, root=False) or found.st_mode & 0o022:
            return None
        document = json.loads(path.read_text(encoding="utf-8"))
        return _Record(str(document["sha256"]), tuple(document["identity"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _write_record(path: Path, record: _Record) -> None:
    with os.fdopen(open_private(path, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as file:
        json.dump(record._asdict(), file)


def _whole(connection: sqlite3.Connection, model: str, dim: int) -> _File | None:
    """Return what the table says of a graph that can be used and of whose file every byte is as it was written."""
    known, place = _known(connection, model, dim), _place(connection)
    if known is None or place is None or graph_of(connection, model, dim) is None:
        return None
    path = place.with_name(known.file)
    record = _read_record(_record_of(connection, path))
    with suppress(OSError):
        return known if record is not None and _sha256(path) == record.sha256 else None
    return None


def _place(connection: sqlite3.Connection) -> Path | None:
    """Return the corpus file; None for one in memory."""
    name = connection.execute("PRAGMA database_list").fetchone()[2]
    return Path(name) if name else None


def _lags(connection: sqlite3.Connection, model: str, dim: int) -> bool:
    known = _whole(connection, model, dim)
    passages, fresh = connection.execute(
        "SELECT coalesce(sum(passages), 0), coalesce(sum(passages) FILTER (WHERE block > ?), 0) FROM vector_blocks "
        "WHERE model = ?",
        (known.block if known is not None else 0, model),
    ).fetchone()
    if passages < reading.MANY:
        return False
    gone = known.passages - (passages - fresh) if known is not None else 0
    return bool(fresh * BEHIND > passages or gone * GONE > passages)


@lru_cache(maxsize=2)
def _map_graph(path: Path, dim: int, known: _File, record: _Record, identity: tuple[int, ...]) -> Any:
    """Return the graph in a file; None if it is not the one that the record describes.

    The file is mapped, not read, so a damaged one would end the process: one that was touched is hashed first. A sync
    hashes every one.
    """
    from usearch.index import Index

    if known.made_by != _library():
        return None
    try:
        if identity != record.identity and _sha256(path) != record.sha256:
            return None
        index = Index.restore(str(path), view=True)
    except Exception:  # the library raises what its compiled part does
        return None
    return index if index is not None and (index.ndim, len(index)) == (dim, known.passages) else None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _library() -> str:
    import usearch

    return f"usearch {usearch.__version__}"


def _codes(vectors: Floats) -> NDArray[np.int8]:
    """Round numbers from -1 to 1 to 8 bits; the graph needs to know no more of them."""
    codes: NDArray[np.int8] = np.rint(vectors * np.float32(_GREATEST)).astype(np.int8)
    return codes


# Making it -----------------------------------------------------------------------------------------------------------


def _renew(store: "Store", model: str, dim: int) -> None:
    """Write a graph of the vectors as they are, let the table name it when it is whole, and drop all other files."""
    with store.reading() as connection:
        index, block = _grown(connection, model, dim, _whole(connection, model, dim), store.path)
    path = store.path.with_name(f"{store.path.name}.graph-{secrets.token_hex(8)}")
    try:
        os.close(open_private(path))
        index.save(str(path))
        with path.open("rb") as file:
            os.fsync(file.fileno())
        digest, found = _sha256(path), path.stat()
        _write_record(store.graph_records / f"{path.name}.json", _Record(digest, _identify(found)))
    except (OSError, RuntimeError):  # no room for it: the library says so in an error without a kind
        with suppress(OSError):
            path.unlink()
        return
    of_digest = int(digest[:8], 16)
    written = _File(block, len(index), path.name, _library(), found.st_size, of_digest, found.st_mtime_ns)
    with store.writing() as connection:
        connection.execute(
            f"INSERT OR REPLACE INTO vector_graphs (model, dim, {', '.join(_File._fields)}) "
            f"SELECT ?, ?{', ?' * len(_File._fields)} "
            "WHERE EXISTS (SELECT 1 FROM vector_blocks WHERE model = ? AND dim = ?)",  # not dropped meanwhile
            (model, dim, *written, model, dim),
        )
        named = {row[0] for row in connection.execute("SELECT file FROM vector_graphs")}
    for other in store.path.parent.glob(f"{store.path.name}.graph-*"):
        if other.name not in named:
            with suppress(OSError):  # where files in use cannot be removed, next time
                other.unlink()
                (store.graph_records / f"{other.name}.json").unlink()


def _grown(connection: sqlite3.Connection, model: str, dim: int, known: _File | None, path: Path) -> tuple[Any, int]:
    """Return a graph of all vectors that are in the index, made of the one there is if any, and their last block."""
    from usearch.index import Index

    live = vector_index.passages(connection, model)
    index: Any = None
    last = 0
    if known is not None:
        index, last = Index.restore(str(path.with_name(known.file))), known.block
        gone = index.keys[:].astype(np.int64)
        gone = gone[np.isin(gone, live, invert=True)]
        if len(gone) * GONE > len(live):
            index, last = None, 0
        elif len(gone):
            index.remove(gone)
    if index is None:
        index = Index(ndim=dim, metric="ip", dtype="i8", connectivity=LINKS, expansion_add=LOOKED_AT)
    for one in vector_index.blocks(connection, model, dim, last):
        chunks = one.chunks[one.kept]
        held = chunks[index.contains(chunks)]
        if len(held):
            index.remove(held)
        index.add(chunks, _codes(one.vectors.vectors(one.kept)))
        last = one.number
        tracing.step(len(index), len(live))
    return index, last

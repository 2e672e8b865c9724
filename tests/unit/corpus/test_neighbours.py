"""The graph of neighbours: it finds nearly all of the nearest and no deleted ones; without it all results are exact."""

import os
import shutil
import signal
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from indexed_corpus import index, join
from invented_vectors import MODEL, Floats, InventedVectors, index_vectors, put_vectors
from numpy.typing import NDArray
from platform_marks import needs_fork
from rich.console import Console

from entrez_kit.commands._views import corpus as corpus_views
from entrez_kit.corpus.search import neighbours, vector_index, vectors
from entrez_kit.corpus.search.quantized import Quantized
from entrez_kit.corpus.search.ranking import Candidate
from entrez_kit.corpus.store import corpus_stats, schema
from entrez_kit.corpus.store.store import Store

pytest.importorskip("usearch", reason="the package usearch is not installed")

DIM = 24
COUNT = 1_500
MORE = 500
WANTED = 10
INVENTED = InventedVectors(DIM, subjects=200)
QUERIES = [query for matrix in INVENTED.vectors(20, seed=99) for query in matrix]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a corpus without a graph; tests copy it."""
    folder = tmp_path_factory.mktemp("prepared")
    with pytest.MonkeyPatch.context() as patch:
        count_as_large(patch)
        store = Store(folder / "corpus.db")
        add(store, COUNT)
        store.close()
    return folder


@pytest.fixture
def store(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Return a corpus that counts as large, with its graph."""
    count_as_large(monkeypatch)
    folder = tmp_path / "corpus"
    shutil.copytree(prepared, folder)
    store = Store(folder / "corpus.db")
    neighbours.keep_up(store, MODEL)
    assert count_graphs(store) == {MODEL: COUNT}
    assert is_graph_used(store)
    yield store
    store.close()


def count_as_large(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(corpus_stats, "MIN_GRAPH_VECTORS", 500)
    patch.setattr(neighbours, "MIN_REQUESTED", 50)
    patch.setattr(vectors, "LOOKED_UP", 1)
    patch.setattr(vector_index, "BLOCK", 64)
    patch.setattr(vector_index, "AT_ONCE", 100)


def add(store: Store, count: int, first: int = 1) -> None:
    with store.writing() as connection:
        put_vectors(connection, INVENTED, count, first=first)
        index(connection)
        index_vectors(connection)


def delete(store: Store, chosen: str) -> None:
    with store.writing() as connection:
        connection.execute(f"DELETE FROM chunks WHERE {chosen}")
        index_vectors(connection)


def count_graphs(store: Store) -> dict[str, int]:
    with store.reading() as connection:
        return corpus_stats.count_graphs(connection)


def list_files(store: Store) -> list[Path]:
    return list(store.path.parent.glob("corpus.db.graph-*"))


def is_graph_used(store: Store) -> bool:
    with store.reading() as connection:
        return neighbours.open_graph(connection, MODEL, DIM) is not None


def find_nearest(store: Store, query: Floats, corpus: str | None = None) -> list[Candidate]:
    with store.reading() as connection:
        return vectors.find_nearest(connection, MODEL, query, WANTED, corpus=corpus)


def find_exactly(store: Store, query: Floats, corpus: str | None = None) -> list[Candidate]:
    with pytest.MonkeyPatch.context() as patch, store.reading() as connection:
        patch.setattr(corpus_stats, "MIN_GRAPH_VECTORS", COUNT * 100)  # a small corpus is searched without its graph
        return vectors.find_nearest(connection, MODEL, query, WANTED, corpus=corpus)


def recall(store: Store, corpus: str | None = None) -> float:
    """Return the share of the nearest that is found; those found have the numbers of a full comparison."""
    shares = []
    for query in QUERIES:
        found, expected = find_nearest(store, query, corpus), find_exactly(store, query, corpus)
        assert len(found) == len(expected)
        known = {near.pmid: near for near in expected}
        assert all(near.sim == known[near.pmid].sim for near in found if near.pmid in known)
        shares.append(len(known.keys() & {near.pmid for near in found}) / len(known))
    return float(np.mean(shares))


@pytest.fixture
def multiplied(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the number of vectors of the index of each product."""
    sizes: list[int] = []
    real = Quantized.multiply

    def count_product(self: Quantized, query: Floats, rows: NDArray[np.intp] | None = None) -> Floats:
        sizes.append(len(self.codes) if rows is None else len(rows))
        return real(self, query, rows)

    monkeypatch.setattr(Quantized, "multiply", count_product)
    return sizes


def test_nearly_all_of_the_nearest_are_found_with_exact_numbers(store: Store, multiplied: list[int]) -> None:
    for query in QUERIES:
        find_nearest(store, query)
    assert multiplied == []
    assert recall(store) >= 0.95


def test_new_vectors_are_found_and_deleted_ones_are_not(store: Store, multiplied: list[int]) -> None:
    (path,) = list_files(store)
    add(store, 60, first=COUNT + 1)
    gone = {near.uuid for query in QUERIES[::2] for near in find_nearest(store, query)[:2]}
    delete(store, f"uuid IN {tuple(gone)}")
    (other,) = INVENTED.vectors(1, seed=5)
    with store.writing() as connection:  # a passage that says something else now, and has not been taken in yet
        changed = find_nearest(store, QUERIES[1])[0]
        connection.execute(
            "DELETE FROM vectors WHERE chunk_id = (SELECT id FROM chunks WHERE uuid = ?)", [changed.uuid]
        )
        connection.execute(
            "INSERT INTO vectors SELECT id, ?, ?, ? FROM chunks WHERE uuid = ?",
            (MODEL, DIM, other[0].tobytes(), changed.uuid),
        )
    neighbours.keep_up(store, MODEL)
    multiplied.clear()

    assert list_files(store) == [path]
    for query in QUERIES:
        assert not gone & {near.uuid for near in find_nearest(store, query)}
    assert 0 < max(multiplied) <= 64
    assert find_nearest(store, other[0])[0].uuid == changed.uuid
    assert recall(store) >= 0.95


@pytest.mark.parametrize("chosen", ["id % 7 = 0", "id % 3 > 0"])
def test_an_outdated_graph_is_updated(store: Store, chosen: str) -> None:
    add(store, MORE, first=COUNT + 1)
    delete(store, chosen)
    before = list_files(store)
    neighbours.keep_up(store, MODEL)

    (path,) = list_files(store)
    assert path not in before
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with store.reading() as connection:
        assert corpus_stats.count_graphs(connection) == {MODEL: vector_index.count_indexed(connection, MODEL)}
    assert recall(store) >= 0.95
    neighbours.keep_up(store, MODEL)
    assert list_files(store) == [path]


def test_searches_narrowed_to_few_records_are_exact_and_to_many_find_nearly_all(store: Store) -> None:
    with store.writing() as connection:
        join(connection, "few", range(1, COUNT // 3, 20))
        join(connection, "half", range(1, COUNT // 3, 2))

    assert recall(store, "few") == 1
    assert recall(store, "half") >= 0.95
    assert all(near.pmid % 2 for query in QUERIES for near in find_nearest(store, query, "half"))


def test_a_narrowed_search_needs_no_more_work_than_one_in_all(
    store: Store, multiplied: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    real = vector_index.read_vectors

    def count_product(
        connection: sqlite3.Connection, model: str, chunks: Sequence[int]
    ) -> Iterator[vector_index.Vectors]:
        read.append(len(chunks))
        return real(connection, model, chunks)

    def work(corpus: str | None) -> tuple[int, int]:
        multiplied.clear()
        read.clear()
        find_exactly(store, QUERIES[0], corpus)
        return sum(multiplied), sum(read)

    monkeypatch.setattr(vector_index, "read_vectors", count_product)
    monkeypatch.setattr(vectors, "LOOKED_UP", 10)
    products, vectors_read = work(None)
    assert products == COUNT
    for every in (1, 2, 3, 5, 10, 50, 1_000):
        with store.writing() as connection:
            join(connection, str(every), range(1, 2 + COUNT // 3, every))
        some, looked_up = work(str(every))
        assert some <= products
        assert some + vectors.LOOKED_UP * looked_up <= products + vectors.LOOKED_UP * 2 * vectors_read
        if every > vectors.LOOKED_UP:
            assert (some, looked_up <= 4 + COUNT // every) == (0, True)


def test_the_statistics_of_a_corpus_show_whether_it_has_a_graph(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(width=100)
    assert store.stats().graphs == {MODEL: COUNT}
    assert "graphs" not in store.stats().model_copy(update={"graphs": {}}).model_dump(mode="json")
    monkeypatch.setattr(corpus_views, "MIN_GRAPH_VECTORS", COUNT)
    for known, said in (({MODEL: COUNT}, f"{COUNT:,} of {MODEL} ("), ({}, "entrez-kit[embeddings]")):
        with console.capture() as shown:
            console.print(corpus_views.render_stats(store.stats().model_copy(update={"graphs": known})))
        assert said in " ".join(shown.get().split())


def _overwrite_with_zeros(path: Path) -> None:
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[: size // 2] + bytes(size - size // 2))


def _replace_by_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


DAMAGE: list[Callable[[Path], object]] = [
    Path.unlink,
    lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(path.read_bytes()[:-1]),
    _overwrite_with_zeros,
    _replace_by_link,
]


@pytest.mark.long
@pytest.mark.parametrize("damage", DAMAGE)
def test_without_its_file_or_with_a_damaged_one_all_is_exact_until_it_is_rebuilt(
    store: Store, damage: Callable[[Path], object]
) -> None:
    (path,) = list_files(store)
    damage(path)

    assert not is_graph_used(store)
    assert recall(store) == 1
    neighbours.keep_up(store, MODEL)
    assert is_graph_used(store)
    assert path not in list_files(store)
    assert len(list_files(store)) == 1


def test_a_sync_finds_damage_that_did_not_change_the_time_of_the_file(store: Store) -> None:
    (path,) = list_files(store)
    times = path.stat()
    _overwrite_with_zeros(path)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    neighbours.keep_up(store, MODEL)

    assert path not in list_files(store)
    assert recall(store) >= 0.95


@pytest.mark.parametrize("column", ["made_by = 'usearch 1.0'", "file = '../corpus.db'", "dim = 25", "passages = 9"])
def test_values_in_the_table_are_not_trusted(store: Store, column: str) -> None:
    with store.writing() as connection:
        connection.execute(f"UPDATE vector_graphs SET {column}")

    assert not is_graph_used(store)
    assert recall(store) == 1


def test_a_copied_file_is_read_once_and_used(store: Store) -> None:
    (path,) = list_files(store)
    os.utime(path, ns=(1, 1))

    assert is_graph_used(store)
    assert recall(store) >= 0.95


def _write_crafted(path: Path, record: Path) -> None:
    path.write_bytes(b"usearch" + os.urandom(path.stat().st_size - 7))


def _remove_record(_: Path, record: Path) -> None:
    record.unlink()


def _open_to_others(path: Path, record: Path) -> None:
    record.chmod(0o666)


def _link_record(path: Path, record: Path) -> None:
    _replace_by_link(record)


def _write_invalid_record(path: Path, record: Path) -> None:
    record.write_text('{"sha256": 5, "identity": 7}', encoding="utf-8")


@pytest.mark.parametrize(
    "craft", [_write_crafted, _remove_record, _open_to_others, _link_record, _write_invalid_record]
)
@pytest.mark.long
def test_a_graph_is_read_only_if_this_user_recorded_its_hash(
    store: Store, craft: Callable[[Path, Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = list_files(store)
    record = store.graph_records / f"{path.name}.json"
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    craft(path, record)
    with store.writing() as connection:  # another person's corpus says what that person likes
        found = path.stat()
        connection.execute("UPDATE vector_graphs SET size=?, modified=?", (found.st_size, found.st_mtime_ns))

    with monkeypatch.context() as patch:
        patch.setattr("usearch.index.Index.restore", lambda *_, **__: pytest.fail("the file was read"))
        assert not is_graph_used(store)
        assert recall(store) == 1
    neighbours.keep_up(store, MODEL)
    assert is_graph_used(store)
    assert path not in list_files(store)


def test_without_the_library_and_with_few_vectors_all_is_exact(
    store: Store, monkeypatch: pytest.MonkeyPatch, multiplied: list[int]
) -> None:
    monkeypatch.setattr(corpus_stats, "MIN_GRAPH_VECTORS", COUNT + 1)
    find_nearest(store, QUERIES[0])
    assert sum(multiplied) == COUNT
    monkeypatch.setattr(corpus_stats, "MIN_GRAPH_VECTORS", 1)
    monkeypatch.setattr(neighbours, "find_spec", lambda name: None)
    assert recall(store) == 1
    neighbours.keep_up(store, MODEL)
    assert count_graphs(store) == {MODEL: COUNT}


def test_a_rebuilt_index_and_a_removed_model_leave_no_graph(store: Store) -> None:
    with store.writing() as connection:
        schema.rebuild_vector_index(connection)
        index_vectors(connection)
    assert count_graphs(store) == {}
    neighbours.keep_up(store, MODEL)
    assert len(list_files(store)) == 1
    with store.writing() as connection:
        vector_index.forget(connection, MODEL)
    assert count_graphs(store) == {}


def _run_in_child(work: Callable[[], object]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1]


@needs_fork
@pytest.mark.parametrize("place", ["save", "sum", "drop"])
@pytest.mark.long
def test_a_kill_during_writing_leaves_the_old_graph(store: Store, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from usearch.index import Index

    add(store, MORE, first=COUNT + 1)

    def kill(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    before, real = list_files(store), neighbours._hash_file  # the step between file and record

    def hash_new_file(path: Path) -> str:
        if path not in before:
            kill()
        return real(path)

    def write_half(self: Index, path: str) -> None:
        Path(path).write_bytes(b"usearch and not much more")
        kill()

    def work() -> None:
        patched = {
            "save": (Index, "save", write_half),
            "sum": (neighbours, "_hash_file", hash_new_file),
            "drop": (Path, "glob", kill),
        }
        monkeypatch.setattr(*patched[place])
        neighbours.keep_up(Store(store.path), MODEL)

    store.close()
    assert os.WTERMSIG(_run_in_child(work)) == signal.SIGKILL
    assert len(list_files(store)) == 2
    assert count_graphs(store) == {MODEL: COUNT + MORE * (place == "drop")}
    assert recall(store) >= 0.95
    add(store, MORE, first=COUNT + MORE + 1)
    neighbours.keep_up(store, MODEL)
    assert count_graphs(store) == {MODEL: COUNT + 2 * MORE}
    assert len(list_files(store)) == 1


@needs_fork
def test_two_processes_at_once_make_one_graph(store: Store) -> None:
    add(store, MORE, first=COUNT + 1)
    store.close()
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            neighbours.keep_up(Store(store.path), MODEL)
            os._exit(0)
        children.append(child)
    while children:
        done, status = os.waitpid(-1, os.WNOHANG)
        assert status == 0
        if done:
            children.remove(done)
        assert len(find_nearest(store, QUERIES[0])) == WANTED

    assert count_graphs(store) == {MODEL: COUNT + MORE}
    assert len(list_files(store)) == 1
    assert recall(store) >= 0.95

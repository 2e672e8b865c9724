"""The corpus file: permissions, errors, and the migration of older files."""

import base64
import gzip
import json
import multiprocessing
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from invented_papers import Paper, list_rows, make_series, mark_deleted, read_contents
from platform_marks import needs_fork
from project_paths import DATA

from entrez_kit.base import private_files
from entrez_kit.base.errors import Exit, StoreError
from entrez_kit.corpus.search import vector_index, vectors, words
from entrez_kit.corpus.store import database, migrations, packing, schema
from entrez_kit.corpus.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "data" / "corpus.db")


def _fill_store(store: Store, number: int = 3) -> Store:
    store.upsert_pubmed_docs([paper.article() for paper in make_series(number)], "k")
    return store


def _get_reason(error: StoreError) -> str | None:
    assert error.exit_code is Exit.LOCAL_STORE
    assert error.recovery_hint
    return error.reason


def test_reading_a_missing_corpus_finds_nothing_and_creates_no_file(store: Store) -> None:
    assert store.corpora().corpora == []
    assert store.get_pubmed_doc(1) is None
    assert store.stats().documents == 0
    assert not store.path.parent.exists()


def test_a_corpus_created_later_is_seen(store: Store) -> None:
    assert store.stats().documents == 0
    _fill_store(Store(store.path))

    assert store.stats().documents == 3


def test_file_and_folder_can_be_read_only_by_this_user(store: Store) -> None:
    _fill_store(store)

    with store.reading():
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in store.path.parent.iterdir()}
    assert modes == {"corpus.db": 0o600, "corpus.db-wal": 0o600, "corpus.db-shm": 0o600}
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700


def test_the_permissions_of_a_file_that_others_can_read_are_corrected(store: Store) -> None:
    _fill_store(store).close()
    store.path.chmod(0o644)
    _fill_store(Store(store.path))

    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


def test_committed_data_are_flushed_to_the_disk(store: Store) -> None:
    with store.writing() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_a_block_that_fails_writes_nothing(store: Store) -> None:
    _fill_store(store)

    def fails() -> None:
        with store.writing() as connection:
            connection.execute("DELETE FROM membership")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()

    assert store.stats().documents == 3
    assert list_rows(store, "SELECT count(*) FROM membership") == [(3,)]


def test_a_writer_never_blocks_readers(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    _fill_store(store)

    with store.writing() as connection:
        connection.execute("DELETE FROM membership")
        assert store.stats().documents == 3
        assert list_rows(store, "SELECT count(*) FROM membership") == [(3,)]


def test_a_reader_sees_one_state_to_its_end(store: Store) -> None:
    _fill_store(store)

    with store.reading() as connection:
        before = connection.execute("SELECT count(*) FROM documents").fetchone()[0]
        store.upsert_pubmed_docs([Paper(5).article()])
        assert connection.execute("SELECT count(*) FROM documents").fetchone()[0] == before
    assert store.stats().documents == before + 1


def test_a_blocked_writer_names_the_other_writer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    _fill_store(store).close()

    with Store(store.path).writing(), pytest.raises(StoreError, match="locked by another program") as caught:
        store.upsert_pubmed_docs([Paper(5).article()])

    assert _get_reason(caught.value) == "locked"


def test_writers_in_many_threads_take_turns(store: Store) -> None:
    errors: list[BaseException] = []

    def work(start: int) -> None:
        try:
            for number in range(5):
                store.upsert_pubmed_docs([Paper(start + number).article()], f"k{start}")
                store.stats()
        except BaseException as exc:
            errors.append(exc)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(100, 700, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    assert store.stats().documents == 30


def test_a_file_of_a_newer_version_is_refused_and_not_changed(store: Store) -> None:
    _fill_store(store).close()
    with sqlite3.connect(store.path) as raw:
        raw.execute("PRAGMA user_version=99")
    raw.close()
    before = store.path.read_bytes()

    for use in (store.stats, lambda: store.upsert_pubmed_docs([Paper(5).article()])):
        with pytest.raises(StoreError, match="newer version") as caught:
            use()
        assert _get_reason(caught.value) == "newer_store"
    assert store.path.read_bytes() == before


def test_a_foreign_sqlite_file_is_refused_and_not_changed(store: Store) -> None:
    store.path.parent.mkdir()
    raw = sqlite3.connect(store.path)
    raw.execute("CREATE TABLE recipes (name TEXT)")
    raw.close()

    with pytest.raises(StoreError, match="not a corpus of entrez-kit") as caught:
        _fill_store(store)

    assert _get_reason(caught.value) == "not_a_corpus"
    raw = sqlite3.connect(store.path)
    assert raw.execute("SELECT name FROM sqlite_schema").fetchall() == [("recipes",)]
    raw.close()


def test_an_older_file_is_migrated_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    _fill_store(store).close()
    ran: list[int] = []

    def second(connection: sqlite3.Connection) -> None:
        ran.append(1)
        connection.execute("ALTER TABLE documents ADD COLUMN mood TEXT DEFAULT 'fine'")

    before = read_contents(Store(store.path))
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, second))
    monkeypatch.setattr(migrations, "_check_schema", lambda _: None)  # this format exists in this test only

    newer = Store(store.path)
    assert list_rows(newer, "SELECT DISTINCT mood FROM documents") == [("fine",)]
    assert read_contents(newer) == before
    newer.close()
    Store(store.path).stats()
    assert ran == [1]


CLEAR_RETRACTIONS = (
    "CREATE TRIGGER spy AFTER UPDATE ON documents BEGIN UPDATE documents SET retraction_status = 'none'; END"
)
CRAFTED = [
    (CLEAR_RETRACTIONS, "trigger 'spy' that entrez-kit did not create"),
    (
        "CREATE TRIGGER spy AFTER INSERT ON vectors BEGIN DELETE FROM documents; END",
        "trigger 'spy' that entrez-kit did not create",
    ),
    ("CREATE VIEW spy AS SELECT 1", "view 'spy' that entrez-kit did not create"),
    ("CREATE TABLE spy (x)", "table 'spy' that entrez-kit did not create"),
    ("CREATE INDEX spy ON documents (title)", "index 'spy' that entrez-kit did not create"),
    ("CREATE VIRTUAL TABLE spy USING fts5(x)", "table 'spy' that entrez-kit did not create"),
    ('CREATE TABLE "a\nb\x1b[2J" (x)', r"table 'a\nb\x1b[2J' that entrez-kit did not create"),
    ("DROP TABLE jobs; CREATE VIEW jobs AS SELECT 1 AS job_id", "view 'jobs' that entrez-kit did not create"),
    (
        "DROP VIEW corpora; CREATE VIEW corpora AS SELECT * FROM checkpoints",
        "view 'corpora' with a changed definition",
    ),
    (
        "DROP TRIGGER vector_added; CREATE TRIGGER vector_added AFTER INSERT ON vectors BEGIN DELETE FROM jobs; END",
        "trigger 'vector_added' with a changed definition",
    ),
    (
        "ALTER TABLE documents ADD COLUMN spy AS (abs(pmid))",
        "table 'documents' with a changed definition",
    ),
    (
        "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(sql, 'retraction_status TEXT NOT NULL', "
        "'retraction_status TEXT NOT NULL DEFAULT 7') WHERE name = 'documents'; PRAGMA writable_schema=OFF",
        "table 'documents' with a changed definition",
    ),
    ("DROP INDEX documents_by_edat", "has no index 'documents_by_edat'"),
    ("DROP TRIGGER vector_gone", "has no trigger 'vector_gone'"),
]


@pytest.mark.parametrize(("script", "said"), CRAFTED)
def test_a_corpus_whose_schema_another_person_changed_is_refused_and_named(
    store: Store, script: str, said: str
) -> None:
    _fill_store(store).close()
    with closing(sqlite3.connect(store.path)) as raw:
        raw.executescript(script)
    before = store.path.read_bytes()

    for use in (store.stats, lambda: store.upsert_pubmed_docs([Paper(5).article()])):
        with pytest.raises(StoreError) as caught:
            use()
        assert caught.value.reason == "changed_schema"
        assert said in caught.value.message
        assert "DROP" in caught.value.recovery_hint
    store.close()
    assert store.path.read_bytes() == before


@pytest.mark.parametrize("number", [2, 4, 6])
@pytest.mark.parametrize("script", [CLEAR_RETRACTIONS, "CREATE VIEW spy AS SELECT 1", "CREATE TABLE spy (x)"])
def test_an_older_corpus_that_another_person_changed_is_not_migrated(store: Store, number: int, script: str) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(gzip.decompress((DATA / f"corpus-format-{number}.db.gz").read_bytes()))
    with closing(sqlite3.connect(store.path)) as raw:
        raw.executescript(script)

    with pytest.raises(StoreError, match="'spy' that entrez-kit did not create"):
        store.stats()
    with closing(sqlite3.connect(store.path)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (number,)


def test_the_expected_schema_is_that_of_a_new_file(store: Store) -> None:
    _fill_store(store)
    with store.reading() as connection:
        found = private_files.read_schema(connection)
        assert connection.execute("PRAGMA trusted_schema").fetchone()[0] == 0
        assert connection.execute("PRAGMA cell_size_check").fetchone()[0] == 1
    assert {each: frozenset({text}) for each, text in found.items()} == schema.read_expected_schema()


def test_statistics_that_sqlite_gathers_do_not_change_the_schema(store: Store) -> None:
    _fill_store(store).close()
    with closing(sqlite3.connect(store.path)) as raw:
        raw.execute("ANALYZE")

    assert store.stats().documents == 3


def test_a_corpus_of_the_previous_version_is_migrated_and_indexed_again(store: Store) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(gzip.decompress((DATA / "corpus-format-2.db.gz").read_bytes()))

    def find(word: str, corpus: str | None = None) -> list[int]:
        with store.reading() as connection:
            return [hit.pmid for hit in words.search_words(connection, word, 20, corpus=corpus)]

    def near() -> list[tuple[int, float]]:
        with store.reading() as connection:
            (model, dim), *_ = vector_index.read_dimensions(connection).items()
            query = np.eye(1, dim, dtype=np.float32)[0]
            return [(hit.pmid, round(hit.sim or 0, 5)) for hit in vectors.find_nearest(connection, model, query, 20)]

    stored = list_rows(store, "SELECT pmid, vector FROM vectors AS v JOIN chunks AS c ON c.id = v.chunk_id")
    sims = {pmid: round(float(np.frombuffer(vector, "<f4")[0]), 5) for pmid, vector in stored}
    others = [*range(1004, 1013)]
    for step in (lambda: None, store.index_words, store.index_vectors, store.reindex):
        step()
        assert near() == sorted(sims.items(), key=lambda found: (-found[1], found[0]))
        assert find("zebrafish") == [1002, *others]
        assert (find("sharks"), find("osteoporosis"), find("H2O tumor")) == ([1001], [2001], [2001])
        assert (find("zebrafish", "other"), find("sharks", "other")) == ([1002], [1001])
    stats = store.stats()
    assert (stats.documents, stats.deleted, stats.retracted, stats.versions) == (12, 1, 1, 16)
    assert stats.vectors == {"test:letters": stats.chunks - 1}
    assert [article.title for article in store.read_articles("other")] == ["Invented title 0", "Invented title 1"]
    assert list_rows(store, "SELECT name FROM sqlite_schema WHERE name LIKE 'lexical_index%'") == []
    assert list_rows(store, "PRAGMA integrity_check") == [("ok",)]


def test_wrong_dates_of_entry_of_the_previous_format_are_repaired(store: Store) -> None:
    late = Paper(1, entered="1999-06-01", created="2019-03-10")
    store.upsert_pubmed_docs([late.article(), *(paper.article() for paper in make_series(3))])
    before = read_contents(store)
    store.close()
    with closing(sqlite3.connect(store.path)) as raw, raw:
        raw.execute("UPDATE documents SET edat = '2019-03-10T00:00:00Z' WHERE pmid = 1")
        raw.execute("UPDATE documents SET article = x'00' WHERE pmid = 1002")
        raw.execute("DELETE FROM outbox")
        raw.execute("PRAGMA user_version=9")

    dates = list_rows(store, "SELECT pmid, edat FROM documents ORDER BY pmid")
    assert dates[0] == (1, "1999-06-01T00:00:00Z")
    assert dates[1:] == [(1000 + day, f"2024-01-0{day}T00:00:00Z") for day in (1, 2, 3)]
    assert list_rows(store, "SELECT DISTINCT pmid FROM outbox JOIN chunks USING (uuid)") == [(1,)]
    assert read_contents(store)["versions"] == before["versions"]


SAID = "pmid, version, change, title, abstract, journal, pub_types, pdat, pmcid, retraction_status, content_hash, lr"


def test_duplicate_data_of_the_previous_version_are_removed_by_the_migration(store: Store) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(gzip.decompress((DATA / "corpus-format-4.db.gz").read_bytes()))
    before = sqlite3.connect(store.path)
    versions = before.execute(f"SELECT {SAID}, seen_at FROM versions ORDER BY 1, 2").fetchall()
    records = before.execute("SELECT article FROM documents WHERE status = 'current' ORDER BY pmid").fetchall()
    columns = "pmid, title, abstract, journal, pub_types, mesh, authors, edat, lr, status, version, content_hash"
    documents = before.execute(f"SELECT {columns} FROM documents").fetchall()
    before.close()

    assert list_rows(store, f"SELECT {SAID}, seen_at FROM versions ORDER BY 1, 2") == versions
    assert len(versions) == 16
    assert list_rows(store, f"SELECT {columns} FROM documents") == documents
    assert [json.loads(article.model_dump_json()) for article in store.read_articles()] == [
        json.loads(text) for (text,) in records
    ]
    assert list_rows(
        store, "SELECT pmid, json_extract(corrections, '$[0].kind') FROM documents WHERE corrections > ''"
    ) == [(1002, "RetractionIn")]
    kept = "SELECT count(*), count(title), count(content_hash) FROM revisions"
    assert list_rows(store, kept) == [(16, 3, 3)]
    assert list_rows(store, "PRAGMA integrity_check") == [("ok",)]
    assert list_rows(store, "PRAGMA foreign_key_check") == []
    mark_deleted(store, [1004])
    assert list_rows(store, kept) == [(17, 4, 4)]
    last = (1004, 1, "added", "Invented title 3"), (1004, 2, "deleted", "Invented title 3")
    assert list_rows(store, "SELECT pmid, version, change, title FROM versions WHERE pmid = 1004 ORDER BY 2") == [*last]


def test_a_record_stored_in_this_format_is_read_by_every_later_version() -> None:
    article = '{"pmid":"5","record_type":"article","title":"On H\u2082O","abstract_sections":[{"text":"It is wet."}]}'
    packed = base64.b64decode("eH1EINvjg5fSpmBl+ItpWCEPciLW4hpa/CIqAaAzawF9fiHJ")

    assert packing.unpack(packed, "[]", None, "On H\u2082O", "It is wet.") == article
    assert packing.unpack(packing.pack(article, "[]", "", None), "[]", "", None) == article
    with pytest.raises(zlib.error):
        packing.unpack(packed, "[]", None, "On H2O", "It is wet.")


def test_a_migration_that_fails_leaves_the_older_file_unchanged(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    _fill_store(store).close()
    present = migrations.MIGRATIONS

    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("DROP TABLE membership")
        raise RuntimeError("on the way")

    monkeypatch.setattr(migrations, "MIGRATIONS", (*present, fail))
    with pytest.raises(RuntimeError):
        Store(store.path).stats()

    monkeypatch.setattr(migrations, "MIGRATIONS", present)
    assert list_rows(Store(store.path), "SELECT count(*) FROM membership") == [(3,)]


@pytest.mark.parametrize("damage", [b"this is no database at all, whatever its name says" * 40, None])
def test_a_damaged_file_is_reported_and_not_changed(store: Store, damage: bytes | None) -> None:
    _fill_store(store, 200).close()
    whole = store.path.read_bytes()
    # Where a new beginning is not given, the root pages stay and the rest is overwritten.
    broken = damage if damage is not None else whole[:4096] + b"\xff" * (len(whole) - 4096)
    store.path.write_bytes(broken)

    with pytest.raises(StoreError, match=r"is damaged|not an SQLite file") as caught:
        store.stats()
    assert _get_reason(caught.value) == "corrupt"
    with pytest.raises(StoreError):
        store.upsert_pubmed_docs([Paper(5).article()])
    assert store.path.read_bytes() == broken


def test_a_full_disk_is_reported_and_committed_data_stay(store: Store) -> None:
    _fill_store(store)
    with store.writing() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages}")

    with pytest.raises(StoreError, match="disk is full") as caught:
        store.upsert_pubmed_docs([paper.article() for paper in make_series(500, pmid=5000)])

    assert _get_reason(caught.value) == "disk_full"
    assert Store(store.path).stats().documents == 3


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    store = Store(tmp_path / "file" / "corpus.db")

    with pytest.raises(StoreError, match="cannot be opened") as caught:
        _fill_store(store)

    assert _get_reason(caught.value) == "cannot_open"
    assert "ENTREZ_KIT_DATA_DIR" in caught.value.recovery_hint


@pytest.mark.parametrize("number", ["EACCES", "EROFS"])
def test_a_read_only_corpus_can_be_read_and_reports_why_it_cannot_be_written(
    number: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    _fill_store(store).close()
    real = os.open

    def refuse(path: object, flags: int, *more: object, **others: object) -> int:
        if flags & os.O_RDWR:
            raise OSError(getattr(errno, number), os.strerror(getattr(errno, number)), str(path))
        return real(path, flags, *more, **others)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(os, "open", refuse)
    other = Store(store.path)

    assert other.stats().documents == 3
    with pytest.raises(StoreError) as caught:
        _fill_store(other)
    assert _get_reason(caught.value) == "read_only"


def test_a_file_without_write_permission_can_be_read(store: Store) -> None:
    _fill_store(store).close()
    for part in store.path.parent.iterdir():
        if part != store.path:
            part.unlink()

    connection = database._open_read_only(store.path)  # root may write every file

    assert connection.execute("SELECT count(*) FROM documents").fetchone()[0] == 3
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM documents")
    connection.close()


def test_a_file_that_replaces_another_is_noticed(store: Store, tmp_path: Path) -> None:
    _fill_store(store)
    other = _fill_store(Store(tmp_path / "other" / "corpus.db"), 7)
    other.close()
    for part in list(store.path.parent.iterdir()):
        part.unlink()
    assert store.stats().documents == 0

    other.path.rename(store.path)

    assert store.stats().documents == 7
    _fill_store(store, 9)
    assert store.stats().documents == 9


@pytest.mark.parametrize("statement", ["SELECT ?", "INSERT INTO documents (pmid) VALUES (1)"])
def test_a_wrong_use_of_the_database_is_not_a_store_error(store: Store, statement: str) -> None:
    with pytest.raises((sqlite3.ProgrammingError, sqlite3.IntegrityError)), store.writing() as connection:
        connection.execute(statement)


def test_a_file_without_a_table_is_reported(store: Store) -> None:
    _fill_store(store)
    with store.writing() as connection:
        connection.execute("DROP TABLE membership")

    with pytest.raises(StoreError, match="is damaged") as caught:
        store.upsert_pubmed_docs([Paper(5).article()], "k")

    assert _get_reason(caught.value) == "corrupt"


@pytest.mark.process
def test_two_processes_may_create_the_file_at_the_same_time(store: Store) -> None:
    script = (
        "import sys; from pathlib import Path; from entrez_kit.corpus.store.store import Store; "
        "Store(Path(sys.argv[1])).set_checkpoint(sys.argv[2], '2024-01-01')"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(store.path), f"k{number}"], stderr=subprocess.PIPE)
        for number in range(3)
    ]

    assert [(process.communicate()[1], process.returncode) for process in running] == [(b"", 0)] * 3
    assert [corpus.query_key for corpus in store.corpora().corpora] == ["k0", "k1", "k2"]


def test_a_file_that_another_process_is_creating_is_not_refused_as_foreign(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    store.path.parent.mkdir()
    store.path.touch()
    tried: list[int] = []

    def meanwhile(statement: str) -> None:
        if "sqlite_schema" in statement and not tried:
            tried.append(1)
            with suppress(StoreError):
                _fill_store(Store(store.path))

    connection = sqlite3.connect(store.path, isolation_level=None)
    connection.set_trace_callback(meanwhile)
    migrations.migrate(connection)
    connection.close()

    assert tried
    assert store.stats().documents in (0, 3)


@pytest.mark.process
@needs_fork
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_opens_its_own_connection(store: Store) -> None:
    _fill_store(store)
    with store.reading() as inherited:
        pass
    context = multiprocessing.get_context("fork")
    found = context.SimpleQueue()

    def child() -> None:
        with store.reading() as connection:
            found.put((connection is inherited, connection.execute("SELECT count(*) FROM documents").fetchone()[0]))

    process = context.Process(target=child)
    process.start()
    process.join()

    assert found.get() == (False, 3)
    assert store.stats().documents == 3


def test_people_can_read_the_tables(store: Store) -> None:
    store.upsert_pubmed_docs([Paper(5, mesh=("Humans",)).article()], "k")
    store.set_checkpoint("k", "2024-01-01")

    assert list_rows(store, "SELECT query_key, documents FROM corpora") == [("k", 1)]
    assert list_rows(store, "SELECT json_extract(mesh, '$[0]') FROM documents") == [("Humans",)]
    assert list_rows(store, "SELECT title, seen_at > '' FROM versions") == [("Invented title", 1)]
    notes = list_rows(store, "SELECT sql FROM sqlite_schema WHERE name = 'documents'")[0][0]
    assert "The latest version of each PubMed record" in notes


@pytest.mark.parametrize(
    "read",
    [
        lambda connection: connection.execute("SELECT CAST(x'ff41' AS TEXT)").fetchall(),
        lambda connection: connection.execute("SELECT json('{broken')").fetchall(),
        lambda connection: json.loads('{"title": "\x00'),
        lambda connection: zlib.decompress(b"flipped"),
        lambda connection: b"\xff".decode(),
    ],
    ids=["text", "json in SQL", "json", "packed", "bytes"],
)
def test_flipped_bytes_inside_a_record_are_reported_as_damage_with_advice(
    store: Store, read: Callable[[Any], Any]
) -> None:
    with pytest.raises(StoreError) as caught, store.writing() as connection:
        read(connection)

    assert (_get_reason(caught.value), caught.value.exit_code) == ("corrupt", 9)
    assert "sync again" in (caught.value.recovery_hint or "")

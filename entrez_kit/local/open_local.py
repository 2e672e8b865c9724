"""Open what ``--local NAME`` names: a copy, or the records of a query that was synced into the corpus."""

import hashlib
import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from entrez_kit.base.errors import EntityNotFound
from entrez_kit.base.progress import begin_stage
from entrez_kit.base.settings import CORPUS_FILE, Settings
from entrez_kit.corpus.store.store import Store
from entrez_kit.local.article_to_xml import write_article
from entrez_kit.local.copies import Copy, find_copies_folder, find_folder, lock_copy
from entrez_kit.local.copy_file import FILE, open_file, read_fact, translate_errors, write_fact
from entrez_kit.local.import_workers import PlannedFile
from entrez_kit.local.importing import open_importer_at
from entrez_kit.local.source_files import SourceFile

_STATE = """
    SELECT count(*) || ' ' || total(version) || ' ' || total(pmid * 1.0) || ' ' || coalesce(max(content_hash), '')
    FROM membership JOIN documents USING (pmid) WHERE query_key = ? AND status = 'current'
"""


def open_local(settings: Settings, name: str) -> Copy:
    """Open a copy, or a synced corpus by its key. A copy comes first if both have the name.

    A corpus is converted when it is first used, and again after it has changed.

    Raises:
        EntityNotFound: neither exists.
        StoreError: it is damaged or cannot be read.
    """
    try:
        return Copy(find_folder(settings, name))
    except EntityNotFound as exc:
        store = Store.of(settings)
        has_corpus = (settings.data_dir / CORPUS_FILE).exists()
        keys = [corpus.query_key for corpus in store.corpora().corpora] if has_corpus else []
        if name in keys:
            return _open_corpus(settings, store, name)
        if keys:
            exc.details["corpora"] = keys[:20]
        raise


def _open_corpus(settings: Settings, store: Store, key: str) -> Copy:
    state = store.read(_read_state, key)
    name = hashlib.blake2b(key.encode(), digest_size=12).hexdigest()
    folder = find_copies_folder(settings) / f".corpus-{name}"
    if _read_stored_state(folder) != state:
        with lock_copy(folder):
            if _read_stored_state(folder) != state:
                _import_corpus(settings, store, key, state, folder)
    copy = Copy(folder)
    copy.name = key
    return copy


def _read_state(connection: sqlite3.Connection, key: str) -> str:
    return str(connection.execute(_STATE, (key,)).fetchone()[0])


def _read_stored_state(folder: Path) -> str | None:
    if not (folder / FILE).is_file():
        return None
    connection = open_file(folder / FILE)
    try:
        state = read_fact(connection, "corpus_state")
    finally:
        connection.close()
    return None if state is None else str(state)


def _import_corpus(settings: Settings, store: Store, key: str, state: str, folder: Path) -> None:
    """Write all records of a query as PubMed XML and import them. The state is stored last, so a kill costs nothing."""
    begin_stage(f"Indexing the corpus {key}")
    with translate_errors(folder / FILE):
        shutil.rmtree(folder, ignore_errors=True)
    with open_importer_at(folder, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")) as importer:
        path = importer.work / "corpus.xml"
        with translate_errors(folder / FILE), path.open("wb") as file:
            file.write(b"<PubmedArticleSet>")
            for article in store.read_articles(key):
                file.write(write_article(article))
            file.write(b"</PubmedArticleSet>")
        importer.run([PlannedFile(SourceFile(path), 1)], total=1, workers=1)
        importer.log.raise_if_all_failed()
        write_fact(importer.connection, "corpus", key)
        importer.finish()
        write_fact(importer.connection, "corpus_state", state)

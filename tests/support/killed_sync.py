"""Kill a sync at chosen SQL statements, run it again, and compare the result with an uninterrupted sync.

The tests run it as a program with one thread, so that it can fork: each attempt is a child that is killed by
SIGKILL at its k-th statement, followed by one that is not killed.

    python killed_sync.py FOLDER URL [URL_BEFORE] [--every]
"""

import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from invented_papers import Clock, list_rows, read_contents

from entrez_kit import EntrezKit, load_settings
from entrez_kit.corpus import embeddings, indexing, models, sync
from entrez_kit.corpus.search import index, vector_index, vectors
from entrez_kit.corpus.store import database, store_of
from entrez_kit.corpus.store.store import Store
from entrez_kit.pubmed import date_slices as slices
from entrez_kit.services.transport import limiter, retry

PRELOADED = ("entrez_kit.pubmed.xml.records", "entrez_kit.services.transport.wire")
"""Imported here, so that no child imports it again."""
ATTEMPTS = 7
SEED = 5


class LetterModel:
    """A model that counts letters."""

    name = "test:letters"

    def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector a text."""
        return [[0.5 + text.count(letter) for letter in "aeio"] for text in texts]


def main(folder: Path, url: str, url_before: str | None, *, every: bool) -> dict[str, Any]:
    """Return the number of statements of a sync, those at which it was killed, and the errors."""
    for name in PRELOADED:
        import_module(name)
    setattr(index, "AT_ONCE", 16)  # noqa: B010 - small, so that the full-text index has several blocks, too
    setattr(vector_index, "AT_ONCE", 16)  # noqa: B010 - and that of the vectors
    setattr(vector_index, "BLOCK", 8)  # noqa: B010
    setattr(vectors, "BATCH", 20)  # noqa: B010
    setattr(embeddings, "create_embedder", lambda settings: embeddings.Embedder(LetterModel()))  # noqa: B010
    setattr(sync, "BATCH", 8)  # noqa: B010 - small, so that few records make many batches
    setattr(slices, "MAX_PUBMED_RESULTS", 25)  # noqa: B010 - and several slices
    limiter.RateLimiter.acquire = lambda self, deadline=None: nullcontext()  # type: ignore[method-assign]  # no waiting
    retry.Backoff.compute_wait = lambda self, failures, retry_after: 0.001  # type: ignore[method-assign]
    before = folder / "before"
    before.mkdir(parents=True)
    if url_before:
        _run_in_child(partial(_run_sync, before, url_before, minutes=0))
    calm = folder / "calm"
    shutil.copytree(before, calm)
    _run_in_child(partial(_run_sync, calm, url, minutes=60, statements=folder / "statements.json"))
    expected = _read_state(calm)
    statements: list[str] = json.loads((folder / "statements.json").read_text(encoding="utf-8"))
    tried = list(range(1, len(statements) + 1)) if every else _choose_statements(statements)
    problems = []
    place = folder / "attempt"
    for kill_at in tried:
        shutil.copytree(before, place)
        status = _run_in_child(partial(_run_sync, place, url, minutes=60, kill_at=kill_at))
        if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGKILL:
            problems.append(f"{kill_at}: was not killed")
        problems += [f"{kill_at}: {problem}" for problem in _find_errors(place)]
        if _run_in_child(partial(_run_sync, place, url, minutes=90)):
            problems.append(f"{kill_at}: the sync after it failed")
        if _read_state(place) != expected:
            problems.append(f"{kill_at}: other contents, killed before {statements[kill_at - 1][:80]!r}")
        shutil.rmtree(place)
    return {"statements": len(statements), "tried": len(tried), "problems": problems}


def _choose_statements(statements: Sequence[str]) -> list[int]:
    """Take the beginnings and ends of transactions, what follows them, and some others."""
    borders = [
        number + after
        for number, statement in enumerate(statements, start=1)
        if statement.startswith(("BEGIN IMMEDIATE", "COMMIT"))
        for after in (0, 1)
        if number + after <= len(statements)
    ]
    chance = random.Random(SEED)
    others = chance.sample(range(1, len(statements) + 1), min(ATTEMPTS, len(statements)))
    return sorted({*chance.sample(borders, min(ATTEMPTS, len(borders))), *others})


def _run_in_child(work: Callable[[], None]) -> int:
    """Run a function in a forked child and return how it ended."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


def _run_sync(
    folder: Path, url: str, *, minutes: int, kill_at: int | None = None, statements: Path | None = None
) -> None:
    """Sync once; stop at the k-th statement, or record all of them."""
    seen: list[str] = []

    def trace(statement: str) -> None:
        seen.append(statement)
        if len(seen) == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    connect = database.sqlite3.connect  # type: ignore[attr-defined]

    def record_statement(*arguments: Any, **more: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **more)
        connection.set_trace_callback(trace)
        return connection

    database.sqlite3.connect = record_statement  # type: ignore[attr-defined]
    settings = replace(
        load_settings({"home": folder}).use_sandbox(url), demo=False, data_dir=folder, state_dir=folder / "state",
        no_cache=True, embeddings="hf",
    )  # fmt: skip
    with EntrezKit(settings) as kit:
        clock = Clock()
        clock.moment += timedelta(minutes=minutes)
        store_of(kit.services).clock = clock
        sync.Sync(kit.services, models.SyncRequest(query_key="fish", term="zebrafish")).result()
        if (problem := indexing.index_new(kit.services)) is not None:
            raise problem
        with store_of(kit.services).reading() as connection:
            assert vectors.count_missing(connection, LetterModel.name) == 0
    if statements is not None:
        statements.write_text(json.dumps(seen), encoding="utf-8")


def _read_state(folder: Path) -> str:
    """Return a fingerprint of everything that must be the same."""
    store = Store(folder / "corpus.db")
    held = read_contents(store)
    store.close()
    return hashlib.sha256(json.dumps(held).encode()).hexdigest()


def _find_errors(folder: Path) -> list[str]:
    """Return the problems of a store right after its sync was killed: there must be none."""
    store = Store(folder / "corpus.db")
    found = []
    [(integrity,)] = list_rows(store, "PRAGMA integrity_check")
    if integrity != "ok":
        found.append(f"integrity: {integrity}")
    current = {row[0] for row in list_rows(store, "SELECT pmid FROM documents WHERE status = 'current'")}
    queued = {row[0] for row in list_rows(store, "SELECT pmid FROM lexical_queue")}
    indexed = set(read_contents(store)["words"][0][0]["records"])
    if indexed - queued != current - queued:
        found.append("the full-text index and its queue have other records than there are")
    with store.reading() as connection:
        (query,) = embeddings.Embedder(LetterModel()).yield_matrices(["aei"])
        near = {
            one.uuid for one in vectors.find_nearest(connection, LetterModel.name, query[0], 1, also=sorted(current))
        }
        blocks = list(vector_index.read_vector_blocks(connection, LetterModel.name, 4))
        waiting = set(vector_index.list_queued(connection, LetterModel.name))
    held = {
        chunk for block in blocks for chunk in block.chunks[slice(None) if block.kept is None else block.kept].tolist()
    }
    embedded = {row[0] for row in list_rows(store, "SELECT chunk_id FROM vectors")}
    if held - waiting != embedded - waiting:
        found.append("the index of the vectors and its queue have other passages than there are")
    if len(near) != len(
        {row[0] for row in list_rows(store, "SELECT pmid FROM chunks AS c JOIN vectors AS v ON v.chunk_id = c.id")}
    ):
        found.append("a search by meaning misses records that have vectors")
    if list_rows(store, "PRAGMA foreign_key_check"):
        found.append("something hangs on a record that is not there")
    if list_rows(
        store, "SELECT pmid FROM documents WHERE status = 'current' AND pmid NOT IN (SELECT pmid FROM chunks)"
    ):
        found.append("a record without chunks")
    if list_rows(
        store, "SELECT d.pmid FROM documents AS d LEFT JOIN versions AS v USING (pmid, version) WHERE v.pmid IS NULL"
    ):
        found.append("a record whose version is not among its versions")
    # Records were entered a day apart, so that those up to the checkpoint are known.
    [(reached,)] = list_rows(store, "SELECT max(last_edat) FROM checkpoints")
    if reached is not None:
        [(days,)] = list_rows(
            store, "SELECT count(DISTINCT substr(edat, 1, 10)) FROM documents WHERE edat <= ?", reached
        )
        [(expected,)] = list_rows(
            store,
            "SELECT julianday(substr(?, 1, 10)) - julianday(min(substr(edat, 1, 10))) + 1 FROM documents",
            reached,
        )
        if days != expected:
            found.append(f"the checkpoint is at {reached}, but only {days} of {expected} days are here")
    store.close()
    return found


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    outcome = main(Path(given[0]), given[1], given[2] if len(given) > 2 else None, every="--every" in sys.argv)
    sys.stdout.write(json.dumps(outcome) + "\n")

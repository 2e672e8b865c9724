"""Store: the interface of the corpus for the rest of the package.

``schema`` describes the tables. Searches and remote indexes use connections from ``reading`` and ``writing``.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar, TypeVarTuple

from entrez_kit.base.errors import EntityNotFound, InvalidInput
from entrez_kit.base.frontend_text import Argument, FrontendText, NextCall
from entrez_kit.base.settings import CORPUS_FILE, Settings
from entrez_kit.corpus.documents import Doc
from entrez_kit.corpus.store import checkpoints, corpus_stats, differences, membership, reading, writing
from entrez_kit.corpus.store.checkpoints import Checkpoint, CheckpointLog, JobStatus, SyncJob
from entrez_kit.corpus.store.corpus_stats import CorpusList, CorpusStats
from entrez_kit.corpus.store.database import CorpusFile, lock_corpus
from entrez_kit.corpus.store.differences import CorpusDiff
from entrez_kit.corpus.store.reading import StoredDoc
from entrez_kit.corpus.store.schema import rebuild_vector_index, rebuild_word_index
from entrez_kit.corpus.store.writing import Upserted
from entrez_kit.corpus.times import get_utc_now, read_moment, stamp, to_second
from entrez_kit.pubmed.models import Article

Answer = TypeVar("Answer")
Asked = TypeVarTuple("Asked")

_NONE: Final[Mapping[int, str | None]] = MappingProxyType({})


class Store(CorpusFile):
    """The local corpus of a user: records, their versions and chunks, and the checkpoints of queries.

    Safe for threads and for several processes. The first write creates the file; before that the corpus is empty.
    Every method raises ``StoreError`` if the file cannot be used.

    Args:
        clock: returns the current time; tests replace it.
        graph_records: the folder with the hashes of graph files; default: a folder next to the file.
    """

    def __init__(
        self, path: Path, *, clock: Callable[[], datetime] = get_utc_now, graph_records: Path | None = None
    ) -> None:
        super().__init__(path, graph_records)
        self.clock = clock

    @classmethod
    def of(cls, settings: Settings) -> "Store":
        """Return the corpus in the data folder."""
        return cls(settings.data_dir / CORPUS_FILE, graph_records=settings.cache_dir / "graphs")

    def read(self, question: Callable[[sqlite3.Connection, *Asked], Answer], *arguments: *Asked) -> Answer:
        """Run a query function of ``reading`` on a snapshot of the corpus and return its result."""
        with self.reading() as connection:
            return question(connection, *arguments)

    # documents

    def upsert_pubmed_docs(
        self,
        docs: Iterable[Article | Doc],
        query_key: str | None = None,
        *,
        within: sqlite3.Connection | None = None,
    ) -> Upserted:
        """Insert new records, add versions of changed records, and update the last-seen time of the others.

        Args:
            docs: the records.
            query_key: the query that found them, if any.
            within: the connection of an open transaction; by default the call opens its own.
        """
        prepared = [item if isinstance(item, Doc) else Doc.of(item) for item in docs]
        now = stamp(self.clock())
        with self.writing() if within is None else nullcontext(within) as connection:
            done = writing.upsert(connection, prepared, now)
            if query_key is not None:
                writing.add_members(connection, query_key, [doc.pmid for doc in prepared], now)
        return done

    def get_pubmed_doc(self, pmid: int | str) -> StoredDoc | None:
        """Return a record; None if the corpus does not have it."""
        return self.read_documents([int(pmid)]).get(int(pmid))

    def read_documents(self, pmids: Sequence[int]) -> dict[int, StoredDoc]:
        """Return records by PMID; records not in the corpus are omitted."""
        return self.read(reading.read_documents, pmids)

    def read_articles(self, query_key: str | None = None) -> Iterator[Article]:
        """Yield the whole records of the corpus or of one query, by PMID, from one snapshot.

        Raises:
            EntityNotFound: the corpus does not have this query.
        """
        with self._read_query(query_key) as connection:
            yield from reading.read_articles(connection, query_key)

    def read_rows(self, query_key: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield the records of the corpus or of one query, by PMID, as table rows.

        Raises:
            EntityNotFound: the corpus does not have this query.
        """
        with self._read_query(query_key) as connection:
            yield from reading.iter_rows(connection, query_key)

    def reindex(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Rebuild the data derived from stored records (quality, chunks, indexes); return the number of records.

        Needed after an upgrade that changes the scores or the chunks. It creates no new versions, and an unchanged
        chunk keeps its vectors.

        Args:
            progress: called after each batch with the number of records done and the total.
        """
        done, last = 0, -1
        total = self.stats().documents
        while True:
            with self.writing() as connection:
                page = list(reading.read_articles_after(connection, last))
                writing.rederive(connection, [Doc.of(article) for article in page], stamp(self.clock()))
            if not page:
                break
            done, last = done + len(page), int(page[-1].pmid)
            if progress is not None:
                progress(done, max(done, total))
        with self.writing() as connection:
            rebuild_word_index(connection)
            rebuild_vector_index(connection)
        self.index_words()
        self.index_vectors()
        return done

    def index_words(self, least: int = 1, progress: Callable[[int, int], None] | None = None) -> None:
        """Update the full-text index, some thousands of records per transaction.

        Args:
            least: the minimum number of queued records; with fewer, do nothing.
            progress: called after each transaction with the number of records done and the total.
        """
        from entrez_kit.corpus.search import index as lexical

        self._catch_up(lexical.count_queued, lexical.catch_up, least, progress)

    def index_vectors(self, least: int = 1, progress: Callable[[int, int], None] | None = None) -> None:
        """Update the vector index, some thousands of vectors per transaction; see ``index_words``."""
        from entrez_kit.corpus.search import vector_index

        self._catch_up(vector_index.count_queued, vector_index.catch_up, least, progress)

    def _catch_up(
        self,
        queued: Callable[[sqlite3.Connection], int],
        catch_up: Callable[[sqlite3.Connection], int],
        least: int,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        total = self.read(queued)
        done, more = 0, total >= least
        while more:
            with self.writing() as connection:
                count = catch_up(connection)
            done, more = done + count, count > 0
            if progress is not None:
                progress(done, max(done, total))

    # checkpoints

    def get_checkpoint(self, query_key: str) -> Checkpoint | None:
        """Return the checkpoint of a query; None for an unknown key."""
        return self.read(checkpoints.get, query_key)

    def set_checkpoint(self, query_key: str, last_edat: str, note: str | None = None) -> None:
        """Set a checkpoint to an earlier or later time and log the change.

        Raises:
            InvalidInput: the time is invalid, or is in the future, so that a sync would skip records.
        """
        moment, now = read_moment(last_edat, "last_edat"), self.clock()
        if moment > to_second(now + timedelta(days=1)):
            raise InvalidInput(
                FrontendText(
                    Argument("last_edat"),
                    f": {last_edat} is in the future. Records entered before that time would never be fetched.",
                ),
                invalid_input=f"last_edat={last_edat}",
                recovery_hint="Give a time in the past.",
                details={"reason": "future_checkpoint"},
            )
        with self.writing() as connection:
            checkpoints.set_by_hand(connection, query_key, moment, now, note)

    def checkpoint_log(self, query_key: str) -> CheckpointLog:
        """Return the log of a checkpoint, latest entry first."""
        with self._read_query(query_key) as connection:
            return checkpoints.read_log(connection, query_key)

    # reports

    def corpora(self) -> CorpusList:
        """Return the queries of the corpus."""
        return CorpusList(path=str(self.path), corpora=self.read(corpus_stats.list_corpora))

    def stats(self, query_key: str | None = None) -> CorpusStats:
        """Return the statistics of the corpus, or of one query.

        Raises:
            EntityNotFound: the corpus does not have this query.
        """
        with self._read_query(query_key) as connection:
            return corpus_stats.compute_stats(connection, str(self.path), self.size_bytes(), query_key)

    def get_last_sync(self, query_key: str) -> str | None:
        """Return the start of the last sync of a query; None before the first one.

        Raises:
            EntityNotFound: the corpus does not have this query.
            StoreError: the corpus cannot be read.
        """
        with self._read_query(query_key) as connection:
            return differences.read_last_sync(connection, query_key)

    def diff(self, query_key: str, since: str) -> CorpusDiff:
        """List the records of a query that were added, revised, retracted or deleted since a time.

        Raises:
            EntityNotFound: the corpus does not have this query.
            InvalidInput: ``since`` is not a time.
        """
        moment = read_moment(since, "since")
        with self._read_query(query_key) as connection:
            return differences.compute_diff(connection, query_key, moment)

    def check_key(self, query_key: str | None) -> None:
        """Check that the corpus has a query; None means the whole corpus.

        Raises:
            EntityNotFound: the corpus does not have this query.
        """
        with self._read_query(query_key):
            pass

    @contextmanager
    def _read_query(self, query_key: str | None) -> Iterator[sqlite3.Connection]:
        with self.reading() as connection:
            if query_key is not None and checkpoints.get(connection, query_key) is None:
                raise _unknown_key(connection, query_key)
            yield connection

    # syncing

    def sync_lock(self, query_key: str) -> AbstractContextManager[object]:
        """Hold the lock for syncing a key; other syncs of it fail with the reason sync_running. See ``lock_corpus``."""
        return lock_corpus(
            self.path,
            f"sync-{hashlib.sha256(query_key.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}",
            f"is being synced for {query_key!r} by another process",
            "sync_running",
            "Wait until the other sync has ended, and try again. You can sync other keys meanwhile.",
            query_key=query_key,
        )

    def start_job(self, query_key: str, term: str, *, replaces_term: bool = False) -> SyncJob:
        """Create the job of a new sync; the caller holds the lock of the key."""
        now = self.clock()
        with self.writing() as connection:
            if replaces_term:
                checkpoints.replace_term(connection, query_key, term, now)
            return checkpoints.start(connection, query_key, term, now)

    def list_fresh(self, job: SyncJob, pmids: Sequence[int]) -> dict[int, str | None]:
        """Return the records that the unfinished sync which this job resumes already fetched, with their EDAT."""
        if not job.resumes:
            return {}
        return self.read(membership.find_seen, pmids, stamp(job.seen_since), stamp(self.clock()))

    def commit_batch(
        self,
        job: SyncJob,
        docs: Sequence[Doc],
        *,
        already_here: Mapping[int, str | None] = _NONE,
        unavailable: Sequence[int] = (),
        deleted: Sequence[int] = (),
        unmatched: Sequence[int] = (),
        advance_to: str | None = None,
    ) -> Upserted:
        """Commit one batch of a sync in one transaction: records, membership, job and checkpoint.

        Args:
            job: the sync; its counts are updated.
            docs: the fetched records.
            already_here: listed records that the resumed sync already fetched, with their EDAT.
            unavailable: listed records that NCBI did not return.
            deleted: records that PubMed has withdrawn.
            unmatched: the records among ``docs`` that the query no longer matches.
            advance_to: the highest EDAT, if this batch completes the records entered up to it.
        """
        from entrez_kit.corpus.search import index as lexical

        now = self.clock()
        with self.writing() as connection:
            checkpoints.bind(connection, job)
            done = self.upsert_pubmed_docs(docs, job.query_key, within=connection)
            pmids = [doc.pmid for doc in docs]
            writing.add_members(connection, job.query_key, already_here, stamp(now))
            writing.note_unmatched(connection, job.query_key, unmatched, stamp(now))
            checkpoints.forget_unavailable(connection, job.query_key, [*pmids, *deleted])
            checkpoints.note_unavailable(connection, job.query_key, unavailable, now)
            deleted_pmids = writing.mark_deleted(connection, deleted, stamp(now))
            edats = filter(None, (job.max_edat_seen, done.max_edat_seen, *already_here.values()))
            after = replace(
                job,
                inserted=job.inserted + len(done.inserted),
                updated=job.updated + len(done.updated) + len(deleted_pmids),
                skipped=job.skipped + len(done.skipped) + len(already_here),
                max_edat_seen=max(edats, default=None),
                warnings=list(job.warnings),
            )
            checkpoints.note_progress(connection, after)
            if advance_to is not None:
                checkpoints.advance(connection, after, min(advance_to, to_second(now)), now)
        job.inserted, job.updated, job.skipped = after.inserted, after.updated, after.skipped
        job.max_edat_seen = after.max_edat_seen
        self.index_words(lexical.AT_ONCE)
        return done

    def finish_job(self, job: SyncJob, status: JobStatus) -> None:
        """Store the final state of a sync; a complete sync also sets the time of the last scan."""
        now = self.clock()
        with self.writing() as connection:
            if status == "complete":
                checkpoints.bind(connection, job)
                checkpoints.record_scan(connection, job)
            checkpoints.finish_sync(connection, job, status, now)
        self.index_words()


def _unknown_key(connection: sqlite3.Connection, query_key: str) -> EntityNotFound:
    query_keys = [row[0] for row in connection.execute("SELECT query_key FROM checkpoints ORDER BY query_key LIMIT 20")]
    hint = f"The existing corpora are: {', '.join(query_keys)}." if query_keys else "No corpus exists yet."
    return EntityNotFound(
        f"The corpus {query_key!r} does not exist.",
        invalid_input=f"query_key={query_key}",
        recovery_hint=FrontendText(
            f"{hint} To create one, call ", NextCall("sync_delta", query_key=query_key, term=...), "."
        ),
        details={"reason": "unknown_query_key", "known": query_keys},
    )

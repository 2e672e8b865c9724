"""The store: versions, membership, chunks, the outbox, checkpoints, and reports about them."""

import json
from pathlib import Path

import pytest
from invented_papers import Clock, Paper, list_rows, make_series, mark_deleted, read_contents

from entrez_kit.base.errors import EntityNotFound, InvalidInput
from entrez_kit.corpus.chunking import chunk_uuid
from entrez_kit.corpus.documents import Doc, hash_content
from entrez_kit.corpus.search import words
from entrez_kit.corpus.store.store import Store
from entrez_kit.pubmed.models import Article

PAPER = Paper(1001)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Store:
    return Store(tmp_path / "corpus.db", clock=clock)


def _read_version(store: Store, pmid: int = 1001) -> int:
    found = store.get_pubmed_doc(pmid)
    assert found is not None
    return found.version


# documents


def test_a_record_is_stored_with_the_values_of_pubmed(store: Store) -> None:
    paper = Paper(
        1001,
        title="On 10² and P<0.001",
        abstract=[("AIMS", "To look."), ("RESULTS", "None.")],
        entered="2024-06-02",
        revised="2024-06-15",
        published=(2024, "May", 11),
        types=("Randomized Controlled Trial",),
        mesh=("Humans",),
        journal="The New England journal of medicine",
    )
    store.upsert_pubmed_docs([paper.article()])

    found = store.get_pubmed_doc("1001")

    assert found is not None
    assert (found.title, found.abstract) == ("On 10² and P<0.001", "AIMS: To look.\nRESULTS: None.")
    assert (found.pdat, found.edat, found.lr) == ("2024-05-11", "2024-06-02T00:00:00Z", "2024-06-15T00:00:00Z")
    assert (found.year, found.pub_types, found.mesh) == (2024, ["Randomized Controlled Trial"], ["Humans"])
    assert (found.quality.design, found.quality.journal, found.quality.human) == (2, 2, 2)
    assert (found.version, found.status, found.retraction_status) == (1, "current", "none")


def test_the_same_record_again_is_skipped_and_makes_no_version(store: Store, clock: Clock) -> None:
    store.upsert_pubmed_docs([PAPER.article()])
    before = read_contents(store)
    clock.move(days=3)

    done = store.upsert_pubmed_docs([PAPER.article()])

    assert (done.inserted, done.updated, done.skipped) == ([], [], [1001])
    assert read_contents(store) == before
    assert list_rows(store, "SELECT substr(first_seen_at, 1, 10), substr(last_seen_at, 1, 10) FROM documents") == [
        ("2026-01-05", "2026-01-08")
    ]


@pytest.mark.parametrize(
    "changed",
    [
        PAPER.change_with(title="Another title"),
        PAPER.change_with(abstract="Another abstract."),
        PAPER.change_with(journal="Another journal"),
        PAPER.change_with(types=("Review",)),
        PAPER.change_with(published=(2024, "Feb", 4)),
        PAPER.change_with(revised="2024-03-11"),
        PAPER.change_with(revised="2024-03-11", mesh=("Humans",)),
        PAPER.change_with(title="An older copy with another title", revised="2024-03-01"),
    ],
    ids=["title", "abstract", "journal", "types", "pdat", "lr", "mesh and lr", "content of an older lr"],
)
def test_other_content_or_a_later_revision_makes_a_version(store: Store, changed: Paper) -> None:
    store.upsert_pubmed_docs([PAPER.article()])

    done = store.upsert_pubmed_docs([changed.article()])

    assert done.updated == [1001]
    assert _read_version(store) == 2
    assert list_rows(store, "SELECT version, change, title FROM versions ORDER BY version") == [
        (1, "added", PAPER.title),
        (2, "revised", changed.title),
    ]


@pytest.mark.parametrize(
    "changed",
    [PAPER.change_with(mesh=("Mice",)), PAPER.change_with(revised="2024-03-01"), PAPER.change_with(revised=None)],
    ids=["mesh", "earlier lr", "no lr"],
)
def test_neither_other_headings_nor_an_earlier_date_make_a_version(store: Store, changed: Paper) -> None:
    store.upsert_pubmed_docs([PAPER.article()])

    assert store.upsert_pubmed_docs([changed.article()]).skipped == [1001]
    assert _read_version(store) == 1


def test_the_order_of_publication_types_does_not_count_as_content(store: Store) -> None:
    store.upsert_pubmed_docs([PAPER.change_with(types=("Review", "Meta-Analysis")).article()])

    assert store.upsert_pubmed_docs([PAPER.change_with(types=("Meta-Analysis", "Review")).article()]).skipped == [1001]


def test_a_first_date_of_revision_counts_as_a_later_one(store: Store) -> None:
    store.upsert_pubmed_docs([PAPER.change_with(revised=None).article()])

    assert store.upsert_pubmed_docs([PAPER.article()]).updated == [1001]


def test_the_content_hash_is_that_of_the_canonical_json() -> None:
    import hashlib

    given = '{"abstract":null,"journal":"J","pdat":"2024","pmcid":"PMC1","pub_types":["A","B"],"title":"Größe"}'

    assert (
        hash_content(title="Größe", abstract=None, journal="J", pub_types=["B", "A"], pdat="2024", pmcid="PMC1")
        == hashlib.sha256(given.encode()).hexdigest()
    )


def test_a_later_date_is_not_replaced_by_an_older_copy(store: Store) -> None:
    store.upsert_pubmed_docs([PAPER.article()])
    store.upsert_pubmed_docs([PAPER.change_with(title="Older copy", revised="2024-03-01").article()])

    found = store.get_pubmed_doc(1001)
    assert found is not None
    assert found.lr == "2024-03-10T00:00:00Z"


def test_a_record_given_twice_at_once_counts_once(store: Store) -> None:
    assert store.upsert_pubmed_docs([PAPER.article(), PAPER.article()]).inserted == [1001]


def test_a_new_retraction_is_distinguished_from_other_revisions(store: Store) -> None:
    store.upsert_pubmed_docs([paper.article() for paper in make_series(3)])

    done = store.upsert_pubmed_docs(
        [
            make_series(3)[0].change_with(retracted_in="J. 2025", revised="2025-01-01").article(),
            make_series(3)[1].change_with(title="Only revised").article(),
            Paper(2000, retracted_in="J. 2024").article(),
        ]
    )

    assert (done.inserted, done.updated, done.retracted) == ([2000], [1001, 1002], [1001])
    assert list_rows(store, "SELECT pmid, change FROM versions WHERE version = 2 ORDER BY pmid") == [
        (1001, "retracted"),
        (1002, "revised"),
    ]


def test_whole_articles_are_returned_by_query(store: Store) -> None:
    papers = make_series(4)
    store.upsert_pubmed_docs([paper.article() for paper in papers[:3]], "a")
    store.upsert_pubmed_docs([papers[3].article()], "b")
    store.set_checkpoint("b", "2024-01-01")

    assert [article.pmid for article in store.read_articles()] == ["1001", "1002", "1003", "1004"]
    assert list(store.read_articles("b")) == [papers[3].article()]


def test_the_highest_date_of_entry_is_returned(store: Store) -> None:
    done = store.upsert_pubmed_docs([paper.article() for paper in make_series(3)])

    assert done.max_edat_seen == "2024-01-03T00:00:00Z"


# deletions


def test_a_withdrawn_record_has_its_text_and_is_in_no_index(store: Store) -> None:
    store.upsert_pubmed_docs([PAPER.article()], "k")

    assert mark_deleted(store, [1001, 4711]) == [1001]
    assert mark_deleted(store, [1001]) == []

    found = store.get_pubmed_doc(1001)
    assert found is not None
    assert (found.status, found.version, found.title) == ("deleted", 2, PAPER.title)
    assert list_rows(store, "SELECT version, change FROM versions") == [(1, "added"), (2, "deleted")]
    assert list_rows(store, "SELECT count(*) FROM chunks") == [(0,)]
    assert list_rows(store, "SELECT uuid, operation FROM outbox") == [(chunk_uuid(1001, "w0"), "delete")]
    assert list(store.read_articles()) == []


def test_a_withdrawn_record_that_returns_is_added_again(store: Store) -> None:
    store.upsert_pubmed_docs([PAPER.article()])
    mark_deleted(store, [1001])

    assert store.upsert_pubmed_docs([PAPER.article()]).updated == [1001]
    assert list_rows(store, "SELECT version, change FROM versions") == [(1, "added"), (2, "deleted"), (3, "added")]
    assert list_rows(store, "SELECT count(*) FROM chunks") == [(1,)]
    assert list_rows(store, "SELECT operation FROM outbox") == [("upsert",)]


# chunks and the outbox


LONG = [("METHODS", "We looked at zebrafish. " * 40), ("RESULTS", "They swam very well. " * 40)]


def test_unchanged_chunks_have_their_vectors(store: Store) -> None:
    store.upsert_pubmed_docs([PAPER.change_with(abstract=LONG).article()])
    with store.writing() as connection:
        connection.execute("INSERT INTO vectors SELECT id, 'm', 1, x'00000000' FROM chunks")

    store.upsert_pubmed_docs([PAPER.change_with(abstract=[LONG[0], ("RESULTS", "They sank. " * 60)]).article()])

    assert list_rows(
        store, "SELECT c.chunk_id, v.model FROM chunks AS c LEFT JOIN vectors AS v ON v.chunk_id = c.id"
    ) == [
        ("s0", "m"),
        ("s1", None),
    ]


def test_chunks_missing_in_a_revision_are_deleted_everywhere(store: Store) -> None:
    store.upsert_pubmed_docs([PAPER.change_with(abstract=LONG).article()])
    with store.writing() as connection:
        connection.execute("INSERT INTO vectors SELECT id, 'm', 1, x'00000000' FROM chunks")
        connection.execute("DELETE FROM outbox")

    store.upsert_pubmed_docs([PAPER.change_with(abstract="Short now.").article()])

    assert list_rows(store, "SELECT chunk_id FROM chunks") == [("w0",)]
    assert list_rows(store, "SELECT count(*) FROM vectors") == [(0,)]
    assert dict(list_rows(store, "SELECT uuid, operation FROM outbox")) == {
        chunk_uuid(1001, "s0"): "delete",
        chunk_uuid(1001, "s1"): "delete",
        chunk_uuid(1001, "w0"): "upsert",
    }


def test_the_outbox_has_the_latest_state_of_each_chunk_and_its_numbers_only_grow(store: Store) -> None:
    store.upsert_pubmed_docs([PAPER.article()])
    [(first,)] = list_rows(store, "SELECT id FROM outbox")
    store.upsert_pubmed_docs([PAPER.change_with(revised="2024-05-01").article()])

    [(second, operation)] = list_rows(store, "SELECT id, operation FROM outbox")
    assert second > first
    assert operation == "upsert"


def test_derived_data_are_computed_again_without_a_version(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from entrez_kit.corpus import documents
    from entrez_kit.corpus.chunking import Chunk, chunk_article
    from entrez_kit.corpus.quality import Lasting

    store.upsert_pubmed_docs([paper.article() for paper in make_series(3)], "k")
    mark_deleted(store, [1003])
    store.index_words()
    before = read_contents(store)
    with store.writing() as connection:
        connection.execute("DELETE FROM outbox")
    assert store.reindex() == 2
    assert read_contents(store) | {"outbox": before["outbox"]} == before
    assert list_rows(store, "SELECT count(*) FROM outbox") == [(0,)]

    def otherwise(article: Article) -> list[Chunk]:
        return [Chunk("w0", None, "cut in another way", 6)] if article.pmid == "1001" else chunk_article(article)

    monkeypatch.setattr(documents, "chunk_article", otherwise)
    monkeypatch.setattr(documents, "score_lasting_parts", lambda **_: Lasting(3, 2, 2))
    reported: list[tuple[int, int]] = []
    store.reindex(lambda done, total: reported.append((done, total)))

    assert reported == [(2, 2)]
    assert list_rows(store, "SELECT uuid FROM outbox") == [(chunk_uuid(1001, "w0"),)]
    assert list_rows(store, "SELECT DISTINCT version, design FROM documents WHERE status = 'current'") == [(1, 3)]


# the full-text index


@pytest.mark.parametrize("indexed", [True, False], ids=["written", "queued"])
def test_the_full_text_index_follows_the_records(store: Store, indexed: bool) -> None:
    def find(word: str) -> list[int]:
        if indexed:
            store.index_words()
        with store.reading() as connection:
            return [hit.pmid for hit in words.search_words(connection, word, 10)]

    store.upsert_pubmed_docs(
        [PAPER.change_with(mesh=("Osteoporosis",)).article(), Paper(5, abstract="About mice.").article()]
    )
    assert (find("zebrafish"), find("osteoporosis"), find("mice")) == ([1001], [1001], [5])
    store.upsert_pubmed_docs([PAPER.change_with(abstract="About sharks.").article()])
    assert (find("zebrafish"), find("osteoporosis"), find("sharks")) == ([], [], [1001])
    mark_deleted(store, [1001])
    assert (find("sharks"), find("mice")) == ([], [5])
    store.reindex()
    assert (find("sharks"), find("mice")) == ([], [5])


# checkpoints


def test_a_checkpoint_set_by_hand_may_have_any_time_and_is_audited(store: Store, clock: Clock) -> None:
    store.set_checkpoint("k", "2025-08-17T15:59:02Z")
    clock.move(hours=1)
    store.set_checkpoint("k", "2020-01-01", note="backfill")

    found = store.get_checkpoint("k")
    assert found is not None
    assert found.last_edat == "2020-01-01T00:00:00Z"
    assert [move.model_dump() for move in store.checkpoint_log("k").entries] == [
        {
            "at": "2026-01-05T13:00:00.000000Z",
            "kind": "manual",
            "old_edat": "2025-08-17T15:59:02Z",
            "new_edat": "2020-01-01T00:00:00Z",
            "note": "backfill",
        },
        {
            "at": "2026-01-05T12:00:00.000000Z",
            "kind": "manual",
            "old_edat": None,
            "new_edat": "2025-08-17T15:59:02Z",
            "note": None,
        },
    ]


def test_a_checkpoint_moved_by_a_sync_never_goes_back(store: Store) -> None:
    job = store.start_job("k", "zebrafish")
    store.commit_batch(job, [], advance_to="2024-05-01T00:00:00Z")
    store.commit_batch(job, [], advance_to="2024-04-01T00:00:00Z")
    store.commit_batch(job, [], advance_to="2024-05-01T00:00:00Z")

    found = store.get_checkpoint("k")
    assert found is not None
    assert (found.term, found.last_edat) == ("zebrafish", "2024-05-01T00:00:00Z")
    assert [move.kind for move in store.checkpoint_log("k").entries] == ["automatic"]


def test_a_record_with_a_future_date_does_not_move_the_checkpoint_into_the_future(store: Store) -> None:
    store.commit_batch(store.start_job("k", "zebrafish"), [], advance_to="2031-01-01T00:00:00Z")

    found = store.get_checkpoint("k")
    assert found is not None
    assert found.last_edat == "2026-01-05T12:00:00Z"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2025-08-17T15:59:02Z", "2025-08-17T15:59:02Z"),
        ("2025-08-17T15:59:02.123Z", "2025-08-17T15:59:02Z"),
        ("2025-08-17T17:59:02+02:00", "2025-08-17T15:59:02Z"),
        ("2025-08-17T15:59", "2025-08-17T15:59:00Z"),
        (" 2025-08-17 ", "2025-08-17T00:00:00Z"),
    ],
)
def test_times_are_read_in_the_forms_of_iso_8601(store: Store, given: str, kept: str) -> None:
    store.set_checkpoint("k", given)

    found = store.get_checkpoint("k")
    assert found is not None
    assert found.last_edat == kept


@pytest.mark.parametrize(
    "given", ["", "yesterday", "2025-13-01", "2025-02-30", "20250817", "2025-08-17T25:00Z", "0000-01-01"]
)
def test_an_invalid_time_is_rejected_by_name(store: Store, given: str) -> None:
    with pytest.raises(InvalidInput, match="last_edat") as caught:
        store.set_checkpoint("k", given)

    assert caught.value.invalid_input == f"last_edat={given}"
    assert store.get_checkpoint("k") is None


def test_a_checkpoint_in_the_future_is_refused(store: Store) -> None:
    with pytest.raises(InvalidInput, match="future"):
        store.set_checkpoint("k", "2026-02-01")


# jobs


def test_a_job_has_a_unique_name_from_its_start(store: Store) -> None:
    assert store.start_job("a", "zebrafish").job_id == "sync_2026-01-05T12:00:00Z"
    assert store.start_job("b", "zebrafish").job_id == "sync_2026-01-05T12:00:01Z"


def test_a_job_knows_the_records_that_unfinished_earlier_ones_fetched(store: Store, clock: Clock) -> None:
    docs = [Doc.of(paper.article()) for paper in make_series(2)]
    first = store.start_job("k", "zebrafish")
    store.commit_batch(first, docs[:1])
    clock.move(hours=2)
    second = store.start_job("k", "zebrafish")
    assert store.list_fresh(second, [1001, 1002]) == {1001: "2024-01-01T00:00:00Z"}
    store.commit_batch(second, docs[1:])
    clock.move(hours=2)
    third = store.start_job("k", "zebrafish")
    assert set(store.list_fresh(third, [1001, 1002])) == {1001, 1002}
    store.finish_job(third, "complete")
    clock.move(hours=2)

    assert store.list_fresh(store.start_job("k", "zebrafish"), [1001, 1002]) == {}
    assert list_rows(store, "SELECT status FROM jobs ORDER BY started_at") == [
        ("interrupted",),
        ("interrupted",),
        ("complete",),
        ("running",),
    ]


def test_records_fetched_more_than_a_day_ago_are_fetched_again(store: Store, clock: Clock) -> None:
    store.commit_batch(store.start_job("k", "zebrafish"), [Doc.of(PAPER.article())])
    clock.move(hours=25)

    assert store.list_fresh(store.start_job("k", "zebrafish"), [1001]) == {}


def test_a_job_that_cannot_commit_counts_nothing(store: Store) -> None:
    job = store.start_job("k", "zebrafish")
    with store.writing() as connection:
        connection.execute("CREATE TRIGGER no BEFORE INSERT ON chunks BEGIN SELECT raise(ABORT, 'no'); END")

    with pytest.raises(Exception, match="no"):
        store.commit_batch(job, [Doc.of(PAPER.article())], advance_to="2024-01-01T00:00:00Z")

    assert job.pmids_processed == 0
    assert list_rows(store, "SELECT count(*) FROM documents") == [(0,)]
    assert store.get_checkpoint("k") is None


# reports


def test_differences_are_grouped_by_the_kind_of_change(store: Store, clock: Clock) -> None:
    old = make_series(6)
    store.upsert_pubmed_docs([paper.article() for paper in old], "k")
    store.set_checkpoint("k", "2024-01-06")
    clock.move(days=10)
    store.upsert_pubmed_docs(
        [
            old[0].article(),
            old[1].change_with(title="Revised once").article(),
            old[2].change_with(retracted_in="J. 2026", revised="2026-01-10").article(),
            Paper(3000, title="New").article(),
            Paper(3001, title="New and retracted", retracted_in="J. 2026").article(),
        ],
        "k",
    )
    store.upsert_pubmed_docs([old[1].change_with(title="Revised twice", journal="Elsewhere").article()], "k")
    mark_deleted(store, [old[3].pmid])

    found = store.diff("k", "2026-01-10")

    assert [(item.pmid, item.title) for item in found.added] == [("3000", "New"), ("3001", "New and retracted")]
    [revised] = found.revised
    assert (revised.pmid, revised.from_version, revised.to_version) == ("1002", 1, 3)
    assert revised.changed == ["title", "journal"]
    [retracted] = found.retracted
    assert (retracted.pmid, retracted.changed) == ("1003", ["retraction_status", "lr"])
    assert [item.pmid for item in found.deleted] == ["1004"]
    assert found.added[1].retraction_status == "retracted"


def test_differences_before_the_requested_day_are_omitted(store: Store, clock: Clock) -> None:
    store.upsert_pubmed_docs([PAPER.article()], "k")
    store.set_checkpoint("k", "2024-01-06")
    clock.move(days=1)
    store.upsert_pubmed_docs([PAPER.change_with(title="Revised").article()], "k")
    clock.move(days=1)

    def list_numbers(since: str) -> tuple[int, int]:
        found = store.diff("k", since)
        return len(found.added), len(found.revised)

    assert list_numbers("2026-01-05") == (1, 0)
    assert list_numbers("2026-01-06") == (0, 1)
    assert list_numbers("2026-01-06T12:00:00Z") == (0, 1)
    assert list_numbers("2026-01-06T12:00:01Z") == (0, 0)
    assert list_numbers("2027-01-01") == (0, 0)


def test_a_record_of_another_query_is_new_to_the_query_that_finds_it_later(store: Store, clock: Clock) -> None:
    store.upsert_pubmed_docs([PAPER.article()], "a")
    clock.move(days=5)
    store.upsert_pubmed_docs([PAPER.article()], "b")
    for key in "ab":
        store.set_checkpoint(key, "2024-01-01")

    assert [item.pmid for item in store.diff("b", "2026-01-08").added] == ["1001"]
    assert store.diff("a", "2026-01-08").added == []


def test_a_record_withdrawn_before_a_query_found_it_is_not_a_difference(store: Store, clock: Clock) -> None:
    store.upsert_pubmed_docs([PAPER.article()], "k")
    store.set_checkpoint("k", "2024-01-01")
    clock.move(days=1)
    mark_deleted(store, [1001])
    clock.move(days=1)

    assert store.diff("k", "2026-01-07").deleted == []
    assert store.diff("k", "2026-01-05").deleted == []
    assert [item.pmid for item in store.diff("k", "2026-01-06").deleted] == ["1001"]


def test_counts_are_returned_for_all_and_for_one_query(store: Store) -> None:
    store.upsert_pubmed_docs([paper.article() for paper in make_series(3)], "a")
    store.upsert_pubmed_docs([Paper(5, abstract="", published=(1999, "Jan", 1)).article()], "b")
    mark_deleted(store, [1001])
    for key in "ab":
        store.set_checkpoint(key, "2024-01-01")

    everything, one = store.stats(), store.stats("b")

    assert (everything.documents, everything.deleted, everything.with_abstract) == (3, 1, 2)
    assert (everything.corpora, everything.chunks, everything.first_year) == (2, 3, 1999)
    assert (one.documents, one.with_abstract, one.chunks, one.corpora, one.outbox) == (1, 0, 1, 1, 1)
    assert everything.size_bytes > 10_000
    assert [(item.query_key, item.documents, item.deleted) for item in store.corpora().corpora] == [
        ("a", 2, 1),
        ("b", 1, 0),
    ]


def test_an_unknown_query_is_not_found_and_the_known_ones_are_named(store: Store) -> None:
    store.set_checkpoint("known", "2024-01-01")

    for ask in (
        lambda: store.stats("nope"),
        lambda: store.diff("nope", "2024-01-01"),
        lambda: store.checkpoint_log("nope"),
        lambda: list(store.read_articles("nope")),
    ):
        with pytest.raises(EntityNotFound, match="nope") as caught:
            ask()
        assert "known" in caught.value.recovery_hint


def test_lists_in_the_tables_are_json(store: Store) -> None:
    store.upsert_pubmed_docs([PAPER.change_with(types=("Review", "Journal Article")).article()])

    [(types, mesh)] = list_rows(store, "SELECT pub_types, mesh FROM documents")
    assert json.loads(types) == ["Review", "Journal Article"]
    assert json.loads(mesh) == []


def test_the_content_of_a_version_is_stored_when_the_next_one_arrives(store: Store, clock: Clock) -> None:
    for title in ("First", "Second", "Third"):
        store.upsert_pubmed_docs([PAPER.change_with(title=title, abstract=f"{title} abstract.").article()])
        clock.move(days=1)
    mark_deleted(store, [PAPER.pmid])

    assert list_rows(store, "SELECT version, change, title, abstract, pdat FROM versions ORDER BY version") == [
        (1, "added", "First", "First abstract.", "2024-02-03"),
        (2, "revised", "Second", "Second abstract.", "2024-02-03"),
        (3, "revised", "Third", "Third abstract.", "2024-02-03"),
        (4, "deleted", "Third", "Third abstract.", "2024-02-03"),
    ]
    assert list_rows(store, "SELECT count(DISTINCT content_hash), count(title) FROM versions") == [(3, 4)]
    assert list_rows(store, "SELECT count(title) FROM revisions WHERE version = 4") == [(0,)]

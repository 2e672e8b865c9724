"""Syncs of a query: new, revised and deleted records, and failures during a sync."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from changing_pubmed import TERM, ChangingPubMed, get_counts
from fixture_types import KitFor
from invented_papers import Paper, list_rows, make_series, read_contents

from entrez_kit.base.errors import EntrezKitError, InvalidInput, RateLimited, StoreError, UpstreamError
from entrez_kit.base.progress import Cancelled, Watch, watch_calls
from entrez_kit.corpus import sync
from entrez_kit.corpus.models import SyncRequest
from entrez_kit.corpus.store import checkpoints
from entrez_kit.corpus.sync_search import plan_sync
from entrez_kit.pubmed import date_slices as slices
from entrez_kit.pubmed.record_batches import RecordBatches


@pytest.fixture
def world(kit_for: KitFor, tmp_path: Path) -> ChangingPubMed:
    return ChangingPubMed(kit_for, tmp_path)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync, "BATCH", 10)


def _fail(monkeypatch: pytest.MonkeyPatch, pmids: Iterable[int], error: EntrezKitError | None) -> None:
    """Make PubMed not deliver some records: with an error, or as if they did not exist."""
    real, lost = RecordBatches.fetch_pmids, {str(pmid) for pmid in pmids}

    def batch(self: RecordBatches, asked: list[str]) -> Any:
        found, failed = real(self, [pmid for pmid in asked if pmid not in lost])
        return found, failed | ({pmid: error for pmid in asked if pmid in lost} if error else {})

    monkeypatch.setattr(RecordBatches, "fetch_pmids", batch)


# what is found


def test_a_first_sync_fetches_the_whole_query(world: ChangingPubMed) -> None:
    with world.with_records([*make_series(30), Paper(9, abstract="About mice.")]) as state:
        result = state.sync()

        assert get_counts(result) == (30, 0, 0)
        assert result.job_id == "sync_2026-01-05T12:00:00Z"
        assert result.max_edat_seen == state.checkpoint() == "2024-01-30T00:00:00Z"
        assert (result.warnings, result.missing_error()) == ([], None)
        assert state.searched == [TERM]
        [corpus] = state.store.corpora().corpora
        assert (corpus.query_key, corpus.term, corpus.documents) == ("fish", TERM, 30)
        assert (corpus.last_status, corpus.last_scan_at) == ("complete", "2026-01-05T12:00:00Z")
        assert [move.note for move in state.store.checkpoint_log("fish").entries] == [result.job_id]


def test_a_second_sync_reads_the_overlap_and_changes_nothing(world: ChangingPubMed) -> None:
    with world.with_records(make_series(30)) as state:
        state.sync()
        before = read_contents(state.store)
        world.clock.move(minutes=1)

        result = state.sync()

        assert get_counts(result) == (0, 0, 6)
        assert result.max_edat_seen == "2024-01-30T00:00:00Z"
        assert read_contents(state.store) == before
        assert state.searched[1] == '(zebrafish) AND ("2024/01/25"[edat] : "2026/01/05"[edat])'


@pytest.mark.parametrize(("overlap", "first"), [(0, "2024/01/30"), (29, "2024/01/01"), (10**30, "0001/01/01")])
def test_the_overlap_has_the_requested_length(world: ChangingPubMed, overlap: int, first: str) -> None:
    with world.with_records(make_series(30)) as state:
        state.sync()
        state.sync(overlap_days=overlap)

        assert f'("{first}"[edat] :' in state.searched[1]


def test_records_added_late_are_found_in_the_overlap(world: ChangingPubMed) -> None:
    papers = make_series(30)
    with world.with_records([paper for paper in papers if paper.pmid != 1027]) as state:
        state.sync()
    with world.with_records([*papers, Paper(2000, entered="2024-02-03")]) as state:
        result = state.sync()

        assert get_counts(result) == (2, 0, 5)
        assert state.checkpoint() == "2024-02-03T00:00:00Z"


def test_a_revision_of_an_old_record_is_found_by_its_date_of_modification(world: ChangingPubMed) -> None:
    papers = make_series(30)
    with world.with_records(papers) as state:
        state.sync()
    world.clock.move(days=20)
    changed = papers[2].change_with(title="Revised", revised="2026-01-20")
    with world.with_records([papers[0], papers[1], changed, *papers[3:]]) as state:
        result = state.sync()

        assert get_counts(result) == (0, 1, 6)
        assert state.searched[1] == (
            '((zebrafish) AND ("2025/12/31"[mdat] : "2026/01/25"[mdat])) AND ("0001/01/01"[edat] : "2024/01/24"[edat])'
        )
        assert [item.pmid for item in state.store.diff("fish", "2026-01-06").revised] == ["1003"]
        assert state.checkpoint() == "2024-01-30T00:00:00Z"


def test_a_sync_with_a_clock_that_was_ahead_hides_no_revision_from_the_next_one(world: ChangingPubMed) -> None:
    papers = make_series(30)
    world.clock.move(days=300)
    with world.with_records(papers) as state:
        state.sync()
    world.clock.move(days=-280)
    changed = papers[2].change_with(title="Revised", revised="2026-01-20")
    with world.with_records([papers[0], papers[1], changed, *papers[3:]]) as state:
        first, second = state.sync(), state.sync()

    assert first.updated == 1
    assert any("in the future" in warning for warning in first.warnings)
    assert not second.warnings, "the wrong time is still stored"


def test_records_withdrawn_after_a_sync_with_a_clock_that_was_ahead_are_found(world: ChangingPubMed) -> None:
    papers = make_series(30)
    world.clock.move(days=300)
    with world.with_records(papers) as state:
        state.sync()
    world.clock.move(days=-280)
    with world.with_records(papers[:-1]) as state:
        result = state.sync()

    assert any("Withdrawn" in warning for warning in result.warnings)


def test_records_fetched_by_an_interrupted_sync_with_a_clock_ahead_are_fetched_again(world: ChangingPubMed) -> None:
    papers = make_series(30)
    world.clock.move(days=300)
    with world.with_records(papers) as state:
        state.sync()
    world.clock.move(days=-280)
    with world.with_records([paper.change_with(title="Revised", revised="2026-01-20") for paper in papers]) as state:
        state.sandbox.take_down("efetch")
        with pytest.raises(UpstreamError):
            state.sync()
        world.clock.move(hours=1)
    with world.with_records([paper.change_with(title="Revised", revised="2026-01-20") for paper in papers]) as state:
        assert state.sync().updated == 30


def test_a_new_retraction_is_reported_and_listed(world: ChangingPubMed) -> None:
    papers = make_series(30)
    with world.with_records(papers) as state:
        state.sync()
    world.clock.move(days=20)
    with world.with_records(
        [papers[0].change_with(retracted_in="J. 2026", revised="2026-01-15"), *papers[1:]]
    ) as state:
        result = state.sync()

        assert result.warnings == ["Newly retracted: PMID 1001."]
        [found] = state.store.diff("fish", "2026-01-06").retracted
        assert (found.pmid, found.retraction_status) == ("1001", "retracted")


def test_an_old_record_that_matches_after_it_was_indexed_is_found(world: ChangingPubMed) -> None:
    papers = make_series(30)
    unindexed = Paper(500, abstract="About fish.", entered="2024-01-02")
    with world.with_records([*papers, unindexed]) as state:
        state.sync()
    world.clock.move(days=20)
    with world.with_records([*papers, unindexed.change_with(mesh=("Zebrafish",), revised="2026-01-20")]) as state:
        assert get_counts(state.sync()) == (1, 0, 6)


def test_a_withdrawn_record_is_marked_and_reported(world: ChangingPubMed) -> None:
    papers = make_series(30)
    with world.with_records(papers) as state:
        state.sync()
    world.clock.move(days=1)
    with world.with_records(papers[:-1]) as state:
        result = state.sync()

        assert get_counts(result) == (0, 1, 5)
        assert result.warnings == ["Withdrawn from PubMed: PMID 1030."]
        assert [item.pmid for item in state.store.diff("fish", "2026-01-06").deleted] == ["1030"]
        assert get_counts(state.sync()) == (0, 0, 5)


def test_a_record_that_no_longer_matches_stays_and_is_updated(world: ChangingPubMed) -> None:
    papers = make_series(30)
    with world.with_records(papers) as state:
        state.sync()
    world.clock.move(days=1)
    with world.with_records([*papers[:-1], papers[-1].change_with(abstract="About mice.")]) as state:
        result = state.sync()

        assert get_counts(result) == (0, 1, 5)
        assert result.warnings == ["No longer matched by the query, but kept: PMID 1030."]
        assert state.store.stats("fish").documents == 30


def test_a_query_without_results_is_complete(world: ChangingPubMed) -> None:
    with world.with_records(make_series(3)) as state:
        result = state.sync(term="unicorns")

        assert get_counts(result) == (0, 0, 0)
        assert result.max_edat_seen is None
        assert state.checkpoint() is None
        assert state.store.corpora().corpora[0].last_status == "complete"
        assert get_counts(state.sync(term="unicorns")) == (0, 0, 0)


def test_query_parts_that_ncbi_dropped_are_reported(world: ChangingPubMed) -> None:
    with world.with_records(make_series(3)) as state:
        result = state.sync(term="zebrafish AND sharks[nofield]")

        assert any("nofield" in warning for warning in result.warnings)
        assert any("broader than the query" in warning and "'nofield'" in warning for warning in result.warnings)


def test_a_record_with_a_future_date_is_stored_and_hides_no_other(world: ChangingPubMed) -> None:
    papers = make_series(5, first="2025-12-30")
    with world.with_records([*papers, Paper(8, entered="2031-01-01")]) as state:
        assert get_counts(state.sync()) == (6, 0, 0)
        assert state.checkpoint() == "2026-01-05T12:00:00Z"
    world.clock.move(days=3)
    with world.with_records([*papers, Paper(9, entered="2026-01-06")]) as state:
        assert state.sync().inserted == 1


def test_a_sync_does_not_read_the_cache(world: ChangingPubMed) -> None:
    papers = make_series(3)
    with world.with_records(papers) as state:
        state.kit.fetch_contents(pmids=["1001", "1002", "1003"])
        state.kit.search_articles(query_term=TERM)
        state.sync()

        assert state.sandbox.requests("efetch") == 2
        state.sync()
        assert state.sandbox.requests("efetch") == 3
    assert "1001" in state.fetched[1]


def test_two_keys_share_records_and_have_separate_checkpoints(world: ChangingPubMed) -> None:
    with world.with_records([*make_series(5), Paper(50, title="Sharks", abstract="Sharks eat zebrafish.")]) as state:
        state.sync("fish")
        result = state.sync("sharks", "sharks")

        assert get_counts(result) == (0, 0, 1)
        assert state.store.stats("sharks").documents == 1
        assert state.store.stats().documents == 6


# terms


def test_another_term_for_a_key_is_rejected_and_changes_nothing(world: ChangingPubMed) -> None:
    with world.with_records(make_series(5)) as state:
        state.sync()
        before = read_contents(state.store)

        with pytest.raises(InvalidInput, match="synced with a different query: zebrafish") as caught:
            state.sync(term="mice")

        assert caught.value.reason == "term_changed"
        assert read_contents(state.store) == before
        assert state.sync(term="  zebrafish ").inserted == 0


def test_a_term_can_be_replaced_and_the_audit_records_it(world: ChangingPubMed) -> None:
    with world.with_records([*make_series(5), Paper(60, abstract="About mice.", entered="2020-05-05")]) as state:
        state.sync()
        result = state.sync(term="mice", replace_term=True)

        assert get_counts(result) == (1, 0, 0)
        assert state.checkpoint() == "2020-05-05T00:00:00Z"
        assert list_rows(state.store, "SELECT pmid FROM membership") == [(60,)]
        moves = state.store.checkpoint_log("fish").entries
        assert [(move.kind, move.old_edat, move.new_edat) for move in moves] == [
            ("automatic", None, "2020-05-05T00:00:00Z"),
            ("replace_term", "2024-01-05T00:00:00Z", None),
            ("automatic", None, "2024-01-05T00:00:00Z"),
        ]
        assert moves[1].note == "term 'zebrafish' replaced by 'mice'"
        assert state.store.stats().documents == 6


def test_a_term_is_not_replaced_if_pubmed_does_not_answer(world: ChangingPubMed) -> None:
    with world.with_records(make_series(5), ncbi_max_retries=0) as state:
        state.sync()
        before = read_contents(state.store)
        state.sandbox.fail_next("500", "esearch")

        with pytest.raises(UpstreamError):
            state.sync(term="mice", replace_term=True)

        assert read_contents(state.store) == before


@pytest.mark.parametrize("term", ["(zebrafish", '"zebrafish', "zebrafish)"])
def test_a_term_with_unbalanced_brackets_is_rejected(world: ChangingPubMed, term: str) -> None:
    with world.with_records(make_series(5)) as state, pytest.raises(InvalidInput) as caught:
        state.sync(term=term)

    assert caught.value.invalid_input == f"term={term}"
    assert state.sandbox.requests() == 0


def test_a_checkpoint_set_back_by_hand_makes_the_sync_start_there(world: ChangingPubMed) -> None:
    with world.with_records(make_series(30)) as state:
        state.sync()
        before = read_contents(state.store)
        state.store.set_checkpoint("fish", "2024-01-01")

        assert get_counts(state.sync()) == (0, 0, 30)
        assert read_contents(state.store) == before


def test_a_checkpoint_set_before_the_first_sync_is_its_start(world: ChangingPubMed) -> None:
    with world.with_records(make_series(30)) as state:
        state.store.set_checkpoint("fish", "2024-01-20")

        assert get_counts(state.sync()) == (16, 0, 0)
        found = state.store.get_checkpoint("fish")
        assert found is not None
        assert found.term == TERM


# size


def test_a_query_that_is_too_large_for_a_call_is_refused_with_the_command_to_run(world: ChangingPubMed) -> None:
    with world.with_records(make_series(30)) as state:
        with pytest.raises(InvalidInput, match=r"finds 30 records.*at most 20") as caught:
            state.sync(key="my fish", max_new=20)

        assert caught.value.details["command"] == "entrez-kit corpus sync 'my fish' zebrafish"
        assert caught.value.details["command"] in caught.value.recovery_hint
        assert state.store.corpora().corpora == []
        assert state.sync(max_new=30).inserted == 30


def test_a_plan_counts_and_changes_nothing(world: ChangingPubMed) -> None:
    papers = make_series(30)
    with world.with_records(papers) as state:
        plan = plan_sync(state.kit.services, SyncRequest(query_key="fish", term=TERM))

        assert (plan.first_sync, plan.entries, plan.revisions, plan.from_edat) == (True, 30, 0, None)
        assert plan.requests == 3
        assert plan.seconds > 0
        assert not state.store.path.exists()
        state.sync()
    world.clock.move(days=9)
    with world.with_records([papers[0].change_with(revised="2026-01-10"), *papers[1:]]) as state:
        before = read_contents(state.store)
        plan = plan_sync(state.kit.services, SyncRequest(query_key="fish", term=TERM))

        assert (plan.first_sync, plan.entries, plan.revisions, plan.from_edat) == (False, 6, 1, "2024-01-25")
        assert plan.requests == 5
        assert read_contents(state.store) == before


def test_windows_that_are_too_large_are_split_and_read_oldest_first(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "MAX_PUBMED_RESULTS", 12)
    with world.with_records(make_series(40)) as state:
        result = state.sync()

        assert get_counts(result) == (40, 0, 0)
        moves = [move.new_edat for move in reversed(state.store.checkpoint_log("fish").entries)]
        assert len(moves) >= 4
        assert moves == sorted(moves, key=str)
        assert moves[-1] == "2024-02-09T00:00:00Z"


def test_a_single_day_that_is_too_large_is_split_by_its_other_dates(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "MAX_PUBMED_RESULTS", 12)
    crowd = [
        paper.change_with(entered="2024-01-05", published=(1990 + place, "Feb", 3))
        for place, paper in enumerate(make_series(30))
    ]
    with world.with_records(crowd) as state:
        assert get_counts(state.sync()) == (30, 0, 0)
        assert state.checkpoint() == "2024-01-05T00:00:00Z"
        assert get_counts(state.sync()) == (0, 0, 30)


def test_more_records_than_pubmed_lists_are_reported_and_the_checkpoint_stays(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "MAX_PUBMED_RESULTS", 12)
    alike = [paper.change_with(entered="2024-01-05", revised="2024-01-09") for paper in make_series(30)]
    with world.with_records(alike) as state:
        result = state.sync()

        assert result.inserted == 12
        assert "PubMed counted 18 records more than it listed." in result.warnings
        missing_error = result.missing_error()
        assert missing_error is not None
        assert missing_error.details["partial"] is True
        assert state.checkpoint() is None


# failures


@pytest.mark.usefixtures("small_batches")
def test_a_failed_batch_keeps_the_checkpoint_and_is_fetched_next_time(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "MAX_PUBMED_RESULTS", 25)
    with world.with_records(make_series(60)) as state:
        with monkeypatch.context() as trouble:
            _fail(trouble, range(1026, 1030), UpstreamError("no answer", details={"reason": "ncbi_unreachable"}))
            result = state.sync()

        assert get_counts(result) == (56, 0, 0)
        assert state.store.corpora().corpora[0].last_status == "partial"
        missing_error = result.missing_error()
        assert isinstance(missing_error, UpstreamError)
        assert missing_error.details["missing"] == ["1026", "1027", "1028", "1029"]
        assert missing_error.details["partial"] is True
        assert any("1026, 1027, 1028, 1029" in warning for warning in result.warnings)
        held_back = state.checkpoint()
        assert held_back is not None
        assert held_back < "2024-01-26"

        world.clock.move(hours=1)
        requested = len(state.fetched)
        again = state.sync()

        assert again.inserted == 4
        assert again.missing_error() is None
        assert sorted(pmid for batch in state.fetched[requested:] for pmid in batch) == ["1026", "1027", "1028", "1029"]
        assert state.checkpoint() == "2024-02-29T00:00:00Z"
        assert state.store.stats("fish").documents == 60
        assert list_rows(state.store, "SELECT max(version) FROM documents") == [(1,)]


@pytest.mark.usefixtures("small_batches")
def test_a_failed_batch_is_fetched_even_if_the_next_sync_is_late(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world.with_records(make_series(60)) as state:
        with monkeypatch.context() as trouble:
            _fail(trouble, [1001, 1031], UpstreamError("no answer"))
            state.sync()
        assert state.checkpoint() is None
        world.clock.move(days=90)

        assert get_counts(state.sync(overlap_days=0)) == (2, 0, 58)


@pytest.mark.usefixtures("small_batches")
def test_consecutive_failed_batches_lose_no_other_record(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world.with_records(make_series(60)) as state:
        with monkeypatch.context() as trouble:
            _fail(trouble, range(1001, 1051), RateLimited("too fast"))
            result = state.sync()

        assert result.inserted == 10
        missing_error = result.missing_error()
        assert isinstance(missing_error, RateLimited)
        assert len(missing_error.details["missing"]) == 50
        assert state.sync().inserted == 50


@pytest.mark.usefixtures("small_batches")
def test_if_no_record_arrives_the_error_is_raised_and_the_key_stays_free(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world.with_records(make_series(60)) as state:
        with monkeypatch.context() as trouble:
            _fail(trouble, range(1001, 1061), UpstreamError("no answer"))
            with pytest.raises(UpstreamError, match="no answer"):
                state.sync()

        assert state.checkpoint() is None
        assert list_rows(state.store, "SELECT status FROM jobs") == [("failed",)]


def test_a_search_that_fails_after_some_records_stores_them_and_the_checkpoint_before_the_failure(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "MAX_PUBMED_RESULTS", 12)
    with world.with_records(make_series(40), ncbi_max_retries=0) as state:
        real = slices.Slicer.search_window
        calls: list[int] = []

        def ask(self: slices.Slicer, *arguments: Any, **options: Any) -> Any:
            calls.append(1)
            if state.store.stats().documents:
                raise UpstreamError("no answer", details={"reason": "ncbi_unreachable"})
            return real(self, *arguments, **options)

        with monkeypatch.context() as trouble:
            trouble.setattr(slices.Slicer, "search_window", ask)
            result = state.sync()

        assert 0 < result.inserted < 40
        missing_error = result.missing_error()
        assert missing_error is not None
        assert missing_error.details["partial"] is True
        reached = state.checkpoint()
        assert reached is not None
        assert list_rows(state.store, "SELECT max(edat) FROM documents") == [(reached,)]
        state.sync()
        assert state.store.stats("fish").documents == 40


def test_records_listed_but_not_delivered_are_reported_and_requested_until_they_arrive(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world.with_records(make_series(30)) as state:
        with monkeypatch.context() as trouble:
            _fail(trouble, [1003], None)
            result = state.sync()
            assert get_counts(result) == (29, 0, 0)
            missing_error = result.missing_error()
            assert missing_error is not None
            assert missing_error.details == {"reason": "incomplete", "partial": True, "missing": ["1003"]}
            assert state.checkpoint() == "2024-01-30T00:00:00Z"

            world.clock.move(hours=1)
            again = state.sync()
            assert again.warnings == ["PubMed still does not return PMID 1003."]
            assert again.missing_error() is None

        world.clock.move(hours=1)
        assert get_counts(state.sync()) == (1, 0, 6)
        assert state.store.read(checkpoints.list_unavailable, "fish", state.store.clock()) == []
        assert state.store.stats("fish").documents == 30


def test_a_record_that_never_arrives_is_reported_for_as_long_as_pubmed_lists_it(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = make_series(30)
    _fail(monkeypatch, [1003], None)
    with world.with_records(papers) as state:
        state.sync()
        for _ in range(3):
            world.clock.move(days=29)
            result = state.sync()
            assert result.warnings == ["PubMed still does not return PMID 1003."]
            assert result.missing_error() is None
    with world.with_records([paper for paper in papers if paper.pmid != 1003]) as state:
        assert state.sync().warnings == []


def test_an_unreadable_record_does_not_fail_the_others(world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch) -> None:
    from entrez_kit.corpus.documents import Doc

    real = Doc.of

    def of(article: Any) -> Doc:
        if article.pmid == "1003":
            raise ValueError("odd")
        return real(article)

    with world.with_records(make_series(5)) as state:
        monkeypatch.setattr(Doc, "of", of)
        result = state.sync()

        assert result.inserted == 4
        missing_error = result.missing_error()
        assert missing_error is not None
        assert missing_error.details["missing"] == ["1003"]


@pytest.mark.long
def test_a_full_disk_ends_the_sync_and_the_next_one_continues(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync, "BATCH", 100)
    with world.with_records(make_series(900)) as state:
        state.sync(term="1001[uid]", key="other")
        with state.store.writing() as connection:
            before = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count={before + 250}")
        with pytest.raises(StoreError, match="disk is full"):
            state.sync()

        stored = state.store.stats("fish").documents
        assert 0 < stored < 900
        state.store.close()
        world.clock.move(hours=1)
        assert state.sync().inserted + stored + 1 >= 900
        assert state.store.stats("fish").documents == 900


def test_a_sync_that_has_not_run_or_has_stopped_reports_no_missing_records_and_sends_no_request(
    world: ChangingPubMed, small_batches: None
) -> None:
    with world.with_records(make_series(60)) as state:
        run = sync.Sync(state.kit.services, SyncRequest(query_key="fish", term=TERM))
        assert run.missing_error() is None
        assert state.searched == []

        batches = iter(run)
        next(batches)
        batches.close()  # type: ignore[attr-defined]  # it is a generator
        sent = len(state.searched)
        assert run.missing_error() is None
        assert len(state.searched) == sent


# interruptions


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("how", ["ctrl-c", "cancelled"])
def test_an_interrupted_sync_stores_its_records_and_the_next_one_fetches_the_others(
    world: ChangingPubMed, how: str
) -> None:
    with world.with_records(make_series(60)) as state:

        def stop_at(done: int, total: int | None) -> None:
            if done >= 30:
                raise KeyboardInterrupt if how == "ctrl-c" else Cancelled

        with (
            watch_calls(Watch(lambda: True, stop_at)),
            pytest.raises((KeyboardInterrupt, Cancelled)),
        ):
            state.sync()

        assert list_rows(state.store, "SELECT status, pmids_processed FROM jobs") == [("interrupted", 30)]
        assert state.checkpoint() is None
        world.clock.move(minutes=5)
        requested = len(state.fetched)

        result = state.sync()

        assert get_counts(result) == (30, 0, 30)
        assert result.max_edat_seen == "2024-02-29T00:00:00Z"
        # A request that was under way at the interruption may end later, so ids are counted once.
        assert len({uid for batch in state.fetched[requested:] for uid in batch}) == 30
        # What the first half brought may have been modified since: the next look starts when that was fetched.
        assert state.store.corpora().corpora[0].last_scan_at == "2026-01-05T12:00:00Z"
        assert state.checkpoint() == "2024-02-29T00:00:00Z"


def test_progress_is_reported_up_to_the_total(world: ChangingPubMed, small_batches: None) -> None:
    reported: list[tuple[int, int | None]] = []
    watch = Watch(wanted=lambda: True, progress=lambda done, total: reported.append((done, total)))
    with world.with_records(make_series(60)) as state, watch_calls(watch):
        state.sync()

    assert reported == [(done, 60) for done in range(0, 60, 10)] + [(60, 60)]


def test_a_second_sync_of_a_key_is_refused_while_one_runs_and_other_keys_are_not(world: ChangingPubMed) -> None:
    with world.with_records(make_series(5)) as state, state.store.sync_lock("fish"):
        with pytest.raises(StoreError, match="is being synced for 'fish'") as caught:
            state.sync()
        assert caught.value.reason == "sync_running"
        assert state.sync(key="other").inserted == 5
    with world.with_records(make_series(5)) as state:
        assert state.sync().skipped == 5


def test_the_lock_is_released_after_a_failure(world: ChangingPubMed) -> None:
    with world.with_records(make_series(5), ncbi_max_retries=0) as state:
        state.sandbox.fail_next("500", "esearch")
        with pytest.raises(UpstreamError):
            state.sync()

        assert state.sync().inserted == 5

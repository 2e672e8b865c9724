"""After a sync, a corpus has exactly the results of its query, for every reason why a result can be missing."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from changing_pubmed import ChangingPubMed, State, get_counts
from fixture_types import KitFor
from invented_papers import Paper, list_rows, make_series

from entrez_kit.corpus import sync
from entrez_kit.pubmed import date_slices as slices
from entrez_kit.pubmed.document_summaries import esummary_batch

WITHOUT = "About mice."
OLD = 1003
"""Entered weeks before the days whose new records a second sync searches."""


@pytest.fixture
def world(kit_for: KitFor, tmp_path: Path) -> ChangingPubMed:
    return ChangingPubMed(kit_for, tmp_path)


def _list_results(papers: Sequence[Paper]) -> list[int]:
    """Return the PMIDs of the records that match, without the index of the sandbox."""
    return sorted(paper.pmid for paper in papers if "zebrafish" in str(paper.abstract))


def _list_stored(state: State) -> list[int]:
    rows = list_rows(
        state.store,
        "SELECT pmid FROM documents JOIN membership USING (pmid) WHERE status = 'current' AND unmatched_at IS NULL "
        "ORDER BY pmid",
    )
    return [row[0] for row in rows]


def _change_one(papers: Sequence[Paper], pmid: int, **changes: object) -> list[Paper]:
    return [paper.change_with(**changes) if paper.pmid == pmid else paper for paper in papers]


LATE = Paper(2000, entered="2019-05-05", created="2026-01-20", revised=None)
FUTURE = Paper(2001, entered="2031-01-01", revised="2026-01-01")
SERIES = make_series(30)
UNFOUND = _change_one(SERIES, OLD, abstract=WITHOUT)
MISSED = {
    "an old record that matches without a revision": (UNFOUND, SERIES, [OLD]),
    "a record entered in the past": (SERIES, [*SERIES, LATE], [2000]),
    "a record entered in the past and revised earlier": (
        SERIES,
        [*SERIES, LATE.change_with(revised="2019-06-01")],
        [2000],
    ),
    "a record entered in the future": (SERIES, [*SERIES, FUTURE], [2001]),
    "as many withdrawn as added": (UNFOUND, [paper for paper in SERIES if paper.pmid != 1004], [OLD]),
}


@pytest.mark.parametrize("most", [9_999, pytest.param(10, marks=pytest.mark.long)])
@pytest.mark.parametrize("reason", MISSED)
def test_a_sync_fetches_every_result_that_the_searches_by_date_miss(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch, reason: str, most: int
) -> None:
    for module in (sync, slices):
        monkeypatch.setattr(module, "MAX_PUBMED_RESULTS", most)
    before, after, missed = MISSED[reason]
    with world.with_records(before) as state:
        state.sync()
        assert _list_stored(state) == _list_results(before)
    world.clock.move(days=30)
    with world.with_records(after) as state:
        result = state.sync()

        assert result.inserted == len(missed)
        assert result.missing_error() is None
        assert set(missed) <= set(_list_stored(state))
        assert _list_stored(state) == _list_results(after)
        world.clock.move(days=1)
        again = state.sync()
        assert (again.inserted, again.updated, again.warnings) == (0, 0, [])


def test_edat_is_the_date_by_which_pubmed_finds_the_record_and_not_its_creation(world: ChangingPubMed) -> None:
    with world.with_records([LATE]) as state:
        result = state.sync()

        assert result.max_edat_seen == state.checkpoint() == "2019-05-05T00:00:00Z"
        assert list_rows(state.store, "SELECT edat FROM documents") == [("2019-05-05T00:00:00Z",)]
        [summary] = esummary_batch(state.kit.services, ["2000"])
        assert summary.edat == "2019-05-05T00:00:00Z"
        for field, day, found in (("edat", "2019/05/05", 1), ("edat", "2026/01/20", 0), ("crdt", "2026/01/20", 1)):
            assert state.kit.search_articles(query_term=f"{day}[{field}]").total_found == found


def test_late_additions_are_never_reported_as_unmatched(world: ChangingPubMed) -> None:
    papers = make_series(30)
    with world.with_records(papers) as state:
        state.sync()
    world.clock.move(days=30)
    with world.with_records([*papers, LATE, LATE.change_with(pmid=2002, revised="2026-01-21")]) as state:
        assert get_counts(state.sync()) == (2, 0, 6)
        for _ in range(3):
            world.clock.move(days=1)
            assert state.sync().warnings == []


def test_a_moved_date_of_entry_is_stored_without_a_new_version_or_a_message(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (sync, slices):
        monkeypatch.setattr(module, "MAX_PUBMED_RESULTS", 10)
    papers = make_series(30)
    with world.with_records(papers) as state:
        state.sync()
    world.clock.move(days=30)
    with world.with_records(_change_one(papers, 1028, entered="2015-02-03", created="2024-01-28")) as state:
        result = state.sync()

        assert (result.inserted, result.updated, result.warnings) == (0, 0, [])
        assert list_rows(state.store, "SELECT edat, version FROM documents WHERE pmid = 1028") == [
            ("2015-02-03T00:00:00Z", 1)
        ]
        requested = len(state.fetched)
        world.clock.move(days=1)
        state.sync()
        assert not any("1028" in ids for ids in state.fetched[requested:])


def test_a_withdrawn_record_without_a_date_of_entry_is_found(world: ChangingPubMed) -> None:
    papers = make_series(30)
    with world.with_records(papers) as state:
        state.sync()
        with state.store.writing() as connection:
            connection.execute("UPDATE documents SET edat = NULL WHERE pmid IN (?, ?)", (OLD, OLD + 1))
    world.clock.move(days=30)
    with world.with_records([paper for paper in papers if paper.pmid != OLD]) as state:
        assert state.sync().warnings == [f"Withdrawn from PubMed: PMID {OLD}."]


@pytest.mark.parametrize("most", [9_999, 10])
def test_a_corpus_that_starts_at_a_checkpoint_stays_without_older_records(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    for module in (sync, slices):
        monkeypatch.setattr(module, "MAX_PUBMED_RESULTS", most)
    papers = make_series(30)
    with world.with_records(papers) as state:
        state.store.set_checkpoint("fish", "2024-01-20")
        assert get_counts(state.sync()) == (16, 0, 0)
    world.clock.move(days=30)
    with world.with_records([paper for paper in papers if paper.pmid not in (1016, 1022)]) as state:
        result = state.sync()
        assert result.inserted == 0
        assert result.warnings == ["Withdrawn from PubMed: 2 records (PMID 1016, 1022)."]
        state.store.set_checkpoint("fish", "1800-01-01")
        assert state.sync().inserted == 14
        assert _list_stored(state) == _list_results([paper for paper in papers if paper.pmid not in (1016, 1022)])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_after_random_changes_the_corpus_equals_the_results(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    for module in (sync, slices):
        monkeypatch.setattr(module, "MAX_PUBMED_RESULTS", 12 if seed % 2 else 9_999)
    chance = random.Random(seed)
    papers = {paper.pmid: paper for paper in make_series(40)}
    for step in range(4):
        with world.with_records(papers.values()) as state:
            result = state.sync()
            assert result.missing_error() is None
            assert _list_stored(state) == _list_results(list(papers.values()))
        world.clock.move(days=chance.choice([0, 1, 3, 40]))
        for pmid in chance.sample(sorted(papers), 8):
            change = chance.choice(["withdraw", "match", "move", "revise"])
            if change == "withdraw":
                del papers[pmid]
            elif change == "match":
                matches = "zebrafish" in str(papers[pmid].abstract)
                papers[pmid] = papers[pmid].change_with(abstract=WITHOUT if matches else Paper(1).abstract)
            elif change == "move":
                day = f"20{chance.randrange(10, 24)}-0{chance.randrange(1, 9)}-1{chance.randrange(10)}"
                papers[pmid] = papers[pmid].change_with(entered=day, created="2024-01-15")
            else:
                papers[pmid] = papers[pmid].change_with(title=f"Revised {step}", revised="2026-01-20")
        for place in range(3):
            pmid = 3000 + 10 * step + place
            papers[pmid] = Paper(
                pmid, entered=chance.choice(["1999-01-01", "2024-01-20", "2026-01-04"]), created="2026-01-04"
            )

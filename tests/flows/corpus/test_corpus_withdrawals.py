"""Records that PubMed withdraws, retracts and restores long after a query has found them."""

from pathlib import Path

import pytest
from changing_pubmed import TERM, ChangingPubMed, get_counts
from fixture_types import KitFor
from invented_papers import Paper, list_rows, make_series, read_contents

from entrez_kit.base.errors import UpstreamError
from entrez_kit.corpus import sync
from entrez_kit.corpus.store.differences import CorpusDiff
from entrez_kit.pubmed import date_slices as slices
from entrez_kit.pubmed.date_slices import Slicer

OLD = 1003
"""Entered weeks before the days that a second sync looks at again."""


@pytest.fixture
def world(kit_for: KitFor, tmp_path: Path) -> ChangingPubMed:
    return ChangingPubMed(kit_for, tmp_path)


def _omit_papers(papers: list[Paper], *pmids: int) -> list[Paper]:
    return [paper for paper in papers if paper.pmid not in pmids]


def _replace_papers(papers: list[Paper], *changed: Paper) -> list[Paper]:
    return [*_omit_papers(papers, *(paper.pmid for paper in changed)), *changed]


def _list_changes(found: CorpusDiff) -> dict[str, str]:
    return {
        item.pmid: item.change
        for records in (found.added, found.revised, found.retracted, found.deleted)
        for item in records
    }


def test_an_old_record_that_was_withdrawn_is_marked_and_reported(world: ChangingPubMed) -> None:
    papers = make_series(30)
    with world.with_records(papers) as state:
        state.sync()
    world.clock.move(days=30)
    with world.with_records(_omit_papers(papers, OLD)) as state:
        result = state.sync()

        assert result.warnings == [f"Withdrawn from PubMed: PMID {OLD}."]
        assert get_counts(result) == (0, 1, 6)
        assert [item.pmid for item in state.store.diff("fish", "2026-01-06").deleted] == [str(OLD)]
        before, requested = read_contents(state.store), len(state.fetched)
        assert state.sync().warnings == []
        assert read_contents(state.store) == before
        assert not any(str(OLD) in ids for ids in state.fetched[requested:])


def test_one_search_without_dates_lists_the_results_that_are_compared_with_the_corpus(world: ChangingPubMed) -> None:
    with world.with_records(make_series(30)) as state:
        state.sync()
        state.sync()

        assert state.searched == ["zebrafish", *state.searched[1:3], "zebrafish"]
        assert all("[edat]" in term for term in state.searched[1:3])


def test_an_old_record_that_no_longer_matches_is_reported_once_and_stays(world: ChangingPubMed) -> None:
    papers = make_series(30)
    with world.with_records(papers) as state:
        state.sync()
    world.clock.move(days=30)
    about_mice = papers[2].change_with(abstract="About mice.")
    with world.with_records(_replace_papers(papers, about_mice)) as state:
        assert state.sync().warnings == [f"No longer matched by the query, but kept: PMID {OLD}."]
        assert list_rows(state.store, "SELECT pmid FROM membership WHERE unmatched_at IS NOT NULL") == [(OLD,)]
        assert state.store.stats("fish").documents == 30
        requested = len(state.fetched)
        assert state.sync().warnings == []
        assert not any(str(OLD) in ids for ids in state.fetched[requested:])
    world.clock.move(days=30)
    with world.with_records(_replace_papers(papers, papers[2].change_with(revised="2026-03-01"))) as state:
        assert get_counts(state.sync()) == (0, 1, 6)
        assert list_rows(state.store, "SELECT pmid FROM membership WHERE unmatched_at IS NOT NULL") == []


@pytest.mark.long
def test_in_a_large_corpus_only_the_days_with_differences_are_listed(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (sync, slices):
        monkeypatch.setattr(module, "MAX_PUBMED_RESULTS", 10)
    papers = make_series(100)
    with world.with_records(papers) as state:
        state.sync()
    world.clock.move(days=30)
    with world.with_records(_omit_papers(papers, OLD, 1050)) as state:
        requested = len(state.fetched)
        assert state.sync().warnings == [f"Withdrawn from PubMed: 2 records (PMID {OLD}, 1050)."]
        days = [ids for ids in state.fetched[requested:] if len(ids) > 1]
        assert sum(map(len, days)) == 6
        doubted = [ids for ids in state.fetched[requested:] if len(ids) == 1]
        assert sorted(doubted) == sorted([[str(OLD)]] * 2 + [["1050"]] * 2), "what lacks is asked for once more"


def test_a_failed_comparison_is_reported_and_repeated_by_the_next_sync(
    world: ChangingPubMed, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = make_series(30)
    with world.with_records(papers) as state:
        state.sync()
    world.clock.move(days=30)
    real = Slicer.search_window

    def ask(self: Slicer, window: slices.DateWindow | None, retmax: int, retstart: int = 0) -> object:
        if window is None and self.term == TERM:
            raise UpstreamError("PubMed is out of order.")
        return real(self, window, retmax, retstart)

    with world.with_records(_omit_papers(papers, OLD)) as state:
        with monkeypatch.context() as broken:
            broken.setattr(Slicer, "search_window", ask)
            result = state.sync()
        assert result.missing_error() is not None
        assert result.warnings == ["PubMed is out of order."]
        assert state.sync().warnings == [f"Withdrawn from PubMed: PMID {OLD}."]


def test_a_diff_follows_a_record_through_retraction_withdrawal_and_return(world: ChangingPubMed) -> None:
    papers = make_series(30)
    retracted = papers[28].change_with(retracted_in="J Invent. 2026", revised="2026-01-20")
    with world.with_records(papers) as state:
        state.sync()
    world.clock.move(days=20)
    with world.with_records(_replace_papers(_omit_papers(papers, 1030), retracted)) as state:
        state.sync()
        assert _list_changes(state.store.diff("fish", "2026-01-06")) == {"1029": "retracted", "1030": "deleted"}
    world.clock.move(days=20)
    reinstated = papers[28].change_with(revised="2026-02-10")
    with world.with_records(_replace_papers(papers, reinstated, papers[29].change_with(title="Here again"))) as state:
        state.sync()

        [latest, whole] = (state.store.diff("fish", since) for since in ("2026-01-30", "2026-01-06"))
        assert _list_changes(latest) == {"1029": "revised", "1030": "added"}
        assert latest.revised[0].changed == ["retraction_status", "lr"]
        assert (latest.revised[0].from_version, latest.revised[0].to_version) == (2, 3)
        # Seen from before it all, one record was retracted and is not any more, the other was never gone.
        assert _list_changes(whole) == {"1029": "revised", "1030": "revised"}
        assert {item.pmid: item.changed for item in whole.revised} == {"1029": ["lr"], "1030": ["title"]}
        assert whole.since == "2026-01-06T00:00:00Z"
        assert state.store.stats("fish").retracted == 0

"""A PubMed whose records change, and the corpus of one user that syncs with it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fixture_types import KitFor
from invented_papers import Clock, Paper, write_file

from entrez_kit import EntrezKit
from entrez_kit.corpus.models import SyncResult, UserSyncRequest
from entrez_kit.corpus.store import store_of
from entrez_kit.corpus.sync import Sync
from entrez_kit.sandbox.server import Sandbox

TERM = "zebrafish"


class ChangingPubMed:
    """The states of PubMed, one after another, and the corpus of one user that syncs with each."""

    def __init__(self, kit_for: KitFor, folder: Path) -> None:
        self.clock = Clock()
        self._kit_for = kit_for
        self._folder = folder
        self._states = 0

    @contextmanager
    def with_records(self, papers: Iterable[Paper], **settings: Any) -> "Iterator[State]":
        """Run the corpus against a PubMed with these records."""
        self._states += 1
        path = write_file(self._folder / f"pubmed{self._states}", papers)
        with Sandbox(corpus=[path], enforce_limits=False) as sandbox:
            kit = self._kit_for(sandbox, **settings)
            store_of(kit.services).clock = self.clock
            yield State(kit, sandbox)


class State:
    """The corpus and one state of PubMed."""

    def __init__(self, kit: EntrezKit, sandbox: Sandbox) -> None:
        self.kit, self.sandbox, self.store = kit, sandbox, store_of(kit.services)

    def sync(
        self,
        key: str = "fish",
        term: str = TERM,
        overlap_days: int = 5,
        *,
        replace_term: bool = False,
        max_new: int | None = None,
    ) -> SyncResult:
        """Sync once."""
        request = UserSyncRequest(query_key=key, term=term, overlap_days=overlap_days, replace_term=replace_term)
        return Sync(self.kit.services, request, max_new=max_new).result()

    @property
    def fetched(self) -> list[list[str]]:
        """The ids of every EFetch so far."""
        return [(entry.get("id") or "").split(",") for entry in self.sandbox.entries("efetch")]

    @property
    def searched(self) -> list[str]:
        """The terms of every ESearch so far."""
        return [entry.get("term") or "" for entry in self.sandbox.entries("esearch")]

    def checkpoint(self, key: str = "fish") -> str | None:
        """Return the checkpoint."""
        found = self.store.get_checkpoint(key)
        return found.last_edat if found else None


def get_counts(result: SyncResult) -> tuple[int, int, int]:
    """Return how many records were inserted, updated and skipped."""
    assert result.inserted + result.updated + result.skipped == result.pmids_processed
    return result.inserted, result.updated, result.skipped

"""Syncs that are killed at any statement, and two syncs at once, lose no data."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fixture_types import KitFor
from invented_papers import list_rows, make_series, read_contents, write_file
from platform_marks import needs_fork
from project_paths import DATA, SUPPORT

from entrez_kit.corpus.models import SyncRequest
from entrez_kit.corpus.store import store_of
from entrez_kit.corpus.store.store import Store
from entrez_kit.corpus.sync import Sync
from entrez_kit.sandbox.server import Sandbox, parse_faults

MIX = "429=.05,500=.02,truncate=.05,html=.1,error200=.05,cut=.02"


def _is_killed(folder: Path, *arguments: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, str(SUPPORT / "killed_sync.py"), str(folder), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


@needs_fork
def test_a_first_sync_killed_at_any_statement_loses_nothing(tmp_path: Path) -> None:
    path = write_file(tmp_path / "pubmed", make_series(60))
    with Sandbox(corpus=[path], enforce_limits=False) as sandbox:
        found = _is_killed(tmp_path / "killed", sandbox.url)

    assert found["problems"] == []
    assert isinstance(found["tried"], int)
    assert found["tried"] >= 12


@needs_fork
def test_a_later_sync_killed_at_any_statement_loses_nothing(tmp_path: Path) -> None:
    papers = make_series(60)
    changed = [
        *(paper.change_with(title=f"Revised {paper.pmid}", revised="2026-01-04") for paper in papers[:9]),
        papers[9].change_with(retracted_in="J. 2026", revised="2026-01-04"),
        *papers[10:57],
        papers[58].change_with(
            abstract=[("AIM", "Zebrafish swim. " * 60), ("RESULTS", "They do. " * 60)], revised="2026-01-04"
        ),
        papers[59],
        *make_series(20, first="2024-03-01", pmid=2001),
    ]
    before = write_file(tmp_path / "before", papers)
    after = write_file(tmp_path / "after", changed)
    with Sandbox(corpus=[before], enforce_limits=False) as old, Sandbox(corpus=[after], enforce_limits=False) as new:
        found = _is_killed(tmp_path / "killed", new.url, old.url)

    assert found["problems"] == []
    assert isinstance(found["tried"], int)
    assert found["tried"] >= 12


MIGRATION = """
import gzip, json, os, signal, sqlite3, sys
from pathlib import Path
from invented_papers import list_rows, read_contents
from entrez_kit.corpus.store.migrations import migrate
from entrez_kit.corpus.store.store import Store
folder, old = Path(sys.argv[1]), gzip.decompress(Path(sys.argv[2]).read_bytes())

def opened(place):
    store = Store(place)
    held = read_contents(store), list_rows(store, "PRAGMA integrity_check"), list_rows(store, "PRAGMA user_version")
    held[0]["said"] = list_rows(store, "SELECT * FROM versions ORDER BY pmid, version")
    store.close()
    return held

(folder / "calm").mkdir(parents=True)
(folder / "calm" / "corpus.db").write_bytes(old)
calm, killed, status = opened(folder / "calm" / "corpus.db"), 0, 1
while status:
    place = folder / str(killed) / "corpus.db"
    place.parent.mkdir()
    place.write_bytes(old)
    child = os.fork()
    if child == 0:
        left = [killed + 1]
        def step():
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
        connection = sqlite3.connect(place, isolation_level=None)
        connection.set_progress_handler(step, int(sys.argv[3]))
        migrate(connection)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert opened(place) == calm, killed
    killed += bool(status)
print(json.dumps(killed))
"""


@needs_fork
@pytest.mark.parametrize(
    ("older", "every"), [("corpus-format-2.db.gz", 200), ("corpus-format-4.db.gz", 200), ("corpus-format-6.db.gz", 20)]
)
def test_a_corpus_whose_migration_is_killed_at_any_moment_opens_with_all_its_data(
    older: str, every: int, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MIGRATION, str(tmp_path / "killed"), str(DATA / older), str(every)],
        env={**os.environ, "PYTHONPATH": str(SUPPORT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) > 5


# two at once

SYNC = """
import sys
from dataclasses import replace
from pathlib import Path
from entrez_kit import EntrezKit, load_settings
from entrez_kit.corpus import models, sync
from entrez_kit.base.errors import StoreError
from entrez_kit.services.transport import limiter
limiter.RateLimiter.acquire = lambda self, deadline=None: None
sync.BATCH = 10
folder, url, key = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
settings = load_settings({"home": folder}).use_sandbox(url)
settings = replace(settings, demo=False, data_dir=folder, state_dir=folder / "state", no_cache=True)
with EntrezKit(settings) as kit:
    try:
        result = sync.Sync(kit.services, models.SyncRequest(query_key=key, term="zebrafish")).result()
        print("done", result.inserted + result.updated + result.skipped)
    except StoreError as exc:
        print("refused", exc.reason)
"""


def _run_at_once(folder: Path, sandbox: Sandbox, keys: list[str]) -> list[str]:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", SYNC, str(folder), sandbox.url, key],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for key in keys
    ]
    outcomes = [process.communicate(timeout=120) for process in running]
    assert [errors for _, errors in outcomes] == [""] * len(keys)
    return [output.strip() for output, _ in outcomes]


def test_two_processes_that_sync_the_same_key_lose_nothing_and_one_is_refused(tmp_path: Path) -> None:
    path = write_file(tmp_path / "pubmed", make_series(120))
    with Sandbox(corpus=[path], enforce_limits=False, latency_ms=40) as sandbox:
        outcomes = _run_at_once(tmp_path / "data", sandbox, ["fish", "fish"])

        assert sorted(outcomes) == ["done 120", "refused sync_running"]
        assert _run_at_once(tmp_path / "data", sandbox, ["fish"]) == ["done 6"]
    store = Store(tmp_path / "data" / "corpus.db")
    assert list_rows(store, "SELECT count(*), max(version) FROM documents") == [(120, 1)]
    store.close()


def test_two_processes_sync_different_keys_at_the_same_time(tmp_path: Path) -> None:
    path = write_file(tmp_path / "pubmed", make_series(120))
    with Sandbox(corpus=[path], enforce_limits=False) as sandbox:
        assert _run_at_once(tmp_path / "data", sandbox, ["a", "b", "c"]) == ["done 120"] * 3
    store = Store(tmp_path / "data" / "corpus.db")
    assert list_rows(store, "SELECT count(*), max(version) FROM documents") == [(120, 1)]
    assert list_rows(store, "SELECT query_key, count(*) FROM membership GROUP BY 1") == [
        ("a", 120),
        ("b", 120),
        ("c", 120),
    ]
    assert list_rows(store, "SELECT count(*) FROM versions") == [(120,)]
    store.close()


# the whole thing under faults


def test_records_arrive_complete_from_a_failing_service_and_are_not_changed(
    kit_for: KitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.pubmed.date_slices.MAX_PUBMED_RESULTS", 1_500)  # so that there are several slices
    with Sandbox(
        records=2_000, faults=parse_faults(MIX), enforce_limits=False, seed=1, most_faults_in_a_row=3
    ) as sandbox:
        kit = kit_for(sandbox)
        store = store_of(kit.services)
        request = SyncRequest(query_key="all", term="all[sb]")
        first = Sync(kit.services, request).result()

        assert (first.inserted, first.updated, first.skipped) == (2_000, 0, 0)
        assert first.missing_error() is None
        assert [warning.split(":")[0] for warning in first.warnings] == ["New and retracted"]
        before = read_contents(store)
        second = Sync(kit.services, request).result()
        assert second.pmids_processed == second.skipped > 0
        assert read_contents(store) == before

        store.set_checkpoint("all", "2010-01-01")
        again = Sync(kit.services, request).result()
        assert (again.inserted, again.updated, again.skipped) == (0, 0, 2_000)
        assert read_contents(store) == before
        assert sandbox.faults.struck.total() > 10

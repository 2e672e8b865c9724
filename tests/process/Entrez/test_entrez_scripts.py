"""Scripts written for Bio.Entrez, with one changed line, run on failing servers and compared with Biopython."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from arrival_server import ArrivalRelay, count_most_in_a_second
from entrez_recordings import read_recordings, serve_recordings
from entrez_scripts import OURS, READ_EACH, SCRIPTS, THEIRS, ScriptResult, change_import, run_ours, run_plain
from used_recordings import require_recordings as recordings_found

from entrez_kit.sandbox.server import Sandbox

KEY = "0123456789abcdef0123456789abcdef0123"
FAULTS = {"429": 0.06, "500": 0.06, "truncate": 0.06, "html": 0.05, "error200": 0.05, "cut": 0.05}
LIMIT, LIMIT_WITH_KEY = 3, 10
AT_ONCE = 6
WARNINGS = {"many_ids": 1}
"""By script: most of the ids of one request do not exist."""
SHARES = 10
"""The recorded replies are read in so many shares at the same time, because retries wait."""

pytestmark = pytest.mark.long


@pytest.fixture(scope="module", name="runs")
def runs_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[ScriptResult, ScriptResult]]]:
    """Run every script with entrez-kit on a failing server, several at a time, and with Biopython without faults."""
    folder = tmp_path_factory.mktemp("scripts")

    def run_one(script: Path) -> tuple[str, tuple[ScriptResult, ScriptResult]]:
        ours = run_ours(change_import(script, folder), relay.url, folder / "home", NCBI_API_KEY=KEY)
        return script.stem, (ours, run_plain(script, well.url, folder / "plain" / script.stem))

    with (
        Sandbox(faults=FAULTS, seed=7, enforce_limits=False, most_faults_in_a_row=3) as failing,
        ArrivalRelay(failing.url) as relay,
        Sandbox(enforce_limits=False) as well,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        yield dict(pool.map(run_one, SCRIPTS))
        assert not failing.defects
        assert failing.faults.struck.total() > 10
        assert len(relay.times) == failing.requests()
        assert count_most_in_a_second(relay.times) <= LIMIT_WITH_KEY
        assert not list((folder / "home").glob(".config/biopython"))


@pytest.mark.parametrize("name", [script.stem for script in SCRIPTS])
def test_a_script_prints_the_same_as_with_biopython_although_requests_fail(
    runs: dict[str, tuple[ScriptResult, ScriptResult]], name: str
) -> None:
    ours, plain = runs[name]

    assert plain.status == 0, plain.err
    assert ours.status == 0, ours.err
    assert ours.out == plain.out
    assert ours.err.count("Warning") == WARNINGS.get(name, 0)


def test_recorded_replies_are_read_like_biopython_reads_them_although_requests_fail(
    real_data: Path, tmp_path: Path
) -> None:
    recordings = read_recordings(real_data)
    recordings_found(recordings)
    shares = [recordings[start::SHARES] for start in range(SHARES)]
    with (
        serve_recordings(recordings, FAULTS) as failing,
        serve_recordings(recordings) as well,
        ThreadPoolExecutor(2 * SHARES) as pool,
    ):
        script = change_import(READ_EACH, tmp_path)

        def run_share(number: int) -> tuple[Future[ScriptResult], Future[ScriptResult]]:
            wanted = tmp_path / f"requests{number}.json"
            listed = [(share.name, share.endpoint, share.keywords) for share in shares[number]]
            wanted.write_text(json.dumps(listed), encoding="utf-8")
            home = tmp_path / f"home{number}"  # each share has its own rate limit
            ours = pool.submit(run_ours, script, failing.url, home, str(wanted), NCBI_API_KEY=KEY)
            return ours, pool.submit(run_plain, READ_EACH, well.url, tmp_path / f"plain{number}", str(wanted))

        started = [run_share(number) for number in range(SHARES)]
        runs = [(ours.result(), plain.result()) for ours, plain in started]
        struck = failing.faults.struck.total()

    assert [(one.status, other.status) for one, other in runs] == [(0, 0)] * SHARES, [one.err for one, _ in runs]
    assert struck > len(recordings) / 10
    read, theirs = (
        [json.loads(line) for ended in several for line in ended.out.splitlines()]
        for several in zip(*runs, strict=True)
    )
    assert len(read) == len(theirs) == len(recordings)
    for mine, other in zip(read, theirs, strict=True):
        if other[1] != "error":
            assert mine == other
        else:  # we may refuse earlier what Biopython cannot read, with our own error
            assert mine[1] == "error"
            own = {"RuntimeError", "ValueError", "HTTPError"} & set(other[2])
            assert own <= set(mine[2]) or "URLError" in mine[2]  # a fault occurred in the last attempt


def test_simultaneous_scripts_respect_the_limit_without_a_key(tmp_path: Path) -> None:
    scripts = [script for script in SCRIPTS if script.stem in ("lineages", "linked_records", "post_ids")]
    with (
        Sandbox(enforce_limits=False) as sandbox,
        ArrivalRelay(sandbox.url) as relay,
        ThreadPoolExecutor(len(scripts)) as pool,
    ):
        ended = list(
            pool.map(lambda one: run_ours(change_import(one, tmp_path), relay.url, tmp_path / "home"), scripts)
        )
        requested = sandbox.requests()

    assert [one.status for one in ended] == [0] * len(scripts)
    assert requested == len(relay.times) > 2 * LIMIT
    assert count_most_in_a_second(relay.times) <= LIMIT


def test_a_script_runs_again_from_the_cache_and_offline(tmp_path: Path) -> None:
    script = change_import(next(script for script in SCRIPTS if script.stem == "sequences"), tmp_path)
    with Sandbox() as sandbox:
        first = run_ours(script, sandbox.url, tmp_path / "home", NCBI_API_KEY=KEY)
        requested = sandbox.requests()
        again = run_ours(script, sandbox.url, tmp_path / "home", NCBI_API_KEY=KEY)
        assert sandbox.requests() == requested
        url = sandbox.url
    offline = run_ours(script, url, tmp_path / "home", ENTREZ_KIT_OFFLINE="1")

    assert first.out == again.out == offline.out != ""
    assert first.status == again.status == offline.status == 0


def test_a_script_is_answered_by_the_demo(tmp_path: Path) -> None:
    script = change_import(next(script for script in SCRIPTS if script.stem == "medline_authors"), tmp_path)
    ended = run_ours(script, "http://127.0.0.1:9", tmp_path / "home", ENTREZ_KIT_DEMO="1")

    assert ended.status == 0, ended.err
    assert "99000070" in ended.out
    assert "invented articles" in ended.err


def test_importing_the_package_imports_neither_biopython_nor_the_module() -> None:
    program = (
        "import sys, entrez_kit\n"
        "assert not {'Bio', 'entrez_kit.Entrez', 'entrez_kit.base.settings'} & set(sys.modules)\n"
        "from entrez_kit import Entrez\n"
        "assert Entrez is entrez_kit.Entrez is sys.modules['entrez_kit.Entrez']\n"
        "assert not {'Bio.Entrez', 'requests', 'pydantic', 'entrez_kit.base.settings'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60, env={**os.environ})


def test_records_can_be_sent_to_another_process(tmp_path: Path) -> None:
    reading = tmp_path / "reading.py"
    reading.write_text(
        f"{OURS}\nimport pickle, sys\n"
        "record = Entrez.read(Entrez.esearch(db='pubmed', term='crispr', retmax=2))\n"
        "sys.stdout.buffer.write(pickle.dumps(record))\n",
        encoding="utf-8",
    )
    program = (
        "import pickle, sys\n"
        "record = pickle.load(sys.stdin.buffer)\n"
        "print(type(record).__module__, record['Count'], record['IdList'].tag)\n"
    )
    with Sandbox() as sandbox:
        variables = {"ENTREZ_KIT_EUTILS_URL": f"{sandbox.url}/entrez/eutils", "HOME": str(tmp_path)}
        pickled = subprocess.run(
            [sys.executable, str(reading)], capture_output=True, check=True, timeout=60, env={**os.environ, **variables}
        )
    reported = subprocess.run(
        [sys.executable, "-c", program], input=pickled.stdout, capture_output=True, check=True, timeout=60
    )
    assert reported.stdout.split() == [b"entrez_kit.Entrez.Parser", b"14", b"IdList"]


def test_every_script_is_written_for_biopython() -> None:
    assert len(SCRIPTS) >= 12
    for script in SCRIPTS:
        text = script.read_text(encoding="utf-8")
        assert len(THEIRS.findall(text)) == 1
        assert "entrez_kit" not in text

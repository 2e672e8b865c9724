"""Whole flows through the real program: secrets, faults, pipes, processes."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from arrival_server import ArrivalRelay, count_most_in_a_second
from command_line import Cli

from entrez_kit.base.settings import DEMO_WARNING
from entrez_kit.sandbox.server import Sandbox

Call = Callable[..., tuple[int, bytes, bytes]]

KEY = "c4narykey0123456789abcdefc4narykey01"
EMAIL = "canary.person@example.org"
MIX = {"429": 0.05, "500": 0.02, "truncate": 0.05, "html": 0.10, "error200": 0.05, "cut": 0.05}


def _run_program(*arguments: str, environment: dict[str, str], stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        [sys.executable, "-m", "entrez_kit", *arguments],
        input=stdin,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=240,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def _make_environment(sandbox: Sandbox | ArrivalRelay) -> dict[str, str]:
    return {
        "ENTREZ_KIT_EUTILS_URL": f"{sandbox.url}/entrez/eutils",
        "ENTREZ_KIT_IDCONV_URL": f"{sandbox.url}/idconv",
        "ENTREZ_KIT_EUROPEPMC_URL": f"{sandbox.url}/europepmc",
    }


@pytest.fixture(name="here")
def here_fixture(alone: Cli, no_waiting: None, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Call the program in this process, without waiting, with these variables."""

    def call(*arguments: str, environment: dict[str, str]) -> tuple[int, bytes, bytes]:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        done = alone(*arguments)
        return done.status, done.out.encode(), done.err.encode()

    return call


def _list_files(*folders: Path) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("fault", "statuses"),
    [
        ({}, {0}),
        ({"429": 1.0}, {7}),
        ({"500": 1.0}, {5}),
        ({"html": 1.0}, {5}),
        ({"truncate": 1.0}, {5}),
        ({"error200": 1.0}, {5}),
        ({"cut": 1.0}, {5}),
    ],
    ids=["healthy", "429", "500", "html", "truncate", "error200", "cut"],
)
def test_key_and_email_appear_nowhere(fault: dict[str, float], statuses: set[int], tmp_path: Path, here: Call) -> None:
    call = here if fault else _run_program
    logs = tmp_path / "logs"
    environment = {
        "NCBI_API_KEY": KEY,
        "NCBI_ADMIN_EMAIL": EMAIL,
        "LOGS_DIR": str(logs),
        "MCP_LOG_LEVEL": "debug",
        "NCBI_MAX_RETRIES": "1",
        "ENTREZ_KIT_HOME": str(tmp_path / "kit"),
    }
    with Sandbox(faults=fault, enforce_limits=False) as sandbox:
        outputs = [
            call(*command, environment=environment | _make_environment(sandbox))
            for command in (
                ("search", "crispr", "--summaries", "3", "--history", "-v"),
                ("fetch", "99000001", "PMC99000002", "10.5555/no.such", "-v"),
                ("fetch", "99000001", "-f", "table", "-v"),
            )
        ]
        keyed = [entry.keyed for entry in sandbox.log]
        outputs.append(call("config", "show", "-v", environment=environment | _make_environment(sandbox)))
        outputs.append(call("cache", "info", "-v", environment=environment | _make_environment(sandbox)))

    assert outputs[0][0] in statuses
    assert any(keyed), "the key never reached the service, so the test proves nothing"
    written = [path.read_bytes() for path in _list_files(tmp_path, Path(os.environ["TMPDIR"]))]
    assert written
    for text in [part for _, out, err in outputs for part in (out, err)] + written:
        for secret in (KEY, EMAIL, EMAIL.replace("@", "%40")):
            assert secret.encode() not in text


def test_the_program_returns_every_record_or_names_what_is_missing(tmp_path: Path) -> None:
    requested = [str(number) for number in range(99_100_001, 99_103_001)]
    with Sandbox(records=3_000, enforce_limits=False, faults=MIX, seed=6, most_faults_in_a_row=3) as faulty:
        status, out, err = _run_program(
            "fetch",
            "-",
            "-f",
            "jsonl",
            "--detail",
            "citation_data",
            stdin="\n".join(requested).encode(),
            environment={"NCBI_API_KEY": KEY, "ENTREZ_KIT_HOME": str(tmp_path), **_make_environment(faulty)},
        )
        struck = sum(faulty.faults.struck.values())

    lines = [json.loads(line) for line in out.splitlines()]
    assert struck, "no fault occurred, so the test proves nothing"
    assert [line.get("pmid") or line["input"] for line in lines] == requested
    failed = [line["input"] for line in lines if line.get("status")]
    if failed:
        assert status == 4
        assert [entry["input"] for entry in json.loads(err)["error"]["details"]["missing"]] == failed
    else:
        assert (status, err) == (0, b"")


def test_no_invalid_reply_is_ever_cached(tmp_path: Path, here: Call) -> None:
    with Sandbox(records=200, enforce_limits=False, faults=MIX, seed=6, most_faults_in_a_row=3) as faulty:
        environment = {"NCBI_API_KEY": KEY, "ENTREZ_KIT_HOME": str(tmp_path), **_make_environment(faulty)}
        requested = [str(number) for number in range(99_100_001, 99_100_201)]
        for start in range(0, 200, 20):
            here("fetch", *requested[start : start + 20], "-f", "ids", environment=environment)
        before = faulty.requests()
        offline = [
            here("--offline", "fetch", *requested[start : start + 20], "-f", "ids", environment=environment)
            for start in range(0, 200, 20)
        ]
        assert faulty.requests() == before

    returned = Counter(line for status, out, _ in offline if status == 0 for line in out.decode().split())
    assert all(status in (0, 5) for status, _, _ in offline)
    assert set(returned) <= set(requested)
    assert sum(returned.values()) == 20 * sum(status == 0 for status, _, _ in offline)
    assert len(returned) >= 150


def test_a_pipeline_with_head_works_and_ends_quietly() -> None:
    program = f"{sys.executable} -m entrez_kit --demo"
    done = subprocess.run(
        [
            "bash",
            "-c",
            f"{program} search crispr -f ids | {program} fetch - -f jsonl | head -1; echo ${{PIPESTATUS[*]}}",
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )

    line, statuses = done.stdout.splitlines()
    assert json.loads(line)["pmid"].startswith("99")
    assert statuses == "0 0 0"
    assert set(done.stderr.splitlines()) == {f"Warning: {DEMO_WARNING}"}


def test_the_demo_writes_only_to_its_own_folder(tmp_path: Path) -> None:
    for command in (["search", "crispr"], ["corpus", "get", "99000001"]):
        status, _, _ = _run_program("--demo", *command, environment={"ENTREZ_KIT_HOME": str(tmp_path)})
        assert status == 0

    assert {path.relative_to(tmp_path).parts[:2] for path in _list_files(tmp_path)} == {("data", "demo")}


def test_simultaneous_processes_respect_the_limit_of_ncbi() -> None:
    with Sandbox(records=200, enforce_limits=False) as sandbox, ArrivalRelay(sandbox.url) as relay:
        running = [
            subprocess.Popen(
                [sys.executable, "-m", "entrez_kit", "--no-cache", "fetch", str(99_100_001 + index), "-f", "ids"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **_make_environment(relay)},
            )
            for index in range(5)
        ]
        results = [(process.communicate(timeout=120), process.returncode) for process in running]

    assert [status for _, status in results] == [0] * 5
    assert len(relay.times) == sandbox.requests() >= 5
    assert count_most_in_a_second(relay.times) <= 3

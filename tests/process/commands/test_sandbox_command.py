"""`entrez-kit sandbox` as a separate process."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli, Program

from entrez_kit.sandbox.faults import KINDS


@contextmanager
def serve(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """Run the sandbox; yield the process and the text that it printed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "entrez_kit", "sandbox", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ},
    )
    assert process.stdout is not None
    try:
        announced = ""
        while not announced.endswith("}\n}\n") and not announced.endswith("  }\n}\n"):
            line = process.stdout.readline()
            assert line, process.communicate()
            announced += line
        yield process, json.loads(announced)
    finally:
        process.kill()
        process.communicate()


def test_other_commands_use_it_by_the_variables_that_it_prints(program: Program) -> None:
    with serve("--records", "500") as (_, announced):
        assert {"ENTREZ_KIT_EUTILS_URL", "ENTREZ_KIT_IDCONV_URL", "ENTREZ_KIT_EUROPEPMC_URL"} <= set(
            announced["environment"]
        )
        done = program("search", "all[sb]", "-n", "7", "-f", "ids", **announced["environment"])

        assert done.status == 0, done.err
        assert len(done.out.split()) == 7


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 0)])
def test_it_ends_when_it_is_interrupted(number: signal.Signals, status: int) -> None:
    with serve() as (process, _):
        process.send_signal(number)
        _, err = process.communicate(timeout=20)

        assert process.returncode == status
        assert "Traceback" not in err
        assert "Ended after 0 requests" in err


def test_it_serves_a_corpus_of_the_user(program: Program, tmp_path: Path) -> None:
    exported = program("--demo", "fetch", "99000001", "-f", "xml", "-o", str(tmp_path / "mine.xml"))
    assert exported.status == 0, exported.err

    with serve("--corpus", str(tmp_path / "mine.xml")) as (_, announced):
        assert program("search", "all[sb]", "-f", "ids", **announced["environment"]).out.split() == ["99000001"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--faults", "gremlins=.1"),
        ("--faults", "429=2"),
        ("--port", "70000"),
        ("--records", "5", "--corpus", "x.xml"),
        ("--corpus", "missing.xml"),
        ("--latency-ms", "-1"),
        ("--records", "-5"),
    ],
)
def test_invalid_options_end_with_status_2(alone: Cli, arguments: tuple[str, ...]) -> None:
    done = alone("sandbox", *arguments)

    assert done.status == 2, done.err
    assert json.loads(done.err)["error"]["code"] == "INVALID_INPUT"


def test_the_help_names_every_kind_of_fault(alone: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERMINAL_WIDTH", "200")
    shown = alone("sandbox", "--help").out

    assert [kind for kind in KINDS if f" {kind}" not in shown] == []

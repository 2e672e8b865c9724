"""The official conformance suite, in both versions; only if npm has it in its cache (`.ci/run` makes npm fetch it).

The suite needs a server with its own tools, prompts and resources; checks that only pass with such a server are
expected to fail. `tests/data/conformance.toml` lists those checks, each with the reason.
"""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from npx_programs import run_with_npx
from project_paths import ROOT

SUITE = ("npx", "--yes", "--package=node@22", "--package=@modelcontextprotocol/conformance@0.2.0-alpha.12")
EXPECTED = tomllib.loads((ROOT / "tests" / "data" / "conformance.toml").read_text(encoding="utf-8"))


@pytest.fixture(name="address", scope="module")
def address_fixture() -> Iterator[str]:
    """Serve for the suite."""
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "tests" / "support" / "conformance_server.py")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def run_checks(address: str, era: str, folder: Path) -> dict[str, str]:
    """Run the suite; return the failures by scenario and check, or skip."""
    done = run_with_npx(
        [*SUITE, "conformance", "server", "--url", address, "--suite", "all", "--spec-version", era, "-o", str(folder)],
        timeout=120,
    )
    files = sorted(folder.glob("server-*/checks.json"))
    assert len(files) > 30, done.stderr
    wrong = {}
    for path in files:
        scenario = path.parent.name.removeprefix("server-")[: -len("-2026-01-01T00-00-00-000Z")]
        for check in json.loads(path.read_text(encoding="utf-8")):
            if check["status"] in ("FAILURE", "WARNING"):
                wrong[f"{scenario}/{check['id']}"] = str(check.get("errorMessage"))
    return wrong


@pytest.mark.parametrize("era", EXPECTED)
def test_the_suite_finds_only_expected_failures(address: str, era: str, tmp_path: Path) -> None:
    wrong = run_checks(address, era, tmp_path)
    listed = {name for names in EXPECTED[era].values() for name in names}

    assert {name: why for name, why in wrong.items() if name not in listed} == {}
    assert listed - set(wrong) == set(), "these pass now: remove them from the list"

"""`.ci/run` succeeds only if tests ran, all of them passed, and nothing warned; and it ends in time."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import RunResult

ROOT = Path(__file__).parents[2]
PASSED = "echo '=== 3 passed, 2 skipped in 0.1s ==='"
Run = Callable[..., RunResult]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that runs the script in a folder whose test line, linters and other tests are shell scripts."""

    def call(
        line: str = PASSED, lint: str = "true", rest: str = PASSED, types: str = "echo types", limit: str = "60"
    ) -> RunResult:
        (tmp_path / ".ci").mkdir()
        (tmp_path / ".ci" / "run").write_bytes((ROOT / ".ci" / "run").read_bytes())
        readme = f"<!-- test-line -->\n```sh\n{line}\n```\n<!-- /test-line -->\n"
        (tmp_path / "README.md").write_text(readme, encoding="utf-8")
        suite = tmp_path / "tests" / "process" / "server" / "test_conformance.py"
        suite.parent.mkdir(parents=True)
        suite.write_text('SUITE = ("true",)\n', encoding="utf-8")
        programs = tmp_path / ".venv" / "bin"
        programs.mkdir(parents=True)
        for name, script in (("ruff", lint), ("mypy", types), ("pip", "true"), ("python", f"echo rest; {rest}")):
            (programs / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
            (programs / name).chmod(0o700)
        done = subprocess.run(
            ["bash", str(tmp_path / ".ci" / "run")],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": str(tmp_path), "CI_LIMIT": limit},
            timeout=50,
            check=False,
        )
        return RunResult(done.returncode, done.stdout, done.stderr)

    return call


def test_on_success_every_step_was_run_in_order(run: Run) -> None:
    done = run(line=f"echo line; {PASSED}")

    assert done.status == 0, done.err
    said = [line for line in done.out.splitlines() if line in ("line", "types", "rest")]
    assert said == ["line", "rest", "types"]


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param("echo '1 failed, 3 passed in 1s'; exit 1", id="a test fails"),
        pytest.param("echo '1 failed, 3 passed in 1s' | cat", id="a pipe hides the status"),
        pytest.param("echo '3 passed, 1 error in 1s'", id="a fixture fails"),
        pytest.param("echo '9 deselected in 1s'; exit 5", id="none is left"),
        pytest.param("echo '9 skipped in 1s'", id="all are skipped"),
        pytest.param("true", id="nothing is said"),
        pytest.param("echo '3 passed, 1 warning in 1s'", id="one warns"),
        pytest.param("echo '3 passed in 1s'; false", id="an error at the end"),
        pytest.param("false; echo '3 passed in 1s'; exit 1", id="an error on the way"),
    ],
)
@pytest.mark.parametrize("stage", ["line", "rest"])
def test_failing_skipped_or_missing_tests_are_a_failure(run: Run, stage: str, ending: str) -> None:
    done = run(**{stage: ending})

    assert done.status not in (0, 124)
    assert ("rest" in done.out.splitlines()) == (stage == "rest")


def test_lint_runs_before_the_other_tests_and_stops_them(run: Run) -> None:
    done = run(lint="exit 1")

    assert done.status == 1
    assert "rest" not in done.out.splitlines()


def test_type_errors_are_a_failure_although_all_tests_pass(run: Run) -> None:
    done = run(types="echo found an error; exit 1")

    assert done.status == 1
    assert "found an error" in done.out.splitlines()


@pytest.mark.parametrize("stage", ["line", "lint", "rest", "types"])
def test_a_step_that_hangs_is_ended(run: Run, stage: str) -> None:
    done = run(**{stage: "sleep 45"}, limit="1")

    assert done.status == 124


def test_a_readme_without_the_test_line_is_a_failure(run: Run) -> None:
    done = run(line="")

    assert done.status == 1
    assert "no test line" in done.err

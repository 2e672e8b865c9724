"""An agent with the list of tools solves the fifty tasks of the benchmark with few calls and bytes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from project_paths import ROOT

SCRIPT = ROOT / "tests" / "benchmarks" / "agent_tasks.py"
MOST = {"calls": 60, "bytes": 50_000}
RESEARCH = SCRIPT.with_name("research_tasks.py")
MAX_OF_RESEARCH = {"calls": 45, "bytes": 100_000}

pytestmark = pytest.mark.process


def run_benchmark(*arguments: str, script: Path = SCRIPT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(script), *arguments], capture_output=True, text=True, timeout=180, check=False
    )


def read_figures(printed: str) -> dict[str, int]:
    return {name: int(number) for name, number in re.findall(r"^(\w+) +(\d+)", printed, re.MULTILINE)}


@pytest.mark.long
def test_a_research_assistant_needs_few_calls_and_bytes_for_24_tasks() -> None:
    done = run_benchmark(script=RESEARCH)
    figures = read_figures(done.stdout)

    assert done.returncode == 0, done.stderr
    assert figures["solved"] == 24
    for name, most in MAX_OF_RESEARCH.items():
        assert figures[name] <= most


@pytest.mark.long
def test_all_tasks_are_solved_with_few_calls_and_bytes() -> None:
    done = run_benchmark()
    figures = read_figures(done.stdout)

    assert done.returncode == 0, done.stderr
    assert figures["solved"] == 50
    assert figures["kinds"] >= 24
    for name, most in MOST.items():
        assert figures[name] <= most


@pytest.mark.long
def test_a_reply_without_the_answer_is_not_counted_as_solved(tmp_path: Path) -> None:
    names = [line.partition("\t")[0] for line in run_benchmark("--kinds").stdout.splitlines()]
    plans = tmp_path / "plans.json"
    plans.write_text(json.dumps({names[0]: [{"tool": "pubmed_spell_check", "arguments": {"query": "crispr"}}]}))
    done = run_benchmark("--plans", str(plans))

    assert len(names) == len(set(names)) == 50
    assert done.returncode == 1
    assert "solved 0 of 50" in done.stdout
    assert f"not solved: {names[0]}" in done.stderr

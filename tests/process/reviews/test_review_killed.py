"""A command of a review that is killed before any change of the folder, and run again, loses and repeats nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Program
from platform_marks import needs_fork
from project_paths import ROOT, SUPPORT
from review_records import invent_files, write_ris_file

pytestmark = needs_fork


@pytest.fixture
def review(program: Program, tmp_path: Path) -> Path:
    """Return a review with the records of two databases, not deduplicated."""
    files, _ = invent_files(15, seed=3)
    for name, records in files.items():
        (tmp_path / name).write_text(write_ris_file(records), encoding="utf-8")
    (tmp_path / "s.txt").write_text("1. crispr.ti,ab.\n2. base editing.tw.\n3. 1 or 2\n", encoding="utf-8")
    folder = tmp_path / "review"
    assert program("review", "init", str(folder), "--strategy", str(tmp_path / "s.txt")).status == 0
    for source in ("embase", "scopus"):
        done = program("review", "import", "--folder", str(folder), "--source", source, str(tmp_path / f"{source}.ris"))
        assert done.status == 0, done.err
    return folder


def test_a_killed_command_leaves_a_complete_folder_and_can_be_repeated(review: Path) -> None:
    commands = [
        *("1", "review import --source PubMed ../pubmed.ris --quiet"),
        *("2", "review dedupe --quiet"),
        *("4", "review search --demo --quiet"),
    ]
    done = subprocess.run(
        [sys.executable, str(SUPPORT / "killed_review.py"), str(review), *commands],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    imported, deduplicated, searched = json.loads(done.stdout)
    assert [one["problems"] for one in (imported, deduplicated, searched)] == [[], [], []]
    assert imported["killed"] >= 10  # each staged file, the commit, each rename and the end
    assert deduplicated["killed"] >= 5
    assert searched["killed"] >= 3

"""Checks of references in other programs: the GitHub action, the pre-commit hook, a Makefile, agents and Python."""

import json
import re
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixture_types import KitFor
from project_paths import ROOT

from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.tools import Toolbox

RETRACTED = "@article{moon,\n  pmid = {99000050}\n}\n"
GOOD = "@article{good,\n  pmid = {99000001}\n}\n"
TEXT = (
    "1. Mondschein S, Umbracht V. Moonlight exposure doubles overnight memory in shift workers. J Invent Results "
    "(Demo). 2019 Feb;7(2):150-63.\n"
    "2. Nobodyson Q. Deep learning sees imaginary tumours from low orbit. J Nowhere. 2021;1:1-2.\n"
)


@pytest.fixture
def shell(clean_environment: dict[str, str], tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=tmp_path,
            env={**clean_environment, **environment},
            capture_output=True,
            text=True,
            check=False,
            encoding="utf-8",
        )

    return run


@pytest.fixture
def clean_environment(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": f"{ROOT / '.venv' / 'bin'}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "ENTREZ_KIT_HOME": str(tmp_path / "kit"),
        "ENTREZ_KIT_DEMO": "true",
    }


@pytest.mark.skipif(
    not (ROOT / ".venv" / "bin" / "entrez-kit").exists(), reason="the program is not installed in .venv"
)
@pytest.mark.parametrize(("content", "status"), [(GOOD, 0), (RETRACTED, 4)])
def test_the_action_fails_on_the_chosen_findings_and_writes_a_summary(
    shell: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, content: str, status: int
) -> None:
    action = (ROOT / ".github/actions/check-references/action.yml").read_text(encoding="utf-8")
    script = textwrap.dedent(action.rpartition("run: |\n")[2])
    (fails,) = re.findall(r"fail-on:\n.*\n +default: (\S+)\n", action)
    (tmp_path / "refs.bib").write_text(content, encoding="utf-8")

    done = shell(
        script,
        FILES="refs.bib",
        SOURCES="",
        FAIL_ON=fails,
        IN_TEXT="true",
        GITHUB_STEP_SUMMARY="summary.md",
    )

    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert done.returncode == status, done.stderr
    assert summary.startswith("## refs.bib")
    assert ("RETRACTED" in summary) == (status == 4)


@pytest.mark.skipif(
    not (ROOT / ".venv" / "bin" / "entrez-kit").exists(), reason="the program is not installed in .venv"
)
def test_the_hook_runs_on_a_file_and_fails_on_a_retraction(
    shell: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    entry = " ".join(hook.partition("entry: >-")[2].partition("  language:")[0].split())
    (tmp_path / "refs.bib").write_text(RETRACTED, encoding="utf-8")
    (tmp_path / "good.bib").write_text(GOOD, encoding="utf-8")

    assert shell(f"{entry} refs.bib").returncode == 4
    assert shell(f"{entry} good.bib").returncode == 0
    both = shell(f"{entry} good.bib refs.bib")
    assert both.returncode == 4
    assert "refs.bib" in both.stdout + both.stderr


def test_an_agent_sends_a_text_or_a_list_and_gets_rows(sandbox: Sandbox, kit_for: KitFor) -> None:
    operation = next(operation for operation in OPERATIONS if operation.name == "check_references")
    services: Any = kit_for(sandbox).services

    def get_rows(**arguments: Any) -> list[tuple[str, str, str | None]]:
        (content, *_) = Toolbox([operation]).call(services, operation.name, arguments).content
        found = json.loads(content.text)["references"]  # type: ignore[union-attr]
        return [(one["key"], one["status"], one.get("pmid")) for one in found]

    assert get_rows(text=TEXT) == [("line 1", "retracted", "99000050"), ("line 2", "not_found", None)]
    listed = [TEXT.splitlines()[1], "PMID: 99000050", "10.5555/ekit.2019.0001", {"key": "own", "pmid": "99000002"}]
    listed.append({"key": "text", "text": TEXT.splitlines()[0]})
    assert [status for _, status, _ in get_rows(references=listed)] == [
        "not_found",
        "retracted",
        "verified",
        "verified",
        "retracted",
    ]
    assert [key for key, _, _ in get_rows(references=listed)][3:] == ["own", "text"]


def test_python_accepts_the_same_input(sandbox: Sandbox, kit_for: KitFor) -> None:
    kit = kit_for(sandbox)

    found = kit.check_references(text=TEXT, only="problems", sources=["pubmed"])

    assert [reference.status for reference in found.references] == ["retracted", "not_found"]
    assert [one.status for one in kit.stream.check_references(text="99000001")] == ["unreadable"]
    assert [
        reference.status for reference in kit.check_references(references=[{"key": "a", "pmid": "99000001"}]).references
    ] == ["verified"]

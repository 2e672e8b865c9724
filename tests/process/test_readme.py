"""The README and the guides are correct: their examples run, and the names in them exist."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Cli
from platform_marks import needs_terminal
from program_streams import run_on_terminal
from project_paths import ROOT
from word_documents import write_heading, write_paragraph, write_word

README = (ROOT / "README.md").read_text(encoding="utf-8")


def _run_example(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    import os

    command = [sys.executable, "-m", "entrez_kit", *shlex.split(line)[1:]]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", env={**os.environ, **environment}, check=False
    )


@needs_terminal
def test_the_picture_in_the_readme_shows_the_screen_of_a_terminal() -> None:
    block = re.search(r"```console\n\$ (.*?)\n(.*?)```", README, re.DOTALL)
    assert block is not None

    shown = run_on_terminal(*shlex.split(block[1])[1:], columns=80)

    assert [line.rstrip() for line in shown.out.splitlines()] == block[2].splitlines()


def _list_examples() -> list[str]:
    return [line for block in _list_blocks("sh") for line in block.splitlines() if line.startswith("entrez-kit ")]


def _list_blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("line", _list_examples())
def test_every_example_runs_in_the_demo(line: str, tmp_path: Path) -> None:
    import os

    shell = line.replace("entrez-kit ", f"{shlex.quote(sys.executable)} -m entrez_kit --demo ")
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", shell],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=tmp_path,
        env=dict(os.environ),
        check=False,
    )

    assert done.returncode == 0, done.stderr


def test_every_example_with_a_manuscript_runs_in_the_demo(tmp_path: Path) -> None:
    """The thesis cites one article of the demo by its PMID; the year in refs.bib is wrong."""
    cited = "Base editing of a cryptic splice site restores mucus transport in human airway cells."
    entry = (
        f"1. Marrowby TJ, Fenwick-Achebe I, et al. {cited} Ann Imaginary Genome Ed. 2019;3(2):101-12. PMID: 99000001"
    )
    text = (
        write_heading("Results"),
        write_paragraph(f"{cited[:-1]} (1)."),
        write_heading("References"),
        write_paragraph(entry),
    )
    (tmp_path / "thesis.docx").write_bytes(write_word(*text))
    examples = [line.partition("#")[0] for block in _list_blocks("text") for line in block.splitlines()]
    wrong = f"@article{{a, title={{{cited}}}, author={{Marrowby, T. J.}}, year={{2018}}, pmid={{99000001}}}}"
    (tmp_path / "refs.bib").write_text(wrong, encoding="utf-8")

    for line in examples:
        words = [sys.executable, "-m", "entrez_kit", "--demo", *shlex.split(line)[1:]]
        done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", cwd=tmp_path, check=False)
        assert done.returncode in (0, 4), (line, done.stderr)
    assert {path.name for path in tmp_path.iterdir()} >= {"report.html", "refs.fixed.bib"}


def test_the_python_example_runs_against_the_sandbox() -> None:
    from entrez_kit.sandbox.server import Sandbox

    block = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert block is not None
    with Sandbox(enforce_limits=False) as sandbox:
        done = subprocess.run(
            [sys.executable, "-c", block[1]],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={"PATH": "", "HOME": str(Path.home()), "ENTREZ_KIT_EUTILS_URL": f"{sandbox.url}/entrez/eutils"},
            check=False,
        )

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_every_subcommand_is_in_the_readme() -> None:
    listed = set(re.findall(r"^│ ([a-z]+)  ", _run_example("entrez-kit --help", COLUMNS="100").stdout, re.MULTILINE))
    assert {"search", "fetch", "show", "guide"} <= listed
    for name in listed:
        assert f"`{name}" in README, name


def test_the_readme_has_the_two_lines_that_ci_run_reads() -> None:
    for mark in ("demo-line", "test-line"):
        block = re.search(rf"<!-- {mark} -->\n```sh\n(.+)\n```\n<!-- /{mark} -->", README)
        assert block is not None
        assert "\n" not in block[1]


def test_the_readme_is_short_and_begins_with_the_most_important_facts() -> None:
    lines = README.splitlines()

    assert len(lines) <= 150, "shorten the README: its table has a line for each command"
    assert any("`from entrez_kit import Entrez`" in line for line in lines[:10])
    assert any("never been tested against the live services" in line for line in lines[:12])


def test_options_and_guides_in_the_readme_exist(alone: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from entrez_kit.guides import TOPICS

    assert set(re.findall(r"entrez-kit guide ([a-z][\w-]*)", README)) <= set(TOPICS)
    calls = re.findall(r"^entrez-kit ([a-z]+)(.*?)(?:#.*)?$", "\n".join(_list_blocks("text")), re.MULTILINE)
    assert calls
    monkeypatch.setenv("COLUMNS", "120")
    for command, rest in calls:
        page = alone(command, "--help").out
        assert [option for option in re.findall(r"--[a-z-]+", rest) if f" {option} " not in page] == [], command

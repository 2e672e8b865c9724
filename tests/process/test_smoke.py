"""Every command of the program once, as a user starts it: as a separate process, in the demo."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Program

from entrez_kit.commands import _app

CALLS = {
    "search": ("search", "crispr", "--json"),
    "facets": ("facets", "crispr", "--json"),
    "fetch": ("fetch", "99000001", "PMC99000026", "--json"),
    "fulltext": ("fulltext", "PMC99000001", "--json"),
    "show": ("show", "99000001", "--json"),
    "related": ("related", "99000001", "--json"),
    "cite": ("cite", "99000001", "--json"),
    "match": ("match", "references.bib", "--json"),
    "check": ("check", "references.ris", "--json"),
    "merge": ("merge", "references.ris", "references.bib", "--json"),
    "verify": ("verify", "claims.csv", "--json"),
    "convert": ("convert", "99000001", "--json"),
    "europepmc": ("europepmc", "crispr", "--json"),
    "mesh": ("mesh", "neoplasms", "--json"),
    "spell": ("spell", "crisper", "--json"),
    "strategy": ("strategy", "translate", "strategy.txt", "--json"),
    "gene": ("gene", "search", "TP53", "--json"),
    "db": ("db", "info", "--json"),
    "corpus": ("corpus", "search", "crispr", "--json"),
    "local": ("local", "list", "--json"),
    "review": ("review", "init", "new", "--strategy", "strategy.txt", "--json"),
    "serve": ("serve", "--check", "--json"),
    "doctor": ("doctor", "--json"),
    "cache": ("cache", "info", "--json"),
    "config": ("config", "show", "--json"),
    "guide": ("guide", "exit-codes"),
}
STATUS = {"match": 3}
"""Its reference is invented."""


def test_every_command_has_a_call_here() -> None:
    assert {*CALLS, "sandbox"} == set(_app.COMMANDS)


@pytest.mark.parametrize("command", CALLS)
def test_a_command_answers(program: Program, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("strategy.txt").write_text("exp Asthma/\n", encoding="utf-8")
    Path("references.ris").write_text("TY  - JOUR\nAN  - 99000001\nER  - \n", encoding="utf-8")
    Path("claims.csv").write_text(
        "claim,id\nAirway mucus is moved by cilia at about 5 mm per minute,99000001\n", encoding="utf-8"
    )
    Path("references.bib").write_text(
        "@article{a, journal = {No Such J}, year = 2025, pages = {1}}\n", encoding="utf-8"
    )

    done = program("--demo", *CALLS[command])

    assert done.status == STATUS.get(command, 0), done.err
    assert "Traceback" not in done.err
    assert json.loads(done.out) if "--json" in CALLS[command] else done.out.strip()


def test_the_sandbox_serves_until_it_is_interrupted() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "entrez_kit", "sandbox", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ,
        encoding="utf-8",
    ) as process:
        assert process.stdout
        assert any("http://127.0.0.1" in line for line in process.stdout)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) in (0, 130)

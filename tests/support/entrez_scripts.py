"""Scripts written for Bio.Entrez: run with one changed line, and by Biopython itself for comparison."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SCRIPTS: Final = sorted((Path(__file__).parents[1] / "data" / "entrez_scripts").glob("*.py"))
READ_EACH: Final = SCRIPTS[0].parent / "recorded" / "read_each.py"
THEIRS: Final = re.compile(r"(?m)^from Bio import Entrez(?:, (.*))?$")
OURS: Final = "from entrez_kit import Entrez"

PLAIN: Final = """
import runpy, sys
from Bio import Entrez
send, base, script = Entrez.urlopen, *sys.argv[1:3]
def urlopen(request):
    request.full_url = request.full_url.replace("https://eutils.ncbi.nlm.nih.gov/entrez/eutils", base)
    return send(request)
Entrez.urlopen = urlopen
Entrez.api_key = "0123456789abcdef0123456789abcdef0123"  # so that it waits less
sys.argv = [script, *sys.argv[3:]]
runpy.run_path(script, run_name="__main__")
"""
"""Runs a script with the Bio.Entrez of Biopython, pointed at another address."""


@dataclass(frozen=True)
class ScriptResult:
    """The result of a script."""

    status: int
    out: str
    err: str


def change_import(script: Path, folder: Path) -> Path:
    """Write a copy of a script whose one import line is changed, and return its path."""
    changed, lines = THEIRS.subn(_change_line, script.read_text(encoding="utf-8"))
    assert lines == 1, f"{script.name}: {lines} lines changed"
    (folder / script.name).write_text(changed, encoding="utf-8")
    return folder / script.name


def _change_line(found: re.Match[str]) -> str:
    return f"{OURS}\nfrom Bio import {found[1]}" if found[1] else OURS


def run_ours(script: Path, url: str, home: Path, *arguments: str, **variables: str) -> ScriptResult:
    """Run a script with the E-utilities at an address, and all files in a folder."""
    return _run([str(script), *arguments], home, {"ENTREZ_KIT_EUTILS_URL": f"{url}/entrez/eutils", **variables})


def run_plain(script: Path, url: str, home: Path, *arguments: str) -> ScriptResult:
    """Run a script with Biopython's own Bio.Entrez."""
    return _run(["-c", PLAIN, f"{url}/entrez/eutils", str(script), *arguments], home, {})


def _run(arguments: list[str], home: Path, variables: dict[str, str]) -> ScriptResult:
    temporary = home / f"tmp-{Path(arguments[-1]).stem}-{len(arguments)}"
    temporary.mkdir(parents=True, exist_ok=True)
    ended = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "HOME": str(home), "TMPDIR": str(temporary), "PYTHONHASHSEED": "0", **variables},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    return ScriptResult(ended.returncode, ended.stdout, ended.stderr)

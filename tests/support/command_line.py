"""The command line in tests: in this process over a sandbox, or as the real program in another process."""

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import pytest

from entrez_kit.commands import _app

if TYPE_CHECKING:
    from entrez_kit.sandbox.server import Sandbox


@dataclass(frozen=True)
class RunResult:
    """The result of a call of the program."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The printed output, as JSON."""
        return json.loads(self.out)


def read_error(done: RunResult) -> dict[str, Any]:
    """Return the error of the last line on stderr."""
    error: dict[str, Any] = json.loads(done.err.strip().splitlines()[-1])["error"]
    return error


def read_lines(source: str | Path) -> list[Any]:
    """Return the documents of JSON lines, of a text or a file."""
    text = source if isinstance(source, str) else source.read_text(encoding="utf-8")
    return [json.loads(line) for line in io.StringIO(text)]


def read_rows(text: str, delimiter: str = ",") -> list[dict[str, str]]:
    """Return the rows of a table of text."""
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


Cli = Callable[..., RunResult]
Program = Callable[..., RunResult]


@pytest.fixture(name="cli")
def cli_fixture(
    sandbox: "Sandbox",
    no_waiting: None,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Cli:
    """Call the program in this process over the demo corpus of the sandbox, without waiting."""
    monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", f"{sandbox.url}/entrez/eutils")
    monkeypatch.setenv("ENTREZ_KIT_IDCONV_URL", f"{sandbox.url}/idconv")
    monkeypatch.setenv("ENTREZ_KIT_EUROPEPMC_URL", f"{sandbox.url}/europepmc")
    monkeypatch.setenv("ENTREZ_KIT_PMC_OA_URL", f"{sandbox.url}/pmc-oa")
    monkeypatch.setenv("ENTREZ_KIT_CROSSREF_URL", f"{sandbox.url}/crossref")
    monkeypatch.setenv("ENTREZ_KIT_OPENALEX_URL", f"{sandbox.url}/openalex")
    monkeypatch.setenv("ENTREZ_KIT_UNPAYWALL_URL", f"{sandbox.url}/unpaywall")
    monkeypatch.setenv("UNPAYWALL_EMAIL", "reader@entrez-kit.invalid")
    return make_caller(monkeypatch, capsysbinary)


@pytest.fixture(name="main")
def main_fixture(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Cli:
    """Call the program in this process with the default addresses of all services."""
    return make_caller(monkeypatch, capsysbinary)


@pytest.fixture(name="alone")
def alone_fixture(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Cli:
    """Call the program in this process without a service."""
    monkeypatch.setenv("ENTREZ_KIT_EUTILS_URL", "http://127.0.0.1:9/entrez/eutils")
    return make_caller(monkeypatch, capsysbinary)


def make_caller(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Cli:
    """Return a function that calls the program in this process."""

    def call(*arguments: str, stdin: bytes | str | io.BufferedIOBase = b"") -> RunResult:
        content = stdin.encode() if isinstance(stdin, str) else stdin
        stream = io.BytesIO(content) if isinstance(content, bytes) else content
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(cast("IO[bytes]", stream), encoding="utf-8"))
        capsysbinary.readouterr()
        status = _app.main(list(arguments))
        out, err = capsysbinary.readouterr()
        return RunResult(status, out.decode("utf-8"), err.decode("utf-8"))

    return call


@pytest.fixture(name="program")
def program_fixture(_own_environment: Any) -> Program:
    """Call the program in another process."""

    def call(*arguments: str, stdin: bytes | None = None, **environment: str) -> RunResult:
        done = subprocess.run(
            [sys.executable, "-m", "entrez_kit", *arguments],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            env={**os.environ, **environment},
            timeout=60,
            check=False,
        )
        return RunResult(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    return call


@pytest.fixture(name="process")
def process_fixture(program: Program) -> Program:
    """Call the program in another process, over the demo."""
    return lambda *arguments, **more: program("--demo", *arguments, **more)

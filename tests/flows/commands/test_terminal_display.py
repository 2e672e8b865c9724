"""Output for people only: terminals, notes, advice, progress."""

import os
import pty
import re
import select
import struct
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from fcntl import ioctl
from io import TextIOWrapper
from pathlib import Path
from termios import TIOCSWINSZ
from typing import Any

import pytest
from command_line import Cli, Program
from rich.cells import cell_len

from entrez_kit.base.errors import EntityNotFound, RateLimited
from entrez_kit.base.progress import report_progress
from entrez_kit.base.settings import Settings
from entrez_kit.commands import _app, _console, _report, _state
from entrez_kit.commands import fetch as fetch_module
from entrez_kit.services import Services
from entrez_kit.services.transport.client import Transport

ESCAPES = re.compile(r"\x1b\][^\x1b\x07]*(?:\x1b\\|\x07)|\x1b\[[0-9;?]*[A-Za-z]")


def run_in_terminal(
    *arguments: str, columns: int = 80, term: str = "xterm-256color", **environment: str
) -> tuple[int, str]:
    """Run the program in a pseudo-terminal; return status and everything that it showed."""
    main, inner = pty.openpty()
    ioctl(inner, TIOCSWINSZ, struct.pack("HHHH", 500, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "entrez_kit", *arguments],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env={**os.environ, "TERM": term, **environment},
        start_new_session=True,
    )
    os.close(inner)
    shown = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([main], [], [], 0.2)
        if ready:
            try:
                piece = os.read(main, 65536)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            shown += piece
        elif process.poll() is not None:
            break
    os.close(main)
    return process.wait(10), shown.decode("utf-8").replace("\r\n", "\n")


def show_on_terminal(
    *arguments: str, columns: int = 80, term: str = "xterm-256color", **environment: str
) -> tuple[int, str]:
    """Call the program in this process, on a pseudo-terminal; return status and everything that it showed."""
    main, inner = pty.openpty()
    shown = bytearray()

    def read() -> None:
        with suppress(OSError):  # the other side is closed
            while piece := os.read(main, 65536):
                shown.extend(piece)

    reader = threading.Thread(target=read)
    reader.start()
    with pytest.MonkeyPatch.context() as patch, os.fdopen(inner, "r+b", buffering=0) as terminal:
        for name, value in {"TERM": term, "COLUMNS": str(columns), "LINES": "500", **environment}.items():
            patch.setenv(name, value)
        streams = {name: TextIOWrapper(terminal, encoding="utf-8") for name in ("stdin", "stdout", "stderr")}
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        status = _app.main(list(arguments))
        for stream in streams.values():
            stream.detach()
    reader.join(10)
    os.close(main)
    return status, shown.decode("utf-8").replace("\r\n", "\n")


@pytest.mark.process
@pytest.mark.parametrize("columns", [80, 200])
def test_a_terminal_gets_tables_that_fit(columns: int) -> None:
    for arguments in (("search", "sleep OR moonlight"), ("fetch", "99000050", "99000001"), ("show", "99000050")):
        status, shown = run_in_terminal("--demo", *arguments, columns=columns)

        assert status == 0, shown
        assert "Moonlight exposure doubles overnight" in " ".join(ESCAPES.sub("", shown).split())
        assert "RETRACTED" in shown
        assert "\x1b[" in shown
        assert max(cell_len(line) for line in ESCAPES.sub("", shown).splitlines()) <= columns


def test_a_dumb_terminal_gets_plain_text() -> None:
    status, shown = show_on_terminal("--demo", "show", "99000050", term="dumb")

    assert status == 0
    assert "\x1b" not in shown
    assert "https://pubmed.ncbi.nlm.nih.gov/99000050/" in shown


def test_errors_on_a_terminal_are_readable_text() -> None:
    status, shown = show_on_terminal("--demo", "search", "((")

    assert status == 2
    assert "Error: " in ESCAPES.sub("", shown).replace("\r", "")
    assert "Hint: " in ESCAPES.sub("", shown)
    assert show_on_terminal("--demo", "search", "((", "--json")[1].splitlines()[-1].startswith('{"success": false')


def test_a_missing_command_shows_the_help() -> None:
    status, shown = show_on_terminal()

    assert status == 2
    assert "Usage: entrez-kit" in ESCAPES.sub("", shown)


def test_a_written_file_is_confirmed_on_a_terminal(tmp_path: Path) -> None:
    _, shown = show_on_terminal("--demo", "search", "crispr", "-o", str(tmp_path / "hits.csv"))

    assert "Note: Written to" in ESCAPES.sub("", shown)
    assert (tmp_path / "hits.csv").read_text(encoding="utf-8").startswith("pmid,")


# Errors


class ReportState:
    """A state for errors and notes."""

    def __init__(self, **flags: Any) -> None:
        self.state = _state.State()
        self.state.flags.update(flags)


def test_errors_show_a_message_a_hint_and_with_verbose_the_request(capsys: pytest.CaptureFixture[str]) -> None:
    report = _report.report_error
    error = RateLimited("NCBI refused.", details={"reason": "too_many"})

    report(ReportState(format="table").state, error, "abc123")
    assert capsys.readouterr().err.splitlines() == [
        "Error: NCBI refused.",
        f"Hint: {error.recovery_hint}",
    ]
    report(ReportState(format="table", verbose=True).state, error, "abc123")
    assert capsys.readouterr().err.splitlines()[-1] == "Request id: abc123 (RATE_LIMITED)"


def test_an_error_sends_no_control_sequences_to_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    error = EntityNotFound("PubMed has no record of \x1b[2Jx\x9b31m.", invalid_input="\x1b[2J")

    for flags in ({"format": "table"}, {"json": True}):
        _report.report_error(ReportState(**flags).state, error)
        err = capsys.readouterr().err
        assert not set(err) & {"\x1b", "\x9b"}


def test_a_closed_stderr_causes_no_second_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)

    _report.report_error(ReportState().state, EntityNotFound("x"))
    ReportState().state.note("x")


# Notes


def test_a_home_that_cannot_be_written_causes_one_note(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")

    done = cli("search", "crispr", "-f", "ids")

    assert done.status == 0
    assert done.err.count("Note: ") == 1
    assert "home" in done.err
    assert cli("search", "crispr", "-f", "ids", "-q").err == ""


def has_advice(settings: Settings, monkeypatch: pytest.MonkeyPatch, **flags: Any) -> bool:
    """Return whether a call with these settings prints the advice, on a terminal."""
    monkeypatch.setattr(_state, "is_terminal", lambda stream: True)
    monkeypatch.setattr(_console, "print_line", lambda text, style, color: said.append(text))
    said: list[str] = []
    state = _state.State()
    state.flags.update(flags)
    state.__dict__["settings"] = settings
    state.__dict__["services"] = Services(settings, transport=Transport(settings))
    _report.advise_api_key(state)
    return any("NCBI_API_KEY" in text for text in said)


def test_the_advice_about_keys_appears_once_a_day_for_users_without_a_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from pydantic import SecretStr

    settings = Settings(cache_dir=tmp_path / "cache")

    assert not has_advice(replace(settings, ncbi_api_key=SecretStr("k" * 36)), monkeypatch)
    assert not has_advice(replace(settings, ncbi_admin_email=SecretStr("a@b.org")), monkeypatch)
    assert not has_advice(replace(settings, demo=True), monkeypatch)
    assert not has_advice(replace(settings, eutils_url="http://127.0.0.1:9/entrez/eutils"), monkeypatch)
    assert not has_advice(settings, monkeypatch, quiet=True)
    assert has_advice(settings, monkeypatch)
    assert not has_advice(settings, monkeypatch)
    (tmp_path / "cache" / _report.ADVICE_STAMP).write_text("2001-01-01", encoding="utf-8")
    assert has_advice(settings, monkeypatch)


def test_no_advice_if_the_cache_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    assert not has_advice(Settings(cache_dir=tmp_path / "file" / "cache"), monkeypatch)


# Progress


def test_progress_is_shown_only_to_people(capsys: pytest.CaptureFixture[str]) -> None:
    with _report.watching(ReportState().state, "Fetching"):
        report_progress(5, 10)

    assert capsys.readouterr().err == ""


def test_a_terminal_shows_the_progress_of_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    from io import StringIO

    screen = StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with _report.watching(ReportState().state, "Fetching"):
        report_progress(5, 10)
        time.sleep(0.2)

    assert "Fetching" in screen.getvalue()
    assert "5/10" in screen.getvalue()
    quiet = ReportState(quiet=True).state
    before = len(screen.getvalue())
    with _report.watching(quiet, "Fetching"):
        report_progress(5, 10)
    assert len(screen.getvalue()) == before


def test_many_requests_are_announced_with_their_time(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entrez_kit.pubmed.record_fetcher.MANY_REQUESTS", 0)

    err = cli("fetch", "99000001", "-f", "ids").err

    assert err.startswith("Note: 1 record takes 1 request: at least 1 minute.")
    assert "weekends" in err


def test_a_document_of_many_records_is_announced_with_the_streaming_format(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch_module, "MANY_RECORDS", 1)

    assert "jsonl streams them" in cli("fetch", "99000001", "99000002", "--json").err
    assert cli("fetch", "99000001", "99000002", "-f", "jsonl").err == ""


@pytest.mark.parametrize(
    ("words", "following"),
    [
        (("search", "editing", "-n", "2"), "show"),
        (("show", "99000001"), "fulltext 99000001"),
        (("gene", "search", "TP53", "--organism", "human"), "gene get NCBIGene:7157"),
        (("check", "refs.ris"), "check refs.ris --fix --dry-run"),
    ],
)
def test_a_terminal_shows_the_next_commands(
    words: tuple[str, ...], following: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("refs.ris").write_text(
        "TY  - JOUR\nTI  - Base editing of a cryptic splice site restores mucus transport in human airway cells.\n"
        "PY  - 2011\nDO  - 10.5555/ekit.2019.0001\nER  - \n",
        encoding="utf-8",
    )

    _, shown = show_on_terminal("--demo", *words, columns=200)
    assert ESCAPES.sub("", shown).splitlines()[-1].startswith("Next: entrez-kit --demo")
    assert f"entrez-kit --demo {following}" in shown
    assert "Next:" not in show_on_terminal("--demo", *words, "-q", columns=200)[1]
    assert "Next:" not in show_on_terminal("--demo", *words, "-f", "json", columns=200)[1]


LONG_DOI = "10.1000/nothing-with-a-very-long-identifier-that-fits-on-one-line"
NARROW_FILES = {
    "refs.bib": (
        "@article{a_citation_key_of_a_reference_manager_2019, doi = {10.5555/ekit.2019.0001}, year = {2011}}\n"
        f"@article{{made_up, title = {{Nobody wrote any of these seven words}}, doi = {{{LONG_DOI}}}}}\n"
    ),
    "list.csv": "key,journal,year,volume,first_page,author_name\nmoon,J Invent Results (Demo),2018,7,150,Nobody X\n",
    "draft.md": "Editing reached 61% of alleles (PMID 99000001).\n",
}


@pytest.mark.parametrize(
    ("words", "names", "whole"),
    [
        (
            ("check", "refs.bib"),
            ("Status", "Reference", "PMID", "Findings"),
            ("a_citation_key_of_a_reference_manager_2019", "99000001", LONG_DOI),
        ),
        (("match", "list.csv"), ("Reference", "Remarks"), ("moon", "99000050")),
        (("verify", "draft.md"), ("Line", "Status", "Claim", "Findings"), ("99000001",)),
        (
            ("convert", "99000001", LONG_DOI),
            ("Input", "PMID", "PMCID", "DOI", "Remarks"),
            ("99000001", "PMC99000001", "10.5555/ekit.2019.0001", LONG_DOI),
        ),
    ],
)
def test_a_narrow_terminal_stacks_fields_and_splits_no_identifier(
    words: tuple[str, ...],
    names: tuple[str, ...],
    whole: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in NARROW_FILES.items():
        Path(name).write_text(text, encoding="utf-8")

    _, screen = show_on_terminal("--demo", *words, columns=68)
    lines = ESCAPES.sub("", screen).splitlines()
    starts = {line.split(" ")[0] for line in lines}

    assert set(names) <= starts
    assert all(any(one in line for line in lines) for one in whole)
    assert max(cell_len(line) for line in lines) <= 68
    _, wide = show_on_terminal("--demo", *words, columns=200)
    assert names[0] in ESCAPES.sub("", wide)
    assert not set(names[1:]) & {line.split(" ")[0] for line in ESCAPES.sub("", wide).splitlines()}


LINK = "\x1b]8;"


@pytest.mark.parametrize(
    "words",
    [
        ("convert", "99000001"),
        ("check", "refs.bib"),
        ("show", "99000001", "-f", "table"),
        ("fulltext", "99000008", "-f", "table"),
    ],
)
def test_identifiers_are_links_only_on_a_terminal_that_supports_them(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: Cli
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in NARROW_FILES.items():
        Path(name).write_text(text, encoding="utf-8")

    _, screen = show_on_terminal("--demo", *words)
    pmid = "99000008" if words[0] == "fulltext" else "99000001"
    assert f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" in "".join(re.findall(r"\x1b\]8;[^\x1b]*", screen))
    assert LINK not in show_on_terminal("--demo", *words, term="dumb")[1]
    assert LINK not in show_on_terminal("--demo", *words, NO_COLOR="1")[1]
    assert LINK not in alone("--demo", *words, "-f", "table", "--color", "always").out


@pytest.mark.process
def test_warnings_about_the_rows_of_a_table_are_on_stderr(tmp_path: Path, program: Program) -> None:
    file = tmp_path / "list.csv"
    file.write_text(NARROW_FILES["list.csv"], encoding="utf-8")

    done = program("--demo", "match", str(file), "-f", "table")

    assert "Warning: moon: " in done.err
    assert "is not one of" not in done.out

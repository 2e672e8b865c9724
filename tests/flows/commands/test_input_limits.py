"""Every file and stream that a user can name has a size limit: devices, endless pipes and huge files are refused."""

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli, read_error

from entrez_kit.commands import _app, _id_lists, load_command

LIMIT = 1_000_000
NEEDED = {"db": "pubmed", "query_key": "key", "name": "name", "folder": "new", "source": "Embase"}
"""Values of required arguments that are not files."""


class Endless(io.RawIOBase):
    """A stream that repeats a text without an end."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        number = max(1, len(buffer) // len(self._text))
        part = (self._text * number)[: len(buffer)]
        buffer[: len(part)] = part
        return len(part)


def list_commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, below in (getattr(command, "commands", None) or {}).items():
        yield from list_commands(below, (*path, name))
    if not getattr(command, "commands", None):
        yield path, command


def list_file_calls() -> Iterator[tuple[str, ...]]:
    """Yield each way to give a file to a command; {} is the file, and {good} a correct one."""
    for name in _app.COMMANDS:
        for path, command in list_commands(load_command(name), (name,)):
            required = {
                param.name: ["{good}"] if param.param_type_name == "argument" else [param.opts[-1], "{good}"]
                for param in command.params
                if param.required and "FILE" in str(param.metavar)
            } | {
                param.name: [*([] if param.param_type_name == "argument" else [param.opts[-1]]), NEEDED[param.name]]
                for param in command.params
                if param.required and param.name in NEEDED
            }
            for one in command.params:
                if (
                    "FILE" not in str(one.metavar)
                    or "=FILE" in str(one.metavar)
                    or one.name in ("output", "config_file", "record", "replay")
                ):
                    continue
                others = [value for key, values in required.items() if key != one.name for value in values]
                given = ["{}"] if one.param_type_name == "argument" else [one.opts[-1], "{}"]
                yield (*path, *others, *given)


CALLS = list(list_file_calls())


def list_stdin_calls() -> Iterator[tuple[str, ...]]:
    for name in _app.COMMANDS:
        for path, command in list_commands(load_command(name), (name,)):
            if any("reads" in (getattr(param, "help", "") or "") and "-" in param.help for param in command.params):
                needed = [NEEDED[param.name] for param in command.params if param.required and param.name in NEEDED]
                yield (*path, *needed, *(["api_key"] if path == ("config", "set") else []), "-")


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("MAX_INPUT_BYTES", LIMIT),
        ("MAX_LINE_BYTES", LIMIT),
        ("MAX_LINES", 20_000),
        ("FIFO_SECONDS", 0.02),
    ):
        monkeypatch.setattr(f"entrez_kit.base.input_files.{name}", value)
    monkeypatch.setattr("entrez_kit.local.records.collection.MAX_RECORD_BYTES", LIMIT)
    monkeypatch.setattr("entrez_kit.local.records.collection.MAX_CORPUS_BYTES", 10 * LIMIT)


@pytest.fixture
def unreadable_source(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return a source that no command can read."""
    path = tmp_path / "source"
    match request.param:
        case "device":
            if not Path("/dev/zero").exists():
                pytest.skip("there is no /dev/zero")
            return "/dev/zero"
        case "folder":
            path.mkdir()
        case "sparse file":
            path.touch()
            os.truncate(path, 1 << 40)
        case "pipe":
            if not hasattr(os, "mkfifo"):
                pytest.skip("there are no named pipes")
            os.mkfifo(path)
    return str(path)


def test_the_list_of_calls_includes_the_commands_that_read_files() -> None:
    names = {" ".join(call[:2]) for call in CALLS}

    assert {"fetch --input", "match {}", "verify {}", "check {}", "sandbox --corpus", "db summary"} <= names
    assert len(CALLS) >= 18


@pytest.mark.parametrize(
    ("call", "unreadable_source"),
    [
        pytest.param(call, source, id=f"{' '.join(call)}-{source}")
        for call in CALLS
        for source in ("device", "folder", "sparse file", "pipe")
        if (call[0], source) != ("sandbox", "folder")  # it reads the files of folders
    ],
    indirect=["unreadable_source"],
)
@pytest.mark.long
def test_a_file_without_an_end_is_refused_with_the_limit(
    cli: Cli, tmp_path: Path, call: tuple[str, ...], unreadable_source: str, request: pytest.FixtureRequest
) -> None:
    kind = request.node.callspec.params["unreadable_source"]
    good = tmp_path / ("claims.csv" if call[0] == "verify" else "refs.bib")
    good.write_text("claim,id\nMice sleep at night,99000001\n" if call[0] == "verify" else "@article{a, title={B}}\n")

    done = cli(*(one.format(unreadable_source, good=good) for one in call))

    assert done.status == 2, done.err
    error = read_error(done)
    assert error["code"] == "INVALID_INPUT"
    if kind in ("device", "sparse file"):
        # Commands that find out the kind of a file read its beginning.
        kinds = {"local": "not PubMed XML or another file for imports", "--mesh": "no MeSH descriptors"}
        assert next((text for word, text in kinds.items() if word in call), "which is the maximum") in error["message"]
    if kind == "pipe":
        assert ("cannot be read" if call[0] == "sandbox" else "no program wrote to this pipe") in error["message"]


@pytest.mark.parametrize("text", [b"99000001\n", b"\n", b"99000001 ", b"x" * 999], ids=["ids", "blank", "line", "text"])
@pytest.mark.parametrize("call", list(list_stdin_calls()), ids=" ".join)
def test_standard_input_without_an_end_is_refused(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, call: tuple[str, ...], text: bytes
) -> None:
    monkeypatch.setattr("entrez_kit.commands._id_lists.MAX_IDS", 5_000)

    done = cli(*call, stdin=io.BufferedReader(Endless(text)))

    assert done.status == 2, done.err
    assert read_error(done)["code"] == "INVALID_INPUT"


def test_a_config_file_without_an_end_is_refused(cli: Cli) -> None:
    done = cli("--config", "/dev/zero", "fetch", "1")

    assert done.status == 8
    assert "64000 bytes" in done.err


def test_a_pipe_with_a_writer_is_read(cli: Cli, tmp_path: Path) -> None:
    import threading

    pipe = tmp_path / "ids"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("99000001\n",))
    writer.start()

    done = cli("fetch", "-i", str(pipe), "-f", "ids")
    writer.join()

    assert (done.status, done.out) == (0, "99000001\n")


def test_a_hundred_thousand_ids_are_read_line_by_line() -> None:
    class Counting(io.BytesIO):
        asked = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            self.asked += 1
            return super().readline(size)

    lines = Counting(b"12345\n" * 10_000)

    ids = _id_lists.read_identifiers(lines, "it")

    assert [next(ids) for _ in range(10)] == ["12345"] * 10
    assert lines.asked < 20
    assert sum(1 for _ in ids) == 9_990

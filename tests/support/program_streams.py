"""The program in this process with its streams, or on a pseudo-terminal with typed input."""

import io
import json
import os
import re
import select
import sys
import time
from dataclasses import dataclass
from typing import Any

import pytest

from entrez_kit.commands import _app


@dataclass(frozen=True)
class RunResult:
    """The result of a run of the program."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The printed output, as JSON."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error of the envelope on stderr."""
        lines = [line for line in self.err.splitlines() if line.startswith("{")]
        envelope = json.loads(lines[-1])
        assert envelope["success"] is False
        error: dict[str, Any] = envelope["error"]
        return error


class Program:
    """The program, called in this process; stdin is empty unless given, and no stream is a terminal."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: str, stdin: bytes = b"") -> RunResult:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        self._capsys.readouterr()
        status = _app.main(list(arguments))
        captured = self._capsys.readouterr()
        return RunResult(int(status), captured.out, captured.err)


def on_terminal(*arguments: str, typed: str = "", columns: int = 80, after: str = "", seconds: float = 60) -> RunResult:
    """Run the program on a pseudo-terminal and type once its output ends with ``after``.

    Stderr is shown there, too; the returned text has no colours.
    """
    import pty

    pid, descriptor = pty.fork()
    if pid == 0:
        os.environ.update(COLUMNS=str(columns), LINES="500", TERM="xterm-256color")
        os.execv(sys.executable, [sys.executable, "-m", "entrez_kit", *arguments])
    shown = b""
    pending = typed
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ready, _, _ = select.select([descriptor], [], [], 0.1)
        if ready:
            try:
                part = os.read(descriptor, 65_536)
            except OSError:  # Linux raises this when the other side is closed
                break
            if not part:
                break
            shown += part
        if pending and shown.decode("utf-8", "replace").endswith(after):
            os.write(descriptor, pending.encode())
            pending = ""
    else:
        os.kill(pid, 9)
    _, status = os.waitpid(pid, 0)
    os.close(descriptor)
    text = re.sub(r".\x08|\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(\x07|\x1b\\))", "", shown.decode("utf-8", "replace"))
    return RunResult(os.waitstatus_to_exitcode(status), text.replace("\r\n", "\n"), "")

"""The program on a pseudo-terminal, with typed input."""

import os
import re
import select
import sys
import time

from command_line import RunResult


def run_on_terminal(
    *arguments: str, typed: str = "", columns: int = 80, after: str = "", seconds: float = 60
) -> RunResult:
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

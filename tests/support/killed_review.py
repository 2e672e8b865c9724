"""Kill commands of a review before each change of its folder, and run them again.

    python killed_review.py FOLDER STEP COMMAND [STEP COMMAND...]

FOLDER is a review; a COMMAND is one argument. For each n, a child runs the command on a copy of the folder and kills
itself with SIGKILL directly before its n-th change of a file there; with a STEP of 3, n is 1, 4, 7 and so on. Another
child runs the command again. Stdout is a JSON document with the number of killed children and the states that differ,
for each command.
"""

import contextlib
import importlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from commands._app import main
from entrez_kit.reviews.folder import PAIRS, RECORDS, SCREENING, load

for name in ("commands.review", "commands.merge", "commands._views.review", "numpy", "tomlkit", "filelock"):
    importlib.import_module(name)  # once, and not in each child

CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir")
MOST = 60
_left = 0
_folder = ""


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    global _left
    is_change = event in CHANGES or (event == "open" and str(arguments[1])[:1] in ("w", "x", "a"))
    if not _left or not is_change:
        return
    if isinstance(arguments[0], str | bytes) and str(Path(os.fsdecode(arguments[0])).absolute()).startswith(_folder):
        _left -= 1
        if not _left:
            os.kill(os.getpid(), signal.SIGKILL)


def _run(command: list[str], kill_at: int) -> int:
    """Run the command in a child; return its exit status, or the negative number of the signal."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    global _left
    _left = kill_at
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    status: Any = 1
    try:
        status = main(command)
    except SystemExit as exc:
        status = exc.code
    os._exit(status or 0)


def _state(folder: Path) -> dict[str, Any]:
    """Return the content of a review; loading it fails if a file is damaged or does not agree with the journal."""
    review = load(folder)
    texts = {
        name: (folder / name).read_text("utf-8") for name in (RECORDS, PAIRS, SCREENING) if (folder / name).exists()
    }
    staged = (folder / ".staged").exists()
    return {**texts, "warnings": [warning.code for warning in review.warnings], "staged": staged}


def try_command(review: Path, step: int, command: list[str]) -> dict[str, Any]:
    """Kill the command before every ``step``-th change; return the number of kills, and the differences."""
    global _folder
    calm, problems, killed = review.with_name("calm"), [], 0
    shutil.rmtree(calm, ignore_errors=True)
    shutil.copytree(review, calm)
    with contextlib.chdir(calm):
        assert _run(command, 0) in (0, 4)
    expected = _state(calm)
    for number in range(1, MOST, step):
        folder = review.with_name(f"killed-{number}")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(review, folder)
        _folder = f"{folder}{os.sep}"
        with contextlib.chdir(folder):
            if _run(command, number) != -signal.SIGKILL:
                break
            killed += 1
            status = _run(command, 0)  # 2: the search was complete before the kill
        found = _state(folder)
        differing = [name for name in expected if found.get(name) != expected[name]]
        if differing or status not in (0, 2, 4):
            problems.append({"kill": number, "status": status, "differing": differing})
    return {"killed": killed, "problems": problems}


if __name__ == "__main__":
    sys.addaudithook(_watch)
    pairs = zip(sys.argv[2::2], sys.argv[3::2], strict=True)
    results = [try_command(Path(sys.argv[1]).resolve(), int(step), command.split()) for step, command in pairs]
    sys.stdout.write(json.dumps(results))

"""The commands for databases, MeSH, conversion and matching, called in this process or in one of their own."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from terminal import Done

NAMES = ("db", "mesh", "spell", "convert", "match")
START = f"""
import sys
from importlib import import_module
app = import_module("entrez_kit.commands._app")
for name in {NAMES!r}:
    app.COMMANDS.setdefault(name, app.Entry(name, name, app.PUBMED))
sys.exit(app.main(sys.argv[1:]))
"""


@pytest.fixture(name="_registered", autouse=True)
def registered_fixture(monkeypatch: pytest.MonkeyPatch) -> None:
    """List the commands in the program's table, whether or not it has them."""
    app = import_module("entrez_kit.commands._app")
    for name in NAMES:
        monkeypatch.setitem(app.COMMANDS, name, app.COMMANDS.get(name) or app.Entry(name, name, app.PUBMED))


@pytest.fixture(name="process")
def process_fixture(_own_environment: Any) -> Callable[..., Done]:
    """Call the program in a process of its own, over the demo."""

    def call(*arguments: str, stdin: bytes | None = None, **environment: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-c", START, "--demo", *arguments],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            env={**os.environ, **environment},
            timeout=60,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    return call

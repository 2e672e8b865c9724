"""Programs written in TypeScript, run by npx if npm has them in its cache."""

import os
import shutil
import subprocess
from collections.abc import Sequence

import pytest

HOME = os.environ.get("HOME", "")
"""The folder of npm's packages; the tests have another home."""


def run_with_npx(command: Sequence[str], timeout: float) -> "subprocess.CompletedProcess[str]":
    """Run a command that begins with npx, without a request to the registry; skip the test if npm does not have it."""
    if shutil.which("npx") is None:
        pytest.skip("npx is not installed")
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "HOME": HOME, "npm_config_offline": "true"},
    )
    if "npm error" in done.stderr or "npm ERR!" in done.stderr:
        pytest.skip(f"npm does not have what {' '.join(command[:4])} names")
    return done

"""Lists the recorded replies that a run of the tests used, and skips tests of missing recordings."""

import gzip
import os
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

LIST = "SOURCES.md"
SAVED = "# Replies of "
"""The beginning of the list in a folder that `entrez-kit doctor --deep --save` wrote."""

_roots: list[str] = []
_used: set[str] = set()
_saved: list[bool] = []


def require_recordings(found: object) -> None:
    """Reject recordings that lack the replies a test reads; skip the test if they come from a run of the doctor."""
    if not found and any(_saved):
        pytest.skip("one run of the doctor has too few of these")
    assert found, "the recordings lack the replies that this test needs"


def list_recordings(folder: Path) -> list[Path]:
    """Return the recorded replies of a folder, in the order of their names; there must be some."""
    found = sorted(path for path in folder.iterdir() if path.is_file())
    require_recordings(found)
    return found


def read_recording(path: Path) -> bytes:
    """Return the content of a recorded reply, which may be compressed."""
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def watch(root: Path) -> None:
    """Record every file that is opened below a folder."""
    first = not _roots
    _roots.append(f"{root}{os.sep}")
    made_by = root / LIST
    _saved.append(made_by.is_file() and made_by.read_text(encoding="utf-8").startswith(SAVED))
    if first:
        sys.addaudithook(_record_opened)


def _record_opened(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str | os.PathLike):
        path = os.fspath(arguments[0])
        if isinstance(path, str):
            _used.update(path.removeprefix(root) for root in _roots if path.startswith(root) and path != root)


def _is_recording(error: FileNotFoundError) -> bool:
    return any(f"{error.filename}{os.sep}".startswith(root) for root in _roots)


def _skip_missing_recordings() -> Generator[None, object, object]:
    try:
        return (yield)
    except FileNotFoundError as exc:
        if not _is_recording(exc):
            raise
        missing = exc.filename
    return pytest.skip(f"these recordings have no {os.path.relpath(missing, _roots[-1])}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Skip a test whose fixtures read a recording that is not in the folder."""
    return (yield from _skip_missing_recordings())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Skip a test that reads a recording that is not in the folder."""
    return (yield from _skip_missing_recordings())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the recordings that a worker used to the process that reports."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["recordings"] = sorted(_list_existing())


def _list_existing() -> set[str]:
    """Return the opened files that exist; a worker has reported its own."""
    return {name for name in _used if not _roots or any(Path(root, name).is_file() for root in _roots)}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Add the recordings that a worker used."""
    _used.update(getattr(node, "workeroutput", {}).get("recordings", ()))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the recordings that were used."""
    kinds = Counter(Path(name).parts[0] for name in _list_existing() if len(Path(name).parts) > 1)
    if kinds:
        folders = os.environ.get("ENTREZ_KIT_REAL_DATA", "")
        listed = ", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items()))
        terminalreporter.write_line(f"recordings used: {sum(kinds.values())} files of {folders}: {listed}")

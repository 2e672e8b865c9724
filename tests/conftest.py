"""Fixtures for every test: only loopback connections, no settings from outside, separate folders.

The kind of a test is its folder: `unit` (no process, no socket, no wait), `flows` (in this process, with servers on
loopback) or `process` (programs, terminals, real time). The mark `process` gives a single test the kind `process`.
"""

import gc
import os
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from functools import cache
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from sampled_cases import FULL

if TYPE_CHECKING:
    from fixture_types import KitFor

    from entrez_kit import EntrezKit
    from entrez_kit.sandbox.server import Sandbox

# A background job of a shell ignores SIGINT, and `nohup` ignores SIGHUP. Child processes inherit both.
# The tests send these signals to the programs that they start.
for _number, _handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, _handler)

# Every run has the same examples; a full run (see `sampled_cases`) has new ones.
settings.register_profile("bounded by work, not by time", deadline=None, max_examples=50, derandomize=not FULL)
settings.load_profile("bounded by work, not by time")

# The tests start some hundred programs. With the compiled files, each module is compiled only once.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Folders in memory cost less than half as much as folders on a disk. Some containers have only 64 MB of memory there.
IN_MEMORY = Path("/dev/shm")  # noqa: S108  # the tests create a new folder in it
if IN_MEMORY.is_dir() and os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > 4 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))

# All objects that the collection of tests creates live until the end of the run: garbage collection would find nothing.
gc.disable()

KINDS = ("unit", "flows", "process")
SMOKE = "test_smoke.py"
pytest_plugins = ("used_recordings",)
LOOPBACK = {"127.0.0.1", "::1", "localhost", "0.0.0.0", "::"}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m fast`, read no file of `process` except the smoke tests: no other test in this folder is fast."""
    is_slow = Path(__file__).parent / "process" in collection_path.parents and collection_path.name != SMOKE
    return True if is_slow and config.getoption("markexpr") == "fast" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that the README's line runs as `fast`: quick tests of two kinds, one smoke test per command."""
    # Files of `process` take longest. Started first, they do not keep one worker busy at the end of the run.
    items.sort(key=lambda item: find_folder(item.path) != "process")
    for item in items:
        if "real_data" in getattr(item, "fixturenames", ()):
            item.add_marker("recorded")
        slow = find_kind(item) == "process" or any(item.get_closest_marker(name) for name in ("long", "recorded"))
        if not slow or item.path.name == SMOKE:
            item.add_marker("fast")


def pytest_collection_finish() -> None:
    """Collect garbage again, but only among the objects that tests create."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)  # the same thresholds as in the program
    gc.enable()


@cache
def find_folder(path: Path) -> str:
    """Return the folder of `tests` that contains a file."""
    return path.relative_to(Path(__file__).parent).parts[0]


def find_kind(item: pytest.Item) -> str:
    """Return the kind of a test."""
    folder = find_folder(item.path)
    return "process" if item.get_closest_marker("process") or folder not in KINDS else folder


_running: pytest.Item | None = None
"""The test that runs now."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Tell the guards which test runs."""
    global _running
    _running = item
    try:
        return (yield)
    finally:
        _running = None


def pytest_sessionstart() -> None:
    """Refuse connections that leave this machine and what the kind of a test excludes; give replies the same time.

    Only `process` starts programs, and `unit` opens no connections. With one time for all replies, the documents of two
    calls can be compared; the mark `clock` keeps the real time. Patches for the whole run cost less than fixtures.
    """
    from entrez_kit.services.transport import Reply

    connect, read_clock = socket.socket.connect, Reply.sent_at.__get__

    def connect_to_loopback(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else address
        if isinstance(address, tuple) and str(host) not in LOOPBACK and not str(host).startswith("127."):
            raise AssertionError(f"a test tried to reach {host!r}")
        connect(self, address)

    def refuse(owner: Any, name: str, action: str, kinds: tuple[str, ...]) -> None:
        original = getattr(owner, name)

        def refuse_or_call(*arguments: Any, **keywords: Any) -> Any:
            if _running and (kind := find_kind(_running)) in kinds:
                raise AssertionError(f"a test of the kind `{kind}` {action}; move it, or mark it `process`")
            return original(*arguments, **keywords)

        setattr(owner, name, refuse_or_call)

    def choose_time(reply: Any) -> str:
        keeps_time = _running is None or _running.get_closest_marker("clock")
        return str(read_clock(reply)) if keeps_time else "2026-01-01T00:00:00Z"

    socket.socket.connect = connect_to_loopback  # type: ignore[method-assign, assignment]
    Reply.sent_at = property(choose_time)  # type: ignore[method-assign, assignment]
    refuse(subprocess.Popen, "__init__", "starts a program", ("unit", "flows"))
    refuse(BaseProcess, "start", "starts a process", ("unit", "flows"))
    refuse(socketserver.TCPServer, "server_bind", "starts a server", ("unit",))
    refuse(socket, "create_connection", "opens a connection", ("unit",))


_empty_homes: list[Path] = []
"""Homes that a test of `unit` left empty; the next test gets one of them."""


@pytest.fixture(autouse=True)
def _own_environment(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Clear the settings of the user who runs the tests, and give each test a new home and temporary folder."""
    from entrez_kit.base import private_files

    prefixes = ("NCBI_", "ENTREZ_KIT_", "UNPAYWALL_", "EUROPEPMC_", "MCP_", "WEAVIATE_", "OPENAI_", "XDG_")
    keep = ("ENTREZ_KIT_REAL_DATA", "ENTREZ_KIT_ALL_LISTS", "ENTREZ_KIT_LIVE")
    for name in list(os.environ):
        if name.startswith(prefixes) and name not in keep:
            monkeypatch.delenv(name)
    for name in ("LOGS_DIR", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    homes = tmp_path_factory.getbasetemp() / "homes"  # not in the numbered folders, because pytest reads all of these
    homes.mkdir(exist_ok=True)
    if _empty_homes:
        home = _empty_homes.pop()
    else:
        home = Path(tempfile.mkdtemp(dir=homes))
        (home / "tmp").mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(home / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(private_files, "SHARED_TEMPORARY", home / "tmp")
    yield home
    if find_kind(request.node) == "unit" and [inside for _, *inside in os.walk(home)] == [[["tmp"], []], [[], []]]:
        _empty_homes.append(home)
    else:  # at the end of the run, one process would delete all of them
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def real_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of recorded replies, or skip: it is not part of the project.

    `ENTREZ_KIT_REAL_DATA` may list several folders, as PATH does: the first folder that has a file is used for it. The
    run lists the opened files at its end.
    """
    import used_recordings

    named = os.environ.get("ENTREZ_KIT_REAL_DATA", "").split(os.pathsep)
    folders = [Path(name).resolve() for name in named if name and Path(name).is_dir()]
    if not folders:
        pytest.skip("ENTREZ_KIT_REAL_DATA names no folder of recorded replies")
    root = folders[0]
    if len(folders) > 1:
        root = tmp_path_factory.mktemp("recordings")
        for path in (path for folder in reversed(folders) for path in folder.rglob("*") if path.is_file()):
            place = root / path.relative_to(next(folder for folder in folders if path.is_relative_to(folder)))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True)
            place.symlink_to(path)
    used_recordings.watch(root)
    return root


@pytest.fixture
def sandbox() -> "Iterator[Sandbox]":
    """Run the sandbox over the bundled demo corpus."""
    from entrez_kit.sandbox.server import Sandbox

    with Sandbox(enforce_limits=False) as running:
        yield running


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for slots or between retries."""
    monkeypatch.setattr("entrez_kit.services.transport.limiter.RateLimiter.acquire", lambda self, deadline=None: None)
    monkeypatch.setattr("entrez_kit.services.transport.retry.Backoff.compute_wait", lambda self, failures, asked: 0.001)
    monkeypatch.setattr("entrez_kit.core.batches.PROBE_WAITS", (0.001, 0.001, 0.001))


@pytest.fixture
def leaping_clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Advance the clock only by sleeping, and return the seconds of each sleep."""
    start_ns, slept = time.monotonic_ns(), list[float]()
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(time, "monotonic_ns", lambda: start_ns + int(sum(slept) * 1e9))
    monkeypatch.setattr(time, "monotonic", lambda: time.monotonic_ns() / 1e9)
    return slept


@pytest.fixture
def kit_for(no_waiting: None, tmp_path: Path) -> "Iterator[KitFor]":
    """Build kits that talk to a sandbox (or to port 9, for mocked replies) and do not wait."""
    from dataclasses import replace

    from entrez_kit import EntrezKit, load_settings

    with ExitStack() as stack:

        def build(sandbox: "Sandbox | None", **overrides: Any) -> EntrezKit:
            settings = load_settings({"home": tmp_path / "home", **overrides})
            settings = settings.use_sandbox(sandbox.url if sandbox else "http://127.0.0.1:9")
            return stack.enter_context(EntrezKit(replace(settings, demo=False, state_dir=tmp_path / "state")))

        yield build


@pytest.fixture
def kit(kit_for: "KitFor", sandbox: "Sandbox") -> "EntrezKit":
    """Return a kit over the demo corpus of the sandbox."""
    return kit_for(sandbox)

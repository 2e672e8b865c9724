"""Checks of this machine: versions, settings, disk space, cache and the shared rate limit."""

import os
import platform
import sqlite3
import ssl
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from entrez_kit.base import __version__
from entrez_kit.base.errors import NotConfigured, StoreError
from entrez_kit.base.extras import EXTRAS, install_line, is_installed
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.private_files import get_primary_code, make_private_folder, restrict_schema
from entrez_kit.base.settings import BY_NAME, SANDBOX_ORIGIN, Settings
from entrez_kit.corpus.embeddings import name_model
from entrez_kit.doctor.hops import describe_reason
from entrez_kit.doctor.report import CheckEnded, Notes
from entrez_kit.services.transport import POLICIES
from entrez_kit.services.transport.cache import cache_info
from entrez_kit.services.transport.limiter import RateLimiter, SlotUnavailable
from entrez_kit.services.transport.rate_gate import find_limiter_file, is_keyed

LIBRARIES: Final = (
    "requests",
    "urllib3",
    "biopython",
    "lxml",
    "pydantic",
    "pyrate-limiter",
    "typer",
    "rich",
)
FULL_BYTES: Final = 20_000_000
"""With less free space, writes will soon fail."""
SCARCE_BYTES: Final = 500_000_000
LONG_WAIT_SECONDS: Final = 10.0

LONG_TO_READ_BYTES: Final = 500_000_000

FreeSpace = Callable[[Path], int]
"""Returns the free bytes for the user on the disk of a folder; raises OSError."""


def check_versions(notes: Notes) -> None:
    """Report the versions in use."""
    with notes.check("versions") as check:
        check.add(
            f"entrez-kit {__version__}, Python {platform.python_version()} on {platform.system() or sys.platform}"
        )
        missing = []
        for library in LIBRARIES:
            try:
                check.add(f"{library} {metadata.version(library)}")
            except metadata.PackageNotFoundError:
                missing.append(library)
        check.add(ssl.OPENSSL_VERSION)
        lacking = [name for name in EXTRAS if not is_installed(name)]
        check.add(f"extras {', '.join(name for name in EXTRAS if name not in lacking) or 'none'}")
        if lacking:
            check.add(f"without {', '.join(lacking)} ({install_line(','.join(lacking))})")
        if missing:
            raise CheckEnded(
                f"not installed: {', '.join(missing)}",
                "Install entrez-kit again in a separate environment.",
                code=NotConfigured.code,
            )


def check_configuration(notes: Notes, settings: Settings) -> None:
    """Check for ignored settings and for a config file that other users can read."""
    with notes.check("configuration") as check:
        path = settings.config_file
        if path is None:
            check.add("no config file")
        elif not _exists(path):
            check.add(f"no config file at {path}")
        else:
            check.add(f"config file {path}")
        setting_names = [name for name in BY_NAME if settings.origins.get(name, SANDBOX_ORIGIN) != SANDBOX_ORIGIN]
        if setting_names:
            check.add(f"set: {', '.join(setting_names)}")

        try:
            if (model := name_model(settings)) is not None:
                check.add(f"embeddings of the corpus: {model}")
        except NotConfigured as exc:
            raise CheckEnded(exc.message, exc.recovery_hint, code=exc.code) from None
        if settings.demo:
            check.add("demo is on: the sandbox is checked, not NCBI")
        elif settings.ncbi_admin_email is None:
            check.add("no e-mail address: NCBI cannot write to you before it blocks an address (NCBI_ADMIN_EMAIL)")
        for number, note in enumerate(settings.notes):
            check.warn(note, None if number else "`entrez-kit config show` lists every setting and its origin.")
        if settings.offline and settings.origins.get("offline") != "flag":
            check.warn(
                f"offline is on: no requests are sent (from {settings.origins.get('offline', 'the caller')})",
                "`entrez-kit config show offline` shows its origin.",
            )
        if settings.offline and settings.no_cache:
            raise CheckEnded(
                "offline and no_cache are both on, so no reply is available",
                "Switch one of them off.",
                code=NotConfigured.code,
            )


def check_disk(notes: Notes, settings: Settings, free_space: FreeSpace) -> None:
    """Check for a disk that is full or almost full."""
    with notes.check("disk") as check:
        seen: set[int] = set()
        folders = (
            ("cache", "ENTREZ_KIT_CACHE_DIR", settings.cache_dir),
            ("data", "ENTREZ_KIT_DATA_DIR", settings.data_dir),
            ("state", "TMPDIR", settings.state_dir),
        )
        for name, variable, folder in folders:
            existing = next((candidate for candidate in (folder, *folder.parents) if _exists(candidate)), folder)
            try:
                device = existing.stat().st_dev
                if device in seen:
                    continue
                seen.add(device)
                free = free_space(existing)
            except OSError as exc:
                check.warn(
                    f"{name}: {folder} cannot be read ({describe_reason(exc)})", "Check the permissions of this folder."
                )
                continue
            if free < FULL_BYTES:
                raise CheckEnded(
                    f"{size(free)} left for {folder}",
                    f"Free some space, or set {variable} to a folder on another disk.",
                    code=StoreError.code,
                )
            if free < SCARCE_BYTES:
                check.warn(f"only {size(free)} left for {folder}", "`entrez-kit cache prune` removes expired replies.")
            else:
                check.add(f"{size(free)} left for {folder}")


def check_cache(notes: Notes, settings: Settings) -> None:
    """Check whether replies can be cached, and whether cached replies can be read."""
    with notes.check("cache") as check:
        if settings.no_cache:
            check.add("switched off (no_cache)")
            return
        try_to_write(settings.cache_dir)
        info = cache_info(settings)
        problem = info.problem or (find_damage(info.path) if info.exists else None)
        if problem:
            raise CheckEnded(
                f"{info.path} cannot be used: {problem}",
                "`entrez-kit cache clear` removes it; the replies are then requested again.",
                code=StoreError.code,
            )
        if info.exists:
            replies = format_count(info.entries, "reply", "replies")
            check.add(f"{replies}, {info.expired:,} of them expired, {size(info.size_bytes)}")
        else:
            check.add("empty")
        check.add(str(info.path))


def find_damage(path: Path) -> str | None:
    """Return the damage that SQLite finds in a file; None if it finds none. Very large files are not checked."""
    try:
        if path.stat().st_size > LONG_TO_READ_BYTES:
            return None
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1)) as connection:
            restrict_schema(connection)
            verdict = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.OperationalError as exc:  # another program has locked it, so it is not damaged
        return None if get_primary_code(exc) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) else str(exc)
    except (sqlite3.Error, OSError) as exc:
        return describe_reason(exc)
    return None if verdict == "ok" else "it is damaged"


@dataclass(frozen=True)
class SharedLimit:
    """The state of NCBI's rate limit that the processes of this user share."""

    file: Path
    per_second: float
    problem: str | None = None
    wait_seconds: float = 0.0


def read_shared_limit(settings: Settings) -> SharedLimit:
    """Return the state of NCBI's rate limit, with the current waiting time. This takes no slot."""
    file = find_limiter_file(settings, "eutils")
    per_second = POLICIES["eutils"].per_second(is_keyed(settings, "eutils"))
    limiter = RateLimiter(file, per_second=per_second, min_interval_ms=settings.ncbi_request_delay_ms)
    problem = limiter.find_problem()
    wait = 0.0
    if problem is None:
        try:
            # A slot in the past is never granted, so this only returns the waiting time.
            limiter.acquire(time.monotonic() - 1)
        except SlotUnavailable as exc:
            wait = max(exc.wait_seconds, 0.0)
    return SharedLimit(file, per_second, problem, wait)


def check_rate_limit(notes: Notes, settings: Settings) -> None:
    """Check whether all processes of this user share NCBI's rate limit, and how long the queue is."""
    with notes.check("rate_limit") as check:
        limit = read_shared_limit(settings)
        check.add(f"{limit.per_second:g} requests per second")
        if limit.problem:
            check.warn(
                f"not shared between processes: {limit.problem}",
                "Several commands at once may exceed NCBI's limit. Set TMPDIR to a folder that you can write.",
            )
        elif limit.wait_seconds > LONG_WAIT_SECONDS:
            check.warn(
                f"the next free slot is {limit.wait_seconds:.0f} s away",
                "Your other commands are waiting for NCBI; fewer commands at once would not be slower.",
            )
        else:
            check.add(f"shared by all processes of this user in {limit.file}")


def try_to_write(folder: Path) -> None:
    """Write a small file to a folder and remove it.

    Raises:
        CheckEnded: the folder cannot be written.
    """
    try:
        make_private_folder(folder)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor-") as file:
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
    except OSError as exc:
        raise CheckEnded(
            f"{folder} cannot be written: {describe_reason(exc)}",
            "Make the folder writable, or set ENTREZ_KIT_CACHE_DIR to a writable folder. Until then no reply is "
            "cached.",
            code=StoreError.code,
        ) from None
    if sys.platform != "win32" and folder.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise CheckEnded(
            f"other users may write to {folder}",
            f"Run chmod 700 {folder}, because entrez-kit trusts cached replies.",
            status="warning",
        )


def size(number: int) -> str:
    """Format a number of bytes with a unit."""
    amount, unit = float(number), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount >= 1000:
            amount, unit = amount / 1000, larger
    return f"{amount:.0f} {unit}" if unit == "bytes" or amount >= 100 else f"{amount:.1f} {unit}"


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a parent folder cannot be entered
        return False

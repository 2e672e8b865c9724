"""Checks of what lies on this machine: versions, settings, disk space, cache and the shared rate limit."""

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
from entrez_kit.base.private_files import make_private_folder, restrict_schema
from entrez_kit.base.settings import BY_NAME, SANDBOX_ORIGIN, Settings
from entrez_kit.doctor.hops import reason
from entrez_kit.doctor.report import Finding, Notes

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
"""Below this, writes fail before long."""
SCARCE_BYTES: Final = 500_000_000
LONG_WAIT_SECONDS: Final = 10.0

LONG_TO_READ_BYTES: Final = 500_000_000

FreeSpace = Callable[[Path], int]
"""Bytes left for the user on the disk of a folder; raises OSError."""


def check_versions(notes: Notes) -> None:
    """Name the versions in use, for whoever reads the report."""
    with notes.check("versions") as said:
        said.add(f"entrez-kit {__version__}, Python {platform.python_version()} on {platform.system() or sys.platform}")
        missing = []
        for library in LIBRARIES:
            try:
                said.add(f"{library} {metadata.version(library)}")
            except metadata.PackageNotFoundError:
                missing.append(library)
        said.add(ssl.OPENSSL_VERSION)
        lacking = [name for name in EXTRAS if not is_installed(name)]
        said.add(f"extras {', '.join(name for name in EXTRAS if name not in lacking) or 'none'}")
        if lacking:
            said.add(f"without {', '.join(lacking)} ({install_line(','.join(lacking))})")
        if missing:
            raise Finding(
                f"not installed: {', '.join(missing)}",
                "Install entrez-kit again, in an environment of its own.",
                code=NotConfigured.code,
            )


def check_configuration(notes: Notes, settings: Settings) -> None:
    """Look for settings that were ignored and for a config file that others can read."""
    with notes.check("configuration") as said:
        path = settings.config_file
        if path is None:
            said.add("no config file")
        elif not _exists(path):
            said.add(f"no config file at {path}")
        else:
            said.add(f"config file {path}")
        given = [name for name in BY_NAME if settings.origins.get(name, SANDBOX_ORIGIN) != SANDBOX_ORIGIN]
        if given:
            said.add(f"set: {', '.join(given)}")
        from entrez_kit.corpus.embeddings import model_of

        try:
            if (model := model_of(settings)) is not None:
                said.add(f"embeddings of the corpus: {model}")
        except NotConfigured as exc:
            raise Finding(exc.message, exc.recovery_hint, code=exc.code) from None
        if settings.demo:
            said.add("demo is on: the sandbox is looked at, not NCBI")
        elif settings.ncbi_admin_email is None:
            said.add("no e-mail address: NCBI cannot write to you before it blocks an address (NCBI_ADMIN_EMAIL)")
        for number, notice in enumerate(settings.notices):
            said.warn(notice, None if number else "`entrez-kit config show` lists every setting and its origin.")
        if settings.offline and settings.origins.get("offline") != "flag":
            said.warn(
                f"offline is on: no service is asked anything (from {settings.origins.get('offline', 'the caller')})",
                "`entrez-kit config show offline` says where it comes from.",
            )
        if settings.offline and settings.no_cache:
            raise Finding(
                "offline and no_cache are both on: nothing can answer", "Give up one of them.", code=NotConfigured.code
            )


def check_disk(notes: Notes, settings: Settings, free_space: FreeSpace) -> None:
    """Look for a disk that is full or soon will be."""
    with notes.check("disk") as said:
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
                said.warn(f"{name}: {folder} cannot be looked at ({reason(exc)})", "Check the rights of that folder.")
                continue
            if free < FULL_BYTES:
                raise Finding(
                    f"{size(free)} left for {folder}",
                    f"Free some space, or set {variable} to a folder on another disk.",
                    code=StoreError.code,
                )
            if free < SCARCE_BYTES:
                said.warn(f"only {size(free)} left for {folder}", "`entrez-kit cache prune` frees what has expired.")
            else:
                said.add(f"{size(free)} left for {folder}")


def check_cache(notes: Notes, settings: Settings) -> None:
    """Look whether replies can be kept, and whether those that are kept can be read."""
    from entrez_kit.services.transport.cache import cache_info

    with notes.check("cache") as said:
        if settings.no_cache:
            said.add("switched off (no_cache)")
            return
        try_to_write(settings.cache_dir)
        info = cache_info(settings)
        problem = info.problem or (damage_of(info.path) if info.exists else None)
        if problem:
            raise Finding(
                f"{info.path} cannot be used: {problem}",
                "`entrez-kit cache clear` removes it; nothing is lost but time.",
                code=StoreError.code,
            )
        if info.exists:
            said.add(f"{info.entries:,} replies, {info.expired:,} of them expired, {size(info.size_bytes)}")
        else:
            said.add("empty")
        said.add(str(info.path))


def damage_of(path: Path) -> str | None:
    """Return what SQLite finds wrong with a file, or None; files so large that looking takes minutes are believed."""
    try:
        if path.stat().st_size > LONG_TO_READ_BYTES:
            return None
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1)) as connection:
            restrict_schema(connection)
            verdict = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.OperationalError as exc:  # somebody else holds it, which is no damage
        return None if "locked" in str(exc) or "busy" in str(exc) else str(exc)
    except (sqlite3.Error, OSError) as exc:
        return reason(exc)
    return None if verdict == "ok" else "it is damaged"


@dataclass(frozen=True)
class SharedLimit:
    """How NCBI's limit is shared between the processes of this user."""

    file: Path
    per_second: float
    problem: str | None = None
    wait_seconds: float = 0.0


def shared_limit(settings: Settings) -> SharedLimit:
    """Return how NCBI's limit is shared, and how long a request would wait now; takes no place in the queue."""
    from entrez_kit.services.transport.limiter import RateLimiter, SlotUnavailable
    from entrez_kit.services.transport.policy import POLICIES, is_keyed, limiter_file

    file = limiter_file(settings, "eutils")
    per_second = POLICIES["eutils"].per_second(is_keyed(settings, "eutils"))
    limiter = RateLimiter(file, per_second=per_second, min_interval_ms=settings.ncbi_request_delay_ms)
    problem = limiter.problem()
    wait = 0.0
    if problem is None:
        try:
            limiter.acquire(time.monotonic() - 1)  # a slot in the past is never given: this only asks for the wait
        except SlotUnavailable as exc:
            wait = max(exc.wait_seconds, 0.0)
    return SharedLimit(file, per_second, problem, wait)


def check_rate_limit(notes: Notes, settings: Settings) -> None:
    """Look whether all processes of this user can share NCBI's limit, and how long the queue is."""
    with notes.check("rate_limit") as said:
        limit = shared_limit(settings)
        said.add(f"{limit.per_second:g} requests per second")
        if limit.problem:
            said.warn(
                f"not shared between processes: {limit.problem}",
                "Several commands at once may pass NCBI's limit. Point TMPDIR at a folder you can write.",
            )
        elif limit.wait_seconds > LONG_WAIT_SECONDS:
            said.warn(
                f"the next free slot is {limit.wait_seconds:.0f} s away",
                "Other commands of yours are waiting for NCBI; fewer at once would not be slower.",
            )
        else:
            said.add(f"shared by all processes of this user in {limit.file}")


def try_to_write(folder: Path) -> None:
    """Write a file of a few bytes into a folder and remove it.

    Raises:
        Finding: that is impossible.
    """
    try:
        make_private_folder(folder)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor-") as file:
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
    except OSError as exc:
        raise Finding(
            f"{folder} cannot be written: {reason(exc)}",
            "Make the folder writable or set ENTREZ_KIT_CACHE_DIR to one that is. Until then every reply is asked for "
            "again.",
            code=StoreError.code,
        ) from None
    if sys.platform != "win32" and folder.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Finding(
            f"others may write to {folder}", f"Run chmod 700 {folder}: cached replies are believed.", status="warning"
        )


def size(number: int) -> str:
    """Return a number of bytes as people read it."""
    amount, unit = float(number), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount >= 1000:
            amount, unit = amount / 1000, larger
    return f"{amount:.0f} {unit}" if unit == "bytes" or amount >= 100 else f"{amount:.1f} {unit}"


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a folder above it may not be entered
        return False

"""Where files of this user go on this machine: the platform's folders, a temporary one, and which can be written."""

import os
import stat
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path


def platform_folder(kind: str, env: Mapping[str, str]) -> Path | None:
    """Return this platform's folder for a kind of file, or None where there is no home folder."""
    if sys.platform not in ("win32", "darwin"):
        variable, default = {
            "config": ("XDG_CONFIG_HOME", ".config"),
            "cache": ("XDG_CACHE_HOME", ".cache"),
            "data": ("XDG_DATA_HOME", ".local/share"),
        }[kind]
        base = env.get(variable)
        if base and Path(base).is_absolute():
            return Path(base) / "entrez-kit"
        home = env.get("HOME")
        return Path(home) / default / "entrez-kit" if home and _is_folder(Path(home)) else None
    import platformdirs

    return Path(getattr(platformdirs, f"user_{kind}_dir")("entrez-kit", appauthor=False))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a folder above it may not be entered
        return False


SHARED_TEMPORARY = Path("/tmp")  # noqa: S108
"""Where all processes of a machine meet. TMPDIR is no such place: job schedulers give every job one of its own."""


def temporary_folder(notices: list[str]) -> Path:
    """Return a folder of this user's in the machine's temporary folder (created 0700 by whoever writes there).

    Every process of the user gets the same one, whatever its TMPDIR. A name that somebody else took, or left open for
    others to write, is passed over: what lies there must not decide about requests or replies. Where all are taken,
    this process has one of its own, and ``notices`` gets a remark.
    """
    try:
        shared = sys.platform != "win32" and _is_folder(SHARED_TEMPORARY) and can_write(SHARED_TEMPORARY)
        base = SHARED_TEMPORARY if shared else Path(tempfile.gettempdir())
    except OSError:  # nothing on this machine can be written; callers then keep what they need in memory
        base = Path(Path.home().anchor if sys.platform == "win32" else "/")
    name = f"entrez-kit-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    names = [name, *(f"{name}-{number}" for number in range(1, 10))]
    found = next((base / candidate for candidate in names if _is_usable(base / candidate)), None)
    if found:
        return found
    notices.append(
        f"All folders {base / name}* belong to others or are open to them; this process uses a new one, "
        "and does not know what your other processes ask NCBI. Ask an administrator to remove them."
    )
    return _of_this_process(base, name)


@cache
def _of_this_process(base: Path, name: str) -> Path:
    """Return a folder nobody else can have prepared, where all of this user's names are taken."""
    try:
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=base))
    except OSError:  # whoever wants to write there is told, and keeps what it needs in memory
        return base / name


def _is_usable(folder: Path) -> bool:
    """Tell whether a temporary folder is still free, or ours and closed to others' writing."""
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    if sys.platform == "win32":
        return stat.S_ISDIR(status.st_mode)
    others_write = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not others_write


def can_write(folder: Path) -> bool:
    """Tell whether the folder, or the nearest existing one above it, can be written."""
    for candidate in (folder, *folder.parents):
        try:
            if candidate.exists():
                return candidate.is_dir() and os.access(candidate, os.W_OK | os.X_OK)
        except OSError:
            return False
    return False

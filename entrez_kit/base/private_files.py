"""Where files of this user go on this machine, and how they are opened for this user alone.

Folders are the platform's or a temporary one. Files are 0600 and folders 0700 whatever the umask, never reached through
a link, never somebody else's: what lies in them decides about requests and replies, so a name that another user took
first is refused, not used.
"""

import errno
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import sqlite3


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
    import tempfile

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
    import tempfile

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


def make_private_folder(folder: Path) -> None:
    """Create a folder, and those above it that are missing, for this user alone.

    Raises:
        OSError: it cannot be created, is no folder, or belongs to another user.
    """
    try:
        found = folder.lstat()
    except FileNotFoundError:
        if folder.parent != folder and not folder.parent.exists():
            make_private_folder(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            if sys.platform != "win32":
                folder.chmod(0o700)  # an umask may have taken the user's own rights away
        found = folder.lstat()
    refuse_foreign(found)
    if stat.S_ISLNK(found.st_mode):
        refuse_foreign(folder.stat())


def open_private(path: Path, flags: int = os.O_RDWR) -> int:
    """Open a file of this user's, making it where it is missing, and close it to all others; return its descriptor.

    Raises:
        OSError: it cannot be opened, is a link or no regular file, or belongs to another user.
    """
    make_private_folder(path.parent)
    flags |= os.O_CREAT
    for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY", "O_NOINHERIT"):
        flags |= getattr(os, name, 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        if sys.platform != "win32":
            refuse_foreign(found, root=False)
            if stat.S_IMODE(found.st_mode) != 0o600:
                os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def make_private_database(path: Path) -> None:
    """Create an SQLite file before SQLite does, which gives its journals the file's mode, and look at the journals.

    Raises:
        OSError: the file or a journal beside it is a link or belongs to another user, or the file cannot be opened.
    """
    os.close(open_private(path))
    for part in database_files(path):
        with suppress(FileNotFoundError):
            found = part.lstat()
            if not stat.S_ISREG(found.st_mode):
                raise OSError(errno.EINVAL, f"{part.name} is no regular file")
            refuse_foreign(found, root=False)
            if sys.platform != "win32" and found.st_mode & 0o077:
                part.chmod(0o600)


def database_files(path: Path) -> Iterator[Path]:
    """Return the names of an SQLite file and of what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        yield path.with_name(path.name + suffix)


def is_foreign(found: os.stat_result, *, root: bool = True) -> bool:
    """Tell whether another user owns something.

    Args:
        found: what the system says of a file.
        root: whether what the system itself owns will do.
    """
    return sys.platform != "win32" and found.st_uid != os.geteuid() and not (root and found.st_uid == 0)


def refuse_foreign(found: os.stat_result, *, root: bool = True) -> None:
    """Refuse what another user owns, as ``is_foreign`` tells it.

    Raises:
        PermissionError: it is somebody else's.
    """
    if is_foreign(found, root=root):
        raise PermissionError(errno.EPERM, "it belongs to another user")


MAX_LINKS: Final = 40


def refuse_foreign_links(path: Path) -> None:
    """Refuse a path that another user decides about: through a link, pipe or device of theirs in a shared folder.

    In a folder such as /tmp every user can create any name. A link there may point to a file of this user, which would
    be overwritten, and a pipe gives the data to its owner.

    Raises:
        PermissionError: the path has one; the text names it.
    """
    if sys.platform == "win32":
        return
    waiting = list(reversed(path.absolute().parts[1:]))
    reached, links = Path("/"), 0
    while waiting and links <= MAX_LINKS:
        folder, name = reached, waiting.pop()
        reached = folder.parent if name == ".." else folder / name
        try:
            found, above = reached.lstat(), folder.lstat()
        except OSError:  # nothing there, or not for this user: opening it says so
            return
        is_plain = stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)
        is_shared = above.st_mode & stat.S_ISVTX and above.st_mode & stat.S_IWOTH
        if not is_plain and is_shared and is_foreign(found) and found.st_uid != above.st_uid:
            kind = "link" if stat.S_ISLNK(found.st_mode) else "pipe or device"
            raise PermissionError(errno.EPERM, f"{reached} is a {kind} of another user in the shared folder {folder}")
        if stat.S_ISLNK(found.st_mode):
            links += 1
            target = reached.readlink()
            waiting += reversed([part for part in target.parts if part != target.root])
            reached = Path("/") if target.is_absolute() else folder


# The schema of an SQLite file. A trigger, a view or a changed definition that another person put into a file runs as
# soon as a statement of ours touches a table, so a file with any of them is not used.

_SPACE: Final = re.compile(r"(?:--[^\n]*|\s)+")
_AROUND_PUNCTUATION: Final = re.compile(r" ?([(),]) ?")
_INTERNAL: Final = re.compile(r"sqlite_(?:sequence|stat[14])")
"""Tables that SQLite itself creates. Indexes that it creates for a table have no definition."""

_DEFENSIVE: Final = 1010
"""SQLITE_DBCONFIG_DEFENSIVE of sqlite3.h; the module `sqlite3` has no name for it before Python 3.12."""

MAX_NAME: Final = 100
"""Characters of an object's name that a message shows."""


class SchemaObject(NamedTuple):
    """A table, index, view or trigger of a file."""

    kind: str
    name: str


Schema = Mapping[SchemaObject, frozenset[str]]
"""The definitions that each object may have."""


def restrict_schema(connection: "sqlite3.Connection") -> None:
    """Forbid a connection to run unsafe functions from the schema of its file, and to write to the schema directly."""
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    if hasattr(connection, "setconfig"):  # since Python 3.12
        connection.setconfig(_DEFENSIVE, True)


def read_schema(connection: "sqlite3.Connection") -> dict[SchemaObject, str]:
    """Return the definitions of the objects. Those that SQLite creates for a table are left out."""
    found: dict[SchemaObject, str] = {}
    for kind, name, definition in connection.execute("SELECT type, name, sql FROM sqlite_schema"):
        is_internal = definition is None if kind == "index" else kind == "table" and _INTERNAL.fullmatch(str(name))
        if not is_internal:
            found[SchemaObject(str(kind), str(name))] = normalize_definition(str(definition))
    return found


@lru_cache(maxsize=256)
def normalize_definition(definition: str) -> str:
    """Return a definition without comments and optional blanks, which a migration may have set in another way."""
    return _AROUND_PUNCTUATION.sub(r"\1", _SPACE.sub(" ", definition)).strip()


def find_schema_change(found: Mapping[SchemaObject, str], expected: Schema, required: Iterable[SchemaObject]) -> str:
    """Describe the first object that differs from the expected schema; return an empty string if none does.

    Args:
        found: the objects of the file.
        expected: the objects that it may have.
        required: the objects that it must have.
    """
    for each, definition in found.items():
        allowed = expected.get(each)
        if allowed is None:
            return f"has a {_show(each)} that entrez-kit did not create"
        if definition not in allowed:
            return f"has a {_show(each)} with a changed definition"
    missing = next((each for each in required if each not in found), None)
    return f"has no {_show(missing)}" if missing is not None else ""


def _show(each: SchemaObject) -> str:
    kind = each.kind if each.kind in ("table", "index", "view", "trigger") else "object"
    return f"{kind} {each.name[:MAX_NAME]!a}"

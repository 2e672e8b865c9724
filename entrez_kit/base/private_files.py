"""Find the folders for this user's files on this machine, and open files for this user only, SQLite files too.

Folders are those of the platform or a temporary one. Files have mode 0600 and folders 0700 for any umask. A link or a
file of another user is refused, because these files control requests and replies.
"""

import errno
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import sqlite3


def find_platform_folder(kind: str, env: Mapping[str, str]) -> Path | None:
    """Return this platform's folder for a kind of file; None without a home folder."""
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
    except OSError:  # no permission for a folder above it
        return False


SHARED_TEMPORARY = Path("/tmp")  # noqa: S108
"""A folder that all processes of a machine share. TMPDIR is not shared: job schedulers set one for each job."""


def find_temporary_folder(notes: list[str]) -> Path:
    """Return this user's folder in the machine's temporary folder; the first writer creates it with mode 0700.

    All processes of the user get the same folder, independent of TMPDIR. A folder that belongs to another user, or that
    others can write, is skipped, because its files would control requests and replies. If all names are unusable, this
    process uses a new folder, and ``notes`` gets a message.
    """
    import tempfile

    try:
        shared = sys.platform != "win32" and _is_folder(SHARED_TEMPORARY) and can_write(SHARED_TEMPORARY)
        base = SHARED_TEMPORARY if shared else Path(tempfile.gettempdir())
    except OSError:  # no folder is writable; callers then keep their data in memory
        base = Path(Path.home().anchor if sys.platform == "win32" else "/")
    name = f"entrez-kit-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    names = [name, *(f"{name}-{number}" for number in range(1, 10))]
    folder = next((base / candidate for candidate in names if _is_usable(base / candidate)), None)
    if folder:
        return folder
    notes.append(
        f"All folders {base / name}* belong to other users or are open to them. This process uses a new one "
        "and does not share the rate limit with your other processes. Ask an administrator to remove these folders."
    )
    return _create_process_folder(base, name)


@cache
def _create_process_folder(base: Path, name: str) -> Path:
    """Return a new folder that no other user can have prepared, for when all names of this user are unusable."""
    import tempfile

    try:
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=base))
    except OSError:  # a later write fails, and its caller keeps the data in memory
        return base / name


def _is_usable(folder: Path) -> bool:
    """Return whether a temporary folder does not exist yet, or is this user's and not writable for others."""
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
    """Return whether the folder, or the nearest existing folder above it, is writable."""
    for candidate in (folder, *folder.parents):
        try:
            if candidate.exists():
                return candidate.is_dir() and os.access(candidate, os.W_OK | os.X_OK)
        except OSError:
            return False
    return False


def make_private_folder(folder: Path) -> None:
    """Create a folder and its missing parents for this user only.

    Raises:
        OSError: it cannot be created, is not a folder, or belongs to another user.
    """
    try:
        status = folder.lstat()
    except FileNotFoundError:
        if folder.parent != folder and not folder.parent.exists():
            make_private_folder(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            if sys.platform != "win32":
                folder.chmod(0o700)  # the umask may have removed the user's own permissions
        status = folder.lstat()
    refuse_foreign(status)
    if stat.S_ISLNK(status.st_mode):
        refuse_foreign(folder.stat())


def open_private(path: Path, flags: int = os.O_RDWR) -> int:
    """Open a file of this user, create it if it is missing, and make it private; return its descriptor.

    Raises:
        OSError: it cannot be opened, is a link or not a regular file, or belongs to another user.
    """
    make_private_folder(path.parent)
    flags |= os.O_CREAT
    for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY", "O_NOINHERIT"):
        flags |= getattr(os, name, 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if sys.platform != "win32":
            refuse_foreign(status, root=False)
            if stat.S_IMODE(status.st_mode) != 0o600:
                os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def acquire_lock(path: Path, busy: Exception, *, seconds: float = 0) -> AbstractContextManager[object]:
    """Acquire a lock file, and return a context manager that releases it; the system does so if the process dies.

    Args:
        path: the file, in an existing folder.
        busy: the error to raise if another process holds the lock.
        seconds: the time to wait for the other process.

    Raises:
        OSError: the file cannot be created or locked.
    """
    from filelock import FileLock, Timeout

    try:
        return FileLock(path, timeout=seconds, mode=0o600).acquire()
    except Timeout:
        raise busy from None


def is_foreign(status: os.stat_result, *, root: bool = True) -> bool:
    """Return whether another user owns a file.

    Args:
        root: whether a file of root is accepted.
    """
    return sys.platform != "win32" and status.st_uid != os.geteuid() and not (root and status.st_uid == 0)


def refuse_foreign(status: os.stat_result, *, root: bool = True) -> None:
    """Refuse a file of another user.

    Raises:
        PermissionError: ``is_foreign`` returns True.
    """
    if is_foreign(status, root=root):
        raise PermissionError(errno.EPERM, "it belongs to another user")


MAX_LINKS: Final = 40


def refuse_foreign_links(path: Path) -> None:
    """Refuse a path that another user controls with a link, pipe or device in a shared folder.

    In a folder such as /tmp every user can create any name. A link there may point to a file of this user, which would
    be overwritten. A pipe gives the data to its owner.

    Raises:
        PermissionError: the path has such a link, pipe or device; the message names it.
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
        except OSError:  # missing or without permission: opening it reports that
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


def make_private_database(path: Path) -> None:
    """Create an SQLite file before SQLite does, so that its journals get the same mode, and check the journals.

    Raises:
        OSError: the file or a journal of it is a link or belongs to another user, or the file cannot be opened.
    """
    os.close(open_private(path))
    for part in list_database_files(path):
        with suppress(FileNotFoundError):
            status = part.lstat()
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, f"{part.name} is not a regular file")
            refuse_foreign(status, root=False)
            if sys.platform != "win32" and status.st_mode & 0o077:
                part.chmod(0o600)


def list_database_files(path: Path) -> Iterator[Path]:
    """Yield the paths of an SQLite file and of its journals."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        yield path.with_name(path.name + suffix)


# Schemas -------------------------------------------------------------------------------------------------------------

# The schema of an SQLite file. A trigger, a view or a changed definition that another person added to a file runs when
# one of our statements uses the table, so such a file is refused.

_SPACE: Final = re.compile(r"(?:--[^\n]*|\s)+")
_AROUND_PUNCTUATION: Final = re.compile(r" ?([(),]) ?")
_CREATED: Final = re.compile(r"CREATE (TABLE|INDEX|VIEW|TRIGGER) (?:IF NOT EXISTS )?(\w+)")
_INTERNAL: Final = re.compile(r"sqlite_(?:sequence|stat[14])")
"""Tables that SQLite itself creates. Indexes that it creates for a table have no definition."""

_DEFENSIVE: Final = 1010
"""SQLITE_DBCONFIG_DEFENSIVE of sqlite3.h; the module `sqlite3` has no name for it before Python 3.12."""

MAX_NAME: Final = 100
"""Maximum characters of an object's name in a message."""


class SchemaObject(NamedTuple):
    """A table, index, view or trigger of a file."""

    kind: str
    name: str


Schema = Mapping[SchemaObject, frozenset[str]]
"""The definitions that each object may have."""


def get_primary_code(exc: "sqlite3.Error") -> int:
    """Return SQLite's primary error code; 0 if Python's module raised the error."""
    return int(getattr(exc, "sqlite_errorcode", 0) or 0) & 0xFF


def restrict_schema(connection: "sqlite3.Connection") -> None:
    """Prevent a connection from running unsafe functions of the file's schema and from writing to the schema."""
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    if hasattr(connection, "setconfig"):  # since Python 3.12
        connection.setconfig(_DEFENSIVE, True)


def read_schema(connection: "sqlite3.Connection") -> dict[SchemaObject, str]:
    """Return the definitions of the objects. Those that SQLite creates for a table are left out."""
    definitions: dict[SchemaObject, str] = {}
    for kind, name, definition in connection.execute("SELECT type, name, sql FROM sqlite_schema"):
        is_internal = definition is None if kind == "index" else kind == "table" and _INTERNAL.fullmatch(str(name))
        if not is_internal:
            definitions[SchemaObject(str(kind), str(name))] = normalize_definition(str(definition))
    return definitions


@lru_cache(maxsize=256)
def normalize_definition(definition: str) -> str:
    """Return a definition without comments and optional spaces, which migrations may write differently."""
    return _AROUND_PUNCTUATION.sub(r"\1", _SPACE.sub(" ", definition)).strip()


def build_schema(statements: Iterable[str]) -> Schema:
    """Return the schema that these statements create."""
    schema: dict[SchemaObject, frozenset[str]] = {}
    for statement in statements:
        definition = normalize_definition(statement)
        created = _CREATED.match(definition)
        assert created is not None
        kind, name = created.groups()
        schema[SchemaObject(kind.lower(), name)] = frozenset({definition.replace("IF NOT EXISTS ", "", 1)})
    return schema


@contextmanager
def transaction(connection: "sqlite3.Connection", kind: str = "IMMEDIATE") -> Iterator[None]:
    """Run the block in a transaction, which writes all or nothing.

    Args:
        connection: a connection without an open transaction.
        kind: DEFERRED to read, IMMEDIATE to write.
    """
    connection.execute(f"BEGIN {kind}")
    with connection:
        yield


def find_schema_change(schema: Mapping[SchemaObject, str], expected: Schema, required: Iterable[SchemaObject]) -> str:
    """Describe the first object that differs from the expected schema; return an empty string if none does.

    Args:
        schema: the objects of the file.
        expected: the objects that it may have.
        required: the objects that it must have.
    """
    for each, definition in schema.items():
        allowed = expected.get(each)
        if allowed is None:
            return f"has a {_describe(each)} that entrez-kit did not create"
        if definition not in allowed:
            return f"has a {_describe(each)} with a changed definition"
    missing = next((each for each in required if each not in schema), None)
    return f"has no {_describe(missing)}" if missing is not None else ""


def _describe(each: SchemaObject) -> str:
    kind = each.kind if each.kind in ("table", "index", "view", "trigger") else "object"
    return f"{kind} {each.name[:MAX_NAME]!a}"

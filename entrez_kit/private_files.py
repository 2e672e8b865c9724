"""Files and folders for this user alone: 0600 and 0700 whatever the umask, never through a link, never somebody else's.

What lies in them decides about requests and replies, so a name that another user took first is refused, not used.
"""

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_JOURNALS = ("-wal", "-shm", "-journal")


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
    for suffix in ("", *_JOURNALS):
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

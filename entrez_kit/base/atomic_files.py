"""Replace a file in one step: it is written under a temporary name beside it, so that a killed run leaves the old file.

The temporary file is locked while its run lives. The next run for the same file removes those without a lock.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from entrez_kit.base.private_files import open_private


class AtomicFile:
    """The new version of a file, until ``replace`` moves it into place or ``discard`` removes it.

    Args:
        target: the file to replace.
        private: whether the new file, and a folder that is created for it, are for this user only.

    Raises:
        OSError: the temporary file cannot be created.
    """

    def __init__(self, target: Path, *, private: bool = False) -> None:
        _remove_abandoned(target)
        self.target = target
        while True:
            self.path = target.with_name(f".{target.name[:60]}.{os.urandom(6).hex()}.part")
            self.file = _create(self.path, private=private)
            if _is_claimed(self.file.fileno()):
                return
            self.file.close()  # another run removed it as abandoned before it was locked

    def replace(self, *, lasting: bool) -> None:
        """Move the new version into place.

        Args:
            lasting: whether it must survive a power cut.

        Raises:
            OSError: it cannot be written or moved.
        """
        descriptor = os.dup(self.file.fileno())  # it keeps the lock until the move
        try:
            self.file.flush()
            if lasting:
                os.fsync(descriptor)
            self.file.close()
            self.path.replace(self.target)
        finally:
            os.close(descriptor)
        if lasting:
            _sync_folder(self.target.parent)

    def discard(self) -> None:
        """Remove the new version, unless it was moved into place."""
        with suppress(OSError, ValueError):
            self.file.close()
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


@contextmanager
def replace_private_file(target: Path, *, lasting: bool = True) -> Iterator[BinaryIO]:
    """Provide the new version of a file for this user only, which replaces the file if the block raises no error.

    Raises:
        OSError: the file cannot be written or moved.
    """
    new = AtomicFile(target, private=True)
    try:
        yield new.file
        new.replace(lasting=lasting)
    finally:
        new.discard()


def _create(path: Path, *, private: bool) -> BinaryIO:
    if private:
        return os.fdopen(open_private(path, os.O_RDWR | os.O_EXCL), "w+b")
    return path.open("x+b")


def _is_claimed(descriptor: int) -> bool:
    """Lock a file until it is closed or the process dies; return whether it still exists."""
    from filelock import lock_descriptor

    with suppress(OSError, NotImplementedError):  # without locks on this file system, no run removes files
        return lock_descriptor(descriptor, blocking=False) and os.fstat(descriptor).st_nlink > 0
    return True


def _remove_abandoned(target: Path) -> None:
    """Remove temporary files of killed runs for this file: those that no process has locked."""
    pattern = re.compile(rf"\.{re.escape(target.name[:60])}\.[0-9a-f]{{12}}\.part")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_if_unlocked(Path(entry.path))


def _remove_if_unlocked(part: Path) -> None:
    from filelock import lock_descriptor

    with suppress(OSError, NotImplementedError), part.open("r+b") as file:
        if lock_descriptor(file.fileno(), blocking=False):
            part.unlink()


def _sync_folder(folder: Path) -> None:
    """Write a rename to the disk; not all systems can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

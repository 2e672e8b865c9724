"""Write a file under a temporary name beside it, and move it at the end, so that a killed run leaves the old file.

The temporary file is locked while its run lives. The next run for the same file removes those without a lock.
"""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO


def create_part(target: Path) -> tuple[Path, BinaryIO]:
    """Create the temporary file of a file, remove those of killed runs, and return its path and the open file.

    Raises:
        OSError: it cannot be created.
    """
    _remove_abandoned(target)
    while True:
        path = target.with_name(f".{target.name[:60]}.{os.urandom(6).hex()}.part")
        file = path.open("x+b")
        if _is_claimed(file.fileno()):
            return path, file
        file.close()  # another run removed it as abandoned before it was locked


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

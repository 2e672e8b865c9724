"""Read the files and streams that a user names, up to a size limit.

A device, an endless pipe or a sparse file can be larger than the memory. All input is therefore read by this module:
a whole document up to ``MAX_INPUT_BYTES``, or line by line with a limit for each line.
"""

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from entrez_kit.base.errors import InvalidInput, describe_os_error

MAX_INPUT_BYTES: Final = 256 * 1024 * 1024
"""Limit for a document that is read as a whole: a reference list, a manuscript, a table of claims."""
MAX_LINE_BYTES: Final = 128 * 1024 * 1024
MAX_LINES: Final = 5_000_000
FIFO_SECONDS: Final = 10.0
"""Time to wait until a program writes to a named pipe."""
_CHUNK: Final = 1024 * 1024


def open_input(path: Path) -> IO[bytes]:
    """Open a user's file for reading.

    Raises:
        OSError: it cannot be opened, or is a named pipe to which no program writes.
    """
    if not stat.S_ISFIFO(path.stat().st_mode):
        return path.open("rb")
    # A blocking open of a pipe waits for a writer forever.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        # A pipe of the shell (/dev/fd/63) has its writer already; its real path does not exist.
        if path.resolve().exists() and not _has_writer(descriptor):
            raise TimeoutError(errno.ETIMEDOUT, f"no program wrote to this pipe in {FIFO_SECONDS:g} seconds", str(path))
        os.set_blocking(descriptor, True)
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _has_writer(descriptor: int) -> bool:
    import select

    deadline = time.monotonic() + FIFO_SECONDS
    while time.monotonic() < deadline:
        if select.select([descriptor], [], [], 0.1)[0]:
            return True
    return False


def read_input(source: Path | IO[bytes], name: str, *, limit: int | None = None) -> bytes:
    """Return the content of a file, or of an open stream.

    Args:
        source: the file or stream.
        name: its name in messages.
        limit: the maximum number of bytes; ``MAX_INPUT_BYTES`` by default.

    Raises:
        InvalidInput: it is larger than the limit.
        OSError: it cannot be read.
    """
    max_bytes = MAX_INPUT_BYTES if limit is None else limit
    if isinstance(source, Path):
        with open_input(source) as file:
            if os.fstat(file.fileno()).st_size > max_bytes:
                raise too_large(name, max_bytes)
            return read_input(file, name, limit=max_bytes)
    chunks, size = list[bytes](), 0
    while chunk := source.read(min(_CHUNK, max_bytes + 1 - size)):
        chunks.append(chunk)
        size += len(chunk)
        if size > max_bytes:
            raise too_large(name, max_bytes)
    return b"".join(chunks)


def read_lines(source: IO[bytes], name: str) -> Iterator[bytes]:
    """Yield the lines of a stream with their line ends, in constant memory.

    Raises:
        InvalidInput: a line is longer than ``MAX_LINE_BYTES``, or there are more than ``MAX_LINES``.
    """
    number = 0
    while line := source.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise too_large(f"Line {number} of {name}", MAX_LINE_BYTES)
        if number > MAX_LINES:
            raise too_large(name, MAX_LINES, "lines")
        yield line


def cannot_read_error(path: Path, exc: OSError, *, invalid_input: str = "", **details: object) -> InvalidInput:
    """Return the error for a user's file that cannot be read; if it does not exist, the hint has the current folder.

    Args:
        path: the file, as the user named it.
        exc: the error of the operating system.
        invalid_input: the argument, if it is not only the file: ``input=ids.txt``.
        details: details of the error, if they differ from the reason ``cannot_read``.
    """
    if isinstance(exc, FileNotFoundError):
        problem, hint = "does not exist", "Check the name and the folder"
        with suppress(OSError):  # the current folder may be deleted
            hint += f" (current folder: {Path.cwd()})" if not path.is_absolute() else ""
    elif isinstance(exc, IsADirectoryError):
        problem, hint = "is a folder", "Name a file"
    else:
        problem, hint = f"cannot be read: {describe_os_error(exc)}", "Check the file and its permissions"
    return InvalidInput(
        f"{path} {problem}.",
        invalid_input=invalid_input or str(path),
        recovery_hint=f"{hint}.",
        details={"reason": "cannot_read", **details},
    )


def too_large(name: str, limit: int, unit: str = "bytes") -> InvalidInput:
    """Return the error for an input above a limit."""
    return InvalidInput(
        f"{name} has more than {limit:,} {unit}, which is the maximum.",
        invalid_input=name,
        recovery_hint="Check that it is the right file, or split it.",
        details={"reason": "input_too_large", f"limit_{unit}": limit},
    )

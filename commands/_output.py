"""Where data goes: standard output, or a file that appears whole or not at all."""

import os
import re
import secrets
import stat
import sys
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final

from entrez_kit.errors import StoreError

from ._endings import ReaderGone
from ._state import is_terminal

_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Everything that could steer a terminal: C0 but tab and newline, DEL, C1, and marks that reverse the direction."""
_PADDING: Final = re.compile(r" +(?=\n)")


def plain(text: str) -> str:
    """Return text without characters that could steer a terminal: records are data, not instructions."""
    return _CONTROLS.sub("", text)


class Sink:
    """Takes the data of one command; use as a context manager.

    A file is written beside its place and moved there at the end, so that a failure or an interrupt leaves what was
    there before. It keeps the mode of the file it replaces. Pipes and devices are written directly.

    Args:
        target: the file, or None for standard output.

    Raises:
        StoreError: the file cannot be written, or the disk is full.
    """

    encoding = "utf-8"

    def __init__(self, target: Path | None) -> None:
        self.target = target
        self._place: Path | None = None
        self._temporary: Path | None = None
        self._file: BinaryIO | None = None
        self._keep = True
        self._to_terminal = target is None and is_terminal(sys.stdout)

    def __enter__(self) -> "Sink":
        if self.target is not None:
            try:
                self._open(self.target)
            except OSError as exc:
                raise self._failure(exc) from None
        return self

    def _open(self, target: Path) -> None:
        mode = None
        if target.exists() and not target.is_file():
            self._file = target.open("wb")  # by the name it has: a pipe behind /dev/fd/N has no other
            return
        # A link stays a link: what it points to is replaced.
        place = target.resolve()
        if place.exists():
            status = place.stat()
            if not os.access(place, os.W_OK):
                raise PermissionError(13, "Permission denied")
            mode = stat.S_IMODE(status.st_mode)
        self._place = place
        self._temporary = place.with_name(f".{place.name[:60]}.{secrets.token_hex(6)}.part")
        self._file = self._temporary.open("xb")
        if mode is not None:
            self._temporary.chmod(mode)

    def write(self, text: str) -> int:
        """Write text as it is; for what we made ourselves, such as rendered tables, which are padded with blanks."""
        if not self._to_terminal:
            text = _PADDING.sub("", text)
        self._put(text.encode("utf-8", "replace"))
        return len(text)

    def data(self, content: str | bytes) -> None:
        """Write a piece of data; on a terminal without characters that could steer it."""
        if self._to_terminal:
            text = content if isinstance(content, str) else content.decode("utf-8", "replace")
            content = plain(text)
        self._put(content.encode("utf-8", "replace") if isinstance(content, str) else content)

    def _put(self, content: bytes) -> None:
        try:
            if self._file is not None:
                self._file.write(content)
            elif sys.stdout is not None:
                sys.stdout.buffer.write(content)
        except BrokenPipeError:
            raise ReaderGone from None
        except OSError as exc:
            raise self._failure(exc) from None

    def flush(self) -> None:
        """Hand over what was written so far, so that a reader of a pipe sees it at once."""
        try:
            if self._file is not None:
                self._file.flush()
            elif sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            raise ReaderGone from None
        except OSError as exc:
            raise self._failure(exc) from None

    def discard(self) -> None:
        """Leave the file as it was: there is nothing to put in its place."""
        self._keep = False

    def isatty(self) -> bool:
        """Tell whether the data goes to a terminal."""
        return self._to_terminal

    def _failure(self, exc: OSError) -> StoreError:
        return cannot_write(f"--output {self.target}" if self.target is not None else "standard output", exc)

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is None:
            if kind is None:
                self.flush()
            return
        try:
            self._file.close()
            if kind is None and self._keep and self._temporary is not None and self._place is not None:
                self._temporary.replace(self._place)
                self._temporary = None
        except BrokenPipeError:
            raise ReaderGone from None
        except OSError as error:
            if kind is None:
                raise self._failure(error) from None
        finally:
            if self._temporary is not None:
                self._temporary.unlink(missing_ok=True)


def cannot_write(name: str, exc: OSError) -> StoreError:
    """Return the error for data that could not be written."""
    return StoreError(
        f"{name} cannot be written: {exc.strerror or type(exc).__name__}.",
        invalid_input=name,
        recovery_hint="Check that the folder is writable and the disk has space, or name another file.",
        details={"reason": "cannot_write"},
    )

"""Where data goes: standard output, or a file that appears whole or not at all."""

import contextlib
import io
import os
import pathlib
import re
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType, TracebackType
from typing import BinaryIO, Final

from entrez_kit.base.errors import StoreError
from entrez_kit.base.invisible import strip_marks, visible
from entrez_kit.base.private_files import refuse_foreign_links

from ._state import is_terminal

_PADDING: Final = re.compile(r" +(?=\n)")


class Sink:
    """Takes the data of one command; use as a context manager.

    A file is written beside its place and moved there at the end, so that a failure or an interrupt leaves what was
    there before; what a killed run left there, the next one removes. It keeps the mode of the file it replaces.
    Pipes and devices are written directly.

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
            with self._reporting():
                self._open(self.target)
        return self

    def _open(self, target: Path) -> None:
        mode = None
        refuse_foreign_links(target)
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
        _remove_abandoned(place)
        while self._file is None:
            self._temporary = place.with_name(f".{place.name[:60]}.{os.urandom(6).hex()}.part")
            self._file = self._temporary.open("xb")
            if not _is_claimed(self._file.fileno()):  # another run took it for abandoned before it was locked
                self._file.close()
                self._file = None
        if mode is not None and self._temporary is not None:
            self._temporary.chmod(mode)

    def write(self, text: str) -> int:
        """Write text as it is; for what we made ourselves, such as rendered tables, which are padded with blanks."""
        text = strip_marks(text)
        if not self._to_terminal:
            text = _PADDING.sub("", text)
        self._put(text.encode("utf-8", "replace"))
        return len(text)

    def data(self, content: str | bytes) -> None:
        """Write a piece of data; on a terminal without characters that could steer it."""
        if self._to_terminal:
            text = content if isinstance(content, str) else content.decode("utf-8", "replace")
            content = visible(text)
        self._put(content.encode("utf-8", "replace") if isinstance(content, str) else content)

    def _put(self, content: bytes) -> None:
        with self._reporting():
            if self._file is not None:
                self._file.write(content)
            elif sys.stdout is not None:
                sys.stdout.buffer.write(content)

    def flush(self) -> None:
        """Hand over what was written so far, so that a reader of a pipe sees it at once."""
        with self._reporting():
            if self._file is not None:
                self._file.flush()
            elif sys.stdout is not None:
                sys.stdout.flush()

    def discard(self) -> None:
        """Leave the file as it was: there is nothing to put in its place."""
        self._keep = False

    def isatty(self) -> bool:
        """Tell whether the data goes to a terminal."""
        return self._to_terminal

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        """Say of what goes wrong in this block that the data cannot be written, or that nobody reads it any more."""
        try:
            yield
        except BrokenPipeError:
            raise ReaderGone from None
        except OSError as exc:
            name = f"--output {self.target}" if self.target is not None else "standard output"
            raise cannot_write(name, exc) from None

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is None:
            if kind is None:
                self.flush()
            return
        held = os.dup(self._file.fileno()) if self._temporary is not None else None  # the lock lasts until the move
        try:
            with self._reporting() if kind is None else suppress(OSError):
                self._file.close()
                if kind is None and self._keep and self._temporary is not None and self._place is not None:
                    self._temporary.replace(self._place)
                    self._temporary = None
        finally:
            if self._temporary is not None:
                self._temporary.unlink(missing_ok=True)
            if held is not None:
                os.close(held)


def _is_claimed(descriptor: int) -> bool:
    """Lock a file until it is closed, which death does as well; tell whether it is still there to be written."""
    from filelock import lock_descriptor

    with suppress(OSError, NotImplementedError):  # no locks on this file system, so nobody removes anything
        return lock_descriptor(descriptor, blocking=False) and os.fstat(descriptor).st_nlink > 0
    return True


def _remove_abandoned(place: Path) -> None:
    """Remove what killed runs left of this file: parts of our naming that nobody has locked."""
    pattern = re.compile(rf"\.{re.escape(place.name[:60])}\.[0-9a-f]{{12}}\.part")
    with suppress(OSError), os.scandir(place.parent) as entries:
        for entry in entries:
            if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_if_unlocked(Path(entry.path))


def _remove_if_unlocked(part: Path) -> None:
    from filelock import lock_descriptor

    with suppress(OSError, NotImplementedError), part.open("r+b") as file:
        if lock_descriptor(file.fileno(), blocking=False):
            part.unlink()


def cannot_write(name: str, exc: OSError) -> StoreError:
    """Return the error for data that could not be written."""
    return StoreError(
        f"{name} cannot be written: {exc.strerror or type(exc).__name__}.",
        invalid_input=name,
        recovery_hint="Check that the folder is writable and the disk has space, or name another file.",
        details={"reason": "cannot_write"},
    )


# Every way a program may end before its time: a reader that left, an interrupt, a signal, streams that are closed


class ReaderGone(BaseException):
    """Whoever read our standard output has left (``| head``); not an error, and never to be run_catching as one."""


class Ended(BaseException):
    """The program was asked to end by a signal; what is half done is cleared away on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class GuardedOutput(io.TextIOWrapper):
    """Standard output in UTF-8 that says ReaderGone where the reader has left, whoever is writing."""

    def write(self, text: str) -> int:
        """Write text."""
        try:
            return super().write(text)
        except BrokenPipeError:
            raise ReaderGone from None

    def flush(self) -> None:
        """Hand over what was written."""
        try:
            super().flush()
        except BrokenPipeError:
            raise ReaderGone from None


def prepare_streams() -> None:
    """Give the process streams that speak UTF-8 whatever the locale, even where the caller closed them."""
    _fill_closed_descriptors()
    if sys.stdout is None:
        sys.stdout = pathlib.Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # lives as long as the process
    elif sys.platform == "win32" and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # its console is more than a descriptor
    elif sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        # A second wrapper over the same descriptor: the first holds nothing, and stays valid for whoever knows it.
        binary = os.fdopen(sys.stdout.fileno(), "wb", closefd=False)
        sys.stdout = GuardedOutput(binary, encoding="utf-8", errors="replace", line_buffering=binary.isatty())
    if sys.stderr is not None and isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(encoding="utf-8", errors="replace")


def _fill_closed_descriptors() -> None:
    """Open the null device where standard streams are closed, lest a cache file becomes "standard output"."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            with contextlib.suppress(OSError):
                os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one


def flush_output() -> None:
    """Hand over what is still held back.

    Raises:
        ReaderGone: nobody reads any more.
        OSError: standard output cannot be written.
    """
    if sys.stdout is not None and not sys.stdout.closed:
        sys.stdout.flush()


def drop_output() -> None:
    """Point standard output nowhere, so that Python has nothing to complain about when it ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextlib.contextmanager
def signals_end_the_program() -> Iterator[None]:
    """Turn signals that end a process into ``Ended``, so that temporary files are removed on the way."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise Ended(number)

    before = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # A signal the caller chose to ignore (nohup) stays ignored.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

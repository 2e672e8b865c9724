"""Every way a program may end before its time: a reader that left, an interrupt, a signal, streams that are closed."""

import contextlib
import io
import os
import pathlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Final

_ENDING_SIGNALS: Final = ("SIGTERM", "SIGHUP")


class ReaderGone(BaseException):
    """Whoever read our standard output has left (``| head``); not an error, and never to be caught as one."""


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
    for name in _ENDING_SIGNALS:
        number = getattr(signal, name, None)
        # A signal the caller chose to ignore (nohup) stays ignored.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

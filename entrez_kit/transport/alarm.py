"""Alarm: ends an exchange when its time is up, wherever it is: sending, in the headers, or in the body.

The time limit of a socket starts anew with every byte, so a server that drips its reply would hold a call for hours. At
the time given the socket is shut down, and whoever reads from it finds its end.
"""

import socket
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

_current: Final = threading.local()


class Alarm:
    """A context manager around whatever may block on a connection.

    Args:
        until: `time.monotonic` value at which it ends; None for never.
        response: the response that is read, where there is one; else the connections this thread asks on are watched.
    """

    def __init__(self, until: float | None, response: Any = None) -> None:
        self.until = until
        self._response = response
        self._connection: Any = None
        self._timer: threading.Timer | None = None

    @property
    def rang(self) -> bool:
        """Whether the time is up."""
        return self.until is not None and time.monotonic() >= self.until

    def watch(self, connection: Any) -> None:
        """Take note of the connection in use.

        Raises:
            TimeoutError: the time is up.
        """
        self._connection = connection
        if self.rang:
            raise TimeoutError

    def __enter__(self) -> Self:
        if self.until is not None:
            _current.alarm = self
            self._timer = threading.Timer(max(0.0, self.until - time.monotonic()), self._end)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
            _current.alarm = None

    def _end(self) -> None:
        with suppress(Exception):  # it was read to the end at the last moment
            if self._response is not None:
                self._response.shutdown()
            else:
                self._connection.sock.shutdown(socket.SHUT_RDWR)


class _Watched:
    """Shows the connection in use to the alarm of the thread."""

    def connect(self) -> None:
        self._show()
        super().connect()  # type: ignore[misc]  # of the connection this is mixed into

    def request(self, *args: Any, **kwargs: Any) -> None:
        self._show()
        super().request(*args, **kwargs)  # type: ignore[misc]  # of the connection this is mixed into

    def _show(self) -> None:
        alarm: Alarm | None = getattr(_current, "alarm", None)
        if alarm is not None:
            alarm.watch(self)


class _WatchedHTTP(_Watched, HTTPConnection):
    pass


class _WatchedHTTPS(_Watched, HTTPSConnection):
    pass


class _HTTPPool(HTTPConnectionPool):
    ConnectionCls = _WatchedHTTP


class _HTTPSPool(HTTPSConnectionPool):
    ConnectionCls = _WatchedHTTPS


POOLS: Final = {"http": _HTTPPool, "https": _HTTPSPool}
"""Connection pools, by scheme, whose connections an alarm can end."""

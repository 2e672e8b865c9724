"""Shut down a server on a signal or when its client leaves, within two seconds."""

import logging
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Final

import anyio

from entrez_kit.base.errors import Exit

PATIENCE: Final = 1.3
"""Seconds after which the process is ended, if the shutdown has not finished."""
EXIT_SECONDS: Final = 0.3
"""The minimum time for the interpreter to exit after its main thread has ended."""
SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

logger = logging.getLogger("entrez_kit.server")


class Shutdown:
    """The shutdown of a running server.

    Args:
        give_up: ends the process immediately; called if threads that wait for NCBI or for a closed pipe delay the exit.
    """

    def __init__(self, give_up: Callable[[int], None]) -> None:
        self.status = int(Exit.DONE)
        self._give_up = give_up
        self._served = threading.Event()
        self._guard: threading.Thread | None = None

    def begin(self, reason: str, status: int = int(Exit.DONE)) -> None:
        """Start the shutdown; further calls have no effect."""
        if self._guard is not None:
            return
        self.status = status
        logger.info("ending: %s", reason)
        self._guard = threading.Thread(target=self._limit_shutdown, name="entrez-kit shutdown limit", daemon=True)
        self._guard.start()

    def mark_closed(self) -> None:
        """Record that the server and its clients are closed, and only the process must exit."""
        self._served.set()

    def _limit_shutdown(self) -> None:
        """End the process if the server does not close in time, or if threads delay the exit.

        A program may continue after its server has closed. Then this thread waits for the end of the main thread.
        """
        limit = time.monotonic() + PATIENCE
        if self._served.wait(PATIENCE):
            threading.main_thread().join()
            time.sleep(max(limit - time.monotonic(), EXIT_SECONDS))
        self._give_up(self.status)

    async def watch(self, stop: Callable[[], None]) -> None:
        """Wait for a signal, then call ``stop``. Outside the main thread signals are not handled."""
        if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
            await anyio.sleep_forever()
        heeded = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]  # nohup
        with anyio.open_signal_receiver(*heeded) as received:
            async for number in received:
                interrupted = number == signal.SIGINT
                self.begin(signal.Signals(number).name, int(Exit.INTERRUPTED if interrupted else Exit.DONE))
                stop()

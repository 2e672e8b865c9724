"""How a server ends: on a signal, or when its client leaves; within two seconds whatever is under way."""

import logging
import signal
import sys
import threading
from collections.abc import Callable
from typing import Final

import anyio

from entrez_kit.errors import Exit

PATIENCE: Final = 1.3
"""Seconds from the request to end until the process is ended from outside, if it has not ended by itself."""
SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

logger = logging.getLogger("entrez_kit.server")


class Ending:
    """The one way out of a running server.

    Args:
        give_up: ends the process at once; called when threads that wait for NCBI or for a reader who has gone would
            hold it up.
    """

    def __init__(self, give_up: Callable[[int], None]) -> None:
        self.status = int(Exit.DONE)
        self._give_up = give_up
        self._served = threading.Event()
        self._timer: threading.Timer | None = None

    def begin(self, reason: str, status: int = int(Exit.DONE)) -> None:
        """Start to end; only the first call counts."""
        if self._timer is not None:
            return
        self.status = status
        logger.info("ending: %s", reason)
        self._timer = threading.Timer(PATIENCE, self._check)
        self._timer.daemon = True
        self._timer.start()

    def served(self) -> None:
        """Note that the server itself is done, and only the process is left to end."""
        self._served.set()

    def _check(self) -> None:
        """End the process, unless it outlives its server on purpose."""
        if not self._served.is_set() or not threading.main_thread().is_alive():
            self._give_up(self.status)

    async def watch(self, stop: Callable[[], None]) -> None:
        """Wait for a signal, then call ``stop``. Leaves signals alone outside of the main thread."""
        if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
            await anyio.sleep_forever()
        heeded = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]  # nohup means it
        with anyio.open_signal_receiver(*heeded) as received:
            async for number in received:
                interrupted = number == signal.SIGINT
                self.begin(signal.Signals(number).name, int(Exit.INTERRUPTED if interrupted else Exit.DONE))
                stop()

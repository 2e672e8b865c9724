"""What an operation works with: the settings and, built when first used, the clients."""

from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

from entrez_kit.settings import Settings

if TYPE_CHECKING:
    from entrez_kit.eutils import EUtils
    from entrez_kit.idconv import IdConverter
    from entrez_kit.transport.client import Transport


class Services:
    """One set of clients for all calls of a process or session; safe for threads.

    Close it, or use it as a context manager, to release the cache file.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = RLock()

    @cached_property
    def transport(self) -> "Transport":
        """The one sender of requests: cache above, limiter below, retries outside both."""
        from entrez_kit.transport.client import Transport

        with self._lock:
            built: Transport | None = self.__dict__.get("transport")
            if built is None:
                built = self.__dict__["transport"] = Transport(self.settings)
            return built

    @cached_property
    def eutils(self) -> "EUtils":
        """The nine E-utilities."""
        from entrez_kit.eutils import EUtils

        return EUtils(self.transport, self.settings)

    @cached_property
    def idconv(self) -> "IdConverter":
        """PMC's ID Converter."""
        from entrez_kit.idconv import IdConverter

        return IdConverter(self.transport, self.settings)

    def close(self) -> None:
        """Release the cache file and the connections, if they were opened."""
        transport = self.__dict__.get("transport")
        if transport is not None:
            transport.close()

    def __enter__(self) -> "Services":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

"""Services: the settings and the clients of the services, which are created on first use."""

from collections.abc import Callable
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, cast

from entrez_kit.base.settings import Settings

if TYPE_CHECKING:
    from entrez_kit.base.clock import Clock
    from entrez_kit.services.crossref import Crossref
    from entrez_kit.services.europe_pmc import EuropePMC
    from entrez_kit.services.eutils import EUtils
    from entrez_kit.services.id_converter import IdConverter
    from entrez_kit.services.openalex import OpenAlex
    from entrez_kit.services.pmc_cloud import PmcOpenData
    from entrez_kit.services.transport import Recording, Responder
    from entrez_kit.services.transport.client import Transport
    from entrez_kit.services.unpaywall import Unpaywall


class _Closable(Protocol):
    def close(self) -> None: ...


Kept = TypeVar("Kept", bound=_Closable)


class Services:
    """One set of clients for all calls of a process or session; safe for threads.

    Close it, or use it as a context manager, to release the cache file.

    Args:
        settings: the settings of the clients.
        responder: answers all requests in this process; by default they are sent.
        transport: the transport to use; by default one with these settings, created on first use.
        recording: records all requests, or answers them from an earlier recording.
        eutils: the client of the E-utilities; by default one that uses the cache.
    """

    def __init__(
        self,
        settings: Settings,
        responder: "Responder | None" = None,
        *,
        transport: "Transport | None" = None,
        recording: "Recording | None" = None,
        eutils: "EUtils | None" = None,
    ) -> None:
        self.settings, self.responder, self.recording = settings, responder, recording
        self._transport, self._eutils = transport, eutils
        self._shared: dict[Callable[[Settings], Any], _Closable] = {}
        self._lock = RLock()

    @property
    def transport(self) -> "Transport":
        """The transport that sends every request: cache above, limiter below, retries around both."""
        with self._lock:
            if self._transport is None:
                from entrez_kit.services.transport.client import Transport

                self._transport = Transport(self.settings, responder=self.responder, recording=self.recording)
            return self._transport

    @property
    def clock(self) -> "Clock":
        """The clock of the calls: a fixed time if they are recorded or replayed."""
        from entrez_kit.base.clock import SYSTEM_CLOCK

        return SYSTEM_CLOCK if self.recording is None else self.recording.clock

    @property
    def opened_transport(self) -> "Transport | None":
        """The transport if it is in use, else None."""
        return self._transport

    def keep(self, create: Callable[[Settings], Kept]) -> Kept:
        """Return the object that ``create`` builds from the settings. All calls share it, and ``close`` closes it."""
        with self._lock:
            if create not in self._shared:
                self._shared[create] = create(self.settings)
            return cast("Kept", self._shared[create])

    @cached_property
    def eutils(self) -> "EUtils":
        """The nine E-utilities."""
        from entrez_kit.services.eutils import EUtils

        return self._eutils or EUtils(self.transport, self.settings)

    @cached_property
    def idconv(self) -> "IdConverter":
        """PMC's ID Converter."""
        from entrez_kit.services.id_converter import IdConverter

        return IdConverter(self.transport, self.settings)

    @cached_property
    def europepmc(self) -> "EuropePMC":
        """Europe PMC: search, full text, citations and references."""
        from entrez_kit.services.europe_pmc import EuropePMC

        return EuropePMC(self.transport, self.settings)

    @cached_property
    def crossref(self) -> "Crossref":
        """Crossref: records by DOI, and the notices that update them."""
        from entrez_kit.services.crossref import Crossref

        return Crossref(self.transport, self.settings)

    @cached_property
    def openalex(self) -> "OpenAlex":
        """OpenAlex: whether a DOI is marked as retracted."""
        from entrez_kit.services.openalex import OpenAlex

        return OpenAlex(self.transport, self.settings)

    @cached_property
    def unpaywall(self) -> "Unpaywall":
        """Unpaywall: the locations of open-access copies."""
        from entrez_kit.services.unpaywall import Unpaywall

        return Unpaywall(self.transport, self.settings)

    @cached_property
    def pmc_oa(self) -> "PmcOpenData":
        """PMC's open-data bucket."""
        from entrez_kit.services.pmc_cloud import PmcOpenData

        return PmcOpenData(self.transport, self.settings)

    def bypass_cache(self) -> "Services":
        """Return the same clients with E-utilities that neither read nor write the cache.

        Use it for bulk downloads and to find recent changes. It shares the transport, so do not close it separately.
        """
        from entrez_kit.services.eutils import EUtils

        eutils = EUtils(self.transport, self.settings, cached=False)
        shared = self.transport
        return Services(self.settings, self.responder, transport=shared, recording=self.recording, eutils=eutils)

    def close(self) -> None:
        """Release the cache file, the connections and the kept objects, if they were opened."""
        for opened in (self._transport, *self._shared.values()):
            if opened is not None:
                opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

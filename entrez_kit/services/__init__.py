"""What an operation works with: the settings and, built when first used, the clients."""

from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

from entrez_kit.settings import Settings

if TYPE_CHECKING:
    from entrez_kit.corpus.store.store import Store
    from entrez_kit.services.crossref import Crossref
    from entrez_kit.services.europe_pmc import EuropePMC
    from entrez_kit.services.eutils import EUtils
    from entrez_kit.services.id_converter import IdConverter
    from entrez_kit.services.openalex import OpenAlex
    from entrez_kit.services.pmc_cloud import PmcOpenData
    from entrez_kit.services.unpaywall import Unpaywall
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
        from entrez_kit.services.eutils import EUtils

        return EUtils(self.transport, self.settings)

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
        """OpenAlex: whether a DOI counts as retracted."""
        from entrez_kit.services.openalex import OpenAlex

        return OpenAlex(self.transport, self.settings)

    @cached_property
    def unpaywall(self) -> "Unpaywall":
        """Unpaywall: where open-access copies lie."""
        from entrez_kit.services.unpaywall import Unpaywall

        return Unpaywall(self.transport, self.settings)

    @cached_property
    def pmc_oa(self) -> "PmcOpenData":
        """PMC's open-data bucket."""
        from entrez_kit.services.pmc_cloud import PmcOpenData

        return PmcOpenData(self.transport, self.settings)

    @cached_property
    def corpus(self) -> "Store":
        """The local corpus; its file is opened when it is first read or written."""
        from entrez_kit.corpus.store.store import Store

        with self._lock:
            built: Store | None = self.__dict__.get("corpus")
            if built is None:
                built = self.__dict__["corpus"] = Store.of(self.settings)
            return built

    def past_cache(self) -> "Services":
        """Return the same clients with E-utilities that neither read nor write the cache.

        For bulk downloads, and for whoever has to see what has changed since yesterday. Not to be closed by itself.
        """
        from entrez_kit.services.eutils import EUtils

        direct = Services(self.settings)
        direct.__dict__["transport"] = self.transport
        direct.__dict__["eutils"] = EUtils(self.transport, self.settings, cached=False)
        return direct

    def close(self) -> None:
        """Release the cache file, the corpus and the connections, if they were opened."""
        for name in ("transport", "corpus"):
            opened = self.__dict__.get(name)
            if opened is not None:
                opened.close()

    def __enter__(self) -> "Services":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

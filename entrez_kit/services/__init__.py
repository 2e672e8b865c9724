"""What an operation works with: the settings and, built when first used, the clients."""

from functools import cached_property
from importlib import import_module
from operator import attrgetter
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

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


def _client(module: str, name: str) -> Any:
    """Return what makes a client, and loads what it needs, when it is first used."""

    def make(services: "Services") -> Any:
        made = getattr(import_module(f"entrez_kit.services.{module}"), name)
        return made(services.transport, services.settings)

    return cached_property(make)


def _shared(attribute: str, module: str, name: str) -> Any:
    """Return what makes something of the settings when it is first used: one, whichever threads ask for it."""

    def make(services: "Services") -> Any:
        with services._lock:
            if attribute not in services.__dict__:
                make_one = attrgetter(name)(import_module(f"entrez_kit.{module}"))
                services.__dict__[attribute] = make_one(services.settings)
            return services.__dict__[attribute]

    return cached_property(make)


class Services:
    """One set of clients for all calls of a process or session; safe for threads.

    Close it, or use it as a context manager, to release the cache file.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = RLock()

    transport: "Transport" = _shared("transport", "transport.client", "Transport")
    """The one sender of requests: cache above, limiter below, retries outside both."""
    eutils: "EUtils" = _client("eutils", "EUtils")
    """The nine E-utilities."""
    idconv: "IdConverter" = _client("id_converter", "IdConverter")
    """PMC's ID Converter."""
    europepmc: "EuropePMC" = _client("europe_pmc", "EuropePMC")
    """Europe PMC: search, full text, citations and references."""
    crossref: "Crossref" = _client("crossref", "Crossref")
    """Crossref: records by DOI, and the notices that update them."""
    openalex: "OpenAlex" = _client("openalex", "OpenAlex")
    """OpenAlex: whether a DOI counts as retracted."""
    unpaywall: "Unpaywall" = _client("unpaywall", "Unpaywall")
    """Unpaywall: where open-access copies lie."""
    pmc_oa: "PmcOpenData" = _client("pmc_cloud", "PmcOpenData")
    """PMC's open-data bucket."""
    corpus: "Store" = _shared("corpus", "corpus.store.store", "Store.of")
    """The local corpus; its file is opened when it is first read or written."""

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

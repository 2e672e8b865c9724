"""The services of the sandbox over a collection of records; the demo answers with them in its own process."""

from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache

from entrez_kit.local.eutils.database import Database, LinkInfo
from entrez_kit.local.eutils.mesh import MeshDatabase
from entrez_kit.local.eutils.pubmed import PubMedDatabase
from entrez_kit.local.eutils.service import EUTILS, Endpoint, LocalEntrez
from entrez_kit.local.records.collection import ParsedCollection, RecordCollection
from entrez_kit.sandbox.fixture_database import FixtureDatabase
from entrez_kit.sandbox.links import LinkedDatabase, read_small_databases
from entrez_kit.sandbox.pmc import PmcDatabase


class DemoPubMed(LinkedDatabase, PubMedDatabase):
    """PubMed with links to the other databases."""

    collection: RecordCollection

    @cached_property
    def links(self) -> Sequence[LinkInfo]:  # type: ignore[override]  # read on first use
        """The links of the database, as EInfo lists them."""
        cited = LinkInfo("pubmed_pmc_refs", "pmc", "Cited in PMC", "PMC articles that cite this one")
        return [*super().links, cited]

    def find_links(self, link: str, uid: str) -> Sequence[tuple[str, int]]:
        """Return the ids of the linked records, each with its score."""
        if link != "pubmed_pmc_refs":
            return super().find_links(link, uid)
        numbers = (self.collection.find_number(other) for other, _ in self.find_links("pubmed_pubmed_citedin", uid))
        pmcids = [self.collection.read_document(number).pmcid for number in numbers if number is not None]
        return [(pmcid.removeprefix("PMC"), 0) for pmcid in pmcids if pmcid]


@lru_cache(maxsize=1)
def build_databases(collection: RecordCollection) -> Sequence[Database]:
    """Return every database; a new database is added here. The result of the last call is cached."""
    pubmed = DemoPubMed(collection)
    return (
        pubmed,
        PmcDatabase(pubmed),
        MeshDatabase(),
        *(FixtureDatabase(name, collection) for name in read_small_databases()),
    )


def add_services(entrez: LocalEntrez, pubmed: PubMedDatabase, base: Callable[[], str]) -> None:
    """Add the services other than the E-utilities.

    Args:
        entrez: what they are added to.
        pubmed: the articles of Europe PMC.
        base: returns the base URL of the service.
    """
    from entrez_kit.sandbox.crossref import answer_crossref, answer_openalex
    from entrez_kit.sandbox.europepmc import EuropePMCService
    from entrez_kit.sandbox.pmc_oa import answer_pmc_oa
    from entrez_kit.sandbox.publisher import PATH, answer_publisher
    from entrez_kit.sandbox.unpaywall import build_endpoint

    europepmc = EuropePMCService(pubmed)
    entrez.route("/europepmc", "europepmc", europepmc.answer_other)
    for name in ("search", "searchPOST"):
        entrez.route(f"/europepmc/{name}", "europepmc_search", europepmc.answer_search)
    entrez.route("/unpaywall", "unpaywall", build_endpoint(base))
    entrez.route(PATH, "publisher", answer_publisher)
    entrez.route("/pmc-oa", "pmc_oa", answer_pmc_oa)
    entrez.route("/crossref", "crossref", answer_crossref)
    entrez.route("/openalex", "openalex", answer_openalex)


class DemoEntrez(LocalEntrez):
    """The services over the demo collection. Those other than the E-utilities are loaded on first use.

    Args:
        base: the base URL of the services.
    """

    def __init__(self, base: str) -> None:
        super().__init__(build_databases(ParsedCollection.demo()))
        self._add_services = cache(lambda: add_services(self, self._state.pubmed, lambda: base))

    def _find_route(self, path: str) -> tuple[str, Endpoint | None, str]:
        if not path.startswith(EUTILS):
            self._add_services()
        return super()._find_route(path)

"""The request that an endpoint receives, and the data for its answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from entrez_kit.local.eutils.database import BadRequest, Database
from entrez_kit.local.eutils.entrez_data import DATABASES
from entrez_kit.local.eutils.history import History
from entrez_kit.local.eutils.pubmed import PubMedDatabase
from entrez_kit.local.records.document import Document


@dataclass(frozen=True, slots=True)
class LocalRequest:
    """Endpoint, method and parameters of one request; a parameter may occur several times.

    ``rest`` is the part of the path after the endpoint, for services with identifiers in the path.
    """

    endpoint: str
    method: str
    params: Sequence[tuple[str, str]]
    rest: str = ""

    def get(self, name: str, default: str = "") -> str:
        """Return the first value of a parameter, stripped; the case of names is ignored."""
        folded = name.lower()
        return next((value.strip() for key, value in self.params if key.lower() == folded), default)

    def get_all(self, name: str) -> list[str]:
        """Return all values of a repeated parameter."""
        folded = name.lower()
        return [value for key, value in self.params if key.lower() == folded]

    def get_number(self, name: str, default: int) -> int:
        """Return a parameter as a non-negative integer, or the default if it is missing or invalid."""
        text = self.get(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else default

    @property
    def retmode(self) -> str:
        """The requested format of the answer, ``xml`` by default."""
        return self.get("retmode").lower() or "xml"

    @property
    def ids(self) -> list[str]:
        """The ids of all ``id`` parameters, separated by commas or white space."""
        return [uid for value in self.get_all("id") for uid in value.replace(",", " ").split()]


@dataclass(slots=True)
class LocalState:
    """The data of the endpoints: databases, history, and the names of the databases that EGQuery lists in addition."""

    databases: dict[str, Database]
    history: History = field(default_factory=History)
    menus: Mapping[str, str] = field(default_factory=lambda: DATABASES)

    def find_database(self, request: LocalRequest, parameter: str = "db") -> Database:
        """Return the database that a request names, by default PubMed.

        Raises:
            BadRequest: there is no such database.
        """
        name = request.get(parameter).lower() or "pubmed"
        if name not in self.databases:
            raise BadRequest(f"Invalid db name specified: {name}")
        return self.databases[name]

    def get_stored_ids(self, request: LocalRequest, database: Database) -> Sequence[str]:
        """Return the ids of the result set of WebEnv and query_key.

        Raises:
            BadRequest: the database has no such set.
        """
        stored = self.history.get(request.get("WebEnv"), request.get_number("query_key", 0))
        if stored is None or stored.database != database.name:
            raise BadRequest(f"Unable to obtain query #{request.get('query_key') or '0'}")
        return stored.ids

    @property
    def pubmed(self) -> PubMedDatabase:
        """PubMed, whose articles the other services have."""
        database = self.databases["pubmed"]
        assert isinstance(database, PubMedDatabase)
        return database

    def find_article(self, identifier: str) -> Document | None:
        """Return the newest article with a DOI or PMCID."""
        return self.pubmed.collection.find_document("aid", identifier.casefold())

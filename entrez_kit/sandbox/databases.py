"""The databases the sandbox serves; a new one is one more entry here."""

from entrez_kit.sandbox.corpus import Corpus
from entrez_kit.sandbox.database import Database
from entrez_kit.sandbox.pubmed import PubMedDatabase


def build_databases(corpus: Corpus) -> dict[str, Database]:
    """Return every database by name."""
    databases: list[Database] = [PubMedDatabase(corpus)]
    return {database.name: database for database in databases}

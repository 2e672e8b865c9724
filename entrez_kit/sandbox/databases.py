"""The databases the sandbox serves; a new one is one more entry here."""

from collections.abc import Mapping
from functools import lru_cache

from entrez_kit.sandbox.corpus import Corpus
from entrez_kit.sandbox.database import Database
from entrez_kit.sandbox.gene import GeneDatabase
from entrez_kit.sandbox.mesh import MeshDatabase
from entrez_kit.sandbox.nuccore import NuccoreDatabase
from entrez_kit.sandbox.pmc import PmcDatabase
from entrez_kit.sandbox.pubmed import PubMedDatabase
from entrez_kit.sandbox.taxonomy import TaxonomyDatabase


@lru_cache(maxsize=1)
def build_databases(corpus: Corpus) -> Mapping[str, Database]:
    """Return every database by name; the ones built last are kept with their indexes."""
    pubmed = PubMedDatabase(corpus)
    databases: list[Database] = [
        pubmed,
        PmcDatabase(pubmed),
        GeneDatabase(corpus),
        TaxonomyDatabase(),
        MeshDatabase(),
        NuccoreDatabase(),
    ]
    return {database.name: database for database in databases}

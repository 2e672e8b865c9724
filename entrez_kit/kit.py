"""EntrezKit: the Python door, one client and one method per operation."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from entrez_kit.services import Services
from entrez_kit.settings import SANDBOX_ORIGIN, Settings, load_settings

if TYPE_CHECKING:
    from entrez_kit.citations.operation import CitationsResult
    from entrez_kit.corpus.checkpoint_calls import CheckpointGetResult, CheckpointSetResult
    from entrez_kit.corpus.rag_get import RagDocument
    from entrez_kit.corpus.search.operation import RagSearchResult
    from entrez_kit.corpus.sync import SyncResult
    from entrez_kit.databases.fetch import EntrezFetchResult
    from entrez_kit.databases.info import InfoResult
    from entrez_kit.databases.link import LinkResult
    from entrez_kit.databases.mesh import MeshResult
    from entrez_kit.databases.search import EntrezSearchResult
    from entrez_kit.databases.spell import SpellResult
    from entrez_kit.databases.summary import SummaryResult
    from entrez_kit.europepmc.search import EuropePMCResult
    from entrez_kit.fulltext.operation import FulltextResult
    from entrez_kit.gene.models import Gene, GenePage, PubMedLinks
    from entrez_kit.pubmed.convert import ConvertResult
    from entrez_kit.pubmed.fetch import FetchResult
    from entrez_kit.pubmed.match import MatchResult
    from entrez_kit.pubmed.search import SearchResult
    from entrez_kit.pubmed.search_all import Progress
    from entrez_kit.relationships.models import RelationshipsResult
    from entrez_kit.sandbox.server import Sandbox
    from entrez_kit.services.eutils import EUtils


class EntrezKit:
    """One client for everything; safe for threads. Use it as a context manager, or close it when done.

    With the setting ``demo`` it talks to a sandbox of its own, with invented articles.

    Args:
        settings: ready settings; read from environment and files when absent.
        overrides: single settings by name, e.g. ``ncbi_api_key="..."`` or ``no_cache=True``.

    Raises:
        NotConfigured: a setting has a value that cannot be used.
    """

    def __init__(self, settings: Settings | None = None, **overrides: Any) -> None:
        if settings is None:
            settings = load_settings(overrides)
        elif overrides:
            raise TypeError("give either settings or single overrides, not both")
        self._sandbox: Sandbox | None = None
        if settings.demo and settings.origins.get("eutils_url") != SANDBOX_ORIGIN:
            from entrez_kit.sandbox import server

            self._sandbox = server.Sandbox()
            self._sandbox.start()
            settings = settings.with_sandbox(self._sandbox.url)
        self.services = Services(settings)

    @property
    def settings(self) -> Settings:
        """The settings this kit works with."""
        return self.services.settings

    @property
    def eutils(self) -> "EUtils":
        """The nine E-utilities as NCBI names them: checked replies, nothing parsed."""
        return self.services.eutils

    def search_articles(self, **arguments: Any) -> "SearchResult":
        """Search PubMed; the arguments are the fields of ``SearchRequest``.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds.
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.pubmed.search import SEARCH_ARTICLES

        return SEARCH_ARTICLES.run(self.services, arguments)

    def search_all(self, progress: "Progress | None" = None, **arguments: Any) -> "SearchResult":
        """Retrieve every PMID of a search, however many, with a certificate; see ``retrieve.search_all``.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds.
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.pubmed.search import SEARCH_ARTICLES
        from entrez_kit.pubmed.search_all import search_all

        whole = replace(SEARCH_ARTICLES, function=lambda services, request: search_all(services, request, progress))
        return whole.run(self.services, arguments)

    def fetch_contents(self, **arguments: Any) -> "FetchResult":
        """Fetch PubMed records; the arguments are the fields of ``FetchRequest``.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds.
            UpstreamError: NCBI answered none of the requests.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.pubmed.fetch import FETCH_CONTENTS

        return FETCH_CONTENTS.run(self.services, arguments)

    def article_relationships(self, **arguments: Any) -> "RelationshipsResult":
        """Find similar, citing or cited articles, or write one as a citation; the arguments are those of its request.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds.
            EntityNotFound: there is no such article.
            UpstreamError: nobody who might know answered.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.relationships.operation import RELATIONSHIPS

        return RELATIONSHIPS.run(self.services, arguments)

    def format_citations(self, **arguments: Any) -> "CitationsResult":
        """Cite PubMed records in the styles of journals; the arguments are the fields of ``CitationsRequest``.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds.
            NotConfigured: the citation processor is not installed.
            UpstreamError: NCBI answered none of the requests.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.citations.operation import FORMAT_CITATIONS

        return FORMAT_CITATIONS.run(self.services, arguments)

    def fetch_fulltext(self, **arguments: Any) -> "FulltextResult":
        """Fetch the full text of articles; the arguments are the fields of ``FulltextRequest``.

        Ids without full text are in ``unavailable``, with what every source answered; no failing source is an error.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds.
        """
        from entrez_kit.fulltext.operation import FETCH_FULLTEXT

        return FETCH_FULLTEXT.run(self.services, arguments)

    def search_genes(self, **arguments: Any) -> "GenePage":
        """Find genes by symbol, alias, name or description; the arguments are those of ``search_genes``.

        Raises:
            AmbiguousQuery: an argument is unknown or out of bounds, or the organism is not known.
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.gene.search import SEARCH_GENES

        return SEARCH_GENES.run(self.services, arguments)

    def get_gene(self, **arguments: Any) -> "Gene":
        """Look up one gene by its CURIE (``entrez_id="NCBIGene:7157"``).

        Raises:
            UnresolvedEntity: the id is no such CURIE; the hint is the exact next call.
            EntityNotFound: there is no such gene.
            UpstreamError: NCBI did not answer, or sent a record that cannot be read.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.gene.lookup import GET_GENE

        return GET_GENE.run(self.services, arguments)

    def get_pubmed_links(self, **arguments: Any) -> "PubMedLinks":
        """Return the PMIDs NCBI links to a gene (``entrez_id="NCBIGene:7157"``, ``limit=10``).

        Raises:
            UnresolvedEntity: the id is no such CURIE; the hint is the exact next call.
            EntityNotFound: there is no such gene.
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.gene.links import GET_PUBMED_LINKS

        return GET_PUBMED_LINKS.run(self.services, arguments)

    def lookup_citation(self, **arguments: Any) -> "MatchResult":
        """Find the PMIDs of references and compare what is found; the arguments are the fields of its request.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds.
            EntityNotFound: nothing of what was named exists.
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.pubmed.match import LOOKUP_CITATION

        return LOOKUP_CITATION.run(self.services, arguments)

    def convert_ids(self, **arguments: Any) -> "ConvertResult":
        """Convert PMIDs, PMCIDs and DOIs into each other; the arguments are the fields of its request.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds.
            EntityNotFound: nothing of what was named exists.
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.pubmed.convert import CONVERT

        return CONVERT.run(self.services, arguments)

    def europepmc_search(self, **arguments: Any) -> "EuropePMCResult":
        """Search Europe PMC, preprints included; the arguments are the fields of ``EuropePMCRequest``.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds, or Europe PMC refuses it.
            NotConfigured: Europe PMC is switched off.
            UpstreamError: Europe PMC did not answer after every attempt.
            RateLimited: Europe PMC refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.europepmc.search import EUROPEPMC_SEARCH

        return EUROPEPMC_SEARCH.run(self.services, arguments)

    def lookup_mesh(self, **arguments: Any) -> "MeshResult":
        """Look up MeSH headings; the arguments are the fields of its request.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds.
            EntityNotFound: nothing of what was named exists.
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.databases.mesh import MESH

        return MESH.run(self.services, arguments)

    def spell_check(self, **arguments: Any) -> "SpellResult":
        """Ask NCBI for a spelling suggestion; the arguments are the fields of its request.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds.
            EntityNotFound: nothing of what was named exists.
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.databases.spell import SPELL

        return SPELL.run(self.services, arguments)

    def sync_delta(self, **arguments: Any) -> "SyncResult":
        """Bring a local corpus up to date with a PubMed query (``query_key="glp1"``, ``term="GLP-1 AND obesity"``).

        What could not be fetched is in ``warnings``, and as an error in ``shortfall()``.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds, or another term belongs to the key.
            StoreError: the corpus cannot be written, or another sync of the key is running.
            UpstreamError: NCBI delivered nothing.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.corpus.operations import SYNC

        return SYNC.run(self.services, arguments)

    def rag_search(self, **arguments: Any) -> "RagSearchResult":
        """Search the local corpus (``query="weight loss vs placebo"``, ``top_k=20``, ``quality_bias=True``).

        ``corpus="glp1"`` keeps to the records of one query, ``index="weaviate"`` asks the Weaviate server.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds.
            EntityNotFound: there is no such query.
            StoreError: the corpus cannot be read.
            EmbeddingsError: embeddings are set up and cannot be had.
            NotConfigured: Weaviate was asked for and is not set up.
            VectorIndexError: Weaviate does not answer.
        """
        from entrez_kit.corpus.operations import RAG_SEARCH

        return RAG_SEARCH.run(self.services, arguments)

    def rag_get(self, **arguments: Any) -> "RagDocument":
        """Return one record of the local corpus (``doc_id="pmid:38400100"``).

        Raises:
            InvalidInput: the id is not of this form.
            EntityNotFound: the corpus does not have it.
            StoreError: the corpus cannot be read.
        """
        from entrez_kit.corpus.operations import RAG_GET

        return RAG_GET.run(self.services, arguments)

    def corpus_checkpoint_get(self, **arguments: Any) -> "CheckpointGetResult":
        """Tell up to which date of entry a corpus is synced (``query_key="glp1"``); None where it never was.

        Raises:
            InvalidInput: an argument is unknown or missing.
            StoreError: the corpus cannot be read.
        """
        from entrez_kit.corpus.operations import CHECKPOINT_GET

        return CHECKPOINT_GET.run(self.services, arguments)

    def corpus_checkpoint_set(self, **arguments: Any) -> "CheckpointSetResult":
        """Set the date of entry that the next sync starts from (``query_key``, ``last_edat``); it is logged.

        Raises:
            InvalidInput: an argument is unknown or missing, or ``last_edat`` is no moment that has passed.
            StoreError: the corpus cannot be written.
        """
        from entrez_kit.corpus.operations import CHECKPOINT_SET

        return CHECKPOINT_SET.run(self.services, arguments)

    def entrez_info(self, **arguments: Any) -> "InfoResult":
        """List Entrez databases, describe one, or count a query in each; the arguments are the fields of its request.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds.
            EntityNotFound: nothing of what was named exists.
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.databases.info import INFO

        return INFO.run(self.services, arguments)

    def entrez_search(self, **arguments: Any) -> "EntrezSearchResult":
        """Search any Entrez database; the arguments are the fields of its request.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds.
            EntityNotFound: nothing of what was named exists.
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.databases.search import SEARCH

        return SEARCH.run(self.services, arguments)

    def entrez_summary(self, **arguments: Any) -> "SummaryResult":
        """Summarise records of any Entrez database; the arguments are the fields of its request.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds.
            EntityNotFound: nothing of what was named exists.
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.databases.summary import SUMMARY

        return SUMMARY.run(self.services, arguments)

    def entrez_fetch(self, **arguments: Any) -> "EntrezFetchResult":
        """Fetch records of any Entrez database as NCBI formats them; the arguments are the fields of its request.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds.
            EntityNotFound: nothing of what was named exists.
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.databases.fetch import FETCH

        return FETCH.run(self.services, arguments)

    def entrez_link(self, **arguments: Any) -> "LinkResult":
        """Follow links between Entrez databases; the arguments are the fields of its request.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds.
            EntityNotFound: nothing of what was named exists.
            UpstreamError: NCBI did not answer after every attempt.
            RateLimited: NCBI refused, or the wait for a slot would pass the deadline.
        """
        from entrez_kit.databases.link import LINK

        return LINK.run(self.services, arguments)

    def close(self) -> None:
        """Release the cache file and the connections, and stop the sandbox of a demo."""
        self.services.close()
        if self._sandbox is not None:
            self._sandbox.stop()
            self._sandbox = None

    def __enter__(self) -> "EntrezKit":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

"""OPERATIONS: all operations of entrez-kit, which its three front ends share."""

from typing import Any, Final

from entrez_kit.citations.format_citations import FORMAT_CITATIONS
from entrez_kit.core.operation import Operation
from entrez_kit.corpus.operations import CHECKPOINT_GET, CHECKPOINT_SET, RAG_GET, RAG_SEARCH, SYNC
from entrez_kit.databases.fetch import FETCH
from entrez_kit.databases.gene.get_genes import GET_GENE, GET_PUBMED_LINKS
from entrez_kit.databases.gene.search_genes import SEARCH_GENES
from entrez_kit.databases.info import INFO
from entrez_kit.databases.link import LINK
from entrez_kit.databases.mesh import MESH
from entrez_kit.databases.search import SEARCH
from entrez_kit.databases.spell import SPELL
from entrez_kit.databases.summary import SUMMARY
from entrez_kit.fulltext.fetch_fulltext import FETCH_FULLTEXT
from entrez_kit.pubmed.convert import CONVERT
from entrez_kit.pubmed.europepmc.search_europepmc import EUROPEPMC_SEARCH
from entrez_kit.pubmed.facets import COUNT_FACETS
from entrez_kit.pubmed.fetch import FETCH_CONTENTS
from entrez_kit.pubmed.search import SEARCH_ARTICLES
from entrez_kit.references.audit import AUDIT
from entrez_kit.references.check.check_references import CHECK
from entrez_kit.references.claims.verify_claims import VERIFY_CLAIMS
from entrez_kit.references.match import LOOKUP_CITATION
from entrez_kit.references.merge.merge_references import MERGE_REFERENCES
from entrez_kit.relationships.find_relationships import RELATIONSHIPS
from entrez_kit.strategies.lint_strategy import LINT_STRATEGY
from entrez_kit.strategies.measure_recall import MEASURE_RECALL
from entrez_kit.strategies.translate_strategy import TRANSLATE_STRATEGY

OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    SEARCH_ARTICLES,
    FETCH_CONTENTS,
    FETCH_FULLTEXT,
    RELATIONSHIPS,
    FORMAT_CITATIONS,
    LOOKUP_CITATION,
    CONVERT,
    EUROPEPMC_SEARCH,
    MESH,
    SPELL,
    COUNT_FACETS,
    SEARCH_GENES,
    GET_GENE,
    GET_PUBMED_LINKS,
    SYNC,
    RAG_SEARCH,
    RAG_GET,
    CHECKPOINT_GET,
    CHECKPOINT_SET,
    INFO,
    SEARCH,
    SUMMARY,
    FETCH,
    LINK,
    VERIFY_CLAIMS,
    AUDIT,
    CHECK,
    TRANSLATE_STRATEGY,
    LINT_STRATEGY,
    MERGE_REFERENCES,
    MEASURE_RECALL,
)

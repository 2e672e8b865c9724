"""Every operation there is, in the catalogue or on its way there, and small calls of each."""

from typing import Any, Final

from entrez_kit.catalogue import OPERATIONS
from entrez_kit.databases.fetch import FETCH
from entrez_kit.databases.info import INFO
from entrez_kit.databases.link import LINK
from entrez_kit.databases.mesh import MESH
from entrez_kit.databases.search import SEARCH
from entrez_kit.databases.spell import SPELL
from entrez_kit.databases.summary import SUMMARY
from entrez_kit.gene.links import GET_PUBMED_LINKS
from entrez_kit.gene.lookup import GET_GENE
from entrez_kit.gene.search import SEARCH_GENES
from entrez_kit.operation import Operation
from entrez_kit.pubmed.convert import CONVERT
from entrez_kit.pubmed.match import LOOKUP_CITATION

_KNOWN = (SEARCH_GENES, GET_GENE, GET_PUBMED_LINKS, INFO, SEARCH, SUMMARY, FETCH, LINK, MESH, SPELL, CONVERT)
_ALL = (*OPERATIONS, *_KNOWN, LOOKUP_CITATION)

EVERYTHING: Final[tuple[Operation[Any, Any], ...]] = tuple({item.name: item for item in reversed(_ALL)}.values())[::-1]
"""The catalogue and what is not in it yet."""

CALLS: Final[dict[str, dict[str, Any]]] = {
    "pubmed_search_articles": {"query_term": "crispr", "max_results": 2, "fetch_brief_summaries": 2},
    "pubmed_fetch_contents": {"pmids": ["99000001"]},
    "search_genes": {"query": "TP53", "organism": "human"},
    "get_gene": {"entrez_id": "NCBIGene:7157", "slim": True},
    "get_pubmed_links": {"entrez_id": "NCBIGene:7157", "limit": 2},
    "entrez_info": {"db": "pubmed"},
    "pubmed_spell_check": {"query": "crisper"},
    "pubmed_convert_ids": {"ids": ["99000001"]},
}
"""Arguments the sandbox has an answer to."""

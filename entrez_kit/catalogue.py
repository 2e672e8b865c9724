"""OPERATIONS: the literal list of everything entrez-kit can do through its three doors."""

from typing import Any, Final

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
from entrez_kit.pubmed.fetch import FETCH_CONTENTS
from entrez_kit.pubmed.match import LOOKUP_CITATION
from entrez_kit.pubmed.search import SEARCH_ARTICLES

OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    SEARCH_ARTICLES,
    FETCH_CONTENTS,
    LOOKUP_CITATION,
    CONVERT,
    MESH,
    SPELL,
    SEARCH_GENES,
    GET_GENE,
    GET_PUBMED_LINKS,
    INFO,
    SEARCH,
    SUMMARY,
    FETCH,
    LINK,
)

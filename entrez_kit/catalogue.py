"""OPERATIONS: the literal list of everything entrez-kit can do through its three doors."""

from typing import Any, Final

from entrez_kit.gene.links import GET_PUBMED_LINKS
from entrez_kit.gene.lookup import GET_GENE
from entrez_kit.gene.search import SEARCH_GENES
from entrez_kit.operation import Operation
from entrez_kit.pubmed.fetch import FETCH_CONTENTS
from entrez_kit.pubmed.search import SEARCH_ARTICLES

OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    SEARCH_ARTICLES,
    FETCH_CONTENTS,
    SEARCH_GENES,
    GET_GENE,
    GET_PUBMED_LINKS,
)

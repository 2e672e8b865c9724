"""OPERATIONS: the literal list of everything entrez-kit can do through its three doors."""

from typing import Any, Final

from entrez_kit.operation import Operation
from entrez_kit.pubmed.fetch import FETCH_CONTENTS
from entrez_kit.pubmed.search import SEARCH_ARTICLES

OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (SEARCH_ARTICLES, FETCH_CONTENTS)

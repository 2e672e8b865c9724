"""Bio.Entrez with the rate limit, cache, retries and reply checks of entrez-kit.

    from entrez_kit import Entrez  # instead of: from Bio import Entrez

The functions, attributes, handles and errors are those of Bio.Entrez; `entrez-kit guide bio-entrez` lists the
differences. This module is a separate instance and shares no state with Bio.Entrez. Requests use ``email``, ``api_key``
and ``tool`` of this module if they are set, otherwise the settings (``NCBI_API_KEY`` ...).
"""

from typing import TYPE_CHECKING, Any

from entrez_kit.base.bio_entrez import execute_entrez as _execute_entrez
from entrez_kit.Entrez._requests import TOOL as _TOOL
from entrez_kit.Entrez._requests import Requests as _Requests

if TYPE_CHECKING:
    email: str | None
    api_key: str | None
    tool: str | None
    max_tries: int
    sleep_between_tries: float
    local_cache: str | None

_help = __doc__
_requests = _Requests(globals())
_execute_entrez(globals(), _requests.open, tool=_TOOL, warnings=_requests)
__doc__ = _help


def __getattr__(name: str) -> Any:
    """Load the parser when it is first used."""
    if name != "Parser":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module(f"{__name__}.Parser")

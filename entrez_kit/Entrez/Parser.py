"""The parser of Bio.Entrez: it writes no folder into the home, and missing DTDs come by our transport.

Biopython's parser makes a folder in the user's home when it is imported, and takes settings from Bio.Entrez. This
instance takes them from `entrez_kit.Entrez`, and keeps files only in the folder that ``Entrez.local_cache`` names.
"""

import builtins
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import entrez_kit.Entrez as _Entrez
from entrez_kit.services.bio_entrez import MODULE as _MODULE
from entrez_kit.services.bio_entrez import PARSER as _PARSER
from entrez_kit.services.bio_entrez import execute_module as _execute_module
from entrez_kit.services.bio_entrez import find_module as _find_module


class _NoFolder:
    """The value of a cache folder that is not set: Biopython takes it for a folder that it may not make."""

    def __fspath__(self) -> str:
        raise PermissionError("no folder is set in Entrez.local_cache")


def _import(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] = (),
    level: int = 0,
) -> Any:
    """Import for Biopython's parser: what it calls ``Bio.Entrez`` is our instance."""
    if name == "Bio" and "Entrez" in fromlist:
        folder = _NoFolder() if _Entrez.local_cache is None else _Entrez.local_cache
        places = _find_module(_MODULE).submodule_search_locations
        return SimpleNamespace(Entrez=SimpleNamespace(local_cache=folder, __path__=places))
    return builtins.__import__(name, globals, locals, fromlist, level)


globals()["__builtins__"] = {**vars(builtins), "__import__": _import}
_execute_module(_PARSER, globals(), urlopen=_Entrez._requests.open_definition)

if TYPE_CHECKING:  # the names are Biopython's

    def __getattr__(name: str) -> Any: ...

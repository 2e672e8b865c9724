"""The parser of Bio.Entrez, which creates no folder in the home and loads missing DTDs with our transport.

Biopython's parser creates a folder in the user's home on import, and reads its settings from Bio.Entrez. This instance
reads them from `entrez_kit.Entrez`, and stores files only in the folder ``Entrez.local_cache``.
"""

import builtins
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import entrez_kit.Entrez as _Entrez
from entrez_kit.base.bio_entrez import MODULE as _MODULE
from entrez_kit.base.bio_entrez import PARSER as _PARSER
from entrez_kit.base.bio_entrez import execute_module as _execute_module
from entrez_kit.base.bio_entrez import find_module as _find_module


class _NoFolder:
    """The value of an unset cache folder; for Biopython it is a folder that it has no permission to create."""

    def __fspath__(self) -> str:
        raise PermissionError("no folder is set in Entrez.local_cache")


def _import(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] = (),
    level: int = 0,
) -> Any:
    """Import a module for Biopython's parser, with our instance as ``Bio.Entrez``."""
    if name == "Bio" and "Entrez" in fromlist:
        folder = _NoFolder() if _Entrez.local_cache is None else _Entrez.local_cache
        places = _find_module(_MODULE).submodule_search_locations
        return SimpleNamespace(Entrez=SimpleNamespace(local_cache=folder, __path__=places))
    return builtins.__import__(name, globals, locals, fromlist, level)


globals()["__builtins__"] = {**vars(builtins), "__import__": _import}
_execute_module(_PARSER, globals(), urlopen=_Entrez._requests.open_definition)

if TYPE_CHECKING:  # the names are Biopython's

    def __getattr__(name: str) -> Any: ...

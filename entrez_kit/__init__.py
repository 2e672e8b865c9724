"""entrez-kit: NCBI Entrez for Python, the terminal and agents."""

from entrez_kit.base import __version__

TYPE_CHECKING = False  # the import of typing would take most of this package's import time

if TYPE_CHECKING:
    from entrez_kit import Entrez
    from entrez_kit.base.errors import (
        AmbiguousQuery,
        EntityNotFound,
        EntrezKitError,
        InvalidInput,
        NotConfigured,
        RateLimited,
        StoreError,
        UnresolvedEntity,
        UpstreamError,
    )
    from entrez_kit.base.settings import Settings, load_settings
    from entrez_kit.python.kit import EntrezKit

__all__ = [
    "AmbiguousQuery",
    "EntityNotFound",
    "Entrez",
    "EntrezKit",
    "EntrezKitError",
    "InvalidInput",
    "NotConfigured",
    "RateLimited",
    "Settings",
    "StoreError",
    "UnresolvedEntity",
    "UpstreamError",
    "__version__",
    "load_settings",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used, so that the import of the package is fast."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module: object
    if name == "Entrez":
        import entrez_kit.Entrez as Entrez  # `from entrez_kit import Entrez` would call this function again

        return Entrez
    if name == "EntrezKit":
        from entrez_kit.python import kit as module
    elif name in ("Settings", "load_settings"):
        from entrez_kit.base import settings as module
    else:
        from entrez_kit.base import errors as module
    found: object = getattr(module, name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)

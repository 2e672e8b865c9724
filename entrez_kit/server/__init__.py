"""The server: every operation as an MCP tool. Whatever of it is imported, the SDK is imported in part and late.

The packages ``mcp`` and ``mcp.server`` import the client, a framework and an HTTP client, none of which serves here,
and ``mcp_types`` builds the validators of four hundred messages, of which a session uses a dozen.
"""

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

PACKAGES: Final = ("mcp", "mcp.server")
"""Packages of the SDK whose modules are imported without what the package itself imports."""
MESSAGES: Final = ("mcp_types", "mcp_types.methods")
"""Modules whose models are built when they are first used."""


class _Package(ModuleType):
    """A package that is executed when somebody asks it for a name, and not for its modules."""

    def __getattr__(self, name: str) -> Any:
        self.__class__ = ModuleType  # type: ignore[assignment]  # from now on it is like any other
        assert self.__spec__ is not None
        assert self.__spec__.loader is not None
        self.__spec__.loader.exec_module(self)
        return getattr(self, name)


def _prepare_sdk() -> None:
    for name in PACKAGES:
        spec = find_spec(name) if name not in sys.modules else None
        if spec is not None:
            package = sys.modules[name] = module_from_spec(spec)
            package.__class__ = _Package
            above, _, own = name.rpartition(".")
            if above:
                setattr(sys.modules[above], own, package)
    usual, BaseModel.model_config = BaseModel.model_config, ConfigDict(defer_build=True)
    try:
        for name in MESSAGES:
            import_module(name)
    finally:
        BaseModel.model_config = usual


_prepare_sdk()

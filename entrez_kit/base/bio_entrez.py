"""Run private instances of Bio.Entrez, whose requests the caller answers.

An instance is the code of Bio.Entrez, executed in a separate namespace. Its public functions build and encode each
request and pass it to ``urlopen``, a name in that namespace that the caller replaces. Other users of Bio.Entrez in the
same process share nothing with it.

This depends on names at the top level of Bio.Entrez (``REPLACED``). A test fails if Biopython moves one of them.
"""

import time
from collections.abc import Callable
from contextvars import ContextVar
from email.message import Message
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from entrez_kit.base.errors import NotConfigured

if TYPE_CHECKING:
    from urllib.request import Request

MODULE: Final = "Bio.Entrez"
PARSER: Final = "Bio.Entrez.Parser"
REPLACED: Final = {MODULE: ("time", "urlopen", "warnings"), PARSER: ("urlopen",)}
"""Names at the top level of Biopython's modules that are replaced in an instance."""


class InstantClock:
    """The clock of an instance: its waits return at once, because the transport limits the rate and waits to retry."""

    time = staticmethod(time.time)

    @staticmethod
    def sleep(seconds: float) -> None:
        """Return at once."""


class Silence:
    """The warnings of an instance: none."""

    @staticmethod
    def warn(message: object, category: object = None) -> None:
        """Drop a warning."""


class Acknowledgement:
    """The response that an instance gets if its caller receives the reply separately."""

    headers: Final = Message()


Acknowledgement.headers["Content-Type"] = "application/octet-stream"


def find_module(name: str) -> ModuleSpec:
    """Return the specification of a module of Bio.Entrez without importing it.

    Raises:
        NotConfigured: the module does not exist.
    """
    package = find_spec(MODULE)
    if name == MODULE or package is None:
        found = package
    else:
        found = PathFinder.find_spec(name, package.submodule_search_locations)
    if found is None or found.loader is None:
        raise _unsupported_error(f"it has no module {name}")
    return found


def execute_entrez(
    namespace: dict[str, Any], urlopen: "Callable[[Request], Any]", *, tool: str | None = None, warnings: Any = Silence
) -> None:
    """Make a namespace an instance of Bio.Entrez.

    Biopython has removed EGQuery. An instance still has it: Bio.Entrez builds the request as one of EInfo.

    Args:
        urlopen: answers each request.
        tool: the name of the tool, None for none.
        warnings: its method ``warn`` gets the warning about a missing e-mail.
    """
    script: ContextVar[str | None] = ContextVar("entrez_kit_script", default=None)

    def open_request(request: "Request") -> Any:
        if (other := script.get()) is not None:
            request.full_url = request.full_url.replace("/einfo.fcgi", f"/{other}")
        return urlopen(request)

    def egquery(**keywds: Any) -> Any:
        """Count the matches of a query in every database. NCBI is reported to have switched it off."""
        token = script.set("egquery.fcgi")
        try:
            return namespace["einfo"](**keywds)
        finally:
            script.reset(token)

    execute_module(MODULE, namespace, urlopen=open_request, time=InstantClock, warnings=warnings)
    namespace["tool"] = tool
    namespace.setdefault("egquery", egquery)


def execute_module(name: str, namespace: dict[str, Any], **replacements: Any) -> None:
    """Execute the code of a module of Bio.Entrez in a namespace, and replace names in it.

    Raises:
        NotConfigured: the installed Biopython lacks one of these names.
    """
    loader: Any = find_module(name).loader
    exec(loader.get_code(name), namespace)
    missing = [replaced for replaced in replacements if replaced not in namespace]
    if missing:
        raise _unsupported_error(f"{name} has no {missing[0]}")
    namespace.update(replacements)


def load_entrez(urlopen: "Callable[[Request], Any]") -> ModuleType:
    """Return an instance without tool, e-mail, key, warnings and waits.

    Args:
        urlopen: answers each request.
    """
    entrez = ModuleType(f"{__name__}.instance")
    execute_entrez(vars(entrez), urlopen)
    return entrez


def _unsupported_error(problem: str) -> NotConfigured:
    from Bio import __version__

    from entrez_kit.base.extras import install_hint

    return NotConfigured(
        f"Biopython {__version__} cannot be used: {problem}.",
        recovery_hint=install_hint("pip install --upgrade entrez-kit"),
        details={"reason": "unsupported_biopython"},
    )

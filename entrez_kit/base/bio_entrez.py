"""Run private instances of Bio.Entrez, which build requests and do not send them.

An instance is the code of Bio.Entrez, executed in a separate namespace. Its public functions build and encode each
request, pass it to ``urlopen``, a name in that namespace that is replaced here, and return the result of it. Other
users of Bio.Entrez in the same process share nothing with an instance. ``build_request`` uses an instance whose
``urlopen`` returns the request itself; the ``urlopen`` of `entrez_kit.Entrez` answers the request.

Bio.Entrez builds the requests because users know its parameters, and because scripts for it run here unchanged. It
does not send them: it has no cache, one rate limit for each process, and settings that all callers share. The replies
are parsed by readers of this program, which compare them with the request.

This depends on names at the top level of Bio.Entrez (``REPLACED``). A test fails if Biopython moves one of them.
"""

import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from email.message import Message
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
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


class BuiltRequest:
    """What ``urlopen`` returns in the instance that builds requests: the request, with a header for Bio.Entrez."""

    headers: Final = Message()

    def __init__(self, request: "Request") -> None:
        self.request = request


BuiltRequest.headers["Content-Type"] = "application/octet-stream"


def build_request(endpoint: str, params: Mapping[str, Any]) -> "Request":
    """Return the request that Bio.Entrez builds for an E-utility, without credentials. Safe for threads.

    Args:
        endpoint: the name of the function in Bio.Entrez, such as ``esearch``.
        params: its arguments; Bio.Entrez omits those that are None, and here also empty texts.
    """
    arguments = {name: None if value == "" else value for name, value in params.items()}
    built: BuiltRequest = _load_builder()[endpoint](**arguments)
    return built.request


@cache
def _load_builder() -> dict[str, Any]:
    """Return the namespace of the instance that builds requests, one for all threads."""
    namespace: dict[str, Any] = {"__name__": f"{__name__}.builder"}
    execute_entrez(namespace, BuiltRequest)
    return namespace


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


def _unsupported_error(problem: str) -> NotConfigured:
    from Bio import __version__

    from entrez_kit.base.extras import install_hint

    return NotConfigured(
        f"Biopython {__version__} cannot be used: {problem}.",
        recovery_hint=install_hint("pip install --upgrade entrez-kit"),
        details={"reason": "unsupported_biopython"},
    )

"""Run the operation of a method of ``EntrezKit``.

A generated method has no body. The decorators here replace it: the method imports its operation when it is first called
and passes its arguments on, so a wrong argument is the same error as in the other front ends.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from entrez_kit.core.operation import Operation
    from entrez_kit.services import Services

P = ParamSpec("P")
R = TypeVar("R")


class OperationRunner:
    """Run operations with ``services`` and return their results."""

    services: "Services"

    def _answer(self, operation: "Operation[Any, Any]", arguments: Mapping[str, Any]) -> Any:
        """Run an operation with the arguments that the caller gave."""
        return operation.run(self.services, arguments)


_PLACES: Final[dict[str, str]] = {}
"""Module and name of the operation of each method."""


def operation_of(method: str) -> "Operation[Any, Any]":
    """Return the operation that a method runs, and import no other."""
    module, _, name = _PLACES[method].rpartition(".")
    return cast("Operation[Any, Any]", getattr(import_module(module), name))


def runs(place: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a method run the operation with this module and name."""

    def decorate(method: Callable[P, R]) -> Callable[P, R]:
        _PLACES[method.__name__] = place

        @wraps(method)
        def run(self: OperationRunner, **arguments: Any) -> Any:
            return self._answer(operation_of(method.__name__), arguments)

        return cast("Callable[P, R]", run)

    return decorate


def runs_search_all(method: Callable[P, R]) -> Callable[P, R]:
    """Make a method retrieve every result of a search."""

    @wraps(method)
    def run(self: OperationRunner, progress: Callable[[int, int], None] | None = None, **arguments: Any) -> Any:
        from entrez_kit.base.tracing import Watch, watched
        from entrez_kit.pubmed.search import SEARCH_ARTICLES

        tell = progress or (lambda done, total: None)
        with watched(Watch(wanted=lambda: True, progress=lambda done, total: tell(done, total or 0))):
            return SEARCH_ARTICLES.run(self.services, {**arguments, "retrieve_all": True})

    return cast("Callable[P, R]", run)

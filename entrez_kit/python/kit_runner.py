"""Run the operation of a method of ``EntrezKit``.

A generated method has no body. The decorators here replace it: the method imports its operation when it is first called
and passes its arguments on, so a wrong argument is the same error as in the other front ends.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from entrez_kit.core.operation import Operation
    from entrez_kit.services import Services

P = ParamSpec("P")
R = TypeVar("R")


class OperationRunner:
    """Run operations with ``services`` and return their results."""

    services: "Services"
    _find_operation: "Callable[[str], Operation[Any, Any]]"

    def _run_operation(self, operation: Any, arguments: Mapping[str, Any]) -> Any:
        """Run an operation with the arguments that the caller gave."""
        return operation.run(self.services, arguments)


def runs(method: Callable[P, R]) -> Callable[P, R]:
    """Make a method run the operation that has its name."""

    @wraps(method)
    def run(self: OperationRunner, **arguments: Any) -> Any:
        return self._run_operation(self._find_operation(method.__name__), arguments)

    return cast("Callable[P, R]", run)


def runs_search_all(method: Callable[P, R]) -> Callable[P, R]:
    """Make a method retrieve every result of a search."""

    @wraps(method)
    def run(self: OperationRunner, progress: Callable[[int, int], None] | None = None, **arguments: Any) -> Any:
        from entrez_kit.base.progress import Watch, watch_calls
        from entrez_kit.pubmed.search import SEARCH_ARTICLES

        tell = progress or (lambda done, total: None)
        with watch_calls(Watch(wanted=lambda: True, progress=lambda done, total: tell(done, total or 0))):
            return SEARCH_ARTICLES.run(self.services, {**arguments, "retrieve_all": True})

    return cast("Callable[P, R]", run)

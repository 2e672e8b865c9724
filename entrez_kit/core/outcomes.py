"""Outcomes of many inputs: requested in batches, with a summary, and the error for missing ones."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from entrez_kit.base.errors import EntityNotFound, EntrezKitError, UpstreamError
from entrez_kit.base.frontend_text import RESUME_HINT, Text
from entrez_kit.base.progress import report_progress
from entrez_kit.core.model import Request, Result
from entrez_kit.core.operation import Outcomes

if TYPE_CHECKING:
    from entrez_kit.services import Services

Item = TypeVar("Item")
Given = TypeVar("Given")
Res = TypeVar("Res", bound=Result)


class BatchedOutcomes(Outcomes[Item], Generic[Given, Item]):
    """The outcomes of many inputs, requested in parts, so that the first outcomes arrive before the last request.

    ``found`` counts the good outcomes and ``missing`` has the others. A part sets ``error`` if a service did not
    answer; the iteration raises it if no input was answered.
    """

    BATCH_SIZE: ClassVar[int]
    """Number of inputs that are requested before their outcomes are yielded."""
    GOOD: ClassVar[tuple[str, ...]] = ("found",)

    def __init__(self, services: "Services", inputs: Sequence[Given]) -> None:
        super().__init__()
        self._services, self._inputs = services, inputs
        self.found = 0
        self.missing: list[Any] = []
        self.error: EntrezKitError | None = None

    def _yield_items(self) -> Iterator[Item]:
        total = len(self._inputs)
        for start in range(0, total, self.BATCH_SIZE):
            report_progress(start, total)
            for item in self._request_batch(start, self._inputs[start : start + self.BATCH_SIZE]):
                outcome = self._get_outcome(item)
                if outcome.status in self.GOOD:
                    self.found += 1
                else:
                    self.missing.append(outcome)
                yield item
        report_progress(total, total)
        if (
            self.error is not None
            and not self.found
            and all(one.status in ("error", "invalid") for one in self.missing)
        ):
            raise self.error

    @abstractmethod
    def _request_batch(self, start: int, inputs: Sequence[Given]) -> Iterable[Item]:
        """Request some of the inputs, which begin at this index, and yield or return the outcome of each."""

    def _get_outcome(self, item: Item) -> Any:
        """Return the object that has the ``status`` of an item."""
        return item


class SummarizedOutcomes(Outcomes[Item], Generic[Item, Res]):
    """Outcomes with a summary: ``result`` returns it after the iteration."""

    @abstractmethod
    def result(self) -> Res:
        """Return the summary of all outcomes."""


def drain(request: Request, outcomes: SummarizedOutcomes[Any, Res]) -> Res:
    """Iterate over all outcomes and return their summary."""
    for _ in outcomes:
        pass
    return outcomes.result()


def build_missing_error(
    missing: Sequence[Any],
    found: int,
    name: str,
    *,
    unanswered: str,
    invalid: tuple[type[EntrezKitError], str, Text, str] | None,
    unknown: tuple[str, Text],
    lost: bool = False,
) -> EntrezKitError | None:
    """Return the error for missing outcomes; None if nothing is missing.

    Args:
        missing: the outcomes without a good ``status``: error, partial, invalid, or any other status.
        found: the number of inputs with a good outcome.
        name: the field of an outcome that holds the input.
        unanswered: the message if a service did not answer for some inputs.
        invalid: error, message, hint and reason if all missing inputs are invalid identifiers; None to treat them as
            not found.
        unknown: message and hint of all other cases.
        lost: whether more is missing than ``missing`` lists.
    """
    if not missing and not lost:
        return None
    details: dict[str, Any] = {"partial": found > 0, "missing": [one.model_dump() for one in missing]}
    statuses = {outcome.status for outcome in missing}
    if lost or statuses & {"error", "partial"}:
        return UpstreamError(unanswered, recovery_hint=RESUME_HINT, details={**details, "reason": "incomplete"})
    otherwise = (EntityNotFound, *unknown, "not_found")
    kind, text, hint, reason = invalid if invalid is not None and statuses == {"invalid"} else otherwise
    first = next((one for one in missing if one.status == reason), missing[0])
    return kind(
        text, invalid_input=getattr(first, name), recovery_hint=hint or None, details={**details, "reason": reason}
    )

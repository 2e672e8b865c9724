"""One operation for each of several inputs: one outcome per input, in order; one that fails sinks no other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar

from pydantic import Field

from entrez_kit.base.errors import (
    EntityNotFound,
    EntrezKitError,
    InvalidInput,
    RateLimited,
    UnresolvedEntity,
    UpstreamError,
)
from entrez_kit.base.wording import listed
from entrez_kit.core.batches import not_tried
from entrez_kit.core.model import Request, Result, Warned, sparse
from entrez_kit.core.operation import InParts, Operation, shortfall_of
from entrez_kit.services import Services
from entrez_kit.services.transport.in_flight import in_order

Res = TypeVar("Res", bound=Result)
Status = Literal["found", "partial", "not_found", "invalid", "error"]
MOST_FAILURES: Final = 3
"""So many inputs in a row without an answer: the service is down, and what is not under way by then is not tried."""


class EachRequest(Request):
    """The inputs, and what is asked of all of them."""

    inputs: list[str] = Field(min_length=1, description="One input per call, in order.")
    arguments: dict[str, Any] = Field(default={}, description="The other arguments of the operation.")


class EachOutcome(Result):
    """What became of one input; of a ``partial`` one the result is there, and its message says what is missing."""

    input: str
    status: Status
    message: str | None = sparse()


Shortfall = Callable[[list[EachOutcome], int], EntrezKitError | None]
"""Turns the outcomes that lack something, and how many inputs were found, into the error that goes with them."""


def _shortfall_of(missing: list[EachOutcome], found: int) -> EntrezKitError | None:
    named = listed(one.input for one in missing)
    hint = "Check the identifiers that are named; the others were answered." if found else ""
    return shortfall_of(
        missing,
        found,
        "input",
        unanswered=f"Not everything was answered; missing: {named}.",
        invalid=None if found else (InvalidInput, f"These are no ids: {named}.", hint, "invalid_identifiers"),
        unknown=(f"Nothing was found for {named}.", hint),
    )


class EachResult(Warned):
    """The results in the order of the inputs; ``outcomes`` is present when anything is missing."""

    RECORDS: ClassVar = "results"

    results: list[Any]
    outcomes: list[EachOutcome] = sparse([])


@dataclass(frozen=True, slots=True)
class EachAnswer(Generic[Res]):
    """One input, and the result or the error it came to."""

    input: str
    result: Res | None = None
    error: EntrezKitError | None = None

    def outcome(self) -> EachOutcome:
        """Return what became of the input, without the result."""
        error = self.error or (self.result.shortfall() if self.result is not None else None)
        status: Status = "found"
        if error is not None:
            if self.result is not None:
                status = "partial"
            elif isinstance(error, InvalidInput | UnresolvedEntity):
                status = "invalid"
            else:
                status = "not_found" if isinstance(error, EntityNotFound) else "error"
        return EachOutcome(input=self.input, status=status, message=str(error.message) if error is not None else None)


class Each(InParts[str, EachAnswer[Res]]):
    """What becomes of each input, in order; several are asked for at a time, one that stands there twice once.

    ``answers`` has each of them, by its input.
    """

    PART = 1

    def __init__(
        self, services: Services, request: EachRequest, operation: Operation[Any, Res], field: str, shortfall: Shortfall
    ) -> None:
        super().__init__(services, request.inputs)
        self._arguments, self._operation, self._field = request.arguments, operation, field
        self._shortfall = shortfall
        self.answers: dict[str, EachAnswer[Res]] = {}
        self._failures = 0
        self._down: EntrezKitError | None = None

    def __iter__(self) -> Iterator[EachAnswer[Res]]:
        distinct = list(dict.fromkeys(self._inputs))
        at_once = self._services.eutils.at_once if len(distinct) > 1 else 1
        self._answers = in_order((partial(self._ask, one) for one in distinct), at_once)
        try:
            yield from super().__iter__()
        finally:
            del self._answers  # what is under way is given up where nobody goes on reading

    def _part(self, start: int, inputs: Sequence[str]) -> Iterator[EachAnswer[Res]]:
        for one in inputs:
            if one not in self.answers:
                self.answers[one] = next(self._answers)
            item = self.answers[one]
            status = item.outcome().status
            self.found += status == "partial"  # it is among the missing as well
            failed = item.error if status == "error" else None
            self._failures = self._failures + 1 if failed else 0
            self.error = self.error or failed
            if failed and self._failures == MOST_FAILURES and failed.reason != "offline":  # the cache may have the next
                self._down = not_tried(failed)
            yield item

    def _outcome(self, item: EachAnswer[Res]) -> EachOutcome:
        return item.outcome()

    def _ask(self, one: str) -> EachAnswer[Res]:
        if self._down is not None:
            return EachAnswer(one, error=self._down)
        try:
            request = self._operation.build({**self._arguments, self._field: one})
            return EachAnswer(one, result=self._operation.answer(self._services, request))
        except (InvalidInput, UnresolvedEntity, EntityNotFound, UpstreamError, RateLimited) as exc:
            return EachAnswer(one, error=exc)

    def shortfall(self) -> EntrezKitError | None:
        """Report inputs that came to nothing, or to a part."""
        return self._shortfall(self.missing, self.found)


def each(
    operation: Operation[Any, Any],
    field: str,
    result: type[Result] = EachResult,
    shortfall: Shortfall = _shortfall_of,
) -> Operation[EachRequest, Any]:
    """Return the operation that takes several of an argument that another takes one of.

    Args:
        operation: has a single answer.
        field: the argument.
        result: the document of all answers; its ``RECORDS`` are the results, and it has ``outcomes``.
        shortfall: the error where some are missing, in words of its own.
    """

    def outcomes(services: Services, request: EachRequest) -> Each[Any]:
        return Each(services, request, operation, field, shortfall)

    def collect(request: EachRequest, items: Each[Any]) -> Result:
        found = list(items)
        results = [item.result for item in found if item.result is not None]
        said = [item.outcome() for item in found] if items.missing else []
        return result(**{result.RECORDS: results, "outcomes": said})

    return replace(
        operation,
        function=None,
        outcomes=outcomes,
        collect=collect,
        request=EachRequest,
        result=result,
        argument_error=None,
    )

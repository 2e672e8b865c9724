"""Run one operation for each of several inputs: one outcome per input, in order; a failure does not affect others."""

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
from entrez_kit.base.frontend_text import join_names
from entrez_kit.core.batches import not_tried_error
from entrez_kit.core.model import Request, Result, Warned, omit_if_empty
from entrez_kit.core.operation import Operation, Several, StreamOperation
from entrez_kit.core.outcomes import BatchedOutcomes, build_missing_error
from entrez_kit.services import Services
from entrez_kit.services.transport.in_flight import run_in_order

Res = TypeVar("Res", bound=Result)
Status = Literal["found", "partial", "not_found", "invalid", "error"]
MAX_FAILURES: Final = 3
"""After this many consecutive inputs without an answer the service counts as down; no further input is requested."""


class PerInputRequest(Request):
    """The inputs, and the arguments that all calls share."""

    INPUTS: ClassVar = "inputs"

    inputs: list[str] = Field(min_length=1, description="One input per call, in order.")
    arguments: dict[str, Any] = Field(default={}, description="The other arguments of the operation.")


class PerInputOutcome(Result):
    """The outcome of one input; a ``partial`` one has a result, and its message names the missing items."""

    input: str
    status: Status
    message: str | None = omit_if_empty()


MissingErrorBuilder = Callable[[list[PerInputOutcome], int], EntrezKitError | None]
"""Takes the missing or partial outcomes and the number of inputs found; returns the error to report."""


def _build_missing_error(missing: list[PerInputOutcome], found: int) -> EntrezKitError | None:
    named = join_names(one.input for one in missing)
    hint = "Check these identifiers; the others were found." if found else ""
    return build_missing_error(
        missing,
        found,
        "input",
        unanswered=f"The result is incomplete. Missing: {named}.",
        invalid=None if found else (InvalidInput, f"Invalid identifiers: {named}.", hint, "invalid_identifiers"),
        unknown=(f"Nothing was found for {named}.", hint),
    )


class PerInputResult(Warned):
    """The results in the order of the inputs; ``outcomes`` is present if a result is missing or partial."""

    RECORDS: ClassVar = "results"

    results: list[Any]
    outcomes: list[PerInputOutcome] = omit_if_empty([])


@dataclass(frozen=True, slots=True)
class PerInputAnswer(Generic[Res]):
    """One input with its result or error."""

    input: str
    result: Res | None = None
    error: EntrezKitError | None = None

    def build_outcome(self) -> PerInputOutcome:
        """Return the outcome of the input, without the result."""
        error = self.error or (self.result.missing_error() if self.result is not None else None)
        status: Status = "found"
        if error is not None:
            if self.result is not None:
                status = "partial"
            elif isinstance(error, InvalidInput | UnresolvedEntity):
                status = "invalid"
            else:
                status = "not_found" if isinstance(error, EntityNotFound) else "error"
        return PerInputOutcome(
            input=self.input, status=status, message=str(error.message) if error is not None else None
        )


class PerInput(BatchedOutcomes[str, PerInputAnswer[Res]]):
    """The outcomes of the inputs in order; requests run concurrently, and a repeated input is requested once.

    ``answers`` maps each input to its answer.
    """

    BATCH_SIZE = 1

    def __init__(
        self,
        services: Services,
        request: PerInputRequest,
        operation: Operation[Any, Res],
        field: str,
        build_error: MissingErrorBuilder,
    ) -> None:
        super().__init__(services, request.inputs)
        self._arguments, self._operation, self._field = request.arguments, operation, field
        self._build_error = build_error
        self.answers: dict[str, PerInputAnswer[Res]] = {}
        self._failures = 0
        self._down: EntrezKitError | None = None

    def _yield_items(self) -> Iterator[PerInputAnswer[Res]]:
        distinct = list(dict.fromkeys(self._inputs))
        at_once = self._services.eutils.at_once if len(distinct) > 1 else 1
        self._arriving = run_in_order((partial(self._run_operation, value) for value in distinct), at_once)
        try:
            yield from super()._yield_items()
        finally:
            del self._arriving  # cancels running requests if the caller stops the iteration

    def _request_batch(self, start: int, inputs: Sequence[str]) -> Iterator[PerInputAnswer[Res]]:
        for value in inputs:
            if value not in self.answers:
                self.answers[value] = next(self._arriving)
            item = self.answers[value]
            status = item.build_outcome().status
            self.found += status == "partial"  # it is in ``missing`` too
            failed = item.error if status == "error" else None
            self._failures = self._failures + 1 if failed else 0
            self.error = self.error or failed
            if failed and self._failures == MAX_FAILURES and failed.reason != "offline":  # the cache may have the next
                self._down = not_tried_error(failed)
            yield item

    def _get_outcome(self, item: PerInputAnswer[Res]) -> PerInputOutcome:
        return item.build_outcome()

    def _run_operation(self, value: str) -> PerInputAnswer[Res]:
        if self._down is not None:
            return PerInputAnswer(value, error=self._down)
        try:
            request = self._operation.build({**self._arguments, self._field: value})
            return PerInputAnswer(value, result=self._operation.compute(self._services, request))
        except (InvalidInput, UnresolvedEntity, EntityNotFound, UpstreamError, RateLimited) as exc:
            return PerInputAnswer(value, error=exc)

    def missing_error(self) -> EntrezKitError | None:
        """Return the error for inputs without a result or with a partial one."""
        return self._build_error(self.missing, self.found)


def take_several(
    operation: Operation[Any, Any],
    field: str,
    result: type[Result] = PerInputResult,
    build_error: MissingErrorBuilder = _build_missing_error,
) -> StreamOperation[PerInputRequest, Any, PerInput[Any]]:
    """Return an operation that takes several values of an argument for which the given operation takes one.

    Args:
        operation: an operation with a single answer.
        field: the argument of the operation that takes one value.
        result: the result model; its ``RECORDS`` field holds the results, and it has ``outcomes``.
        build_error: builds the error for missing outcomes.
    """

    def outcomes(services: Services, request: PerInputRequest) -> PerInput[Any]:
        return PerInput(services, request, operation, field, build_error)

    def collect(request: PerInputRequest, items: PerInput[Any]) -> Result:
        found = list(items)
        results = [item.result for item in found if item.result is not None]
        outcomes_shown = [item.build_outcome() for item in found] if items.missing else []
        return result(**{result.RECORDS: results, "outcomes": outcomes_shown})

    return StreamOperation(
        name=operation.name,
        request=PerInputRequest,
        result=result,
        outcomes=outcomes,
        collect=collect,
        command=operation.command,
        toolset=operation.toolset,
        title=operation.title,
        errors=operation.errors,
        read_only=operation.read_only,
        error_document=operation.error_document,
        agents=replace(operation.agents, several=None),
    )


def take_list(operation: Operation[Any, Any], several: Several) -> Operation[PerInputRequest, Any]:
    """Return the operation over a list of values that agents may give instead of one."""
    listed = take_several(operation, several.field, several.result, several.build_error)
    agents = replace(
        listed.agents,
        caps={},  # the operation checks them for each input
        portions=(several.result.RECORDS,),
        inputs=(several.argument,),
    )
    return replace(listed, agents=agents)

"""Declare and run one use case: Outcomes, AgentOptions, Operation, execute."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import RESUME_HINT, Argument, FrontendText, PerFrontend, Text, cut_middle
from entrez_kit.core.model import WRONG_ARGUMENT, Collected, Request, Result, Warn, describe_problem

if TYPE_CHECKING:
    from entrez_kit.services import Services


Req = TypeVar("Req", bound=Request)
Res = TypeVar("Res", bound=Result)
ArgumentError = Callable[[ValidationError, type[Request]], EntrezKitError]
Item = TypeVar("Item")
Given = TypeVar("Given")


class Outcomes(ABC, Generic[Item]):
    """An iterable of the outcomes of many inputs, one per input, in order, in constant memory; iterate only once.

    No request is sent before the iteration. ``warnings`` and other attributes are complete after it. The iteration
    raises an error only if no service answered for any input.
    """

    take_record: Callable[[Any], None] | None = None
    """Takes each record in place of the result, which then has none. Only ``hands_over`` outcomes call it."""
    hands_over: ClassVar[bool] = False

    def __init__(self) -> None:
        self.warnings: list[Any] = []

    @abstractmethod
    def __iter__(self) -> Iterator[Item]:
        """Yield the outcomes."""

    def warning_texts(self) -> list[Text]:
        """Return the warnings so far for a front end to render."""
        return [one.text if isinstance(one, Warn) else str(one) for one in self.warnings]

    def shortfall(self) -> EntrezKitError | None:
        """Return ``missing_error()``, under its former name."""
        return self.missing_error()

    def missing_error(self) -> EntrezKitError | None:
        """Return the error to report if some requested records are missing, like ``Result.missing_error``."""
        return None


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

    def __iter__(self) -> Iterator[Item]:
        total = len(self._inputs)
        for start in range(0, total, self.BATCH_SIZE):
            tracing.step(start, total)
            for item in self._request_batch(start, self._inputs[start : start + self.BATCH_SIZE]):
                outcome = self._outcome(item)
                if outcome.status in self.GOOD:
                    self.found += 1
                else:
                    self.missing.append(outcome)
                yield item
        tracing.step(total, total)
        if (
            self.error is not None
            and not self.found
            and all(one.status in ("error", "invalid") for one in self.missing)
        ):
            raise self.error

    @abstractmethod
    def _request_batch(self, start: int, inputs: Sequence[Given]) -> Iterable[Item]:
        """Request some of the inputs, which begin at this index, and yield or return the outcome of each."""

    def _outcome(self, item: Item) -> Any:
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
    statuses = {one.status for one in missing}
    if lost or statuses & {"error", "partial"}:
        return UpstreamError(unanswered, recovery_hint=RESUME_HINT, details={**details, "reason": "incomplete"})
    otherwise = (EntityNotFound, *unknown, "not_found")
    kind, text, hint, reason = invalid if invalid is not None and statuses == {"invalid"} else otherwise
    first = next((one for one in missing if one.status == reason), missing[0])
    return kind(
        text, invalid_input=getattr(first, name), recovery_hint=hint or None, details={**details, "reason": reason}
    )


class SingleOutcome(Outcomes[Res]):
    """The outcome of an operation with a single answer: its result."""

    def __init__(self, result: Res) -> None:
        self.result = result
        self.warnings = getattr(result, "warnings", [])

    def __iter__(self) -> Iterator[Res]:
        yield self.result

    def missing_error(self) -> EntrezKitError | None:
        return self.result.missing_error()


@dataclass(frozen=True, slots=True)
class Paging:
    """The arguments of an operation that choose a page of results at a service.

    Args:
        skip: the argument with the number of results before the page.
        size: the argument with the maximum number of results of the page.
        only_with: the argument that pages depend on; without it the operation has none.
        total: returns the number of existing results from the document; None if ``size`` limits all pages together.
        sent: returns the number of results that the service was asked for from the document.
        fit: takes the arguments, the maximum characters of a reply, and whether only some fields are requested;
            returns the arguments with a page size that usually fits.
    """

    skip: str
    size: str
    only_with: str = ""
    total: Callable[[Mapping[str, Any]], int | None] | None = None
    sent: Callable[[Mapping[str, Any]], int | None] | None = None
    fit: Callable[[Mapping[str, Any], int, bool], dict[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Several:
    """How agents give several values of an argument in one call.

    Args:
        field: the argument with one value.
        argument: the argument with a list.
        most: the maximum length of the list.
        result: the result of a list, as for ``per_input``.
        missing_error: returns the error for missing outcomes, as for ``per_input``.
    """

    field: str
    argument: str
    most: int
    result: type[Result]
    missing_error: Callable[[list[Any], int], EntrezKitError | None]


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What differs in MCP calls of an operation; no other front end reads it.

    Args:
        caps: maximum values, which protect the context window; for a list field its maximum length.
        function: replaces the function of the operation if MCP calls have a limit that is not an argument; its
            docstring describes the tool to agents.
        defaults: default values of arguments, if agents should get less than other callers.
        several: the argument with which agents give a list of values; each has an outcome.
        inputs: arguments that list the inputs; a call has one of them.
        portions: fields of the result that agents get in portions because they can be large; the first one present
            counts.
        paging: the arguments that choose a page of results, if agents continue with them after a truncated reply.
        next_page: the field of the result with the start of the next page, with a dot if it is in an object; a reply
            that is truncated before the end of its page omits it.
        duplicate_fields: fields of records that duplicate another field, and that field; agents get the duplicate only
            if they request it or exclude the other field.
        fields_by_level: the fields of records by ``detail_level``, the level with the fewest first, without those of
            every level; agents that request a field get a level that has it.
        field_arguments: fields of records that an argument turns on; agents that request such a field turn it on.
        shortened_by: the argument that shortens the texts of a single record that is larger than a portion.
        as_markdown: whether agents get the document as Markdown too, because it is a text for people.
        closed_schema: whether the schema allows no additional properties at any depth.
    """

    caps: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    function: "Callable[[Services, Any], Result] | None" = None
    defaults: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    several: Several | None = None
    inputs: tuple[str, ...] = ()
    portions: tuple[str, ...] = ()
    paging: Paging | None = None
    next_page: str = ""
    duplicate_fields: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    fields_by_level: Mapping[str, Collection[str]] = field(default_factory=lambda: MappingProxyType({}))
    field_arguments: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    shortened_by: str | None = None
    as_markdown: bool = False
    closed_schema: bool = False


@dataclass(frozen=True)
class Operation(Generic[Req, Res]):
    """One use case: its function, its request and result models, and its names in the three front ends.

    An operation with a single answer has a ``function``. One over many inputs has ``outcomes`` and ``collect``
    instead, so that a front end can pass on each outcome as soon as it arrives. The annotations of these functions
    give the request and result models.

    There are five ways to run it:

    - ``run``: methods of ``EntrezKit``, the server (for a tool through ``execute``), and any caller that needs a whole
      result with its warnings call it.
    - ``run_without_warnings``: operations that add the warnings to their own result call it, and commands without
      inputs.
    - ``stream``: ``kit.stream`` calls it, and commands that write each outcome as it arrives.
    - ``start``: commands that write a whole document call it, and operations that read the outcomes in a loop.
    - ``finish``: these commands call it to make the result of the outcomes that ``start`` returned.

    Args:
        name: the MCP tool name.
        function: takes the services and the request; returns the result or raises an error.
        outcomes: takes the services and the request; returns the outcomes and sends no request before their iteration.
        collect: takes the request and these outcomes; iterates over them and returns the result.
        request: request model, if the annotation of ``request`` does not give it.
        result: result model, if the return annotation does not give it.
        method: name of the method of ``EntrezKit``, if it is not the name of the function.
        command: the command in the terminal.
        toolset: pubmed, gene, corpus, entrez, citations or review.
        title: a short title for people.
        errors: errors that it raises besides INVALID_INPUT and INTERNAL_ERROR; by default those of the E-utilities.
        aliases: other accepted tool names.
        read_only: whether it never changes the local store.
        argument_error: returns the error for invalid arguments from pydantic's error, if it is not INVALID_INPUT.
        error_document: returns the document of an error, if it is not the canonical envelope.
        agents: what differs for agents.
    """

    name: str
    command: tuple[str, ...]
    toolset: str
    title: str
    function: "Callable[[Services, Req], Res] | None" = None
    outcomes: "Callable[[Services, Req], Outcomes[Any]] | None" = None
    collect: Callable[[Req, Any], Res] | None = None
    request: type[Req] = None  # type: ignore[assignment]  # set from the function, like the next two
    result: type[Res] = None  # type: ignore[assignment]
    method: str = ""
    errors: tuple[type[EntrezKitError], ...] = (EntityNotFound, UpstreamError, RateLimited)
    aliases: tuple[str, ...] = ()
    read_only: bool = True
    argument_error: ArgumentError | None = None
    error_document: Callable[[EntrezKitError], dict[str, Any]] = EntrezKitError.envelope
    agents: AgentOptions = field(default_factory=AgentOptions)

    def __post_init__(self) -> None:
        work: Any = self.outcomes or self.function
        collected: Any = self.collect or self.function
        found = {
            "request": self.request or work.__annotations__["request"],
            "result": self.result or collected.__annotations__["return"],
            "method": self.method or work.__name__,
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @property
    def description(self) -> str:
        """The docstring of the function, or of the one for agents, without its technical sections."""
        text = (self.agents.function or self.outcomes or self.function).__doc__ or ""
        lines = [line.strip() for line in text.strip().splitlines()]
        for heading in ("Args:", "Returns:", "Raises:", "Source:"):
            if heading in lines:
                lines = lines[: lines.index(heading)]
        return "\n".join(lines).strip()

    def build(self, arguments: Mapping[str, Any] | Req) -> Req:
        """Validate arguments and return the request; a request is returned unchanged.

        Raises:
            InvalidInput: an argument is unknown, missing or out of range; ``details.errors`` lists all of them. An
                operation with ``argument_error`` raises the error that it returns.
        """
        if isinstance(arguments, Request):
            return arguments
        try:
            return self.request.model_validate(dict(arguments))
        except ValidationError as exc:
            raise (self.argument_error or invalid_arguments)(exc, self.request) from None

    def _name_trace(self) -> None:
        """Name the operation in the trace of the call; an operation inside another one does not change it."""
        if (opened := tracing.current_trace()) is not None:
            opened.operation = opened.operation or self.name

    def start(self, services: "Services", request: Req) -> Outcomes[Any]:
        """Return the outcomes of a request before any iteration; an operation with a single answer runs here."""
        self._name_trace()
        if self.outcomes is not None:
            return self.outcomes(services, request)
        assert self.function is not None, "an operation has a function, or outcomes and collect"
        return SingleOutcome(self.function(services, request))

    def run_without_warnings(self, services: "Services", request: Req) -> Res:
        """Return the result of a request, without the warnings of every answer, or raise an error."""
        return self._collect_outcomes(request, self.start(services, request))

    def finish(self, services: "Services", request: Req, outcomes: Outcomes[Any]) -> Res:
        """Iterate over the outcomes that ``start`` returned and return the result with all warnings."""
        return _add_warnings(self._collect_outcomes(request, outcomes), _list_warnings(services, request))

    def _collect_outcomes(self, request: Req, outcomes: Outcomes[Any]) -> Res:
        """Iterate over the outcomes that ``start`` returned and return the result."""
        if isinstance(outcomes, SingleOutcome):
            single: Res = outcomes.result
            return single
        assert self.collect is not None, "an operation with outcomes has a function that collects them"
        result = self.collect(request, outcomes)
        if isinstance(result, Collected):
            result._missing_error = outcomes.missing_error()
        return result

    def run(self, services: "Services", arguments: Mapping[str, Any] | Req, *, opens_span: bool = True) -> Res:
        """Validate the arguments and return the result with all warnings, or raise an error.

        Args:
            opens_span: whether to record the call as a span; False if the caller has opened one.
        """
        with tracing.trace(), self.record_span(services) if opens_span else nullcontext():
            self._name_trace()
            request = self.build(arguments)
            return self.finish(services, request, self.start(services, request))

    @contextmanager
    def record_span(self, services: "Services") -> Iterator[None]:
        """Record this block as one span of the operation, if spans are recorded."""
        if not tracing.records_spans():
            yield
            return
        from entrez_kit.services.transport.spans import operation_span

        with tracing.trace(), operation_span(self.name, services.settings):
            yield

    def stream(self, services: "Services", arguments: Mapping[str, Any] | Req) -> Outcomes[Any]:
        """Validate the arguments and return the outcomes; for an operation with a single answer this is its result.

        The first warnings are those that ``finish`` adds.

        Raises:
            EntrezKitError: the arguments are invalid, or an operation with a single answer failed.
        """
        self._name_trace()
        request = self.build(arguments)
        outcomes = self.start(services, request)
        if isinstance(outcomes, SingleOutcome):
            return SingleOutcome(_add_warnings(outcomes.result, _list_warnings(services, request)))
        first = [_warning(self.result, code, text) for code, text in _list_warnings(services, request).items()]
        outcomes.warnings = [*first, *outcomes.warnings]
        return outcomes


def _list_warnings(services: "Services", request: Request) -> dict[str, Text]:
    """Return the warnings of every answer to a request, by code: who answers if not NCBI, and changed arguments."""
    trace = tracing.current_trace()
    source = services.settings.answer_warning(trace.describe_fidelity() if trace is not None else "")
    return {**(dict([source]) if source else {}), **request.argument_warnings}


def _add_warnings(result: Res, messages: Mapping[str, Text]) -> Res:
    """Insert these warnings before those of a document, or into its remarks if it has no field for warnings."""
    if not messages:
        return result
    if "warnings" not in type(result).model_fields:
        result.add_cautions(text for code, text in messages.items() if code not in SOURCE_WARNING_CODES)
        return result
    first = [_warning(type(result), code, text) for code, text in messages.items()]
    return result.model_copy(update={"warnings": [*first, *result.warnings]})  # type: ignore[attr-defined]


def _warning(result: type[Result], code: str, message: Text) -> Any:
    """Return a warning in the type that the result uses: a string, or a model with code and message."""
    info = result.model_fields.get("warnings")
    (kind,) = get_args(info.annotation) if info is not None else (Warn,)
    return str(message) if kind is str else kind(code=code, message=message)


SOURCE_WARNING_CODES: Final = ("demo", "local")
"""Codes of the warnings that NCBI did not answer: the sandbox did, or a local copy."""
MAX_PROBLEMS: Final = 5
"""Maximum number of invalid arguments in a message; ``details.errors`` has more."""
MAX_DETAILED: Final = 50
"""Maximum number of invalid arguments in ``details.errors``."""
MAX_SHOWN_VALUE: Final = 40
"""Maximum length of an invalid value in a message."""
_VERB: Final = re.compile(r"(must|needs|takes|is|are|has|requires|cannot|contains|exceeds) ")
"""The beginning of a message that has the name of an argument as its subject."""


def invalid_arguments(exc: ValidationError, request: type[BaseModel]) -> InvalidInput:
    """Convert a pydantic error about arguments to an INVALID_INPUT error that names every field."""
    problems: list[dict[str, Any]] = []
    for error in exc.errors(include_url=False)[:MAX_DETAILED]:
        context = error.get("ctx", {})
        place = [*error["loc"], context["field"]] if error["type"] == WRONG_ARGUMENT else error["loc"]
        where = ".".join(str(part) for part in place)
        if error["type"] == "missing":  # for these pydantic gives the alias
            where = re.sub(r"(?<=[a-z0-9])[A-Z]", lambda match: f"_{match[0].lower()}", where)
        # For a missing argument the input is all the other arguments.
        given = "" if error["type"] == "missing" else context.get("given", error["input"])
        shown = cut_middle(given if isinstance(given, str) else repr(given), 200)
        problems.append({"field": where, "message": describe_problem(error, request), "input": shown})
    first = problems[0]
    shown_problems = [_name_field(problem["field"], problem["message"], problem["input"]) for problem in problems]
    message = FrontendText.join_parts("; ", shown_problems[:MAX_PROBLEMS])
    return InvalidInput(
        message if str(message).endswith((".", "?")) else FrontendText(message, "."),
        invalid_input=f"{first['field']}={first['input']}" if first["field"] else None,
        recovery_hint=FrontendText(
            "Correct the named argument and ",
            PerFrontend(
                "run the command again; --help lists the accepted values.",
                "call again; the schema lists the accepted values.",
                "call again; the fields of the request list the accepted values.",
            ),
        ),
        details={"reason": "invalid_arguments", "errors": problems},
    )


def _name_field(name: str, message: Text, value: str) -> Text:
    """Return a problem as a sentence about the field; a value out of bounds is added."""
    if not name:
        return message
    given = f" (got {value})" if str(message).startswith("must ") and 0 < len(value) <= MAX_SHOWN_VALUE else ""
    return FrontendText(Argument(name), " " if _VERB.match(str(message)) else ": ", message, given)


Got = TypeVar("Got", bound=Result | Outcomes[Any])


@dataclass(frozen=True)
class Execution(Generic[Got]):
    """A call's result, its error, or both if a part of the result is missing; for the two outermost layers."""

    trace: tracing.Trace
    result: Got | None = None
    error: EntrezKitError | None = None


def execute(operation: Operation[Req, Res], services: "Services", arguments: Mapping[str, Any]) -> Execution[Res]:
    """Run an operation and catch its errors."""
    return run_catching(lambda: operation.run(services, arguments, opens_span=False))


def run_catching(call: Callable[[], Got]) -> Execution[Got]:
    """Run a call and catch its errors; the only place that turns an exception into an error that a front end shows.

    An unexpected exception is logged in full and becomes INTERNAL_ERROR with the request id and no internals.
    """
    with tracing.trace(tracing.new_request_id()) as trace:
        try:
            result = call()
            return Execution(trace, result=result, error=result.missing_error())
        except EntrezKitError as exc:
            return Execution(trace, error=exc)
        except Exception as exc:
            return Execution(trace, error=internal_error(exc, trace.request_id))


def internal_error(exc: Exception, request_id: str) -> EntrezKitError:
    """Log a defect in full and return the error to show for it."""
    import logging

    logging.getLogger("entrez_kit").error("unexpected error in request %s", request_id, exc_info=exc)
    return EntrezKitError(
        f"Unexpected error ({type(exc).__name__}) in request {request_id}.",
        details={"reason": "defect", "request_id": request_id},
    )

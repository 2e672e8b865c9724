"""How one use case is declared and run: Outcomes, Operation, execute."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError, truncate
from entrez_kit.base.frontend_text import KEPT, Argument, FrontendText, PerFrontend
from entrez_kit.core.model import WRONG, Collected, Request, Result, Warn, problem_of

if TYPE_CHECKING:
    from entrez_kit.services import Services


Req = TypeVar("Req", bound=Request)
Res = TypeVar("Res", bound=Result)
ArgumentError = Callable[[ValidationError, type[Request]], EntrezKitError]
Item = TypeVar("Item")
Given = TypeVar("Given")


class Outcomes(ABC, Generic[Item]):
    """What becomes of many inputs, to be walked once: one outcome each, in order, in constant memory.

    Nothing is asked for before the walk. What is noted on the way, ``warnings`` first of all, is complete after it. The
    walk raises only where nothing can be said: nobody answered for any input.
    """

    take_record: Callable[[Any], None] | None = None
    """Takes each record in place of the result, which then has none. Only ``hands_over`` outcomes call it."""
    hands_over: ClassVar[bool] = False

    def __init__(self) -> None:
        self.warnings: list[Any] = []

    @abstractmethod
    def __iter__(self) -> Iterator[Item]:
        """Yield the outcomes."""

    def shortfall(self) -> EntrezKitError | None:
        """Return ``missing_error()``, under its former name."""
        return self.missing_error()

    def missing_error(self) -> EntrezKitError | None:
        """Return the error to report when some of what was asked is missing, as ``Result.missing_error`` does."""
        return None


class BatchedOutcomes(Outcomes[Item], Generic[Given, Item]):
    """What becomes of each of many inputs, asked for in parts, so that the first are passed on before the last are.

    ``found`` counts the good ones and ``missing`` has what became of the others. Where nobody answered for any input,
    ``error``, which a part notes, is raised.
    """

    PART: ClassVar[int]
    """So many inputs are asked for before the first of them is passed on."""
    GOOD: ClassVar[tuple[str, ...]] = ("found",)

    def __init__(self, services: "Services", inputs: Sequence[Given]) -> None:
        super().__init__()
        self._services, self._inputs = services, inputs
        self.found = 0
        self.missing: list[Any] = []
        self.error: EntrezKitError | None = None

    def __iter__(self) -> Iterator[Item]:
        total = len(self._inputs)
        for start in range(0, total, self.PART):
            tracing.step(start, total)
            for item in self._part(start, self._inputs[start : start + self.PART]):
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
    def _part(self, start: int, inputs: Sequence[Given]) -> Iterable[Item]:
        """Ask for some of the inputs, the first of which has this number, and say what becomes of each."""

    def _outcome(self, item: Item) -> Any:
        """Return what has the ``status`` of an item."""
        return item


class SummarizedOutcomes(Outcomes[Item], Generic[Item, Res]):
    """Outcomes that keep account of themselves: ``result`` tells the whole after the walk."""

    @abstractmethod
    def result(self) -> Res:
        """Return what all outcomes come to."""


def drain(request: Request, outcomes: SummarizedOutcomes[Any, Res]) -> Res:
    """Walk outcomes and return what they come to."""
    for _ in outcomes:
        pass
    return outcomes.result()


def build_missing_error(
    missing: Sequence[Any],
    found: int,
    name: str,
    *,
    unanswered: str,
    invalid: tuple[type[EntrezKitError], str, str, str] | None,
    unknown: tuple[str, str],
    lost: bool = False,
) -> EntrezKitError | None:
    """Return the error that goes with outcomes of which some came to nothing; None where none did.

    Args:
        missing: what has another ``status`` than the good one: error, partial, invalid, or any word for "is not there".
        found: how many inputs came to something.
        name: the field of an outcome that is the input.
        unanswered: what is said where a service gave no answer; then nobody can say what is there.
        invalid: error, message, hint and reason where nothing missing is an identifier; None where that is not told.
        unknown: message and hint of everything else.
        lost: whether more is missing than the outcomes tell.
    """
    if not missing and not lost:
        return None
    details: dict[str, Any] = {"partial": found > 0, "missing": [one.model_dump() for one in missing]}
    statuses = {one.status for one in missing}
    if lost or statuses & {"error", "partial"}:
        return UpstreamError(unanswered, recovery_hint=KEPT, details={**details, "reason": "incomplete"})
    otherwise = (EntityNotFound, *unknown, "not_found")
    kind, text, hint, reason = invalid if invalid is not None and statuses == {"invalid"} else otherwise
    first = next((one for one in missing if one.status == reason), missing[0])
    return kind(
        text, invalid_input=getattr(first, name), recovery_hint=hint or None, details={**details, "reason": reason}
    )


class SingleOutcome(Outcomes[Res]):
    """The single outcome of an operation that has one answer: its result."""

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
        skip: the argument that says how many results come before the page.
        size: the argument that says how many results the page has at most.
        only_with: the argument without which there are no pages.
        total: returns how many results exist, from the document; None where ``size`` bounds a walk over the pages.
        sent: returns how many results the service was asked for, from the document.
        fit: takes the arguments, the characters of a reply, and whether only some members are wanted; returns
            the arguments with a page that usually fits.
    """

    skip: str
    size: str
    only_with: str = ""
    total: Callable[[Mapping[str, Any]], int | None] | None = None
    sent: Callable[[Mapping[str, Any]], int | None] | None = None
    fit: Callable[[Mapping[str, Any], int, bool], dict[str, Any]] | None = None


@dataclass(frozen=True)
class Operation(Generic[Req, Res]):
    """One use case: what it does, a request and a result model, and its three doors.

    One with a single answer has a ``function``; one over many inputs has ``outcomes`` and ``collect`` instead, so that
    every door may take its outcomes as they come. Their signatures say what the request and the result are.

    Args:
        name: the MCP tool name.
        function: called with the services and the request; returns the result or raises.
        outcomes: called with the services and the request; returns what becomes of the inputs, nothing asked for yet.
        collect: called with the request and these outcomes; walks them and returns the result.
        request: request model, where it is another than the ``request`` of the function or the outcomes.
        result: result model, where the function or ``collect`` is not annotated with it.
        method: name on ``EntrezKit``, where it is another than that of the function or the outcomes.
        command: words that call it in the terminal.
        toolset: pubmed, gene, corpus, entrez or citations.
        title: a few words for people.
        errors: what it raises besides INVALID_INPUT and INTERNAL_ERROR; most raise what the E-utilities do.
        aliases: other tool names accepted on call.
        mcp_caps: upper bounds that hold only for MCP calls, where they protect a context window; a bound on a list
            field is a bound on its length.
        mcp_function: what runs for MCP calls in place of ``function``, where those have a bound that no argument shows;
            its docstring is what agents read.
        mcp_defaults: what agents get unless they ask for something else, where that is less than what others get.
        portions: members of its result that agents get in portions, as they may be large; the one that there is counts.
        paging: the arguments that choose a page of results, if agents go on with them after a reply that was cut.
        next_page: the member of its result that says where the next page begins, with a dot if it is inside another;
            a reply that is cut before the end of its page is without it.
        inputs: arguments that list the inputs; a call has one of them.
        once: members of records that say again what the one after them says; agents get them where they ask for them,
            or leave the other one out.
        prose: whether people read its document, so that agents get it as Markdown beside the data.
        cut_by: the argument that cuts the texts of a single record, where one is larger than a portion.
        read_only: whether it leaves the local store alone.
        argument_error: turns pydantic's complaint about arguments into the error this operation owes its callers,
            where that is not INVALID_INPUT.
        error_document: how its errors are written, where that is not the canonical envelope.
        closed: whether its schema for agents allows no other members than there are, however deep.
    """

    name: str
    command: tuple[str, ...]
    toolset: str
    title: str
    function: "Callable[[Services, Req], Res] | None" = None
    outcomes: "Callable[[Services, Req], Outcomes[Any]] | None" = None
    collect: Callable[[Req, Any], Res] | None = None
    request: type[Req] = None  # type: ignore[assignment]  # read off the functions, as the next two are
    result: type[Res] = None  # type: ignore[assignment]
    method: str = ""
    errors: tuple[type[EntrezKitError], ...] = (EntityNotFound, UpstreamError, RateLimited)
    aliases: tuple[str, ...] = ()
    mcp_caps: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    mcp_function: "Callable[[Services, Req], Res] | None" = None
    mcp_defaults: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    portions: tuple[str, ...] = ()
    paging: Paging | None = None
    next_page: str = ""
    inputs: tuple[str, ...] = ()
    once: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    prose: bool = False
    cut_by: str | None = None
    read_only: bool = True
    argument_error: ArgumentError | None = None
    error_document: Callable[[EntrezKitError], dict[str, Any]] = EntrezKitError.envelope
    closed: bool = False

    def __post_init__(self) -> None:
        asked: Any = self.outcomes or self.function
        collected: Any = self.collect or self.function
        found = {
            "request": self.request or asked.__annotations__["request"],
            "result": self.result or collected.__annotations__["return"],
            "method": self.method or asked.__name__,
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @property
    def description(self) -> str:
        """The docstring of what does the work, or of the function for agents, without its technical sections."""
        text = (self.mcp_function or self.outcomes or self.function).__doc__ or ""
        lines = [line.strip() for line in text.strip().splitlines()]
        for heading in ("Args:", "Returns:", "Raises:", "Source:"):
            if heading in lines:
                lines = lines[: lines.index(heading)]
        return "\n".join(lines).strip()

    def build(self, arguments: Mapping[str, Any] | Req) -> Req:
        """Validate arguments into the request model; a ready request stays as it is.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds; ``details.errors`` lists all of them. An
                operation with ``argument_error`` raises what that returns.
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
        """Return the outcomes of a request, not yet walked; of an operation with a single answer that answer."""
        self._name_trace()
        if self.outcomes is not None:
            return self.outcomes(services, request)
        assert self.function is not None, "an operation has a function, or outcomes and what collects them"
        return SingleOutcome(self.function(services, request))

    def collect_outcomes(self, request: Req, outcomes: Outcomes[Any]) -> Res:
        """Walk the outcomes that ``start`` returned and return the result."""
        if isinstance(outcomes, SingleOutcome):
            single: Res = outcomes.result
            return single
        assert self.collect is not None, "an operation with outcomes has a function that collects them"
        result = self.collect(request, outcomes)
        if isinstance(result, Collected):
            result._missing_error = outcomes.missing_error()
        return result

    def answer(self, services: "Services", request: Req) -> Res:
        """Return the result of a request, or raise."""
        return self.collect_outcomes(request, self.start(services, request))

    def document(self, services: "Services", request: Req, outcomes: Outcomes[Any]) -> Res:
        """Walk the outcomes that ``start`` returned and return the result with all its warnings."""
        demo = {DEMO: services.settings.demo_warning} if services.settings.demo_warning else {}
        return _add_warnings(self.collect_outcomes(request, outcomes), {**demo, **request.warnings_of_arguments})

    def run(self, services: "Services", arguments: Mapping[str, Any] | Req) -> Res:
        """Validate the arguments and return the result, or raise."""
        with self.spanned(services):
            return self.perform(services, arguments)

    @contextmanager
    def spanned(self, services: "Services") -> Iterator[None]:
        """Record this block as one span of the operation, if spans are recorded."""
        if not tracing.records_spans():
            yield
            return
        from entrez_kit.services.transport.spans import operation_span

        with tracing.trace(), operation_span(self.name, services.settings):
            yield

    def perform(self, services: "Services", arguments: Mapping[str, Any] | Req) -> Res:
        """Run the operation without a span of its own: the server has opened one for the call."""
        with tracing.trace():
            self._name_trace()
            request = self.build(arguments)
            return self.document(services, request, self.start(services, request))

    def stream(self, services: "Services", arguments: Mapping[str, Any] | Req) -> Outcomes[Any]:
        """Validate the arguments and return the outcomes; of an operation with a single answer its result is the one.

        Raises:
            EntrezKitError: the arguments are wrong; or the operation has a single answer, which is an error.
        """
        self._name_trace()
        request = self.build(arguments)
        outcomes = self.start(services, request)
        if isinstance(outcomes, SingleOutcome):
            return SingleOutcome(_add_warnings(outcomes.result, request.warnings_of_arguments))
        outcomes.warnings += [_warning(self.result, code, text) for code, text in request.warnings_of_arguments.items()]
        return outcomes


def _add_warnings(result: Res, messages: Mapping[str, str]) -> Res:
    """Put these warnings first among those of a document, or with its remarks if the document has none."""
    if not messages:
        return result
    if "warnings" not in type(result).model_fields:
        result.add_cautions(text for code, text in messages.items() if code != DEMO)
        return result
    first = [_warning(type(result), code, text) for code, text in messages.items()]
    return result.model_copy(update={"warnings": [*first, *result.warnings]})  # type: ignore[attr-defined]


def _warning(result: type[Result], code: str, message: str) -> Any:
    """Return a warning as a result has them: a string, or a model of code and message."""
    info = result.model_fields.get("warnings")
    (kind,) = get_args(info.annotation) if info is not None else (Warn,)
    return message if kind is str else kind(code=code, message=message)


DEMO: Final = "demo"
"""Code of the warning that an answer is the sandbox's."""
MAX_PROBLEMS: Final = 5
"""Wrong arguments named in a message; ``details.errors`` has more of them."""
MAX_DETAILED: Final = 50
"""Wrong arguments in ``details.errors``."""


def invalid_arguments(exc: ValidationError, request: type[BaseModel]) -> InvalidInput:
    """Turn a pydantic error about a caller's arguments into INVALID_INPUT that names every field."""
    problems = []
    for error in exc.errors(include_url=False)[:MAX_DETAILED]:
        context = error.get("ctx", {})
        place = [*error["loc"], context["field"]] if error["type"] == WRONG else error["loc"]
        where = ".".join(str(part) for part in place)
        if error["type"] == "missing":  # of these pydantic tells the alias
            where = re.sub(r"(?<=[a-z0-9])[A-Z]", lambda match: f"_{match[0].lower()}", where)
        # Of a missing argument pydantic shows all the others.
        given = "" if error["type"] == "missing" else context.get("given", error["input"])
        shown = truncate(given if isinstance(given, str) else repr(given), 200)
        problems.append({"field": where, "message": problem_of(error, request), "input": shown})
    first = problems[0]
    said = [FrontendText(Argument(p["field"]), ": ", p["message"]) if p["field"] else p["message"] for p in problems]
    return InvalidInput(
        FrontendText.joined("; ", said[:MAX_PROBLEMS]),
        invalid_input=f"{first['field']}={first['input']}" if first["field"] else None,
        recovery_hint=FrontendText(
            "Correct the named argument and ",
            PerFrontend(
                "run the command again; --help lists what is accepted.",
                "call again; the schema lists what is accepted.",
                "call again; the fields of the request say what is accepted.",
            ),
        ),
        details={"reason": "invalid_arguments", "errors": problems},
    )


Got = TypeVar("Got", bound=Result | Outcomes[Any])


@dataclass(frozen=True)
class Execution(Generic[Got]):
    """What a call came to, for the two outermost layers: a result, an error, or both when some of it is missing."""

    trace: tracing.Trace
    result: Got | None = None
    error: EntrezKitError | None = None


def execute(operation: Operation[Req, Res], services: "Services", arguments: Mapping[str, Any]) -> Execution[Res]:
    """Run an operation and catch what it raises."""
    return run_catching(lambda: operation.perform(services, arguments))


def run_catching(call: Callable[[], Got]) -> Execution[Got]:
    """Catch what a call raises; the only place where an error becomes what a door shows.

    Anything unforeseen is logged in full and becomes INTERNAL_ERROR with the request id and no internals.
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
    """Log a defect in full and return the error that may be shown for it."""
    import logging

    logging.getLogger("entrez_kit").error("unforeseen error in request %s", request_id, exc_info=exc)
    return EntrezKitError(
        f"Unforeseen error ({type(exc).__name__}) in request {request_id}.",
        details={"reason": "defect", "request_id": request_id},
    )

"""Declare and run one use case: Outcomes, AgentOptions, DocumentOperation, StreamOperation, execute."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, get_args

from pydantic import ValidationError
from typing_extensions import TypeVar  # typing has no defaults before Python 3.13

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntityNotFound, EntrezKitError, InvalidInput, RateLimited, UpstreamError
from entrez_kit.base.frontend_text import Text
from entrez_kit.core.model import (
    Collected,
    Reportable,
    Request,
    Result,
    Warn,
)

if TYPE_CHECKING:
    from entrez_kit.services import Services


Req = TypeVar("Req", bound=Request)
Res = TypeVar("Res", bound=Result)
Answer = TypeVar("Answer", default=Any)
ArgumentError = Callable[[ValidationError, type[Request]], EntrezKitError]
Item = TypeVar("Item")
Stream = TypeVar("Stream", bound="Outcomes[Any]")


class Outcomes(Reportable, ABC, Generic[Item]):
    """An iterable of the outcomes of many inputs, one per input, in order, in constant memory; iterate only once.

    No request is sent before the iteration. ``warnings`` and other attributes are complete after it. The iteration
    raises an error only if no service answered for any input.
    """

    def __init__(self) -> None:
        self.warnings: list[Any] = []
        self._is_started = False

    def __iter__(self) -> Iterator[Item]:
        """Iterate over the outcomes.

        Raises:
            InvalidInput: the outcomes were iterated over before; a second time would count them twice.
        """
        if self._is_started:
            raise InvalidInput(
                "A stream cannot be iterated over twice.",
                recovery_hint="Keep the outcomes in a list, or call the method again.",
                details={"reason": "stream_used"},
            )
        self._is_started = True
        return self._yield_items()

    @abstractmethod
    def _yield_items(self) -> Iterator[Item]:
        """Yield the outcomes."""


@dataclass(frozen=True, slots=True)
class Paging:
    """The arguments of an operation that choose a page of results at a service.

    Args:
        skip: the argument with the number of results before the page.
        size: the argument with the maximum number of results of the page.
        only_with: an argument; the operation has pages only if the caller gives it.
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
        result: the result of a list, as for ``take_several``.
        build_error: returns the error for missing outcomes, as for ``take_several``.
    """

    field: str
    argument: str
    most: int
    result: type[Result]
    build_error: Callable[[list[Any], int], EntrezKitError | None]


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What differs in MCP calls of an operation; no other front end reads it.

    Args:
        caps: maximum values, which protect the context window; for a list field its maximum length.
        limit: returns a reduced request with a warning, if a maximum applies to more than one argument.
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
    limit: Callable[[Any], Request] | None = None
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


@dataclass(frozen=True, kw_only=True)
class Operation(ABC, Generic[Req, Res, Answer]):
    """One use case: its request and result models, and its names in the three front ends.

    A ``DocumentOperation`` answers with the result, a ``StreamOperation`` with an iterable of outcomes. A caller that
    needs the whole result calls ``run``.

    Args:
        name: the MCP tool name.
        command: the command in the terminal.
        toolset: pubmed, gene, corpus, entrez, citations or review.
        title: a short title for people.
        request: the request model.
        result: the result model.
        kit_method: the method of ``EntrezKit``, if it is not the tool name without ``pubmed_``.
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
    request: type[Req]
    result: type[Res]
    kit_method: str = ""
    errors: tuple[type[EntrezKitError], ...] = (EntityNotFound, UpstreamError, RateLimited)
    aliases: tuple[str, ...] = ()
    read_only: bool = True
    argument_error: ArgumentError | None = None
    error_document: Callable[[EntrezKitError], dict[str, Any]] = EntrezKitError.envelope
    agents: AgentOptions = field(default_factory=AgentOptions)

    @property
    def method(self) -> str:
        """The name of the method of ``EntrezKit``."""
        return self.kit_method or self.name.removeprefix("pubmed_")

    @property
    @abstractmethod
    def implementation(self) -> "Callable[[Services, Req], Answer]":
        """The function of the operation; its docstring describes the operation."""

    @property
    def description(self) -> str:
        """The docstring of the function, or of the one for agents, without its technical sections."""
        text = (self.agents.function or self.implementation).__doc__ or ""
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
        return arguments if isinstance(arguments, Request) else self.validate(arguments, self.request)

    def validate(self, arguments: Mapping[str, Any], model: type[Req]) -> Req:
        """Validate arguments and return the request.

        Args:
            model: the request of the operation, or a subclass with options that only some callers have.

        Raises:
            InvalidInput: see ``build``.
        """
        try:
            return model.model_validate(dict(arguments))
        except ValidationError as exc:
            from entrez_kit.core.argument_errors import invalid_arguments  # most calls have valid arguments

            raise (self.argument_error or invalid_arguments)(exc, model) from None

    @abstractmethod
    def compute(self, services: "Services", request: Req) -> Res:
        """Return the result without the warnings of ``add_warnings``; operations use it to call another operation."""

    def add_warnings(self, services: "Services", request: Req, result: Res) -> Res:
        """Insert the warnings of every answer before those of a result: who answers if not NCBI, changed arguments.

        A result without a field for warnings lists them as notes.
        """
        source = find_source_warning(services, tracing.get_current_trace())
        messages = {**(dict([source]) if source else {}), **request.argument_warnings}
        if not messages:
            return result
        if "warnings" not in type(result).model_fields:
            result.add_warnings(text for code, text in messages.items() if code not in SOURCE_WARNING_CODES)
            return result
        first = [_build_warning(type(result), code, text) for code, text in messages.items()]
        return result.model_copy(update={"warnings": [*first, *result.warnings]})  # type: ignore[attr-defined]

    def run(self, services: "Services", arguments: Mapping[str, Any] | Req, *, opens_span: bool = True) -> Res:
        """Validate the arguments and return the result with all warnings, or raise an error.

        Args:
            opens_span: whether to record the call as a span; False if the caller has opened one.
        """
        with self.open_trace(services, opens_span=opens_span):
            request = self.build(arguments)
            return self.add_warnings(services, request, self.compute(services, request))

    @contextmanager
    def open_trace(self, services: "Services", *, opens_span: bool = True) -> Iterator[None]:
        """Name the operation in the trace of this block, and record one span for it if spans are recorded.

        An operation inside another one does not change the name.
        """
        with tracing.trace() as opened:
            opened.operation = opened.operation or self.name
            if not opens_span or not tracing.is_recording_spans():
                yield
                return
            from entrez_kit.services.transport.spans import operation_span

            with operation_span(self.name, services.settings):
                yield


@dataclass(frozen=True, kw_only=True)
class DocumentOperation(Operation[Req, Res, Res]):
    """An operation whose answer is one document.

    Args:
        function: takes the services and the request; returns the result or raises an error.
    """

    function: "Callable[[Services, Req], Res]"

    @property
    def implementation(self) -> "Callable[[Services, Req], Res]":
        return self.function

    def compute(self, services: "Services", request: Req) -> Res:
        return self.function(services, request)


@dataclass(frozen=True, kw_only=True)
class StreamOperation(Operation[Req, Res, Stream]):
    """An operation over many inputs: ``stream`` returns their outcomes, ``run`` the result that is collected from them.

    A front end can thus pass on each outcome as soon as it arrives.

    Args:
        outcomes: takes the services and the request; returns the outcomes and sends no request before their iteration.
        collect: takes the request and these outcomes; iterates over them and returns the result.
        collect_into: like ``collect``, but passes each record to a function; the result has no records.
    """

    outcomes: "Callable[[Services, Req], Stream]"
    collect: Callable[[Req, Stream], Res]
    collect_into: Callable[[Req, Stream, Callable[[Any], None]], Res] | None = None

    @property
    def implementation(self) -> "Callable[[Services, Req], Stream]":
        return self.outcomes

    def compute(self, services: "Services", request: Req) -> Res:
        return self.collect_result(request, self.outcomes(services, request))

    def collect_result(self, request: Req, outcomes: Stream, take_record: Callable[[Any], None] | None = None) -> Res:
        """Iterate over outcomes and return the result, with the error for missing ones.

        Args:
            take_record: takes each record in place of the result, if the operation has ``collect_into``.
        """
        if take_record is not None and self.collect_into is not None:
            result = self.collect_into(request, outcomes, take_record)
        else:
            result = self.collect(request, outcomes)
        if isinstance(result, Collected):
            result.set_missing_error(outcomes.missing_error())
        return result

    def stream(self, services: "Services", arguments: Mapping[str, Any] | Req) -> Stream:
        """Validate the arguments and return the outcomes; their first warnings are those of ``add_warnings``.

        Raises:
            EntrezKitError: the arguments are invalid.
        """
        request = self.build(arguments)
        outcomes = self.outcomes(services, request)
        source = services.settings.answer_warning()  # a stream is not answered yet
        messages = {**(dict([source]) if source else {}), **request.argument_warnings}
        first = [_build_warning(self.result, code, text) for code, text in messages.items()]
        outcomes.warnings = [*first, *outcomes.warnings]
        return outcomes


def find_source_warning(services: "Services", trace: tracing.Trace | None) -> tuple[str, str] | None:
    """Return code and text of the warning that the demo or a local copy answered a call; None if neither did."""
    if trace is None:
        return services.settings.answer_warning()
    if services.settings.demo_warning and not trace.exchanges and not trace.opens_demo_corpus:
        return None
    return services.settings.answer_warning(trace.describe_fidelity())


def _build_warning(result: type[Result], code: str, message: Text) -> Any:
    """Return a warning in the type that the result uses: a string, or a model with code and message."""
    info = result.model_fields.get("warnings")
    (kind,) = get_args(info.annotation) if info is not None else (Warn,)
    return str(message) if kind is str else kind(code=code, message=message)


SOURCE_WARNING_CODES: Final = ("demo", "local")
"""Codes of the warnings that NCBI did not answer: the sandbox did, or a local copy."""


Got = TypeVar("Got", bound=Result | Outcomes[Any])


@dataclass(frozen=True)
class Execution(Generic[Got]):
    """A call's result, its error, or both if a part of the result is missing; for the two outermost layers."""

    trace: tracing.Trace
    result: Got | None = None
    error: EntrezKitError | None = None


def execute(operation: Operation[Req, Res], services: "Services", arguments: Mapping[str, Any]) -> Execution[Res]:
    """Run an operation and catch its errors."""
    return catch_errors(lambda: operation.run(services, arguments, opens_span=False))


def catch_errors(call: Callable[[], Got]) -> Execution[Got]:
    """Run a call and catch its errors; the only place that turns an exception into an error that a front end shows.

    An unexpected exception is logged in full and becomes INTERNAL_ERROR with the request id and no internals.
    """
    with tracing.trace(tracing.create_request_id()) as trace:
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

"""How one use case is declared and run: Operation, execute."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, get_args

from pydantic import ValidationError

from entrez_kit import tracing
from entrez_kit.errors import EntrezKitError, InvalidInput
from entrez_kit.model import WRONG, Request, Result

if TYPE_CHECKING:
    from entrez_kit.services import Services


Req = TypeVar("Req", bound=Request)
Res = TypeVar("Res", bound=Result)


@dataclass(frozen=True)
class Operation(Generic[Req, Res]):
    """One use case: a function with a request and a result model, and its three doors.

    Args:
        name: the MCP tool name.
        function: called with the services and the request; returns the result or raises.
        request: request model.
        result: result model.
        method: name on ``EntrezKit``.
        command: words that call it in the terminal.
        toolset: pubmed, gene, corpus or entrez.
        title: a few words for people.
        errors: what it raises besides INVALID_INPUT and INTERNAL_ERROR.
        aliases: other tool names accepted on call.
        mcp_caps: upper bounds that hold only for MCP calls, where they protect a context window; a bound on a list
            field is a bound on its length.
        mcp_function: what runs for MCP calls in place of ``function``, where those have a bound that no argument shows;
            its docstring is what agents read.
        read_only: whether it leaves the local store alone.
        argument_error: turns pydantic's complaint about arguments into the error this operation owes its callers,
            where that is not INVALID_INPUT.
        error_document: how its errors are written, where that is not the canonical envelope.
        closed: whether its schema for agents allows no other members than there are, however deep.
    """

    name: str
    function: "Callable[[Services, Req], Res]"
    request: type[Req]
    result: type[Res]
    method: str
    command: tuple[str, ...]
    toolset: str
    title: str
    errors: tuple[type[EntrezKitError], ...] = ()
    aliases: tuple[str, ...] = ()
    mcp_caps: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    mcp_function: "Callable[[Services, Req], Res] | None" = None
    read_only: bool = True
    argument_error: Callable[[ValidationError], EntrezKitError] | None = None
    error_document: Callable[[EntrezKitError], dict[str, Any]] = EntrezKitError.envelope
    closed: bool = False

    @property
    def description(self) -> str:
        """The docstring of the function, or of the one for agents, without its technical sections."""
        text = (self.mcp_function or self.function).__doc__ or ""
        lines = [line.strip() for line in text.strip().splitlines()]
        for heading in ("Args:", "Returns:", "Raises:", "Source:"):
            if heading in lines:
                lines = lines[: lines.index(heading)]
        return "\n".join(lines).strip()

    def build(self, arguments: Mapping[str, Any]) -> Req:
        """Validate arguments into the request model.

        Raises:
            InvalidInput: an argument is unknown, missing or out of bounds; ``details.errors`` lists all of them. An
                operation with ``argument_error`` raises what that returns.
        """
        try:
            return self.request.model_validate(dict(arguments))
        except ValidationError as exc:
            raise (self.argument_error or invalid_arguments)(exc) from None

    def run(self, services: "Services", arguments: Mapping[str, Any]) -> Res:
        """Validate the arguments, run the function and return its result or raise."""
        with tracing.trace():
            return _warned(self.function(services, self.build(arguments)), services.settings.demo_warning)


def _warned(result: Res, message: str | None) -> Res:
    """Put what every reader must know first among the warnings, where a document has a place for them."""
    info = type(result).model_fields.get("warnings")
    if message is None or info is None:
        return result
    (kind,) = get_args(info.annotation)
    first = message if kind is str else kind(code=DEMO, message=message)
    return result.model_copy(update={"warnings": [first, *result.warnings]})  # type: ignore[attr-defined]


DEMO: Final = "demo"
"""Code of the warning that an answer is the sandbox's."""


def invalid_arguments(exc: ValidationError) -> InvalidInput:
    """Turn a pydantic error about a caller's arguments into INVALID_INPUT that names every field."""
    problems = []
    for error in exc.errors(include_url=False):
        context = error.get("ctx", {})
        place = [*error["loc"], context["field"]] if error["type"] == WRONG else error["loc"]
        where = ".".join(str(part) for part in place)
        if error["type"] == "missing":  # of these pydantic tells the alias
            where = re.sub(r"(?<=[a-z0-9])[A-Z]", lambda match: f"_{match[0].lower()}", where)
        message = error["msg"].removeprefix("Value error, ")
        # Of a missing argument pydantic shows all the others.
        given = "" if error["type"] == "missing" else _brief(context.get("given", error["input"]))
        problems.append({"field": where, "message": message, "input": given})
    first = problems[0]
    named = [p for p in problems if p["field"]]
    message = "; ".join(f"{p['field']}: {p['message']}" if p["field"] else p["message"] for p in problems[:5])
    return InvalidInput(
        message,
        invalid_input=f"{first['field']}={first['input']}" if named and first["field"] else None,
        recovery_hint="Correct the named argument and call again; the schema or --help lists what is accepted.",
        details={"reason": "invalid_arguments", "errors": problems},
    )


def _brief(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 200 else text[:199] + "…"


@dataclass(frozen=True)
class Outcome(Generic[Res]):
    """What a call came to, for the two outermost layers: a result, an error, or both when some of it is missing."""

    trace: tracing.Trace
    result: Res | None = None
    error: EntrezKitError | None = None


def execute(operation: Operation[Req, Res], services: "Services", arguments: Mapping[str, Any]) -> Outcome[Res]:
    """Run an operation and catch what it raises; the only place where an error becomes an outcome.

    Anything unforeseen is logged in full and becomes INTERNAL_ERROR with the request id and no internals.
    """
    with tracing.trace(tracing.new_request_id()) as trace:
        try:
            result = operation.run(services, arguments)
            return Outcome(trace, result=result, error=result.shortfall())
        except EntrezKitError as exc:
            return Outcome(trace, error=exc)
        except Exception as exc:
            return Outcome(trace, error=unforeseen(exc, trace.request_id))


def unforeseen(exc: Exception, request_id: str) -> EntrezKitError:
    """Log a defect in full and return the error that may be shown for it."""
    import logging

    logging.getLogger("entrez_kit").error("unforeseen error in request %s", request_id, exc_info=exc)
    return EntrezKitError(
        f"Unforeseen error ({type(exc).__name__}) in request {request_id}.",
        details={"reason": "defect", "request_id": request_id},
    )

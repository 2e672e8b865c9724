"""Tools: the catalogue as MCP sees it. Names, listings, and one call from arguments to result or envelope."""

import json
import logging
import re
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final, Literal

from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations
from opentelemetry import trace
from pydantic import ValidationError

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import Frontend, NextCall
from entrez_kit.base.redaction import Redactor
from entrez_kit.base.settings import named_in
from entrez_kit.core.model import NO_SUCH_ARGUMENT
from entrez_kit.core.operation import Execution, Operation, execute, invalid_arguments
from entrez_kit.python.kit_methods import operation_of
from entrez_kit.server.arguments import ArgumentNames, accepted, check_names, read_arguments
from entrez_kit.server.portions import Portion, take_portion
from entrez_kit.server.response_cache import CachedResponse, ResponseCache
from entrez_kit.server.tool_definitions import SCOPE_PREFIX, ToolDefinition, facts_of_catalogue
from entrez_kit.services import Services
from entrez_kit.services.transport.spans import record_outcome

AnyOperation = Operation[Any, Any]
Names = Literal["kit", "contract"]

TOOLSETS: Final = ("pubmed", "gene", "corpus", "entrez", "citations")
DEFAULT_TOOLSETS: Final = ("pubmed", "gene", "corpus")

SCOPES: Final = tuple(
    f"{SCOPE_PREFIX}{name}" for name in ("pubmed", "gene", "corpus.read", "corpus.write", "entrez", "citations")
)
"""What a token may allow; a toolset each, reading and changing the corpus apart."""

TITLES_SINCE: Final = "2025-06-18"
"""Protocol version that gave tools a title of their own; before, it stands among the annotations."""

MORE_SCOPES: Final = "Ask whoever runs the server for a token that allows more."
"""What is left of a hint whose next calls a token does not allow."""

logger = logging.getLogger("entrez_kit.server")


def read_toolsets(text: str | None) -> tuple[str, ...]:
    """Return the toolsets named in a comma-separated list; the default ones where there is none.

    Raises:
        InvalidInput: one of them does not exist.
    """
    return tuple(named_in(text, TOOLSETS, noun="toolset", argument="toolset")) or DEFAULT_TOOLSETS


class Tools(Frontend):
    """The words of the server.

    Args:
        names: the tool of each method of ``EntrezKit``, as it is listed; of the others the operation's own.
    """

    name = "tools"

    def __init__(self, names: Mapping[str, str] = MappingProxyType({})) -> None:
        self.names = names

    def call(self, call: NextCall) -> str:
        """Return a call of a tool."""
        name = self.names.get(call.method) or operation_of(call.method).name
        return super().call(call).replace(f"kit.{call.method}", name, 1)


class Toolbox:
    """Every operation as a tool. All of them answer to all their names, whatever is listed.

    Args:
        operations: what there is; None for the catalogue, of which each is imported when its tool is first called.
        toolsets: which tools are listed.
        names: whether they are listed under their own names or under those of the specifications.
    """

    def __init__(
        self,
        operations: Iterable[AnyOperation] | None,
        *,
        toolsets: Collection[str] = DEFAULT_TOOLSETS,
        names: Names = "kit",
    ) -> None:
        self._for_agents: dict[str, AnyOperation] = {}
        self._lock = threading.Lock()
        self._operations = {one.name: one for one in operations or ()}
        facts = (
            facts_of_catalogue()
            if operations is None
            else [ToolDefinition.of(one) for one in self._operations.values()]
        )
        self.listed = [one for one in facts if one.toolset in toolsets]
        self._by_name = {name: one for one in facts for name in (one.name, *one.aliases)}
        self._shown = {one.name: one.aliases[0] for one in facts if one.aliases} if names == "contract" else {}
        self.door = Tools({one.method: self.shown(one) for one in facts})
        self._own_name = re.compile(rf"\b(?:{'|'.join(map(re.escape, self._shown))})\b") if self._shown else None

    def find(self, name: str) -> ToolDefinition | None:
        """Return what is known of the tool that answers to a name."""
        return self._by_name.get(name)

    def shown(self, facts: ToolDefinition) -> str:
        """Return the name a tool is listed under."""
        return self._shown.get(facts.name, facts.name)

    def name_of(self, operation_name: str, scopes: Collection[str] | None = None) -> str | None:
        """Return the name an operation is listed under for a token, or None where it is not listed."""
        return next((self.shown(one) for one in self.listed_for(scopes) if one.name == operation_name), None)

    def listed_for(self, scopes: Collection[str] | None) -> list[ToolDefinition]:
        """Return the tools that are listed for a token with these scopes; None allows everything."""
        return [one for one in self.listed if one.open_to(scopes)]

    def inputs_of(self, name: str) -> dict[str, Any] | None:
        """Return the input schema of the tool that answers to a name."""
        facts = self.find(name)
        return facts.inputs if facts is not None else None

    def operation(self, facts: ToolDefinition) -> AnyOperation:
        """Return the operation of a tool, with the bounds that hold for MCP calls."""
        from entrez_kit.server.schemas import AgentOperation

        with self._lock:
            if facts.name not in self._for_agents:
                found = self._operations.get(facts.name) or operation_of(facts.method)
                self._for_agents[facts.name] = AgentOperation.of(found)
            return self._for_agents[facts.name]

    def listing(self, *, scopes: Collection[str] | None, protocol_version: str) -> list[Tool]:
        """Return the tools for ``tools/list``.

        Args:
            scopes: what the caller's token allows; tools it does not allow are left out. None allows everything.
            protocol_version: the version the answer is for.
        """
        titled = protocol_version >= TITLES_SINCE
        return [
            Tool(
                name=self.shown(one),
                title=one.title if titled else None,
                description=self.within(self.renamed(one.description), scopes),
                input_schema=one.inputs,
                output_schema=one.outputs,
                annotations=ToolAnnotations(
                    title=None if titled else one.title,
                    read_only_hint=one.read_only,
                    # That the world is open goes without saying, and who only reads can repeat everything.
                    destructive_hint=None if one.read_only else False,
                    idempotent_hint=None if one.read_only else True,
                ),
            )
            for one in self.listed_for(scopes)
        ]

    def renamed(self, text: str) -> str:
        """Return a text with the names of tools as they are listed."""
        if self._own_name is None:
            return text
        return self._own_name.sub(lambda match: self._shown[match[0]], text)

    def within(self, text: str, scopes: Collection[str] | None) -> str:
        """Return a text without the sentences that name a tool which a token with these scopes may not call."""
        beyond = {name for name, one in self._by_name.items() if not one.open_to(scopes)}
        if not beyond:
            return text
        named = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(beyond)))})\b")
        return " ".join(part for part in re.split(r"(?<=[.;:!?]) ", text) if not named.search(part)).rstrip(";: ")

    def call(
        self,
        services: Services,
        name: str,
        arguments: Mapping[str, Any],
        scopes: Collection[str] | None = None,
        answers: ResponseCache | None = None,
    ) -> CallToolResult:
        """Run a tool to its end and return its result, or the envelope of what went wrong. Never raises an error.

        Args:
            services: the clients.
            name: any name of the tool.
            arguments: as the caller sent them.
            scopes: what the caller's token allows; hints name nothing else. None allows everything.
            answers: keeps the answer, if it may be given again.
        """
        facts = self.find(name)
        started = time.monotonic()
        document: dict[str, Any] | None = None
        if facts is None:
            with tracing.trace(tracing.new_request_id()) as opened:
                outcome: Execution[Any] = Execution(opened, error=self._unknown(name, scopes))
        else:
            outcome, document = self._run(facts, services, arguments, scopes)
        seconds = time.monotonic() - started
        result = self._result(outcome, seconds, facts, document, demo=services.settings.demo_warning, scopes=scopes)
        with tracing.trace(outcome.trace.request_id):
            called = facts.name if facts is not None else name
            is_success = outcome.result is not None
            redactor = None if is_success else Redactor.of(services.settings)
            _report(called, outcome.trace, seconds, outcome.error, redactor, success=is_success)
        is_whole = outcome.result is not None and outcome.error is None
        if answers is not None and facts is not None and facts.may_be_kept and is_whole:
            answers.keep(facts.name, arguments, scopes, result, outcome.trace)
        return result

    def _run(
        self, facts: ToolDefinition, services: Services, given: Mapping[str, Any], scopes: Collection[str] | None
    ) -> tuple[Execution[Any], dict[str, Any] | None]:
        """Run an operation; return what it came to and the document, of a large one the portion that is wanted."""
        operation, portions = self.operation(facts), [Portion()]
        try:
            check_names(given)
            arguments = read_arguments(given, facts.inputs, exact_types=operation.closed)
            if operation.portions:
                arguments, portions = take_portion(arguments, operation)
        except (ValidationError, EntrezKitError) as exc:
            turn = operation.argument_error or invalid_arguments
            error = turn(exc, ArgumentNames) if isinstance(exc, ValidationError) else exc
            with tracing.trace(tracing.new_request_id()) as opened:
                return Execution(opened, error=error), None
        outcome = execute(operation, services, arguments)
        if outcome.result is None:
            return outcome, None
        document = outcome.result.model_dump(mode="json")
        portion = next((one for one in portions if one.member in document), portions[0])
        if operation.cut_by is not None and operation.cut_by not in arguments and portion.has_too_large(document):
            again = execute(operation, services, {**arguments, operation.cut_by: portion.limit * 3 // 4})
            if again.result is not None:  # the same replies from the cache, cut where a reader would
                document = again.result.model_dump(mode="json")
        if outcome.error is not None and not operation.closed:
            document["incomplete"] = _lacks(operation, self.say(outcome.error, scopes))
        try:
            return outcome, portion.cut(document)
        except InvalidInput as exc:
            return Execution(outcome.trace, error=exc), None

    def answer_again(self, facts: ToolDefinition, kept: CachedResponse) -> CallToolResult:
        """Return a kept answer to another call."""
        started = time.monotonic()
        exchanges = [replace(exchange, from_cache=True, attempts=0, seconds=0.0) for exchange in kept.trace.exchanges]
        with tracing.trace(tracing.new_request_id()) as opened:
            opened.exchanges.extend(exchanges)
            seconds = time.monotonic() - started
            _report(facts.name, opened, seconds, None, None, success=True)
        return kept.result.model_copy(update={"meta": {**(kept.result.meta or {}), **_meta(opened, seconds)}})

    def refusal(self, error: EntrezKitError, facts: ToolDefinition | None = None) -> CallToolResult:
        """Return the answer to a call that is not even tried."""
        with tracing.trace(tracing.new_request_id()) as opened:
            return self._result(Execution(opened, error=error), 0.0, facts)

    def _result(
        self,
        outcome: Execution[Any],
        seconds: float,
        facts: ToolDefinition | None = None,
        document: dict[str, Any] | None = None,
        *,
        demo: str | None = None,
        scopes: Collection[str] | None = None,
    ) -> CallToolResult:
        """Return an outcome as structured content and as text: the same data twice, for both kinds of host.

        The text is compact JSON, or Markdown where people read it. An incomplete result is a result; ``incomplete``
        says what it lacks. That, a cut and that the demo answers stand in ``_meta`` and in one more text where the
        document is closed.
        """
        meta = {**_meta(outcome.trace, seconds), **({"demo": demo} if demo else {})}
        envelope: dict[str, Any] = {}
        operation = self.operation(facts) if facts is not None else None
        if (error := outcome.error) is not None:
            self.say(error, scopes)
            problems = error.details.get("errors", ())
            if facts is not None and any(problem["message"].startswith(NO_SUCH_ARGUMENT) for problem in problems):
                error.recovery_hint += f" {self.shown(facts)} takes {', '.join(accepted(facts.inputs))}."
            envelope = error.envelope() if operation is None else operation.error_document(error)
            if outcome.result is not None and operation is not None:
                meta["incomplete"] = _lacks(operation, error)
        document = envelope if document is None else document
        remarks = [] if outcome.result is None else outcome.result.remarks()
        if demo and "warnings" not in document:
            remarks = [demo, *remarks]
        if operation is not None and operation.closed:
            if cut := document.pop("reply_cut", None):
                meta["reply_cut"] = cut
                remarks.append(cut["message"])
            if lacks := meta.get("incomplete"):  # not every host shows what is in ``_meta``
                remarks.append(f"{lacks['message']} {lacks['recovery_hint']}")
        compact = json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=str)
        clean = compact.encode("utf-8", "replace").decode("utf-8")  # half a character cannot be sent to anybody
        text = clean
        if operation is not None and operation.prose and outcome.result is not None:
            from entrez_kit.server.markdown import render_markdown

            text = render_markdown(json.loads(clean), operation.title, (*operation.portions, "")[0])
        return CallToolResult(
            content=[TextContent(type="text", text=part) for part in (text, "\n".join(remarks)) if part],
            structured_content=json.loads(clean),
            is_error=outcome.result is None,
            _meta=meta,
        )

    def say(self, error: EntrezKitError, scopes: Collection[str] | None) -> EntrezKitError:
        """Put an error into the words of tools, for a caller whose token allows these."""
        error.say_in(self.door)
        error.recovery_hint = self.within(error.recovery_hint, scopes) or MORE_SCOPES
        return error

    def _unknown(self, name: str, scopes: Collection[str] | None) -> InvalidInput:
        listed = [self.shown(one) for one in self.listed_for(scopes)]
        near = get_close_matches(name, listed, n=2, cutoff=0.5)
        return InvalidInput(
            f"There is no tool {name[:100]!r}.",
            invalid_input=name[:100],
            recovery_hint=f"Call {' or '.join(near)}." if near else "tools/list names them all.",
            details={"reason": "unknown_tool"},
        )


def _lacks(operation: AnyOperation, error: EntrezKitError) -> dict[str, Any]:
    """Return what an incomplete document lacks, and what to do about it."""
    code = operation.error_document(error)["error"]["code"]
    return {"code": code, "message": error.message, "recovery_hint": error.recovery_hint}


def _meta(trace: tracing.Trace, seconds: float) -> dict[str, Any]:
    """Return what differs from run to run."""
    return {
        "request_id": trace.request_id,
        "from_cache": trace.from_cache,
        "timings": {
            "total_ms": round(1000 * seconds, 1),
            "requests": [
                {
                    "endpoint": exchange.endpoint,
                    "ms": round(1000 * exchange.seconds, 1),
                    "from_cache": exchange.from_cache,
                    "attempts": exchange.attempts,
                    "bytes": exchange.size,
                }
                for exchange in trace.exchanges
            ],
        },
    }


def _report(
    name: str,
    done: tracing.Trace,
    seconds: float,
    error: EntrezKitError | None,
    redactor: Redactor | None,
    *,
    success: bool,
) -> None:
    """Write the line of the log and the attributes of the span that say what a call came to."""
    facts = {
        "tool": name[:100],
        "duration_ms": round(1000 * seconds, 1),
        "success": success,
        "requests": len(done.exchanges),
        "from_cache": done.from_cache,
    }
    lacks = {"entrez_kit.incomplete": True} if success and error is not None else {}
    attributes = {"entrez_kit.request_id": done.request_id, **lacks}
    record_outcome(trace.get_current_span(), None if success else error, redactor, seconds=seconds, **attributes)
    if not success and error is not None:
        level = logging.ERROR if type(error) is EntrezKitError else logging.INFO
        details = {"code": error.code, **({"reason": error.reason} if error.reason else {})}
        logger.log(level, "tool call failed: %s", error.message, extra={**facts, **details})
    else:
        logger.info("tool call answered", extra=facts)

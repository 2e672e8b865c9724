"""MCP tools of the catalogue: names, lists, and calls from arguments to result or error envelope."""

import json
import logging
import os
import re
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations
from opentelemetry.trace import get_current_span
from pydantic import ValidationError

from entrez_kit.base import tracing
from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.base.frontend_text import Frontend, NextCall, Text
from entrez_kit.base.name_lists import parse_names
from entrez_kit.base.redaction import Redactor
from entrez_kit.core.argument_errors import invalid_arguments
from entrez_kit.core.model import UNKNOWN_ARGUMENT
from entrez_kit.core.operation import Execution, Operation, execute, find_source_warning, internal_error
from entrez_kit.core.per_input import take_list
from entrez_kit.python.kit_methods import find_operation
from entrez_kit.server.arguments import ArgumentNames, check_names, list_arguments, read_arguments
from entrez_kit.server.portions import Portion
from entrez_kit.server.response_cache import CachedResponse, ResponseCache
from entrez_kit.server.tool_definitions import ToolDefinition, build_definitions
from entrez_kit.server.toolsets import DEFAULT_TOOLSETS, TOOLSETS
from entrez_kit.services import Services
from entrez_kit.services.transport.spans import record_outcome

AnyOperation = Operation[Any, Any]
Names = Literal["kit", "contract"]

TITLES_SINCE: Final = "2025-06-18"
"""The protocol version that added titles of tools; before it, the title is in the annotations."""

MORE_SCOPES: Final = "Ask the administrator of the server for a token with more scopes."
"""The hint if the token does not allow the next calls of the original hint."""

logger = logging.getLogger("entrez_kit.server")


def read_toolsets(text: str | None) -> tuple[str, ...]:
    """Parse a comma-separated list of toolsets; without a list, return the defaults.

    Raises:
        InvalidInput: a toolset does not exist.
    """
    return tuple(parse_names(text, TOOLSETS, noun="toolset", argument="toolset")) or DEFAULT_TOOLSETS


class McpFrontend(Frontend):
    """The texts of the MCP front end.

    Args:
        names: the listed tool name of each method of ``EntrezKit``; others have the operation's name.
        hidden_folders: the folders whose paths are not shown: a file has its path within the folder.
    """

    name = "tools"

    def __init__(
        self, names: Mapping[str, str] = MappingProxyType({}), hidden_folders: Collection[Path] = frozenset()
    ) -> None:
        self.names = names
        self._hidden_folders = sorted(hidden_folders, key=lambda folder: len(folder.parts), reverse=True)

    def say(self, text: Text) -> str:
        """Return a text rendered for MCP, without the paths of hidden folders."""
        said = super().say(text)
        for folder in self._hidden_folders:
            said = said.replace(f"{folder}{os.sep}", "").replace(str(folder), folder.name)
        return said

    def call(self, call: NextCall) -> str:
        """Return a call of a tool."""
        name = self.names.get(call.method) or find_operation(call.method).name
        return super().call(call).replace(f"kit.{call.method}", name, 1)


class Toolbox:
    """Every operation as a tool. A tool accepts all its names, whether it is listed or not.

    Args:
        operations: the operations; None for the catalogue, whose operations are imported on the first call.
        toolsets: the toolsets to list.
        names: whether to list tools under their own names or under those of the specifications.
        hidden_folders: the folders whose paths no error shows.
    """

    def __init__(
        self,
        operations: Iterable[AnyOperation] | None,
        *,
        toolsets: Collection[str] = DEFAULT_TOOLSETS,
        names: Names = "kit",
        hidden_folders: Collection[Path] = frozenset(),
    ) -> None:
        self._for_agents: dict[str, AnyOperation] = {}
        self._lock = threading.Lock()
        self._operations = {operation.name: operation for operation in operations or ()}
        definitions = (
            build_definitions()
            if operations is None
            else [ToolDefinition.of(operation) for operation in self._operations.values()]
        )
        self.listed = [definition for definition in definitions if definition.toolset in toolsets]
        self._by_name = {
            name: definition for definition in definitions for name in (definition.name, *definition.aliases)
        }
        self._contract_names = (
            {definition.name: definition.aliases[0] for definition in definitions if definition.aliases}
            if names == "contract"
            else {}
        )
        listed_names = {definition.method: self.get_listed_name(definition) for definition in definitions}
        self.frontend = McpFrontend(listed_names, hidden_folders)
        self._own_name = (
            re.compile(rf"\b(?:{'|'.join(map(re.escape, self._contract_names))})\b") if self._contract_names else None
        )

    def find(self, name: str) -> ToolDefinition | None:
        """Return the definition of the tool with a name or alias."""
        return self._by_name.get(name)

    def get_listed_name(self, definition: ToolDefinition) -> str:
        """Return the listed name of a tool."""
        return self._contract_names.get(definition.name, definition.name)

    def find_listed_name(self, operation_name: str, scopes: Collection[str] | None = None) -> str | None:
        """Return the listed name of an operation for a token; None if it is not listed."""
        return next(
            (self.get_listed_name(tool) for tool in self.select_tools(scopes) if tool.name == operation_name), None
        )

    def select_tools(self, scopes: Collection[str] | None) -> list[ToolDefinition]:
        """Return the tools listed for a token with these scopes; None allows everything."""
        return [tool for tool in self.listed if tool.is_allowed(scopes)]

    def get_input_schema(self, name: str) -> dict[str, Any] | None:
        """Return the input schema of the tool with a name or alias."""
        definition = self.find(name)
        return definition.inputs if definition is not None else None

    def get_operation(self, definition: ToolDefinition) -> AnyOperation:
        """Return the operation of a tool, with the bounds for MCP calls."""
        from entrez_kit.server.schemas import AgentOperation

        with self._lock:
            if definition.name not in self._for_agents:
                operation = self._operations.get(definition.name) or find_operation(definition.method)
                self._for_agents[definition.name] = AgentOperation.of(operation)
            return self._for_agents[definition.name]

    def list_tools(self, *, scopes: Collection[str] | None, protocol_version: str) -> list[Tool]:
        """Return the tools for ``tools/list``.

        Args:
            scopes: the scopes of the caller's token; other tools are omitted. None allows everything.
            protocol_version: the protocol version of the reply.
        """
        titled = protocol_version >= TITLES_SINCE
        return [
            Tool(
                name=self.get_listed_name(tool),
                title=tool.title if titled else None,
                description=self.remove_other_tools(self.replace_names(tool.description), scopes),
                input_schema=tool.inputs,
                output_schema=tool.outputs,
                annotations=ToolAnnotations(
                    title=None if titled else tool.title,
                    read_only_hint=tool.read_only,
                    # openWorldHint is the default, and a read-only tool is always idempotent.
                    destructive_hint=None if tool.read_only else False,
                    idempotent_hint=None if tool.read_only else True,
                ),
            )
            for tool in self.select_tools(scopes)
        ]

    def replace_names(self, text: str) -> str:
        """Return a text with the listed names of tools."""
        if self._own_name is None:
            return text
        return self._own_name.sub(lambda match: self._contract_names[match[0]], text)

    def remove_other_tools(self, text: str, scopes: Collection[str] | None) -> str:
        """Remove the sentences that name a tool which a token with these scopes may not call."""
        beyond = {name for name, tool in self._by_name.items() if not tool.is_allowed(scopes)}
        if not beyond:
            return text
        pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(beyond)))})\b")
        return " ".join(part for part in re.split(r"(?<=[.;:!?]) ", text) if not pattern.search(part)).rstrip(";: ")

    def call(
        self,
        services: Services,
        name: str,
        arguments: Mapping[str, Any],
        scopes: Collection[str] | None = None,
        responses: ResponseCache | None = None,
    ) -> CallToolResult:
        """Run a tool and return its result or the error envelope; never raises an error.

        Args:
            name: any name of the tool.
            scopes: the scopes of the caller's token; hints name only allowed tools. None allows everything.
            responses: the response cache, which stores the result if allowed.
        """
        definition = self.find(name)
        started = time.monotonic()
        try:
            if definition is None:
                run = _refuse(self._unknown_error(name, scopes))
            else:
                run = self._run_tool(definition, services, arguments, scopes)
            seconds = time.monotonic() - started
            source = find_source_warning(services, run.outcome.trace)
            result = self._build_result(run, seconds, definition, source=source, scopes=scopes)
        except Exception as exc:
            run, seconds = _refuse_defect(exc), time.monotonic() - started
            result = self._build_result(run, seconds, definition, scopes=scopes)
        outcome = run.outcome
        with tracing.trace(outcome.trace.request_id):
            called = definition.name if definition is not None else name
            is_success = outcome.result is not None
            redactor = None if is_success else Redactor(services.settings.secrets)
            _report(called, outcome.trace, seconds, outcome.error, redactor, success=is_success)
        is_whole = outcome.result is not None and outcome.error is None
        if responses is not None and definition is not None and definition.is_cacheable and is_whole:
            responses.store(definition.name, arguments, scopes, result, outcome.trace)
        return result

    def _run_tool(
        self,
        definition: ToolDefinition,
        services: Services,
        raw_arguments: Mapping[str, Any],
        scopes: Collection[str] | None,
    ) -> "_ToolRun":
        """Run the operation of a tool, and cut its document to a portion."""
        from entrez_kit.server.trimming import trim_reply

        operation = self.get_operation(definition)
        try:
            operation, arguments, portions = _read_call(operation, definition, raw_arguments)
        except ValidationError as exc:
            return _refuse((operation.argument_error or invalid_arguments)(exc, ArgumentNames))
        except EntrezKitError as exc:
            return _refuse(exc)
        outcome = execute(operation, services, arguments)
        if outcome.result is None:
            return _ToolRun(outcome)
        document = outcome.result.model_dump(mode="json")
        portion = next((portion for portion in portions if portion.member in document), portions[0])
        shortened_by = operation.agents.shortened_by
        if shortened_by is not None and shortened_by not in arguments and portion.has_too_large(document):
            shortened = execute(operation, services, {**arguments, shortened_by: portion.limit * 3 // 4})
            if shortened.result is not None:  # the same replies from the cache, with a cut
                document = shortened.result.model_dump(mode="json")
        details: dict[str, Any] = {}
        if not operation.agents.closed_schema:
            if outcome.error is not None:
                document["incomplete"] = _describe_missing(operation, self.say(outcome.error, scopes))
            document, details = trim_reply(document, operation.result.RECORDS, arguments)
        try:
            return _ToolRun(outcome, replace(portion, details=details).cut(document), details)
        except InvalidInput as exc:
            return _ToolRun(Execution(outcome.trace, error=exc))

    def answer_again(self, definition: ToolDefinition, cached: CachedResponse) -> CallToolResult:
        """Return a cached response for another call."""
        started = time.monotonic()
        exchanges = [replace(exchange, from_cache=True, attempts=0, seconds=0.0) for exchange in cached.trace.exchanges]
        with tracing.trace(tracing.create_request_id()) as opened:
            opened.exchanges.extend(exchanges)
            seconds = time.monotonic() - started
            _report(definition.name, opened, seconds, None, None, success=True)
        result = cached.result
        return result.model_copy(update={"meta": {**(result.meta or {}), **_build_meta(opened, seconds)}})

    def build_refusal(self, error: EntrezKitError, definition: ToolDefinition | None = None) -> CallToolResult:
        """Return the response to a call that is refused before it runs."""
        return self._build_result(_refuse(error), 0.0, definition)

    def _build_result(
        self,
        run: "_ToolRun",
        seconds: float,
        definition: ToolDefinition | None = None,
        *,
        source: tuple[str, str] | None = None,
        scopes: Collection[str] | None = None,
    ) -> CallToolResult:
        """Return the outcome of a run as structured content and as text, for both kinds of host.

        The text is compact JSON, or Markdown on request. An incomplete result is not an error; ``incomplete`` describes
        the missing parts. For closed documents this, a cut, and the demo or the local copy are in ``_meta`` and in a
        second text. Details of the request are in ``_meta`` alone.
        """
        from entrez_kit.server.trimming import DEMO_FLAG, shorten_demo_warning

        outcome = run.outcome
        operation = self.get_operation(definition) if definition is not None else None
        meta = {**_build_meta(outcome.trace, seconds), **dict([source] if source else [])}
        meta |= {"request": run.details} if run.details else {}
        envelope: dict[str, Any] = {}
        if outcome.error is not None:
            envelope = self._build_envelope(outcome.error, definition, operation, scopes)
            if outcome.result is not None and operation is not None:
                meta["incomplete"] = _describe_missing(operation, outcome.error)
        document = envelope if run.document is None else run.document
        notes = [] if outcome.result is None else outcome.result.list_notes()
        is_demo = source is not None and source[0] == "demo"
        if source and is_demo:
            shorten_demo_warning(document, source[1])
        if source and "warnings" not in document:
            notes = [DEMO_FLAG if is_demo else source[1], *notes]
        if operation is not None and operation.agents.closed_schema:
            notes += _take_out_additions(document, meta)
        compact = json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=str)
        clean = compact.encode("utf-8", "replace").decode("utf-8")  # an unpaired surrogate cannot be encoded
        text = clean
        if operation is not None and operation.agents.as_markdown and outcome.result is not None:
            from entrez_kit.server.markdown import render_markdown

            member = outcome.result.RECORDS if operation.agents.portions or operation.agents.several else ""
            text = render_markdown(json.loads(clean), operation.title, member)
        return CallToolResult(
            content=[TextContent(type="text", text=part) for part in (text, "\n".join(notes)) if part],
            structured_content=json.loads(clean),
            is_error=outcome.result is None,
            _meta=meta,
        )

    def _build_envelope(
        self,
        error: EntrezKitError,
        definition: ToolDefinition | None,
        operation: AnyOperation | None,
        scopes: Collection[str] | None,
    ) -> dict[str, Any]:
        """Return the envelope of an error; after an argument that does not exist, the hint lists those of the tool."""
        self.say(error, scopes)
        problems = error.details.get("errors", ())
        if definition is not None and any(problem.get("reason") == UNKNOWN_ARGUMENT for problem in problems):
            names = ", ".join(list_arguments(definition.inputs))
            error.hint_text = f"{error.recovery_hint} {self.get_listed_name(definition)} takes {names}."
        return error.envelope() if operation is None else operation.error_document(error)

    def say(self, error: EntrezKitError, scopes: Collection[str] | None) -> EntrezKitError:
        """Return an error with the texts of MCP, for a caller with these scopes."""
        error.say_in(self.frontend)
        error.hint_text = self.remove_other_tools(error.recovery_hint, scopes) or MORE_SCOPES
        return error

    def _unknown_error(self, name: str, scopes: Collection[str] | None) -> InvalidInput:
        listed = [self.get_listed_name(tool) for tool in self.select_tools(scopes)]
        near = get_close_matches(name, listed, n=2, cutoff=0.5)
        return InvalidInput(
            f"The tool {name[:100]!r} does not exist.",
            invalid_input=name[:100],
            recovery_hint=f"Call {' or '.join(near)}." if near else "tools/list names them all.",
            details={"reason": "unknown_tool"},
        )


@dataclass(frozen=True, slots=True)
class _ToolRun:
    """The outcome of a call, its document or a portion of it, and details of the request for ``_meta``."""

    outcome: Execution[Any]
    document: dict[str, Any] | None = None
    details: dict[str, Any] = field(default_factory=dict)


def _refuse(error: EntrezKitError) -> _ToolRun:
    """Return the run of a call that ends before its operation begins."""
    with tracing.trace(tracing.create_request_id()) as opened:
        return _ToolRun(Execution(opened, error=error))


def _refuse_defect(exc: Exception) -> _ToolRun:
    """Return the run of a call that a defect outside of its operation ends, for example in the cut of its document."""
    with tracing.trace(tracing.create_request_id()) as opened:
        return _ToolRun(Execution(opened, error=internal_error(exc, opened.request_id)))


def _read_call(
    operation: AnyOperation, definition: ToolDefinition, raw_arguments: Mapping[str, Any]
) -> tuple[AnyOperation, dict[str, Any], "list[Portion]"]:
    """Return the operation to run, its arguments, and the portions of its document that may be requested.

    Raises:
        ValidationError, EntrezKitError: an argument is wrong.
    """
    from entrez_kit.server.portion_arguments import read_several, take_portion

    check_names(raw_arguments)
    arguments = read_arguments(raw_arguments, definition.inputs, exact_types=operation.agents.closed_schema)
    several = operation.agents.several
    if several is not None and (values := read_several(arguments, operation, several)):
        argument = several.argument
        operation = take_list(operation, several)
        arguments, portions = take_portion({**arguments, argument: values}, operation, resume=argument)
        return operation, {"inputs": arguments.pop(argument), "arguments": arguments}, portions
    if operation.agents.portions:
        return operation, *take_portion(arguments, operation)
    return operation, arguments, [Portion()]


def _take_out_additions(document: dict[str, Any], meta: dict[str, Any]) -> list[str]:
    """Move what the schema of a closed document does not have to ``_meta``; return it as notes too.

    Some hosts do not show ``_meta``.
    """
    notes = []
    if cut := document.pop("reply_cut", None):
        meta["reply_cut"] = cut
        notes.append(cut["message"])
    if lacks := meta.get("incomplete"):
        notes.append(f"{lacks['message']} {lacks['recovery_hint']}")
    return notes


def _describe_missing(operation: AnyOperation, error: EntrezKitError) -> dict[str, Any]:
    """Describe the missing parts of an incomplete document, with a hint."""
    code = operation.error_document(error)["error"]["code"]
    return {"code": code, "message": error.message, "recovery_hint": error.recovery_hint}


def _build_meta(trace: tracing.Trace, seconds: float) -> dict[str, Any]:
    """Return the metadata of one run."""
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
    """Log the outcome of a call, and set the attributes of its span."""
    log_fields = {
        "tool": name[:100],
        "duration_ms": round(1000 * seconds, 1),
        "success": success,
        "requests": len(done.exchanges),
        "from_cache": done.from_cache,
    }
    lacks = {"entrez_kit.incomplete": True} if success and error is not None else {}
    attributes = {"entrez_kit.request_id": done.request_id, **lacks}
    record_outcome(get_current_span(), None if success else error, redactor, seconds=seconds, **attributes)
    if not success and error is not None:
        level = logging.ERROR if type(error) is EntrezKitError else logging.INFO
        details = {"code": error.code, **({"reason": error.reason} if error.reason else {})}
        logger.log(level, "tool call failed: %s", error.message, extra={**log_fields, **details})
    else:
        logger.info("tool call answered", extra=log_fields)

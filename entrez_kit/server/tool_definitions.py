"""Read the list of tools from `tools.json`, which `.ci/generate.py` writes from the catalogue.

The server lists its tools without importing an operation. A call imports the operations.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from entrez_kit.base.errors import NotConfigured
from entrez_kit.core.operation import Operation
from entrez_kit.server.toolsets import SCOPE_PREFIX

DESCRIPTION: Final = "PubMed, NCBI Gene and every other Entrez database for agents, over the E-utilities."
FILE_NAME: Final = "tools.json"


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """The definition of a tool; ``inputs`` and ``outputs`` are JSON Schemas."""

    name: str
    aliases: tuple[str, ...]
    method: str
    toolset: str
    title: str
    description: str
    read_only: bool
    inputs: dict[str, Any]
    outputs: dict[str, Any]

    @classmethod
    def of(cls, operation: Operation[Any, Any]) -> "ToolDefinition":
        """Build the definition of an operation, with the bounds for MCP calls."""
        from entrez_kit.server.portion_arguments import add_portions
        from entrez_kit.server.schemas import (
            AgentOperation,
            allow_several,
            build_closed_output_schema,
            build_output_schema,
        )

        inner, agents = AgentOperation.of(operation), operation.agents
        inputs = allow_several(inner.build_input_schema(), operation)
        result = operation.result
        several = agents.several.result if agents.several is not None else None
        outputs = (
            build_closed_output_schema(result)
            if agents.closed_schema
            else build_output_schema(result, in_portions=bool(agents.portions), several=several)
        )
        return cls(
            name=operation.name,
            aliases=operation.aliases,
            method=operation.method,
            toolset=operation.toolset,
            title=operation.title,
            description=" ".join(inner.description.split()) + (" Replies in Markdown." if agents.as_markdown else ""),
            read_only=operation.read_only,
            inputs=add_portions(inputs, operation) if agents.portions else inputs,
            outputs=outputs,
        )

    @property
    def is_cacheable(self) -> bool:
        """Whether its responses depend only on service replies; those of the corpus depend on local data."""
        return self.read_only and self.toolset != "corpus"

    @property
    def scope(self) -> str:
        """The scope required to call it."""
        if self.toolset == "corpus":
            return f"{SCOPE_PREFIX}corpus.{'read' if self.read_only else 'write'}"
        return f"{SCOPE_PREFIX}{self.toolset}"

    def is_allowed(self, scopes: Collection[str] | None) -> bool:
        """Return whether a token with these scopes allows a call; None allows everything."""
        return scopes is None or self.scope in scopes


def scope_error(feature: str, scope: str) -> NotConfigured:
    """Return the error for a token without the scope of a tool or resource."""
    return NotConfigured(
        f"This token does not allow {feature}.",
        recovery_hint=f"Ask the administrator of the server for a token with the scope {scope}.",
        details={"reason": "insufficient_scope", "scope": scope},
    )


def build_definitions() -> list[ToolDefinition]:
    """Build the definition of every operation, in the order of the catalogue."""
    text = files("entrez_kit.server").joinpath(FILE_NAME).read_text(encoding="utf-8")
    return [ToolDefinition(**{**fields, "aliases": tuple(fields["aliases"])}) for fields in json.loads(text)["tools"]]

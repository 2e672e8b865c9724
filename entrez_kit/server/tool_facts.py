"""What a list of tools says of each: made from the catalogue once, and kept in a file of this user's.

So a server starts, and lists its tools, without a single operation; they are imported when one is called. The file
counts for exactly these sources, this Python and this pydantic; one that is stale, damaged or not there is made anew.
"""

import hashlib
import json
import os
import sys
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pydantic

from entrez_kit._version import __version__
from entrez_kit.operation import Operation
from entrez_kit.private_files import open_private
from entrez_kit.server.portions import with_portions

FILE_NAME: Final = "tools.json"
PACKAGE: Final = Path(__file__).parent.parent
SCOPE_PREFIX: Final = "entrez-kit:"


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """An operation as a list of tools has it; ``inputs`` and ``outputs`` are JSON Schemas."""

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
    def of(cls, operation: Operation[Any, Any]) -> "ToolFacts":
        """Return the facts of an operation, with the bounds that hold for MCP calls."""
        from entrez_kit.server.schemas import capped, closed_output_schema, input_schema, output_schema

        inner = capped(operation)
        inputs = input_schema(inner.request)
        shown = closed_output_schema if operation.closed else output_schema
        return cls(
            name=operation.name,
            aliases=operation.aliases,
            method=operation.method,
            toolset=operation.toolset,
            title=operation.title,
            description=" ".join(inner.description.split()),
            read_only=operation.read_only,
            inputs=with_portions(inputs, operation) if operation.portions else inputs,
            outputs=shown(operation.result),
        )

    @property
    def may_be_kept(self) -> bool:
        """Whether what it answers is made of replies of services alone; the corpus is this machine's own."""
        return self.read_only and self.toolset != "corpus"

    @property
    def scope(self) -> str:
        """The scope a token must have for calling it."""
        if self.toolset == "corpus":
            return f"{SCOPE_PREFIX}corpus.{'read' if self.read_only else 'write'}"
        return f"{SCOPE_PREFIX}{self.toolset}"

    def open_to(self, scopes: Collection[str] | None) -> bool:
        """Tell whether a token with these scopes allows a call; without a token everybody may."""
        return scopes is None or self.scope in scopes


def facts_of_catalogue(folder: Path) -> list[ToolFacts]:
    """Return the facts of every operation, from the file in this folder where it still counts."""
    state = _state_of_sources()
    path = folder / FILE_NAME
    kept = _read(path, state)
    if kept is None:
        from entrez_kit.catalogue import OPERATIONS

        kept = [ToolFacts.of(operation) for operation in OPERATIONS]
        _keep(path, state, kept)
    return kept


def _state_of_sources() -> bytes:
    """Return what changes with the program: its version, and size and time of each of its files."""
    files = sorted(_sources(str(PACKAGE)))
    return repr((__version__, sys.version, pydantic.VERSION, files)).encode()


def _sources(folder: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                found = entry.stat()
                yield entry.path, found.st_size, found.st_mtime_ns
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _sources(entry.path)


def _read(path: Path, state: bytes) -> list[ToolFacts] | None:
    try:
        with os.fdopen(open_private(path, os.O_RDONLY), "rb") as file:
            digest, _, body = file.read().partition(b"\n")
    except OSError:
        return None
    if digest != _digest(state, body):
        return None
    return [ToolFacts(**{**facts, "aliases": tuple(facts["aliases"])}) for facts in json.loads(body)]


def _keep(path: Path, state: bytes, facts: list[ToolFacts]) -> None:
    """Write the file whole; where that is not possible, the next start makes the facts again."""
    body = json.dumps([asdict(one) for one in facts]).encode()
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(open_private(draft, os.O_WRONLY | os.O_TRUNC), "wb") as file:
            file.write(_digest(state, body) + b"\n" + body)
        draft.replace(path)
    except OSError:
        return


def _digest(state: bytes, body: bytes) -> bytes:
    return hashlib.sha256(len(state).to_bytes(8, "big") + state + body).hexdigest().encode()

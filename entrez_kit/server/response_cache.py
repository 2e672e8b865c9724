"""Cached responses of tools, which are valid as long as all service replies behind them are."""

import json
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcp_types import CallToolResult

from entrez_kit.base.tracing import Trace
from entrez_kit.services.transport import CLOCK_TOLERANCE_SECONDS

MAX_CHARACTERS: Final = 4_000_000
"""The maximum size of all responses as JSON."""

Key = tuple[str, str, frozenset[str] | None]
"""Tool, arguments and the scopes of the caller's token; None without tokens."""


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A complete response, its service requests, and the Unix times of its expiry and storage.

    ``packed`` is the response as compressed JSON, in a tenth of the memory of its objects.
    """

    packed: bytes
    trace: Trace
    until: float
    size: int
    stored_at: float

    @property
    def result(self) -> CallToolResult:
        """The response."""
        return CallToolResult.model_validate_json(zlib.decompress(self.packed))


class ResponseCache:
    """The most recently used responses, in memory, up to a total size. Safe for threads.

    A response is stored if all service replies behind it may be cached, and expires with the first of them. Errors and
    incomplete responses are never stored. A response is only used for callers with the same scopes.
    """

    def __init__(self, most_characters: int = MAX_CHARACTERS) -> None:
        self._max_size = most_characters
        self._size = 0
        self._lock = threading.Lock()
        self._responses: OrderedDict[Key, CachedResponse] = OrderedDict()

    def get(self, tool: str, arguments: Mapping[str, Any], scopes: Collection[str] | None) -> CachedResponse | None:
        """Return the cached response to a call with these scopes; None if there is no valid one."""
        key = _build_key(tool, arguments, scopes)
        with self._lock:
            cached = self._responses.get(key) if key is not None else None
            if key is None or cached is None:
                return None
            if not cached.stored_at - CLOCK_TOLERANCE_SECONDS <= time.time() < cached.until:
                self._drop(key)
                return None
            self._responses.move_to_end(key)
            return cached

    def store(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        scopes: Collection[str] | None,
        result: CallToolResult,
        trace: Trace,
    ) -> None:
        """Store a complete response, if it may be cached."""
        key, until = _build_key(tool, arguments, scopes), trace.until
        size = sum(len(part.text) for part in result.content if part.type == "text")
        if key is None or until <= time.time() or size > self._max_size:
            return
        packed = zlib.compress(result.model_dump_json(by_alias=True).encode("utf-8"), 1)
        with self._lock:
            self._drop(key)
            self._responses[key] = CachedResponse(packed, trace, until, size, time.time())
            self._size += size
            while self._size > self._max_size:
                self._drop(next(iter(self._responses)))

    def _drop(self, key: Key) -> None:
        response = self._responses.pop(key, None)
        if response is not None:
            self._size -= response.size


def _build_key(tool: str, arguments: Mapping[str, Any], scopes: Collection[str] | None) -> Key | None:
    try:
        return tool, json.dumps(arguments, sort_keys=True), None if scopes is None else frozenset(scopes)
    except (TypeError, ValueError, RecursionError):  # not valid JSON values; no client sends them
        return None

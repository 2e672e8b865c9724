"""Answers of tools that are given again to whoever asks the same, as long as every reply they were made of counts."""

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcp_types import CallToolResult

from entrez_kit.base.tracing import Trace
from entrez_kit.services.transport.policy import CLOCK_TOLERANCE_SECONDS

MOST_CHARACTERS: Final = 4_000_000
"""Of all answers together, as JSON."""

Key = tuple[str, str, frozenset[str] | None]
"""Tool, arguments, and what the caller's token allows; None where there are no tokens."""


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A whole answer, the requests behind it, and the Unix times at which it expires and was kept."""

    result: CallToolResult
    trace: Trace
    until: float
    size: int
    kept_at: float


class ResponseCache:
    """The answers used last, in memory, and no more of them than so many characters. Safe for threads.

    What counts, and until when, is what the cache of replies says: an answer is kept when it was made of replies alone
    that may be cached, and goes when the first of them does. Errors and answers that lack something are never kept.
    One is given to callers alone whose tokens allow the same as that of whoever got it first.
    """

    def __init__(self, most_characters: int = MOST_CHARACTERS) -> None:
        self._most = most_characters
        self._size = 0
        self._lock = threading.Lock()
        self._answers: OrderedDict[Key, CachedResponse] = OrderedDict()

    def get(self, tool: str, arguments: Mapping[str, Any], scopes: Collection[str] | None) -> CachedResponse | None:
        """Return the answer to a call by somebody with these scopes, or None."""
        key = _key(tool, arguments, scopes)
        with self._lock:
            kept = self._answers.get(key) if key is not None else None
            if key is None or kept is None:
                return None
            if not kept.kept_at - CLOCK_TOLERANCE_SECONDS <= time.time() < kept.until:
                self._drop(key)
                return None
            self._answers.move_to_end(key)
            return kept

    def keep(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        scopes: Collection[str] | None,
        result: CallToolResult,
        trace: Trace,
    ) -> None:
        """Keep an answer that is whole, if it may be."""
        key, until = _key(tool, arguments, scopes), trace.until
        size = sum(len(part.text) for part in result.content if part.type == "text")
        if key is None or until <= time.time() or size > self._most:
            return
        with self._lock:
            self._drop(key)
            self._answers[key] = CachedResponse(result, trace, until, size, time.time())
            self._size += size
            while self._size > self._most:
                self._drop(next(iter(self._answers)))

    def _drop(self, key: Key) -> None:
        gone = self._answers.pop(key, None)
        if gone is not None:
            self._size -= gone.size


def _key(tool: str, arguments: Mapping[str, Any], scopes: Collection[str] | None) -> Key | None:
    try:
        return tool, json.dumps(arguments, sort_keys=True), None if scopes is None else frozenset(scopes)
    except (TypeError, ValueError, RecursionError):  # not what JSON can say; no client sends that
        return None

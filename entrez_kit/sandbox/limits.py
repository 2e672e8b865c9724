"""NCBI's rate limit: the number of requests in any one second for each key or address."""

from collections import deque
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Final

from entrez_kit.local.eutils.replies import LocalReply, answer_json

WITHOUT_KEY: Final = 3
WITH_KEY: Final = 10
WINDOW: Final = 1.0
RETRY_AFTER: Final = "1"
INVALID_KEY: Final = "invalid"
"""The only api_key that the sandbox rejects, with NCBI's message; every other key is valid."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Whether a request is within the rate limit, and the numbers that NCBI reports with it."""

    allowed: bool
    who: str
    count: int
    limit: int

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The rate headers of every answer."""
        return (
            ("X-RateLimit-Limit", str(self.limit)),
            ("X-RateLimit-Remaining", str(max(0, self.limit - self.count))),
        )


@dataclass
class RateRule:
    """Count requests by key, or by address if a request has no key.

    Only accepted requests count toward the limit, so a client that waits is served; rejected ones increase the
    ``count`` that NCBI reports.
    """

    _admitted: dict[str, deque[float]] = field(default_factory=dict)
    _refused: dict[str, deque[float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def judge(self, arrived: float, address: str, key: str | None) -> Allowance:
        """Accept or reject a request that arrived at this monotonic time."""
        who, limit = (key, WITH_KEY) if key else (address, WITHOUT_KEY)
        with self._lock:
            admitted = self._admitted.setdefault(who, deque())
            refused = self._refused.setdefault(who, deque())
            for times in (admitted, refused):
                while times and times[0] <= arrived - WINDOW:
                    times.popleft()
            allowed = len(admitted) < limit
            (admitted if allowed else refused).append(arrived)
            return Allowance(allowed, who, len(admitted) + len(refused), limit)


def answer_too_many(who: str, count: int, limit: int) -> LocalReply:
    """Answer 429 as NCBI does: always JSON, with the address or the complete key."""
    # NCBI returns the complete key; a client must remove it from its messages.
    body = {"error": "API rate limit exceeded", "api-key": who, "count": str(count), "limit": str(limit)}
    headers = (("Retry-After", RETRY_AFTER), ("X-RateLimit-Limit", str(limit)), ("X-RateLimit-Remaining", "0"))
    return replace(answer_json(body, 429), headers=headers)


def answer_bad_key(key: str) -> LocalReply:
    """Answer 400 for a key that does not exist."""
    return answer_json({"error": "API key invalid", "api-key": key, "type": "api key", "status": "unknown"}, 400)

"""The history server: result sets stored by WebEnv and query key."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

MAX_IDS: Final = 5_000_000
"""Maximum number of stored ids; above it, the least recently used environment is removed."""


@dataclass(frozen=True, slots=True)
class StoredSet:
    """One result set: its database and its ids in search order."""

    database: str
    ids: Sequence[str]


@dataclass
class History:
    """Stored result sets. A removed WebEnv is as unknown as one that never existed."""

    seed: int = 0
    _environments: OrderedDict[str, dict[int, StoredSet]] = field(default_factory=OrderedDict)
    _made: int = 0
    _held: int = 0
    _lock: Lock = field(default_factory=Lock)

    def store(self, database: str, ids: Sequence[str], environment: str | None = None) -> tuple[str, int]:
        """Store a set in a known environment or a new one; return WebEnv and query key."""
        with self._lock:
            if environment is None or environment not in self._environments:
                self._made += 1
                digest = hashlib.sha256(f"{self.seed}:{self._made}".encode()).hexdigest()
                environment = f"MCID_{digest[:24]}"
                self._environments[environment] = {}
            sets = self._environments[environment]
            key = max(sets, default=0) + 1
            sets[key] = StoredSet(database, ids)
            self._held += len(ids)
            self._environments.move_to_end(environment)
            while self._held > MAX_IDS and len(self._environments) > 1:
                _, dropped = self._environments.popitem(last=False)
                self._held -= sum(len(stored.ids) for stored in dropped.values())
            return environment, key

    def get(self, environment: str, key: int) -> StoredSet | None:
        """Return a set; None if the environment has expired or the key is unknown."""
        with self._lock:
            sets = self._environments.get(environment)
            if sets is None:
                return None
            self._environments.move_to_end(environment)
            return sets.get(key)

    def expire(self) -> None:
        """Remove all environments, as NCBI removes an environment after some hours."""
        with self._lock:
            self._environments.clear()
            self._held = 0

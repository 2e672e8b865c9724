"""A request as the endpoints see it, and what they answer from."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from entrez_kit.sandbox.database import Database
from entrez_kit.sandbox.history import History, StoredSet


@dataclass(frozen=True, slots=True)
class SandboxRequest:
    """Endpoint, method and parameters of one request; parameters may repeat.

    ``rest`` is what follows the endpoint in the path, for services that keep identifiers there.
    """

    endpoint: str
    method: str
    params: Sequence[tuple[str, str]]
    rest: str = ""

    def get(self, name: str, default: str = "") -> str:
        """Return the first value of a parameter, trimmed; names are compared without regard to case."""
        wanted = name.lower()
        return next((value.strip() for key, value in self.params if key.lower() == wanted), default)

    def every(self, name: str) -> list[str]:
        """Return all values of a repeated parameter."""
        wanted = name.lower()
        return [value for key, value in self.params if key.lower() == wanted]

    def number(self, name: str, default: int) -> int:
        """Return a whole number; anything else counts as not given."""
        text = self.get(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else default

    @property
    def retmode(self) -> str:
        """The form of the answer, ``xml`` where none is named."""
        return self.get("retmode").lower() or "xml"

    @property
    def ids(self) -> list[str]:
        """The ids of all ``id`` parameters, separated by commas or white space."""
        return [one for value in self.every("id") for one in value.replace(",", " ").split()]


@dataclass(slots=True)
class SandboxState:
    """What the endpoints answer from."""

    databases: dict[str, Database]
    history: History = field(default_factory=History)

    def stored(self, request: SandboxRequest) -> StoredSet | None:
        """Return the result set that WebEnv and query_key name, or None."""
        return self.history.recall(request.get("WebEnv"), request.number("query_key", 0))

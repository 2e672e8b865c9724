"""ServiceClient: the base class of the clients."""

from typing import ClassVar, Final

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.settings import Settings
from entrez_kit.services.transport import Call, Expect, Method, Reply, T
from entrez_kit.services.transport.client import Transport
from entrez_kit.services.transport.policy import base_of, most_in_flight


def invalid_argument(
    field: str, problem: str, value: object = "", hint: str | None = None, **details: object
) -> InvalidInput:
    """Return the error for an invalid argument."""
    return InvalidInput(f"{field}: {problem}", invalid_input=f"{field}={value}", recovery_hint=hint, details=details)


def no_pmcid_error(text: str) -> InvalidInput:
    """Return the error for a text that is not a PMCID."""
    return invalid_argument("pmcid", f"{text[:100]!r} is not a PMCID", text[:100], "Give a PMCID such as PMC1234567.")


class ServiceClient:
    """A client of one service: its policy has the name ``_SERVICE``, and its base URL comes from the settings."""

    _SERVICE: ClassVar[str]

    def __init__(self, transport: Transport, settings: Settings) -> None:
        self._transport = transport
        self._settings = settings
        self._base = base_of(settings, self._SERVICE)
        self.at_once: Final = most_in_flight(settings, self._SERVICE)
        """The maximum number of requests in flight for one operation."""

    def _send(
        self,
        endpoint: str,
        path: str,
        expect: Expect[T],
        *,
        ttl: int | None,
        params: tuple[tuple[str, str], ...] = (),
        method: Method = "GET",
        encoded: str | None = None,
    ) -> Reply[T]:
        """Send a call to a path below the base URL."""
        url = f"{self._base}/{path}"
        return self._transport.send(Call(self._SERVICE, endpoint, url, params, expect, method, encoded, ttl))

"""The service clients of a server, shared by its sessions, with health data and a limit on waiting requests."""

import time
from dataclasses import dataclass
from typing import Final

from entrez_kit.base.errors import EntrezKitError, RateLimited, UpstreamError
from entrez_kit.base.progress import stop_if_cancelled
from entrez_kit.base.settings import Settings
from entrez_kit.services import Services
from entrez_kit.services.transport import Call, Reply, Responder, T
from entrez_kit.services.transport.client import Transport

MAX_WAITING: Final = 100
"""The maximum number of requests waiting for a slot; a further request is refused as retryable."""
NCBI: Final = "eutils"


@dataclass(frozen=True, slots=True)
class Health:
    """The result of the last request that was sent to NCBI."""

    checked_at: float | None = None
    status: str = "Unknown"


class WatchedTransport(Transport):
    """A transport that stops requests of callers that have left, and records NCBI's status."""

    def __init__(self, settings: Settings, responder: Responder | None = None) -> None:
        super().__init__(settings, max_waiting=MAX_WAITING, responder=responder)
        self.health = Health()

    def send(self, call: Call[T]) -> Reply[T]:
        """Return the checked reply to a call, from the cache or from the service.

        Raises:
            EntrezKitError: see ``Transport.send``.
            Cancelled: the caller has left.
        """
        stop_if_cancelled()
        try:
            reply = super().send(call)
        except EntrezKitError as exc:
            self._note(call, exc)
            raise
        if not reply.from_cache:
            self._note(call, None)
        return reply

    def _note(self, call: Call, error: EntrezKitError | None) -> None:
        """Record whether NCBI answered; an error about the request itself counts as an answer."""
        if (
            self._settings.local
            or call.service != NCBI
            or (error is not None and error.reason in ("queue_full", "offline"))
        ):
            return
        status = "Nominal"
        if isinstance(error, RateLimited):
            status = "Rate limited"
        elif isinstance(error, UpstreamError):
            status = "Degraded" if "status" in error.details else "Unreachable"
        self.health = Health(time.time(), status)


class ServerServices(Services):
    """Services over a watched transport."""

    def __init__(self, settings: Settings) -> None:
        responder = None
        if settings.answers_in_process:
            from entrez_kit.python.responders import create_responder

            settings, responder = create_responder(settings)
        self.watched = WatchedTransport(settings, responder)
        super().__init__(settings, responder, transport=self.watched)

"""Record the requests of a call and their replies, from any source: the network, the cache, the demo, a local copy."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from entrez_kit.base.clock import SYSTEM_CLOCK, Clock, FixedClock
from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.base.redaction import Redactor
from entrez_kit.base.settings import SETTINGS, Settings
from entrez_kit.services.recordings.archive import (
    ArchiveWriter,
    RecordedDownload,
    RecordedReply,
    RecordedRequest,
)
from entrez_kit.services.recordings.error_documents import dump_error
from entrez_kit.services.transport import CREDENTIALS, Call, Reply, T

if TYPE_CHECKING:
    from entrez_kit.services.transport.download.guard import Downloaded

RECORDED_SETTINGS: Final = tuple(setting.name for setting in SETTINGS if setting.is_recorded and not setting.secret)
RECORDED_CREDENTIALS: Final = tuple(setting.name for setting in SETTINGS if setting.is_recorded and setting.secret)
"""A recording has the names of these keys and e-mail addresses, without their values."""


def build_key(call: Call, redactor: Redactor) -> str:
    """Return the key of a request: a hash of its service, endpoint, path and sorted parameters, without secrets."""
    params = tuple((name, redactor.redact_text(value)) for name, value in call.params)
    return replace(call, params=params).build_key(call.service)


def build_download_key(url: str, redactor: Redactor) -> str:
    """Return the key of a download."""
    return hashlib.sha256(f"download {redactor.redact_text(url)}".encode()).hexdigest()


def refuse_unrecorded_services(settings: Settings) -> None:
    """Refuse settings with which a corpus sends requests that a recording does not have.

    Raises:
        InvalidInput: a provider of embeddings or a Weaviate server is configured.
    """
    if settings.embeddings == "none" and settings.weaviate_url is None:
        return
    name, value = ("embeddings", settings.embeddings) if settings.embeddings != "none" else ("weaviate_url", "")
    raise InvalidInput(
        "A recording cannot contain the requests to a provider of embeddings or to a Weaviate server.",
        invalid_input=f"{name}={value}",
        recovery_hint="Set ENTREZ_KIT_EMBEDDINGS=none and unset WEAVIATE_URL for this call.",
        details={"reason": "not_recordable"},
    )


class Recorder:
    """Record all requests of one call, in a file that ``finish`` writes; safe for threads.

    The program reads the same bytes that are recorded: secrets are removed from a reply before its reader gets it.

    Args:
        path: the file.
        settings: the settings of the call.
        command: the arguments of the call.
        source: the clock; the call gets the time at which the recording began.

    Raises:
        InvalidInput: the file has another suffix than ``.ekz``.
        StoreError: the file cannot be written.
    """

    def __init__(
        self, path: Path, settings: Settings, command: Sequence[str] = (), source: Clock | None = None
    ) -> None:
        self._system = source or SYSTEM_CLOCK
        self.clock: Clock = FixedClock(self._system.now(), self._system.today())
        self.settings = settings
        self._redactor = Redactor(settings.secrets)
        self._command = [self._redactor.redact_text(word) for word in command]
        self._writer = ArchiveWriter(path)
        self._finished = False

    def answer(self, call: Call[T], send: Callable[[Call[T]], Reply[T]]) -> Reply[T]:
        """Send a call and record its reply or its error."""
        read: list[bytes] = []

        def watch(body: bytes) -> T:
            read[:] = [body]
            return call.expect.read(body)

        try:
            reply = send(replace(call, expect=replace(call.expect, read=watch)))
        except EntrezKitError as exc:
            self._add(call, error=self._dump_error(exc), read=self._add_body(read[0], "") if read else None)
            raise
        content, url = self._redactor.redact_body(reply.content), self._redactor.redact_text(reply.url)
        if content != reply.content:
            reply = replace(reply, content=content, value=call.expect.read(content))
        reply = replace(reply, url=url)
        recorded = RecordedReply(
            part=self._add_body(content, reply.content_type or call.expect.format),
            url=url,
            method=reply.method,
            status=reply.status,
            from_cache=reply.from_cache,
            attempts=reply.attempts,
            created=reply.created,
            content_type=reply.content_type,
            fidelity=reply.fidelity,
        )
        self._add(call, reply=recorded)
        return reply

    def download(self, url: str, fetch: "Callable[[], Downloaded]") -> "Downloaded":
        """Download a page and record it, or the error."""
        key, public_url = build_download_key(url, self._redactor), self._redactor.redact_text(url.partition("?")[0])
        try:
            page = fetch()
        except EntrezKitError as exc:
            self._writer.add_request(
                RecordedRequest(
                    key=key, service="download", endpoint="download", url=public_url, error=self._dump_error(exc)
                )
            )
            raise
        page = replace(page, content=self._redactor.redact_body(page.content), url=self._redactor.redact_text(page.url))
        recorded = RecordedDownload(
            part=self._add_body(page.content, page.content_type or page.kind),
            url=page.url,
            content_type=page.content_type,
            kind=page.kind,
            hops=page.hops,
        )
        self._writer.add_request(
            RecordedRequest(key=key, service="download", endpoint="download", url=public_url, download=recorded)
        )
        return page

    def _add(self, call: Call, **outcome: Any) -> None:
        public_params = [pair for pair in call.params if pair[0] not in CREDENTIALS]
        self._writer.add_request(
            RecordedRequest(
                key=build_key(call, self._redactor),
                service=call.service,
                endpoint=call.endpoint,
                url=self._redactor.redact_text(call.url),
                params=[(name, self._redactor.redact_text(value)) for name, value in public_params],
                **outcome,
            )
        )

    def _add_body(self, content: bytes, content_type: str) -> str:
        return self._writer.add_body(self._redactor.redact_body(content), content_type)

    def _dump_error(self, error: EntrezKitError) -> dict[str, Any]:
        document = self._redact(dump_error(error))
        if error.reply is not None:
            part = self._add_body(error.reply.body, error.reply.content_type)
            document["reply"] = {"status": error.reply.status, "content_type": error.reply.content_type, "part": part}
        return document  # type: ignore[no-any-return]  # a dictionary stays one

    def _redact(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._redactor.redact_text(value)
        if isinstance(value, dict):
            return {name: self._redact(member) for name, member in value.items()}
        return [self._redact(member) for member in value] if isinstance(value, list) else value

    def finish(self, status: int | None = None) -> None:
        """Write the file.

        Args:
            status: the exit status of the command, if it was one.

        Raises:
            StoreError: the file cannot be written.
        """
        if self._finished:
            return
        self._finished, settings = True, self.settings
        self._writer.finish(
            started=_format_time(self.clock.now()),
            ended=_format_time(self._system.now()),
            today=self.clock.today().isoformat(),
            command=self._command,
            status=status,
            settings={
                **{name: getattr(settings, name) for name in RECORDED_SETTINGS},
                "demo": settings.demo,
                "demo_requested": settings.demo_warning is not None,
                "local": settings.local,
            },
            credentials=[name for name in RECORDED_CREDENTIALS if getattr(settings, name) is not None],
            copy_label=settings.copy_label,
        )

    def close(self) -> None:
        """Remove a recording that is not finished; a file that exists already stays unchanged."""
        if not self._finished:
            self._finished = True
            self._writer.discard()


def _format_time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

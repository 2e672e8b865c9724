"""Answer the requests of a call from a recording, without a network and without the cache."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from pydantic import SecretStr

from entrez_kit.base import tracing
from entrez_kit.base.clock import Clock, FixedClock
from entrez_kit.base.errors import EntrezKitError, IncompleteReply, RefusedReply, UpstreamError
from entrez_kit.base.frontend_text import cut_middle
from entrez_kit.base.redaction import Redactor
from entrez_kit.base.settings import BY_NAME, DEMO_URL, Settings, parse_value
from entrez_kit.services.recordings.archive import MANIFEST, REQUESTS, ArchiveReader, RecordedRequest
from entrez_kit.services.recordings.error_documents import InvalidDocument, load_error
from entrez_kit.services.recordings.record import (
    RECORDED_CREDENTIALS,
    RECORDED_SETTINGS,
    build_download_key,
    build_key,
)
from entrez_kit.services.transport import Call, Reply, T, in_flight, replies

if TYPE_CHECKING:
    from entrez_kit.services.transport.download.guard import Downloaded

REPLAY_EMAIL: Final = "replay@entrez-kit.invalid"
REPLAY_KEY: Final = "replayed-without-the-key-of-the-recording"
"""Values for the credentials that the recorded call had. No request is sent, so no service gets them."""
_QUOTED: Final = 300


@dataclass(slots=True)
class _Answers:
    """The recorded outcomes of one request, in order, and the number of those that were used."""

    outcomes: list[RecordedRequest]
    used: int = 0


class Replay:
    """Answer the recorded requests, repeated ones in their order; safe for threads.

    Args:
        path: the recording.

    Raises:
        InvalidInput: the file cannot be read.
        StoreError: it is damaged, or not a recording, or its version is unknown.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._archive = ArchiveReader(path)
        self._redactor = Redactor(())
        self._lock = Lock()
        self._answers: dict[str, _Answers] = {}
        try:
            manifest = self._archive.manifest
            for request in self._archive.yield_requests():
                outcome = request.model_copy(update={"params": []})  # the key stands for them
                self._answers.setdefault(request.key, _Answers([])).outcomes.append(outcome)
            self.clock: Clock = FixedClock(datetime.fromisoformat(manifest.started), date.fromisoformat(manifest.today))
            self._settings = self._read_settings()
        except ValueError:
            self._archive.close()
            raise self._archive.damage_error(MANIFEST, f"{MANIFEST} has an invalid time or setting") from None
        except BaseException:
            self._archive.close()
            raise

    def _read_settings(self) -> dict[str, Any]:
        """Return the recorded settings, each within the limits of its kind."""
        settings = self._archive.manifest.settings
        return {
            name: None if settings.get(name) is None else parse_value(BY_NAME[name], settings[name])
            for name in RECORDED_SETTINGS
            if name in settings
        }

    def use_settings(self, settings: Settings) -> Settings:
        """Return settings with the recorded values of those that change what a call requests or prints."""
        manifest = self._archive.manifest
        self._redactor = Redactor(settings.secrets)
        credentials: dict[str, Any] = {
            name: (SecretStr(REPLAY_KEY if BY_NAME[name].kind == "secret" else REPLAY_EMAIL))
            if name in manifest.credentials
            else None
            for name in RECORDED_CREDENTIALS
        }
        local = manifest.settings.get("local")
        adjusted = replace(
            settings,
            **credentials,
            demo=manifest.settings.get("demo_requested") is True,
            local=local if isinstance(local, str) else None,
            embeddings="none",
            weaviate_url=None,
            copy_label=manifest.copy_label,
        )
        if manifest.settings.get("demo") is True:
            adjusted = adjusted.use_sandbox(DEMO_URL)
        elif adjusted.local is not None:
            adjusted = adjusted.use_copy()
        return replace(adjusted, **self._settings)

    def answer(self, call: Call[T], send: Callable[[Call[T]], Reply[T]]) -> Reply[T]:
        """Return the recorded reply to a call, or raise the recorded error; never send the call.

        Raises:
            UpstreamError: the recording has no reply to this request; ``details.reason`` is ``not_recorded``.
            StoreError: a part of the recording is damaged.
        """
        in_flight.stop_if_unneeded()
        query = "&".join(f"{name}={value}" for name, value in call.params)
        found = self._take_next(
            build_key(call, self._redactor), f"{call.endpoint} {query}", repeats=call.ttl is not None
        )
        if found is None:
            raise self._missing_error(call.endpoint, query, call.describe("not_recorded"))
        in_flight.mark_sent()
        if found.error is not None:
            error = self._load_error(found.error)
            if error.reason == "incomplete" and found.read is not None:
                error = self._add_reply(error, call, found.read)
            raise error
        recorded = found.reply
        if recorded is None:
            raise self._archive.damage_error(REQUESTS, f"a request in {REQUESTS} has no outcome")
        content = self._archive.read(recorded.part)
        in_flight.add_received(len(content))
        if recorded.fidelity and (trace := tracing.get_current_trace()) is not None:
            trace.limit_fidelity(recorded.fidelity)
        return Reply(
            content=content,
            value=replies.read(call, content),
            url=recorded.url,
            method=recorded.method,
            from_cache=recorded.from_cache,
            status=recorded.status,
            attempts=recorded.attempts,
            created=recorded.created,
            content_type=recorded.content_type,
            fidelity=recorded.fidelity,
        )

    def download(self, url: str, fetch: "Callable[[], Downloaded]") -> "Downloaded":
        """Return the recorded page of a URL, or raise the recorded error; never request it.

        Raises:
            UpstreamError: the recording does not have this page; ``details.reason`` is ``not_recorded``.
        """
        from entrez_kit.services.transport.download.guard import Downloaded

        public_url = url.partition("?")[0]
        answer = self._take_next(build_download_key(url, self._redactor), public_url, repeats=True)
        if answer is None:
            raise self._missing_error("download", public_url, {"reason": "not_recorded", "endpoint": "download"})
        if answer.error is not None:
            raise self._load_error(answer.error)
        page = answer.download
        if page is None:
            raise self._archive.damage_error(REQUESTS, f"a download in {REQUESTS} has no outcome")
        return Downloaded(page.url, self._archive.read(page.part), page.content_type, page.kind, page.hops)

    def _take_next(self, key: str, target: str, *, repeats: bool) -> RecordedRequest | None:
        """Return the next outcome of a request; after the last one that again if the reply may be cached, else None."""
        with self._lock:
            answers = self._answers.get(key)
            if answers is None or (answers.used >= len(answers.outcomes) and not repeats):
                return None
            outcome = answers.outcomes[min(answers.used, len(answers.outcomes) - 1)]
            answers.used += 1
            return outcome

    def _missing_error(self, endpoint: str, target: str, details: dict[str, object]) -> UpstreamError:
        request = cut_middle(self._redactor.redact_text(f"{endpoint} {target}"), _QUOTED)
        command = self._redactor.redact_text(cut_middle(" ".join(self._archive.manifest.command), _QUOTED))
        return UpstreamError(
            f"The recording {self.path} has no reply to this request: {request}. A replay sends no request.",
            recovery_hint=f"Give the command and the arguments that were recorded: {command or 'EntrezKit'}",
            details=details,
        )

    def _add_reply(self, error: EntrezKitError, call: Call, part: str) -> EntrezKitError:
        """Return a recorded error with the incomplete reply, which the reader refuses again."""
        try:
            call.expect.read(self._archive.read(part))
        except IncompleteReply as exc:
            restored = exc.copy_with(error.message_text, error.hint_text, **error.details)
            restored.reply = error.reply
            return restored
        except EntrezKitError:
            pass
        return error

    def _load_error(self, document: dict[str, Any]) -> EntrezKitError:
        try:
            error = load_error(document)
            refused = document.get("reply")
            if refused is not None:
                body = self._archive.read(refused["part"])
                error.reply = RefusedReply(int(refused["status"]), str(refused["content_type"]), body)
            return error
        except (InvalidDocument, KeyError, TypeError, ValueError):
            return self._archive.damage_error(REQUESTS, f"an error in {REQUESTS} is invalid")

    def finish(self, status: int | None = None) -> None:
        """Do nothing: a replay changes no recording."""

    def close(self) -> None:
        """Close the file."""
        self._archive.close()

"""Download large files from one address that a setting names, one at a time; a download that was cut is resumed."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

import requests
from urllib3.exceptions import HTTPError

from entrez_kit.base import __version__
from entrez_kit.base.errors import EntityNotFound, UpstreamError
from entrez_kit.base.frontend_text import OFFLINE_SWITCH, FrontendText, format_count
from entrez_kit.base.progress import stop_if_cancelled
from entrez_kit.base.settings import Settings
from entrez_kit.services.transport import faults, is_loopback
from entrez_kit.services.transport.retry import Backoff, Retryable, parse_retry_after
from entrez_kit.services.transport.wire import SocketDeadline, WatchedAdapter, read_connection_options

T = TypeVar("T")

CHUNK_BYTES: Final = 1 << 18
MAX_FILE_BYTES: Final = 4 << 30
FILE_SECONDS: Final = 3600.0
"""The time limit of one request for a file."""


class FileServer:
    """The files below one address.

    Args:
        settings: the settings of connections.
        base: the address.
        name: the name of the setting with the address, for messages.
    """

    def __init__(self, settings: Settings, base: str, name: str) -> None:
        self._settings = settings
        self._base = base.rstrip("/")
        self._name = name
        self._backoff = Backoff()

    def read(self, path: str, limit: int) -> bytes:
        """Return a small file or a listing.

        Raises:
            EntityNotFound: it does not exist.
            UpstreamError: no attempt got it.
        """

        def attempt() -> bytes:
            with self._request(path) as response:
                self._check_status(path, response, (200,))
                content = bytearray()
                for chunk in self._read_body(path, response):
                    content += chunk
                    if len(content) > limit:
                        raise self._error(path, "too_large", f"it has more than {format_count(limit, 'byte')}")
                return bytes(content)

        return self._repeat(attempt, lambda: 0)

    def download(self, path: str, target: Path) -> None:
        """Write a file to a path. A part of an earlier download is continued if the file did not change meanwhile.

        Raises:
            EntityNotFound: it does not exist.
            UpstreamError: no attempt got it completely.
        """
        part = target.with_name(f"{target.name}.part")
        mark = target.with_name(f"{target.name}.part-version")

        def size() -> int:
            return part.stat().st_size if part.exists() else 0

        def attempt() -> None:
            validator = mark.read_text(encoding="utf-8") if mark.exists() and size() else ""
            headers = {"Range": f"bytes={size()}-", "If-Range": validator} if validator else {}
            with self._request(path, headers) as response:
                if response.status == 416:
                    part.unlink(missing_ok=True)
                    raise Retryable(self._error(path, "broke_off", "the server refused to resume the download"))
                self._check_status(path, response, (200, 206))
                self._receive(path, response, part, mark, resumes=bool(validator))
            part.replace(target)
            mark.unlink(missing_ok=True)

        self._repeat(attempt, size)

    def _receive(self, path: str, response: Any, part: Path, mark: Path, *, resumes: bool) -> None:
        offset = part.stat().st_size if resumes and response.status == 206 else 0
        if response.status == 206:
            content_range = str(response.headers.get("Content-Range", ""))
            if not resumes or not content_range.startswith(f"bytes {offset}-"):
                part.unlink(missing_ok=True)
                raise Retryable(
                    self._error(path, "invalid_response", f"it resumed at another place ({content_range[:50]!r})")
                )
        version = response.headers.get("ETag", "") or response.headers.get("Last-Modified", "")
        mark.write_text("" if version.startswith("W/") else version, encoding="utf-8")
        written = offset
        with part.open("ab" if offset else "wb") as file:
            for chunk in self._read_body(path, response):
                file.write(chunk)
                written += len(chunk)
                if written > MAX_FILE_BYTES:
                    raise self._error(path, "too_large", f"it has more than {MAX_FILE_BYTES:,} bytes")

    @contextmanager
    def _request(self, path: str, more: dict[str, str] | None = None) -> Iterator[Any]:
        url = f"{self._base}/{quote(path)}"
        if self._settings.offline:
            raise UpstreamError(
                f"{path} was not downloaded, because offline mode allows no requests.",
                recovery_hint=FrontendText("Download without ", OFFLINE_SWITCH, "."),
                details={"reason": "offline"},
            )
        stop_if_cancelled()
        headers = {"User-Agent": f"entrez-kit/{__version__}", "Accept-Encoding": "identity", **(more or {})}
        seconds = self._settings.ncbi_timeout_ms / 1000
        options = read_connection_options(url, is_here=is_loopback(urlsplit(url).hostname))
        adapter = WatchedAdapter()
        response = None
        try:
            with SocketDeadline(time.monotonic() + FILE_SECONDS):
                request = requests.Request("GET", url, headers=headers).prepare()
                try:
                    response = adapter.send(request, stream=True, timeout=(seconds, seconds), **options).raw
                except (requests.RequestException, HTTPError, OSError) as exc:
                    reason = faults.find_reason(exc)
                    raise Retryable(self._error(path, reason, f"the request failed ({reason})")) from None
            yield response
        finally:
            if response is not None:
                with suppress(HTTPError, OSError):
                    response.close()
            adapter.close()

    def _read_body(self, path: str, response: Any) -> Iterator[bytes]:
        declared = str(response.headers.get("Content-Length", ""))
        read = 0
        with SocketDeadline(time.monotonic() + FILE_SECONDS, response):
            while True:
                try:
                    chunk = response.read1(CHUNK_BYTES)
                except (HTTPError, OSError, ValueError) as exc:
                    raise Retryable(self._error(path, "broke_off", "the connection ended early")) from exc
                if not chunk:
                    break
                read += len(chunk)
                stop_if_cancelled()
                yield chunk
        if declared.isdigit() and read < int(declared):
            raise Retryable(
                self._error(path, "broke_off", f"it ended after {read:,} of {format_count(int(declared), 'byte')}")
            )

    def _check_status(self, path: str, response: Any, accepted: tuple[int, ...]) -> None:
        status = response.status
        if status in accepted:
            return
        if status in (404, 410):
            raise EntityNotFound(
                f"{path} does not exist on the server.",
                invalid_input=path,
                recovery_hint=f"The list of files may be out of date. Try again later, or check {self._name}.",
                details={"reason": "not_found", "file": path},
            )
        error = self._error(path, "unexpected_status", f"the server answered with status {status}", status=status)
        if status == 429 or status >= 500:
            raise Retryable(error, wait=parse_retry_after(response.headers.get("Retry-After")))
        raise error

    def _repeat(self, attempt: Callable[[], T], progress: Callable[[], int]) -> T:
        """Call ``attempt`` until it succeeds; attempts that received something do not count as failures."""
        failures = 0
        while True:
            before = progress()
            try:
                return attempt()
            except Retryable as exc:
                failures = 1 if progress() > before else failures + 1
                if failures > self._settings.ncbi_max_retries:
                    raise exc.error from None
                wait_until = time.monotonic() + self._backoff.compute_wait(failures, exc.wait)
            while time.monotonic() < wait_until:
                stop_if_cancelled()
                time.sleep(max(0.0, min(0.2, wait_until - time.monotonic())))

    def _error(self, path: str, reason: str, problem: str, **details: object) -> UpstreamError:
        return UpstreamError(
            f"{path} could not be downloaded: {problem}.",
            recovery_hint="Check the network connection, and run the command again: it continues. "
            f"{self._name} sets another address.",
            details={"reason": reason, "file": path, **details},
        )

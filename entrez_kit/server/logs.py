"""The log of a server: JSON lines on stderr and in LOGS_DIR, each with the ids that tie it to a call. No secrets."""

import json
import logging
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, Final, TextIO

from entrez_kit import tracing
from entrez_kit.private_files import make_private_folder, open_private
from entrez_kit.server.telemetry import current_ids
from entrez_kit.settings import SETTINGS, Settings
from entrez_kit.transport.redaction import RedactingFilter, Redactor

FILE_NAME: Final = "entrez-kit-serve.log"
MAX_BYTES: Final = 5_000_000
BACKUPS: Final = 4
OURS: Final = "entrez_kit"
CHATTY: Final = ("mcp", "client", "uvicorn", "uvicorn.error", "asyncio", "opentelemetry", "urllib3", "httpx2")
"""What the libraries below log at "info" is of use to their authors; it is shown at "debug"."""

LEVELS: Final[Mapping[str, int]] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": 25,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "alert": 55,
    "emergency": 60,
}
"""MCP's eight levels as numbers Python's logging understands."""

_message: ContextVar[str | None] = ContextVar("entrez_kit_message", default=None)
_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


@contextmanager
def message(message_id: str) -> Iterator[None]:
    """Tie the lines logged in this block to the message that is being answered."""
    token = _message.set(message_id)
    try:
        yield
    finally:
        _message.reset(token)


class JsonLines(logging.Formatter):
    """One JSON object per record.

    ``request_id`` is that of the call, ``parent_request_id`` that of the message that brought it; outside of a call the
    message's own id is the request id.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line."""
        entry: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": level_name(record.levelno),
            "logger": record.name,
            "message": record.getMessage(),
            **_ids(),
            **{key: value for key, value in vars(record).items() if key not in _STANDARD},
            "process": record.process,
        }
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            entry["traceback"] = record.exc_text
        return json.dumps(entry, ensure_ascii=True, default=str)


def _ids() -> dict[str, str]:
    call = tracing.current_trace()
    above = _message.get()
    ids: dict[str, str] = {}
    if call is not None:
        ids["request_id"] = call.request_id
        if above is not None:
            ids["parent_request_id"] = above
    elif above is not None:
        ids["request_id"] = above
    spans = current_ids()
    if spans is not None:
        ids["trace_id"], ids["span_id"] = spans
    return ids


def level_name(number: int) -> str:
    """Return MCP's name of a level; of one in between, that of the level below."""
    return next((name for name, floor in reversed(list(LEVELS.items())) if number >= floor), "debug")


class PrivateFile(RotatingFileHandler):
    """A rotating file only its owner can read, which several servers may share."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8")

    def _open(self) -> Any:
        descriptor = open_private(Path(self.baseFilename), os.O_WRONLY | os.O_APPEND)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="replace")

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; where another server has rotated the file, into the new one."""
        if self.stream is not None and not self._is_current(self.stream):
            self.stream.close()
            self.stream = self._open()
        super().emit(record)

    def _is_current(self, stream: Any) -> bool:
        try:
            ours, named = os.fstat(stream.fileno()), Path(self.baseFilename).stat()
        except OSError:
            return False
        return (ours.st_dev, ours.st_ino) == (named.st_dev, named.st_ino)


@contextmanager
def logging_to(settings: Settings, stream: TextIO | None = None) -> Iterator[None]:
    """Send the log of this process to stderr and to LOGS_DIR while the block runs.

    A folder that cannot be written costs a line on stderr, not the server.
    """
    level = LEVELS[settings.mcp_log_level]
    redacting = RedactingFilter(Redactor(_secrets(settings)))
    handlers: list[logging.Handler] = [logging.StreamHandler(stream or sys.stderr)]
    if settings.quiet:
        handlers[0].setLevel(logging.WARNING)
    problem: OSError | None = None
    if settings.logs_dir is not None:
        try:
            make_private_folder(settings.logs_dir)
            handlers.append(PrivateFile(settings.logs_dir / FILE_NAME))
        except OSError as exc:
            problem = exc
    for handler in handlers:
        handler.setFormatter(JsonLines())
        handler.addFilter(redacting)
    loggers = {name: level if name in ("", OURS) else _quieter(level) for name in ("", OURS, *CHATTY)}
    before = {name: _swap(logging.getLogger(name), handlers if name == "" else [], loggers[name]) for name in loggers}
    try:
        if problem is not None:
            logging.getLogger(OURS).warning(
                "LOGS_DIR %s cannot be written (%s); this log goes to stderr only",
                settings.logs_dir,
                problem.strerror or type(problem).__name__,
            )
        yield
    finally:
        for name, (old_handlers, old_level, old_propagate) in before.items():
            logger = logging.getLogger(name)
            logger.handlers[:] = old_handlers
            logger.setLevel(old_level)
            logger.propagate = old_propagate
        for handler in handlers:
            handler.close()


def _quieter(level: int) -> int:
    return level if level <= logging.DEBUG else max(level, logging.WARNING)


def _swap(
    logger: logging.Logger, handlers: list[logging.Handler], level: int
) -> tuple[list[logging.Handler], int, bool]:
    """Give a logger other handlers and another level; return what it had."""
    had = (list(logger.handlers), logger.level, logger.propagate)
    logger.handlers[:] = handlers
    logger.setLevel(level)
    logger.propagate = True
    return had


def _secrets(settings: Settings) -> list[str]:
    """Return the value of every setting that must not be shown."""
    values = (getattr(settings, setting.name) for setting in SETTINGS if setting.secret)
    return [value.get_secret_value() for value in values if value is not None]

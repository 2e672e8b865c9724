"""Configure logging to stderr and to rotating files in LOGS_DIR, which only their owner can read. No log has secrets.

The terminal logs only if the user requests it (-v, LOGS_DIR). A server always logs, at least to stderr.
"""

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, Final, TextIO

from entrez_kit.base import tracing
from entrez_kit.base.errors import describe_os_error
from entrez_kit.base.private_files import make_private_folder, open_private
from entrez_kit.base.redaction import RedactingFilter, Redactor
from entrez_kit.base.settings import Settings

TERMINAL_FILE: Final = "entrez-kit.log"
SERVER_FILE: Final = "entrez-kit-serve.log"
MAX_BYTES: Final = 5_000_000
BACKUPS: Final = 4
OURS: Final = "entrez_kit"
CHATTY: Final = ("mcp", "client", "uvicorn", "uvicorn.error", "asyncio", "opentelemetry", "urllib3", "httpx2")
"""Libraries whose "info" messages only their authors need; these messages are shown at "debug"."""

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
"""MCP's eight levels as levels of Python's logging."""

Ids = Callable[[], Mapping[str, str]]
_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


def call_ids() -> dict[str, str]:
    """Return the request id of the current call, which all its log lines share, and its operation."""
    call = tracing.get_current_trace()
    if call is None:
        return {}
    return {"request_id": call.request_id, **({"operation": call.operation} if call.operation else {})}


class JsonLinesFormatter(logging.Formatter):
    """One JSON object per record.

    Args:
        ids: returns the ids of the current call for each line.
    """

    def __init__(self, ids: Ids) -> None:
        super().__init__()
        self._ids = ids

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line."""
        entry: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": to_level_name(record.levelno),
            "logger": record.name,
            "message": record.getMessage(),
            **self._ids(),
            **{key: value for key, value in vars(record).items() if key not in _STANDARD},
            "process": record.process,
        }
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            entry["traceback"] = record.exc_text
        return json.dumps(entry, ensure_ascii=True, default=str)


def to_level_name(number: int) -> str:
    """Return MCP's name of a level; a number between two levels gets the lower one."""
    return next((name for name, floor in reversed(list(LEVELS.items())) if number >= floor), "debug")


class LineFormatter(logging.Formatter):
    """One line per record for a terminal, with the request id and operation; traceback lines begin with a bar."""

    def __init__(self) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line, and its traceback below."""
        first, *rest = super().format(record).split("\n")
        ids = " ".join(call_ids().values())
        return "\n| ".join([f"{first} [{ids}]" if ids else first, *rest])


class FieldFilter(RedactingFilter):
    """Remove secrets, control characters and long texts from every field of a record, so that no text forges a line."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the message, the traceback and the fields given as ``extra``."""
        super().filter(record)
        try:
            message = record.getMessage()
        except (TypeError, ValueError, KeyError):
            message = str(record.msg)
        record.msg, record.args = self.redactor.redact_field(message), None
        if record.exc_info and record.exc_info[0] is not None:
            record.exc_text = record.exc_text or logging.Formatter().formatException(record.exc_info)
            record.exc_info = None
        for name in ("exc_text", "stack_info"):
            if text := getattr(record, name):
                setattr(record, name, self.redactor.redact_traceback(text))
        for name, value in list(vars(record).items()):
            if name not in _STANDARD:
                setattr(record, name, self.redactor.redact_field(value))
        return True


class PrivateFile(RotatingFileHandler):
    """A rotating file that only its owner can read and several processes can share."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8")

    def _open(self) -> Any:
        descriptor = open_private(Path(self.baseFilename), os.O_WRONLY | os.O_APPEND)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="replace")

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; if another process has rotated the file, write to the new one."""
        if self.stream is not None and not self._is_current(self.stream):
            self.stream.close()
            self.stream = self._open()
        super().emit(record)

    def _is_current(self, stream: Any) -> bool:
        try:
            ours, file_status = os.fstat(stream.fileno()), Path(self.baseFilename).stat()
        except OSError:
            return False
        return (ours.st_dev, ours.st_ino) == (file_status.st_dev, file_status.st_ino)


def _add_file_handler(
    settings: Settings | None, handlers: list[logging.Handler], name: str, ids: Ids
) -> tuple[list[logging.Handler], str | None]:
    """Return handlers that remove secrets, with one for the file if LOGS_DIR is set, and a problem with that file."""
    problem = None
    if settings is not None and settings.logs_dir is not None:
        try:
            make_private_folder(settings.logs_dir)
            file = PrivateFile(settings.logs_dir / name)
        except OSError as exc:
            problem = f"LOGS_DIR {settings.logs_dir} cannot be written ({describe_os_error(exc)})"
        else:
            file.setFormatter(JsonLinesFormatter(ids))
            handlers = [*handlers, file]
    clean = FieldFilter(Redactor(settings.secrets if settings is not None else ()))
    for handler in handlers:
        handler.addFilter(clean)
    return handlers, problem


@contextmanager
def _use_handlers(handlers: list[logging.Handler], levels: Mapping[str, int], *, propagate: bool) -> Iterator[None]:
    """Use the handlers for the first logger, and none for the others, while the block runs; then close the handlers."""
    before = {
        logger: (list(logger.handlers), logger.level, logger.propagate) for logger in map(logging.getLogger, levels)
    }
    for logger, level, own in zip(before, levels.values(), [handlers, *([] for _ in levels)], strict=False):
        logger.handlers[:] = own
        logger.setLevel(level)
        logger.propagate = propagate
    try:
        yield
    finally:
        for logger, (old_handlers, old_level, old_propagate) in before.items():
            logger.handlers[:] = old_handlers
            logger.setLevel(old_level)
            logger.propagate = old_propagate
        for handler in handlers:
            handler.close()


@contextmanager
def log_of_terminal(settings: Settings | None, *, verbose: bool) -> Iterator[str | None]:
    """Configure logging as the user requests while the block runs; yield a message if that is not possible.

    Args:
        settings: the settings; None if they cannot be read.
        verbose: whether to log to stderr.
    """
    stream = logging.StreamHandler(sys.stderr) if verbose else logging.NullHandler()  # without one Python prints errors
    stream.setFormatter(LineFormatter())
    handlers, problem = _add_file_handler(settings, [stream], TERMINAL_FILE, call_ids)
    level = LEVELS[settings.mcp_log_level] if settings is not None else logging.INFO
    with _use_handlers(handlers, {OURS: level}, propagate=False):
        yield f"{problem}; no log is kept." if problem else None


@contextmanager
def logging_to(settings: Settings, stream: TextIO | None = None, *, ids: Ids = call_ids) -> Iterator[None]:
    """Log the server process to stderr and to LOGS_DIR while the block runs.

    If the folder cannot be written, the server logs a warning and runs.
    """
    level = LEVELS[settings.mcp_log_level]
    stream_handler = logging.StreamHandler(stream or sys.stderr)
    stream_handler.setFormatter(JsonLinesFormatter(ids))
    if settings.quiet:
        stream_handler.setLevel(logging.WARNING)
    handlers, problem = _add_file_handler(settings, [stream_handler], SERVER_FILE, ids)
    quieter = level if level <= logging.DEBUG else max(level, logging.WARNING)
    with _use_handlers(handlers, {"": level, OURS: level, **dict.fromkeys(CHATTY, quieter)}, propagate=True):
        if problem is not None:
            logging.getLogger(OURS).warning("%s; this log goes to stderr only", problem)
        yield

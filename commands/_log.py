"""Where the log goes: nowhere unless asked for, to stderr under -v, to files in LOGS_DIR. Never with secrets."""

import json
import logging
import os
import sys
import time
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from entrez_kit import tracing
from entrez_kit.private_files import make_private_folder, open_private
from entrez_kit.transport.redaction import RedactingFilter, Redactor

if TYPE_CHECKING:
    from entrez_kit.settings import Settings

LOGGER: Final = "entrez_kit"
FILE_NAME: Final = "entrez-kit.log"
MAX_BYTES: Final = 5_000_000
BACKUPS: Final = 4
_LEVELS: Final = {"notice": logging.INFO, "alert": logging.CRITICAL, "emergency": logging.CRITICAL}
"""MCP's levels that Python lacks."""


class JsonLinesFormatter(logging.Formatter):
    """One JSON object per record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line."""
        entry: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
        }
        trace = tracing.current_trace()
        if trace is not None:
            entry["request_id"] = trace.request_id
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            entry["traceback"] = record.exc_text
        return json.dumps(entry, ensure_ascii=False)


class _PrivateFileHandler(RotatingFileHandler):
    """Files that only their owner can read."""

    def _open(self) -> Any:
        descriptor = open_private(Path(self.baseFilename), os.O_WRONLY | os.O_APPEND)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="replace")


def configure_log(settings: "Settings | None", *, verbose: bool) -> str | None:
    """Send the log where the user wants it; return a remark where that is not possible."""
    close_log()
    logger = logging.getLogger(LOGGER)
    logger.propagate = False
    logger.addHandler(logging.NullHandler())  # else Python prints errors on its own
    level = settings.mcp_log_level if settings is not None else "info"
    logger.setLevel(_LEVELS.get(level) or logging.getLevelNamesMapping()[level.upper()])
    redacting = RedactingFilter(Redactor.of(settings) if settings is not None else Redactor(()))
    if verbose:
        stream = logging.StreamHandler(sys.stderr)
        stream.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        stream.addFilter(redacting)
        logger.addHandler(stream)
    if settings is None or settings.logs_dir is None:
        return None
    try:
        logger.addHandler(_file_handler(settings.logs_dir, redacting))
    except OSError as exc:
        return f"LOGS_DIR {settings.logs_dir} cannot be written ({exc.strerror or type(exc).__name__}); no log is kept."
    return None


def close_log() -> None:
    """Give the logger back as it was, files closed."""
    logger = logging.getLogger(LOGGER)
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.propagate = True
    logger.setLevel(logging.NOTSET)


def _file_handler(folder: "Path", redacting: RedactingFilter) -> logging.Handler:
    make_private_folder(folder)
    handler = _PrivateFileHandler(folder / FILE_NAME, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8")
    handler.setFormatter(JsonLinesFormatter())
    handler.addFilter(redacting)
    return handler

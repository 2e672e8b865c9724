"""Remove secrets from every text: messages, URLs, log records, tracebacks, recordings.

Secrets are the keys, tokens and e-mail addresses of the settings, user names and passwords in URLs, and all values
whose name says that they are secret. No other module removes secrets.
"""

import logging
import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final
from urllib.parse import SplitResult, quote, quote_plus

from entrez_kit.base.frontend_text import cut_end
from entrez_kit.base.invisible import escape_json

HIDDEN: Final = "[hidden]"
MIN_SECRET: Final = 6  # a shorter value may be part of any word; its parameter name still redacts it
MAX_QUOTED: Final = 300
MAX_URL: Final = 200

MAX_FIELD: Final = 2_000
"""Maximum characters of a field of a log line or span."""
MAX_MEMBERS: Final = 50
MAX_DEPTH: Final = 4
MAX_TRACEBACK_LINES: Final = 100
MAX_READ: Final = 100_000
"""Number of characters that are searched for secrets before the text is truncated."""

_NAME: Final = r"(?:token|secret|password|signature|api[_-]?key|\b(?:e?mail|mailto))"
"""The end of a name whose value is secret."""
_PARAMETER: Final = re.compile(rf"(?i)({_NAME}(?:=|%3D))(?!\[hidden\])[^&\s\"'<>)\]]+")
# A value ends at its quotation mark or, in a truncated text, at the end. The pattern never backtracks, so its time is
# linear for any text.
_MEMBER: Final = re.compile(rf"""(?is)({_NAME}["']\s*+:\s*+)(?:"(?>(?:[^"\\]|\\.)*)"?|'(?>(?:[^'\\]|\\.)*)'?)""")
_HEADER: Final = re.compile(
    r"""(?is)(authorization["']?\s*+:\s*+)(?!["']?\[hidden\])(?>\[?b?(?=["'])|)"""
    r"""(?:"(?>(?:[^"\\]|\\.)*)"?|'(?>(?:[^'\\]|\\.)*)'?|[^\s"'][^\r\n"']*+)"""
)
_USER_INFO: Final = re.compile(r"(?<=://)[^\s/?#\"'<>@]*+(?:@[^\s/?#\"'<>@]*+)*@")
# In an invalid URL, the password may have a slash, a question mark or a number sign. A port has only digits.
_WIDE_USER_INFO: Final = re.compile(r"(?<=://)[^\s/?#\"'<>@:]{0,100}:(?![0-9]{0,5}(?:[/?#\s]|$))[^\s\"'<>]{0,300}@")
_SIGNATURE: Final = re.compile(
    r"(?is)(x-amz-.*|x-goog-.*|awsaccesskeyid|sig|expires|key-pair-id|policy|.*token.*|.*key|.*secret.*|.*password.*"
    r"|.*signature.*|auth.*|session.*|e?mail|mailto|ticket|code|jwt)"
)
"""The names of parameters with which publishers sign or personalize the URL of a page."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]+")

# Loggers that may log request addresses. A filter does not see the records of child loggers, so all are listed.
LOGGERS: Final = (
    "urllib3",
    "urllib3.connection",
    "urllib3.connectionpool",
    "urllib3.poolmanager",
    "urllib3.response",
    "urllib3.util.retry",
    "requests",
    "entrez_kit.transport",
)


class Redactor:
    """Replace secrets in texts: the known values in any encoding, and any value with the name of a secret.

    Args:
        secrets: keys, tokens and e-mail addresses.
        keys: the keys and tokens among them.
    """

    def __init__(self, secrets: Iterable[str], keys: Iterable[str] = ()) -> None:
        forms = _list_forms(secrets)
        alternatives = "|".join(map(re.escape, forms))
        self._known = re.compile(alternatives, re.IGNORECASE) if forms else None
        self._known_bytes = re.compile(alternatives.encode(), re.IGNORECASE) if forms else None
        self._key_forms = [form.lower().encode() for form in _list_forms(keys)]

    def redact_text(self, text: str) -> str:
        """Return a text without secrets."""
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        text = _WIDE_USER_INFO.sub(f"{HIDDEN}@", text)
        text = _USER_INFO.sub(f"{HIDDEN}@", text)
        text = _HEADER.sub(rf"\1{HIDDEN}", text)
        text = _PARAMETER.sub(rf"\1{HIDDEN}", text)
        return _MEMBER.sub(rf'\1"{HIDDEN}"', text)

    def quote_text(self, text: str) -> str:
        """Return a service's text for use in a message: without secrets and control characters, on one short line."""
        line = " ".join(_CONTROL.sub(" ", self.redact_text(text)).split())
        return cut_end(line, MAX_QUOTED)

    def redact_field(self, value: Any) -> Any:
        """Return a field of a log line or span: without secrets, truncated, and with control characters as escapes.

        Numbers do not change. Lists and mappings keep their first ``MAX_MEMBERS`` members.
        """
        return self._redact_field(value, MAX_DEPTH)

    def _redact_field(self, value: Any, depth: int) -> Any:
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, Mapping) and depth:
            members = islice(value.items(), MAX_MEMBERS)
            return {str(self._redact_field(name, 0)): self._redact_field(member, depth - 1) for name, member in members}
        if isinstance(value, list | tuple) and depth:
            return [self._redact_field(member, depth - 1) for member in islice(value, MAX_MEMBERS)]
        return cut_end(escape_controls(self.redact_text(str(value)[:MAX_READ])), MAX_FIELD)

    def redact_traceback(self, text: str) -> str:
        """Return a traceback with each line treated as in ``redact_field``; only the end of a long traceback."""
        lines = self.redact_text(text[-MAX_READ:]).splitlines()
        return "\n".join(cut_end(escape_controls(line), MAX_FIELD) for line in lines[-MAX_TRACEBACK_LINES:])

    def redact_body(self, body: bytes) -> bytes:
        """Return a body without the known secrets, because some services repeat the request in it."""
        return self._known_bytes.sub(HIDDEN.encode(), body) if self._known_bytes is not None else body

    def redact_data(self, body: bytes) -> bytes:
        """Return a body of data without the known secrets if it has a key or token; else unchanged.

        A record may have the e-mail address of the user, who is its author.
        """
        if self._key_forms:
            lowered = body.lower()
            if any(form in lowered for form in self._key_forms):
                return self.redact_body(body)
        return body


def redact_url(url: str) -> str:
    """Return a URL, valid or not, for a message: without user name, password, parameters and control characters."""
    text = _WIDE_USER_INFO.sub(f"{HIDDEN}@", url)
    text = re.sub(r"(?<![^/\s])[^/\s]*@", f"{HIDDEN}@", text)
    text = re.sub(r"(?s)[?#].*", f"?{HIDDEN}", text)
    return cut_end(" ".join(_CONTROL.sub(" ", text).split()), MAX_URL)


def redact_origin(url: SplitResult) -> str:
    """Return scheme, host and port of a URL, without user name and password."""
    return f"{url.scheme}://{url.netloc.rpartition('@')[2]}"


def remove_secret_parameters(query: str) -> str:
    """Return the query of a URL without parameters that look like keys, signatures or e-mail addresses."""
    return "&".join(part for part in query.split("&") if not _SIGNATURE.fullmatch(part.partition("=")[0]))


def escape_controls(text: str) -> str:
    """Return a text on one line, with control and invisible characters as escapes such as ``\\n``."""
    return escape_json(_CONTROL.sub(lambda found: ascii(found[0])[1:-1], text))


def _list_forms(secrets: Iterable[str]) -> list[str]:
    """Return the values that are long enough, in all encodings, the longest first."""
    forms = {form for secret in secrets for form in _list_encodings(secret) if len(secret) >= MIN_SECRET}
    return sorted(forms, key=len, reverse=True)


def _list_encodings(secret: str) -> set[str]:
    """Return the encodings of a value in an address, a form or a JSON text."""
    escaped = secret.replace("/", "\\/")
    return {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), quote_plus(secret, safe="@"), escaped}


class RedactingFilter(logging.Filter):
    """Rewrite log records that have a secret; keep every record."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self.redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the message if it has a secret, and the traceback likewise."""
        try:
            message = record.getMessage()
        except (TypeError, ValueError, KeyError):  # the caller must not fail because of a malformed record
            message = str(record.msg)
        cleaned = self.redactor.redact_text(message)
        if cleaned != message:
            record.msg, record.args = cleaned, None
        if record.exc_info and record.exc_info[0] is not None:
            trace = logging.Formatter().formatException(record.exc_info)
            cleaned = self.redactor.redact_text(trace)
            if cleaned != trace:
                record.exc_info, record.exc_text = None, cleaned
        return True

    def install(self) -> None:
        """Add the filter to every logger that may log an address; repeated calls have no effect."""
        for name in LOGGERS:
            logging.getLogger(name).addFilter(self)

    def remove(self) -> None:
        """Remove the filter from these loggers."""
        for name in LOGGERS:
            logging.getLogger(name).removeFilter(self)

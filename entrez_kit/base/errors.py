"""Every error that entrez-kit raises, with its code, exit status and envelope.

EntrezKitError             INTERNAL_ERROR       exit 1
├─ InvalidInput            INVALID_INPUT        exit 2
│  ├─ UnresolvedEntity     UNRESOLVED_ENTITY    exit 2
│  └─ AmbiguousQuery       AMBIGUOUS_QUERY      exit 2
├─ EntityNotFound          ENTITY_NOT_FOUND     exit 3
├─ UpstreamError           UPSTREAM_ERROR       exit 5   retryable
│  └─ IncompleteReply      UPSTREAM_ERROR       exit 5   retryable
├─ RateLimited             RATE_LIMITED         exit 7   retryable
├─ NotConfigured           NOT_CONFIGURED       exit 8
├─ StoreError              STORE_ERROR          exit 9
│  └─ InvariantFailure     INVARIANT_FAILURE    exit 9
├─ EmbeddingsError         EMBEDDINGS_ERROR     exit 5   retryable
│  └─ LocalEmbeddingsError EMBEDDINGS_ERROR     exit 9
└─ VectorIndexError        INDEX_ERROR          exit 5   retryable
   └─ LocalIndexError      INDEX_ERROR          exit 9
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, ClassVar, Final, Self

from entrez_kit.base.frontend_text import (
    AGAIN,
    MAX_VALUE,
    PYTHON,
    REINDEX,
    Argument,
    Frontend,
    FrontendText,
    PerFrontend,
    Text,
    cut_middle,
    describe_wrong_value,
    suggest_command,
)


class Exit(IntEnum):
    """Exit statuses of the program; `entrez-kit guide exit-codes` explains them."""

    DONE = 0
    DEFECT = 1
    BAD_INPUT = 2
    NOT_FOUND = 3
    PARTIAL = 4
    UPSTREAM = 5
    RATE_LIMITED = 7
    NOT_CONFIGURED = 8
    LOCAL_STORE = 9
    INTERRUPTED = 130


def describe_os_error(exc: OSError) -> str:
    """Return the system's text for an error, such as "Permission denied"."""
    return exc.strerror or str(exc) or type(exc).__name__


PERMANENT_REASONS: Final = frozenset(
    (
        *("offline", "not_recorded", "refused", "no_such_address", "retired", "new_parameter", "redirected"),
        *("bad_address", "bad_scheme", "forbidden_address", "too_many_redirects", "not_a_page", "parse_failed"),
        "too_large",
    )
)
"""Reasons of upstream errors that a retry cannot fix."""


MAX_SAID: Final = 2_000
"""Maximum characters of a text in an error; a longer text repeats its input."""
MAX_REPEATED: Final = 300
"""Maximum characters of the invalid input, including the name of its argument."""


def _render_within(value: Any, frontend: Frontend, most: int | None = None) -> Any:
    """Return plain data with every text in it rendered for a front end, and truncated if it is longer than ``most``."""
    if isinstance(value, Mapping):
        return {key: _render_within(item, frontend, most) for key, item in value.items()}
    if isinstance(value, list):
        return [_render_within(item, frontend, most) for item in value]
    if not isinstance(value, str | FrontendText):
        return value
    text = frontend.say(value)
    return text if most is None else cut_middle(text, most)


@dataclass(frozen=True, slots=True)
class RefusedReply:
    """A response of a service that is not a valid reply: its status, media type and body."""

    status: int
    content_type: str
    body: bytes = field(repr=False)


class EntrezKitError(Exception):
    """Base of every error of this library; only a defect of entrez-kit raises the base class itself.

    Args:
        message: the problem, with the name and the value.
        recovery_hint: the next step. Like the message, a ``FrontendText`` if it names a call, an argument or a flag.
        invalid_input: the invalid input, if there is one ("field=value" for a named argument).
        details: machine-readable details; ``reason`` is a code that is more specific than ``code``.

    ``message``, ``recovery_hint`` and ``details`` are strings and plain data for Python, until ``say_in`` renders them
    for another front end. ``message_text`` and ``hint_text`` still have the parts, for a text that contains them.
    ``reply`` is the invalid response, if a service sent one; a long body is omitted. No envelope shows it.
    """

    code: ClassVar[str] = "INTERNAL_ERROR"
    exit_code: ClassVar[Exit] = Exit.DEFECT
    may_pass: ClassVar[bool] = False
    default_hint: ClassVar[Text] = "This is a defect of entrez-kit. Please report it with the request id."

    def __init__(
        self,
        message: Text,
        *,
        recovery_hint: Text | None = None,
        invalid_input: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(str(message))
        self.message_text = message
        self.hint_text = recovery_hint or self.default_hint
        self.invalid_input = None if invalid_input is None else cut_middle(invalid_input, MAX_REPEATED)
        self.details: dict[str, Any] = _render_within(details or {}, PYTHON)
        self._details_text = {key: value for key, value in (details or {}).items() if value != self.details[key]}
        self.reply: RefusedReply | None = None

    @property
    def message(self) -> str:
        """The problem, rendered for Python until ``say_in`` renders it for another front end."""
        return str(self.message_text)

    @property
    def recovery_hint(self) -> str:
        """The next step, rendered like the message."""
        return str(self.hint_text)

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later without any change."""
        return self.may_pass and self.reason not in PERMANENT_REASONS

    @property
    def reason(self) -> str | None:
        """The specific code of the cause, e.g. ``deadline_exceeded``."""
        reason = self.details.get("reason")
        return reason if isinstance(reason, str) else None

    def copy_with(self, message: Text | None = None, hint: Text | None = None, **details: object) -> Self:
        """Return a copy of the error with its own traceback and the given changes."""
        copy = type(self)(
            message or self.message_text,
            recovery_hint=hint or self.hint_text,
            invalid_input=self.invalid_input,
            details={**self.details, **self._details_text, **details},
        )
        copy.reply = self.reply
        return copy

    def say_in(self, frontend: Frontend) -> "EntrezKitError":
        """Render the texts of the error for a front end; return the error."""
        self.message_text = cut_middle(frontend.say(self.message_text), MAX_SAID)
        self.hint_text = cut_middle(frontend.say(self.hint_text), MAX_SAID)
        self.details = _render_within({**self.details, **self._details_text}, frontend, MAX_SAID)
        self._details_text = {}
        return self

    def envelope(self) -> dict[str, Any]:
        """Return the canonical error envelope, which the terminal and MCP use."""
        error: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "recovery_hint": self.recovery_hint,
            "invalid_input": self.invalid_input,
        }
        if self.details:
            error["details"] = self.details
        return {"success": False, "error": error}


class InvalidInput(EntrezKitError):
    """The caller's input is invalid."""

    code = "INVALID_INPUT"
    exit_code = Exit.BAD_INPUT
    default_hint = "Correct the named argument and call again."


def invalid_argument(
    field: str, problem: str, value: object = "", hint: Text | None = None, **details: object
) -> InvalidInput:
    """Return the error for an invalid argument; its reason is ``invalid_arguments`` if ``details`` has none.

    Args:
        field: the name of the argument.
        problem: what is wrong, as a predicate of the argument: "is empty".
        value: the value of the argument.
        hint: what to do.
        details: details of the error.
    """
    return InvalidInput(
        FrontendText(Argument(field), f" {problem}."),
        invalid_input=f"{field}={value}",
        recovery_hint=hint,
        details={"reason": "invalid_arguments", **details},
    )


def wrong_value(field: str, accepted: str, value: object, hint: Text | None = None, **details: object) -> InvalidInput:
    """Return the error for an argument with a wrong value.

    Args:
        field: the name of the argument.
        accepted: what it accepts, as a noun: "a date".
        value: the value of the argument.
        hint: what to do.
        details: details of the error.
    """
    return InvalidInput(
        describe_wrong_value(Argument(field), accepted, value),
        invalid_input=f"{field}={cut_middle(str(value), MAX_VALUE)}",
        recovery_hint=hint or FrontendText("Correct ", Argument(field), "."),
        details={"reason": "invalid_arguments", **details},
    )


class UnresolvedEntity(InvalidInput):
    """An argument that requires an identifier has another value."""

    code = "UNRESOLVED_ENTITY"
    default_hint = "Search for the entity first and pass the identifier that the search returns."


class AmbiguousQuery(InvalidInput):
    """A query could mean several things or nothing in particular."""

    code = "AMBIGUOUS_QUERY"
    default_hint = "Make the query more specific."


class EntityNotFound(EntrezKitError):
    """The identifiers are valid, but no record has them."""

    code = "ENTITY_NOT_FOUND"
    exit_code = Exit.NOT_FOUND
    default_hint = "Check the identifier, or search for the record."


class UpstreamError(EntrezKitError):
    """A service did not answer, or sent an invalid reply."""

    code = "UPSTREAM_ERROR"
    exit_code = Exit.UPSTREAM
    may_pass = True
    default_hint = FrontendText("The service may be temporarily unavailable. ", AGAIN, " in a little while.")


class IncompleteReply(UpstreamError):
    """A reply is valid, but has fewer records than expected.

    ``content`` is the reply, and ``value`` the result of its reader.
    """

    content: bytes = b""
    value: Any = None

    def copy_with(self, message: Text | None = None, hint: Text | None = None, **details: object) -> Self:
        """Return a copy of the error with the same reply and the given changes."""
        copy = super().copy_with(message, hint, **details)
        copy.content, copy.value = self.content, self.value
        return copy


class RateLimited(EntrezKitError):
    """A service refused a request because of its rate limit, or entrez-kit's queue is full."""

    code = "RATE_LIMITED"
    exit_code = Exit.RATE_LIMITED
    may_pass = True
    default_hint = (
        "Wait a little and try again. With a free NCBI_API_KEY the limit is 10 requests per second instead of 3."
    )


class NotConfigured(EntrezKitError):
    """A setting is missing or has an invalid value."""

    code = "NOT_CONFIGURED"
    exit_code = Exit.NOT_CONFIGURED
    default_hint = FrontendText(
        suggest_command("config show", "Ask the operator of the server to check its settings"),
        PerFrontend(" to see every setting and where its value comes from.", "."),
    )


class StoreError(EntrezKitError):
    """Something on this machine could not be read or written."""

    code = "STORE_ERROR"
    exit_code = Exit.LOCAL_STORE
    default_hint = FrontendText(
        "Check that the folder exists, is writable and has space",
        PerFrontend("; `entrez-kit doctor` shows details", ""),
        ".",
    )


class InvariantFailure(StoreError):
    """The store is inconsistent; nothing was changed."""

    code = "INVARIANT_FAILURE"
    default_hint = FrontendText(REINDEX, " to repair it.")


class EmbeddingsError(EntrezKitError):
    """A provider of embeddings did not answer, or sent an unusable reply."""

    code = "EMBEDDINGS_ERROR"
    exit_code = Exit.UPSTREAM
    may_pass = True
    default_hint: ClassVar[Text] = "Try again later, or search without embeddings (ENTREZ_KIT_EMBEDDINGS=none)."


class LocalEmbeddingsError(EmbeddingsError):
    """This machine cannot compute embeddings, or the stored embeddings belong to another model."""

    exit_code = Exit.LOCAL_STORE
    may_pass = False
    default_hint = FrontendText(REINDEX, ", or search without embeddings (ENTREZ_KIT_EMBEDDINGS=none).")


class VectorIndexError(EntrezKitError):
    """The vector index (Weaviate) did not answer, or refused a request."""

    code = "INDEX_ERROR"
    exit_code = Exit.UPSTREAM
    may_pass = True
    default_hint = "Check WEAVIATE_URL and that the server runs; the local index works without it."


class LocalIndexError(VectorIndexError):
    """The configuration of this machine does not allow use of the vector index."""

    exit_code = Exit.LOCAL_STORE
    may_pass = False
    default_hint = "Check WEAVIATE_URL and that the package weaviate-client is installed."


CORPUS_CODES: Final[Mapping[str, str]] = {
    "INVALID_INPUT": "VALIDATION",
    "UNRESOLVED_ENTITY": "VALIDATION",
    "AMBIGUOUS_QUERY": "VALIDATION",
    "NOT_CONFIGURED": "VALIDATION",
    "ENTITY_NOT_FOUND": "NOT_FOUND",
    "RATE_LIMITED": "RATE_LIMIT",
    "UPSTREAM_ERROR": "UPSTREAM",
    "STORE_ERROR": "STORE",
    "INVARIANT_FAILURE": "INVARIANT_FAILURE",
    "EMBEDDINGS_ERROR": "EMBEDDINGS",
    "INDEX_ERROR": "WEAVIATE",
    "INTERNAL_ERROR": "UNKNOWN",
}
"""The name of each code in the corpus contract."""


def corpus_envelope(error: EntrezKitError) -> dict[str, Any]:
    """Return an error in the form of the corpus contract: no other fields, and the hint and the input in the details.

    The code ENTREZ means that an E-utility replied with an error message.
    """
    code = CORPUS_CODES.get(error.code, "UNKNOWN")
    if (
        code == "UPSTREAM"
        and error.details.get("service") == "eutils"
        and error.reason in ("invalid_response", "refused")
    ):
        code = "ENTREZ"
    details = {**error.details, "recovery_hint": error.recovery_hint, "invalid_input": error.invalid_input}
    return {"error": {"code": code, "message": error.message, "details": details}}

"""Ask a service about many ids, batch by batch, so that one bad id or one lost batch does not sink the others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from entrez_kit import tracing
from entrez_kit.errors import EntityNotFound, EntrezKitError, RateLimited, UpstreamError

MAX_FAILED_BATCHES: Final = 2
"""After so many batches in a row without any answer the rest is not tried: the service is down."""

Answer = TypeVar("Answer")
Refusal = type[EntrezKitError]


@dataclass(slots=True)
class Asked(Generic[Answer]):
    """What became of many ids.

    ``answers`` are the replies in order, each with the ids it was asked for; ``refused`` are ids the service does not
    take or does not know, ``failed`` those it gave no answer about.
    """

    answers: list[tuple[list[str], Answer]] = field(default_factory=list)
    refused: dict[str, EntrezKitError] = field(default_factory=dict)
    failed: dict[str, EntrezKitError] = field(default_factory=dict)


def in_batches(
    ids: Sequence[str],
    size: int,
    ask: Callable[[list[str]], Answer],
    *,
    refusals: tuple[Refusal, ...] = (EntityNotFound,),
) -> Asked[Answer]:
    """Ask for ids in batches. A batch that is refused is halved until it is known which id is to blame.

    Args:
        ids: what to ask for, each once.
        size: ids per request.
        ask: sends one request and reads the reply.
        refusals: errors by which the service refuses a batch for the sake of some of its ids.
    """
    asked: Asked[Answer] = Asked()
    failed_in_a_row = 0
    last_error: EntrezKitError | None = None
    for start in range(0, len(ids), size):
        batch = list(ids[start : start + size])
        if failed_in_a_row >= MAX_FAILED_BATCHES and last_error is not None:
            asked.failed |= dict.fromkeys(batch, _not_tried(last_error))
            continue
        error = _ask(batch, ask, refusals, asked)
        failed_in_a_row = failed_in_a_row + 1 if error is not None else 0
        last_error = error
        tracing.step(min(start + size, len(ids)), len(ids))
    return asked


def _ask(
    batch: list[str], ask: Callable[[list[str]], Answer], refusals: tuple[Refusal, ...], asked: Asked[Answer]
) -> EntrezKitError | None:
    """Ask for one batch; return the error where the service gave no answer at all."""
    try:
        asked.answers.append((batch, ask(batch)))
        return None
    except refusals as exc:
        if len(batch) == 1:
            asked.refused[batch[0]] = exc
            return None
    except (UpstreamError, RateLimited) as exc:
        asked.failed |= dict.fromkeys(batch, exc)
        return exc
    middle = len(batch) // 2
    for half in (batch[:middle], batch[middle:]):
        error = _ask(half, ask, refusals, asked)
        if error is not None and half[0] == batch[0]:
            asked.failed |= dict.fromkeys(batch[middle:], _not_tried(error))
            return error
    return None


def _not_tried(cause: EntrezKitError) -> EntrezKitError:
    return type(cause)(
        f"Not tried, because requests before it failed: {cause.message}",
        recovery_hint=cause.recovery_hint,
        details=cause.details,
    )

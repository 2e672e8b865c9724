"""Output on stderr that most calls in a pipe do not have: errors, timings, advice, and a progress bar.

``_pipeline.py`` and ``_app.py`` import this module only if there is something to report.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final

from entrez_kit.base.invisible import escape_json

from ._state import State

if TYPE_CHECKING:
    from rich.progress import Progress

    from entrez_kit.base.errors import EntrezKitError
    from entrez_kit.base.settings import Settings
    from entrez_kit.base.tracing import Trace

ADVICE_STAMP: Final = "advice-shown"


def report_error(
    state: State,
    error: "EntrezKitError",
    request_id: str | None = None,
    document: "Callable[[EntrezKitError], dict[str, Any]] | None" = None,
) -> None:
    """Print an error: its envelope on one line for programs, a message and a hint for people.

    Args:
        request_id: shown with -v.
        document: builds the envelope, if it is not the canonical one.
    """
    error.say_in(state.frontend)
    if state.for_machines:
        envelope = error.envelope() if document is None else document(error)
        state.say(escape_json(json.dumps(envelope, ensure_ascii=False, default=str)))
        return
    state.say(f"Error: {error.message}", "bold red")
    if error.recovery_hint:
        state.say(f"Hint: {error.recovery_hint}", "bold cyan")
    if state.verbose and request_id:
        state.say(f"Request id: {request_id} ({error.code})", "dim")


def report_trace(state: State, trace: "Trace", milliseconds: float) -> None:
    """Print the request id, requests, cache hits, attempts and time of a call, for -v."""
    exchanges = list(trace.exchanges)
    cached = sum(exchange.from_cache for exchange in exchanges)
    from entrez_kit.base.frontend_text import format_count

    repeated = sum(max(exchange.attempts - 1, 0) for exchange in exchanges)
    state.say(
        f"Request id: {trace.request_id}, {format_count(len(exchanges), 'request')} ({cached} from the cache, "
        f"{repeated} repeated), {milliseconds:.0f} ms",
        "dim",
    )


def advise_api_key(state: State) -> None:
    """Print advice about API keys once a day after a request, if a key and an e-mail address are missing."""
    services = state.opened_services
    has_sent = services is not None and services.opened_transport is not None
    if has_sent and _wants_advice(state, state.settings):
        state.note(
            "NCBI allows 3 requests per second without an API key, 10 with one. A key is free: create one at "
            "https://account.ncbi.nlm.nih.gov/settings/ and run `entrez-kit config set ncbi_api_key` (or set "
            "NCBI_API_KEY), and set NCBI_ADMIN_EMAIL so that NCBI can reach you. (Shown once a day.)",
        )


def _wants_advice(state: State, settings: "Settings") -> bool:
    """Return whether to advise setting a key and an e-mail address: once a day, if both are missing."""
    if state.quiet or settings.demo or settings.ncbi_api_key or settings.ncbi_admin_email:
        return False
    if "ncbi.nlm.nih.gov" not in settings.eutils_url:
        return False
    stamp = settings.cache_dir / ADVICE_STAMP
    today = time.strftime("%Y-%m-%d")
    try:
        if stamp.is_file() and stamp.read_text(encoding="utf-8") == today:
            return False
        from entrez_kit.base.private_files import open_private

        with os.fdopen(open_private(stamp, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as file:
            file.write(today)
    except (OSError, UnicodeDecodeError):  # without a stored date, every call would print it
        return False
    return True


def report_expected_time(state: State, records: int) -> None:
    """Print the expected time for very many records, and NCBI's preferred times."""
    from entrez_kit.base.frontend_text import format_count
    from entrez_kit.pubmed.record_batches import BATCH
    from entrez_kit.pubmed.record_fetcher import MANY_REQUESTS, PREFERRED_HOURS

    requests = -(-records // BATCH)
    settings = state.settings
    if requests <= MANY_REQUESTS or settings.demo:
        return
    minutes = max(1, round(requests / settings.requests_per_second / 60))
    state.note(
        f"{format_count(records, 'record takes', 'records take')} {format_count(requests, 'request')}: "
        f"at least {format_count(minutes, 'minute')}. {PREFERRED_HOURS} An interrupted run continues where it stopped.",
    )


# Progress, only for long work on a terminal


def _create_bar(state: State) -> "Progress | None":
    """Return a progress bar; None without a terminal, or if the terminal could only print line after line."""
    if not state.stderr_is_terminal or state.quiet:
        return None
    from rich import progress as rich

    from ._console import create_console

    console = create_console(sys.stderr, state.color)
    if console.is_dumb_terminal:
        return None
    return rich.Progress(
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeElapsedColumn(),
        rich.TimeRemainingColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


@contextmanager
def watching(
    state: State, label: str, least: int = 0, begin: Callable[[int], None] | None = None
) -> Iterator[Callable[[], None]]:
    """Show the progress that a call reports with ``report_progress``; yield a function that ends the bar before output.

    Args:
        label: the text of the bar, until ``begin_stage`` changes it.
        least: the number of steps above which a bar is shown.
        begin: called with the number of steps when it is known.
    """
    from entrez_kit.base.progress import Watch, watch_calls

    with ExitStack() as stack:
        now, most, ended = label, 0, False
        bar: Progress | None = None

        def advance(done: int, total: int | None) -> None:
            nonlocal most, bar
            if ended or (total is not None and total <= least) or (total or 0) < most:  # a part of a larger task
                return
            if begin is not None and not most and total:
                begin(total)
            most = total or 0
            if bar is None and (bar := _create_bar(state)) is not None:
                stack.enter_context(bar)
                bar.add_task(now, total=most or None)
            if bar is not None:
                bar.update(bar.task_ids[0], completed=done, total=most or None)

        def begin_stage(label: str) -> None:
            nonlocal now, most, bar
            stack.close()
            now, most, bar = label, 0, None

        def end() -> None:
            nonlocal ended
            stack.close()
            ended = True

        with watch_calls(Watch(wanted=lambda: True, progress=advance, stage=begin_stage)):
            yield end

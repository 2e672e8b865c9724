"""``doctor --deep``: send each probe, parse its reply as the kit does, and compare it with its known shape."""

import re
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final
from urllib.parse import urlsplit

from entrez_kit.base.errors import (
    EntityNotFound,
    EntrezKitError,
    InvalidInput,
    NotConfigured,
    RateLimited,
    UpstreamError,
)
from entrez_kit.base.settings import Settings
from entrez_kit.doctor.probes import DEMO, PROBES, REAL, Examples, Probe, describe_other_content
from entrez_kit.doctor.report import ERRORS, NAMES, Comparison, explain_exclusion
from entrez_kit.services import Services
from entrez_kit.services.known_shapes import ShapeDifference
from entrez_kit.services.small_replies import parse_esearch
from entrez_kit.services.transport import Call, Responder, is_loopback
from entrez_kit.services.transport.client import Transport
from entrez_kit.services.transport.replies import Incoming

RETRIES: Final = 2
"""Retries: two in ten real requests are reset, and errors about ids must be confirmed by a retry."""
DEADLINE_MS: Final = 20_000
"""Time limit of one request with its retries and the wait for slots."""

HOPS: Final = frozenset({"dns", "connection", "proxy", "tls", "timeout"})
"""Reasons of the transport that name the hop."""
UNREACHED: Final = HOPS - {"timeout"}
"""Hops whose failure means that other requests to the service would also fail."""

Progress = Callable[[int, int], None]
"""Called with the number of finished requests and their total."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call and its reply."""

    call: Call
    incoming: Incoming


@dataclass(slots=True)
class Compared:
    """A probe, its comparison and its replies; ``refused`` is true if it ended with an error."""

    probe: Probe
    comparison: Comparison
    exchanges: list[Exchange] = field(default_factory=list)
    refused: bool = False


def compare_replies(
    settings: Settings,
    *,
    unreached: Collection[str] = (),
    examples: Examples | None = None,
    probes: Collection[Probe] = PROBES,
    progress: Progress = lambda done, total: None,
    responder: Responder | None = None,
) -> list[Compared]:
    """Send the probes to all services concurrently, and compare the replies with their known shapes.

    The cache is neither read nor written. If a service cannot be reached, its other probes are skipped.

    Args:
        settings: give the services and their addresses.
        unreached: services to skip because a hop to them failed; by the names of ``NAMES``.
        examples: ids and queries of the probes; by default those of the sandbox or of NCBI, whichever answers.
        progress: called after each request.
        responder: answers all requests in this process.
    """
    limit = min(settings.ncbi_total_deadline_ms, DEADLINE_MS)
    probe_settings = replace(
        settings,
        no_cache=True,
        refresh=False,
        ncbi_total_deadline_ms=limit,
        ncbi_timeout_ms=min(settings.ncbi_timeout_ms, limit),
        ncbi_max_retries=min(settings.ncbi_max_retries, RETRIES),
        europepmc_max_retries=min(settings.europepmc_max_retries, RETRIES),
    )
    recorder = _ExchangeRecorder()
    with Services(
        probe_settings, transport=Transport(probe_settings, watch=recorder.watch, responder=responder)
    ) as services:
        requested = examples or choose_examples(services, unreached)
        run = _ProbeRun(services, requested, unreached, recorder, _ProgressCounter(progress, len(probes)))
        groups = [list(rows) for _, rows in groupby(probes, lambda probe: probe.service)]
        with ThreadPoolExecutor(max_workers=len(groups), thread_name_prefix="entrez-kit doctor") as pool:
            return [row for rows in pool.map(run.compare_service, groups) for row in rows]


class _ExchangeRecorder:
    """Collects the exchanges of the probe that the current thread sends."""

    def __init__(self) -> None:
        self._current = threading.local()

    def begin(self) -> list[Exchange]:
        """Return the list that gets the exchanges of the next probe of this thread."""
        self._current.exchanges = []
        exchanges: list[Exchange] = self._current.exchanges
        return exchanges

    def watch(self, call: Call, incoming: Incoming) -> None:
        """Record a reply; replies before the first probe are not recorded."""
        exchanges: list[Exchange] | None = getattr(self._current, "exchanges", None)
        if exchanges is not None:
            exchanges.append(Exchange(call, incoming))


class _ProgressCounter:
    """Reports the number of finished probes of all threads."""

    def __init__(self, report: Progress, total: int) -> None:
        self._report, self._total = report, total
        self._lock = threading.Lock()
        self._done = 0

    def count(self) -> None:
        """Count a finished probe."""
        with self._lock:
            self._done += 1
            self._report(self._done, self._total)


@dataclass(frozen=True, slots=True)
class _ProbeRun:
    """Sends the probes of one service after another in a thread."""

    services: Services
    examples: Examples
    unreached: Collection[str]
    recorder: _ExchangeRecorder
    progress: _ProgressCounter

    def compare_service(self, probes: list[Probe]) -> list[Compared]:
        """Send the probes of a service; the others are skipped after one that could not reach it."""
        settings, service = self.services.settings, probes[0].service
        reason = "offline" if settings.offline else "not reached" if NAMES[service] in self.unreached else None
        reason = reason or explain_exclusion(settings, service)
        found: list[Compared] = []
        for probe in probes:
            found.append(self._compare_probe(probe, reason or probe.needs(self.examples)))
            if found[-1].comparison.hop in UNREACHED:
                reason = "not reached"
        return found

    def _compare_probe(self, probe: Probe, skipped: str | None) -> Compared:
        if skipped is None:
            compared = _run_probe(probe, self.services, self.examples, self.recorder.begin())
        else:
            comparison = Comparison(name=probe.name, service=NAMES[probe.service], verdict="skipped", detail=skipped)
            compared = Compared(probe, comparison)
        self.progress.count()
        return compared


def choose_examples(services: Services, unreached: Collection[str]) -> Examples:
    """Return the examples for the probes: those of the sandbox if the sandbox answers."""
    settings = services.settings
    if settings.offline or NAMES["eutils"] in unreached or not is_loopback(urlsplit(settings.eutils_url).hostname):
        return DEMO if settings.demo else REAL
    try:
        reply = services.eutils.esearch(db="pubmed", term=f"{DEMO.pmids[0]}[uid]")
        return DEMO if parse_esearch(reply.content).ids else REAL
    except EntrezKitError:
        return DEMO if settings.demo else REAL


def _run_probe(probe: Probe, services: Services, examples: Examples, exchanges: list[Exchange]) -> Compared:
    began = time.monotonic()
    raised: EntrezKitError | None = None
    comparison = Comparison(name=probe.name, service=NAMES[probe.service], verdict="agrees")
    try:
        content = probe.ask(services, examples).content
        if probe.holds is not None:
            comparison.differences += probe.holds(content, examples)
        elif probe.refusal is not None:
            comparison.differences.append(describe_other_content("a reply instead of an error"))
    except EntrezKitError as exc:
        raised = exc
    _set_result(probe, comparison, raised, exchanges)
    comparison.requests, comparison.seconds = len(exchanges), round(time.monotonic() - began, 3)
    return Compared(probe, comparison, exchanges, refused=raised is not None)


def _set_result(probe: Probe, comparison: Comparison, raised: EntrezKitError | None, exchanges: list[Exchange]) -> None:
    """Set the result of a comparison: for a failure the hop, else the differences of the replies."""
    if raised is not None and not _is_due(probe, raised, exchanges):
        hop = _find_hop(raised, exchanges[-1].incoming if exchanges else None)
        if probe.may_be_gone and isinstance(raised, UpstreamError) and raised.reason not in HOPS:
            comparison.differences, comparison.detail = [], "switched off, which is known"
            return
        if hop is not None:
            comparison.differences, comparison.verdict, comparison.hop = [], "failed", hop
            comparison.detail, comparison.hint = raised.message, raised.recovery_hint
            comparison.code = raised.code if raised.code in ERRORS else UpstreamError.code
            return
        comparison.differences.append(_to_difference(probe, raised))
    if not any(difference.kind == "other_root" for difference in comparison.differences):
        comparison.differences += _find_drift(probe, exchanges)
    for place, endpoint in {exchange.incoming.moved_to: exchange.call.endpoint for exchange in exchanges}.items():
        if place is not None:
            comparison.differences.append(
                ShapeDifference("moved", endpoint, f"{endpoint} has moved permanently to {place}")
            )
    comparison.verdict = "differs" if comparison.differences else "agrees"


def _is_due(probe: Probe, error: EntrezKitError, exchanges: list[Exchange]) -> bool:
    if probe.refusal is None or not exchanges:
        return False
    kind, reason = probe.refusal
    if reason is None:
        return isinstance(error, kind) and exchanges[-1].incoming.status in (400, 404, 422)
    return isinstance(error, kind) and error.reason == reason


def _find_drift(probe: Probe, exchanges: list[Exchange]) -> Iterator[ShapeDifference]:
    """Yield the differences between the replies and their shape. Intermediate replies have their own probes."""
    answers = [exchange.incoming.body for exchange in exchanges if exchange.incoming.status == 200]
    for body in answers if probe.every else answers[-1:]:
        if probe.shape is not None and not _is_page(body):
            yield from (probe.shape(body) if callable(probe.shape) else probe.shape).list_differences(body)


def _find_hop(error: EntrezKitError, last: Incoming | None) -> str | None:
    reason = error.reason or ""
    if isinstance(error, RateLimited):
        return "rate_limit"
    if isinstance(error, NotConfigured):
        return "settings"
    if reason in HOPS:
        return reason
    if reason == "deadline_exceeded":
        return "timeout"
    if reason == "refused" and isinstance(error, UpstreamError):
        return "refused"
    if last is None or isinstance(error, InvalidInput | EntityNotFound):
        return None
    if last.status >= 500 and last.status != 501:
        return "service"
    if _is_page(last.body) and last.status == 200:
        return "page"
    return "service" if error.details.get("problem") in ("temporary", "truncated") else None


def _is_page(body: bytes) -> bool:
    return bool(re.match(rb"\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html)\b", body[:2000], re.I | re.S))


def _to_difference(probe: Probe, error: EntrezKitError) -> ShapeDifference:
    """Return the difference that an error shows in the replies of a service."""
    reason, endpoint = error.reason or "", str(error.details.get("endpoint") or probe.name)
    if reason == "redirected":
        kind = "moved"
    elif reason in ("retired", "new_parameter"):
        kind = reason
    elif reason in ("no_such_address", "unexpected_status"):
        kind = "other_status"
    elif error.details.get("problem") == "other_root":
        kind = "other_root"
    elif reason.endswith("_unreachable") or isinstance(error, InvalidInput):
        kind = "other_words"
    elif isinstance(error, EntityNotFound):
        kind = "other_content"
    else:
        kind = "unreadable"
    return ShapeDifference(kind, endpoint, error.message)

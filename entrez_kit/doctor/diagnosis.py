"""diagnose: run all checks in the order of their dependencies."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from entrez_kit.base.errors import EntrezKitError, NotConfigured, UpstreamError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.settings import Settings
from entrez_kit.doctor import hops, local
from entrez_kit.doctor.hops import Connector, HopCheck, Route
from entrez_kit.doctor.report import ERRORS, NAMES, Check, CheckEnded, DoctorReport, Notes, explain_exclusion
from entrez_kit.services import Services
from entrez_kit.services.transport import Responder, get_base_url
from entrez_kit.services.transport.download.addresses import Resolver, resolve_host
from entrez_kit.services.transport.rate_gate import is_keyed

PATIENCE_SECONDS: Final = 5.0
ASKING_SECONDS: Final = 15.0
"""Time limit of NCBI's reply: NCBI may be slow but working, and the request first waits for its slot."""

_IN_PROCESS: Final = "not used: the demo or a local copy answers"

Asker = Callable[[Settings], bytes]
"""Requests the list of databases from NCBI; raises the errors of the transport."""


def ask_for_databases(settings: Settings, responder: Responder | None = None) -> bytes:
    """Send one EInfo request through the transport, as commands do."""
    with Services(settings, responder) as services:
        return services.eutils.einfo().content


def measure_free_space(folder: Path) -> int:
    """Return the free bytes for this user on the disk of a folder."""
    return shutil.disk_usage(folder).free


def diagnose(
    settings: Settings,
    *,
    all_services: bool = False,
    deep: bool = False,
    save: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    resolver: Resolver = resolve_host,
    connector: Connector = hops.open_connection,
    find_route: Callable[[str], Route] = hops.find_route,
    asker: Asker | None = None,
    free_space: local.FreeSpace = measure_free_space,
    patience: float = PATIENCE_SECONDS,
    responder: Responder | None = None,
) -> DoctorReport:
    """Find the problem of entrez-kit: on this machine, in the network, or at NCBI.

    Every hop has its own time limit, and after a failed hop the later ones are skipped, so the run takes seconds. One
    request is sent to NCBI (two if NCBI rejects the API key), within the rate limit.

    Args:
        all_services: also check the hops to every other service.
        deep: send about forty requests to the services, and compare the replies with their known shapes.
        save: an empty folder for these replies, without credentials and addresses of the user.
        progress: called with the number of finished requests and their total.
        resolver: resolves names to addresses.
        connector: opens connections to addresses.
        find_route: returns the proxy and the certificates for a URL.
        asker: sends the one request to NCBI.
        free_space: returns the free bytes on the disk of a folder.
        patience: time limit of each hop in seconds.
        responder: answers all requests in this process, in place of the network.

    Raises:
        InvalidInput: ``save`` is not an empty folder.
        StoreError: the folder cannot be created or written.
    """
    if save is not None:
        from entrez_kit.doctor.recordings import check_folder

        check_folder(save)
    notes = Notes()
    local.check_versions(notes)
    local.check_configuration(notes, settings)
    local.check_disk(notes, settings, free_space)
    local.check_cache(notes, settings)
    local.check_rate_limit(notes, settings)

    names = (
        [name for name in NAMES if explain_exclusion(settings, name) is None] if all_services or deep else ["eutils"]
    )
    services = [(NAMES[name], get_base_url(settings, name)) for name in names]
    not_used = "offline" if settings.offline else _IN_PROCESS if responder is not None else ""

    def check_hops(service: tuple[str, str]) -> list[Check]:
        return _check_hops(*service, not_used, find_route, resolver, connector, patience)

    with ThreadPoolExecutor(max_workers=len(services), thread_name_prefix="entrez-kit doctor") as pool:
        first, *others = pool.map(check_hops, services)
    ask = asker or partial(ask_for_databases, responder=responder)
    checks = [*notes.checks, *first, *_ask(settings, first, ask, patience), *chain.from_iterable(others)]
    report = DoctorReport(healthy=not any(check.status == "failed" for check in checks), checks=checks)
    if deep:
        _compare(report, settings, save, progress, responder)
    return report


def _check_hops(
    name: str,
    url: str,
    not_used: str,
    find_route: Callable[[str], Route],
    resolver: Resolver,
    connector: Connector,
    patience: float,
) -> list[Check]:
    """Check the hops to one service.

    Args:
        name: the service in messages.
        url: its base URL.
        not_used: why no request goes there; empty if requests do.
    """
    notes = Notes(name)
    if not_used:
        for hop in ("dns", "tcp", "tls"):
            notes.skip(hop, not_used)
        return notes.checks
    try:
        route = find_route(url)
    except (OSError, ValueError) as exc:
        route = Route()
        notes.skip("proxy", f"the proxy settings cannot be read ({type(exc).__name__})")
    HopCheck(url, route, resolver, connector, patience).run(notes)
    return notes.checks


def _compare(
    report: DoctorReport,
    settings: Settings,
    save: Path | None,
    progress: Callable[[int, int], None],
    responder: Responder | None,
) -> None:
    """Send the probes to every service that was reached, and add the comparisons to the report."""
    from entrez_kit.doctor.comparison import compare_replies

    unreached = {check.service for check in report.failed if check.service}
    compared = compare_replies(settings, unreached=unreached, progress=progress, responder=responder)
    if save is not None:
        from entrez_kit.doctor.recordings import save_replies as save_replies

        save_replies(save, compared, settings)
        report.saved = str(save)
    report.comparisons = [result.comparison for result in compared]
    report.healthy = report.healthy and not report.list_compared("failed")


def _ask(settings: Settings, hops_of_ncbi: list[Check], asker: Asker, patience: float) -> list[Check]:
    """Send a request to NCBI, and check whether NCBI accepts the API key."""
    notes = Notes(NAMES["eutils"])
    unreached = next((check.name for check in hops_of_ncbi if check.status == "failed"), None)
    if settings.offline or unreached:
        why = "offline" if settings.offline else f"an earlier step failed: {unreached}"
        for name in ("ncbi", "api_key"):
            notes.skip(name, why)
        return notes.checks
    limit_ms = int(max(ASKING_SECONDS, patience) * 1000)
    plain = replace(
        settings,
        ncbi_max_retries=0,
        ncbi_timeout_ms=min(settings.ncbi_timeout_ms, limit_ms),
        ncbi_total_deadline_ms=min(settings.ncbi_total_deadline_ms, limit_ms),
        no_cache=True,
        refresh=False,
    )
    rejected: NotConfigured | None = None
    with notes.check("ncbi") as check:
        try:
            databases = _count_databases(asker, plain)
        except NotConfigured as exc:
            if exc.reason != "bad_api_key":
                raise _to_check_ended(exc) from None
            rejected = exc
            databases = _count_databases(asker, replace(plain, ncbi_api_key=None))
        check.add(f"replied with {format_count(databases, 'database')}")
    with notes.check("api_key") as check:
        if settings.ncbi_api_key is None:
            check.add("not set and not required; with a free key NCBI allows 10 requests per second instead of 3")
        elif rejected is not None:
            raise CheckEnded(rejected.message, rejected.recovery_hint, code=NotConfigured.code)
        elif notes.stopped:
            raise CheckEnded("not checked, because NCBI did not reply", status="skipped")
        elif not is_keyed(settings, "eutils"):
            check.warn(
                "set, but not sent: the URL of the E-utilities is not NCBI's",
                "Unset ENTREZ_KIT_EUTILS_URL to use the key.",
            )
        else:
            check.add("accepted by NCBI: 10 requests per second")
    return notes.checks


def _count_databases(asker: Asker, settings: Settings) -> int:
    """Return how many databases NCBI lists.

    Raises:
        CheckEnded: NCBI did not reply, or its reply is invalid.
        NotConfigured: NCBI rejected the API key.
    """
    try:
        body = asker(settings)
    except NotConfigured:
        raise
    except EntrezKitError as exc:
        raise _to_check_ended(exc) from None
    if b"<DbName>pubmed</DbName>" not in body:
        raise CheckEnded(
            "the server at NCBI's address does not list the database PubMed",
            "Unset ENTREZ_KIT_EUTILS_URL, or ask the operator of the mirror."
            if settings.origins.get("eutils_url")
            else "Run the command again later.",
        )
    return body.count(b"<DbName>")


def _to_check_ended(exc: EntrezKitError) -> CheckEnded:
    return CheckEnded(exc.message, exc.recovery_hint, code=exc.code if exc.code in ERRORS else UpstreamError.code)

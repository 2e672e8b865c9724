"""diagnose: all checks in the order in which one needs the other."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final

from entrez_kit.base.errors import EntrezKitError, NotConfigured, UpstreamError
from entrez_kit.base.settings import Settings
from entrez_kit.doctor import hops, local
from entrez_kit.doctor.hops import Connector, HopCheck, Resolver, Route
from entrez_kit.doctor.report import ERRORS, NAMES, Check, DoctorReport, Finding, Notes, why_not
from entrez_kit.services.transport.policy import base_of, is_keyed

PATIENCE_SECONDS: Final = 5.0
ASKING_SECONDS: Final = 15.0
"""For NCBI's own answer: it may be slow without being ill, and the request waits for its slot first."""

Asker = Callable[[Settings], bytes]
"""Asks NCBI which databases there are; raises what the transport raises."""


def ask_for_databases(settings: Settings) -> bytes:
    """Send one EInfo through the transport, as every command does."""
    from entrez_kit.services import Services

    with Services(settings) as services:
        return services.eutils.einfo().content


def free_space(folder: Path) -> int:
    """Return the bytes left for this user on the disk of a folder."""
    return shutil.disk_usage(folder).free


def diagnose(
    settings: Settings,
    *,
    all_services: bool = False,
    deep: bool = False,
    save: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
    resolver: Resolver = hops.resolve,
    connector: Connector = hops.connect,
    find_route: Callable[[str], Route] = hops.find_route,
    asker: Asker = ask_for_databases,
    free_space: local.FreeSpace = free_space,
    patience: float = PATIENCE_SECONDS,
) -> DoctorReport:
    """Find out what keeps entrez-kit from working: this machine, the way to NCBI, or NCBI itself.

    Every hop has a time limit of its own, and after one that fails the later ones are skipped, so the whole takes
    seconds. One request is sent to NCBI (two with an API key that NCBI refuses), within the rate limit.

    Args:
        settings: what to check.
        all_services: look at the way to every other service, too.
        deep: ask every service some forty things, and compare the replies with what is known of them.
        save: an empty folder for the replies to these, without credentials and addresses of the user.
        progress: told how many of how many of these requests are done.
        resolver: names to addresses.
        connector: addresses to connections.
        find_route: which proxy and certificates hold for an address.
        asker: sends the one request.
        free_space: bytes left on the disk of a folder.
        patience: seconds for each hop.

    Raises:
        InvalidInput: ``save`` names no empty folder.
        StoreError: that folder cannot be made or written.
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

    def check_way(name: str, url: str) -> list[Check]:
        way = Notes(name)
        if settings.offline:
            for hop in ("dns", "tcp", "tls"):
                way.skip(hop, "offline")
            return way.checks
        try:
            route = find_route(url)
        except (OSError, ValueError) as exc:
            route = Route()
            way.skip("proxy", f"the proxy settings cannot be read ({type(exc).__name__})")
        HopCheck(url, route, resolver, connector, patience).run(way)
        return way.checks

    names = [name for name in NAMES if why_not(settings, name) is None] if all_services or deep else ["eutils"]
    services = [(NAMES[name], base_of(settings, name)) for name in names]
    with ThreadPoolExecutor(max_workers=len(services), thread_name_prefix="entrez-kit doctor") as pool:
        ways = list(pool.map(lambda service: check_way(*service), services))
    first, *others = ways
    checks = [*notes.checks, *first, *_ask(settings, first, asker, patience), *(c for way in others for c in way)]
    report = DoctorReport(healthy=not any(check.status == "failed" for check in checks), checks=checks)
    if deep:
        _compare(report, settings, save, progress)
    return report


def _compare(report: DoctorReport, settings: Settings, save: Path | None, progress: Callable[[int, int], None]) -> None:
    """Ask every service that was reached what the kit asks of it, and add how the replies compare."""
    from entrez_kit.doctor.comparison import compare

    compared = compare(
        settings, unreached={check.service for check in report.failed if check.service}, progress=progress
    )
    if save is not None:
        from entrez_kit.doctor.recordings import save as save_replies

        save_replies(save, compared, settings)
        report.saved = str(save)
    report.comparisons = [one.comparison for one in compared]
    report.healthy = report.healthy and not report.compared("failed")


def _ask(settings: Settings, way: list[Check], asker: Asker, patience: float) -> list[Check]:
    """Ask NCBI itself, and find out on the way what it thinks of the API key."""
    notes = Notes(NAMES["eutils"])
    unreached = next((check.name for check in way if check.status == "failed"), None)
    if settings.offline or unreached:
        why = "offline" if settings.offline else f"not reached: {unreached} failed"
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
    with notes.check("ncbi") as said:
        try:
            databases = _databases(asker, plain)
        except NotConfigured as exc:
            if exc.reason != "bad_api_key":
                raise _as_finding(exc) from None
            rejected = exc
            databases = _databases(asker, replace(plain, ncbi_api_key=None))
        said.add(f"answered, and lists {databases} {'database' if databases == 1 else 'databases'}")
    with notes.check("api_key") as said:
        if settings.ncbi_api_key is None:
            said.add("not set, none is required; with a free one NCBI allows 10 requests per second instead of 3")
        elif rejected is not None:
            raise Finding(rejected.message, rejected.recovery_hint, code=NotConfigured.code)
        elif notes.stopped:
            raise Finding("NCBI gave no answer that tells", status="skipped")
        elif not is_keyed(settings, "eutils"):
            said.warn(
                "set, but not sent: the address of the E-utilities is not NCBI's",
                "Unset ENTREZ_KIT_EUTILS_URL to use the key.",
            )
        else:
            said.add("accepted by NCBI: 10 requests per second")
    return notes.checks


def _databases(asker: Asker, settings: Settings) -> int:
    """Return how many databases NCBI lists.

    Raises:
        Finding: it did not answer, or not sensibly.
        NotConfigured: it refused the API key.
    """
    try:
        body = asker(settings)
    except NotConfigured:
        raise
    except EntrezKitError as exc:
        raise _as_finding(exc) from None
    if b"<DbName>pubmed</DbName>" not in body:
        raise Finding(
            "what answers in NCBI's place does not list PubMed among its databases",
            "Unset ENTREZ_KIT_EUTILS_URL, or ask whoever runs the mirror."
            if settings.origins.get("eutils_url")
            else "Run the command again in a little while.",
        )
    return body.count(b"<DbName>")


def _as_finding(exc: EntrezKitError) -> Finding:
    return Finding(exc.message, exc.recovery_hint, code=exc.code if exc.code in ERRORS else UpstreamError.code)

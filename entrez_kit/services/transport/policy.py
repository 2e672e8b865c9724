"""The rules of each service: base URL, rate limit, retries, time limits, lifetime of replies, credentials."""

import hashlib
import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Final
from urllib.parse import urlencode, urlsplit

from pydantic import SecretStr

from entrez_kit.base.settings import Settings, get_default

HOUR: Final = 3600
DAY: Final = 24 * HOUR
WEEK: Final = 7 * DAY

CLOCK_TOLERANCE_SECONDS: Final = 60.0
"""How far in the future a stored time may be: the clocks of machines that share a folder differ slightly."""

NOT_FOUND_TTL: Final = HOUR
"""A record that is missing now may soon exist."""

TTL: Final[Mapping[str, int | None]] = {
    "einfo": DAY,
    "esummary": DAY,
    "europepmc_search": DAY,
    "europepmc_citations": DAY,
    "europepmc_fulltext": WEEK,
    "esearch": HOUR,
    "espell": HOUR,
    "egquery": HOUR,
    "elink": HOUR,
    "efetch": WEEK,
    "ecitmatch": WEEK,
    "idconv": WEEK,
    "mesh": WEEK,
    "unpaywall": WEEK,
    "pmc_oa": WEEK,
    "crossref": DAY,
    "openalex": DAY,
    "epost": None,
    "dtd": WEEK,
}
"""Lifetime of a cached reply in seconds, by endpoint. Calls that read or create history are never cached."""

LOOKED_UP: Final = ("esearch", "esummary")
"""The endpoints of a MeSH lookup; MeSH changes once a year."""


def ttl_of(endpoint: str, db: str | None) -> int | None:
    """Return the lifetime of a cached E-utility reply in seconds."""
    return TTL["mesh"] if db == "mesh" and endpoint in LOOKED_UP else TTL[endpoint]


NCBI_DOMAIN: Final = "ncbi.nlm.nih.gov"


@dataclass(frozen=True)
class Policy:
    """The rules of one service.

    Args:
        title: its name in messages.
        per_second: returns its rate limit; the argument tells whether requests have an api key.
        timeout_ms: the setting with the timeout of one HTTP request.
        retries: the setting with the number of retries.
        pause_ms: the setting with the minimum pause between requests, if it has one.
        credentials: parameter name and setting of each credential that it may receive.
        key: the name of the credential that raises the rate limit.
        domain: the domain that may receive credentials, over https. Loopback may always receive them.
        at_once: maximum number of requests in flight, if it has one.
        missing: statuses that mean "no such record" and not "no such URL".
        echoes: whether its replies repeat the parameters, including credentials.
    """

    title: str
    per_second: Callable[[bool], float]
    timeout_ms: str = "ncbi_timeout_ms"
    retries: str = "ncbi_max_retries"
    pause_ms: str | None = None
    credentials: tuple[tuple[str, str], ...] = ()
    key: str = "api_key"
    domain: str | None = None
    at_once: int | None = None
    missing: frozenset[int] = frozenset({404})
    echoes: bool = False


POLICIES: Final[Mapping[str, Policy]] = {
    "eutils": Policy(
        title="NCBI",
        per_second=lambda keyed: 10 if keyed else 3,
        pause_ms="ncbi_request_delay_ms",
        credentials=(("tool", "ncbi_tool_identifier"), ("email", "ncbi_admin_email"), ("api_key", "ncbi_api_key")),
        domain=NCBI_DOMAIN,
        missing=frozenset(),
    ),
    "idconv": Policy(
        title="The PMC ID Converter",
        per_second=lambda keyed: 3,
        pause_ms="ncbi_request_delay_ms",
        credentials=(("tool", "ncbi_tool_identifier"), ("email", "ncbi_admin_email")),
        domain=NCBI_DOMAIN,
        missing=frozenset(),
        echoes=True,
    ),
    "europepmc": Policy(
        title="Europe PMC",
        per_second=lambda keyed: 5,
        timeout_ms="europepmc_timeout_ms",
        retries="europepmc_max_retries",
        pause_ms="europepmc_request_delay_ms",
        at_once=4,
    ),
    "unpaywall": Policy(
        title="Unpaywall",
        per_second=lambda keyed: 5,
        timeout_ms="unpaywall_timeout_ms",
        credentials=(("email", "unpaywall_email"),),
        domain="unpaywall.org",
        echoes=True,
    ),
    "crossref": Policy(
        title="Crossref",
        per_second=lambda keyed: 10 if keyed else 5,
        timeout_ms="europepmc_timeout_ms",
        retries="europepmc_max_retries",
        credentials=(("mailto", "crossref_email"),),
        key="mailto",
        domain="crossref.org",
        at_once=1,
        echoes=True,
    ),
    "openalex": Policy(
        title="OpenAlex",
        per_second=lambda keyed: 10,
        timeout_ms="europepmc_timeout_ms",
        retries="europepmc_max_retries",
    ),
    "pmc_oa": Policy(title="PMC's open-data bucket", per_second=lambda keyed: 50),  # S3 takes thousands a second
}


def base_of(settings: Settings, service: str) -> str:
    """Return the base URL of a service without a final slash."""
    base: str = getattr(settings, f"{service}_url")
    return base.rstrip("/")


def pause_ms(settings: Settings, service: str) -> int | None:
    """Return the minimum pause between requests to a service; None if it has none."""
    setting = POLICIES[service].pause_ms
    return getattr(settings, setting) if setting else None


def credentials_for(settings: Settings, service: str, url: str) -> tuple[tuple[str, str], ...]:
    """Return the credentials that may be sent to this URL: none if it is not the service's own."""
    policy, parts = POLICIES[service], urlsplit(url)
    is_theirs = parts.scheme == "https" and policy.domain is not None and is_within(parts.hostname, policy.domain)
    if not is_theirs and not is_loopback(parts.hostname):
        return ()
    told = ((name, getattr(settings, setting)) for name, setting in policy.credentials)
    return tuple(
        (name, value.get_secret_value() if isinstance(value, SecretStr) else value) for name, value in told if value
    )


def credentials_length(settings: Settings, service: str, url: str) -> int:
    """Return the number of characters that credentials add to a URL."""
    return len(urlencode(credentials_for(settings, service, url))) + 1


def is_keyed(settings: Settings, service: str) -> bool:
    """Return whether requests have the credential for the higher limit: NCBI's api key, or Crossref's e-mail."""
    return _key(settings, service) is not None


def _key(settings: Settings, service: str) -> str | None:
    policy = POLICIES[service]
    return dict(credentials_for(settings, service, base_of(settings, service))).get(policy.key)


LONGEST_LATENCY: Final = 1.5
"""The latency in seconds up to which one operation can use the full rate of a service."""


def most_in_flight(settings: Settings, service: str) -> int:
    """Return how many requests of one operation may be in flight: 6 to NCBI, 16 with an api key."""
    policy = POLICIES[service]
    pace = policy.per_second(is_keyed(settings, service))
    if pause := pause_ms(settings, service):
        pace = min(pace, 1000 / pause)
    most = ceil(pace * LONGEST_LATENCY) + 1
    return most if policy.at_once is None else min(most, policy.at_once)


def limiter_file(settings: Settings, service: str) -> Path:
    """Return the state file for all requests that count against the same limit: one per key, else one per machine.

    A mirror or a sandbox has a separate limit and a separate file.
    """
    key = _key(settings, service)
    who = _hash(f"entrez-kit limiter {key}") if key else "machine"
    base = base_of(settings, service)
    own = "" if settings.demo or base == get_default(f"{service}_url") else f"-at-{_hash(base)}"
    return settings.state_dir / f"limit-{service}-{who}{own}.json"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def cache_identity(settings: Settings, service: str) -> str:
    """Return the text that identifies a service in cache keys; the sandbox has a fixed name for its random port."""
    if settings.demo:
        return f"sandbox:{service}"
    return base_of(settings, service)


def is_loopback(host: str | None) -> bool:
    """Return whether a host name or address is this machine."""
    if not host:
        return False
    if host.lower() == "localhost" or host.lower().endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_within(host: str | None, domain: str) -> bool:
    """Return whether a host is the domain or one of its subdomains."""
    return host is not None and (host == domain or host.endswith(f".{domain}"))

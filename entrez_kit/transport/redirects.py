"""Where a redirect may lead: to the same service, and never from https to http."""

from typing import Final
from urllib.parse import SplitResult, urljoin, urlsplit

from entrez_kit.transport.call import CREDENTIALS
from entrez_kit.transport.policy import NCBI_DOMAIN, is_loopback, is_within

MAX_REDIRECTS: Final = 3
STATUSES: Final = frozenset({301, 302, 303, 307, 308})


def follow(url: str, location: str) -> str | None:
    """Return the address a redirect leads to, or None when it must not be followed.

    Credentials it repeats are taken out; the next request gets those the new address may have.
    """
    target = _split(url, location)
    if target is None or target.username or target.password or not _is_allowed(urlsplit(url), target):
        return None
    kept = [part for part in target.query.split("&") if part.partition("=")[0] not in CREDENTIALS]
    return target._replace(query="&".join(kept), fragment="").geturl()


def shown(url: str, location: str) -> str:
    """Return as much of a redirect's target as may be shown."""
    target = _split(url, location)
    return f"{target.scheme}://{target.hostname}" if target is not None else "an address that is none"


def _split(url: str, location: str) -> SplitResult | None:
    try:
        target = urlsplit(urljoin(url, location))
        _ = target.port  # looked at only now, and refused when it is no number
    except ValueError:
        return None
    return target if target.hostname else None


def _is_allowed(origin: SplitResult, target: SplitResult) -> bool:
    here, there = origin.hostname, target.hostname
    if is_loopback(here):
        return here == there and target.scheme in ("http", "https")
    if is_within(here, NCBI_DOMAIN):
        return is_within(there, NCBI_DOMAIN) and target.scheme == "https"
    return here == there and target.scheme in (origin.scheme, "https")

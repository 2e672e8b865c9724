"""Where a redirect may lead: to the same service, and never from https to http."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urljoin, urlsplit

from entrez_kit.services.transport import CREDENTIALS
from entrez_kit.services.transport.policy import NCBI_DOMAIN, is_loopback, is_within

MAX_REDIRECTS: Final = 3
_PORTS: Final = {"http": 80, "https": 443}
PERMANENT: Final = frozenset({301, 308})
STATUSES: Final = frozenset({301, 302, 303, 307, 308})


def follow(url: str, location: str) -> str | None:
    """Return the address a redirect leads to, or None when it must not be followed.

    Credentials it repeats are taken out; the next request gets them again only at the same scheme, host and port.
    """
    target = _split(url, location)
    if target is None or target.username or target.password or not _is_allowed(urlsplit(url), target):
        return None
    kept = [part for part in target.query.split("&") if part.partition("=")[0] not in CREDENTIALS]
    return target._replace(query="&".join(kept), fragment="").geturl()


def repeats(url: str, params: Sequence[tuple[str, str]]) -> bool:
    """Tell whether an address has some of the arguments of a request: else what it answers is another question."""
    return not params or not set(params).isdisjoint(parse_qsl(urlsplit(url).query, keep_blank_values=True))


def same_origin(url: str, other: str) -> bool:
    """Tell whether two addresses share scheme, host and port: only then is the other one told who asks."""
    here, there = urlsplit(url), urlsplit(other)
    ports = [part.port or _PORTS.get(part.scheme) for part in (here, there)]
    return (here.scheme, here.hostname, ports[0]) == (there.scheme, there.hostname, ports[1])


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

"""Allowed redirects: to the same service, and never from https to http."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urljoin, urlsplit

from entrez_kit.services.transport import CREDENTIALS, NCBI_DOMAIN, is_loopback, is_within

MAX_REDIRECTS: Final = 3
DEFAULT_PORTS: Final = {"http": 80, "https": 443}
PERMANENT: Final = frozenset({301, 308})
STATUSES: Final = frozenset({301, 302, 303, 307, 308})


def follow(url: str, location: str) -> str | None:
    """Return the target URL of a redirect; None if it must not be followed.

    Credentials in the target are removed; the next request gets them again only at the same scheme, host and port.
    """
    target = _split(url, location)
    if target is None or target.username or target.password or not _is_allowed(urlsplit(url), target):
        return None
    parameters = [part for part in target.query.split("&") if part.partition("=")[0] not in CREDENTIALS]
    return target._replace(query="&".join(parameters), fragment="").geturl()


def has_arguments(url: str, params: Sequence[tuple[str, str]]) -> bool:
    """Return whether a URL has any argument of a request; without them, its reply does not match the request."""
    return not params or not set(params).isdisjoint(parse_qsl(urlsplit(url).query, keep_blank_values=True))


def is_same_origin(url: str, other: str) -> bool:
    """Return whether two URLs have the same scheme, host and port; only then the other one gets credentials."""
    first, second = urlsplit(url), urlsplit(other)
    ports = [part.port or DEFAULT_PORTS.get(part.scheme) for part in (first, second)]
    return (first.scheme, first.hostname, ports[0]) == (second.scheme, second.hostname, ports[1])


def display_target(url: str, location: str) -> str:
    """Return the target of a redirect for messages: scheme and host only."""
    target = _split(url, location)
    return f"{target.scheme}://{target.hostname}" if target is not None else "an invalid address"


def _split(url: str, location: str) -> SplitResult | None:
    try:
        target = urlsplit(urljoin(url, location))
        _ = target.port  # parsed only now; an invalid port raises ValueError
    except ValueError:
        return None
    return target if target.hostname else None


def _is_allowed(origin: SplitResult, target: SplitResult) -> bool:
    host, target_host = origin.hostname, target.hostname
    if is_loopback(host):
        return host == target_host and target.scheme in ("http", "https")
    if is_within(host, NCBI_DOMAIN):
        return is_within(target_host, NCBI_DOMAIN) and target.scheme == "https"
    return host == target_host and target.scheme in (origin.scheme, "https")

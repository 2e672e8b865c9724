"""The addresses from which pages may be downloaded: public addresses only, none of the local network.

A host name is resolved, its addresses are checked, and the connection goes to a checked address. So a name that
resolves differently the second time (DNS rebinding) has no effect. A name with any forbidden address is refused.
"""

import ipaddress
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from entrez_kit.base.frontend_text import cut_end
from entrez_kit.base.redaction import remove_secret_parameters
from entrez_kit.base.settings import Settings
from entrez_kit.services.transport import is_loopback
from entrez_kit.services.transport.in_flight import start_in_background
from entrez_kit.services.transport.redirects import DEFAULT_PORTS

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Sequence[str]]
Origin = tuple[str, str, int]

PORTS: Final = frozenset({80, 443})
MAX_URL: Final = 8192
MAX_HOST: Final = 253

# Networks that the standard library does not treat as private or reserved in every version of Python.
_FORBIDDEN: Final = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT; some clouds have their metadata service there
        "168.63.129.16/32",  # the Azure host, which has a public address
        "192.0.0.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "198.18.0.0/15",
        "240.0.0.0/4",
        "::/96",  # IPv4 in IPv6, oldest form
        "64:ff9b:1::/48",  # local translation
        "100::/64",
        "2001::/23",  # Teredo and other special uses
        "2001:db8::/32",
        "2002::/16",  # 6to4
        "3fff::/20",
        "5f00::/16",
        "fc00::/7",  # local networks, which include metadata services of clouds
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
    )
)
_TRANSLATED: Final = ipaddress.IPv6Network("64:ff9b::/96")  # NAT64: how a network without IPv4 reaches IPv4 hosts
_ISATAP: Final = re.compile(r"(0000|0200):5efe", re.IGNORECASE)

_INSIDE: Final = frozenset(
    {"localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "onion", "test", "invalid"}
)
"""Top-level names that do not exist in public DNS."""

_LABEL: Final = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.IGNORECASE)
_NUMERIC: Final = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)
_FORBIDDEN_LETTERS: Final = re.compile(r"[\x00-\x20\x7f\\]")


class Refused(Exception):
    """The address is not allowed; ``reason`` is the value of ``details.reason``."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class RequestTarget:
    """The target of one request: the parts of its URL, with the host in ASCII and lower case."""

    scheme: str
    host: str
    port: int
    path: str
    query: str

    @property
    def origin(self) -> Origin:
        """Scheme, host and port."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """The value of the Host header: the host, and the port if it is not the default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def request_path(self) -> str:
        """Path and query for the request line."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def url(self) -> str:
        """The complete URL."""
        return f"{self.scheme}://{self.authority}{self.request_path}"

    @property
    def shown(self) -> str:
        """The URL for messages: without the query, which may contain a key."""
        return f"{self.scheme}://{self.authority}{cut_end(self.path, 200)}"

    @property
    def public_url(self) -> str:
        """The URL for results: without parameters that look like keys or signatures."""
        query = remove_secret_parameters(self.query)
        return f"{self.scheme}://{self.authority}{self.path}" + (f"?{query}" if query else "")


def parse_target(url: str, base: RequestTarget | None = None) -> RequestTarget:
    """Parse a URL.

    Args:
        url: the URL; may be relative if ``base`` is given.
        base: the page that contains the URL.

    Raises:
        Refused: the URL is invalid, contains a user name, or is neither http nor https.
    """
    text = url.strip(" \t\r\n\f\x00")
    if not text or len(text) > MAX_URL or _FORBIDDEN_LETTERS.search(text.replace(" ", "")):
        raise Refused("bad_address", "the URL is not well-formed")
    try:
        parts = urlsplit(urljoin(base.url, text) if base is not None else text)
        port = parts.port
    except ValueError:
        raise Refused("bad_address", "the URL is not well-formed") from None
    scheme = parts.scheme.lower()
    if scheme not in DEFAULT_PORTS:
        raise Refused("bad_scheme", f"{scheme[:20] or 'no scheme'!r} is neither http nor https")
    if "@" in parts.netloc:
        raise Refused("bad_address", "the URL contains a user name or a password")
    host = _get_host(parts)
    return RequestTarget(
        scheme=scheme,
        host=host,
        port=DEFAULT_PORTS[scheme] if port is None else port,
        path=quote(parts.path or "/", safe="/%:@!$&'()*+,;=~[]"),
        query=quote(parts.query, safe="/%:@!$&'()*+,;=~?[]"),
    )


def _get_host(parts: SplitResult) -> str:
    host = (parts.hostname or "").removesuffix(".")
    if ":" in host:
        try:
            return str(ipaddress.IPv6Address(host)) if "%" not in host else _refuse_host()
        except ValueError:
            return _refuse_host()
    try:
        host = host.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        return _refuse_host()
    labels = host.split(".")
    if _NUMERIC.fullmatch(labels[-1]):  # a numeric address: programs agree only about the standard notation
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError:
            raise Refused("forbidden_address", "the host is an IP address in a non-standard notation") from None
    if len(host) > MAX_HOST or not all(_LABEL.fullmatch(label) for label in labels):
        return _refuse_host()
    return host


def _refuse_host() -> str:
    raise Refused("bad_address", "the URL has no valid host")


def is_public(address: Address) -> bool:
    """Return whether an address is on the public network."""
    if any(address.version == network.version and address in network for network in _FORBIDDEN):
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return False
        if _ISATAP.match(address.exploded[20:]):
            return False
        if address in _TRANSLATED:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return address.is_global and not (address.is_multicast or address.is_reserved)


def resolve_host(host: str, port: int) -> Sequence[str]:
    """Return the addresses to which this machine resolves a name.

    Raises:
        OSError: the name has no address.
    """
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(item[4][0]) for item in entries))


@dataclass(frozen=True)
class AddressGuard:
    """Decide which addresses may be requested.

    ``home`` is the one allowed origin on this machine: the sandbox, or a loopback server configured as Unpaywall. No
    setting can allow another one.
    """

    home: Origin | None = None
    ports: frozenset[int] = PORTS
    resolver: Resolver = resolve_host

    @classmethod
    def of(cls, settings: Settings) -> "AddressGuard":
        """Return the guard for these settings. It allows loopback only if Unpaywall is configured there."""
        parts = urlsplit(settings.unpaywall_url)
        host = (parts.hostname or "").lower()
        if not is_loopback(host):
            return cls()
        return cls(home=(parts.scheme, host, parts.port or DEFAULT_PORTS[parts.scheme]))

    def restrict_for(self, url: str) -> "AddressGuard":
        """Return the guard for URLs in a page: only a page at ``home`` may refer to ``home``."""
        try:
            return self if self.is_home(parse_target(url)) else replace(self, home=None)
        except Refused:
            return replace(self, home=None)

    def is_home(self, target: RequestTarget) -> bool:
        """Return whether a target is the allowed origin on this machine."""
        return self.home is not None and target.origin == self.home

    def check_target(self, target: RequestTarget) -> None:
        """Check everything that needs no name resolution.

        Raises:
            Refused: the port is not a web port, or the host is not public.
        """
        if self.is_home(target):
            return
        if target.port not in self.ports:
            raise Refused("forbidden_address", f"port {target.port} is not allowed; only 80 and 443 are")
        address = _to_address(target.host)
        if address is not None:
            _check_public(address)
        elif "." not in target.host or target.host.rsplit(".", 1)[-1] in _INSIDE or target.host.endswith(".home.arpa"):
            raise Refused("forbidden_address", "the host is not a public name")

    def resolve_allowed(self, target: RequestTarget, seconds: float) -> list[str]:
        """Resolve the host of a target and return its allowed addresses.

        Args:
            target: the target of a request.
            seconds: timeout of the resolution.

        Raises:
            Refused: one of its addresses is not public.
            OSError: it has no address.
            TimeoutError: the resolution took too long.
        """
        self.check_target(target)
        literal = _to_address(target.host)
        if literal is not None:
            return [str(literal)]
        try:
            texts = start_in_background(lambda: self.resolver(target.host, target.port))(max(0.0, seconds))
        except TimeoutError:
            raise
        except Exception:  # the exception may quote the name
            raise OSError("the name cannot be resolved") from None
        if not texts:
            raise OSError("the name has no address")
        addresses = [address for text in texts if (address := _to_address(text)) is not None]
        if len(addresses) < len(texts):
            raise Refused("forbidden_address", "the host resolves to an invalid address")
        if self.is_home(target):
            if not all(address.is_loopback for address in addresses):
                raise Refused("forbidden_address", "the host is not on this machine")
        else:
            for address in addresses:
                _check_public(address)
        return [str(address) for address in addresses]


def _to_address(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _check_public(address: Address) -> None:
    if not is_public(address):
        raise Refused("forbidden_address", "the host has an address that is not public")

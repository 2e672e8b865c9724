"""Which addresses a page named by somebody else may be fetched from: public ones, and nothing that leads back inside.

An address is judged after it is resolved, and the connection goes to exactly what was judged: a name that answers
differently the second time gains nothing. One forbidden address among several spoils the name.
"""

import ipaddress
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from entrez_kit.base.settings import Settings
from entrez_kit.services.transport.in_flight import in_background
from entrez_kit.services.transport.policy import is_loopback

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Sequence[str]]
Origin = tuple[str, str, int]

PORTS: Final = frozenset({80, 443})
DEFAULT_PORTS: Final = {"http": 80, "https": 443}
MAX_URL: Final = 8192
MAX_HOST: Final = 253

# What the standard library does not count as private or reserved, or not in every version of Python.
_FORBIDDEN: Final = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "100.64.0.0/10",  # carriers' own networks; some clouds keep their metadata there
        "168.63.129.16/32",  # Azure's host, under a public address
        "192.0.0.0/24",
        "192.88.99.0/24",  # relays of 6to4
        "198.18.0.0/15",
        "240.0.0.0/4",
        "::/96",  # IPv4 in IPv6, the oldest form
        "64:ff9b:1::/48",  # local translation
        "100::/64",
        "2001::/23",  # Teredo and other special uses
        "2001:db8::/32",
        "2002::/16",  # 6to4
        "3fff::/20",
        "5f00::/16",
        "fc00::/7",  # local networks, metadata of clouds among them
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
    )
)
_TRANSLATED: Final = ipaddress.IPv6Network("64:ff9b::/96")  # how a network without IPv4 reaches the rest
_ISATAP: Final = re.compile(r"(0000|0200):5efe", re.IGNORECASE)

_INSIDE: Final = frozenset(
    {"localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "onion", "test", "invalid"}
)
"""Last parts of names that lead nowhere in public."""

_LABEL: Final = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.IGNORECASE)
_NUMERIC: Final = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)
_FORBIDDEN_LETTERS: Final = re.compile(r"[\x00-\x20\x7f\\]")
_SECRET_PARAMETER: Final = re.compile(
    r"(?is)(x-amz-.*|x-goog-.*|awsaccesskeyid|signature|sig|expires|key-pair-id|policy|.*token.*|.*key|.*secret.*"
    r"|.*password.*|auth.*|session.*|e?mail|ticket|code|jwt)"
)


class Refused(Exception):
    """An address that is not asked; ``reason`` is the word for ``details.reason``."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class RequestTarget:
    """Where one request goes: the parts of an address, the host in ASCII and lower case."""

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
        """Host and, where it is not the usual one, port: as the Host header has it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def target(self) -> str:
        """Path and query, as the request line has them."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def url(self) -> str:
        """The whole address."""
        return f"{self.scheme}://{self.authority}{self.target}"

    @property
    def shown(self) -> str:
        """The address as messages have it: without the query, which may hold a key."""
        path = self.path if len(self.path) <= 200 else f"{self.path[:199]}…"
        return f"{self.scheme}://{self.authority}{path}"

    @property
    def public_url(self) -> str:
        """The address as it may be handed on: without parameters that look like keys or signatures."""
        kept = [part for part in self.query.split("&") if not _SECRET_PARAMETER.fullmatch(part.partition("=")[0])]
        query = "&".join(kept)
        return f"{self.scheme}://{self.authority}{self.path}" + (f"?{query}" if query else "")


def read_place(url: str, base: RequestTarget | None = None) -> RequestTarget:
    """Take an address apart.

    Args:
        url: the address; relative to ``base`` where there is one.
        base: where it was found.

    Raises:
        Refused: it is none, names a user, or is neither http nor https.
    """
    text = url.strip(" \t\r\n\f\x00")
    if not text or len(text) > MAX_URL or _FORBIDDEN_LETTERS.search(text.replace(" ", "")):
        raise Refused("bad_address", "the address is not well formed")
    try:
        parts = urlsplit(urljoin(base.url, text) if base is not None else text)
        port = parts.port
    except ValueError:
        raise Refused("bad_address", "the address is not well formed") from None
    scheme = parts.scheme.lower()
    if scheme not in DEFAULT_PORTS:
        raise Refused("bad_scheme", f"{scheme[:20] or 'no scheme'!r} is neither http nor https")
    if "@" in parts.netloc:
        raise Refused("bad_address", "the address names a user or a password")
    host = _host_of(parts)
    return RequestTarget(
        scheme=scheme,
        host=host,
        port=DEFAULT_PORTS[scheme] if port is None else port,
        path=quote(parts.path or "/", safe="/%:@!$&'()*+,;=~[]"),
        query=quote(parts.query, safe="/%:@!$&'()*+,;=~?[]"),
    )


def _host_of(parts: SplitResult) -> str:
    host = (parts.hostname or "").removesuffix(".")
    if ":" in host:
        try:
            return str(ipaddress.IPv6Address(host)) if "%" not in host else _no_host()
        except ValueError:
            return _no_host()
    try:
        host = host.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        return _no_host()
    labels = host.split(".")
    if _NUMERIC.fullmatch(labels[-1]):  # an address in some spelling: only the plain one is understood everywhere
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError:
            raise Refused("forbidden_address", "the host is an address in an unusual spelling") from None
    if len(host) > MAX_HOST or not all(_LABEL.fullmatch(label) for label in labels):
        return _no_host()
    return host


def _no_host() -> str:
    raise Refused("bad_address", "the address names no usable host")


def is_public(address: Address) -> bool:
    """Tell whether an address is one of the public network's."""
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


def system_resolver(host: str, port: int) -> Sequence[str]:
    """Return the addresses this machine finds for a name.

    Raises:
        OSError: it finds none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(item[4][0]) for item in found))


@dataclass(frozen=True)
class AddressGuard:
    """Say which addresses may be asked.

    ``home`` is the one place allowed although it is on this machine: the sandbox, or whatever on loopback plays the
    part of Unpaywall. No setting can name any other.
    """

    home: Origin | None = None
    ports: frozenset[int] = PORTS
    resolver: Resolver = system_resolver

    @classmethod
    def of(cls, settings: Settings) -> "AddressGuard":
        """Return the guard for these settings: strict, but for a service that runs on this machine."""
        parts = urlsplit(settings.unpaywall_url)
        host = (parts.hostname or "").lower()
        if not is_loopback(host):
            return cls()
        return cls(home=(parts.scheme, host, parts.port or DEFAULT_PORTS[parts.scheme]))

    def seen_from(self, url: str) -> "AddressGuard":
        """Return the guard for what a page names: this one from home, from anywhere else one that knows no home."""
        try:
            return self if self.is_home(read_place(url)) else replace(self, home=None)
        except Refused:
            return replace(self, home=None)

    def is_home(self, place: RequestTarget) -> bool:
        """Tell whether a place is the one that is allowed on this machine."""
        return self.home is not None and place.origin == self.home

    def check_place(self, place: RequestTarget) -> None:
        """Refuse what can be refused without resolving.

        Raises:
            Refused: a port nobody serves pages on, a name or address that leads inside.
        """
        if self.is_home(place):
            return
        if place.port not in self.ports:
            raise Refused("forbidden_address", f"port {place.port} is none of the web's")
        address = _as_address(place.host)
        if address is not None:
            _check_public(address)
        elif "." not in place.host or place.host.rsplit(".", 1)[-1] in _INSIDE or place.host.endswith(".home.arpa"):
            raise Refused("forbidden_address", "the host is not a public name")

    def addresses(self, place: RequestTarget, seconds: float) -> list[str]:
        """Resolve a place and return what may be connected to.

        Args:
            place: where a request is to go.
            seconds: how long resolving may take.

        Raises:
            Refused: any of its addresses is not public.
            OSError: it has none.
            TimeoutError: resolving took too long.
        """
        self.check_place(place)
        literal = _as_address(place.host)
        if literal is not None:
            return [str(literal)]
        try:
            texts = in_background(lambda: self.resolver(place.host, place.port))(max(0.0, seconds))
        except TimeoutError:
            raise
        except Exception:  # what a resolver raises may quote the name
            raise OSError("the name cannot be resolved") from None
        if not texts:
            raise OSError("the name has no address")
        found = [address for text in texts if (address := _as_address(text)) is not None]
        if len(found) < len(texts):
            raise Refused("forbidden_address", "the host resolves to something that is no address")
        if self.is_home(place):
            if not all(address.is_loopback for address in found):
                raise Refused("forbidden_address", "the host does not lie on this machine")
        else:
            for address in found:
                _check_public(address)
        return [str(address) for address in found]


def _as_address(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _check_public(address: Address) -> None:
    if not is_public(address):
        raise Refused("forbidden_address", "the host has an address that is not public")

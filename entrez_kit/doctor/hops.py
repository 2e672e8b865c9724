"""Check each hop to a service: name, connection, proxy, encryption.

Each hop has a time limit and raises ``CheckEnded`` with the problem and a hint. This module sends no request to the
service itself, and never shows the password of a proxy.
"""

import base64
import errno
import ipaddress
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPException, HTTPResponse, RemoteDisconnected
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

from entrez_kit.base.errors import NotConfigured
from entrez_kit.base.redaction import redact_origin
from entrez_kit.doctor.report import Check, CheckEnded, Notes
from entrez_kit.services.transport import is_loopback
from entrez_kit.services.transport.download.addresses import Resolver
from entrez_kit.services.transport.in_flight import start_in_background

Connector = Callable[[str, int, float], socket.socket]
"""Address, port and seconds to a connection; raises OSError."""

HOPS: Final = ("dns", "tcp", "proxy", "tls")
MAX_ADDRESSES: Final = 3

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Route:
    """The proxy and the certificates for requests to an address."""

    proxy: str | None = None
    ca_bundle: str | None = None


def find_route(url: str) -> Route:
    """Return the proxy and the certificates that requests uses for an address; they come from the environment."""
    import requests
    from requests.utils import DEFAULT_CA_BUNDLE_PATH, select_proxy

    with requests.Session() as session:
        merged = session.merge_environment_settings(url, {}, False, None, None)
    # The transport uses no proxy for loopback addresses.
    proxy = None if is_loopback(urlsplit(url).hostname) else select_proxy(url, merged["proxies"])
    bundle = merged["verify"]
    return Route(
        proxy=proxy if not proxy or "://" in proxy else f"http://{proxy}",
        ca_bundle=bundle if isinstance(bundle, str) else DEFAULT_CA_BUNDLE_PATH,
    )


def open_connection(address: str, port: int, seconds: float) -> socket.socket:
    """Open a connection to an address."""
    return socket.create_connection((address, port), timeout=seconds)


@dataclass(frozen=True)
class HopCheck:
    """Check the hops to one service.

    Args:
        url: the base URL of the service.
        route: its proxy and certificates.
        resolver: resolves names to addresses.
        connector: opens connections to addresses.
        patience: time limit of each hop in seconds.
    """

    url: str
    route: Route
    resolver: Resolver
    connector: Connector
    patience: float

    def run(self, notes: Notes) -> None:
        """Check the hops in order; after a failed hop the others are skipped."""
        target = urlsplit(self.url)
        first = urlsplit(self.route.proxy or self.url)
        addresses: list[str] = []
        connection: socket.socket | None = None
        try:
            with notes.check("dns") as check:
                addresses = self._resolve(first, check)
            if not notes.stopped:
                with notes.check("tcp") as check:
                    connection = self._connect(first, addresses, check)
            if connection is not None:
                self._check_later_hops(notes, target, first, connection)
        finally:
            if connection is not None:
                connection.close()
        done = {check.name for check in notes.checks}
        for name in HOPS:
            if name not in done and not (name == "proxy" and self.route.proxy is None):
                notes.skip(name, "an earlier step failed")

    def _check_later_hops(
        self, notes: Notes, target: SplitResult, first: SplitResult, connection: socket.socket
    ) -> None:
        """Check the hops after the first connection: the proxy and encryption."""
        encrypted = target.scheme == "https"
        if self.route.proxy is not None:
            with notes.check("proxy") as check:
                self._pass_proxy(first, target, connection, check)
            if notes.stopped:
                return
            if first.scheme != "http":
                notes.skip("tls", f"not checked through a {first.scheme} proxy")
                return
        if not encrypted:
            notes.skip("tls", "the URL is http, without encryption")
            return
        with notes.check("tls") as check:
            self._encrypt(target, connection, check)

    def _resolve(self, address: SplitResult, check: Check) -> list[str]:
        try:
            host, port = address.hostname, get_port(address)
        except ValueError:
            host, port = None, 0
        if not host:
            raise CheckEnded(
                f"the proxy address {redact_origin(address)} is invalid",
                "Correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY, e.g. http://proxy.example.org:3128.",
                code=NotConfigured.code,
            )
        label = f"the proxy {host}" if self.route.proxy else host
        if is_address(host):
            check.add(f"{label} is an IP address")
            return [host]
        try:
            addresses = list(call_with_timeout(lambda: self.resolver(host, port), self.patience))
        except TimeoutError:
            raise CheckEnded(
                f"no name server answered for {label} within {self.patience:g} s",
                "Check the network connection and the name servers of this machine.",
            ) from None
        except (OSError, UnicodeError) as exc:
            raise CheckEnded(f"{label} cannot be resolved: {describe_reason(exc)}", _name_hint(self.route)) from None
        if not addresses:
            raise CheckEnded(f"{label} has no address", _name_hint(self.route))
        shown_addresses = ", ".join(addresses[:MAX_ADDRESSES]) + (" ..." if len(addresses) > MAX_ADDRESSES else "")
        check.add(f"{label} is {shown_addresses}")
        return addresses

    def _connect(self, stop: SplitResult, addresses: list[str], check: Check) -> socket.socket:
        """Try the addresses in order, as requests does, and return the first connection."""
        port = get_port(stop)
        tried = _select_addresses(addresses)
        seconds = self.patience if len(tried) == 1 else self.patience / 2
        problems: list[str] = []
        slow = False
        for address in tried:
            try:
                connection = self.connector(address, port, seconds)
            except OSError as exc:
                problems.append(f"{address} port {port}: {describe_reason(exc)}")
                slow = slow or isinstance(exc, TimeoutError)
                continue
            check.add(f"connected to {address} port {port}")
            if slow:
                check.warn(
                    "; ".join(problems),
                    "Every request may first wait for this address. Ask the network administrator about it; "
                    "if IPv6 fails, switch IPv6 off.",
                )
            return connection
        raise CheckEnded("; ".join(problems), _suggest_for_connection(self.route))

    def _pass_proxy(self, proxy: SplitResult, target: SplitResult, connection: socket.socket, check: Check) -> None:
        if proxy.scheme != "http":
            raise CheckEnded(
                f"requests go through {redact_origin(proxy)}; {proxy.scheme} proxies are not checked", status="skipped"
            )
        if target.scheme != "https":
            check.add(f"requests go through {redact_origin(proxy)}")
            return
        host = target.hostname or ""
        goal = f"{f'[{host}]' if ':' in host else host}:{get_port(target)}"
        try:
            status, phrase = call_with_timeout(
                lambda: _ask_for_tunnel(connection, goal, proxy, self.patience), self.patience, connection
            )
        except TimeoutError:
            raise CheckEnded(
                f"the proxy {redact_origin(proxy)} did not answer within {self.patience:g} s", _PROXY_HINT
            ) from None
        except OSError as exc:
            raise CheckEnded(
                f"the proxy {redact_origin(proxy)} closed the connection: {describe_reason(exc)}", _PROXY_HINT
            ) from None
        if 200 <= status < 300:
            check.add(f"{redact_origin(proxy)} connects to {goal}")
            return
        if not status:
            raise CheckEnded(f"{redact_origin(proxy)} does not answer like a proxy", _PROXY_HINT)
        answer = f"{redact_origin(proxy)} answered {status}{f' {phrase}' if phrase else ''}"
        if status == 407:
            raise CheckEnded(
                f"{answer}: it requires a user name and a password, or those it got are wrong",
                "Set them in HTTPS_PROXY: http://NAME:PASSWORD@proxy.example.org:3128.",
            )
        if status in (401, 403, 405):
            raise CheckEnded(
                f"{answer}: it does not allow this machine to connect to {goal}",
                f"Ask the administrator of the proxy to allow {goal}, or set NO_PROXY if no proxy is needed.",
            )
        raise CheckEnded(
            f"{answer}: it cannot reach {goal}",
            "Try again later; if it fails again, ask the administrator of the proxy.",
        )

    def _encrypt(self, target: SplitResult, connection: socket.socket, check: Check) -> None:
        host = target.hostname or ""
        context = _create_context(self.route)
        connection.settimeout(self.patience)
        try:
            version, certificate = call_with_timeout(
                lambda: _try_handshake(context, connection, host), self.patience, connection
            )
        except TimeoutError:
            raise CheckEnded(
                f"{host} accepted the connection but did not answer within {self.patience:g} s",
                "The network may block the traffic: try another network, or ask the administrator for a proxy.",
            ) from None
        except ssl.SSLCertVerificationError as exc:
            raise _describe_certificate(host, exc) from None
        except ssl.SSLError as exc:
            raise _describe_tls(host, exc) from None
        except OSError as exc:
            raise CheckEnded(
                f"the connection to {host} was closed during the TLS handshake: {describe_reason(exc)}",
                "A firewall may block encrypted connections to this host: try another network, or ask the "
                "administrator for a proxy.",
            ) from None
        until = certificate.get("notAfter")
        check.add(f"{version}{f', certificate valid until {_format_day(until)}' if isinstance(until, str) else ''}")


_PROXY_HINT: Final = "Check HTTPS_PROXY and HTTP_PROXY; set NO_PROXY or unset them if no proxy is needed."


def call_with_timeout(
    function: Callable[[], Answer], seconds: float, connection: socket.socket | None = None
) -> Answer:
    """Call a function with a timeout and return its result.

    Args:
        connection: shut down after the timeout, so that the call ends.

    Raises:
        TimeoutError: the function did not return in time.
    """
    try:
        return start_in_background(function)(max(0.0, seconds))
    except TimeoutError:
        if connection is not None:
            with suppress(OSError):  # it may be closed already
                connection.shutdown(socket.SHUT_RDWR)
        raise


def get_port(parts: SplitResult) -> int:
    """Return the port of a URL, or the default port of its scheme."""
    return parts.port or {"https": 443, "http": 80}.get(parts.scheme, 1080)


def is_address(host: str) -> bool:
    """Return whether a host is an IP address."""
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def describe_reason(exc: BaseException) -> str:
    """Return a short text for the cause of a failure."""
    if isinstance(exc, TimeoutError):
        return "no answer in time"
    if isinstance(exc, ConnectionRefusedError):
        return "connection refused"
    text = getattr(exc, "strerror", None) or (exc.args[-1] if exc.args else "")
    return str(text) or type(exc).__name__


def _select_addresses(addresses: Sequence[str]) -> list[str]:
    """Return the first few addresses, with at least one of each address family."""
    first = list(addresses[:MAX_ADDRESSES])
    families = {":" in address for address in first}
    other = next((address for address in addresses[MAX_ADDRESSES:] if (":" in address) not in families), None)
    return [*first[:-1], other] if other else first


def _name_hint(route: Route) -> str:
    if route.proxy:
        return "Check the host in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY."
    return (
        "Check the network connection and the name servers of this machine. Behind a proxy, set HTTPS_PROXY, so that "
        "the proxy resolves names."
    )


def _suggest_for_connection(route: Route) -> str:
    if route.proxy:
        return f"{_PROXY_HINT} Is the proxy running?"
    return (
        "Check the network connection and the firewall. If the network requires a proxy, set HTTPS_PROXY, e.g. "
        "http://proxy.example.org:3128."
    )


def _ask_for_tunnel(connection: socket.socket, goal: str, proxy: SplitResult, seconds: float) -> tuple[int, str]:
    """Ask a proxy to connect to host:port; return its status and phrase, with status 0 if its reply is not HTTP."""
    lines = [f"CONNECT {goal} HTTP/1.1", f"Host: {goal}"]
    if proxy.username is not None:
        pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(pair).decode('ascii')}")
    connection.settimeout(seconds)
    connection.sendall("".join(f"{line}\r\n" for line in [*lines, ""]).encode("ascii"))
    with closing(HTTPResponse(connection, method="CONNECT")) as answer:  # closes its buffer, not the connection
        try:
            answer.begin()  # nothing follows the head: in an encrypted connection the client speaks first
        except RemoteDisconnected:
            raise ConnectionResetError(errno.ECONNRESET, "it closed without a reply") from None
        except HTTPException:
            return 0, ""
        return answer.status, "".join(letter for letter in answer.reason if letter.isprintable())[:60]


def _create_context(route: Route) -> ssl.SSLContext:
    """Return a TLS context with the certificates that requests uses."""
    context = ssl.create_default_context()
    if route.ca_bundle is None:
        return context
    bundle = Path(route.ca_bundle)
    try:
        if bundle.is_dir():
            return ssl.create_default_context(capath=str(bundle))
        return ssl.create_default_context(cafile=str(bundle))
    except (OSError, ssl.SSLError) as exc:
        raise CheckEnded(
            f"the certificates in {bundle} cannot be read: {describe_reason(exc)}",
            "Correct or unset REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE.",
            code=NotConfigured.code,
        ) from None


def _try_handshake(context: ssl.SSLContext, connection: socket.socket, host: str) -> tuple[str, dict[str, Any]]:
    with context.wrap_socket(connection, server_hostname=host) as wrapped:
        return wrapped.version() or "TLS", dict(wrapped.getpeercert() or {})


# OpenSSL's verification codes; Python has no names for them.
_EXPIRED: Final = {9: "is not valid yet", 10: "has expired"}
_OTHER_NAME: Final = {62, 64}


def _describe_certificate(host: str, exc: ssl.SSLCertVerificationError) -> CheckEnded:
    if exc.verify_code in _EXPIRED:
        now = datetime.now(tz=UTC).strftime("%Y-%m-%d %H:%M UTC")
        return CheckEnded(
            f"the certificate of {host} {_EXPIRED[exc.verify_code]}",
            f"Check the clock of this machine. It shows {now}.",
        )
    if exc.verify_code in _OTHER_NAME:
        return CheckEnded(
            f"the server at {host} has a certificate for another name",
            "Another server may answer in its place: a login page of the network, a proxy, or a wrong entry in the "
            "hosts file.",
        )
    return CheckEnded(
        f"the certificate of {host} is not trusted: {exc.verify_message}",
        "Usually a proxy or virus scanner inspects encrypted traffic. Set REQUESTS_CA_BUNDLE to a file with the "
        "certificates of your organization.",
    )


def _describe_tls(host: str, exc: ssl.SSLError) -> CheckEnded:
    if exc.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNKNOWN_PROTOCOL", "RECORD_LAYER_FAILURE"):
        return CheckEnded(
            f"the server at {host} does not support TLS",
            "Another server may answer in its place: a login page of the network, a proxy, or a wrong port.",
        )
    return CheckEnded(
        f"no encrypted connection to {host}: {(exc.reason or 'handshake failed').replace('_', ' ').lower()}",
        "A firewall or proxy may interfere with encrypted connections: try another network.",
    )


def _format_day(text: str) -> str:
    try:
        return datetime.fromtimestamp(ssl.cert_time_to_seconds(text), tz=UTC).strftime("%Y-%m-%d")
    except ValueError:
        return text

"""What went wrong on the way: exceptions of requests and urllib3 turned into errors that hold no address.

``details.reason`` names the hop that failed: dns, connection, proxy, tls or timeout.
"""

import ssl
from typing import Any, Final

import requests
from urllib3 import exceptions as urllib3

from entrez_kit.base.errors import EntrezKitError, NotConfigured, UpstreamError
from entrez_kit.base.frontend_text import BASE_ADDRESS, FrontendText, PerFrontend
from entrez_kit.services.transport import Call
from entrez_kit.services.transport.refusals import invalid_response
from entrez_kit.services.transport.retry import Retryable

FEW: Final = 2
"""Further attempts where nobody listens or the name is unknown: that seldom passes within a minute."""

_DOCTOR: Final = PerFrontend(
    "; `entrez-kit doctor` says which hop fails", tools="", python="; `entrez-kit doctor` says which hop fails"
)
_TEXTS: Final = {
    "dns": (
        "the name {host} could not be resolved",
        FrontendText("Check the network connection and DNS", _DOCTOR, "."),
    ),
    "connection": ("no connection to {host}", FrontendText("Check the network connection", _DOCTOR, ".")),
    "proxy": (
        "the proxy does not let requests to {host} through",
        FrontendText("Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY", _DOCTOR, "."),
    ),
    "tls": (
        "the TLS certificate or connection of {host} was refused",
        FrontendText("Where a company's proxy inspects TLS, set REQUESTS_CA_BUNDLE to its certificate", _DOCTOR, "."),
    ),
    "timeout": (
        "{host} did not answer within {seconds:g} s",
        "Try again later or ask for less at a time; NCBI_TIMEOUT_MS sets the time limit of a request.",
    ),
}


def explain(exc: Exception, call: Call, host: str, seconds: float) -> Retryable | EntrezKitError:
    """Return the error for a request that got no response."""
    if isinstance(
        exc, requests.exceptions.InvalidSchema | requests.exceptions.InvalidURL | requests.exceptions.InvalidProxyURL
    ):
        return NotConfigured(
            f"The address or proxy for {call.title} cannot be used ({type(exc).__name__}).",
            recovery_hint=FrontendText(BASE_ADDRESS, " And HTTPS_PROXY."),
            details=call.about("bad_address"),
        )
    causes = list(_causes(exc))
    reason = reason_of(exc)
    text, hint = _TEXTS[reason]
    is_new = any(isinstance(cause, urllib3.NewConnectionError) for cause in causes)
    if reason == "connection" and not is_new:
        text = "{host} closed the connection"
    error = UpstreamError(
        f"{call.title} could not be reached for {call.endpoint}: "
        f"{text.format(host=host, seconds=round(seconds, 1 if seconds >= 1 else 3))}.",
        recovery_hint=hint,
        details=call.about(reason, host=host),
    )
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return error  # the certificate will be the same next time
    return Retryable(error, at_most=FEW if is_new or reason in ("dns", "proxy") else None)


def reason_of(exc: Exception) -> str:
    """Return the word for the hop that failed: dns, connection, proxy, tls or timeout."""
    causes = list(_causes(exc))

    def among(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    if among(requests.exceptions.ProxyError, urllib3.ProxyError):
        return "proxy"
    if among(requests.exceptions.SSLError, urllib3.SSLError, ssl.SSLError):
        return "tls"
    if among(urllib3.NameResolutionError):
        return "dns"
    if among(requests.exceptions.Timeout, urllib3.TimeoutError, TimeoutError) and not among(urllib3.NewConnectionError):
        return "timeout"
    return "connection"


def _causes(exc: BaseException) -> Any:
    """Yield an exception and the ones it wraps: requests keeps urllib3's in args, urllib3 its own in ``reason``."""
    seen: set[int] = set()
    pending: list[object] = [exc]
    while pending:
        item = pending.pop(0)
        if not isinstance(item, BaseException) or id(item) in seen:
            continue
        seen.add(id(item))
        yield item
        pending += [getattr(item, "reason", None), item.__cause__, *item.args]


def cut_off(call: Call, status: int, size: int) -> UpstreamError:
    """Return the error for a body that ends before it is whole."""
    return invalid_response(call, f"a body that breaks off after {size:,} bytes", status)


def timed_out(call: Call) -> UpstreamError:
    """Return the error for a reply that takes too long."""
    return UpstreamError(
        f"{call.title} did not finish answering {call.endpoint} in time.",
        recovery_hint="Try again later or ask for less. NCBI_TIMEOUT_MS and NCBI_TOTAL_DEADLINE_MS set the limits.",
        details=call.about("timeout"),
    )

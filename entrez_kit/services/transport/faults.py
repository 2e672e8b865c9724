"""Network failures: convert exceptions of requests and urllib3 to errors that contain no URL.

``details.reason`` names the hop that failed: dns, connection, proxy, tls or timeout.
"""

import ssl
from collections.abc import Mapping
from typing import Any, Final

import requests
from urllib3 import exceptions as urllib3

from entrez_kit.base.errors import EntrezKitError, NotConfigured, UpstreamError
from entrez_kit.base.frontend_text import BASE_ADDRESS, FrontendText, PerFrontend, Text, format_count
from entrez_kit.services.transport import Call
from entrez_kit.services.transport.refusals import invalid_response_error
from entrez_kit.services.transport.retry import Retryable

FEW: Final = 2
"""Retries if the connection is refused or the name is unknown: this seldom changes within a minute."""

_DOCTOR: Final = PerFrontend(
    "; `entrez-kit doctor` shows the step that fails",
    tools="",
    python="; `entrez-kit doctor` shows the step that fails",
)
_TEXTS: Final[Mapping[str, tuple[str, Text]]] = {
    "dns": (
        "the name {host} could not be resolved",
        FrontendText("Check the network connection and DNS", _DOCTOR, "."),
    ),
    "connection": ("no connection to {host}", FrontendText("Check the network connection", _DOCTOR, ".")),
    "proxy": (
        "the request to {host} failed at the proxy",
        FrontendText("Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY", _DOCTOR, "."),
    ),
    "tls": (
        "the TLS certificate or connection of {host} was rejected",
        FrontendText("If a company proxy inspects TLS, set REQUESTS_CA_BUNDLE to its certificate", _DOCTOR, "."),
    ),
    "timeout": (
        "{host} did not answer within {seconds:g} s",
        "Try again later or request fewer records at a time; NCBI_TIMEOUT_MS sets the time limit of a request.",
    ),
}


def explain(exc: Exception, call: Call, host: str, seconds: float) -> Retryable | EntrezKitError:
    """Return the error for a request that got no response."""
    if isinstance(
        exc, requests.exceptions.InvalidSchema | requests.exceptions.InvalidURL | requests.exceptions.InvalidProxyURL
    ):
        return NotConfigured(
            f"The base URL or the proxy for {call.title} is invalid ({type(exc).__name__}).",
            recovery_hint=FrontendText(BASE_ADDRESS, " And HTTPS_PROXY."),
            details=call.describe("bad_address"),
        )
    causes = list(_yield_causes(exc))
    reason = find_reason(exc)
    text, hint = _TEXTS[reason]
    is_new = any(isinstance(cause, urllib3.NewConnectionError) for cause in causes)
    if reason == "connection" and not is_new:
        text = "{host} closed the connection"
    error = UpstreamError(
        f"{call.title} could not be reached for {call.endpoint}: "
        f"{text.format(host=host, seconds=round(seconds, 1 if seconds >= 1 else 3))}.",
        recovery_hint=hint,
        details=call.describe(reason, host=host),
    )
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return error  # a retry would get the same certificate
    return Retryable(error, at_most=FEW if is_new or reason in ("dns", "proxy") else None)


def find_reason(exc: Exception) -> str:
    """Return the name of the hop that failed: dns, connection, proxy, tls or timeout."""
    causes = list(_yield_causes(exc))

    def has_cause(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    if has_cause(requests.exceptions.ProxyError, urllib3.ProxyError):
        return "proxy"
    if has_cause(requests.exceptions.SSLError, urllib3.SSLError, ssl.SSLError):
        return "tls"
    if has_cause(urllib3.NameResolutionError):
        return "dns"
    if has_cause(requests.exceptions.Timeout, urllib3.TimeoutError, TimeoutError) and not has_cause(
        urllib3.NewConnectionError
    ):
        return "timeout"
    return "connection"


def _yield_causes(exc: BaseException) -> Any:
    """Yield an exception and those it wraps: requests stores urllib3's in ``args``, urllib3 its own in ``reason``."""
    seen: set[int] = set()
    pending: list[object] = [exc]
    while pending:
        item = pending.pop(0)
        if not isinstance(item, BaseException) or id(item) in seen:
            continue
        seen.add(id(item))
        yield item
        pending += [getattr(item, "reason", None), item.__cause__, *item.args]


def missing_certificates_error(path: str) -> NotConfigured:
    """Return the error for a file of certificates that does not exist."""
    return NotConfigured(
        f"The file of certificates {path} does not exist.",
        invalid_input=path,
        recovery_hint="Correct or unset REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE.",
        details={"reason": "cannot_read"},
    )


def truncated_error(call: Call, status: int, size: int) -> UpstreamError:
    """Return the error for a truncated body."""
    return invalid_response_error(
        call, f"a body that is truncated after {format_count(size, 'byte')}", status, "truncated"
    )


def timeout_error(call: Call) -> UpstreamError:
    """Return the error for a reply that was not complete in time."""
    return UpstreamError(
        f"{call.title} did not send its {call.endpoint} reply in time.",
        recovery_hint="Try again later or request fewer records. NCBI_TIMEOUT_MS and NCBI_TOTAL_DEADLINE_MS set the "
        "limits.",
        details=call.describe("timeout"),
    )

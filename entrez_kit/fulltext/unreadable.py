"""The error for a page or PDF that was fetched but holds no text to be had."""

from entrez_kit.errors import UpstreamError


def unreadable(what: str, **details: object) -> UpstreamError:
    """Return the error for something fetched that cannot be read.

    Args:
        what: what is wrong with it, in words that follow "it".
        details: machine-readable extras.
    """
    return UpstreamError(
        f"The copy cannot be read: it {what}",
        recovery_hint="Open the address in a browser.",
        details={"reason": "parse_failed", "what": what, **details},
    )

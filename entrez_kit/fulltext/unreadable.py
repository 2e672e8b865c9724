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


def not_installed(library: str, command: str) -> UpstreamError:
    """Return the error for a library that is not there, with the command that brings it."""
    return UpstreamError(
        f"The copy cannot be read: {library} is missing; run `{command}`",
        recovery_hint=f"Run `{command}`.",
        details={"reason": "parse_failed", "what": f"needs {library}: run `{command}`", "missing_library": library},
    )

"""Check and DoctorReport: the checks, their results and hints."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal

from pydantic import Field

from entrez_kit.base.errors import (
    EntrezKitError,
    Exit,
    NotConfigured,
    RateLimited,
    StoreError,
    UpstreamError,
)
from entrez_kit.base.settings import Settings
from entrez_kit.core.model import Result, omit_if_empty
from entrez_kit.services.known_shapes import ShapeDifference

NAMES: Final = {
    "eutils": "E-utilities",
    "idconv": "ID Converter",
    "europepmc": "Europe PMC",
    "unpaywall": "Unpaywall",
    "pmc_oa": "PMC open data",
    "crossref": "Crossref",
    "openalex": "OpenAlex",
}
"""The names of the services in the report, in the order of the checks."""

Status = Literal["ok", "warning", "failed", "skipped"]
Verdict = Literal["agrees", "differs", "failed", "skipped"]

ERRORS: Final[dict[str, type[EntrezKitError]]] = {
    error.code: error for error in (UpstreamError, RateLimited, NotConfigured, StoreError)
}


class Check(Result):
    """One check and its result."""

    name: str = Field(description="configuration, disk, cache, rate_limit, dns, tcp, proxy, tls, ncbi, api_key ...")
    service: str | None = omit_if_empty(description="The service whose hop this is.")
    status: Status
    detail: str
    hint: str | None = omit_if_empty(description="What to do about it.")
    code: str | None = omit_if_empty(description="Error code that commands report because of this.")
    seconds: float = 0.0

    @property
    def label(self) -> str:
        """The name with its service, for messages."""
        return f"{self.service} {self.name}" if self.service else self.name

    def add(self, text: str) -> None:
        """Add to the detail."""
        self.detail = f"{self.detail}; {text}" if self.detail else text

    def warn(self, text: str, hint: str | None = None) -> None:
        """Add to the detail a problem that should be corrected although entrez-kit still works."""
        self.add(text)
        self.status = "warning"
        self.hint = " ".join(part for part in (self.hint, hint) if part) or None


class Comparison(Result):
    """One request of ``--deep``, and whether the reply matches its known shape."""

    name: str = Field(description="The name of the request.")
    service: str
    verdict: Verdict
    differences: list[ShapeDifference] = Field(
        default_factory=list, description="Each kind of difference once: kind, where, what, times."
    )
    hop: str | None = omit_if_empty(
        description="Where it failed: dns, connection, proxy, tls, timeout, page (a web page instead of a reply), "
        "service, rate_limit, refused or settings."
    )
    detail: str | None = omit_if_empty(description="Why it failed or was skipped.")
    hint: str | None = omit_if_empty(description="What to do about it.")
    code: str | None = omit_if_empty(description="Error code that commands report because of a failure.")
    requests: int = Field(default=0, description="Number of replies, with those of retries and intermediate steps.")
    seconds: float = 0.0
    file: str | None = omit_if_empty(description="Where the reply was saved.")

    @property
    def label(self) -> str:
        """The name with its service, for messages."""
        return f"{self.service}: {self.name}"


class DoctorReport(Result):
    """All checks in their order; after a failed hop the later hops are skipped."""

    healthy: bool = Field(description="Whether nothing failed; warnings and differences do not count.")
    checks: list[Check]
    comparisons: list[Comparison] | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="With --deep: every request, and whether its reply matches its known shape.",
    )
    saved: str | None = omit_if_empty(description="The folder with the replies.")

    def list_compared(self, *verdicts: Verdict) -> list[Comparison]:
        """Return the comparisons with one of these verdicts."""
        return [comparison for comparison in self.comparisons or [] if comparison.verdict in verdicts]

    @property
    def failed(self) -> list[Check]:
        """The checks that failed."""
        return [check for check in self.checks if check.status == "failed"]

    @property
    def warnings(self) -> list[Check]:
        """The checks with warnings."""
        return [check for check in self.checks if check.status == "warning"]

    @property
    def exit_status(self) -> Exit:
        """0 without problems, 4 for warnings, else the exit status that commands have because of the first failure."""
        codes = [check.code for check in self.failed] + [check.code for check in self.list_compared("failed")]
        if codes:
            return ERRORS[codes[0] or UpstreamError.code].exit_code
        unasked = self.comparisons is not None and not self.list_compared("agrees")
        return Exit.PARTIAL if self.warnings or self.list_compared("differs") or unasked else Exit.DONE

    def find_problem(self) -> EntrezKitError | None:
        """Return the error that commands report because of the first failure; None without a failure."""
        failed: list[Check] | list[Comparison] = self.failed or self.list_compared("failed")
        if not failed:
            return None
        first = failed[0]
        place = first.name if isinstance(first, Check) else first.hop
        return ERRORS[first.code or UpstreamError.code](
            f"{first.label}: {first.detail}",
            recovery_hint=first.hint,
            details={"reason": f"{place}_failed", "failed": [check.label for check in failed]},
        )


def explain_exclusion(settings: Settings, service: str) -> str | None:
    """Return why these settings exclude a service; None if they do not."""
    from entrez_kit.references.check.lookup.sources import parse_sources

    if service == "europepmc" and not settings.europepmc_enabled:
        return "EUROPEPMC_ENABLED=false"
    if service == "unpaywall" and settings.unpaywall_email is None:
        return "UNPAYWALL_EMAIL is not set"
    if service in ("crossref", "openalex") and service not in parse_sources(
        settings.check_sources, "ENTREZ_KIT_CHECK_SOURCES"
    ):
        return f"ENTREZ_KIT_CHECK_SOURCES does not name {service}"
    return None


class CheckEnded(Exception):
    """Raised to end a check with another status than ok."""

    def __init__(
        self,
        detail: str,
        hint: str | None = None,
        *,
        status: Status = "failed",
        code: str = UpstreamError.code,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint
        self.status: Status = status
        self.code = code if status == "failed" else None


class Notes:
    """Collect checks; ``check`` measures the time of one and converts a ``CheckEnded`` to its result."""

    def __init__(self, service: str | None = None) -> None:
        self.checks: list[Check] = []
        self._service = service

    @property
    def stopped(self) -> bool:
        """Whether a check failed, so that later hops cannot be checked."""
        return any(check.status == "failed" for check in self.checks)

    @contextmanager
    def check(self, name: str) -> Iterator[Check]:
        """Run one check; a raised ``CheckEnded`` becomes its result."""
        entry, began = Check(name=name, service=self._service, status="ok", detail=""), time.monotonic()
        try:
            yield entry
        except CheckEnded as finding:
            entry.add(finding.detail)
            entry.status, entry.hint, entry.code = finding.status, finding.hint, finding.code
        entry.seconds = round(time.monotonic() - began, 3)
        self.checks.append(entry)

    def skip(self, name: str, why: str) -> None:
        """Record a skipped check."""
        self.checks.append(Check(name=name, service=self._service, status="skipped", detail=why))

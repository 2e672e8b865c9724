"""The report about the connections, the services and this machine."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.text import Text

from entrez_kit.base.frontend_text import format_count

from .tables import ListingTable, build_fixed_column

if TYPE_CHECKING:
    from entrez_kit.doctor import Check, DoctorReport
    from entrez_kit.doctor.report import Comparison, Verdict

STYLES: Final = {
    **{"ok": "green", "warning": "bold yellow", "failed": "bold red", "skipped": "dim"},
    **{"agrees": "green", "differs": "bold yellow"},
}
NAMES: Final = {
    "versions": "Versions",
    "configuration": "Settings",
    "disk": "Disk space",
    "cache": "Cache",
    "rate_limit": "Rate limit",
    "dns": "Name (DNS)",
    "tcp": "Connection (TCP)",
    "proxy": "Proxy",
    "tls": "Encryption (TLS)",
    "ncbi": "NCBI itself",
    "api_key": "API key",
}
VERDICTS: "Final[dict[Verdict, str]]" = {
    "agrees": "agree",
    "differs": "differ",
    "failed": "failed",
    "skipped": "skipped",
}
"""The words for the number of replies with a verdict."""
MAX_DIFFERENCES: Final = 4
"""The number of differences of a reply that the table shows; --json has all."""


def render_report(report: "DoctorReport") -> RenderableType:
    """Return the checks grouped by service, the comparisons of replies, and the verdict."""
    checks = _render_listing(("Check", "Result", "Details"), report.checks, "Connection to ")
    if report.comparisons is None:
        return Group(checks, _render_verdict(report))
    compared = _render_listing(("Request", "Reply", "Difference or error"), report.comparisons)
    return Group(checks, compared, _render_verdict(report), *_summarize(report))


def _render_listing(
    columns: tuple[str, str, str], checks: "Sequence[Check | Comparison]", way: str = ""
) -> RenderableType:
    """Return a table with a row for each result, grouped by service."""
    table = ListingTable(
        build_fixed_column(columns[0]) if way else columns[0], build_fixed_column(columns[1]), columns[2]
    )
    for service, rows in groupby(checks, key=lambda check: check.service):
        if service is not None:
            table.add_section()
            table.add_row(Text(f"{way}{service}", style="bold"))
        for check in rows:
            status = str(getattr(check, "status", "") or getattr(check, "verdict", ""))
            table.add_row(
                NAMES.get(check.name, check.name), Text(status, style=STYLES[status]), _render_details(check, status)
            )
    return table


def _render_details(check: "Check | Comparison", status: str) -> RenderableType:
    differences, hop = getattr(check, "differences", []), getattr(check, "hop", None)
    lines = [str(difference) for difference in differences[:MAX_DIFFERENCES]]
    if len(differences) > MAX_DIFFERENCES:
        lines.append(f"... and {len(differences) - MAX_DIFFERENCES} more, which --json has")
    if check.detail:
        lines.append(f"{hop.replace('_', ' ')}: {check.detail}" if hop else check.detail)
    text = Text("\n".join(lines), style="dim" if status == "skipped" else "")
    if check.hint:
        text.append(f"\n{check.hint}", style="cyan")
    return text


def _summarize(report: "DoctorReport") -> Iterator[RenderableType]:
    """Yield the counts of replies, and how to use saved replies."""
    counts = {verdict: len(report.list_compared(verdict)) for verdict in VERDICTS}
    summary = ", ".join(f"{count} {VERDICTS[verdict]}" for verdict, count in counts.items() if count)
    yield Text(f"Of {format_count(sum(counts.values()), 'request')}: {summary}.")
    if report.saved:
        yield Text(f"The replies are in {report.saved}; ENTREZ_KIT_REAL_DATA={report.saved} lets the tests read them.")
    elif counts["differs"]:
        yield Text("`--save DIR` saves the replies, e.g. for a bug report.", style="cyan")


def _render_verdict(report: "DoctorReport") -> RenderableType:
    if report.failed:
        return Text(f"Failed: {_join_labels(report.failed)}.", style="bold red")
    unanswered, differing = report.list_compared("failed"), report.list_compared("differs")
    if unanswered:
        return Text(f"Failed: {'; '.join(probe.label for probe in unanswered)}.", style="bold red")
    if differing:
        return Text(f"Differs from known facts: {'; '.join(probe.label for probe in differing)}.", style="bold yellow")
    if report.comparisons is not None and not report.list_compared("agrees"):
        return Text("Nothing was compared.", style="bold yellow")
    if report.warnings:
        return Text(f"Works, with warnings: {_join_labels(report.warnings)}.", style="bold yellow")
    return Text("No problems found.", style="bold green")


def _join_labels(checks: "Sequence[Check]") -> str:
    names = [(NAMES.get(check.name, check.name), check.service) for check in checks]
    return ", ".join(f"{name} for {service}" if service else name for name, service in names)

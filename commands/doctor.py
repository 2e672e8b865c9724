"""entrez-kit doctor: find out which part of the connection to NCBI, or of this machine, fails."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from entrez_kit.base.errors import Exit
from entrez_kit.base.output_formats import Family

from ._options import App
from ._pipeline import emit, get_state, plan
from ._state import accept_formats, usage_error

if TYPE_CHECKING:
    from rich.console import RenderableType

    from entrez_kit.doctor import Check, DoctorReport
    from entrez_kit.doctor.report import Comparison, Verdict

app = App()

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
SHOWN: Final = 4
"""The number of differences of a reply that the table shows; --json has all."""


@app.command("doctor")
@accept_formats(Family.SCREEN, Family.DOCUMENT, Family.ROWS)
def doctor_command(
    ctx: typer.Context,
    network: Annotated[
        bool, typer.Option("--network", help="Also check the connections to other services: Europe PMC, Unpaywall ...")
    ] = False,
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Send about 40 requests to all services; compare the replies with known facts."),
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", metavar="DIR", help="Save the replies of --deep in DIR, without your keys and e-mail addresses."
        ),
    ] = None,
) -> None:
    """Find out which part of the connection to NCBI fails: name, connection, proxy, encryption or NCBI itself.

    Also checks the settings, the cache, the disk and the shared rate limit. Takes seconds, and sends one request to
    NCBI. The exit status is 0 without problems, 4 with warnings, 5 if a step fails, 7 if NCBI refuses because of the
    rate, 8 for wrong settings or a refused API key, 9 for the cache or the disk:

    entrez-kit doctor --network --json

    With --deep, about 40 requests are sent within the limits, and the replies are parsed as in the other commands.
    The exit status is 0 if all replies are as expected, 4 if one differs, and 5 if a request failed:

    entrez-kit doctor --deep --save replies
    """
    from entrez_kit.doctor import diagnose

    if save is not None and not deep:
        raise usage_error(
            "--save has no effect without --deep.",
            f"save={save}",
            f"Run `entrez-kit doctor --deep --save {save}`.",
        )
    services = get_state(ctx).services
    with _waiting(ctx) as progress:
        report = diagnose(
            services.settings,
            all_services=network,
            deep=deep,
            save=save,
            progress=progress,
            responder=services.responder,
        )
    records = [check.model_dump(mode="json") for check in (*report.checks, *(report.comparisons or []))]
    emit(ctx, report, lambda: _render_table(report), records=records)
    problem = report.find_problem()
    if problem is not None and plan(ctx).format.family is not Family.SCREEN:  # the table shows it
        raise problem
    if report.exit_status != Exit.DONE:
        raise typer.Exit(int(report.exit_status))


@contextmanager
def _waiting(ctx: typer.Context) -> Iterator[Callable[[int, int], None]]:
    """Show a status line on a terminal, because some steps take seconds; yield a function that updates it."""
    current = get_state(ctx)
    if not current.stderr_is_terminal or current.quiet:
        yield lambda done, of: None
        return
    from ._console import create_console

    with create_console(sys.stderr, current.color).status("Checking this machine and the network ...") as status:
        yield lambda done, of: status.update(f"Comparing replies with known facts ({done} of {of}) ...")


def _render_table(report: "DoctorReport") -> "RenderableType":
    from rich.console import Group

    checks = _render_listing(("Check", "Result", "Details"), report.checks, "Connection to ")
    if report.comparisons is None:
        return Group(checks, _render_verdict(report))
    compared = _render_listing(("Request", "Reply", "Difference or error"), report.comparisons)
    return Group(checks, compared, _render_verdict(report), *_summarize(report))


def _render_listing(
    columns: tuple[str, str, str], checks: "Sequence[Check | Comparison]", way: str = ""
) -> "RenderableType":
    """Return a table with a row for each result, grouped by service."""
    from rich.text import Text

    from ._views.tables import ListingTable, build_fixed_column

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


def _render_details(check: "Check | Comparison", status: str) -> "RenderableType":
    from rich.text import Text

    differences, hop = getattr(check, "differences", []), getattr(check, "hop", None)
    lines = [str(difference) for difference in differences[:SHOWN]]
    if len(differences) > SHOWN:
        lines.append(f"... and {len(differences) - SHOWN} more, which --json has")
    if check.detail:
        lines.append(f"{hop.replace('_', ' ')}: {check.detail}" if hop else check.detail)
    text = Text("\n".join(lines), style="dim" if status == "skipped" else "")
    if check.hint:
        text.append(f"\n{check.hint}", style="cyan")
    return text


def _summarize(report: "DoctorReport") -> "Iterator[RenderableType]":
    """Yield the counts of replies, and how to use saved replies."""
    from rich.text import Text

    counts = {verdict: len(report.list_compared(verdict)) for verdict in VERDICTS}
    summary = ", ".join(f"{count} {VERDICTS[verdict]}" for verdict, count in counts.items() if count)
    yield Text(f"Of {sum(counts.values())} requests: {summary}.")
    if report.saved:
        yield Text(f"The replies are in {report.saved}; ENTREZ_KIT_REAL_DATA={report.saved} lets the tests read them.")
    elif counts["differs"]:
        yield Text("`--save DIR` saves the replies, e.g. for a bug report.", style="cyan")


def _render_verdict(report: "DoctorReport") -> "RenderableType":
    from rich.text import Text

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

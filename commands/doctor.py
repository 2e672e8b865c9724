"""entrez-kit doctor: find out which part of the way to NCBI fails, or what on this machine does."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from entrez_kit.errors import Exit

from ._pipeline import accepts, emit, plan, state

if TYPE_CHECKING:
    from rich.console import RenderableType

    from entrez_kit.doctor import Check, DoctorReport

STYLES: Final = {"ok": "green", "warning": "bold yellow", "failed": "bold red", "skipped": "dim"}
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


@accepts("table", "json", "jsonl")
def command(
    ctx: typer.Context,
    network: Annotated[
        bool, typer.Option("--network", help="Look at the way to every other service, too: Europe PMC, Unpaywall ...")
    ] = False,
) -> None:
    """Find out which part of the way to NCBI fails: name, connection, proxy, encryption or NCBI itself.

    Looks at the settings, the cache, the disk and the shared rate limit as well. Takes seconds, and sends NCBI one
    request. Ends with 0 when all is well, 4 with warnings, 5 when a hop fails, 7 when NCBI refuses because of the rate,
    8 for settings and a refused API key, 9 for the cache or the disk:

    entrez-kit doctor --network --json
    """
    from entrez_kit.doctor import diagnose

    settings = state(ctx).services.settings
    with _waiting(ctx):
        report = diagnose(settings, all_services=network)
    records = [check.model_dump(mode="json") for check in report.checks]
    emit(ctx, report, lambda: _table(report), records=records)
    problem = report.problem()
    if problem is not None and plan(ctx).format != "table":  # the table says it, with the hint
        raise problem
    if report.exit_status != Exit.DONE:
        raise typer.Exit(int(report.exit_status))


@contextmanager
def _waiting(ctx: typer.Context) -> Iterator[None]:
    """Tell a person that something is going on: a hop that does not answer takes seconds."""
    current = state(ctx)
    if not current.stderr_is_terminal or current.quiet:
        yield
        return
    from ._console import error_console

    with error_console(current.color).status("Looking at this machine and the way to NCBI ..."):
        yield


def _table(report: "DoctorReport") -> "RenderableType":
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("Check", no_wrap=True)
    table.add_column("Result", no_wrap=True)
    table.add_column("What was found", overflow="fold")
    service = None
    for check in report.checks:
        if check.service != service:
            service = check.service
            table.add_section()
            table.add_row(Text(f"Way to {service}", style="bold"))
        style = STYLES[check.status]
        table.add_row(NAMES.get(check.name, check.name), Text(check.status, style=style), _found(check))
    return Group(table, _verdict(report))


def _found(check: "Check") -> "RenderableType":
    from rich.text import Text

    text = Text(check.detail, style="dim" if check.status == "skipped" else "")
    if check.hint:
        text.append(f"\n{check.hint}", style="cyan")
    return text


def _verdict(report: "DoctorReport") -> "RenderableType":
    from rich.text import Text

    if report.failed:
        return Text(f"Failed: {_labels(report.failed)}.", style="bold red")
    if report.warnings:
        return Text(f"Works, with warnings: {_labels(report.warnings)}.", style="bold yellow")
    return Text("All is well.", style="bold green")


def _labels(checks: "Sequence[Check]") -> str:
    names = [(NAMES.get(check.name, check.name), check.service) for check in checks]
    return ", ".join(f"{name} of the way to {service}" if service else name for name, service in names)

"""entrez-kit doctor: find out which part of the connection to NCBI, or of this machine, fails."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from entrez_kit.base.errors import Exit
from entrez_kit.base.output_formats import Family

from . import _views
from ._emit import emit
from ._options import App
from ._pipeline import get_state, plan
from ._state import accept_formats, usage_error

app = App()


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

    The command also checks the settings, the cache, the disk and the shared rate limit. It takes seconds and sends
    one request to NCBI. The exit status is 0 without problems, 4 with warnings, 5 if a step fails, 7 if NCBI limits
    the rate, 8 for an invalid setting or a refused API key, and 9 for the cache or the disk.
    entrez-kit doctor --network --json

    --deep sends about 40 requests and compares each reply with the known format. The exit status is 0 if all replies
    agree, 4 if one differs, and 5 if a request failed.
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
    get_state(ctx).warn_of_demo()
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
    emit(ctx, report, lambda: _views.doctor.render_report(report), records=records)
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

"""`entrez-kit sandbox`: run a local server that imitates NCBI, in the foreground until it is interrupted."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.settings import BY_NAME, Settings
from entrez_kit.sandbox.faults import KINDS

from . import Ended, _views
from ._emit import emit
from ._options import App
from ._pipeline import note

if TYPE_CHECKING:
    from entrez_kit.sandbox.server import Sandbox

app = App()


@app.command("sandbox")
def sandbox_command(
    ctx: typer.Context,
    port: Annotated[int, typer.Option("--port", metavar="N", help="Port to listen on; 0 selects a free one.")] = 0,
    corpus: Annotated[
        list[Path] | None,
        typer.Option("--corpus", metavar="FILE_OR_DIR", help="PubMed XML to serve. May be repeated."),
    ] = None,
    records: Annotated[
        int | None, typer.Option("--records", metavar="N", help="Serve N generated records instead.")
    ] = None,
    faults: Annotated[
        str,
        typer.Option(
            "--faults",
            metavar="KIND=SHARE,...",
            help=f"Fail this share of requests, e.g. 429=.05,html=.1. Kinds: {', '.join(KINDS)}.",
        ),
    ] = "",
    latency_ms: Annotated[
        int, typer.Option("--latency-ms", metavar="N", help="Delay each reply by N milliseconds.")
    ] = 0,
) -> None:
    """Serve invented articles on this computer with the APIs, limits and errors of NCBI.

    Ctrl-C stops the server. Other commands use it if you set the variables that it prints. --demo needs no server.
    entrez-kit sandbox --port 8765 --faults 429=.05,500=.02
    """
    from entrez_kit.sandbox.server import Sandbox, parse_faults

    sandbox = Sandbox(
        port=port, corpus=corpus or None, records=records, faults=parse_faults(faults), latency_ms=latency_ms
    )
    try:
        with sandbox:
            _announce(ctx, sandbox)
            sandbox.serve_forever()
    except (Ended, KeyboardInterrupt):  # the normal end of a server
        note(ctx, f"Ended after {format_count(sandbox.requests(), 'request')}.")


def _announce(ctx: typer.Context, sandbox: "Sandbox") -> None:
    pointed = Settings().use_sandbox(sandbox.url)
    addresses = {name: getattr(pointed, name) for name in pointed.origins if BY_NAME[name].kind == "url"}
    variables = {BY_NAME[name].variable: address for name, address in addresses.items() if address}
    emit(
        ctx,
        {"url": sandbox.url, "environment": variables},
        lambda: _views.program.render_variables(variables),
    )
    note(ctx, f"The sandbox is running at {sandbox.url}. Set the variables above for other commands. Ctrl-C stops it.")

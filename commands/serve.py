"""entrez-kit serve: every operation as an MCP tool, over stdio or HTTP; and tokens for HTTP."""

import os
import sys
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from entrez_kit.base.output_formats import Family
from entrez_kit.server.toolsets import DEFAULT_TOOLSETS, SCOPE_NAMES, TOOLSETS

from . import _views
from ._emit import emit
from ._options import App
from ._pipeline import get_state, note, refuse_without, warn
from ._state import accept_formats, is_terminal

if TYPE_CHECKING:
    from entrez_kit.base.settings import Settings
    from entrez_kit.server.app import Options
    from entrez_kit.server.tools import Names

app = App(
    help="Serve agents: every operation as an MCP tool.\n\n"
    "By default a host on this computer starts the program and uses stdio. Over HTTP every caller needs a token from "
    "`serve token`. `entrez-kit guide mcp` explains how to configure hosts.",
)


@app.callback(invoke_without_command=True)
def serve_command(
    ctx: typer.Context,
    transport: Annotated[
        Literal["stdio", "http"] | None,
        typer.Option("--transport", metavar="stdio|http", help="Transport (MCP_TRANSPORT_TYPE); default: stdio."),
    ] = None,
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Address to listen on (MCP_HTTP_HOST, 127.0.0.1).")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            metavar="N",
            min=0,
            max=65_535,
            help="Port to listen on (MCP_HTTP_PORT, 3010); 0 selects a free one.",
        ),
    ] = None,
    toolset: Annotated[
        list[str] | None,
        typer.Option(
            "--toolset",
            metavar="NAME,...",
            help=f"Toolsets to list: {', '.join(TOOLSETS)}. Default: {','.join(DEFAULT_TOOLSETS)}.",
        ),
    ] = None,
    tool_names: Annotated[
        Literal["kit", "contract"],
        typer.Option(
            "--tool-names",
            metavar="kit|contract",
            help="Names of the listed tools: kit (pubmed_search_articles) or contract (searchPubMedArticles). Both can "
            "be called.",
        ),
    ] = "kit",
    check: Annotated[
        bool, typer.Option("--check", help="Start, list the tools, and exit without a request to NCBI.")
    ] = False,
) -> None:
    """Serve agents over MCP until the host closes the connection or a signal comes."""
    if ctx.invoked_subcommand is not None:
        return
    flags: dict[str, Any] = {
        "mcp_transport_type": transport,
        "mcp_http_host": host.strip() if host else None,
        "mcp_http_port": port,
    }
    chosen = {name: value for name, value in flags.items() if value is not None}
    names = ",".join(toolset or ())
    current = get_state(ctx)
    if {"mcp_transport_type": current.settings.mcp_transport_type, **chosen}["mcp_transport_type"] == "stdio":
        for name in ("host", "port"):
            refuse_without(ctx, name, "--transport http")
    if check:
        from entrez_kit.server.run import check_server as try_server

        document = try_server(replace(current.settings, **chosen), _build_options(names, tool_names))
        emit(ctx, document, lambda: _views.program.render_server(document))
    else:
        settings = current.settings
        if settings.answers_in_process:  # names the demo, and refuses a copy that does not exist
            settings = current.services.settings
            current.warn_of_demo()
            current.tell_copy("")
        _serve(ctx, replace(settings, **chosen), names, tool_names)


def _serve(ctx: typer.Context, settings: "Settings", toolsets: str, names: "Names") -> NoReturn:
    from entrez_kit.server.telemetry import set_up_exporter

    problem = set_up_exporter(settings)  # before importing the SDK, which gets its tracer at import
    from entrez_kit.server.run import serve as run_server

    if problem:
        warn(ctx, problem)
    if settings.mcp_transport_type == "stdio" and is_terminal(sys.stdin):
        note(ctx, "An MCP host must use stdin and stdout. Ctrl-C stops the server. Try entrez-kit guide mcp.")
    # At shutdown the process ends at once, even if threads wait for NCBI or for a closed pipe.
    raise typer.Exit(run_server(settings, _build_options(toolsets, names), give_up=os._exit))


def _build_options(toolsets: str, names: "Names") -> "Options":
    from entrez_kit.server.app import Options
    from entrez_kit.server.tools import read_toolsets

    return Options(toolsets=read_toolsets(toolsets), names=names)


@app.command("token")
@accept_formats(Family.SCREEN, Family.TEXT, Family.DOCUMENT, pipe=Family.TEXT)
def token_command(
    ctx: typer.Context,
    subject: Annotated[str, typer.Option("--subject", metavar="NAME", help="Name of the token's user.")],
    ttl: Annotated[str, typer.Option("--ttl", metavar="TIME", help="Validity: 30m, 1h, 7d; at most 366d.")] = "1h",
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            metavar="SCOPE",
            help=f"Scope: {', '.join(SCOPE_NAMES)}. May be repeated; default: all except corpus.write.",
        ),
    ] = None,
) -> None:
    """Issue a bearer token for serve over HTTP, signed with MCP_AUTH_SECRET_KEY.

    The command prints only the token; --json adds its subject, scopes and expiry.
    entrez-kit serve token --subject alice --ttl 7d --scope pubmed --scope gene
    """
    from entrez_kit.server.auth import issue_token, read_scopes, read_ttl

    issued = issue_token(get_state(ctx).settings, subject=subject, ttl=read_ttl(ttl), scopes=read_scopes(scope or ()))
    ends = datetime.fromtimestamp(issued.expires_at, UTC).isoformat().replace("+00:00", "Z")
    document = {**asdict(issued), "scopes": list(issued.scopes), "expires_at": ends}
    emit(ctx, document, text=issued.token)

"""Run a server, or check that it can start."""

import contextlib
import logging
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import anyio

from entrez_kit.base import __version__
from entrez_kit.base.logs import logging_to
from entrez_kit.base.settings import Settings
from entrez_kit.server.app import EntrezServer, Options
from entrez_kit.server.clients import ServerServices
from entrez_kit.server.shutdown import Shutdown
from entrez_kit.server.telemetry import flush, list_line_ids

FLUSH_SECONDS: Final = 0.3

logger = logging.getLogger("entrez_kit.server")


def serve(settings: Settings, options: Options, *, give_up: Callable[[int], None]) -> int:
    """Serve over the configured transport until the client leaves or a signal is received; return the exit status.

    Args:
        settings: the settings, with the values of flags.
        options: the offer of the server.
        give_up: ends the process immediately with a status.

    Raises:
        NotConfigured: HTTP has no secret for tokens, or cannot listen on its address.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(logging_to(settings, ids=list_line_ids))
        services = stack.enter_context(ServerServices(settings))
        handlers = EntrezServer(services, options)
        server = handlers.build()
        ending = Shutdown(give_up)
        run: Callable[[], Any]
        if settings.mcp_transport_type == "http":
            from entrez_kit.server.http import build_app, listen, serve_http

            app = build_app(server, settings)
            opened = stack.enter_context(listen(settings))
            run = partial(serve_http, app, opened, ending)
        else:
            from entrez_kit.server.stdio import serve_stdio

            run = partial(serve_stdio, server, ending)
        for note in settings.notes:
            logger.warning("%s", note)
        log_fields = {
            "version": __version__,
            "transport": settings.mcp_transport_type,
            "tools": len(handlers.toolbox.listed),
        }
        logger.info("starting", extra={**log_fields, "requests_per_second": settings.requests_per_second})
        try:
            anyio.run(run)
        except* (BrokenPipeError, ConnectionResetError):
            logger.info("the client closed the connection")
        ending.begin("done")
        flush(FLUSH_SECONDS)
    ending.mark_closed()
    return ending.status


def check_server(settings: Settings, options: Options) -> dict[str, Any]:
    """Start a server, list its offer with a client, and return the list; no request is sent to NCBI.

    Raises:
        NotConfigured: the server cannot start with these settings.
    """
    with ServerServices(settings) as services:
        handlers = EntrezServer(services, options)
        server = handlers.build()
        url = None
        if settings.mcp_transport_type == "http":
            from entrez_kit.server.http import build_app, find_url, listen

            build_app(server, settings)
            with listen(settings) as opened:
                url = find_url(opened)
        return {
            "server_name": server.name,
            "server_version": __version__,
            "transport": settings.mcp_transport_type,
            **({"url": url} if url else {}),
            **anyio.run(_list, server),
        }


async def _list(server: Any) -> dict[str, Any]:
    from mcp import Client

    async with Client(server, mode="auto") as client:
        tools = await client.list_tools()
        listed = await client.list_resources()
        templates = await client.list_resource_templates()
        prompts = await client.list_prompts()
        return {
            "protocol_version": client.protocol_version,
            "tools": [{"name": tool.name, "title": tool.title} for tool in tools.tools],
            "tools_list_bytes": len(tools.model_dump_json(by_alias=True, exclude_none=True, exclude={"meta"}).encode()),
            "resources": [
                *(resource.uri for resource in listed.resources),
                *(template.uri_template for template in templates.resource_templates),
            ],
            "prompts": [prompt.name for prompt in prompts.prompts],
        }

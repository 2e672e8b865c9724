"""The server over HTTP with the demo, for a suite that cannot send a token: the server adds one to every request.

    python tests/support/conformance_server.py

It prints the address on which it listens, and serves until it is stopped.
"""

import os
import sys
import tempfile
from functools import partial
from pathlib import Path

import anyio
from http_server_program import make_bearer
from mcp_helpers import SECRET
from starlette.types import Receive, Scope, Send

from entrez_kit.base.settings import load_settings
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server import http
from entrez_kit.server.app import EntrezServer
from entrez_kit.server.clients import ServerServices
from entrez_kit.server.shutdown import Shutdown


def main() -> None:
    """Serve."""
    with Sandbox(enforce_limits=False) as sandbox, tempfile.TemporaryDirectory() as home:
        overrides = {"home": Path(home), "mcp_auth_secret_key": SECRET, "mcp_http_port": 0}
        settings = load_settings(overrides).use_sandbox(sandbox.url)
        with ServerServices(settings) as services, http.listen(settings) as opened:
            app = http.build_app(EntrezServer(services).build(), settings)

            async def call_with_token(scope: Scope, receive: Receive, send: Send) -> None:
                if scope["type"] == "http":
                    scope = {**scope, "headers": [*scope["headers"], (b"authorization", make_bearer().encode())]}
                await app(scope, receive, send)

            sys.stdout.write(f"{http.find_url(opened)}\n")
            sys.stdout.flush()
            anyio.run(partial(http.serve_http, call_with_token, opened, Shutdown(os._exit)))


if __name__ == "__main__":
    main()

"""Fixtures of all tests that start programs, servers and terminals, or wait in real time."""

import mcp.client.stdio  # noqa: F401  # what it takes for stderr is the stream of the moment it is imported
from command_line import alone_fixture, cli_fixture, process_fixture, program_fixture
from http_server_program import demo_host_fixture, http_host_fixture, http_host_for_fixture
from local_copies import copied_home_fixture
from mcp_helpers import anyio_backend_fixture, era_fixture, host_for_fixture, services_fixture, services_for_fixture

__all__ = [
    "alone_fixture",
    "anyio_backend_fixture",
    "cli_fixture",
    "copied_home_fixture",
    "demo_host_fixture",
    "era_fixture",
    "host_for_fixture",
    "http_host_fixture",
    "http_host_for_fixture",
    "process_fixture",
    "program_fixture",
    "services_fixture",
    "services_for_fixture",
]

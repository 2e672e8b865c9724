"""Fixtures of all tests that run whole flows in this process, against servers on loopback."""

from command_line import alone_fixture, cli_fixture, main_fixture, process_fixture, program_fixture
from failing_servers import home_fixture, settings_fixture
from gene_helpers import genes_fixture, genes_of_fixture
from limiter_threads import no_sleep_fixture, state_file_fixture
from local_copies import copied_home_fixture
from manuscript_files import file_fixture
from mcp_helpers import (
    anyio_backend_fixture,
    era_fixture,
    host_for_fixture,
    services_fixture,
    services_for_fixture,
)
from sandbox_records import large_client_fixture, small_client_fixture
from settings_sources import sources_fixture

__all__ = [
    "alone_fixture",
    "anyio_backend_fixture",
    "cli_fixture",
    "copied_home_fixture",
    "era_fixture",
    "file_fixture",
    "genes_fixture",
    "genes_of_fixture",
    "home_fixture",
    "host_for_fixture",
    "large_client_fixture",
    "main_fixture",
    "no_sleep_fixture",
    "process_fixture",
    "program_fixture",
    "services_fixture",
    "services_for_fixture",
    "settings_fixture",
    "small_client_fixture",
    "sources_fixture",
    "state_file_fixture",
]

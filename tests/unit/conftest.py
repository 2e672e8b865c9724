"""What tests without a process, a socket or a wait share."""

from settings_sources import sources_fixture
from terminal import alone_fixture, module_fixture

__all__ = ["alone_fixture", "module_fixture", "sources_fixture"]

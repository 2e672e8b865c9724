"""Fixtures of all tests without a process, a socket or a delay."""

from command_line import alone_fixture, main_fixture
from settings_sources import sources_fixture

__all__ = ["alone_fixture", "main_fixture", "sources_fixture"]

"""The types of fixtures of `tests/conftest.py`."""

from collections.abc import Callable

from entrez_kit import EntrezKit

KitFor = Callable[..., EntrezKit]
"""Builds a kit that talks to a sandbox: the fixture `kit_for`."""

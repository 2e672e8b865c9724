"""The Taxonomy database of the sandbox: a few organisms for tests of known, unknown and ambiguous names."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from entrez_kit.query.words import normalize
from entrez_kit.sandbox.fixture_database import FixtureDatabase

read_taxonomy = cache(lambda: FixtureDatabase("taxonomy"))


def find_taxa(name: str) -> list[Any]:
    """Return the taxa with this name, each with its ``uid`` and its names in ``values``, the scientific name first."""
    key = normalize(name)
    return [taxon for taxon in read_taxonomy().records.values() if key in map(normalize, taxon["values"]["ALLN"])]


def add_descendants(taxids: Iterable[str]) -> set[str]:
    """Return taxids with the taxids of all their descendants."""
    found = set(taxids)
    while below := {uid for uid, taxon in read_taxonomy().records.items() if taxon.get("parent") in found} - found:
        found |= below
    return found

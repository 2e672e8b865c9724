"""The organisms of the sandbox: names and descendants, for searches by organism."""

from collections.abc import Iterable, Sequence
from typing import Any

from entrez_kit.query.words import normalize
from entrez_kit.sandbox.links import read_small_databases


def _list_taxa() -> Sequence[Any]:
    return tuple(read_small_databases()["taxonomy"]["records"])


def find_taxa(name: str) -> list[Any]:
    """Return the taxa with this name, each with its ``uid`` and its names in ``values``, the scientific name first."""
    key = normalize(name)
    return [taxon for taxon in _list_taxa() if key in map(normalize, taxon["values"]["ALLN"])]


def add_descendants(taxids: Iterable[str]) -> set[str]:
    """Return taxids with the taxids of all their descendants."""
    found = set(taxids)
    while below := {taxon["uid"] for taxon in _list_taxa() if taxon.get("parent") in found} - found:
        found |= below
    return found

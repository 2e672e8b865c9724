"""The files of the demo corpus."""

from importlib.resources import files
from importlib.resources.abc import Traversable


def list_demo_files() -> list[Traversable]:
    """Return the files of the demo corpus, sorted by name."""
    folder = files("entrez_kit.fixtures").joinpath("pubmed")
    return sorted((item for item in folder.iterdir() if item.name.endswith(".xml")), key=lambda item: item.name)

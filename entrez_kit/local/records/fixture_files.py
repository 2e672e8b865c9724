"""The files of invented records that are part of this package; they may be left out of an installation."""

import json
from importlib import resources
from typing import Any


def read_fixtures(folder: str, ending: str) -> list[bytes]:
    """Return the files of a folder with this ending, by name; none if they are not installed."""
    directory = resources.files("entrez_kit.fixtures").joinpath(folder)
    files = [file for file in directory.iterdir() if file.name.endswith(ending)] if directory.is_dir() else []
    return [file.read_bytes() for file in sorted(files, key=lambda file: file.name)]


def read_fixture(folder: str, name: str) -> Any:
    """Return the content of a JSON file; an empty list if it is not installed."""
    return next(iter(map(json.loads, read_fixtures(folder, name))), [])

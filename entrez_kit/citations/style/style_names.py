"""The names and aliases of citation styles."""

from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

StyleName = Literal["apa", "mla", "vancouver", "ama", "chicago", "nature", "ris", "bibtex", "csl", "nbib"]
STYLE_NAMES: Final[tuple[str, ...]] = get_args(StyleName)

SPECIFIED: Final = {"apa_string": "apa", "mla_string": "mla"}
"""The specification's names of two styles."""
HABITS: Final = {"csl-json": "csl", "csl_json": "csl", "bib": "bibtex", "medline": "nbib"}
"""Common aliases."""
ALIASES: Final = SPECIFIED | HABITS


def read_styles(given: Any, aliases: Mapping[str, str] = ALIASES) -> Any:
    """Parse style names from a list or a comma-separated string, without duplicates; return other values unchanged.

    Args:
        given: the argument.
        aliases: accepted aliases and their style names.
    """
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, list | tuple) or not all(isinstance(item, str) for item in given):
        return given
    names = (name.strip().lower() for item in given for name in item.split(","))
    return list(dict.fromkeys(aliases.get(name, name) for name in names if name))

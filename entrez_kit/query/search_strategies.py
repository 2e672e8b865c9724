"""The search strategies that PubMed offers as filters: Clinical Queries and systematic reviews.

PubMed does not publish the records of these filters but their queries (PubMed User Guide, "Clinical Queries Filters";
"Search Strategy Used to Create the PubMed Systematic Reviews Filter", as of 2018). NLM may change them at any time, so
an answer with one is approximate.
"""

import json
from pathlib import Path
from typing import Final

STRATEGIES: Final[dict[str, str]] = json.loads(Path(__file__).with_name("strategies.json").read_text(encoding="utf-8"))
"""The query of each filter, by its normalized name."""

"""The data of ``services.json``: the names of fields, and values that are the same in every reply, by service."""

import json
from pathlib import Path
from typing import Any, Final

SERVICES: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("services.json").read_text(encoding="utf-8"))
EUROPEPMC: Final[dict[str, Any]] = SERVICES["europepmc"]

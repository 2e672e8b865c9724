"""Text as the files of reference managers can hold it."""

import re
from typing import Any, Final

_CONTROLS: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")


def one_line(value: Any) -> str:
    """Return a value as one line without control characters; nothing where there is none."""
    return " ".join(_CONTROLS.sub("", str(value)).split()) if value is not None else ""

"""Dates as Entrez takes them, and the bounds it understands as open."""

import re
from datetime import date
from typing import Final, TypedDict


class DateBounds(TypedDict, total=False):
    """ESearch's date parameters: all three, or none."""

    datetype: str
    mindate: str
    maxdate: str


EARLIEST: Final = "0001"
LATEST: Final = "3000"
"""Bounds that NCBI understands as open. It ignores a date filter with one bound, so both are always sent."""

_DATE: Final = re.compile(r"([0-9]{4})(?:[/.-]([0-9]{1,2})(?:[/.-]([0-9]{1,2}))?)?")


def normal_date(text: str) -> str:
    """Return a date as NCBI takes it: YYYY, YYYY/MM or YYYY/MM/DD.

    Raises:
        ValueError: the text is no date of the calendar.
    """
    match = _DATE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is no date; write YYYY, YYYY/MM or YYYY/MM/DD")
    year, month, day = match.groups()
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        raise ValueError(f"{text!r} is not in the calendar") from None
    return "/".join(part if len(part) == 4 else part.zfill(2) for part in (year, month, day) if part)

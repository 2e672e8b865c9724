"""Dates of lines: years, months and days, and ranges of them."""

import calendar
import re
from typing import Final

from entrez_kit.query.dialects.tree import DayRange, Loss, Node

_PERIOD: Final = re.compile(r"([0-9]{4})(?:[/-]?([0-9]{2}))?(?:[/-]?([0-9]{2}))?\*?|([0-9]{4,6})\$")
FIRST_DAY: Final = 1000_01_01
"""The first day of a range without a start, as PubMed's website writes it."""
OPEN_END: Final = 3000_12_31
CLOCKS: Final = {
    "entry": (
        Loss("narrower", "the entry dates of the service and of PubMed are different clocks (crdt and edat are near)"),
        Loss("wider", "PubMed's date of entry may be earlier than that of the service"),
    ),
    "change": (
        Loss("narrower", "PubMed knows only the last change of a record"),
        Loss("wider", "PubMed's date of the last change may differ"),
    ),
    "year": (Loss("wider", "PubMed matches the print date and the electronic date"),),
}


def parse_period(text: str, clock: str) -> Node | None:
    """Return the days of a period such as 2017*, 201705* or 20170501, or of a range of two with a hyphen."""
    text = re.sub(r"(?<=[0-9]) to (?=[0-9a-z])", "-", text.replace("-", "/") if " to " in text else text)
    low, _, high = text.replace(" ", "").partition("-") if re.search(r"[0-9]{4} ?-", text) else (text, "", "")
    first = _read_period(low)
    if first is None:
        return None
    if high.lower() in ("current", "present", "date"):
        return make_days(clock, first[0], OPEN_END)
    if not high and "-" in text:  # "1990 -" has no end
        return make_days(clock, first[0], OPEN_END)
    last = _read_period(high) if high else first
    return None if last is None else make_days(clock, first[0], last[1])


def _read_period(text: str) -> tuple[int, int] | None:
    match = _PERIOD.fullmatch(text)
    if match is None:
        return None
    digits = match[4] or "".join(part or "" for part in match.groups()[:3])
    year = int(digits[:4])
    if len(digits) == 4:
        return year * 10000 + 101, year * 10000 + 1231
    month = int(digits[4:6])
    if not 1 <= month <= 12 or not year:
        return None
    if len(digits) == 6:
        return year * 10000 + month * 100 + 1, year * 10000 + month * 100 + calendar.monthrange(year, month)[1]
    return int(digits), int(digits)


def make_days(clock: str, low: int, high: int) -> DayRange:
    """Return a range of days with the losses of its clock."""
    return DayRange(clock, max(low, FIRST_DAY), high, CLOCKS[clock])

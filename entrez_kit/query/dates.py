"""Dates in queries and in the date parameters of ESearch."""

import calendar
import re
from datetime import date, timedelta
from typing import Final

from entrez_kit.query import unsettled

_DATE: Final = re.compile(r"([0-9]{4})(?:[/\-.]([0-9]{1,2})(?:[/\-.]([0-9]{1,2}))?)?")
_LAST: Final = re.compile(r"last ([0-9]{0,5}) ?(day|month|year)s?")
OPEN_END: Final = 3000_12_31
"""The end of a range that includes future dates."""


def parse_days(text: str) -> tuple[int, int] | None:
    """Return the first and the last day (yyyymmdd) of a date such as "2024", "2024/3" or "2024/03/15"."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day = (int(part) if part else 0 for part in match.groups())
    if month > 12 or day > 31 or (match.group(2) and not month) or (match.group(3) and not day):
        return None
    if not month:
        return year * 10000 + 101, year * 10000 + 1231
    if not day:
        last = calendar.monthrange(year, month)[1] if 1 <= year <= 9999 else 31
        return year * 10000 + month * 100 + 1, year * 10000 + month * 100 + last
    number = year * 10000 + month * 100 + day
    return number, number


def parse_range(low: str, high: str) -> tuple[int, int] | None:
    """Return the first and the last day of the range between two dates, given in either order."""
    first, last = parse_days(low), parse_days(high)
    if first is None or last is None:
        return None
    return (first[0], last[1]) if first[0] <= last[1] else (last[0], first[1])


def to_recent_range(days: int, today: date) -> tuple[int, int]:
    """Return the range that begins this number of days before today and ends today."""
    try:
        start = today - timedelta(days=days)
    except OverflowError:
        start = date.min
    return to_number(start), to_number(today)


def parse_relative_range(text: str, today: date, *, includes_future: bool) -> tuple[int, int] | None:
    """Return the range of a relative date such as "last 5 years"; publication dates include future ones."""
    match = _LAST.fullmatch(" ".join(text.lower().split()))
    if match is None:
        return None
    amount, unit = int(match[1] or 1), match[2]
    start = to_recent_range(amount, today)[0] if unit == "day" else unsettled.subtract_months(amount, unit, today)
    return start, OPEN_END if includes_future else to_number(today)


def to_number(day: date) -> int:
    """Return a day as yyyymmdd."""
    return day.year * 10000 + day.month * 100 + day.day

"""Timestamps of the corpus: UTC strings that sort in order of time."""

import re
from datetime import UTC, date, datetime
from typing import Final

from entrez_kit.base.errors import wrong_value
from entrez_kit.base.history_events import ENTERED, find_event
from entrez_kit.pubmed.models import HistoryDate
from entrez_kit.pubmed.xml.dates import format_iso_date

_ISO: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[Tt ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)(Z|z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_STAMP: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{6})?Z")


def get_utc_now() -> datetime:
    """Return the current time; tests replace this clock."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """Format a time with microseconds, for values that are sorted."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def is_stamp(value: object) -> bool:
    """Return whether a value has the format of ``stamp`` or ``to_second``."""
    return isinstance(value, str) and _STAMP.fullmatch(value) is not None


def to_second(moment: datetime) -> str:
    """Format a time to the second, as the corpus contract requires."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_moment(text: str, field: str) -> str:
    """Parse an ISO 8601 string into a UTC time to the second; a date means midnight, a missing zone means UTC.

    Raises:
        InvalidInput: the text is not an ISO 8601 time.
    """
    match = _ISO.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError(text)
        day, clock, zone = match.groups()
        moment = datetime.fromisoformat(f"{day}T{clock or '00:00'}{(zone or 'Z').upper()}")
        return to_second(moment)
    except (ValueError, OverflowError):
        hint = "Write a UTC time such as 2025-08-17T15:59:02Z, or a date such as 2025-08-17."
        raise wrong_value(field, "a date or an ISO 8601 time", text, hint, reason="bad_moment") from None


def get_day(moment: str) -> date:
    """Return the date of a timestamp."""
    return date.fromisoformat(moment[:10])


def to_midnight(day: str | None) -> str | None:
    """Return the timestamp of a full date (2024-06-15); None for a date without month or day."""
    return f"{day}T00:00:00Z" if day and len(day) == 10 else None


def find_entry_time(history: list[HistoryDate]) -> str | None:
    """Return the time a record entered PubMed (EDAT); None if its history lacks the date."""
    dated = ((step.status, step) for step in history if step.year and step.month and step.day)
    step = find_event(dated, ENTERED)
    if step is None:
        return None
    hour, minute = step.hour or 0, step.minute or 0
    known = 0 <= hour < 24 and 0 <= minute < 60
    clock = f"{hour:02}:{minute:02}:00" if known else "00:00:00"
    return f"{format_iso_date(step.year, step.month, step.day)}T{clock}Z"

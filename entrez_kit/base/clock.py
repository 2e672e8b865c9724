"""Clock: the time of a call. A recorded command has a fixed time, so that its replay gives the same results."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final, Protocol

MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""NLM's abbreviations of the months."""


class Clock(Protocol):
    """Returns the current time."""

    def now(self) -> datetime:
        """Return the time in UTC."""

    def today(self) -> date:
        """Return the date in the local time zone."""


class SystemClock:
    """The clock of this computer."""

    def now(self) -> datetime:
        """Return the time in UTC."""
        return datetime.now(UTC)

    def today(self) -> date:
        """Return the date in the local time zone."""
        return date.today()


SYSTEM_CLOCK: Final = SystemClock()


@dataclass(frozen=True, slots=True)
class FixedClock:
    """A clock that always returns the same time.

    Args:
        moment: the time in UTC.
        day: the date of this time in the local time zone of the recorded command.
    """

    moment: datetime
    day: date

    def now(self) -> datetime:
        """Return the time in UTC."""
        return self.moment

    def today(self) -> date:
        """Return the date in the local time zone."""
        return self.day

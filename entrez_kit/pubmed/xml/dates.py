"""Read PubMed's dates: plain dates, seasons, ranges, free text, and dates that do not exist."""

import re
from calendar import monthrange
from functools import lru_cache
from typing import Any, Final

MONTH_NAMES: Final = (
    ("jan", "january"),
    ("feb", "february"),
    ("mar", "march"),
    ("apr", "april"),
    ("may",),
    ("jun", "june"),
    ("jul", "july"),
    ("aug", "august"),
    ("sep", "sept", "september"),
    ("oct", "october"),
    ("nov", "november"),
    ("dec", "december"),
)
"""The spellings of each month, NLM's abbreviation first."""
_MONTHS: Final[dict[str, int]] = {
    spelling: number
    for number, names in enumerate(MONTH_NAMES, start=1)
    for name in (*names, str(number), f"{number:02}")
    for spelling in (name, name.capitalize(), name.upper())
}
NUMBERS: Final[dict[str, int]] = {f"{number:0{width}}": number for width in (1, 2) for number in range(60)} | {
    str(year): year for year in range(1500, 2200)
}

YEAR: Final = re.compile(r"(?<![0-9])(?:1[5-9]|2[01])[0-9]{2}(?![0-9])")
_SEASON: Final = re.compile(r"\b(?:spring|summer|autumn|fall|winter|quart\w*|qtr|trimester)\b", re.IGNORECASE)
_MONTH: Final = re.compile(rf"\b(?:{'|'.join(name for names in MONTH_NAMES for name in names)})\b", re.IGNORECASE)
_DAY: Final = re.compile(r"(?<![0-9])(?:0?[1-9]|[12][0-9]|3[01])(?![0-9])")
_BETWEEN: Final = re.compile(r"[-–—/&,+]|\b(?:to|and)\b", re.IGNORECASE)
_PLAIN: Final = re.compile(
    r"(?P<year>(?:1[5-9]|2[01])[0-9]{2})(?:[ /-](?P<month>[A-Za-z]{3,9}|[0-9]{1,2})\.?(?:[ /-](?P<day>[0-9]{1,2}))?)?"
    r"(?: [0-9]{1,2}:[0-9]{2})?"
)

HISTORY: Final = b"<History>"
_HISTORY_END: Final = re.compile(rb"\s*</History>")
_STEP: Final = re.compile(
    rb'\s*+<PubMedPubDate PubStatus="([a-z-]+)">\s*+<Year>([0-9]{1,4})</Year>\s*+<Month>([0-9]{1,2})</Month>'
    rb"\s*+<Day>([0-9]{1,2})</Day>\s*+"
    rb"(?:<Hour>([0-9]{1,2})</Hour>\s*+(?:<Minute>([0-9]{1,2})</Minute>\s*+)?)?</PubMedPubDate>"
)


def read_number(text: str | None) -> int | None:
    """Read a year, day, hour or minute; None if the text is not a plain number."""
    if text is None:
        return None
    known = NUMBERS.get(text)
    if known is not None:
        return known
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else None


def read_month(text: str | None) -> int | None:
    """Read a month written as a number, a name or NLM's abbreviation."""
    if text is None:
        return None
    return _MONTHS.get(text) or _MONTHS.get(text.strip().rstrip(".").lower())


def is_existing_day(year: int | None, month: int | None, day: int) -> bool:
    """Return whether a month has a day; if the year is unknown, February has 29 days."""
    if day < 1 or month is None:
        return False
    return day <= 28 or day <= monthrange(year or 2000, month)[1]


@lru_cache(maxsize=8192)
def build_calendar_parts(year: str | None, month: str | None, day: str | None) -> dict[str, int]:
    """Return year, month and day as numbers, without parts that do not exist. Copy the result before you change it."""
    parts: dict[str, int] = {}
    if (known_year := read_number(year)) is not None:
        parts["year"] = known_year
    if (known_month := read_month(month)) is not None:
        parts["month"] = known_month
        if (known_day := read_number(day)) is not None and is_existing_day(known_year, known_month, known_day):
            parts["day"] = known_day
    return parts


def build_moment(
    year: str | None, month: str | None, day: str | None, hour: str | None, minute: str | None
) -> dict[str, Any]:
    """Return a date and time as numbers, without date parts that do not exist."""
    return {**build_calendar_parts(year, month, day), "hour": read_number(hour), "minute": read_number(minute)}


def look_up_history(data: bytes, start: int, end: int) -> tuple[list[dict[str, Any]], int] | None:
    """Read the dated steps of a record from bytes; None if their format is not NLM's usual one.

    Args:
        data: the bytes of the document.
        start: the beginning of the list.
        end: the end of the record.

    Returns:
        the steps, and the end of the list.
    """
    steps = []
    start += len(HISTORY)
    while step := _STEP.match(data, start, end):
        steps.append(_read_step(*step.groups()))
        start = step.end()
    list_end = _HISTORY_END.match(data, start, end)
    return (steps, list_end.end()) if list_end else None


@lru_cache(maxsize=8192)
def _read_step(status: bytes, *texts: bytes | None) -> dict[str, Any]:
    year, month, day, hour, minute = (text.decode("ascii") if text is not None else None for text in texts)
    return {**build_moment(year, month, day, hour, minute), "status": status.decode("ascii")}


def format_iso_date(year: int | None = None, month: int | None = None, day: int | None = None) -> str | None:
    """Format a date as 2023-03-15, 2023-03 or 2023; None without a year."""
    if year is None:
        return None
    if month is None:
        return f"{year:04}"
    return f"{year:04}-{month:02}" if day is None else f"{year:04}-{month:02}-{day:02}"


def build_publication_date(
    year: str | None, month: str | None, day: str | None, season: str | None, medline_date: str | None
) -> dict[str, Any] | None:
    """Return the fields of a ``PublicationDate`` from the texts of a PubDate element, or None if all are empty."""
    return dict(date) if (date := _read_publication_date(year, month, day, season, medline_date)) else None


@lru_cache(maxsize=4096)
def _read_publication_date(
    year: str | None, month: str | None, day: str | None, season: str | None, medline_date: str | None
) -> dict[str, Any] | None:
    fields = (year, season, month, day) if not medline_date else (medline_date,)
    text = " ".join(" ".join(part for part in fields if part).split())
    if year and not season and not medline_date:
        parts = build_calendar_parts(year, month, day)
        if len(parts) == bool(year) + bool(month) + bool(day):
            return {**parts, "precision": ("year", "month", "day")[len(parts) - 1]}
        if "year" in parts and "month" in parts:  # a day that does not exist
            return {**parts, "precision": "month", "medline_date": text}
    return {**_read_text(text), "medline_date": text} if text else None


def _read_text(text: str) -> dict[str, Any]:
    """Read a date from free text: the beginning of a range, the year of a season."""
    year = YEAR.search(text)
    if not year:
        return {}
    date: dict[str, Any] = {"year": int(year[0])}
    if _SEASON.search(text):
        return {**date, "precision": "season"}
    rest = text[: year.start()] + " " * len(year[0]) + text[year.end() :]
    precision = "year"
    if month := _MONTH.search(rest):
        date["month"] = _MONTHS[month[0].lower()]
        precision = "month"
        following = _DAY.search(rest, month.end())
        # "Dec 23-30" has a day; in "Dec-1999 Jan 5" the day belongs to the end of the range
        if following and not _BETWEEN.search(rest, month.end(), following.start()):
            day = int(following[0])
            if is_existing_day(date["year"], date["month"], day):
                date["day"] = day
                precision = "day"
    words = rest.strip(" ,.;")
    return {**date, "precision": "range" if _BETWEEN.search(words) else precision}


def convert_to_iso_date(text: str) -> str:
    """Convert a plain date ("2023 Mar 15", "2023/03/15 00:00") to ISO format; return other texts unchanged."""
    text = " ".join(text.split())
    plain = _PLAIN.fullmatch(text)
    if not plain:
        return text
    parts = build_calendar_parts(plain["year"], plain["month"], plain["day"])
    complete = len(parts) == sum(value is not None for value in plain.groupdict().values())
    return (format_iso_date(**parts) or text) if complete else text

"""Values of CSL-JSON as programs write them: lists of one, null, dates as text, months as strings, names as text."""

import re
from collections.abc import Mapping
from typing import Any, Final

from entrez_kit.base.invisible import remove_invisible
from entrez_kit.citations.csl import ARTICLE_NUMBER, SEASONS
from entrez_kit.pubmed.pages import page_and_number
from entrez_kit.pubmed.xml.dates import is_existing_day
from entrez_kit.references.files.references import RefAuthor, find_year

_NAMES: Final = ("author", "editor", "container-author", "collection-editor", "translator")
_DATES: Final = ("issued", "accessed", "original-date", "available-date", "submitted", "event-date")


def clean_texts(value: Any, depth: int = 5) -> Any:
    """Return a value of an item with all texts in it without invisible characters.

    Args:
        depth: the depth of lists and objects in which texts are; a date has four.
    """
    if isinstance(value, str):
        return remove_invisible(value)
    if isinstance(value, list) and depth:
        return [clean_texts(one, depth - 1) for one in value]
    if isinstance(value, dict) and depth:
        return {name: clean_texts(one, depth - 1) for name, one in value.items()}
    return value


def list_csl_names(value: Any) -> list[dict[str, str]]:
    """Return the names of a field with text values only; a name that is text is a literal."""
    names = value if isinstance(value, list) else [value]
    found: list[dict[str, str]] = []
    for name in names:
        if isinstance(name, str) and name.strip():
            found.append({"literal": " ".join(name.split())})
        elif isinstance(name, dict):
            parts = {
                key: " ".join(part.split()) for key, part in name.items() if isinstance(part, str) and part.strip()
            }
            if parts:
                found.append(parts)
    return found


def read_csl_author(parts: Mapping[str, str]) -> RefAuthor:
    """Return a person or a group from the parts of a name."""
    family = " ".join(parts[key] for key in ("dropping-particle", "non-dropping-particle", "family") if parts.get(key))
    given, _, suffix = parts.get("given", "").partition(", ")  # "Jane, Jr."
    if parts.get("literal") or not family:
        return RefAuthor(group=parts.get("literal") or parts.get("name") or parts.get("given"))
    return RefAuthor(family=family, given=given or None, suffix=parts.get("suffix") or suffix or None)


def clean_csl_date(value: Any) -> dict[str, Any] | None:
    """Return a date with whole numbers that are valid; None if it has no year.

    A date that is text, raw or literal gives its year and its season, or the day of ISO 8601.
    """
    if not isinstance(value, dict):
        value = {"raw": str(value)} if value else {}
    parts = value.get("date-parts")
    dates = [date for part in parts if (date := _clean_parts(part))] if isinstance(parts, list) else []
    text = str(value.get("raw") or value.get("literal") or "")
    if not dates and (year := find_year(text)):
        ends = re.split("[/–]|(?<=[0-9]{4})-(?=[0-9]{4})", text)
        dates = [date for end in ends if (date := _read_iso_date(end))] if len(ends) == 2 else []
        dates = dates if len(dates) == 2 else [_read_iso_date(text) or [int(year)]]
    if not dates:
        return None
    cleaned: dict[str, Any] = {"date-parts": dates[:2]}
    season = str(value.get("season") or next(iter(re.findall("|".join(SEASONS), text.lower())), ""))
    number = SEASONS.get(season.lower(), int(season) if season.isdigit() else 0)
    return cleaned | {"season": number} if 1 <= number <= 4 else cleaned


def _read_iso_date(text: str) -> list[int]:
    """Return the year of a text, or the month or day of a date of ISO 8601 in it; an empty list without a year."""
    iso = re.search(r"([0-9]{4})-([0-9]{2})(?![0-9])(?:-([0-9]{2}))?", text)
    year = find_year(text)
    return _clean_parts([part for part in iso.groups() if part]) if iso else [int(year)] if year else []


def _clean_parts(parts: Any) -> list[int]:
    """Return year, month and day as numbers, without invalid ones and those after them."""
    if not isinstance(parts, list):
        return []
    numbers: list[int] = []
    for part in parts[:3]:
        if isinstance(part, bool) or not re.fullmatch(r"[0-9]{1,4}", text := str(part).strip()):
            break
        numbers.append(int(text))
    if len(numbers) > 1 and not 1 <= numbers[1] <= 12:
        return numbers[:1]
    if len(numbers) == 3 and not is_existing_day(numbers[0], numbers[1], numbers[2]):
        return numbers[:2]
    return numbers


def clean_csl_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item that a citation processor accepts: its values are text, names or dates."""
    clean: dict[str, Any] = {}
    for name, value in item.items():
        first = value[0] if isinstance(value, list) and value and isinstance(value[0], str | int | float) else value
        if name in _NAMES:
            clean[name] = list_csl_names(value)
        elif name in _DATES:
            clean[name] = clean_csl_date(value)
        elif isinstance(first, str | int | float) and not isinstance(first, bool):
            clean[name] = first
    clean["type"] = str(clean.get("type") or "document")
    return {name: value for name, value in clean.items() if value not in (None, "", [])}


def get_article_number(item: Mapping[str, Any]) -> str | None:
    """Return the article number among the user's own members of an item; None without one."""
    custom = item.get("custom")
    number = custom.get(ARTICLE_NUMBER) if isinstance(custom, dict) else None
    return number if isinstance(number, str) else None


def read_article_number(item: dict[str, Any], own_number: str | None) -> dict[str, Any]:
    """Return an item with the number of an electronic article in its own field, if the field of pages has it.

    Args:
        own_number: the result of ``get_article_number``.
    """
    if item["type"].startswith("article") and "number" not in item and "page" in item:
        page, number = page_and_number(str(item["page"]), own_number)
        if page is None and number is not None:
            return {name: value for name, value in item.items() if name != "page"} | {"number": number}
    return item

"""Publication dates as CSL-JSON has them: single dates, ranges, seasons, and text where PubMed gives no date."""

import re
from typing import Any, Final

from entrez_kit.pubmed.models import Article, ArticleDate, PublicationDate
from entrez_kit.pubmed.xml.dates import day_exists, month_number

_SEASONS: Final = {"spring": 1, "summer": 2, "autumn": 3, "fall": 3, "winter": 4}
_DASH: Final = re.compile(r"(?<!\s)(?:\s*+[-–—/]\s*+|\s++(?:to|and|&)\s++)", re.IGNORECASE)
_YEAR: Final = re.compile(r"(?<![0-9])(?:1[5-9]|2[01])[0-9]{2}(?![0-9])")
_WORD: Final = re.compile(r"[A-Za-z]+|[0-9]{1,2}(?![0-9])")


def issued(article: Article) -> dict[str, Any] | None:
    """Return when a record was published as a CSL date.

    ``2003 Jan-Feb`` has two dates, ``2003 Winter`` a season, ``19 century`` only its text. A chapter that was added to
    a book after it appeared (1993, for some at NCBI Bookshelf) has the date it was added.
    """
    journal = article.journal_info
    published = journal.publication_date if journal is not None else None
    if article.record_type == "chapter":
        contributed = next((date for date in article.article_dates if date.type == "contribution"), None)
        since = published.year if published is not None and published.year is not None else 0
        if contributed is not None and contributed.year is not None and contributed.year > since:
            return {"date-parts": [_parts(contributed)]}
    if published is not None and (date := csl_date(published)):
        return date
    electronic = next((date for date in article.article_dates if date.year is not None), None)
    return {"date-parts": [_parts(electronic)]} if electronic is not None else None


def csl_date(date: PublicationDate) -> dict[str, Any] | None:
    """Return a publication date of PubMed as a CSL date."""
    if date.year is None:
        return {"literal": date.medline_date} if date.medline_date else None
    start = _parts(date)
    if date.precision not in ("range", "season") or not date.medline_date:
        return {"date-parts": [start]}
    text = date.medline_date
    seasons = [_SEASONS[word.lower()] for word in re.findall(r"[A-Za-z]+", text) if word.lower() in _SEASONS]
    end = _end(start, text)
    found: dict[str, Any] = {"date-parts": [start, end] if end else [start]}
    if seasons:
        found["season"] = seasons[0]
    return found


def _parts(date: PublicationDate | ArticleDate) -> list[int]:
    parts: list[int] = []
    for part in (date.year, date.month, date.day):
        if part is None:
            break
        parts.append(part)
    return parts


def _end(start: list[int], text: str) -> list[int] | None:
    """Read where a range ends: "Jan-Feb", "Nov 30-Dec 6", "12-18", "Dec-1999 Jan", "1975-1976"."""
    dash = _DASH.search(text)
    if not dash:
        return None
    rest = text[dash.end() :]
    years = _YEAR.findall(rest)
    end = [int(years[-1]) if years else start[0]]
    numbers: list[int] = []
    for word in _WORD.findall(_YEAR.sub(" ", rest)):
        if word.isdigit():
            numbers.append(int(word))
        elif (month := month_number(word)) is not None and len(end) == 1:
            end.append(month)
    if numbers and len(end) == 1 and len(start) == 3:  # "Nov 12-18": the month stands before the dash
        end.append(start[1])
    if numbers and len(end) == 2 and day_exists(end[0], end[1], numbers[0]):
        end.append(numbers[0])
    return end if end > start and len(end) >= min(len(start), 2) else None

"""Values of fields that files write in several ways: dates with ranges and seasons, languages, article numbers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from entrez_kit.base.invisible import remove_invisible
from entrez_kit.citations.csl import SEASON_NAMES, convert_to_csl_date, to_one_line
from entrez_kit.pubmed.models import LANGUAGES, PublicationDate
from entrez_kit.pubmed.xml.dates import MONTH_NAMES, build_publication_date

_CODES: Final = {
    **{name.lower(): code for code, name in LANGUAGES.values()},
    **{code: code for code, _ in LANGUAGES.values()},
    **{nlm: code for nlm, (code, _) in LANGUAGES.items()},
}
"""The codes of CSL by the name, the code, and NLM's code of a language."""
_RIS_DATE: Final = re.compile(r"[0-9]{0,4}/[0-9]{0,2}/[0-9]{0,2}/(.+)")
_YEARS: Final = re.compile(r"[0-9]{4} ?[-–/] ?[0-9]{4}")
_PREPRINT: Final = re.compile(r"\bpre-?print", re.IGNORECASE)
_SERVER: Final = re.compile(
    r"\b\w*rxiv\b|\bresearch square\b|\bssrn\b|\bpreprints\.org\b|\bosf preprints\b|\bauthorea\b", re.IGNORECASE
)
"""The servers of preprints: bioRxiv, medRxiv, arXiv, ChemRxiv, PsyArXiv and so on."""
_NUMBER_OF_BOOK: Final = re.compile(r"[0-9]{4}-?[0-9]{3}[0-9Xx]|(?:97[89][- ]?)?(?:[0-9][- ]?){9}[0-9Xx]")
"""An ISSN or ISBN."""


def read_text(value: Any) -> str:
    """Return the value of a field as one line without invisible characters: these come from copied text."""
    return remove_invisible(to_one_line(value))


def parse_language(text: str) -> str:
    """Return the code of a language from its name, its code or NLM's code: "English", "en-US" and "eng" are en."""
    words = text.strip().rstrip(".").lower()
    return _CODES.get(words) or _CODES.get(re.split(r"[-_ ;,]", words)[0]) or text


def is_preprint(*texts: str | None) -> bool:
    """Return whether one of several fields of a record names a preprint or a server of preprints."""
    return any(_PREPRINT.match(text) or _SERVER.search(text) for text in texts if text)


def is_standard_number(text: str) -> bool:
    """Return whether a text is an ISSN or an ISBN, not the number of a report."""
    return _NUMBER_OF_BOOK.fullmatch(text.strip()) is not None


def parse_date_text(text: str | None) -> dict[str, Any] | None:
    """Return a date in PubMed's form as a CSL date: 2019 Dec 24, 1998 Dec-1999 Jan, 2003 Winter."""
    fields = build_publication_date(None, None, None, None, text)
    return convert_to_csl_date(PublicationDate.model_validate(fields)) if fields else None


def find_range(texts: Sequence[str], parts: Sequence[int]) -> dict[str, Any] | None:
    """Return the range or season of a date from the last part of RIS dates (2003/01//2003 Jan-Feb), as a CSL date.

    Args:
        texts: the dates of a record.
        parts: its year, month and day.
    """
    for text in texts:
        if _YEARS.fullmatch(text):
            return parse_date_text(text)
        if match := _RIS_DATE.fullmatch(text):
            rest = match[1] if re.search("[0-9]{4}", match[1]) else f"{parts[0] if parts else ''} {match[1]}"
            date = parse_date_text(rest)
            if date and not parts:
                return date if "literal" in date else None
            if date and date["date-parts"][0][:1] == [*parts[:1]] and ("season" in date or len(date["date-parts"]) > 1):
                return date
    return None


def describe_date(date: Mapping[str, Any]) -> str:
    """Return a CSL date in PubMed's form: 2019 Dec 24, 1998 Dec-1999 Jan, 1990-1991 Winter."""
    if not date.get("date-parts"):
        return str(date.get("literal") or "")
    text = "-".join(" ".join(_yield_words(parts)) for parts in date["date-parts"])
    return f"{text} {SEASON_NAMES[int(date['season']) - 1].capitalize()}" if date.get("season") else text


def _yield_words(parts: Sequence[int]) -> Iterator[str]:
    yield str(parts[0])
    if len(parts) > 1:
        yield MONTH_NAMES[parts[1] - 1][0].capitalize()
    yield from map(str, parts[2:])


def write_ris_date(date: Mapping[str, Any] | None) -> str | None:
    """Return a date as in RIS: 2019/12/24/, 1998/12//1998 Dec-1999 Jan; None for a year alone."""
    if not date:
        return None
    dates = date.get("date-parts") or [[]]
    year, month, day = (*(f"{part:02}" for part in dates[0]), "", "", "")[:3]
    rest = describe_date(date) if len(dates) > 1 or date.get("season") or not year else ""
    return f"{year}/{month}/{day}/{rest}" if month or rest else None

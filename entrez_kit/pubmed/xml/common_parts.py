"""Read the parts that records of articles and books share: dates, grants, keywords, languages, pages."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from entrez_kit.base.mixed_content import read_text
from entrez_kit.pubmed.xml.dates import build_calendar_parts, build_moment, build_publication_date, format_iso_date

Fields = dict[str, Any]
Handlers = Mapping[str, "str | Callable[[Any, Fields], None] | Mapping[str, Any]"]
"""The handler of each tag: a function, the field for the element's text, or the handlers of its children."""

_GRANT: Final = {"GrantID": "grant_id", "Agency": "agency", "Acronym": "acronym", "Country": "country"}


def dispatch(element: Any, handlers: Handlers, fields: Fields) -> None:
    """Read each child that has a handler."""
    for child in element:
        handler = handlers.get(child.tag)
        if callable(handler):
            handler(child, fields)
        elif isinstance(handler, str):
            fields[handler] = read_text(child)
        elif handler is not None:
            dispatch(child, handler, fields)


def read_history(container: Any, fields: Fields) -> None:
    """Read the dated steps of a record: received, accepted, entrez ..."""
    steps: list[Fields] = []
    for element in container:
        if status := element.get("PubStatus"):
            get = {child.tag: child.text for child in element}.get
            date = build_moment(get("Year"), get("Month"), get("Day"), get("Hour"), get("Minute"))
            steps.append({**date, "status": status})
    fields["history"] = steps


def read_grants(container: Any, fields: Fields) -> None:
    """Read the funding of an article, a book or a chapter."""
    grants: list[Fields] = fields.setdefault("grant_list", [])
    for grant in container:
        entry: Fields = {_GRANT[child.tag]: read_text(child) for child in grant if child.tag in _GRANT}
        if entry:
            grants.append(entry)


def read_pub_date(element: Any) -> Fields | None:
    """Read a PubDate element."""
    return build_date({child.tag: child.text for child in element})


def build_date(texts: dict[str, str | None]) -> Fields | None:
    """Return the fields of a date of publication from the texts of its elements, by tag."""
    get = texts.get
    return build_publication_date(get("Year"), get("Month"), get("Day"), get("Season"), get("MedlineDate"))


def read_plain_date(element: Any) -> dict[str, int]:
    """Read an element with Year, Month and Day."""
    texts: dict[str, str | None] = {child.tag: child.text for child in element}
    get = texts.get
    return build_calendar_parts(get("Year"), get("Month"), get("Day"))


def read_keywords(container: Any, fields: Fields) -> None:
    """Add each keyword of any owner once; add those of major topics to ``major_keywords`` too."""
    keywords: list[str] = fields.setdefault("keywords", [])
    for element in container:
        word = read_text(element)
        if word and word not in keywords:
            keywords.append(word)
        if word and element.get("MajorTopicYN") == "Y":
            major: list[str] = fields.setdefault("major_keywords", [])
            if word not in major:
                major.append(word)


def read_revised(element: Any, fields: Fields) -> None:
    """Read the date of the last revision of the record."""
    date = format_iso_date(**read_plain_date(element))
    if date:
        fields["date_revised"] = date


def read_language(element: Any, fields: Fields) -> None:
    """Add a language."""
    code = read_text(element)
    if code:
        fields.setdefault("languages", []).append(code)


def add_date(element: Any, kind: str | None, fields: Fields) -> None:
    """Add a date other than the issue date."""
    date: Fields = {**read_plain_date(element)}
    if kind:
        date["type"] = kind
    if date:
        fields.setdefault("article_dates", []).append(date)


def read_pagination(element: Any, fields: Fields) -> None:
    """Read the pages in MEDLINE's short form (117-26), or else the first and the last page."""
    texts = {child.tag: read_text(child) for child in element}
    ends = [page for name in ("StartPage", "EndPage") if (page := texts.get(name))]
    if pages := texts.get("MedlinePgn") or "-".join(dict.fromkeys(ends)):
        fields.setdefault("journal_info", {})["pages"] = pages

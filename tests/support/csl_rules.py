"""The rules of CSL's JSON schema for the fields that records of PubMed can have."""

from typing import Any

TYPES = {"article", "article-journal", "article-newspaper", "book", "chapter", "report"}
TEXTS = {
    *("id", "type", "title", "container-title", "container-title-short", "collection-title", "volume", "issue", "page"),
    *(
        "number",
        "chapter-number",
        "edition",
        "publisher",
        "publisher-place",
        "genre",
        "medium",
        "status",
        "DOI",
        "PMID",
    ),
    *("PMCID", "ISSN", "ISBN", "URL", "language", "abstract", "keyword", "source", "note"),
}
NAMES = {"author", "editor", "container-author"}
NAME_PARTS = {"family", "given", "non-dropping-particle", "dropping-particle", "suffix", "literal"}
DATE_PARTS = {"date-parts", "season", "literal"}


def find_breaches(item: dict[str, Any]) -> list[str]:
    """Return the members of an item that the schema does not allow."""
    found = [f"{name} is missing" for name in ("id", "type") if name not in item]
    if item.get("type") not in TYPES:
        found.append(f"type {item.get('type')}")
    for name, value in item.items():
        if name in TEXTS:
            good = isinstance(value, str) and value.strip() == value and value != ""
        elif name in NAMES:
            good = bool(value) and all(_is_name(person) for person in value)
        else:
            good = name == "issued" and _is_date(value)
        if not good:
            found.append(f"{name}: {value!r}")
    return found


def _is_name(person: Any) -> bool:
    return (
        isinstance(person, dict)
        and set(person) <= NAME_PARTS
        and all(isinstance(part, str) and part for part in person.values())
        and (set(person) == {"literal"} or "family" in person)
    )


def _is_date(date: Any) -> bool:
    if not isinstance(date, dict) or not set(date) <= DATE_PARTS:
        return False
    if "date-parts" not in date:
        return isinstance(date.get("literal"), str)
    parts = date["date-parts"]
    return (
        1 <= len(parts) <= 2
        and all(1 <= len(part) <= 3 and all(isinstance(number, int) for number in part) for part in parts)
        and date.get("season", 1) in (1, 2, 3, 4)
    )

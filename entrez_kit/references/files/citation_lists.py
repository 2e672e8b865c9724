"""Read references to look up from BibTeX and CSV files."""

import re
from typing import Any, Final

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.frontend_text import quote_value
from entrez_kit.base.tables import TableError, read_table
from entrez_kit.references.files.read_bibtex import read_bibtex

COLUMNS: Final = {
    "journal": ("journal", "journaltitle", "journal_title", "source"),
    "year": ("year", "date", "pub_year", "publication_year"),
    "volume": ("volume", "vol"),
    "issue": ("issue", "number"),
    "first_page": ("first_page", "firstpage", "page", "pages", "start_page"),
    "last_page": ("last_page", "lastpage", "end_page"),
    "author_name": ("author_name", "author", "authors", "first_author", "firstauthor"),
    "title": ("title", "article_title"),
    "key": ("key", "id", "ref", "reference"),
}
"""The fields, with the column names that are recognized for each."""


def read_citations(text: str, name: str, *, bibtex: bool) -> list[dict[str, str]]:
    """Read references from the text of the file ``name``. Each is a mapping with fields of ``Citation``.

    Raises:
        InvalidInput: the file has no references, or a reference cannot be read. The message has its line.
    """
    citations = _read_bibtex_citations(text, name) if bibtex else _read_csv_citations(text, name)
    if not citations:
        raise InvalidInput(
            f"{name} does not contain a reference.",
            invalid_input=name,
            recovery_hint="Give a BibTeX file, or a CSV file with a header such as journal,year,volume,page,author.",
            details={"reason": "no_references"},
        )
    return citations


def _read_bibtex_citations(text: str, name: str) -> list[dict[str, str]]:
    citations = []
    for reference in read_bibtex(text, name).references:
        first = reference.authors[0] if reference.authors else None
        values = {
            "key": reference.key,
            "title": reference.title,
            "journal": reference.journal,
            "year": reference.year,
            "volume": reference.volume,
            "issue": reference.issue,
            "pages": reference.pages,
            "author": first and (first.group or get_first_author(first.text)),
        }
        citations.append(_build_citation(values))
    return citations


def _read_csv_citations(text: str, file: str) -> list[dict[str, str]]:
    citations = []
    try:
        columns, rows = read_table(text)
        names = {_normalize_column(name) for name in columns}
        if not names & {column for columns in COLUMNS.values() for column in columns}:
            raise InvalidInput(
                f"{file} has no column for references: its first line is {quote_value(', '.join(columns))}.",
                invalid_input=file,
                recovery_hint="Name the columns journal, year, volume, first_page, author, title or key in the first "
                "line.",
                details={"reason": "bad_csv"},
            )
        for _, row in rows:
            citations.append(_build_citation({_normalize_column(name): value for name, value in row.items() if name}))
    except TableError as exc:
        raise InvalidInput(
            f"{file}, line {exc.line}: {exc.problem}.",
            invalid_input=file,
            recovery_hint="Correct this line, or give the references as BibTeX.",
            details={"reason": "bad_csv"},
        ) from None
    return citations


def _normalize_column(name: str | None) -> str:
    return (name or "").strip().lower().replace(" ", "_")


def _build_citation(values: dict[str, Any]) -> dict[str, str]:
    citation: dict[str, str] = {}
    for field, columns in COLUMNS.items():
        value = next((values[column] for column in columns if values.get(column)), None)
        if value and str(value).strip():
            citation[field] = " ".join(str(value).split())
    if "year" in citation:
        year = re.search(r"[0-9]{4}", citation["year"])
        citation.pop("year")
        if year:
            citation["year"] = year[0]
    if "first_page" in citation:
        first, *rest = re.split(r"(?<!\s)\s*+[-\u2010-\u2015]+\s*+", citation["first_page"])
        citation["first_page"] = first
        if rest and rest[0]:
            citation.setdefault("last_page", rest[0])
    if "author_name" in citation:
        citation["author_name"] = get_first_author(citation["author_name"])
    return citation


def get_first_author(names: str) -> str:
    """Return the first of several authors in PubMed's form: family name and initials ("Doe JA")."""
    first = re.split(r"(?<!\s)(?:\s*+;\s*+|\s++and\s++)", names)[0].strip()
    if "," in first:
        family, _, given = (part.strip() for part in first.partition(","))
        # "Doe J, Smith A" is a list of names; "Doe, Jane A" is one name.
        if re.search(r"\s[A-Z]{1,3}$", family):
            return family
        initials = "".join(word[0] for word in re.findall(r"[^\W\d_]+", given))
        return f"{family} {initials}".strip()
    return first

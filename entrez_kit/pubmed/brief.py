"""Format records in one line for lists and messages."""

import re
from typing import Final

from entrez_kit.pubmed.comparison import list_years
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.pages import format_place_of_publication

MAX_AUTHORS: Final = 3


def list_first_names(article: Article, limit: int) -> list[str]:
    """Return the first authors in the form of a reference: Doe J, or a group."""
    return [
        author.collective_name or " ".join(part for part in (author.last_name, author.initials) if part)
        for author in article.authors[:limit]
    ]


def format_brief_citation(article: Article) -> str:
    """Format a record as a line: Doe J, Roe R, et al. A title. J Inv. 2024;12(3):201-12. PMID 1."""
    names = list_first_names(article, MAX_AUTHORS)
    if len(article.authors) > MAX_AUTHORS:
        names.append("et al")
    title = article.title.rstrip(".")
    parts = [", ".join(name for name in names if name), title, format_brief_place(article), f"PMID {article.pmid}"]
    return " ".join(part if part[-1] in ".?!" else f"{part}." for part in parts if part)


def format_brief_owner(article: Article) -> str:
    """Name a record by its first author and year: Doe 2024 (PMID 1)."""
    first = article.authors[0] if article.authors else None
    name = (first.collective_name or first.last_name or "") if first is not None else article.title
    year = next(iter(list_years(article)), "")
    identifier = f"PMID {article.pmid}" if article.pmid else f"doi:{article.doi}"
    return f"{' '.join(filter(None, (name, year)))} ({identifier})"


def format_brief_place(article: Article) -> str:
    """Format the place of publication: J Inv. 2024;12(3):201-12."""
    journal = article.journal_info
    if journal is None:
        return ""
    date = journal.publication_date
    year = str(date.year or date.medline_date or "") if date else ""
    pages = journal.pages or (journal.article_number if journal.volume or journal.issue else None)
    return format_place_of_publication(
        journal.iso_abbreviation or journal.title, year, journal.volume, journal.issue, pages
    )


def get_surname(name: str) -> str:
    """Return the family name of an author written "Doe J", "Doe, Jane", "J. Doe" or "van der Doe J"."""
    if "," in name:
        return name.split(",")[0].strip()
    parts = name.split()
    initials = re.compile(r"(?:[A-Z]\.?-?){1,4}")
    remaining = [part for part in parts if not initials.fullmatch(part)]
    return " ".join(remaining or parts)

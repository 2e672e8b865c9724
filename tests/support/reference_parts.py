"""The parts of references to the articles of the demo, to write them in a style and to change them."""

from dataclasses import dataclass
from typing import Final

from demo_articles import read_demo_articles

from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.pages import expand_ranges

MIN_AUTHORS: Final = 4


@dataclass(frozen=True)
class Parts:
    """The parts of a reference; an author is a family name with initials."""

    authors: tuple[tuple[str, str], ...]
    title: str
    journal: str
    year: str
    volume: str
    issue: str
    pages: str
    ends: str = ""


def read_parts(article: Article) -> Parts:
    journal = article.journal_info
    assert journal is not None
    assert journal.publication_date is not None
    return Parts(
        authors=tuple((who.last_name or "", who.initials or "") for who in article.authors),
        title=article.title.rstrip("."),
        journal=journal.iso_abbreviation or "",
        year=str(journal.publication_date.year),
        volume=journal.volume or "",
        issue=journal.issue or "",
        pages=expand_ranges(journal.pages or ""),
    )


def is_whole(article: Article) -> bool:
    """Return whether a record has all fields, and no number or name twice."""
    journal = article.journal_info
    if len({who.last_name for who in article.authors}) < len(article.authors):
        return False
    if article.record_type != "article" or journal is None or len(article.authors) < MIN_AUTHORS:
        return False
    numbers = {journal.volume, journal.issue, *expand_ranges(journal.pages or "").split("-")}
    complete = len(numbers) == 4 and all(number and number.isdigit() for number in numbers)
    return complete and all(who.last_name and who.initials for who in article.authors)


ARTICLES: Final = [article for article in read_demo_articles() if is_whole(article)]


def join_initials(initials: str) -> str:
    return " ".join(f"{letter}." for letter in initials)

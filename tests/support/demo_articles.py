"""The articles of the demo, parsed once for all tests of a process, and single ones that a test describes."""

from functools import cache
from typing import Any

from demo_files import list_demo_files

from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.records import iter_records


@cache
def read_demo_articles() -> tuple[Article, ...]:
    """Return the articles, books and chapters of the demo, in the order of their PMIDs."""
    records = [record for file in list_demo_files() for record in iter_records(file.read_bytes())]
    articles = [record.article() for record in records if record.kind != "deleted"]
    return tuple(sorted(articles, key=lambda one: one.pmid))


def make_article(**fields: Any) -> Article:
    """Return an article of one PMID with these fields."""
    given = {"pmid": "1", "title": "A title.", "url": "https://pubmed.ncbi.nlm.nih.gov/1/", **fields}
    return Article.model_validate(given)

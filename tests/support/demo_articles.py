"""The articles of the demo, parsed once for all tests of a process."""

from functools import cache

from entrez_kit.fixtures import corpus_files
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.records import iter_records


@cache
def read_demo_articles() -> tuple[Article, ...]:
    """Return the articles, books and chapters of the demo, in the order of their PMIDs."""
    records = [record for file in corpus_files() for record in iter_records(file.read_bytes())]
    articles = [record.article() for record in records if record.kind != "deleted"]
    return tuple(sorted(articles, key=lambda one: one.pmid))

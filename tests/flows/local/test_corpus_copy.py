"""A synced corpus as a local copy that follows its changes."""

from dataclasses import replace
from pathlib import Path

import pytest
from pubmed_files import make_home_settings, write_set

from entrez_kit import EntrezKit
from entrez_kit.base.errors import EntityNotFound
from entrez_kit.base.settings import Settings
from entrez_kit.corpus import demo
from entrez_kit.corpus.store.store import Store
from entrez_kit.local.copies import list_copies
from entrez_kit.local.importing import import_files
from entrez_kit.local.open_local import open_local


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return settings with a corpus of demo articles."""
    with EntrezKit(settings=replace(make_home_settings(tmp_path), demo=True)) as kit:
        demo.fill(kit.services)
        return kit.services.settings


def test_a_corpus_is_a_copy_with_the_same_records(settings: Settings) -> None:
    articles = {article.pmid: article.title for article in Store.of(settings).read_articles(demo.KEY)}
    copy = open_local(settings, demo.KEY)
    collection = copy.collection

    assert copy.info.corpus == copy.name == demo.KEY
    assert {collection.get_pmid(number) for number in collection.index.list_records()} == set(articles)
    assert list_copies(settings) == []
    with pytest.raises(EntityNotFound) as refused:
        open_local(settings, "nothing")
    assert demo.KEY in refused.value.details["corpora"]


def test_a_corpus_answers_a_search_by_its_key(settings: Settings, tmp_path: Path) -> None:
    pmids = {article.pmid for article in Store.of(settings).read_articles(demo.KEY)}

    with EntrezKit(replace(make_home_settings(tmp_path), data_dir=settings.data_dir, local=demo.KEY)) as local:
        found = local.search_articles(query_term="all[sb]", max_results=100)

    assert set(found.pmids) == pmids


def test_a_changed_corpus_is_converted_again(settings: Settings) -> None:
    before = open_local(settings, demo.KEY)
    store = Store.of(settings)
    (article, *_) = store.read_articles(demo.KEY)
    with store.writing() as connection:
        connection.execute("UPDATE documents SET status = 'deleted' WHERE pmid = ?", (int(article.pmid),))

    after = open_local(settings, demo.KEY)

    assert before.collection.find_number(article.pmid) is not None
    assert after.collection.find_number(article.pmid) is None
    assert after.collection.size == before.collection.size - 1
    assert open_local(settings, demo.KEY).info.created_at == after.info.created_at


def test_a_copy_has_precedence_over_a_corpus_with_the_same_name(settings: Settings, tmp_path: Path) -> None:
    import_files(settings, demo.KEY, [write_set(tmp_path, "one.xml")])

    assert open_local(settings, demo.KEY).collection.size == 0

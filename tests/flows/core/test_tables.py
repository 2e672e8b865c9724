"""Results as data frames, as single lines and as tables of notebooks."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from entrez_kit import EntrezKit, NotConfigured
from entrez_kit.core.tables import SHOWN_ROWS, build_table
from entrez_kit.databases.info import InfoResult
from entrez_kit.databases.link import Link, LinkResult, LinkSet
from entrez_kit.databases.summary import SummaryResult
from entrez_kit.pubmed.models import Article, BriefSummary
from entrez_kit.relationships.related_documents import RelationshipsResult

PMIDS = ["99000001", "99000002", "99000051"]


@pytest.fixture
def frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace data frames by dictionaries of columns, so that pandas is not needed."""

    def make_frame(rows: list[list[Any]], columns: list[str]) -> dict[str, list[Any]]:
        return {name: [row[place] for row in rows] for place, name in enumerate(columns)}

    monkeypatch.setattr("entrez_kit.core.tables.require", lambda extra, what: None)
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=make_frame))


def test_a_data_frame_has_a_row_for_each_record(kit: EntrezKit) -> None:
    pandas = pytest.importorskip("pandas", reason="the extra `pandas` is not installed")
    frame = kit.fetch_contents(pmids=PMIDS).to_dataframe()

    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["pmid"]) == PMIDS
    assert frame["title"].notna().all()
    assert len(kit.search_articles(query_term="crispr", max_results=7).to_dataframe()) == 7


def test_a_missing_pandas_is_reported_with_the_command_that_installs_it(
    kit: EntrezKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.base.extras.find_spec", lambda name: None)
    with pytest.raises(NotConfigured) as caught:
        kit.search_articles(query_term="crispr").to_dataframe()

    assert "pip install 'entrez-kit[pandas]'" in caught.value.recovery_hint


@pytest.mark.usefixtures("frames")
def test_columns_have_the_path_of_their_field_and_lists_stay_lists(kit: EntrezKit) -> None:
    result = kit.fetch_contents(pmids=PMIDS)
    frame: Any = result.to_dataframe()
    articles = [article for article in result.articles or [] if isinstance(article, Article)]

    assert frame["pmid"] == PMIDS
    assert frame["journal_info.title"] == [article.journal_info.title for article in articles if article.journal_info]
    assert frame["publication_types"] == [article.publication_types for article in articles]
    assert "journal_info" not in frame
    assert frame["standing.status"][0] is None
    assert frame["standing.status"][2] == "retraction_notice"


@pytest.mark.usefixtures("frames")
def test_a_search_has_a_row_for_each_pmid_with_its_summary(kit: EntrezKit) -> None:
    bare: Any = kit.search_articles(query_term="crispr", max_results=3).to_dataframe()
    brief: Any = kit.search_articles(query_term="crispr", max_results=3, fetch_brief_summaries=2).to_dataframe()

    assert list(bare) == ["pmid"]
    assert brief["pmid"] == bare["pmid"]
    assert brief["title"][1]
    assert brief["title"][2] is None


@pytest.mark.usefixtures("frames")
def test_an_empty_result_has_the_columns_of_its_records(kit: EntrezKit) -> None:
    frame: Any = kit.europepmc_search(query="qqqzzz").to_dataframe()

    assert frame["pmid"] == []
    assert "journal_info.title" in frame


def test_results_of_different_shapes_have_rows_of_their_shape() -> None:
    linkset = LinkSet(source_id="1", status="linked", links=[Link(id="7", score=3)])
    links = LinkResult(source="gene", target="pubmed", linksets=[linkset])
    shapes = [{"uid": "1", "gene": "X"}, {"uid": "2"}]
    summaries = SummaryResult(db="snp", ids=["1", "2"], summaries=shapes, not_found_ids=[])
    cited = RelationshipsResult(
        source_pmid="1", relationship_type="citation_formats", citations={"ris": "TY"}, retrieved_count=0, total_found=0
    )

    assert build_table(links.records_inside()) == (["source_id", "id", "score"], [["1", "7", 3]])
    assert build_table(summaries.records_inside()) == (["uid", "gene"], [["1", "X"], ["2", None]])
    assert build_table(cited.records_inside()) == (["ris"], [["TY"]])
    assert build_table(InfoResult(databases=["snp"]).records_inside()) == (["name"], [["snp"]])


def test_one_record_is_a_table_with_one_row(kit: EntrezKit) -> None:
    columns, rows = build_table(kit.get_gene(entrez_id="NCBIGene:7157").records_inside())

    assert dict(zip(columns, rows[0], strict=True))["symbol"] == "TP53"


def test_a_result_is_printed_in_one_line_of_names_and_counts(kit: EntrezKit) -> None:
    result = kit.fetch_contents(pmids=PMIDS)

    assert repr(result).startswith("FetchResult(")
    assert "articles=3" in repr(result)
    assert "articles=3" in str(result)
    assert "\n" not in repr(result)
    assert len(repr(result)) < 400
    assert len(repr((result.articles or [])[0])) < 800


def test_a_notebook_shows_the_first_records_and_the_number_of_the_others(kit: EntrezKit) -> None:
    result = kit.search_articles(query_term="all[sb]", max_results=30)
    html = result._repr_html_()

    assert html.count("<tr>") == SHOWN_ROWS + 1
    assert f"{len(result.pmids) - SHOWN_ROWS} more" in html
    assert result.pmids[SHOWN_ROWS] not in html


def test_titles_are_escaped_in_a_notebook() -> None:
    evil = "<script>alert('x')</script>\u202e<img src=x onerror=\"y\">"
    summary = BriefSummary(pmid="1", title=evil, authors=evil, source=evil, pub_date=evil)
    article = Article.model_construct(pmid=evil, url=evil, title=evil, publication_types=[evil])
    several = SummaryResult(db=evil, ids=[evil], summaries=[{evil: evil}], not_found_ids=[])
    shown = "".join(one._repr_html_() for one in (summary, article, several))

    assert "<script" not in shown
    assert "<img" not in shown
    assert "\u202e" not in shown
    assert "&lt;script&gt;" in shown

"""The sandbox's ESearch: paging, the maximum, dates, order, history, and both forms of the answer."""

import xml.etree.ElementTree as ElementTree
from datetime import date, timedelta
from pathlib import Path

import pytest
from sandbox_records import (
    FOUR_RECORDS,
    Client,
    read_with_biopython,
    serve,
    write_article,
    write_article_set,
    write_records,
)


@pytest.mark.parametrize(
    "term", ["asthma", "asthma[nosuch] qqzzxx", '"attack asthma"', "qqzzxx", "heart OR mice", "a<b & c", "(asthma"]
)
def test_xml_and_json_have_the_same_content(small_client: Client, term: str) -> None:
    root = small_client.xml("esearch", db="pubmed", term=term, retmax=2)
    found = small_client.search(term, retmax=2)

    assert [element.text for element in root.iterfind("IdList/Id")] == found["idlist"]
    for tag, key in (("Count", "count"), ("RetMax", "retmax"), ("RetStart", "retstart")):
        assert root.findtext(tag) == found[key]
    assert (root.findtext("QueryTranslation") or "") == found["querytranslation"]
    errors, warnings = found.get("errorlist", {}), found.get("warninglist", {})
    assert [element.text for element in root.iterfind("ErrorList/PhraseNotFound")] == errors.get("phrasesnotfound", [])
    assert [element.text for element in root.iterfind("ErrorList/FieldNotFound")] == errors.get("fieldsnotfound", [])
    for tag, key in (
        ("PhraseIgnored", "phrasesignored"),
        ("QuotedPhraseNotFound", "quotedphrasesnotfound"),
        ("OutputMessage", "outputmessages"),
    ):
        assert [element.text for element in root.iterfind(f"WarningList/{tag}")] == warnings.get(key, [])
    listed = [
        (element.findtext("From"), element.findtext("To")) for element in root.iterfind("TranslationSet/Translation")
    ]
    assert listed == [(one["from"], one["to"]) for one in found["translationset"]]


def test_biopython_reads_the_answer_by_its_own_dtd(small_client: Client) -> None:
    body = small_client.post("esearch", db="pubmed", term="asthma[nosuch] qqzzxx", usehistory="y").content

    record = read_with_biopython(body)

    assert record["Count"] == "3"
    assert list(record["IdList"]) == ["104", "103", "101"]
    assert record["QueryKey"] == "1"
    assert record["ErrorList"]["FieldNotFound"] == ["nosuch"]


def test_retmax_defaults_to_twenty_and_pages_join(large_client: Client) -> None:
    first = large_client.search("asthma")
    rest = large_client.search("asthma", retstart=20, retmax=30)

    assert len(first["idlist"]) == 20
    assert first["idlist"] + rest["idlist"] == large_client.search("asthma", retmax=50)["idlist"]


def test_rettype_count_returns_only_the_count(small_client: Client) -> None:
    root = small_client.xml("esearch", db="pubmed", term="asthma", rettype="count")

    assert [child.tag for child in root] == ["Count"]
    assert small_client.search("asthma", rettype="count") == {"count": "3"}


def test_only_9999_records_can_be_listed(large_client: Client) -> None:
    found = large_client.search("all[sb]", retmax=20_000)

    assert found["count"] == "20000"
    assert len(found["idlist"]) == 9_999
    assert found["warninglist"]["outputmessages"] == ["Restrictions achieved. start and count adjusted to 0, 9999"]


def test_the_last_listed_record_is_number_9998(large_client: Client) -> None:
    found = large_client.search("all[sb]", retstart=9_998, retmax=1000)

    assert len(found["idlist"]) == 1
    assert "warninglist" not in found


def test_an_offset_beyond_the_maximum_is_an_error_with_http_200(large_client: Client) -> None:
    root = large_client.xml("esearch", db="pubmed", term="all[sb]", retstart=9_999)
    raw = large_client.post("esearch", db="pubmed", term="all[sb]", retstart=9_999, retmode="json").content

    assert root.find("Count") is None
    assert (root.findtext("ERROR") or "").startswith(
        "Search Backend failed: Exception:\n'retstart' cannot be larger than 9998."
    )
    assert b"Exception:\n'retstart'" in raw  # NCBI's JSON is broken in this place, and so is ours


def test_an_offset_beyond_a_small_result_is_an_empty_page(small_client: Client) -> None:
    found = small_client.search("asthma", retstart=9_999)

    assert found["count"] == "3"
    assert found["idlist"] == []
    assert found["warninglist"]["outputmessages"][0].startswith("Restrictions achieved.")


@pytest.mark.parametrize(
    ("params", "pmids"),
    [
        ({"mindate": "2020", "maxdate": "2021"}, {"103", "104"}),
        ({"mindate": "2021/06", "maxdate": "3000", "datetype": "pdat"}, {"104"}),
        ({"mindate": "2019/01/01", "maxdate": "2019/12/31", "datetype": "edat"}, {"101"}),
        ({"mindate": "2021", "maxdate": "2021", "datetype": "mdat"}, {"101", "103", "104"}),
        ({"mindate": "2020"}, {"101", "103", "104"}),  # one bound alone is ignored
        ({"maxdate": "2020"}, {"101", "103", "104"}),
        ({"mindate": "yesterday", "maxdate": "today"}, {"101", "103", "104"}),
    ],
)
def test_date_parameters_need_both_bounds(small_client: Client, params: dict[str, str], pmids: set[str]) -> None:
    assert small_client.pmids("asthma", **params) == pmids


def test_the_date_range_is_in_the_translation(small_client: Client) -> None:
    found = small_client.search("asthma", mindate="2019", maxdate="2020", datetype="edat")

    assert found["querytranslation"] == (
        '("asthma"[MeSH Terms] OR "asthma"[All Fields]) AND 2019/01/01:2020/12/31[Date - Entry]'
    )


def test_reldate_counts_days_back_from_today(tmp_path: Path) -> None:
    week, month = date.today() - timedelta(days=7), date.today() - timedelta(days=31)
    text = write_article_set(
        write_article(1, "Fresh", entered=(week.year, week.month, week.day)),
        write_article(2, "Older", entered=(month.year, month.month, month.day)),
    )
    with serve(corpus=[write_records(tmp_path, text)]) as client:
        assert client.pmids("all[sb]", reldate="10", datetype="edat") == {"1"}
        assert client.pmids("all[sb]", reldate="60", datetype="edat") == {"1", "2"}
        assert client.pmids('"last 10 days"[edat]') == {"1"}


@pytest.mark.parametrize(
    ("sort", "pmids"),
    [
        ("", ["104", "103", "102", "101"]),
        ("pub_date", ["104", "103", "102", "101"]),
        ("Author", ["104", "103", "102", "101"]),  # Consortium, Jones, Smith J, Smith JA
        ("JournalName", ["102", "104", "103", "101"]),
        ("relevance", ["104", "103", "102", "101"]),
    ],
)
def test_each_order_is_stable(small_client: Client, sort: str, pmids: list[str]) -> None:
    assert small_client.search("all[sb]", sort=sort)["idlist"] == pmids


def test_relevance_prefers_titles_and_an_unknown_order_is_ignored(small_client: Client) -> None:
    assert small_client.search("asthma", sort="relevance")["idlist"][-1] == "104"  # only its abstract mentions asthma
    found = small_client.search("asthma", sort="journal")
    assert found["idlist"] == ["104", "103", "101"]
    assert found["warninglist"]["outputmessages"] == ["Unknown sort schema 'journal' ignored"]


def test_history_sets_can_be_combined(small_client: Client) -> None:
    first = small_client.search("asthma", usehistory="y")
    environment = first["webenv"]
    second = small_client.search("heart", usehistory="y", WebEnv=environment)

    assert (first["querykey"], second["querykey"]) == ("1", "2")
    assert second["webenv"] == environment
    assert small_client.pmids("#1 AND #2", WebEnv=environment) == {"103", "104"}
    assert small_client.pmids("#1 NOT #2", WebEnv=environment) == {"101"}
    assert small_client.pmids("children", WebEnv=environment, query_key="1") == {"101", "104"}
    assert small_client.pmids("", WebEnv=environment, query_key="2") == {"103", "104"}


def test_an_unknown_history_set_is_an_error(small_client: Client) -> None:
    environment = small_client.search("asthma", usehistory="y")["webenv"]

    assert small_client.search("#9", WebEnv=environment)["ERROR"] == "Unable to obtain query #9"
    assert small_client.search("#1", WebEnv="MCID_unknown")["ERROR"] == "Unable to obtain query #1"
    assert small_client.search("#1")["ERROR"] == "Unable to obtain query #1"


def test_an_empty_term_and_an_unknown_database_are_errors(small_client: Client) -> None:
    assert small_client.search("")["ERROR"] == "Empty term and query_key - nothing todo"
    root = ElementTree.fromstring(small_client.get("esearch", db="fleegle", term="cat").content)
    assert root.findtext("ERROR") == "Invalid db name specified: fleegle"


def test_a_later_record_replaces_an_earlier_one_and_deleted_ones_are_removed(tmp_path: Path) -> None:
    update = write_article_set(write_article(101, "Asthma, revised")).replace(
        "</PubmedArticleSet>", "<DeleteCitation><PMID>103</PMID></DeleteCitation></PubmedArticleSet>"
    )
    (tmp_path / "a.xml").write_text(FOUR_RECORDS, encoding="utf-8")
    (tmp_path / "b.xml").write_text(update, encoding="utf-8")
    with serve(corpus=[tmp_path]) as client:
        assert client.pmids("all[sb]") == {"101", "102", "104"}
        assert client.pmids("revised[ti]") == {"101"}


def test_the_subsets_by_status_together_include_all_records(large_client: Client) -> None:
    """Records with MeSH are in medline[sb]; the others are in process, from the publisher, or not for MEDLINE."""
    statuses = ("medline", "inprocess", "publisher", "pubmednotmedline")
    counts = {name: int(large_client.search(f"all[sb] AND {name}[sb]")["count"]) for name in statuses}

    assert all(counts.values())
    assert sum(counts.values()) == 20_000
    assert int(large_client.search("all[sb] NOT medline[sb]")["count"]) == 20_000 - counts["medline"]
    assert large_client.search("humans[mh] NOT medline[sb]")["count"] == "0"

"""The sandbox's ESummary and EFetch, read with independent readers."""

import gzip
import html
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from sandbox_records import (
    FOUR_RECORDS,
    Client,
    read_medline,
    read_with_biopython,
    serve,
    write_article,
    write_article_set,
    write_records,
)
from used_recordings import require_recordings


def to_plain(element: ElementTree.Element) -> Any:
    """Convert summary XML to the form of its JSON."""
    if not len(element):
        return element.text or ""
    if len({child.tag for child in element}) == 1 and element.tag not in ("Author", "Reference"):
        return [to_plain(child) for child in element]
    return {child.tag.lower(): to_plain(child) for child in element}


def test_summaries_in_xml_and_json_have_the_same_content(small_client: Client) -> None:
    root = small_client.xml("esummary", db="pubmed", id="101,102,103,104", version="2.0")
    found = json.loads(small_client.post("esummary", db="pubmed", id="101,102,103,104", retmode="json").content)[
        "result"
    ]

    assert found["uids"] == ["101", "102", "103", "104"]
    for summary in root.iterfind("DocumentSummarySet/DocumentSummary"):
        entry = found[summary.get("uid", "")]
        assert [child.tag.lower() for child in summary] == list(entry)[1:]
        for child in summary:
            value = to_plain(child)
            listed = entry[child.tag.lower()]
            if isinstance(listed, list):
                value = [] if value.__class__ is str else value
                assert len(value) == len(listed), child.tag
            else:
                assert str(value) == str(listed), child.tag


def test_a_summary_has_the_fields_of_pubmeds(small_client: Client) -> None:
    found = small_client.get("esummary", db="pubmed", id="101,104", retmode="json").json()["result"]
    entry = found["101"]

    assert [author["name"] for author in entry["authors"]] == ["Smith JA", "Müller E"]
    assert entry["title"] == "Asthma in children"
    assert (entry["source"], entry["volume"], entry["pages"]) == ("J Tests", "7", "10-9")
    assert (entry["pubdate"], entry["sortpubdate"]) == ("2019 May", "2019/05/01 00:00")
    assert entry["pubtype"] == ["Journal Article", "Review"]
    assert {(one["idtype"], one["value"]) for one in entry["articleids"]} >= {
        ("pubmed", "101"),
        ("doi", "10.1000/one"),
        ("pmc", "PMC501"),
    }
    assert entry["attributes"] == ["Has Abstract"]
    assert entry["pmcrefcount"] == 2
    assert found["104"]["epubdate"] == "2021 Dec 30"
    assert found["104"]["authors"] == [
        {"name": "Consortium for Testing", "authtype": "CollectiveName", "clusterid": ""}
    ]


def test_titles_in_summaries_have_their_markup_as_text(small_client: Client) -> None:
    root = small_client.xml("esummary", db="pubmed", id="102", version="2.0")

    title = root.findtext("DocumentSummarySet/DocumentSummary/Title") or ""
    assert html.unescape(title) == "Covid-19 and <i>Mus musculus</i>: an immunity model"


def test_biopython_reads_version_1_summaries(small_client: Client) -> None:
    body = small_client.get("esummary", db="pubmed", id="101,103").content

    first, second = read_with_biopython(body)

    assert first["Title"] == "Asthma in children"
    assert list(first["AuthorList"]) == ["Smith JA", "Müller E"]
    assert first["ArticleIds"]["doi"] == first["DOI"] == "10.1000/one"
    assert list(second["LangList"]) == ["French"]
    assert "DOI" not in second


def test_each_unknown_id_has_an_error_in_its_place(small_client: Client) -> None:
    root = small_client.xml("esummary", db="pubmed", id="101,999", version="2.0")
    found = small_client.get("esummary", db="pubmed", id="101,999", retmode="json").json()["result"]
    old = small_client.xml("esummary", db="pubmed", id="101,999")

    assert root.findtext("DocumentSummarySet/DocumentSummary[@uid='999']/error") == "cannot get document summary"
    assert found["999"] == {"uid": "999", "error": "cannot get document summary"}
    assert old.findtext("ERROR") == "UID=999: cannot get document summary"


def test_an_invalid_id_is_reported_with_its_position(small_client: Client) -> None:
    found = small_client.get("esummary", db="pubmed", id="101,abc", retmode="json").json()

    assert found["error"] == "Invalid uid abc at position= 4"
    assert found["result"]["uids"] == ["101"]
    assert small_client.xml("esummary", db="pubmed", id="abc").findtext("ERROR") == "Invalid uid abc at position= 0"


@pytest.mark.long
def test_json_summaries_are_limited_to_500(large_client: Client) -> None:
    ids = [str(99_100_001 + place) for place in range(501)]

    refused = large_client.post("esummary", db="pubmed", id=",".join(ids), retmode="json").json()
    served = large_client.post("esummary", db="pubmed", id=",".join(ids[:500]), retmode="json").json()

    assert refused["error"] == "Too many UIDs in request. Maximum number of UIDs is 500 for JSON format output."
    assert "result" not in refused
    assert served["result"]["uids"] == ids[:500]
    assert (
        len(large_client.xml("esummary", db="pubmed", id=",".join(ids), version="2.0")[0].findall("DocumentSummary"))
        == 501
    )


def test_a_page_of_the_history_has_the_summaries_of_its_records(large_client: Client) -> None:
    found = large_client.search("asthma", usehistory="y", retmax=30)
    history = {"WebEnv": found["webenv"], "query_key": found["querykey"]}

    page = large_client.post("esummary", db="pubmed", retmode="json", retstart=10, retmax=5, **history).json()

    assert page["result"]["uids"] == found["idlist"][10:15]


def test_summaries_without_ids_are_rejected(small_client: Client) -> None:
    assert small_client.xml("esummary", db="pubmed").findtext("ERROR") == "Empty id list - nothing todo"


# efetch


def test_records_are_sent_unchanged(small_client: Client) -> None:
    body = small_client.get("efetch", db="pubmed", id="103,101", retmode="xml").text

    sent = re.findall(r"<PubmedArticle>.*?</PubmedArticle>", body, re.DOTALL)
    kept = {
        re.findall(r">([0-9]+)</PMID>", element)[0]: element
        for element in re.findall(r"<PubmedArticle>.*?</PubmedArticle>", FOUR_RECORDS)
    }
    assert sent == [kept["103"], kept["101"]]
    assert body.startswith('<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC')


def test_unknown_ids_are_omitted_and_known_ones_are_returned_once(small_client: Client) -> None:
    root = small_client.xml("efetch", db="pubmed", id="999,102,999999999,102,00101")

    assert [element.text for element in root.iterfind("PubmedArticle/MedlineCitation/PMID")] == ["102", "101"]
    assert len(small_client.xml("efetch", db="pubmed", id="999")) == 0


@pytest.mark.parametrize("bad", ["abc", "0", "99999999999999999999999"])
def test_invalid_ids_are_a_bad_request(small_client: Client, bad: str) -> None:
    response = small_client.get("efetch", db="pubmed", id=bad)

    assert response.status_code == 400
    assert ElementTree.fromstring(response.content).findtext("ERROR", "").startswith("ID list is empty!")


def test_a_request_without_ids_is_an_error_with_http_200(small_client: Client) -> None:
    response = small_client.get("efetch", db="pubmed", id="")

    assert response.status_code == 200
    assert ElementTree.fromstring(response.content).findtext("ERROR") == "Supplied id parameter is empty."


def test_an_unknown_database_is_a_bad_request(small_client: Client) -> None:
    assert small_client.get("efetch", db="fleegle", id="1").status_code == 400


def test_medline_text_reads_back_in_biopython(small_client: Client) -> None:
    body = small_client.get("efetch", db="pubmed", id="101,102,104", rettype="medline", retmode="text").text

    first, second, third = read_medline(body)

    assert (first["PMID"], first["TI"]) == ("101", "Asthma in children")
    assert first["FAU"] == ["Smith, John A", "Müller, Eva"]
    assert first["AU"] == ["Smith JA", "Müller E"]
    assert sorted(first["MH"]) == ["*Asthma", "Child", "Humans"]
    assert (first["DP"], first["VI"], first["IP"], first["PG"]) == ("2019 May", "7", "2", "10-9")
    assert first["OT"] == ["inhaled steroids"]
    assert first["AID"] == ["10.1000/one [doi]", "S1 [pii]"]
    assert first["PMC"] == "PMC501"
    assert first["EDAT"] == "2019/05/01 00:00"
    assert first["SO"] == "J Tests. 2019 May;7(2):10-9."
    assert second["TI"] == "Covid-19 and Mus musculus: an immunity model"
    assert second["AB"] == "Mice were immunized. P<0.05 was seen."
    assert third["CN"] == ["Consortium for Testing"]
    assert third["DEP"] == "20211230"
    assert "AU" not in third


def test_medline_lines_are_wrapped_and_joined_again(tmp_path: Path) -> None:
    words = " ".join(f"word{number}" for number in range(80))
    text = write_article_set(write_article(7, "T" * 200, abstract=words))
    with serve(corpus=[write_records(tmp_path, text)]) as client:
        body = client.get("efetch", db="pubmed", id="7", rettype="medline", retmode="text").text

    assert max(map(len, body.splitlines())) <= 87
    (record,) = read_medline(body)
    assert record["AB"] == words
    assert record["TI"].replace(" ", "") == "T" * 200


def test_lists_of_ids_and_abstracts_are_sent_as_text(small_client: Client) -> None:
    assert small_client.get("efetch", db="pubmed", id="102,101", rettype="uilist", retmode="text").text == "102\n101\n"
    listed = small_client.xml("efetch", db="pubmed", id="102,999,101", rettype="uilist", retmode="xml")
    assert [element.text for element in listed.iterfind("Id")] == ["102", "101"]
    text = small_client.get("efetch", db="pubmed", id="101,102", rettype="abstract", retmode="text").text
    assert text.startswith("1. J Tests. 2019 May;7(2):10-9.\n\nAsthma in children\n\nSmith JA, Müller E.\n")
    assert "\n2. Ann Mice. 2020 Jun 15;7(2):10-9.\n" in text
    assert "PMCID: PMC501\nPMID: 101 [Indexed for MEDLINE]\n" in text


def test_a_history_page_has_exactly_its_records(large_client: Client) -> None:
    found = large_client.search("asthma", usehistory="y", retmax=100)
    history = {"WebEnv": found["webenv"], "query_key": found["querykey"], "db": "pubmed"}

    root = large_client.xml("efetch", retstart=20, retmax=30, **history)

    assert [one.findtext("MedlineCitation/PMID") for one in root] == found["idlist"][20:50]


def test_history_beyond_the_maximum_is_refused_and_the_page_across_it_is_cut(large_client: Client) -> None:
    found = large_client.search("all[sb]", usehistory="y", retmax=0)
    history = {"WebEnv": found["webenv"], "query_key": found["querykey"], "db": "pubmed", "rettype": "uilist"}

    across = large_client.post("efetch", retstart=9_990, retmax=500, retmode="text", **history)
    beyond = large_client.post("efetch", retstart=9_999, retmax=500, retmode="text", **history)

    assert len(across.text.split()) == 9
    assert beyond.status_code == 400
    assert "'retstart' cannot be larger than 9998" in beyond.text


def test_an_expired_history_is_an_error(tmp_path: Path) -> None:
    with serve(corpus=[write_records(tmp_path)]) as client:
        found = client.search("asthma", usehistory="y")
        history = {"WebEnv": found["webenv"], "query_key": found["querykey"], "db": "pubmed"}
        assert client.post("efetch", **history).status_code == 200
        client.sandbox.expire_history()
        refused = client.post("efetch", **history)
        summaries = client.post("esummary", **history)

    assert refused.status_code == 400
    assert ElementTree.fromstring(refused.content).findtext("ERROR") == "Unable to obtain query #1"
    assert ElementTree.fromstring(summaries.content).findtext("ERROR") == "Unable to obtain query #1"


def test_at_most_10000_records_are_returned_at_once(large_client: Client) -> None:
    ids = ",".join(str(99_100_001 + place) for place in range(10_500))

    assert (
        len(large_client.post("efetch", db="pubmed", id=ids, rettype="uilist", retmode="text").text.split()) == 10_000
    )


@pytest.mark.long
def test_recorded_records_are_returned_byte_for_byte(real_data: Path) -> None:
    folder = real_data / "efetch_pubmed"
    with serve(corpus=[folder]) as client:
        corpus = client.sandbox.collection
        ids = [corpus.get_pmid(number) for number in range(corpus.size)]
        body = client.post("efetch", db="pubmed", id=",".join(ids)).content
        texts = client.post("efetch", db="pubmed", id=",".join(ids), rettype="medline", retmode="text").text
        summaries = client.xml("esummary", db="pubmed", id=",".join(ids), version="2.0")

    source = b"".join(path.read_bytes() for path in folder.glob("*.xml"))
    source += b"".join(gzip.decompress(path.read_bytes()) for path in folder.glob("*.xml.gz"))
    found = ElementTree.fromstring(body)
    assert len(found) == len(ids)
    require_recordings(len(ids) > 100)
    sent = re.findall(rb"<Pubmed(?:Book)?Article>.*?</Pubmed(?:Book)?Article>", body, re.DOTALL)
    assert all(record in source for record in sent)
    assert [record["PMID"] for record in read_medline(texts)] == ids
    assert [element.get("uid") for element in summaries.iterfind("DocumentSummarySet/DocumentSummary")] == ids
    assert summaries.find(".//error") is None


def test_medline_text_and_searches_have_exponents(tmp_path: Path) -> None:
    text = write_article_set(
        write_article(7, "Growth at 10<sup>6</sup> cells", abstract="CO<sub>2</sub> and T<sub>H</sub>17.")
    )
    with serve(corpus=[write_records(tmp_path, text)]) as client:
        (record,) = read_medline(client.get("efetch", db="pubmed", id="7", rettype="medline", retmode="text").text)
        found = [client.search(term)["idlist"] for term in ("106[ti]", "co2", "TH17")]

    assert (record["TI"].rstrip("."), record["AB"]) == ("Growth at 10⁶ cells", "CO₂ and T_(H)17.")
    assert found == [["7"], ["7"], ["7"]]

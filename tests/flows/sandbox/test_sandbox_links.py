"""The sandbox's ELink, EPost, ESpell, EGQuery, EInfo, ECitMatch and the ID Converter."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from lxml import etree
from sandbox_records import FOUR_RECORDS, Client, load_dtd, read_with_biopython, serve, write_records


@pytest.fixture(scope="module")
def records_in_pmc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Serve the records with 102 and 103 in PMC, so that NCBI knows their references."""
    text = FOUR_RECORDS
    for pmid in ("102", "103"):
        own = f'<ArticleId IdType="pubmed">{pmid}</ArticleId>'
        place = text.rindex(own) if pmid == "103" else text.index(own)
        place += len(own)
        text = f'{text[:place]}<ArticleId IdType="pmc">PMC5{pmid[1:]}</ArticleId>{text[place:]}'
    with serve(corpus=[write_records(tmp_path_factory.mktemp("records"), text)]) as client:
        yield client


def read_link_sets(root: ElementTree.Element) -> list[tuple[list[str | None], dict[str | None, list[str | None]]]]:
    """Return source ids and links by name of each link set."""
    return [
        (
            [element.text for element in linkset.iterfind("IdList/Id")],
            {
                element.findtext("LinkName"): [link.findtext("Id") for link in element.iterfind("Link")]
                for element in linkset.iterfind("LinkSetDb")
            },
        )
        for linkset in root.iterfind("LinkSet")
    ]


def test_each_id_parameter_has_its_own_linkset_and_a_list_has_only_one(records_in_pmc: Client) -> None:
    query = {"dbfrom": "pubmed", "linkname": "pubmed_pubmed_refs"}

    apart = read_link_sets(records_in_pmc.xml("elink", id=["103", "101", "102"], **query))
    together = read_link_sets(records_in_pmc.xml("elink", id="103,101,102", **query))

    assert apart == [
        (["103"], {"pubmed_pubmed_refs": ["102", "101"]}),
        (["101"], {}),
        (["102"], {"pubmed_pubmed_refs": ["101"]}),
    ]
    assert together == [(["103", "101", "102"], {"pubmed_pubmed_refs": ["102", "101"]})]


def test_references_are_linked_only_for_articles_in_pmc(small_client: Client) -> None:
    assert read_link_sets(small_client.xml("elink", dbfrom="pubmed", id="103", linkname="pubmed_pubmed_refs")) == [
        (["103"], {})
    ]
    assert b"<Reference>" in small_client.post("efetch", db="pubmed", id="103", retmode="xml").content


def test_unknown_ids_have_a_linkset_without_links(small_client: Client) -> None:
    assert read_link_sets(
        small_client.xml("elink", dbfrom="pubmed", id=["999", "103"], linkname="pubmed_pubmed_citedin")
    ) == [
        (["999"], {}),
        (["103"], {}),
    ]


def test_citing_articles_and_pmc_links(small_client: Client) -> None:
    cited = read_link_sets(small_client.xml("elink", dbfrom="pubmed", id="101", linkname="pubmed_pubmed_citedin"))
    full_text = read_link_sets(small_client.xml("elink", dbfrom="pubmed", db="pmc", id="101"))

    assert cited[0][1] == {"pubmed_pubmed_citedin": ["103", "102"]}
    assert full_text[0][1] == {"pubmed_pmc": ["501"]}


def test_scores_decrease_and_the_article_itself_is_first(small_client: Client) -> None:
    root = small_client.xml("elink", dbfrom="pubmed", id="101", cmd="neighbor_score", linkname="pubmed_pubmed")

    pairs = [(link.findtext("Id"), int(link.findtext("Score", "0"))) for link in root.iter("Link")]
    assert pairs[0][0] == "101"
    assert {pmid for pmid, _ in pairs} > {"101"}
    assert [score for _, score in pairs] == sorted((score for _, score in pairs), reverse=True)


def test_the_nearest_are_first_unless_ids_are_merged(small_client: Client) -> None:
    query = {"dbfrom": "pubmed", "linkname": "pubmed_pubmed"}
    ((_, alone),) = read_link_sets(small_client.xml("elink", id="101", **query))
    ((_, merged),) = read_link_sets(small_client.xml("elink", id="101,102", **query))
    scored = small_client.xml("elink", id="101", cmd="neighbor_score", **query)

    assert alone["pubmed_pubmed"] == [link.findtext("Id") for link in scored.iter("Link")]
    assert alone["pubmed_pubmed"][0] == "101"
    assert merged["pubmed_pubmed"] == sorted(merged["pubmed_pubmed"], key=lambda one: -int(one or 0))


def test_all_link_names_are_returned_if_none_is_requested(records_in_pmc: Client) -> None:
    ((_, found),) = read_link_sets(records_in_pmc.xml("elink", dbfrom="pubmed", db="pubmed", id="102"))

    assert set(found) >= {"pubmed_pubmed", "pubmed_pubmed_citedin", "pubmed_pubmed_refs", "pubmed_pubmed_five"}


def test_links_in_json_are_those_of_the_xml(small_client: Client) -> None:
    query: dict[str, Any] = {"dbfrom": "pubmed", "db": "pubmed", "id": ["103", "999"]}

    sets = small_client.post("elink", retmode="json", **query).json()["linksets"]

    in_xml = read_link_sets(small_client.xml("elink", **query))
    in_json = [(one["ids"], {links["linkname"]: links["links"] for links in one.get("linksetdbs", [])}) for one in sets]
    assert in_json == in_xml
    assert "linksetdbs" not in sets[1]


@pytest.mark.parametrize("command", ["neighbor", "neighbor_score", "neighbor_history", "acheck", "ncheck", "llinks"])
def test_biopython_reads_every_command_by_its_own_dtd(small_client: Client, command: str) -> None:
    body = small_client.post("elink", dbfrom="pubmed", id=["101", "999"], cmd=command).content

    assert [one["DbFrom"] for one in read_with_biopython(body)] == ["pubmed", "pubmed"]


def test_links_can_be_stored_in_the_history(records_in_pmc: Client) -> None:
    root = records_in_pmc.xml("elink", dbfrom="pubmed", id="103", cmd="neighbor_history", linkname="pubmed_pubmed_refs")
    history = {"WebEnv": root.findtext("LinkSet/WebEnv"), "query_key": root.findtext(".//QueryKey"), "db": "pubmed"}

    assert records_in_pmc.post("efetch", rettype="uilist", retmode="text", **history).text.split() == ["102", "101"]


def test_elink_rejects_invalid_arguments(small_client: Client) -> None:
    assert small_client.xml("elink", dbfrom="pubmed").findtext("ERROR") == "Empty id list - nothing todo"
    assert small_client.xml("elink", dbfrom="nowhere", id="1").findtext("ERROR") == "Invalid db name specified: nowhere"
    assert "Unknown command" in small_client.xml("elink", dbfrom="pubmed", id="1", cmd="jump").findtext("ERROR", "")


# epost


def test_posted_ids_are_returned_in_their_order(small_client: Client) -> None:
    body = small_client.post("epost", db="pubmed", id="103,999,101").content
    posted = read_with_biopython(body)
    history = {"WebEnv": str(posted["WebEnv"]), "query_key": str(posted["QueryKey"]), "db": "pubmed"}

    root = small_client.xml("efetch", **history)

    assert [one.findtext("MedlineCitation/PMID") for one in root] == ["103", "101"]
    assert small_client.pmids("#1", WebEnv=history["WebEnv"]) == {"101", "103"}


def test_invalid_ids_are_listed_by_epost(small_client: Client) -> None:
    root = small_client.xml("epost", db="pubmed", id="abc,101")
    refused = small_client.xml("epost", db="pubmed", id="abc")

    assert [element.text for element in root.iterfind("InvalidIdList/Id")] == ["abc"]
    assert root.findtext("QueryKey") == "1"
    assert refused.find("WebEnv") is None
    assert refused.find("ERROR") is not None
    assert small_client.xml("epost", db="pubmed").find("ERROR") is not None


# espell


@pytest.mark.parametrize(
    ("term", "corrected"),
    [
        ("asthma", ""),
        ("asthna", "asthma"),
        ("asthna[ti] AND chidlren", "asthma[ti] AND children"),
        ("Asthna AND the xq", "asthma AND the xq"),
        ("qqqqqqqqqqq", ""),
        ("", ""),
    ],
)
def test_spelling_is_corrected_with_the_words_of_the_corpus(small_client: Client, term: str, corrected: str) -> None:
    record = read_with_biopython(small_client.post("espell", db="pubmed", term=term).content)

    assert record["Query"] == term
    assert record["CorrectedQuery"] == corrected


# egquery, einfo


@pytest.mark.parametrize(
    ("endpoint", "name", "params"),
    [
        ("esearch", "esearch.dtd", {"db": "pubmed", "term": 'asthma[x] qqq "heart asthma" (', "usehistory": "y"}),
        ("esearch", "esearch.dtd", {"db": "pubmed", "term": "asthma", "rettype": "count"}),
        ("esearch", "esearch.dtd", {"db": "pubmed", "term": ""}),
        ("esummary", "esummary-v1.dtd", {"db": "pubmed", "id": "101,102,103,104,999,x"}),
        ("esummary", "esummary-v1.dtd", {"db": "pubmed"}),
        ("elink", "elink.dtd", {"dbfrom": "pubmed", "id": ["101", "102,103", "999"]}),
        ("elink", "elink.dtd", {"dbfrom": "pubmed", "id": ["101", "999"], "cmd": "neighbor_score"}),
        ("elink", "elink.dtd", {"dbfrom": "pubmed", "id": "101,999", "cmd": "acheck"}),
        ("elink", "elink.dtd", {"dbfrom": "pubmed", "id": "101,999", "cmd": "ncheck"}),
        ("elink", "elink.dtd", {"dbfrom": "pubmed", "id": "101", "cmd": "neighbor_history"}),
        ("elink", "elink.dtd", {"dbfrom": "pubmed", "id": "101", "cmd": "llinks"}),
        ("elink", "elink.dtd", {"dbfrom": "pubmed"}),
        ("epost", "epost.dtd", {"db": "pubmed", "id": "101,x"}),
        ("epost", "epost.dtd", {"db": "pubmed"}),
        ("espell", "eSpell.dtd", {"db": "pubmed", "term": "asthna <in> childrn"}),
        ("egquery", "egquery.dtd", {"term": "asthma & <b>"}),
        ("einfo", "einfo.dtd", {}),
        ("einfo", "einfo.dtd", {"db": "pubmed"}),
        ("einfo", "einfo.dtd", {"db": "fleegle"}),
    ],
)
def test_answers_are_valid_by_ncbis_dtds(
    small_client: Client, endpoint: str, name: str, params: dict[str, Any]
) -> None:
    judge = load_dtd(name)

    judge.validate(etree.fromstring(small_client.post(endpoint, **params).content))

    # One rule of elink.dtd is itself not in order.
    assert [one for one in judge.error_log if one.type_name != "DTD_CONTENT_NOT_DETERMINIST"] == []


def test_egquery_counts_in_every_database(small_client: Client) -> None:
    record = read_with_biopython(small_client.get("egquery", term="asthma").content)

    rows = {row["DbName"]: (row["Count"], row["Status"]) for row in record["eGQueryResult"]}
    assert rows["pubmed"] == ("3", "Ok")
    assert rows["structure"] == ("0", "Term or Database is not found")


def test_einfo_lists_databases_and_describes_one(small_client: Client) -> None:
    names = read_with_biopython(small_client.get("einfo").content)["DbList"]
    (info,) = read_with_biopython(small_client.get("einfo", db="pubmed", version="2.0").content)["DbInfo"]

    assert "pubmed" in names
    assert info["Count"] == "4"
    fields = {field["Name"]: field for field in info["FieldList"]}
    assert fields["TIAB"]["FullName"] == "Title/Abstract"
    assert fields["PDAT"]["IsDate"] == "Y"
    assert int(fields["MESH"]["TermCount"]) == 6
    assert "pubmed_pubmed_refs" in {link["Name"] for link in info["LinkList"]}


def test_einfo_in_json_has_the_same_content(small_client: Client) -> None:
    info = small_client.get("einfo", db="pubmed", retmode="json").json()["einforesult"]["dbinfo"][0]
    root = small_client.xml("einfo", db="pubmed")

    assert [one["name"] for one in info["fieldlist"]] == [element.text for element in root.iterfind(".//Field/Name")]
    assert [one["name"] for one in info["linklist"]] == [element.text for element in root.iterfind(".//Link/Name")]
    assert "pubmed" in small_client.get("einfo", retmode="json").json()["einforesult"]["dblist"]
    assert small_client.xml("einfo", db="fleegle").find("ERROR") is not None


# ecitmatch


def test_citations_are_matched_by_journal_volume_and_page(small_client: Client) -> None:
    lines = (
        "J Tests|2022|8|100|nobody x|a|\r"  # the author is wrong, volume and page decide
        "journal of tests|2019|||smith ja|b|\r"
        "J Tests|1999|99|1||c|\r"
        "No Such Journal|2020|7|10||d|\r"
        "J Tests||7|10||e|\r"
        "a line that cannot be read\r"
        "|2019|||nobody x|f|\r"  # without a journal and without a hit: here NCBI's answer breaks off
        "J Tests|2022|8|100|smith j|g|"
    )

    rows = small_client.post("ecitmatch", db="pubmed", retmode="xml", bdata=lines).text.splitlines()

    assert [row.split("|", 5)[-1] for row in rows] == [
        "a|104",
        "b|101",
        "c|NOT_FOUND",
        "d|NOT_FOUND;INVALID_JOURNAL",
        "e|AMBIGUOUS 103,101",
    ]


# the ID Converter


def convert(client: Client, **params: str) -> requests.Response:
    return requests.get(f"{client.sandbox.url}/idconv/", params={"format": "json", **params}, timeout=20)


def test_ids_are_converted_in_the_requested_order(small_client: Client) -> None:
    found = convert(small_client, ids="104,102,101,999", idtype="pmid", tool="t").json()

    assert found["status"] == "ok"
    assert found["records"] == [
        {"pmcid": "PMC504", "pmid": 104, "doi": "10.1000/Four", "requested-id": "104"},
        {"pmid": 102, "requested-id": "102", "status": "error", "errmsg": "Identifier not found in PMC"},
        {"pmcid": "PMC501", "pmid": 101, "doi": "10.1000/one", "requested-id": "101"},
        {"pmid": 999, "requested-id": "999", "status": "error", "errmsg": "Identifier not found in PMC"},
    ]
    assert found["request"]["warnings"] == ["query param `email` is missing."]


@pytest.mark.parametrize(
    ("ids", "kind", "pmid"),
    [
        ("PMC501", "", 101),
        ("pmc501.2", "pmcid", 101),
        ("501", "pmcid", 101),
        ("10.1000/FOUR", "doi", 104),
        ("10.1000/one", "", 101),
    ],
)
def test_every_kind_of_id_is_accepted(small_client: Client, ids: str, kind: str, pmid: int) -> None:
    (record,) = convert(small_client, ids=ids, idtype=kind).json()["records"]

    assert (record["pmid"], record["requested-id"]) == (pmid, ids)


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        ("PMC501,504", "pmcid"),
        ("PMC501,101", ""),
        ("abc", "pmid"),
        ("", "pmid"),
        ("1", "isbn"),
        (",".join(str(number) for number in range(1, 202)), "pmid"),
    ],
)
def test_requests_that_the_converter_cannot_read_fail_as_a_whole(small_client: Client, ids: str, kind: str) -> None:
    response = convert(small_client, ids=ids, idtype=kind)

    assert response.status_code == 400
    assert response.json()["status"] == "error"


def test_the_converter_answers_in_xml_by_default(small_client: Client) -> None:
    response = requests.get(f"{small_client.sandbox.url}/idconv", params={"ids": "101"}, timeout=20)

    record = ElementTree.fromstring(response.content).find("record")
    assert record is not None
    assert record.get("pmcid") == "PMC501"

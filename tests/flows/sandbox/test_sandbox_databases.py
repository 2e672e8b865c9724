"""The sandbox's MeSH, PMC and Nucleotide, read with readers that share no code with it."""

import json
from collections.abc import Iterator
from importlib import resources
from io import StringIO
from typing import Any

import pytest
from Bio import SeqIO
from sandbox_records import Client, read_with_biopython, serve

from entrez_kit.local.eutils.mesh import read_demo_records
from entrez_kit.sandbox.fixture_database import FixtureDatabase


@pytest.fixture(scope="module", name="demo")
def demo_fixture() -> Iterator[Client]:
    with serve() as client:
        yield client


def search(client: Client, db: str, term: str, **params: Any) -> dict[str, Any]:
    response = client.post("esearch", db=db, term=term, retmode="json", retmax=200, **params)
    found: dict[str, Any] = response.json()["esearchresult"]
    return found


# MeSH


@pytest.mark.parametrize(
    ("term", "uids"),
    [
        ('"heart attack"[MH]', ["68009203"]),
        ("heart attack[MeSH Terms]", ["68009203"]),
        ("68009203[UID]", ["68009203"]),
        ("D000077594[MeSH Unique ID]", ["2990003"]),
        ("diabetes insipidus", ["68003919"]),
        ("diabetes AND mellitus NOT type", ["68003923", "68003921", "68003920"]),
        ("(breast OR brain) AND neoplasms", ["68001943", "68001932"]),
        ("breast NOT (feeding OR neoplasms OR diseases)", ["68001940"]),
        (
            "diabet*",
            ["68048909", "68003930", "68003928", "68003925", *[f"6800392{n}" for n in (4, 3, 2, 1, 0)], "68003919"],
        ),
    ],
)
def test_headings_are_found_by_words_names_and_identifiers(demo: Client, term: str, uids: list[str]) -> None:
    assert search(demo, "mesh", term)["idlist"] == uids


def test_terms_that_mesh_does_not_have_are_named(demo: Client) -> None:
    found = search(demo, "mesh", '"no such thing"[MH] OR qqzz OR x[foo]')

    assert found["count"] == "0"
    assert found["errorlist"]["fieldsnotfound"] == ["foo"]
    assert "qqzz" in found["errorlist"]["phrasesnotfound"]
    assert found["warninglist"]["quotedphrasesnotfound"] == ['"no such thing"[MeSH Terms]']


def test_history_stores_headings(demo: Client) -> None:
    first = search(demo, "mesh", "diabetes", usehistory="y")
    again = search(demo, "mesh", "#1 AND type", WebEnv=first["webenv"], usehistory="y")

    assert again["idlist"] == ["68003924", "68003922"]
    assert "Unable to obtain query #9" in str(search(demo, "mesh", "#9"))


def test_a_heading_has_the_same_summary_in_all_three_forms(demo: Client) -> None:
    as_json = demo.post("esummary", db="mesh", id="68003920", retmode="json").json()["result"]["68003920"]
    version_2 = demo.xml("esummary", db="mesh", id="68003920", version="2.0")
    version_1 = read_with_biopython(demo.post("esummary", db="mesh", id="68003920").content)[0]

    assert as_json["ds_meshui"] == version_1["DS_MeSHUI"] == version_2.findtext(".//DS_MeSHUI") == "D003920"
    assert as_json["ds_meshterms"] == list(version_1["DS_MeshTerms"]) == ["Diabetes Mellitus"]
    assert [one["treenum"] for one in as_json["ds_idxlinks"]] == ["C18.452.394.750", "C19.246"]
    assert [element.text for element in version_2.iter("TreeNum")] == ["C18.452.394.750", "C19.246"]
    assert "68003924" in as_json["ds_idxlinks"][0]["children"]
    child = demo.post("esummary", db="mesh", id="68003924", retmode="json").json()["result"]["68003924"]
    assert child["ds_idxlinks"][0]["parent"] == 68003920


def test_mesh_is_fetched_as_text_for_any_requested_format(demo: Client) -> None:
    text = demo.post("efetch", db="mesh", id="68009203", retmode="xml").text

    assert text.startswith("\n1: Myocardial Infarction\n")
    assert "Subheadings:\n    blood\n    cerebrospinal fluid\n" in text
    assert "Tree Number(s): C14.280.647.500, C14.907.585.500, C23.550" in text
    assert "\nMeSH Unique ID: D009203" in text
    assert demo.post("efetch", db="mesh", id="abc").status_code == 400


def test_every_heading_is_well_formed_and_names_its_source() -> None:
    headings = read_demo_records()
    sources = resources.files("entrez_kit.fixtures").joinpath("mesh", "SOURCES.txt").read_text(encoding="utf-8")

    assert (
        len({heading.uid for heading in headings}) == len({heading.ui for heading in headings}) == len(headings) >= 60
    )
    for one in headings:
        assert one.ui[0] in "CDQ"
        assert len(one.ui) in (7, 10)
        if len(one.ui) == 7:
            assert one.uid == {"D": "68", "Q": "81"}[one.ui[0]] + one.ui[1:]
        assert not one.scope_note or one.scope_note.endswith("(Note written for entrez-kit.)")
        assert one.name not in one.entry_terms
    assert "github.com/dhimmel/mesh" in sources
    raw = json.loads(
        resources.files("entrez_kit.fixtures").joinpath("mesh", "headings.json").read_text(encoding="utf-8")
    )
    assert len(raw) == len(headings)


# PMC


def test_pmc_has_the_articles_with_a_pmcid(small_client: Client) -> None:
    assert search(small_client, "pmc", "all[sb]")["idlist"] == ["504", "501"]
    assert search(small_client, "pmc", "asthma AND smith ja[au]")["idlist"] == ["501"]
    assert search(small_client, "pmc", "501[uid]")["idlist"] == ["501"]
    assert search(small_client, "pmc", "502[uid]")["idlist"] == []
    kept = search(small_client, "pmc", "all[sb]", usehistory="y")
    assert search(small_client, "pmc", "#1 NOT heart", WebEnv=kept["webenv"])["idlist"] == ["501"]


def test_pmc_and_pubmed_link_to_each_other(small_client: Client) -> None:
    back = small_client.xml("elink", dbfrom="pmc", db="pubmed", id=["501", "504", "999"])
    links = [
        {
            element.findtext("LinkName"): [link.findtext("Id") for link in element.iterfind("Link")]
            for element in linkset.iterfind("LinkSetDb")
        }
        for linkset in back.iterfind("LinkSet")
    ]

    assert links == [{"pmc_pubmed": ["101"]}, {"pmc_pubmed": ["104"]}, {}]


def test_pmc_returns_summaries_and_front_matter_and_names_missing_records(small_client: Client) -> None:
    summary = small_client.post("esummary", db="pmc", id="501,999", retmode="json").json()["result"]
    articles = small_client.xml("efetch", db="pmc", id="501,999")

    assert summary["501"]["title"] == "Asthma in children"
    assert summary["999"]["error"] == "cannot get document summary"
    assert [element.text for element in articles.iter("article-id")] == ["PMC501", "101", "10.1000/one"]
    assert [element.get("id") for element in articles.iter("error")] == ["999"]


def test_pmc_of_many_generated_records_answers_quickly() -> None:
    with serve(records=20_000) as client:
        found = search(client, "pmc", "all[sb]")
        assert int(found["count"]) > 1_000
        pmid = client.xml("elink", dbfrom="pmc", db="pubmed", id=found["idlist"][0]).findtext(".//Link/Id")
        assert client.xml("elink", dbfrom="pubmed", db="pmc", id=pmid).findtext(".//Link/Id") == found["idlist"][0]


# Nucleotide


def list_sequences(text: str, form: str) -> list[tuple[str, str]]:
    """Return what Bio.SeqIO reads: ids and sequences."""
    parse: Any = SeqIO.parse
    return [(record.id, str(record.seq)) for record in parse(StringIO(text), form)]


def test_sequences_are_fasta_and_genbank_that_biopython_reads(demo: Client) -> None:
    records = FixtureDatabase("nuccore").records.values()
    ids = ",".join(record["names"][0] for record in records)
    fasta = demo.post("efetch", db="nuccore", id=ids, rettype="fasta").text
    genbank = demo.post("efetch", db="nuccore", id=ids, rettype="gb", retmode="text").text

    read = list_sequences(fasta, "fasta")
    assert read == list_sequences(genbank, "genbank")
    expected = [(record["names"][0], record["summary"]["Slen"]) for record in records]
    assert [(accession, len(sequence)) for accession, sequence in read] == expected


def test_sequences_are_text_unless_xml_is_requested(demo: Client) -> None:
    def fetch(**options: str) -> str:
        return demo.post("efetch", db="nuccore", id="ZZ900001", **options).text

    assert fetch(rettype="gb").startswith("LOCUS ")
    assert fetch(rettype="gb", retmode="text").startswith("LOCUS ")
    assert fetch(rettype="gb", retmode="xml").startswith("<?xml")
    assert fetch().startswith("<?xml")


def test_sequences_are_found_by_number_accession_and_bare_accession(demo: Client) -> None:
    for uid in ("990000102", "ZZ900002.2", "ZZ900002", "zz900002"):
        assert demo.post("efetch", db="nuccore", id=uid, rettype="acc", retmode="text").text == "ZZ900002.2\n"
    assert search(demo, "nuccore", "ZZ900002.2[accn] OR trp53[gene]")["idlist"] == ["990000102", "990000103"]
    assert search(demo, "nuccore", "txid9606[orgn]")["idlist"] == ["990000101", "990000102"]


def test_an_unknown_accession_fails_the_request_and_an_unknown_number_does_not(demo: Client) -> None:
    assert (
        demo.post("efetch", db="nuccore", id="ZZ900001.1,990000999", rettype="acc", retmode="text").text
        == "ZZ900001.1\n"
    )
    refused = demo.post("efetch", db="nuccore", id="ZZ900001.1,ZZ1.1", rettype="fasta")
    assert (refused.status_code, "ZZ1.1" in refused.text) == (400, True)
    assert demo.post("efetch", db="nuccore", id="990000101", rettype="fastq").status_code == 400


def test_every_database_is_described_and_counted(demo: Client) -> None:
    names = demo.post("einfo", retmode="json").json()["einforesult"]["dblist"]

    assert {"pubmed", "pmc", "gene", "taxonomy", "mesh", "nuccore"} <= set(names)
    for name in names:
        info = demo.post("einfo", db=name, retmode="json").json()["einforesult"]["dbinfo"][0]
        assert int(info["count"]) > 0
        assert read_with_biopython(demo.post("einfo", db=name).content)["DbInfo"][0]["DbName"] == name
    counts = demo.xml("egquery", term="TP53")
    assert {item.findtext("DbName") for item in counts.iter("ResultItem")} >= set(names)

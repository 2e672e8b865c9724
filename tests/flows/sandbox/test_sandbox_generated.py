"""Generated records: valid, labelled, the same for a seed, and indexed like parsed ones."""

import xml.etree.ElementTree as ElementTree
from datetime import date

import pytest
from lxml import etree
from sandbox_records import Client, load_dtd, read_medline, read_with_biopython, serve

from entrez_kit.local.eutils.mesh import read_demo_vocabulary
from entrez_kit.local.records.collection import ParsedCollection
from entrez_kit.query.fields import FIELDS
from entrez_kit.query.search import search
from entrez_kit.sandbox.generate import GeneratedCollection
from entrez_kit.sandbox.generated_index import FIRST_PMID

COUNT = 700


@pytest.fixture(scope="module")
def generated() -> GeneratedCollection:
    return GeneratedCollection(COUNT, seed=3)


@pytest.fixture(scope="module")
def parsed(generated: GeneratedCollection) -> ParsedCollection:
    """Read the generated records as if they came from a file."""
    return ParsedCollection((generated.get_pmid(number), generated.read_raw(number)) for number in range(COUNT))


def test_records_are_valid_by_the_dtd_of_pubmed(generated: GeneratedCollection) -> None:
    judge = load_dtd("pubmed_250101.dtd")
    for number in range(COUNT):
        assert judge.validate(etree.fromstring(generated.read_raw(number))), judge.error_log


def test_records_state_that_they_are_invented(generated: GeneratedCollection) -> None:
    for number in range(0, COUNT, 7):
        root = ElementTree.fromstring(generated.read_raw(number))
        assert "invented" in "".join(root.find(".//ArticleTitle").itertext())  # type: ignore[union-attr]
        assert root.findtext(".//PMID") == str(FIRST_PMID + number)


def test_the_same_seed_gives_the_same_records(generated: GeneratedCollection) -> None:
    again, other = GeneratedCollection(COUNT, seed=3), GeneratedCollection(COUNT, seed=4)

    assert all(again.read_raw(number) == generated.read_raw(number) for number in range(0, COUNT, 50))
    assert any(other.read_raw(number) != generated.read_raw(number) for number in range(0, COUNT, 50))


def test_records_are_varied(parsed: ParsedCollection) -> None:
    documents = [parsed.read_document(number) for number in range(COUNT)]

    assert {document.status for document in documents} == {"MEDLINE", "PubMed-not-MEDLINE", "Publisher", "In-Process"}
    assert len({document.journal_ta for document in documents}) > 8
    assert {len(document.abstract) for document in documents} == {0, 1, 4}
    assert any(document.authors[-1].group for document in documents)
    assert any(document.vernacular_title for document in documents)
    assert any("-" in document.publication_date.text for document in documents)
    assert any("Summer" in document.publication_date.text for document in documents)
    assert {document.pmcid != "" for document in documents} == {True, False}
    years = {document.get_event("pubmed").number // 10000 for document in documents}
    assert years == set(range(2010, 2025))


QUERIES = (
    "asthma",
    "breast cancer",
    '"breast cancer"[ti]',
    '"cancer among"[ti]',
    '"record was invented"[tiab]',
    "invented",
    "immun*",
    "covid-19[ti] OR melanoma[mh]",
    "parkinson's disease",
    "rheumatoid arthritis[mh] AND aged[mh]",
    "asthma[majr]",
    "musculus[ti]",
    "machine learning[ti] NOT review[pt]",
    "meta-analysis[pt]",
    "müller[au]",
    "vega jp[au]",
    "vega j[1au]",
    "o'brien[lastau]",
    '"Vega J"[au]',
    "vega jean-pierre[fau]",
    "invented consortium for examples[cn]",
    "loopback[ad]",
    "fict genet[ta]",
    "9990-0003[ta]",
    "french[la]",
    "titre[tt]",
    "reproducibility[ot]",
    "screening[tiab]",
    "NIXX[gr]",
    "hasabstract",
    "free full text[filter]",
    "full text[sb]",
    "medline[sb]",
    "humans[filter]",
    "retracted publication[pt]",
    "retracted publication[filter]",
    "2015[dp]",
    "2014/06:2016/02[dp]",
    "2013/03/05[edat]",
    "2016:2018[mdat]",
    "2012[dcom]",
    "2019[epdat]",
    "2019[ppdat]",
    "2011:2013[mhda]",
    "99100010:99100020[uid]",
    "99100010",
    "10.5555/invented.99100011[doi]",
    "10.5555/invented.99100011",
    "PMC99100012[aid]",
    "PMC99100012",
    "12[vi] AND 5[ip]",
    "nowhere[pl]",
    "0000-0009-0003-0002[auid]",
    "quality of life",
    '"quality of life"',
    "quality zzqq",
    "all[sb]",
    "lindqvist ab",
)


@pytest.mark.long
@pytest.mark.parametrize("term", QUERIES)
def test_the_index_without_parsing_agrees_with_the_parsed_one(
    generated: GeneratedCollection, parsed: ParsedCollection, term: str
) -> None:
    here, there = (search(term, corpus.index, read_demo_vocabulary(), lenient=True) for corpus in (generated, parsed))

    assert list(here.records) == list(there.records)
    assert here.translation == there.translation
    assert here.resolved.phrases_not_found == there.resolved.phrases_not_found


@pytest.mark.long
@pytest.mark.parametrize("order", ["", "pub_date", "author", "journal"])
def test_the_order_agrees_with_that_of_parsed_records(
    generated: GeneratedCollection, parsed: ParsedCollection, order: str
) -> None:
    some = range(0, COUNT, 3)

    assert generated.index.rank(some, order) == parsed.index.rank(some, order)


@pytest.mark.long
def test_every_list_of_words_and_values_agrees(generated: GeneratedCollection, parsed: ParsedCollection) -> None:
    sources = {source for field in FIELDS for source in field.sources if field.kind not in ("date", "uid")}
    for source in sources - {"uid"}:
        for word in parsed.index.list_words(source):
            assert generated.index.find_word(source, word) == parsed.index.find_word(source, word), (source, word)
        for value in parsed.index.list_values(source):
            assert generated.index.find_value(source, value) == parsed.index.find_value(source, value), (source, value)


def test_citations_and_neighbours_agree(generated: GeneratedCollection, parsed: ParsedCollection) -> None:
    for number in range(0, COUNT, 60):
        pmid = generated.get_pmid(number)
        assert list(generated.find_citing(pmid)) == list(parsed.find_citing(pmid))
        assert generated.find_related(number) == parsed.find_related(number)


def test_twenty_thousand_records_can_be_searched_and_fetched(large_client: Client) -> None:
    assert large_client.search("all[sb]")["count"] == "20000"
    found = large_client.search("asthma AND humans[mh]", retmax=9_999)
    body = large_client.post("efetch", db="pubmed", id=",".join(found["idlist"])).content

    root = ElementTree.fromstring(body)
    assert [one.findtext("MedlineCitation/PMID") for one in root] == found["idlist"]
    assert len(found["idlist"]) == int(found["count"]) > 100


def test_slices_by_date_add_up(large_client: Client) -> None:
    whole = large_client.search("asthma", mindate="2010", maxdate="2024", datetype="edat")
    slices = [
        large_client.search("asthma", mindate=f"{year}/01/01", maxdate=f"{year}/12/31", datetype="edat", retmax=9_999)
        for year in range(2010, 2025)
    ]

    listed = [pmid for found in slices for pmid in found["idlist"]]
    assert len(listed) == len(set(listed)) == int(whole["count"])


def test_biopython_reads_generated_records(large_client: Client) -> None:
    ids = ",".join(str(FIRST_PMID + place) for place in range(0, 20_000, 400))
    records = read_with_biopython(large_client.post("efetch", db="pubmed", id=ids).content)["PubmedArticle"]
    texts = read_medline(large_client.post("efetch", db="pubmed", id=ids, rettype="medline").text)

    assert len(records) == len(texts) == 50
    for record, text in zip(records, texts, strict=True):
        citation = record["MedlineCitation"]
        assert str(citation["PMID"]) == text["PMID"]
        assert len(citation["Article"]["AuthorList"]) == len(text.get("AU", [])) + len(text.get("CN", []))


def test_the_sandbox_can_serve_zero_records() -> None:
    with serve(records=0) as client:
        assert client.search("asthma")["count"] == "0"
        assert client.search("2020[dp]")["count"] == "0"
        assert client.search("1:2[uid] OR all[sb]")["count"] == "0"
        assert len(client.xml("efetch", db="pubmed", id="99100001")) == 0


def test_the_newest_record_is_not_from_the_future() -> None:
    corpus = GeneratedCollection(5_000)

    assert corpus.get_entry_day(0) == date(2010, 1, 1)
    assert corpus.get_entry_day(4_999) <= date(2024, 12, 31)


def test_all_records_can_be_put_on_one_day() -> None:
    with serve(records=10_500, days=1) as client:
        assert client.search("2010/01/01[edat]")["count"] == "10500"
        assert client.search("2010/01/02:3000[edat]")["count"] == "0"

"""The genes of the demo, and the sandbox that serves them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gene_helpers import Genes
from lxml import etree
from project_paths import ROOT
from used_recordings import require_recordings

from entrez_kit.databases.gene.gene_records import parse_genes
from entrez_kit.sandbox.links import read_small_databases

FOLDER = ROOT / "fixtures" / "gene"
FIRST_INVENTED = 990_000_001


def _list_elements() -> Iterator[Any]:
    for file in sorted(FOLDER.glob("*.xml")):
        yield from etree.parse(file).getroot().iterfind("Entrezgene")


def _read_number(element: Any) -> int:
    return int(element.findtext("Entrezgene_track-info/Gene-track/Gene-track_geneid"))


def test_the_demo_has_the_agreed_genes() -> None:
    genes = {gene.id: gene for file in FOLDER.glob("*.xml") for gene in parse_genes(file.read_bytes())}

    assert 14 <= len(genes) <= 20
    assert genes["NCBIGene:7157"].symbol == "TP53"
    assert genes["NCBIGene:672"].symbol == "BRCA1"
    assert {gene.taxon_id for gene in genes.values()} >= {9606, 10090, 559292, 511145}
    assert {gene.status for gene in genes.values()} == {"live", "discontinued", "replaced"}
    assert "NCBIGene:999999999" not in genes


def test_every_gene_names_its_source() -> None:
    sources = (FOLDER / "SOURCES.txt").read_text(encoding="utf-8")

    for element in _list_elements():
        assert re.search(rf"\b{_read_number(element)}\b", sources), _read_number(element)


def test_invented_genes_are_marked_and_their_ids_are_not_those_of_real_genes() -> None:
    for element in _list_elements():
        text = " ".join(element.itertext())
        assert (_read_number(element) >= FIRST_INVENTED) == ("invented gene" in text), _read_number(element)
        summary = element.findtext("Entrezgene_summary")
        assert summary is None or summary.endswith("[Summary written for the entrez-kit demo.]")


def test_fixtures_use_only_elements_that_ncbi_sends(real_data: Path) -> None:
    known = {"Gene-ref_locus-tag", "Gene-track_current-id", "Error"}
    for file in (real_data / "efetch_gene").iterdir():
        known |= {str(element.tag) for element in etree.parse(file).getroot().iter()}

    used = {str(element.tag) for top in _list_elements() for element in top.iter() if isinstance(element.tag, str)}
    require_recordings(used <= known)


def test_summaries_and_values_agree_with_the_records() -> None:
    genes = {gene.id: gene for file in FOLDER.glob("*.xml") for gene in parse_genes(file.read_bytes())}
    records = {f"NCBIGene:{record['uid']}": record for record in read_small_databases()["gene"]["records"]}

    assert records.keys() == genes.keys()
    for uid, record in records.items():
        gene, summary, values = genes[uid], record["summary"], record["values"]
        assert (summary["Name"], summary["Description"] or summary["Name"]) == (gene.symbol, gene.name), uid
        assert (summary["Chromosome"], summary["MapLocation"]) == (gene.chromosome or "", gene.map_location or "")
        assert (summary["Organism"]["TaxID"], values["TID"]) == (gene.taxon_id, [str(gene.taxon_id)])
        assert set(filter(None, summary["OtherAliases"].split(", "))) <= {
            *gene.aliases,
            *values["GENE"],
            *values["MORE"],
        }
        assert {*gene.aliases} <= {*summary["OtherAliases"].split(", ")}
        assert summary["Status"] == ["live", "replaced", "discontinued"].index(gene.status)
        assert ("alive" in values["PROP"]) == (gene.status == "live") == ("current only" in values["FILT"])
        assert values["PREF"] == [summary["Name"]]


def test_links_connect_existing_genes_with_existing_articles() -> None:
    records = {record["uid"]: record for record in read_small_databases()["gene"]["records"]}
    links = {uid: record["links"]["gene_pubmed"] for uid, record in records.items() if "gene_pubmed" in record["links"]}
    articles = "".join(file.read_text(encoding="utf-8") for file in (FOLDER.parent / "pubmed").glob("*.xml"))

    assert set(links) <= {str(_read_number(element)) for element in _list_elements()}
    for number, pmids in links.items():
        symbol = records[number]["summary"]["Name"]
        for pmid in pmids:
            body = re.search(
                rf"<PubmedArticle>(?:(?!</PubmedArticle>).)*>{pmid}</PMID>.*?</PubmedArticle>", articles, re.S
            )
            assert body, pmid
            assert symbol in body[0], (symbol, pmid)


def _search_ids(genes: Genes, term: str, **more: Any) -> list[str]:
    body = genes.kit.eutils.esearch(db="gene", term=term, retmax=100, **more).content
    return [element.text or "" for element in etree.fromstring(body).iterfind("IdList/Id")]


@pytest.mark.parametrize(
    ("term", "ids"),
    [
        ('"tp53"[Preferred Symbol]', ["7157"]),
        ("TRP53[sym]", ["22059", "7157"]),
        ("TRP53[Gene Name]", ["22059", "7157"]),
        ("BRCA1[gene] AND txid9606[Organism]", ["672"]),
        ("BRCA1[gene] AND human[orgn]", ["672"]),
        ("BRCA1[gene] AND 10090[tid]", ["12189"]),
        ("txid4932[Organism]", ["1466426", "851229"]),
        ("txid4932[Organism:noexp]", []),
        ("PARK4[sym] AND alive[property]", ["6622"]),
        ("PARK4[sym] AND alive[prop]", ["6622"]),
        ('PARK4[sym] AND "current only"[filter]', ["6622"]),
        ("PARK4[sym] NOT alive[prop]", ["60454"]),
        ("thr*[sym]", ["944742", "945803"]),
        ("human breast cancer", ["672"]),
        ('"breast cancer"[All Fields] AND 11[chr]', ["12189"]),
        ("7157[uid] OR 672[uid]", ["672", "7157"]),
        ("191170[mim]", ["7157"]),
        ("NM_006158[accn]", ["4747"]),
        ("(TP53 OR BRCA1) AND human[orgn]", ["672", "7157"]),
    ],
)
def test_the_sandbox_searches_gene_in_its_own_fields(genes: Genes, term: str, ids: list[str]) -> None:
    assert sorted(_search_ids(genes, term)) == ids


def test_the_sandbox_names_the_words_that_it_does_not_know(genes: Genes) -> None:
    body = genes.kit.eutils.esearch(db="gene", term='"qq"[sym] OR x[nosuchfield] OR zzz[sym]').content.decode()

    assert '<QuotedPhraseNotFound>"qq"[Gene Name]</QuotedPhraseNotFound>' in body
    assert "<FieldNotFound>nosuchfield</FieldNotFound>" in body
    assert "<PhraseNotFound>zzz[sym]</PhraseNotFound>" in body


def test_the_sandbox_returns_summaries_records_and_links_in_ncbis_form(genes: Genes) -> None:
    eutils = genes.kit.eutils
    summary = etree.fromstring(eutils.esummary(db="gene", ids=["7157"]).content)
    document = summary.find("DocumentSummarySet/DocumentSummary")
    assert document is not None
    assert document.get("uid") == "7157"
    assert [child.tag for child in document][:6] == [
        "Name",
        "Description",
        "Status",
        "CurrentID",
        "Chromosome",
        "GeneticSource",
    ]
    assert document.findtext("Organism/TaxID") == "9606"
    assert b"<Gene-ref_locus>TP53</Gene-ref_locus>" in eutils.efetch(db="gene", ids=["7157"], retmode="xml").content
    assert b"Official Symbol: TP53" in eutils.efetch(db="gene", ids=["7157"], retmode="text").content
    assert b"<LinkName>gene_pubmed</LinkName>" in eutils.elink(dbfrom="gene", db="pubmed", ids=["7157"]).content
    assert b"<FullName>Preferred Symbol</FullName>" in eutils.einfo(db="gene").content


def test_the_sandbox_finds_organisms_by_name_and_number(genes: Genes) -> None:
    eutils = genes.kit.eutils

    assert b"<Id>9606</Id>" in eutils.esearch(db="taxonomy", term='"human"[All Names]').content
    assert b"<Count>2</Count>" in eutils.esearch(db="taxonomy", term="Echinacea").content
    assert b"PhraseNotFound" in eutils.esearch(db="taxonomy", term="klingon").content
    assert b"Homo sapiens" in eutils.esummary(db="taxonomy", ids=["9606"]).content
    assert b"<ParentTaxId>562</ParentTaxId>" in eutils.efetch(db="taxonomy", ids=["83333"], retmode="xml").content

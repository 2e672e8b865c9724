"""Walks through the whole demo: its headings are in MeSH, and its links lead to records and back."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import pytest
from demo_files import list_demo_files
from sampled_cases import take_sample

from entrez_kit import EntrezKit, load_settings
from entrez_kit.local.eutils.database import Database, SearchCall
from entrez_kit.local.records.collection import ParsedCollection
from entrez_kit.sandbox.demo import build_databases
from entrez_kit.sandbox.fixture_database import FixtureDatabase

pytestmark = pytest.mark.long
BACK: Final = {
    "pubmed_pubmed": "pubmed_pubmed",
    "pubmed_pubmed_refs": "pubmed_pubmed_citedin",
    "pubmed_pmc_refs": "pmc_refs_pubmed",
    "pmc_refs_pubmed": "pubmed_pmc_refs",
    "gene_taxonomy": "taxonomy_gene_exp",
    "taxonomy_gene_exp": "gene_taxonomy",
}
"""The link back, if its name is not that of the two databases."""
ONE_WAY: Final = ("five", "combined", "reviews", "citedin")
"""Links to the first of the similar articles or to reviews among them, and citing articles: NCBI has the references of
articles in PMC only. Another test compares citing and cited articles."""
Record = tuple[str, dict[str, set[str]], set[str], set[str]]
"""PMID, the qualifiers of each descriptor, publication types, and PMIDs of cited works."""


@cache
def read_records() -> list[Record]:
    """Read the articles of the demo with ElementTree."""
    roots = [ElementTree.fromstring(one.read_bytes()) for one in list_demo_files()]
    deleted = {element.text for root in roots for element in root.iterfind("DeleteCitation/PMID")}
    found = []
    for article in (one for root in roots for one in root if one.tag in ("PubmedArticle", "PubmedBookArticle")):
        pmid = next(article.iter("PMID")).text or ""
        headings: dict[str, set[str]] = {}
        for heading in article.iter("MeshHeading"):
            name = heading.findtext("DescriptorName") or ""
            headings.setdefault(name, set()).update(element.text or "" for element in heading.iterfind("QualifierName"))
        types = {element.text or "" for element in article.iter("PublicationType")}
        cited = {element.text or "" for element in article.iterfind(".//Reference//ArticleId[@IdType='pubmed']")}
        if article.tag == "PubmedBookArticle":
            cited.clear()  # NCBI has the works that books cite under a link of their own (pubmed_books_refs)
        if pmid not in deleted:
            found.append((pmid, headings, types, cited))
    return found


@cache
def read_mesh() -> dict[str, dict[str, Any]]:
    """Read MeSH of the demo by name."""
    file = resources.files("entrez_kit.fixtures").joinpath("mesh", "headings.json")
    return {one["name"]: one for one in json.loads(file.read_text(encoding="utf-8"))}


@cache
def list_narrower(name: str) -> set[str]:
    """Return a heading and the headings below its places in the tree."""
    above = tuple(f"{tree}." for tree in read_mesh()[name].get("tree_numbers", []))
    below = {
        other
        for other, entry in read_mesh().items()
        if any(tree.startswith(above) for tree in entry.get("tree_numbers", []))
    }
    return below | {name}


@pytest.fixture(scope="module", name="databases")
def databases_fixture() -> Mapping[str, Database]:
    return {database.name: database for database in build_databases(ParsedCollection.demo())}


@pytest.fixture(scope="module", name="kit")
def kit_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EntrezKit]:
    with EntrezKit(load_settings({"home": tmp_path_factory.mktemp("home"), "demo": True})) as kit:
        yield kit


def find(databases: Mapping[str, Database], term: str) -> set[str]:
    return set(databases["pubmed"].search(SearchCall(term)).ids)


# MeSH


def test_mesh_has_every_heading_of_an_article_with_its_identifier_tree_and_subheadings(kit: EntrezKit) -> None:
    names = {name for _, headings, types, _ in read_records() for name in (*headings, *types)}

    assert names <= set(read_mesh())
    for name in take_sample(sorted(names), 0.25):
        record = kit.lookup_mesh(query=name, max_results=1).results[0]
        entry = read_mesh()[name]
        assert (record.name, record.ui, record.kind) == (name, entry["ui"], "descriptor")
        assert record.tree_numbers == entry.get("tree_numbers", []), name
        assert record.tree_numbers or name in ("Female", "Male"), name
        assert record.subheadings == sorted(record.subheadings)


def test_articles_use_only_identifiers_and_subheadings_that_mesh_allows(kit: EntrezKit) -> None:
    for pmid, headings, _, _ in read_records():
        for name, qualifiers in headings.items():
            if qualifiers:
                allowed = kit.lookup_mesh(query=read_mesh()[name]["ui"]).results[0].subheadings
                assert qualifiers <= set(allowed), (pmid, name)
    for file in list_demo_files():
        for element in ElementTree.fromstring(file.read_bytes()).iter():
            if element.tag in ("DescriptorName", "QualifierName", "PublicationType"):
                assert read_mesh()[element.text or ""]["ui"] == element.get("UI"), element.text


def test_every_tree_number_is_below_a_heading(kit: EntrezKit) -> None:
    places = {tree for entry in read_mesh().values() for tree in entry.get("tree_numbers", []) if tree[0] != "@"}
    above = {tree.rpartition(".")[0] for tree in places} - {""}

    assert above - places == {"J03"}  # the name of this category has no source
    record = kit.lookup_mesh(query="Gene Editing", include_tree=True).results[0]
    assert [parent.name for parent in record.parents] == ["Genetic Engineering"]


def test_a_search_by_a_heading_or_a_type_includes_the_narrower_ones(databases: Mapping[str, Database]) -> None:
    used = {name for _, headings, types, _ in read_records() for name in (*headings, *types)}
    asked = {name for name in read_mesh() if read_mesh()[name]["ui"][0] == "D" and used & list_narrower(name)}

    assert len(asked) > 2 * len(used)
    for name in asked:
        below = list_narrower(name)
        is_type = any(tree[0] == "V" for tree in read_mesh()[name].get("tree_numbers", []))
        expected = {pmid for pmid, headings, types, _ in read_records() if below & (types if is_type else {*headings})}
        tag = "pt" if is_type else "mh"
        assert find(databases, f'"{name}"[{tag}]') == expected, name


def test_a_search_by_heading_and_subheading_finds_the_articles_by_name_and_abbreviation(
    databases: Mapping[str, Database],
) -> None:
    pairs = {(name, one) for _, headings, _, _ in read_records() for name, ones in headings.items() for one in ones}

    assert len(pairs) > 80
    for name, qualifier in pairs:
        expected = {pmid for pmid, headings, _, _ in read_records() if qualifier in headings.get(name, ())}
        for written in (qualifier, read_mesh()[qualifier]["abbreviation"].lower()):
            assert expected <= find(databases, f'"{name}/{written}"[mh]'), (name, written)


def test_descriptors_are_those_of_nlms_file(real_data: Path) -> None:
    root = ElementTree.parse(real_data / "mesh" / "pubmed__mesh_desc_sample.xml").getroot()
    compared = 0
    for record in root.iterfind("DescriptorRecord"):
        entry = read_mesh().get(record.findtext("DescriptorName/String") or "")
        if entry is not None:
            compared += 1
            allowed = {element.text for element in record.iterfind("AllowableQualifiersList//Abbreviation")}
            assert entry["ui"] == record.findtext("DescriptorUI")
            assert set(entry["subheadings"].split()) >= allowed - {"TU"}  # later years have more
            names = {
                element.findtext("QualifierReferredTo/QualifierName/String"): element.findtext("Abbreviation")
                for element in record.iterfind("AllowableQualifiersList/AllowableQualifier")
            }
            assert {name: read_mesh()[name or ""]["abbreviation"] for name in names} == names
    assert compared >= 5


# Links


def list_ids(database: Database) -> list[str]:
    terms = {"mesh": "D*[mhui] OR Q*[mhui] OR C*[mhui]", "nuccore": "ZZ9*[accn]"}
    if database.name == "taxonomy":
        return list(FixtureDatabase("taxonomy").records)
    return [str(uid) for uid in database.search(SearchCall(terms.get(database.name, "all[sb]"))).ids]


def test_every_link_leads_to_a_record_and_back(databases: Mapping[str, Database]) -> None:
    ids = {name: list_ids(one) for name, one in databases.items()}
    assert {name: len(found) for name, found in ids.items()} == {name: one.count for name, one in databases.items()}
    edges: dict[str, set[tuple[str, str]]] = {}
    for name, database in databases.items():
        for link in database.links:
            found = {(uid, other) for uid in ids[name] for other, _ in database.find_links(link.name, uid)}
            assert found, f"{link.name} links nothing"
            assert {other for _, other in found} <= set(ids[link.target]), link.name
            edges[link.name] = found

    for name, found in edges.items():
        if not name.endswith(ONE_WAY):
            source, _, target = name.partition("_")
            back = edges[BACK.get(name, f"{target}_{source}")]
            assert {(other, uid) for uid, other in found} <= back, name


def test_similar_articles_are_similar_in_both_directions(databases: Mapping[str, Database]) -> None:
    pubmed = databases["pubmed"]
    near = {pmid: dict(pubmed.find_links("pubmed_pubmed", pmid)) for pmid in list_ids(pubmed)}

    for pmid, others in near.items():
        assert all(pmid in near[other] for other in others)
        assert len(others) > 1 or pmid not in {record[0] for record in read_records() if record[1]}, pmid


def test_each_cited_article_names_its_citing_articles_and_the_reverse(kit: EntrezKit) -> None:
    known = {pmid for pmid, *_ in read_records()}
    cites = {(pmid, other) for pmid, _, _, cited in read_records() for other in cited & known}

    assert len(cites) > 50
    for relation, at in (("citedin", 1), ("references", 0)):
        for pmid in {pair[at] for pair in cites}:
            found = kit.article_relationships(source_pmid=pmid, relationship_type=relation, max_related_results=50)
            expected = {pair[1 - at] for pair in cites if pair[at] == pmid}
            assert {article.pmid for article in found.related_articles} >= expected, (pmid, relation)


@pytest.mark.parametrize("name", ["bioproject", "clinvar", "sra"])
def test_the_small_databases_answer_every_request(kit: EntrezKit, name: str) -> None:
    info = kit.entrez_info(db=name).database
    found = kit.entrez_search(db=name, term="invented")
    summaries = kit.entrez_summary(db=name, ids=found.ids)
    fetched = kit.entrez_fetch(db=name, ids=found.ids)

    assert info is not None
    assert info.record_count == found.total_found == len(found.ids) == len(summaries.summaries) >= 3
    for summary in summaries.summaries:
        assert "(invented)" in json.dumps(summary)
    root = ElementTree.fromstring(fetched.content.encode("utf-8"))
    assert len(root) == len(found.ids)
    for link in info.links:
        linked = kit.entrez_link(ids=found.ids, source=name, target=link.db_to or "", link_name=link.name)
        assert all(linkset.status == "linked" for linkset in linked.linksets), link.name


def test_a_listed_record_is_found_by_accession_organism_and_project(kit: EntrezKit) -> None:
    assert kit.entrez_search(db="sra", term="PRJNA99000001[bioproject]").ids == ["99000001", "99000002"]
    assert kit.entrez_search(db="clinvar", term="BRCA1[gene] AND pathogenic[clinsig]").ids == ["99000001"]
    assert kit.entrez_search(db="bioproject", term="txid9606[orgn]").ids == ["99000001", "99000003"]
    assert (
        kit.entrez_fetch(db="sra", ids=["SRR99000003"], rettype="runinfo")
        .content.splitlines()[1]
        .startswith("SRR99000003,900,")
    )

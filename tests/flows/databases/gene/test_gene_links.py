"""get_pubmed_links: articles about a gene, and the difference between no articles and no such gene."""

import pytest
from gene_helpers import CannedGenes, Genes, write_docsum, write_esummary_xml

from entrez_kit.base.errors import AmbiguousQuery, EntityNotFound, UnresolvedEntity, UpstreamError
from entrez_kit.databases.gene.get_genes import GET_PUBMED_LINKS, parse_links
from entrez_kit.databases.gene.models import PubMedLinks


def _write_linkset(*pmids: object, source: object = 7157, name: str = "gene_pubmed") -> bytes:
    links = "".join(f"<Link><Id>{pmid}</Id></Link>" for pmid in pmids)
    group = f"<LinkSetDb><DbTo>pubmed</DbTo><LinkName>{name}</LinkName>{links}</LinkSetDb>" if pmids else ""
    return (
        f"<eLinkResult><LinkSet><DbFrom>gene</DbFrom><IdList><Id>{source}</Id></IdList>{group}</LinkSet></eLinkResult>"
    ).encode()


def _run_links(services: CannedGenes, **arguments: object) -> PubMedLinks:
    return GET_PUBMED_LINKS.run(services, {"entrez_id": "NCBIGene:7157", **arguments})  # type: ignore[arg-type]


def test_an_id_gives_the_pmids_of_its_articles(genes: Genes) -> None:
    links = genes.links("NCBIGene:7157")

    assert links.model_dump() == {"entrez_id": "NCBIGene:7157", "pmids": ["99000034", "99000031"], "total_count": 2}


def test_at_most_limit_pmids_are_returned_and_all_are_counted() -> None:
    services = CannedGenes(
        esummary=[write_esummary_xml(write_docsum(7157, "TP53"))], elink=[_write_linkset(*range(1, 201))]
    )
    links = _run_links(services, limit=10)

    assert links.pmids == [str(number) for number in range(1, 11)]
    assert links.total_count == 200


def test_get_pubmed_links_takes_an_id_and_a_limit_of_ten() -> None:
    services = CannedGenes(
        esummary=[write_esummary_xml(write_docsum(7157, "TP53"))], elink=[_write_linkset(*range(1, 201))]
    )

    assert len(_run_links(services).pmids) == 10
    assert services.asked[-1] == (
        "elink",
        {"ids": ["7157"], "dbfrom": "gene", "db": "pubmed", "cmd": "neighbor", "linkname": "gene_pubmed"},
    )


@pytest.mark.parametrize("limit", [0, 100_001, -1, "many"])
def test_a_limit_out_of_bounds_is_rejected(genes: Genes, limit: object) -> None:
    with pytest.raises(AmbiguousQuery) as caught:
        genes.links("NCBIGene:7157", limit=limit)
    assert caught.value.invalid_input == f"limit={limit}"


def test_pmids_are_digits_without_duplicates_in_ncbi_s_order() -> None:
    body = _write_linkset(30, 10, 0, 20, 0)

    assert parse_links(body, "7157") == ["30", "10", "20"]


def test_links_of_another_kind_are_not_included() -> None:
    assert parse_links(_write_linkset(1, 2, name="gene_pubmed_rif"), "7157") == []


def test_a_gene_without_links_gives_an_empty_list(genes: Genes) -> None:
    assert genes.links("NCBIGene:1").model_dump() == {"entrez_id": "NCBIGene:1", "pmids": [], "total_count": 0}


def test_an_id_without_a_gene_is_not_found_and_not_empty(genes: Genes) -> None:
    with pytest.raises(EntityNotFound):
        genes.links("NCBIGene:999999999")


def test_links_of_an_id_without_a_gene_are_ignored() -> None:
    missing = '<DocumentSummary uid="7157"><error>cannot get document summary</error></DocumentSummary>'
    services = CannedGenes(esummary=[write_esummary_xml(missing)], elink=[_write_linkset(1, 2, 3)])

    with pytest.raises(EntityNotFound):
        _run_links(services)


def test_a_link_error_for_an_existing_gene_is_an_upstream_error() -> None:
    services = CannedGenes(esummary=[write_esummary_xml(write_docsum(7157, "TP53"))], elink=[EntityNotFound("nothing")])

    with pytest.raises(UpstreamError, match="which exists"):
        _run_links(services)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html/>",
        _write_linkset(1, source=672),
        b"<eLinkResult><LinkSet><ERROR>Couldn't resolve #exLinkSrv2</ERROR></LinkSet></eLinkResult>",
        b"<eLinkResult><ERROR>TXCLIENT</ERROR></eLinkResult>",
    ],
)
def test_an_invalid_reply_about_this_gene_is_an_upstream_error(body: bytes) -> None:
    with pytest.raises(UpstreamError):
        parse_links(body, "7157")


def test_a_symbol_in_place_of_an_id_is_unresolved(genes: Genes) -> None:
    with pytest.raises(UnresolvedEntity) as caught:
        genes.links("BRCA1")
    assert 'search_genes(query="BRCA1")' in caught.value.recovery_hint


def test_all_articles_can_be_read_by_pages_or_at_once() -> None:
    def make_services() -> CannedGenes:
        return CannedGenes(
            esummary=[write_esummary_xml(write_docsum(7157, "TP53"))], elink=[_write_linkset(*range(1, 251))]
        )

    every = _run_links(make_services(), limit=250).pmids
    pages = [_run_links(make_services(), limit=100, offset=offset).pmids for offset in (0, 100, 200, 300)]

    assert len(every) == 250
    assert [pmid for page in pages for pmid in page] == every
    past = _run_links(make_services(), offset=300)
    assert (past.pmids, past.total_count) == ([], 250)
    assert [warning.code for warning in past.warnings] == ["offset_beyond_results"]


def test_only_mcp_calls_have_a_maximum_limit() -> None:
    from entrez_kit.server.schemas import AgentOperation

    services = CannedGenes(
        esummary=[write_esummary_xml(write_docsum(7157, "TP53"))], elink=[_write_linkset(*range(1, 251))]
    )
    assert len(_run_links(services, limit=101).pmids) == 101
    with pytest.raises(AmbiguousQuery) as caught:
        AgentOperation.of(GET_PUBMED_LINKS).build({"entrez_id": "NCBIGene:7157", "limit": 101})
    assert "up to 100" in caught.value.recovery_hint


def _write_merged(number: int, current: int) -> bytes:
    return write_esummary_xml(
        f'<DocumentSummary uid="{number}"><Name>OLD1</Name><Status>{1 if current else 0}</Status>'
        f"<CurrentID>{current}</CurrentID><Organism><ScientificName>Homo sapiens</ScientificName></Organism>"
        "</DocumentSummary>"
    )


def test_a_merged_gene_returns_the_articles_of_its_successor_with_or_without_links() -> None:
    for linked in ((), (1, 2)):
        summaries = [_write_merged(7157, 671), _write_merged(671, 672), _write_merged(672, 0)]
        links = _run_links(
            CannedGenes(esummary=summaries, elink=[_write_linkset(*linked), _write_linkset(5, 6, 7, source=672)])
        )

        assert links.total_count == len(linked)
        assert links.replaced_by == "NCBIGene:671"
        assert "merged into NCBIGene:671" in links.warnings[0].message
        assert links.successor is not None
        assert links.successor.model_dump() == {
            "entrez_id": "NCBIGene:672",
            "pmids": ["5", "6", "7"],
            "total_count": 3,
        }


@pytest.mark.parametrize("fails", ["esummary", "elink"])
def test_a_successor_that_ncbi_does_not_return_causes_a_warning(fails: str) -> None:
    busy = UpstreamError("busy")
    summaries = [_write_merged(7157, 672), busy if fails == "esummary" else _write_merged(672, 0)]
    links = _run_links(CannedGenes(esummary=summaries, elink=[_write_linkset(1), busy]))

    assert links.pmids == ["1"]
    assert links.successor is None
    assert [warning.code for warning in links.warnings] == ["gene_replaced", "successor_missing"]

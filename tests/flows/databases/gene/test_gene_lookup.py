"""get_gene: one gene by its id; only ids are accepted."""

import re

import pytest
from gene_helpers import CannedGenes, Genes, write_entrezgene, write_gene_set

from entrez_kit.base.errors import EntityNotFound, UnresolvedEntity, UpstreamError
from entrez_kit.core.operation import execute
from entrez_kit.databases.gene.get_genes import GET_GENE, GET_GENES, GeneBatch
from entrez_kit.databases.gene.models import CURIE_PATTERN

NO_CURIES = [
    "TP53",
    "7157",
    "",
    "NCBIGene:",
    "NCBIGene:TP53",
    "NCBIGene:7157\n",
    " NCBIGene:7157",
    "NCBIGene: 7157",
    "ncbigene:7157",
    "NCBIGENE:7157",
    "NCBIGene:٧١٥٧",
    "NCBIGene:7157;672",
    "NCBIGene:-1",
    "GeneID:7157",
    "HGNC:11998",
    "NCBIGene:7157 OR 1",
    "NCBIGene:7157&db=pubmed",
]


def test_an_id_gives_the_complete_gene(genes: Genes) -> None:
    gene = genes.get("NCBIGene:7157")

    assert gene.symbol == "TP53"
    assert gene.summary
    assert gene.map_location == "17p13.1"
    assert gene.aliases == ["P53", "BCC7", "LFS1", "BMFS5", "TRP53"]
    assert gene.cross_references.model_dump() == {
        "hgnc": "HGNC:11998",
        "ensembl_gene": "ENSG00000141510",
        "uniprot": ["P04637"],
        "entrez": "7157",
        "refseq": ["NM_000546", "NM_001127233"],
        "omim": "191170",
    }


def test_get_gene_accepts_ids(genes: Genes) -> None:
    assert genes.get("NCBIGene:672").symbol == "BRCA1"
    assert genes.get("NCBIGene:000672").id == "NCBIGene:672"


@pytest.mark.parametrize("text", NO_CURIES)
def test_an_id_must_match_the_whole_pattern(text: str) -> None:
    schema = GET_GENE.request.model_json_schema()["properties"]["entrezId"]
    assert schema["pattern"] == CURIE_PATTERN
    assert re.fullmatch(CURIE_PATTERN.strip("^$"), text, re.ASCII) is None


@pytest.mark.parametrize("text", NO_CURIES)
def test_any_other_text_is_unresolved_without_a_request(genes: Genes, text: str) -> None:
    for call in (genes.get, genes.links):
        with pytest.raises(UnresolvedEntity):
            call(text)
    assert genes.sandbox.requests() == 0


@pytest.mark.parametrize("value", [None, 7157, 7157.0, ["NCBIGene:7157"], {"id": 7157}, True])
def test_values_of_other_types_than_text_are_unresolved_too(genes: Genes, value: object) -> None:
    with pytest.raises(UnresolvedEntity):
        genes.get(value)


def test_a_symbol_is_unresolved_and_the_hint_names_search_genes(genes: Genes) -> None:
    with pytest.raises(UnresolvedEntity) as caught:
        genes.get("TP53")

    assert "'TP53'" in caught.value.message
    assert 'kit.search_genes(query="TP53")' in caught.value.recovery_hint
    assert caught.value.invalid_input == "TP53"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("NCBIGene:TP53", "'TP53' after NCBIGene: is not a number"),
        ("NCBIGene:", "no number follows NCBIGene:"),
        ("0", "NCBIGene: is followed by a number from 1"),
        ("GeneID:7157", "it is not of the form NCBIGene:7157"),
    ],
)
def test_the_error_says_what_is_wrong_with_an_id(genes: Genes, value: str, reason: str) -> None:
    with pytest.raises(UnresolvedEntity) as caught:
        genes.get(value)

    assert caught.value.message == f"The input {value!r} is not a gene id: {reason}."


def test_a_bare_number_gets_the_exact_next_call(genes: Genes) -> None:
    with pytest.raises(UnresolvedEntity) as caught:
        genes.get("7157")
    assert caught.value.recovery_hint.startswith('Call kit.get_gene(entrez_id="NCBIGene:7157") ')

    with pytest.raises(UnresolvedEntity) as caught:
        genes.links("GeneID:7157")
    assert caught.value.recovery_hint.startswith('Call kit.get_pubmed_links(entrez_id="NCBIGene:7157") ')


def test_an_id_without_a_gene_is_not_found(genes: Genes) -> None:
    with pytest.raises(EntityNotFound) as caught:
        genes.get("NCBIGene:999999999")

    assert caught.value.invalid_input == "NCBIGene:999999999"
    assert "search_genes" in caught.value.recovery_hint


@pytest.mark.parametrize("number", ["0", "00", "99999999999", "9" * 400])
def test_numbers_too_large_for_a_gene_id_are_not_found_without_a_request(genes: Genes, number: str) -> None:
    for call in (genes.get, genes.links):
        with pytest.raises(EntityNotFound):
            call(f"NCBIGene:{number}")
    assert genes.sandbox.requests() == 0


@pytest.mark.parametrize(
    "reply",
    [
        b"<Entrezgene-Set></Entrezgene-Set>",
        b"<Entrezgene-Set><Error>GeneId 5 not found.</Error></Entrezgene-Set>",
        EntityNotFound("NCBI has no such record."),
    ],
)
def test_every_form_of_ncbis_not_found_reply_is_entity_not_found(reply: bytes | Exception) -> None:
    with pytest.raises(EntityNotFound) as caught:
        GET_GENE.run(CannedGenes(efetch=[reply]), {"entrez_id": "NCBIGene:5"})  # type: ignore[arg-type]
    assert caught.value.invalid_input == "NCBIGene:5"


def test_a_reply_with_another_gene_is_an_error() -> None:
    services = CannedGenes(efetch=[write_gene_set(write_entrezgene(6, "F"))])

    with pytest.raises(UpstreamError):
        GET_GENE.run(services, {"entrez_id": "NCBIGene:5"})  # type: ignore[arg-type]


def test_a_slim_gene_has_id_symbol_name_and_organism(genes: Genes) -> None:
    assert genes.get("NCBIGene:7157", slim=True).model_dump() == {
        "id": "NCBIGene:7157",
        "symbol": "TP53",
        "name": "tumor protein p53",
        "organism": "Homo sapiens",
    }


def test_a_replaced_gene_is_returned_with_its_successor(genes: Genes) -> None:
    gene = genes.get("NCBIGene:60454")

    assert gene.status == "replaced"
    assert gene.replaced_by is not None
    successor = genes.get(gene.replaced_by)
    assert successor.symbol == "SNCA"
    assert gene.model_dump()["successor"] == successor.model_dump()
    assert genes.get("NCBIGene:60454", slim=True).model_dump()["successor"] == successor.slim().model_dump()
    assert genes.get("NCBIGene:990000001").status == "discontinued"
    assert "successor" not in genes.get("NCBIGene:990000001").model_dump()


def test_merges_are_followed_to_the_end_and_a_circle_of_merges_ends() -> None:
    old = '<Gene-track_status value="secondary">1</Gene-track_status>'
    records = [
        write_gene_set(write_entrezgene(number, f"S{number}", status=old, current=[("GeneID", following)]))
        for number, following in ((5, 6), (6, 7))
    ]
    chain = GET_GENE.run(
        CannedGenes(efetch=[*records, write_gene_set(write_entrezgene(7, "LAST"))]),  # type: ignore[arg-type]
        {"entrez_id": "NCBIGene:5"},
    )
    assert chain.successor is not None
    assert (chain.replaced_by, chain.successor.symbol) == ("NCBIGene:6", "LAST")

    back = write_gene_set(write_entrezgene(6, "S6", status=old, current=[("GeneID", 5)]))
    circle = GET_GENE.run(CannedGenes(efetch=[records[0], back]), {"entrez_id": "NCBIGene:5"})  # type: ignore[arg-type]
    assert circle.successor is not None
    assert circle.successor.symbol == "S6"


def test_a_missing_successor_causes_a_warning() -> None:
    old = '<Gene-track_status value="secondary">1</Gene-track_status>'
    merged = write_gene_set(write_entrezgene(5, "OLD", status=old, current=[("GeneID", 6)]))
    for reply in (UpstreamError("busy"), EntityNotFound("NCBI has no such record.")):
        gene = GET_GENE.run(CannedGenes(efetch=[merged, reply]), {"entrez_id": "NCBIGene:5"})  # type: ignore[arg-type]

        assert (gene.symbol, gene.successor) == ("OLD", None)
        assert [warning.code for warning in gene.warnings] == ["successor_missing"]


def test_genes_of_other_species_have_their_cross_references_too(genes: Genes) -> None:
    assert genes.get("NCBIGene:22059").cross_references.ensembl_gene == "ENSMUSG00000059552"
    assert genes.get("NCBIGene:945803").cross_references.uniprot == ["P00561"]
    assert genes.get("NCBIGene:851229").cross_references.refseq == ["NM_001180043"]


def test_search_get_and_literature_calls_work_one_after_another(genes: Genes) -> None:
    candidate = genes.search("TP53", organism="human").items[0]
    gene = genes.get(candidate.id)
    links = genes.links(gene.id)

    assert gene.symbol == "TP53"
    assert links.pmids
    assert genes.kit.fetch_contents(pmids=links.pmids).not_found_pmids == []


def _fetch_batch(genes: Genes, *ids: str) -> GeneBatch:
    batch: GeneBatch = GET_GENES.run(genes.kit.services, {"inputs": list(ids)})
    return batch


def test_several_ids_give_one_outcome_each_in_order(genes: Genes) -> None:
    batch = _fetch_batch(genes, "NCBIGene:672", "TP53", "NCBIGene:999999999", "NCBIGene:7157", "NCBIGene:672")

    assert [gene.symbol for gene in batch.genes] == ["BRCA1", "TP53", "BRCA1"]
    assert [(item.input, item.status) for item in batch.outcomes] == [
        ("NCBIGene:672", "found"),
        ("TP53", "invalid"),
        ("NCBIGene:999999999", "not_found"),
        ("NCBIGene:7157", "found"),
        ("NCBIGene:672", "found"),
    ]
    error = batch.missing_error()
    assert isinstance(error, EntityNotFound)
    assert error.details["partial"] is True
    assert genes.sandbox.requests("efetch") == 5  # "not found" is accepted after the third answer


def test_a_complete_batch_has_no_outcomes(genes: Genes) -> None:
    batch = _fetch_batch(genes, "NCBIGene:7157", "NCBIGene:672")

    assert batch.missing_error() is None
    assert set(batch.model_dump()) == {"genes"}


def test_one_failing_id_does_not_fail_the_others_but_no_result_at_all_is_an_error() -> None:
    failing = CannedGenes(efetch=[UpstreamError("busy"), write_gene_set(write_entrezgene(6, "F"))])
    batch = GET_GENES.run(failing, {"inputs": ["NCBIGene:5", "NCBIGene:6"]})  # type: ignore[arg-type]
    assert [gene.symbol for gene in batch.genes] == ["F"]
    assert isinstance(batch.missing_error(), UpstreamError)

    silent = CannedGenes(efetch=[UpstreamError("busy")])
    outcome = execute(GET_GENES, silent, {"inputs": ["NCBIGene:5", "TP53"]})  # type: ignore[arg-type]
    assert outcome.result is None
    assert isinstance(outcome.error, UpstreamError)


def test_a_batch_of_symbols_only_is_unresolved(genes: Genes) -> None:
    error = _fetch_batch(genes, "TP53", "BRCA1").missing_error()

    assert isinstance(error, UnresolvedEntity)
    assert "search_genes" in error.recovery_hint

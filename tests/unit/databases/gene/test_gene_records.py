"""Entrezgene XML as genes: recordings compared with another parser, and unusual records."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from gene_helpers import write_entrezgene, write_gene_set

from entrez_kit.base.errors import UpstreamError
from entrez_kit.databases.gene.gene_records import parse_genes
from entrez_kit.databases.gene.models import XREF_PATTERNS, CrossReferences, Gene

NEFL = ("eutils__efetch.fcgi_db_gene_id_4747_retmode_xml", "eutils__test_entrezgeneset.e6b4be.xml")


def _read_text(element: ET.Element, path: str) -> str | None:
    found = element.find(path)
    return found.text.strip() if found is not None and found.text else None


def _list_ids(element: ET.Element, db: str) -> list[str]:
    """Return the values of all Dbtags of one database anywhere below."""
    values = []
    for tag in element.iter("Dbtag"):
        if tag.findtext("Dbtag_db") == db:
            value = tag.findtext(".//Object-id_str") or tag.findtext(".//Object-id_id")
            values += [value] if value else []
    return values


def _read_independently(content: bytes) -> dict[str, Any]:
    """Read a record with another parser, only by names of elements."""
    root = ET.fromstring(content)
    gene = next(root.iter("Entrezgene"))
    ref = next(gene.iter("Gene-ref"))
    names = [text.text or "" for text in gene.iter("Prot-ref_desc")] + [
        text.text or "" for text in gene.iter("Prot-ref_name_E")
    ]
    own = list(ref.iter("Dbtag"))
    sections = {
        comment.findtext("Gene-commentary_heading"): comment for comment in gene.findall("Entrezgene_comments/*")
    }
    sequences = sections["NCBI Reference Sequences (RefSeq)"]
    accessions = [element.text or "" for element in gene.iter("Gene-commentary_accession")]
    ensembl = [value.partition(".")[0] for value in _list_ids(gene, "Ensembl")]
    return {
        "id": f"NCBIGene:{_read_text(gene, './/Gene-track_geneid')}",
        "symbol": _read_text(ref, "Gene-ref_locus"),
        "name": _read_text(ref, "Gene-ref_desc"),
        "description": "; ".join(dict.fromkeys(names)),
        "summary": _read_text(gene, "Entrezgene_summary"),
        "map_location": _read_text(ref, "Gene-ref_maploc"),
        "chromosome": next(
            sub.findtext("SubSource_name")
            for sub in gene.iter("SubSource")
            if next(iter(sub)).get("value") == "chromosome"
        ),
        "aliases": [element.text for element in ref.iter("Gene-ref_syn_E")],
        "organism": next(gene.iter("Org-ref_taxname")).text,
        "taxon_id": int(_list_ids(next(gene.iter("Org-ref_db")), "taxon")[0]),
        "gene_type": next(gene.iter("Entrezgene_type")).get("value"),
        "status": next(gene.iter("Gene-track_status")).get("value"),
        "hgnc": {"HGNC:" + value.removeprefix("HGNC:") for tag in own for value in _list_ids(_wrap(tag), "HGNC")},
        "omim": {value for tag in own for value in _list_ids(_wrap(tag), "MIM")},
        "ensembl_gene": {value for value in ensembl if value.startswith("ENSG")},
        "ensembl_transcript": {value for value in ensembl if value.startswith("ENST")},
        "refseq": {accession for accession in accessions if re.fullmatch(r"[NX][MR]_[0-9]+", accession)},
        "uniprot": {
            value.partition(".")[0]
            for db in ("UniProtKB/Swiss-Prot", "UniProtKB/TrEMBL")
            for section in (sequences, sections["Related Sequences"])
            for value in _list_ids(section, db)
        },
        "kegg": set(_list_ids(gene, "KEGG")),
    }


def _wrap(tag: ET.Element) -> ET.Element:
    outer = ET.Element("outer")
    outer.append(tag)
    return outer


@pytest.mark.parametrize("name", NEFL)
def test_recorded_xml_becomes_a_gene_with_every_field_that_is_present(real_data: Path, name: str) -> None:
    content = (real_data / "efetch_gene" / name).read_bytes()
    (gene,) = parse_genes(content)
    expected = _read_independently(content)

    document = gene.model_dump()
    references = document.pop("cross_references")
    for field in document:
        assert document[field] == expected[field], field
    for key in ("hgnc", "omim", "ensembl_gene", "kegg"):
        assert {references[key]} == expected[key] if expected[key] else key not in references, key
    for key in ("refseq", "uniprot", "ensembl_transcript"):
        assert set(references.get(key, [])) == expected[key], key
        assert len(references.get(key, [])) == len(expected[key]), key
    assert references["entrez"] == "4747"


@pytest.mark.parametrize("name", NEFL)
def test_recorded_cross_references_match_the_registry_and_belong_to_the_gene(real_data: Path, name: str) -> None:
    (gene,) = parse_genes((real_data / "efetch_gene" / name).read_bytes())
    references = gene.cross_references.model_dump()

    for key, value in references.items():
        for one in value if isinstance(value, list) else [value]:
            assert re.fullmatch(XREF_PATTERNS[key].strip("^$"), one), key
    assert references["biogrid"] == "110822"  # not one of the hundreds of interaction partners
    assert references["omim"] == "162280"  # not one of its phenotypes
    assert references["uniprot"][0] == "P07196"  # the current entry before its secondary accessions


def test_cross_references_are_populated_if_ncbi_has_them(real_data: Path) -> None:
    (gene,) = parse_genes((real_data / "efetch_gene" / NEFL[1]).read_bytes())

    assert gene.cross_references.hgnc == "HGNC:7739"
    assert gene.cross_references.ensembl_gene == "ENSG00000277586"
    assert "P07196" in gene.cross_references.uniprot
    assert gene.cross_references.refseq == ["NM_006158"]


def test_a_gene_without_a_symbol_has_its_locus_tag_as_symbol() -> None:
    (gene,) = parse_genes(
        write_gene_set(write_entrezgene(1466426, tag="YAL067W-A", taxid=559292, organism="Saccharomyces"))
    )

    assert gene.symbol == "YAL067W-A"
    assert gene.name == "YAL067W-A"
    assert gene.aliases == []


def test_a_locus_tag_of_a_gene_with_a_symbol_is_the_first_alias() -> None:
    (gene,) = parse_genes(write_gene_set(write_entrezgene(945803, "thrA", tag="b0002", synonyms=["Hs", "thrA1", "Hs"])))

    assert gene.aliases == ["b0002", "Hs", "thrA1"]


def test_a_gene_with_neither_has_ncbi_s_placeholder() -> None:
    (gene,) = parse_genes(write_gene_set(write_entrezgene(12345)))

    assert gene.symbol == "LOC12345"


@pytest.mark.parametrize(
    ("stated", "current", "status", "replaced_by"),
    [
        ('<Gene-track_status value="live">0</Gene-track_status>', [], "live", None),
        ("", [], "live", None),
        ('<Gene-track_status value="newentry">3</Gene-track_status>', [], "live", None),
        ("<Gene-track_status>2</Gene-track_status>", [], "discontinued", None),
        ('<Gene-track_status value="discontinued">2</Gene-track_status>', [], "discontinued", None),
        (
            '<Gene-track_status value="secondary">1</Gene-track_status>',
            [("LocusID", 6622), ("GeneID", 6622)],
            "replaced",
            "NCBIGene:6622",
        ),
        (
            '<Gene-track_status value="discontinued">2</Gene-track_status>',
            [("GeneID", 7375)],
            "replaced",
            "NCBIGene:7375",
        ),
        ('<Gene-track_status value="secondary">1</Gene-track_status>', [], "replaced", None),
        ('<Gene-track_status value="secondary">1</Gene-track_status>', [("GeneID", 60454)], "replaced", None),
    ],
)
def test_status_and_replacement_are_read_from_the_track_info(
    stated: str, current: list[tuple[str, int]], status: str, replaced_by: str | None
) -> None:
    (gene,) = parse_genes(write_gene_set(write_entrezgene(60454, "PARK4", status=stated, current=current)))

    assert gene.status == status
    assert gene.replaced_by == replaced_by
    assert ("replaced_by" in gene.model_dump()) == (replaced_by is not None)


@pytest.mark.parametrize(
    ("options", "chromosome"),
    [
        ({"subtypes": [("chromosome", "8")], "location": "9q1"}, "8"),
        ({"subtypes": [("chromosome", "X"), ("chromosome", "Y")]}, "X, Y"),
        ({"subtypes": [("plasmid-name", "pLeu")]}, None),
        ({"subtypes": [("chromosome", "Unknown")]}, None),
        ({"location": "17p13.1"}, "17"),
        ({"location": "Xq28"}, "X"),
        ({"location": "XVI"}, "XVI"),
        ({"location": "11 42.83 cM"}, "11"),
        ({"location": "unknown"}, None),
        ({"genome": "mitochondrion"}, "MT"),
        ({}, None),
    ],
)
def test_the_chromosome_is_read_from_any_of_its_places(options: dict[str, Any], chromosome: str | None) -> None:
    (gene,) = parse_genes(write_gene_set(write_entrezgene(1, "A", **options)))

    assert gene.chromosome == chromosome


def test_without_a_location_the_map_is_used() -> None:
    maps = "<Entrezgene_location><Maps><Maps_display-str>11 B3</Maps_display-str></Maps></Entrezgene_location>"
    (gene,) = parse_genes(write_gene_set(write_entrezgene(22059, "Trp53", more=maps)))

    assert gene.map_location == "11 B3"


def _write_comment(heading: str, inner: str) -> str:
    return (
        f"<Entrezgene_comments><Gene-commentary><Gene-commentary_heading>{heading}</Gene-commentary_heading>{inner}"
        "</Gene-commentary></Entrezgene_comments>"
    )


def _write_source(db: str, value: str, url: str = "") -> str:
    address = f"<Other-source_url>{url}</Other-source_url>" if url else ""
    return (
        "<Gene-commentary_source><Other-source><Other-source_src><Dbtag>"
        f"<Dbtag_db>{db}</Dbtag_db><Dbtag_tag><Object-id><Object-id_str>{value}</Object-id_str></Object-id></Dbtag_tag>"
        f"</Dbtag></Other-source_src>{address}</Other-source></Gene-commentary_source>"
    )


def _write_list(*sources: str) -> str:
    inner = "".join(f"<Gene-commentary>{source}</Gene-commentary>" for source in sources)
    return f"<Gene-commentary_comment>{inner}</Gene-commentary_comment>"


def _read_references(more: str = "", **options: Any) -> dict[str, Any]:
    (gene,) = parse_genes(write_gene_set(write_entrezgene(7157, "TP53", more=more, **options)))
    return gene.cross_references.model_dump()


@pytest.mark.parametrize("value", [11998, "HGNC:11998", "11998"])
def test_hgnc_ids_have_their_prefix_in_any_spelling_of_the_record(value: str | int) -> None:
    assert _read_references(tags=[("HGNC", value)])["hgnc"] == "HGNC:11998"


def test_ensembl_ids_of_other_species_are_read_without_their_versions() -> None:
    assert _read_references(tags=[("Ensembl", "ENSMUSG00000059552.18")])["ensembl_gene"] == "ENSMUSG00000059552"


def test_a_value_that_does_not_match_the_registry_is_omitted() -> None:
    assert _read_references(tags=[("MIM", "19117"), ("HGNC", "withdrawn"), ("Ensembl", "ENSP00000269305")]) == {
        "entrez": "7157"
    }


@pytest.mark.parametrize("heading", ["Phenotypes", "Interactions", "Markers (Sequence Tagged Sites/STS)", "Homology"])
def test_ids_of_related_records_are_not_read_as_those_of_the_gene(heading: str) -> None:
    deep = "<Gene-commentary><Gene-commentary_comment><Gene-commentary>"
    deep += (
        _write_source("MIM", "151623") + _write_source("HGNC", "1") + _write_source("UniProtKB/Swiss-Prot", "P38398")
    )
    deep += "</Gene-commentary></Gene-commentary_comment></Gene-commentary>"
    more = _write_comment(heading, f"<Gene-commentary_comment>{deep}</Gene-commentary_comment>")

    assert _read_references(more) == {"entrez": "7157"}


def test_links_and_pathways_give_kegg_its_species() -> None:
    pathway = _write_source("KEGG pathway", "04115", "http://www.genome.jp/dbget-bin/show_pathway?hsa04115+7157")
    more = _write_comment("Pathways", _write_list(pathway, _write_source("Reactome", "REACT_1")))

    assert _read_references(more)["kegg_pathway"] == ["hsa04115"]
    assert (
        _read_references(_write_comment("Additional Links", _write_list(_write_source("KEGG", "hsa:7157"))))["kegg"]
        == "hsa:7157"
    )
    assert "ucsc" not in _read_references(
        _write_comment("Additional Links", _write_list(_write_source("UCSC", "UCSC")))
    )


def test_contradictory_ids_of_an_interactor_are_omitted() -> None:
    agreed = _write_comment(
        "Interactions", _write_list(_write_source("BioGRID", "113010"), _write_source("BioGRID", "113010"))
    )
    mixed = _write_comment(
        "Interactions", _write_list(_write_source("BioGRID", "113010"), _write_source("BioGRID", "113011"))
    )

    assert _read_references(agreed)["biogrid"] == "113010"
    assert "biogrid" not in _read_references(mixed)


def test_absent_keys_are_omitted_and_never_null_or_empty() -> None:
    references = _read_references()

    assert references == {"entrez": "7157"}
    assert CrossReferences().model_dump() == {}
    assert CrossReferences().model_dump_json() == "{}"


def test_the_registry_equals_the_model() -> None:
    assert set(CrossReferences.model_fields) == set(XREF_PATTERNS)
    assert {"hgnc", "ensembl_gene", "uniprot", "refseq", "entrez", "omim", "kegg"} <= set(XREF_PATTERNS)
    assert len(XREF_PATTERNS) == 23


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not XML",
        b"<Entrezgene-Set><Entrezgene>",
        b"<html><body>Service unavailable</body></html>",
        b"<PubmedArticleSet/>",
        b"<eFetchResult/>",
        b"<Entrezgene-Set><Entrezgene/></Entrezgene-Set>",
        b"<Entrezgene-Set><Error>Backend failed: connection reset</Error></Entrezgene-Set>",
        write_gene_set(write_entrezgene(1, "A")).replace(b">1</Gene-track_geneid>", b">one</Gene-track_geneid>"),
        write_gene_set(write_entrezgene(1, "A")).replace(b"Org-ref_taxname", b"Org-ref_lost"),
        write_gene_set(write_entrezgene(1, "A")).replace(b"Gene-ref>", b"Gene-lost>"),
        write_gene_set(write_entrezgene(1, "A", status='<Gene-track_status value="strange">9</Gene-track_status>')),
    ],
)
def test_a_malformed_body_is_an_upstream_error_with_details(body: bytes) -> None:
    with pytest.raises(UpstreamError) as caught:
        parse_genes(body)

    assert caught.value.details["endpoint"] == "efetch"
    assert caught.value.details["reason"] in ("invalid_response", "backend_error")


def test_a_set_without_the_gene_is_an_answer() -> None:
    assert parse_genes(b"<Entrezgene-Set></Entrezgene-Set>") == []
    assert parse_genes(b"<Entrezgene-Set><Error>GeneId 1 not found.</Error></Entrezgene-Set>") == []


def test_entities_and_doctypes_read_no_file_and_no_network(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("stolen", encoding="utf-8")
    body = write_gene_set(write_entrezgene(1, "A", summary="MARK")).replace(b"MARK", b"&file;")
    evil = f'<!DOCTYPE Entrezgene-Set [<!ENTITY file SYSTEM "{secret.as_uri()}">]>'.encode()

    try:
        genes = parse_genes(body.replace(b"?>\n", b"?>\n" + evil))
    except UpstreamError:
        return
    assert "stolen" not in genes[0].model_dump_json()


def test_a_gene_has_all_its_fields_even_if_nothing_is_known() -> None:
    (gene,) = parse_genes(write_gene_set(write_entrezgene(1, "A")))

    assert gene.model_dump() == {
        "id": "NCBIGene:1",
        "symbol": "A",
        "name": "A",
        "organism": "Homo sapiens",
        "taxon_id": 9606,
        "description": "A",
        "summary": None,
        "map_location": None,
        "chromosome": None,
        "aliases": [],
        "gene_type": "protein-coding",
        "status": "live",
        "cross_references": {"entrez": "1"},
    }
    assert Gene.model_validate(gene.model_dump()) == gene


def test_a_slim_gene_has_four_fields_and_the_schema_requires_no_more() -> None:
    (gene,) = parse_genes(write_gene_set(write_entrezgene(1, "A")))

    assert gene.slim().model_dump() == {"id": "NCBIGene:1", "symbol": "A", "name": "A", "organism": "Homo sapiens"}
    for mode in ("serialization", "validation"):
        schema = Gene.model_json_schema(mode=mode)
        assert schema["required"] == ["id", "symbol", "name", "organism"]
        assert set(schema["properties"]) | {"warnings"} == set(Gene.model_fields)  # those are only in the demo

"""MeSH by name, synonym and identifier, page by page."""

import json

import pytest
from canned_services import Canned, call_operation, run_canned, write_esearch_xml
from fixture_types import KitFor

from entrez_kit.base.errors import InvalidInput, UpstreamError
from entrez_kit.databases.mesh import MESH, build_mesh_record, decode_ui
from entrez_kit.local.eutils.mesh import MeshDatabase, MeshEntry
from entrez_kit.sandbox.server import Sandbox


def list_names(result: object) -> list[str]:
    return [record.name for record in result.results]  # type: ignore[attr-defined]


def test_a_synonym_finds_its_heading(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = call_operation(kit_for(sandbox), MESH, query="heart attack")

    (record,) = result.model_dump(mode="json")["results"]
    trees, subheadings = record.pop("tree_numbers"), record.pop("subheadings")
    assert trees[:2] == ["C14.280.647.500", "C14.907.585.500"]
    assert {"drug therapy", "epidemiology"} <= set(subheadings)
    assert not {"methods", "therapeutic use"} & set(subheadings)
    assert record == {
        "ui": "D009203",
        "entrez_uid": "68009203",
        "kind": "descriptor",
        "name": "Myocardial Infarction",
        "scope_note": "Death of heart muscle whose supply of blood is cut off. (Note written for entrez-kit.)",
        "entry_terms": ["Heart Attack"],
    }
    assert result.total_found == 1
    assert result.next_offset is None


def test_the_named_heading_is_first_even_if_others_rank_higher(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = call_operation(kit_for(sandbox), MESH, query="diabetes mellitus", max_results=2)

    assert list_names(result)[0] == "Diabetes Mellitus"
    assert result.total_found == 5
    assert result.next_offset == 2


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 50])
def test_pages_have_no_repeated_and_no_missing_record_although_one_is_moved_to_the_front(
    sandbox: Sandbox, kit_for: KitFor, size: int
) -> None:
    kit = kit_for(sandbox)
    found: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = call_operation(kit, MESH, query="diabetes mellitus", max_results=size, offset=offset)
        assert page.total_found == 5
        found += list_names(page)
        offset = page.next_offset

    assert found[0] == "Diabetes Mellitus"
    assert sorted(found) == [
        "Diabetes Mellitus",
        "Diabetes Mellitus, Experimental",
        "Diabetes Mellitus, Lipoatrophic",
        "Diabetes Mellitus, Type 1",
        "Diabetes Mellitus, Type 2",
    ]
    beyond = call_operation(kit, MESH, query="diabetes mellitus", offset=99)
    assert beyond.results == []
    assert beyond.next_offset is None


@pytest.mark.parametrize(
    ("query", "ui", "name", "kind"),
    [
        ("D003924", "D003924", "Diabetes Mellitus, Type 2", "descriptor"),
        ("d003924", "D003924", "Diabetes Mellitus, Type 2", "descriptor"),
        ("D000077594", "D000077594", "Nivolumab", "descriptor"),
        ("Q000379", "Q000379", "methods", "qualifier"),
        ("C999000001", "C999000001", "MUCX7 protein, invented", "supplementary_concept"),
    ],
)
def test_an_identifier_of_any_length_finds_its_record(
    sandbox: Sandbox, kit_for: KitFor, query: str, ui: str, name: str, kind: str
) -> None:
    result = call_operation(kit_for(sandbox), MESH, query=query)

    assert [(record.ui, record.name, record.kind) for record in result.results] == [(ui, name, kind)]


@pytest.mark.parametrize("query", ["C18.452.394.750", "c19.246", "Diabetes Mellitus"])
def test_the_tree_above_and_below_a_heading_is_returned(sandbox: Sandbox, kit_for: KitFor, query: str) -> None:
    record = call_operation(kit_for(sandbox), MESH, query=query, include_tree=True, max_results=1).results[0]

    assert record.name == "Diabetes Mellitus"
    assert {parent.name: parent.tree_numbers for parent in record.parents} == {
        "Glucose Metabolism Disorders": ["C18.452.394"],
        "Endocrine System Diseases": ["C19"],
    }
    assert {child.name: child.tree_numbers for child in record.children} == {
        "Diabetes Complications": ["C19.246.099"],
        "Diabetes Mellitus, Experimental": ["C18.452.394.750.074", "C19.246.240"],
        "Diabetes Mellitus, Type 1": ["C18.452.394.750.124", "C19.246.267"],
        "Diabetes Mellitus, Type 2": ["C18.452.394.750.149", "C19.246.300"],
    }
    below = call_operation(kit_for(sandbox), MESH, query="D003924", include_tree=True).results[0]
    assert [(parent.ui, parent.tree_numbers) for parent in below.parents] == [
        ("D003920", ["C18.452.394.750", "C19.246"])
    ]
    assert [child.name for child in below.children] == ["Diabetes Mellitus, Lipoatrophic"]
    assert "parents" not in call_operation(kit_for(sandbox), MESH, query="D003924").results[0].model_dump()


def test_a_tree_number_without_a_heading_finds_nothing(sandbox: Sandbox, kit_for: KitFor) -> None:
    assert call_operation(kit_for(sandbox), MESH, query="C99.999").results == []


def test_an_undescribed_related_heading_is_a_missing_uid_and_a_category_has_no_tree_number() -> None:
    links = [{"parent": 1000067, "treenum": "C14", "children": [68006331, 68014652]}]
    heading = {"ds_meshterms": ["Cardiovascular Diseases"], "ds_meshui": "D002318", "ds_idxlinks": links}
    below = {"ds_meshterms": ["Heart Diseases"], "ds_idxlinks": [{"parent": 68002318, "treenum": "C14.280"}]}
    near = {"1000067": {"ds_meshterms": ["Diseases Category"], "ds_idxlinks": []}, "68006331": below}
    services = Canned(
        esearch=write_esearch_xml(1, ["68002318"]),
        esummary=[json.dumps({"result": {"uids": [*one], **one}}).encode() for one in ({"68002318": heading}, near)],
    )
    result = run_canned(services, MESH, query="C14", include_tree=True)

    assert services.requests("esearch")[0]["term"] == "C14[Tree Number]"
    assert [(parent.name, parent.tree_numbers) for parent in result.results[0].parents] == [("Diseases Category", [])]
    assert [(child.ui, child.tree_numbers) for child in result.results[0].children] == [("D006331", ["C14.280"])]
    assert result.missing_uids == ["68014652"]
    assert isinstance(result.missing_error(), UpstreamError)


def test_references_of_supplementary_concepts_are_not_tree_numbers(sandbox: Sandbox, kit_for: KitFor) -> None:
    record = call_operation(kit_for(sandbox), MESH, query="MUCX7 protein").results[0]

    assert record.tree_numbers == []
    assert "tree_numbers" not in record.model_dump(mode="json")


def test_details_can_be_omitted(sandbox: Sandbox, kit_for: KitFor) -> None:
    record = call_operation(kit_for(sandbox), MESH, query="D009203", include_details=False).results[0]

    assert set(record.model_dump()) == {"ui", "entrez_uid", "kind", "name"}


def test_no_match_is_an_empty_result(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = call_operation(kit_for(sandbox), MESH, query="qqqzzz")

    assert (result.results, result.total_found) == ([], 0)
    assert result.missing_error() is None
    assert call_operation(kit_for(sandbox), MESH, query="D999999").results == []


def test_a_query_with_tags_is_sent_unchanged(sandbox: Sandbox, kit_for: KitFor) -> None:
    result = call_operation(kit_for(sandbox), MESH, query="diabetes[word] NOT mellitus[word]")

    assert list_names(result) == ["Diabetes Complications", "Diabetes Insipidus"]
    assert sandbox.requests("esearch") == 1


def test_a_listed_record_without_a_summary_is_a_missing_record() -> None:
    body = json.dumps({"result": {"uids": ["68000001"], "68000001": {"ds_meshterms": ["Calcimycin"]}}}).encode()
    services = Canned(esearch=[write_esearch_xml(0), write_esearch_xml(2, ["68000001", "68000002"])], esummary=body)
    result = run_canned(services, MESH, query="x")

    assert result.missing_uids == ["68000002"]
    assert isinstance(result.missing_error(), UpstreamError)


def test_an_upstream_failure_is_not_an_empty_result() -> None:
    with pytest.raises(UpstreamError):
        run_canned(Canned(esearch=UpstreamError("down")), MESH, query="x")


@pytest.mark.parametrize(
    ("uid", "ui"),
    [
        ("68003924", "D003924"),
        ("81000379", "Q000379"),
        ("67535339", "C535339"),
        ("2010029", "2010029"),
        ("6800", "6800"),
    ],
)
def test_an_entrez_uid_is_decoded_only_if_it_has_the_right_form(uid: str, ui: str) -> None:
    assert decode_ui(uid) == ui


def test_a_record_has_the_fields_of_its_summary() -> None:
    record = build_mesh_record(
        "68000001",
        {
            "ds_meshterms": ["Calcimycin", "A-23187"],
            "ds_scopenote": " An ionophore.",
            "ds_idxlinks": [{"treenum": "D03.633", "parent": 1, "children": []}, {"treenum": "@1234"}, None],
        },
    )

    assert (record.ui, record.name, record.entry_terms) == ("D000001", "Calcimycin", ["A-23187"])
    assert (record.scope_note, record.tree_numbers) == ("An ionophore.", ["D03.633"])
    odd = build_mesh_record("68000001", {"ds_meshterms": "Calcimycin", "ds_idxlinks": 7, "ds_scopenote": None})
    assert (odd.name, odd.tree_numbers, odd.scope_note) == ("Calcimycin", [], None)


def test_pages_have_no_duplicates_if_a_synonym_is_the_name_of_another_heading(
    sandbox: Sandbox, kit_for: KitFor
) -> None:
    sandbox.register(
        MeshDatabase(
            [
                MeshEntry("Cold", uid="68000001", ui="D000001"),
                MeshEntry("Common Cold", (), ("Cold",), uid="68000002", ui="D000002"),
            ]
            + [MeshEntry(f"Cold thing {n}", uid=f"6800010{n}", ui=f"D00010{n}") for n in range(5)]
        )
    )
    kit = kit_for(sandbox)
    pages = [call_operation(kit, MESH, query="cold", max_results=3, offset=offset) for offset in (0, 3, 6)]

    found = [record.ui for page in pages for record in page.results]
    assert len(found) == len(set(found)) == 7


@pytest.mark.parametrize("arguments", [{"query": " "}, {"query": "x", "max_results": 51}, {"query": "x", "offset": -1}])
def test_invalid_arguments_are_rejected(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        MESH.build(arguments)

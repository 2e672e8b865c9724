"""The arguments that request models accept and reject."""

from typing import Any

import pytest

from entrez_kit.base.errors import EntrezKitError
from entrez_kit.base.settings import load_settings
from entrez_kit.core.operation import Operation
from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.references.files.read_csl_json import read_csl_json

REQUIRED: dict[str, Any] = {
    "query_term": "sleep",
    "query": "sleep",
    "term": "sleep",
    "source_pmid": "1",
    "entrez_id": "NCBIGene:1",
    "query_key": "k",
    "db": "gene",
    "ids": ["1"],
    "pmids": ["1"],
    "citations": [{"journal": "J"}],
    "doc_id": "pmid:1",
    "last_edat": "2024/01/01",
}


def choose_required(operation: Operation[Any, Any]) -> dict[str, Any]:
    """Return a value of each required argument."""
    names = [name for name, field in operation.request.model_fields.items() if field.is_required()]
    missing = [name for name in names if name not in REQUIRED]
    assert not missing, f"{operation.name}: REQUIRED in this file needs a value of {', '.join(missing)}"
    return {name: REQUIRED[name] for name in names}


def list_numbers() -> list[tuple[Operation[Any, Any], str]]:
    """Return every argument that takes a number."""
    found = []
    for operation in OPERATIONS:
        for name, field in operation.request.model_json_schema(by_alias=False).get("properties", {}).items():
            kinds = {field.get("type"), *(branch.get("type") for branch in field.get("anyOf", ()))}
            if kinds & {"integer", "number"}:
                found.append((operation, name))
    return found


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize(("operation", "name"), list_numbers(), ids=lambda one: getattr(one, "name", one))
def test_a_boolean_is_not_a_number(operation: Operation[Any, Any], name: str, value: bool) -> None:
    required = choose_required(operation)

    with pytest.raises(EntrezKitError) as caught:
        operation.build({**required, name: value})

    assert f"{name} must be a whole number" in caught.value.message
    assert f"(got {value})" in caught.value.message


@pytest.mark.parametrize("name", ["pmids", "ids", "source_pmid", "entrez_id"])
def test_a_boolean_is_not_an_identifier(name: str) -> None:
    taking = [operation for operation in OPERATIONS if name in operation.request.model_fields]
    assert taking

    for operation in taking:
        required = choose_required(operation)
        value = True if name.endswith(("pmid", "id")) else [True]
        with pytest.raises(EntrezKitError):
            operation.build({**required, name: value})


def test_a_boolean_is_not_a_year_volume_or_identifier_of_a_reference() -> None:
    text = (
        '[{"type": "article", "title": true, "volume": true, "PMID": true, "DOI": false, "page": true, '
        '"issued": {"date-parts": [[true]]}, "author": [true, {"family": true}]}, '
        '{"type": "article", "issued": true}]'
    )

    for reference in read_csl_json(text, "refs.json").references:
        said = {name for name, value in reference.model_dump().items() if value and name != "key"}
        assert said == set()


def test_a_boolean_is_not_a_number_of_a_project_file(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "entrez-kit.toml").write_text("ncbi_max_retries = true\n", encoding="utf-8")

    with pytest.raises(EntrezKitError, match="NCBI_MAX_RETRIES must be a whole number"):
        load_settings()

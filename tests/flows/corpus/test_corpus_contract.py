"""The requests, results and errors of the corpus, compared with the JSON Schemas and the examples of the contract."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it comes with mcp, its stubs do not
import pytest
from corpus_contract import ALIASES, ENVELOPE, EXAMPLE_REQUESTS, EXAMPLE_RESPONSES, REQUESTS, RESPONSES, check_conforms
from fixture_types import KitFor
from invented_papers import Paper, make_series, write_file
from pydantic import ValidationError

from entrez_kit import EntrezKit
from entrez_kit.base.errors import (
    EmbeddingsError,
    EntityNotFound,
    EntrezKitError,
    InvalidInput,
    InvariantFailure,
    NotConfigured,
    RateLimited,
    StoreError,
    UpstreamError,
    VectorIndexError,
)
from entrez_kit.core.operation import Operation, execute
from entrez_kit.corpus.search.ranking import ALPHA, Candidate, score_of, score_relevance
from entrez_kit.corpus.store import store_of
from entrez_kit.corpus.store.store import Store
from entrez_kit.pubmed.document_summaries import esummary_batch
from entrez_kit.python.catalogue import OPERATIONS
from entrez_kit.sandbox.server import Sandbox
from entrez_kit.server.schemas import AgentOperation
from entrez_kit.server.tools import Toolbox

CORPUS = {operation.name: operation for operation in OPERATIONS if operation.toolset == "corpus"}
TRIAL = Paper(
    384001,
    title="Once-weekly XYZ shows weight reduction vs placebo",
    abstract=[
        ("Background", "Obesity is common."),
        ("Results", "Weight loss was 12% in phase 2, against 2% with placebo."),
    ],
    journal="The New England Journal of Medicine",
    types=("Randomized Controlled Trial",),
    mesh=("Humans",),
)
tools = pytest.mark.parametrize("name", sorted(REQUESTS))


@pytest.fixture
def kit(kit_for: KitFor, tmp_path: Path) -> Iterator[EntrezKit]:
    """Return a kit with a PubMed of a dozen records that it has synced."""
    with Sandbox(corpus=[write_file(tmp_path / "pubmed", [TRIAL, *make_series(12)])], enforce_limits=False) as sandbox:
        built = kit_for(sandbox)
        built.sync_delta(query_key="all", term="all[sb]")
        yield built


def test_the_five_tools_of_the_contract_exist_under_both_names() -> None:
    assert set(CORPUS) == set(REQUESTS) == set(RESPONSES)
    assert {name: operation.aliases for name, operation in CORPUS.items()} == {
        name: (alias,) for name, alias in ALIASES.items()
    }


ADDED = {"rag_search": {"corpus", "index", "details"}, "rag_get": {"details"}}
"""Optional arguments beyond the contract; without them documents are as closed as it says."""


@tools
def test_arguments_of_agents_are_those_of_the_contract(name: str) -> None:
    ours = AgentOperation.of(CORPUS[name]).build_input_schema()
    theirs = REQUESTS[name]

    assert (ours["required"], ours["additionalProperties"]) == (theirs["required"], False)
    assert set(ours["properties"]) == set(theirs["properties"]) | ADDED.get(name, set())
    for field, schema in theirs["properties"].items():
        shown = {key: value for key, value in ours["properties"][field].items() if key != "description"}
        if (name, field) == ("corpus_checkpoint_set", "query_key"):
            shown.pop("minLength")  # an empty key could never be read back
        assert shown == schema


@pytest.mark.parametrize("name", sorted(EXAMPLE_REQUESTS))
def test_the_examples_of_requests_are_accepted(name: str) -> None:
    check_conforms(EXAMPLE_REQUESTS[name], REQUESTS[name])

    assert CORPUS[name].build(EXAMPLE_REQUESTS[name]).model_dump() == EXAMPLE_REQUESTS[name]


@pytest.mark.parametrize("name", sorted(EXAMPLE_RESPONSES))
def test_the_examples_of_responses_match_our_results(name: str) -> None:
    check_conforms(EXAMPLE_RESPONSES[name], RESPONSES[name])

    read = CORPUS[name].result.model_validate(EXAMPLE_RESPONSES[name])
    assert read.model_dump(mode="json") == EXAMPLE_RESPONSES[name]


def test_the_scores_of_the_example_are_computed_by_our_formula() -> None:
    best, second = EXAMPLE_RESPONSES["rag_search"]["results"]

    assert round(score_of(best["sim"], best["quality"]), 2) == best["score"] == 1.37
    # The example has 1.242 rounded up.
    assert score_of(second["sim"], second["quality"]) == pytest.approx(second["score"], abs=0.01)


def test_a_search_ranks_by_that_score(kit: EntrezKit) -> None:
    relevance = {hit.doc_id: hit.score for hit in kit.rag_search(query="weight", quality_bias=False).results}
    ranked = kit.rag_search(query="weight").results

    assert {hit.doc_id for hit in ranked} == set(relevance)
    assert any(hit.quality for hit in ranked)
    for hit in ranked:
        assert hit.quality is not None
        assert hit.score == pytest.approx(score_of(relevance[hit.doc_id], hit.quality), abs=1e-5)


def test_a_search_of_one_corpus_returns_only_its_records(kit: EntrezKit) -> None:
    kit.sync_delta(query_key="placebo", term="placebo")

    everywhere = {hit.doc_id for hit in kit.rag_search(query="weight OR obesity OR study", top_k=100).results}
    inside = {hit.doc_id for hit in kit.rag_search(query="weight", corpus="placebo", top_k=100).results}

    assert inside == {"pmid:384001"}
    assert inside <= everywhere
    assert kit.rag_search(query="weight", corpus="all").results


def test_camel_case_is_accepted_and_other_names_are_not(kit: EntrezKit) -> None:
    untyped_kit: Any = kit
    assert untyped_kit.rag_search(query="weight", topK=1, qualityBias=False).results
    assert untyped_kit.corpus_checkpoint_get(queryKey="all").last_edat
    with pytest.raises(InvalidInput, match="journal"):
        untyped_kit.rag_search(query="weight", journal="Cell")


WORKING: list[tuple[str, dict[str, Any]]] = [
    ("pubmed_sync_delta", {"query_key": "all", "term": "all[sb]"}),
    ("pubmed_sync_delta", {"query_key": "none", "term": "nosuchword", "overlap_days": 0}),
    ("rag_search", {"query": "weight loss placebo"}),
    ("rag_search", {"query": "weight", "top_k": 1, "quality_bias": False}),
    ("rag_search", {"query": "nosuchword"}),
    ("rag_get", {"doc_id": "pmid:384001"}),
    ("rag_get", {"doc_id": "pmid:1001"}),
    ("corpus_checkpoint_get", {"query_key": "all"}),
    ("corpus_checkpoint_get", {"query_key": "unknown"}),
    ("corpus_checkpoint_set", {"query_key": "all", "last_edat": "2024-01-05T00:00:00Z"}),
]


@pytest.mark.parametrize(("name", "arguments"), WORKING)
def test_requests_and_responses_match_the_schemas_of_the_contract(
    kit: EntrezKit, name: str, arguments: dict[str, Any]
) -> None:
    check_conforms(arguments, REQUESTS[name])

    check_conforms(CORPUS[name].run(kit.services, arguments).model_dump(mode="json"), RESPONSES[name])


def get_listed_schema(name: str) -> dict[str, Any]:
    """Return the output schema that agents get."""
    tools = Toolbox(OPERATIONS).list_tools(scopes=None, protocol_version="2025-11-25")
    schema = next(tool.output_schema for tool in tools if tool.name == name)
    assert schema is not None
    return schema


def list_objects(document: Any) -> Iterator[dict[str, Any]]:
    """Return every object in a document."""
    if isinstance(document, dict):
        yield document
    for inner in document.values() if isinstance(document, dict) else document if isinstance(document, list) else ():
        yield from list_objects(inner)


def assert_as_closed(ours: dict[str, Any], theirs: dict[str, Any], beyond: set[str]) -> None:
    """Compare an output schema with the contract's at every level."""
    if theirs["type"] == "object":
        assert ours["additionalProperties"] is False
        assert set(ours["properties"]) - beyond == set(theirs["properties"])
        for name, inner in theirs["properties"].items():
            assert_as_closed(ours["properties"][name], inner, beyond)
    elif theirs["type"] == "array" and theirs["items"]["type"] == "object":
        assert_as_closed(ours["items"], theirs["items"], beyond)
    else:
        kinds, admitted = ({kind} if isinstance(kind, str) else set(kind) for kind in (ours["type"], theirs["type"]))
        assert kinds <= admitted | ({"integer"} if "number" in admitted else set())


@pytest.mark.long
@tools
def test_output_schemas_are_as_closed_as_the_contract(name: str) -> None:
    # `standing` comes on request alone; an error has the envelope's one member.
    on_request = {"title", "year", "retraction_status", "snippet"} if name == "rag_search" else set()
    assert_as_closed(get_listed_schema(name), RESPONSES[name], {"error", "standing", *on_request})


@pytest.mark.long
@pytest.mark.parametrize(("name", "arguments"), WORKING)
def test_a_document_matches_its_output_schema_and_a_further_member_is_rejected(
    kit: EntrezKit, name: str, arguments: dict[str, Any]
) -> None:
    document = CORPUS[name].run(kit.services, arguments).model_dump(mode="json")
    schema = get_listed_schema(name)

    check_conforms(document, schema)
    for place in list_objects(document):
        place["further"] = 1
        for closed in (schema, RESPONSES[name]):
            with pytest.raises(jsonschema.ValidationError, match="further"):
                check_conforms(document, closed)
        with pytest.raises(ValidationError, match="further"):
            CORPUS[name].result.model_validate(document)
        del place["further"]


@pytest.mark.long
@tools
def test_an_output_schema_allows_the_envelope(name: str) -> None:
    check_conforms(CORPUS[name].error_document(InvalidInput("no")), get_listed_schema(name))


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("pubmed_sync_delta", {"query_key": "k"}),
    ("pubmed_sync_delta", {"query_key": "", "term": "x"}),
    ("pubmed_sync_delta", {"query_key": "k", "term": ""}),
    ("pubmed_sync_delta", {"query_key": "k", "term": "x", "overlap_days": -1}),
    ("pubmed_sync_delta", {"query_key": "k", "term": "x", "replace_term": True}),
    ("rag_search", {}),
    ("rag_search", {"query": ""}),
    ("rag_search", {"query": "x", "top_k": 0}),
    ("rag_search", {"query": "x", "top_k": 101}),
    ("rag_search", {"query": "x", "index": "elsewhere"}),
    ("rag_search", {"query": "x", "journal": "Cell"}),
    ("rag_get", {"doc_id": "384001"}),
    ("rag_get", {"doc_id": "pmid:"}),
    ("rag_get", {"doc_id": "pmid:1 "}),
    ("corpus_checkpoint_get", {"query_key": ""}),
    ("corpus_checkpoint_get", {}),
    ("corpus_checkpoint_set", {"query_key": "k"}),
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "arguments"), REFUSED)
def test_arguments_that_the_contract_rejects_are_rejected_in_its_envelope(
    kit: EntrezKit, name: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(jsonschema.ValidationError):
        check_conforms(arguments, REQUESTS[name])

    envelope = get_envelope(CORPUS[name], kit, arguments)
    assert envelope["error"]["code"] == "VALIDATION"
    assert envelope["error"]["details"]["recovery_hint"]


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("pubmed_sync_delta", {"query_key": "all", "term": "another"}, "VALIDATION"),
        ("pubmed_sync_delta", {"query_key": "k", "term": "(x"}, "VALIDATION"),
        ("rag_search", {"query": "weight", "corpus": "nosuch"}, "NOT_FOUND"),
        ("rag_search", {"query": "weight", "index": "weaviate"}, "VALIDATION"),
        ("rag_get", {"doc_id": "pmid:5"}, "NOT_FOUND"),
        ("corpus_checkpoint_set", {"query_key": "k", "last_edat": "soon"}, "VALIDATION"),
        ("corpus_checkpoint_set", {"query_key": "k", "last_edat": "2999-01-01"}, "VALIDATION"),
    ],
)
def test_other_errors_have_the_contracts_codes(kit: EntrezKit, name: str, arguments: dict[str, Any], code: str) -> None:
    assert get_envelope(CORPUS[name], kit, arguments)["error"]["code"] == code


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RateLimited("no"), "RATE_LIMIT"),
        (UpstreamError("no"), "UPSTREAM"),
        (UpstreamError("no", details={"service": "eutils", "reason": "invalid_response"}), "ENTREZ"),
        (InvalidInput("no"), "VALIDATION"),
        (NotConfigured("no"), "VALIDATION"),
        (EntityNotFound("no"), "NOT_FOUND"),
        (InvariantFailure("no"), "INVARIANT_FAILURE"),
        (StoreError("no"), "STORE"),
        (EmbeddingsError("no"), "EMBEDDINGS"),
        (VectorIndexError("no"), "WEAVIATE"),
        (EntrezKitError("no"), "UNKNOWN"),
    ],
)
@tools
def test_every_error_of_every_tool_matches_the_envelope(name: str, error: EntrezKitError, code: str) -> None:
    document = CORPUS[name].error_document(error)

    check_conforms(document, ENVELOPE)
    assert document["error"]["code"] == code


def test_a_corpus_that_cannot_be_read_is_a_store_error(kit: EntrezKit) -> None:
    path = store_of(kit.services).path
    store_of(kit.services).close()
    path.write_bytes(b"no database at all, but long enough to look at" * 40)

    assert get_envelope(CORPUS["rag_search"], kit, {"query": "x"})["error"]["code"] == "STORE"


def test_a_first_sync_of_very_many_records_is_refused_for_agents(
    kit: EntrezKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entrez_kit.corpus.operations.MAX_NEW_FOR_AGENTS", 12)
    arguments: dict[str, Any] = {"query_key": "new", "term": "all[sb]"}

    refused = Toolbox(OPERATIONS).call(kit.services, "pubmed_sync_delta", arguments)
    assert refused.is_error
    check_conforms(refused.structured_content, ENVELOPE)
    error = (refused.structured_content or {})["error"]
    assert error["code"] == "VALIDATION"
    assert "entrez-kit corpus sync new 'all[sb]'" in error["details"]["recovery_hint"]
    assert store_of(kit.services).get_checkpoint("new") is None

    assert kit.sync_delta(**arguments).pmids_processed == 13


@pytest.mark.parametrize(
    ("sim", "bm25", "hybrid", "relevance"),
    [
        (None, 10.0, False, 1.0),
        (None, 5.0, False, 0.5),
        (None, None, False, 0.0),
        (0.8, 10.0, True, ALPHA * 0.8 + (1 - ALPHA)),
        (0.8, None, True, ALPHA * 0.8),
        (None, 5.0, True, (1 - ALPHA) * 0.5),
        (-0.3, None, True, 0.0),
        (1.0000001, 10.0, True, 1.0),
    ],
)
def test_relevance_is_between_0_and_1_for_any_scores(
    sim: float | None, bm25: float | None, hybrid: bool, relevance: float
) -> None:
    assert score_relevance(Candidate(1, sim=sim, bm25=bm25), 10.0, hybrid=hybrid) == pytest.approx(relevance)


def get_envelope(operation: Operation[Any, Any], kit: EntrezKit, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run an operation that fails; return the error that agents and pipes get, checked against the contract."""
    outcome = execute(operation, kit.services, arguments)
    assert outcome.result is None
    assert outcome.error is not None
    document = operation.error_document(outcome.error)
    check_conforms(document, ENVELOPE)
    return document


# the internal adapters of the contract


def test_a_sync_writes_with_the_stores_own_function(kit: EntrezKit, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    upsert = Store.upsert_pubmed_docs

    def record(self: Store, docs: Any, *more: Any, **options: Any) -> Any:
        done = upsert(self, docs, *more, **options)
        written.extend([*done.inserted, *done.updated, *done.skipped])
        return done

    monkeypatch.setattr(Store, "upsert_pubmed_docs", record)

    synced = kit.sync_delta(query_key="again", term="all[sb]")

    assert len(written) == synced.pmids_processed == 13


def test_summaries_of_records_have_the_fields_of_the_contract(kit: EntrezKit) -> None:
    (known,) = esummary_batch(kit.services, ["384001", "77777777"])

    document = known.model_dump(exclude_unset=True)
    assert document["pmid"] == "384001"
    assert document["pub_types"] == ["Randomized Controlled Trial"]
    assert (document["title"], document["journal"]) == (TRIAL.title, TRIAL.journal)
    assert document["edat"].endswith("T00:00:00Z")
    allowed = {"pmid", "title", "journal", "pub_types", "pdat", "edat", "lr", "pmcid", "authors", "abstract"}
    assert set(type(known).model_fields) == allowed


def _list_wrong_values(schema: dict[str, Any]) -> list[Any]:
    """Return values that JSON Schema does not accept for an argument, however similar they look."""
    return {
        "string": [7, 7.5, True, ["text"], {"text": "text"}],
        "integer": ["5", "5.0", 5.5, True, [5]],
        "boolean": ["true", "yes", 1, 0, [True]],
    }[schema["type"]]


@tools
def test_an_argument_of_another_json_type_is_rejected_by_name(kit: EntrezKit, name: str) -> None:
    schema = AgentOperation.of(CORPUS[name]).build_input_schema()
    valid = {
        "query": "trial",
        "doc_id": "pmid:384001",
        "query_key": "all",
        "term": "all[sb]",
        "last_edat": "2024-01-01",
    }
    required = {field: valid[field] for field in schema["required"]}

    for field, part in schema["properties"].items():
        for value in _list_wrong_values(part):
            called = Toolbox([CORPUS[name]]).call(kit.services, name, {**required, field: value})
            with pytest.raises(InvalidInput) as caught:
                getattr(kit, CORPUS[name].method)(**{**required, field: value})

            assert called.is_error, (field, value)
            assert called.structured_content["error"]["code"] == "VALIDATION"
            assert called.structured_content["error"]["details"]["invalid_input"].startswith(f"{field}=")
            assert (caught.value.invalid_input or "").startswith(f"{field}=")

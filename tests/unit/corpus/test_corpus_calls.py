"""The calls of the corpus contract that read: rag_get and the checkpoints, with the contract's own examples."""

import pytest
from fixture_types import KitFor
from invented_papers import Clock, Paper, mark_deleted
from pydantic import ValidationError

from entrez_kit import EntrezKit
from entrez_kit.base.errors import EntityNotFound, InvalidInput
from entrez_kit.corpus.models import CheckpointGetRequest, CheckpointSetRequest, SyncRequest, SyncResult
from entrez_kit.corpus.operations import checkpoint_get, checkpoint_set
from entrez_kit.corpus.rag_get import RagGetRequest, rag_get
from entrez_kit.corpus.store import store_of

EXAMPLE = Paper(
    384001,
    title="Once-weekly XYZ shows weight reduction vs placebo...",
    abstract=[("Background", "..."), ("Methods", "..."), ("Results", "...")],
    journal="The New England Journal of Medicine",
    types=("Randomized Controlled Trial",),
    published=(2024, "May", 11),
    entered="2024-06-02",
    revised="2024-06-14",
    mesh=("Humans",),
)


@pytest.fixture
def kit(kit_for: KitFor) -> EntrezKit:
    built = kit_for(None)
    store_of(built.services).clock = Clock("2025-08-17T16:02:10")
    return built


def test_the_record_of_the_contract_has_the_values_of_the_contract(kit: EntrezKit) -> None:
    store_of(kit.services).upsert_pubmed_docs([EXAMPLE.article()])
    store_of(kit.services).upsert_pubmed_docs([EXAMPLE.change_with(revised="2024-06-15").article()])

    assert rag_get(kit.services, RagGetRequest(doc_id="pmid:384001")).model_dump() == {
        "doc_id": "pmid:384001",
        "title": "Once-weekly XYZ shows weight reduction vs placebo...",
        "abstract": "Background: ...\nMethods: ...\nResults: ...",
        "journal": "The New England Journal of Medicine",
        "pub_types": ["Randomized Controlled Trial"],
        "pdat": "2024-05-11",
        "edat": "2024-06-02T00:00:00Z",
        "lr": "2024-06-15T00:00:00Z",
        "pmcid": None,
        "quality": {"design": 2, "recency": 2, "journal": 2, "human": 2, "total": 8},
        "version": 2,
    }


def test_closing_the_kit_closes_the_corpus_and_a_later_call_opens_it_again(kit: EntrezKit) -> None:
    store_of(kit.services).upsert_pubmed_docs([EXAMPLE.article()])
    kit.close()

    assert not list(store_of(kit.services).path.parent.glob("corpus.db-*"))
    assert store_of(kit.services).stats().documents == 1


def test_age_lowers_the_quality_and_makes_no_version(kit: EntrezKit) -> None:
    store = store_of(kit.services)
    store.upsert_pubmed_docs([EXAMPLE.article()])
    request = RagGetRequest(doc_id="pmid:384001")
    totals = []
    for moment in ("2025-01-01T00:00:00", "2030-01-01T00:00:00", "2040-01-01T00:00:00"):
        store.clock = Clock(moment)
        found = rag_get(kit.services, request)
        totals.append((found.quality.total, found.version))

    assert totals == [(8, 1), (7, 1), (6, 1)]


def test_a_retracted_record_has_no_quality(kit: EntrezKit) -> None:
    store_of(kit.services).upsert_pubmed_docs([EXAMPLE.change_with(retracted_in="J. 2025").article()])

    assert rag_get(kit.services, RagGetRequest(doc_id="pmid:384001")).quality.total == 0


def test_a_record_that_is_not_in_the_corpus_is_not_found(kit: EntrezKit) -> None:
    with pytest.raises(EntityNotFound, match="no record 5") as caught:
        rag_get(kit.services, RagGetRequest(doc_id="pmid:5"))

    assert caught.value.invalid_input == "pmid:5"
    assert "kit.fetch_contents" in caught.value.recovery_hint


def test_a_withdrawn_record_is_not_found_and_the_error_states_the_reason(kit: EntrezKit) -> None:
    store_of(kit.services).upsert_pubmed_docs([EXAMPLE.article()])
    mark_deleted(store_of(kit.services), [384001])

    with pytest.raises(EntityNotFound, match="withdrawn") as caught:
        rag_get(kit.services, RagGetRequest(doc_id="pmid:384001"))

    assert caught.value.reason == "withdrawn"


@pytest.mark.parametrize(
    "doc_id", ["384001", "PMID:384001", "pmid:", "pmid: 5", "pmid:5\n", "pmid:٥", "pmid:0x5", "pmid:" + "9" * 40, ""]
)
def test_an_invalid_doc_id_is_rejected(doc_id: str) -> None:
    with pytest.raises(ValidationError):
        RagGetRequest(doc_id=doc_id)


def test_the_checkpoint_of_an_unknown_key_is_null(kit: EntrezKit) -> None:
    found = checkpoint_get(kit.services, CheckpointGetRequest(query_key="glp1_obesity_v1"))

    assert found.model_dump() == {"query_key": "glp1_obesity_v1", "last_edat": None}
    assert not store_of(kit.services).path.exists()


@pytest.mark.parametrize("query_key", ["", "  ", "\t"])
def test_a_blank_key_has_no_checkpoint(query_key: str) -> None:
    with pytest.raises(ValidationError):
        CheckpointGetRequest(query_key=query_key)
    with pytest.raises(ValidationError):
        CheckpointSetRequest(query_key=query_key, last_edat="2025-08-17")


def test_an_invalid_doc_id_is_explained() -> None:
    with pytest.raises(ValidationError, match="must be a PMID, such as pmid:"):
        RagGetRequest(doc_id="38400100")


def test_a_checkpoint_that_was_set_is_read_back(kit: EntrezKit) -> None:
    request = CheckpointSetRequest(query_key="glp1_obesity_v1", last_edat="2025-08-17T15:59:02Z")

    assert checkpoint_set(kit.services, request).model_dump() == {"ok": True}
    assert checkpoint_get(kit.services, CheckpointGetRequest(query_key="glp1_obesity_v1")).model_dump() == {
        "query_key": "glp1_obesity_v1",
        "last_edat": "2025-08-17T15:59:02Z",
    }
    with pytest.raises(InvalidInput):
        checkpoint_set(kit.services, CheckpointSetRequest(query_key="glp1_obesity_v1", last_edat="soon"))


def test_a_sync_request_accepts_only_the_arguments_of_the_contract() -> None:
    example = {"query_key": "glp1_obesity_v1", "term": "(GLP-1 receptor agonist) AND obesity", "overlap_days": 5}

    assert SyncRequest.model_validate(example).model_dump() == example
    assert SyncRequest(query_key="k", term="t").overlap_days == 5
    for wrong in ({"replace_term": True}, {"overlap_days": -1}, {"query_key": ""}, {"query_key": " "}, {"term": "  "}):
        with pytest.raises(ValidationError):
            SyncRequest.model_validate(example | wrong)


def test_a_sync_result_has_only_the_members_of_the_contract() -> None:
    example = {
        "job_id": "sync_2025-08-17T16:02:10Z",
        "inserted": 37,
        "updated": 12,
        "skipped": 441,
        "pmids_processed": 490,
        "max_edat_seen": "2025-08-17T15:59:02Z",
        "warnings": [],
    }

    result = SyncResult.model_validate(example)
    assert result.model_dump() == example
    assert result.missing_error() is None
    assert set(SyncResult.model_json_schema()["properties"]) == set(example)
    assert SyncResult.model_json_schema()["additionalProperties"] is False

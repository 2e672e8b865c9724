"""The corpus contract's own error envelope: closed, complete, and from one table."""

import json

import pytest

from entrez_kit.base import errors
from entrez_kit.base.errors import CORPUS_CODES, EntrezKitError, UpstreamError, corpus_envelope

CODES = {
    "RATE_LIMIT",
    "UPSTREAM",
    "VALIDATION",
    "NOT_FOUND",
    "INVARIANT_FAILURE",
    "STORE",
    "EMBEDDINGS",
    "WEAVIATE",
    "ENTREZ",
    "UNKNOWN",
}
KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, EntrezKitError)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_has_a_code_of_the_corpus_contract(kind: type[EntrezKitError]) -> None:
    envelope = corpus_envelope(kind("what happened", recovery_hint="do this", invalid_input="x=1", details={"a": 1}))

    assert set(envelope) == {"error"}
    assert set(envelope["error"]) == {"code", "message", "details"}
    assert envelope["error"]["code"] in CODES
    assert envelope["error"]["message"] == "what happened"
    assert envelope["error"]["details"] == {"a": 1, "recovery_hint": "do this", "invalid_input": "x=1"}
    json.dumps(envelope)


def test_every_code_of_the_kit_is_in_the_table() -> None:
    assert {kind.code for kind in KINDS} == set(CORPUS_CODES)


@pytest.mark.parametrize(
    ("details", "code"),
    [
        ({"service": "eutils", "reason": "invalid_response"}, "ENTREZ"),
        ({"service": "eutils", "reason": "ncbi_unreachable"}, "UPSTREAM"),
        ({"service": "idconv", "reason": "invalid_response"}, "UPSTREAM"),
        ({}, "UPSTREAM"),
    ],
)
def test_an_error_of_an_e_utility_is_distinguished_from_an_unreachable_one(details: dict[str, str], code: str) -> None:
    assert corpus_envelope(UpstreamError("no", details=details))["error"]["code"] == code

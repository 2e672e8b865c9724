"""The published corpus contract: the JSON Schemas of its tools, its error envelope and its examples."""

from typing import Any, Final

import jsonschema  # type: ignore[import-untyped]  # it comes with mcp, its stubs do not

Json = dict[str, Any]

NULLABLE_TEXT: Final[Json] = {"type": ["string", "null"]}
NULLABLE_NUMBER: Final[Json] = {"type": ["number", "null"]}
NULLABLE_INTEGER: Final[Json] = {"type": ["integer", "null"]}
COUNT: Final[Json] = {"type": "integer", "minimum": 0}
DOC_ID: Final[Json] = {"type": "string", "pattern": "^pmid:[0-9]+$"}


def _make_closed_schema(required: list[str], **properties: Json) -> Json:
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


QUALITY: Final = _make_closed_schema(
    ["total"],
    design=NULLABLE_INTEGER,
    recency=NULLABLE_INTEGER,
    journal=NULLABLE_INTEGER,
    human=NULLABLE_INTEGER,
    total={"type": "integer"},
)

REQUESTS: Final[dict[str, Json]] = {
    "pubmed_sync_delta": _make_closed_schema(
        ["query_key", "term"],
        query_key={"type": "string", "minLength": 1},
        term={"type": "string", "minLength": 1},
        overlap_days={"type": "integer", "minimum": 0, "default": 5},
    ),
    "rag_search": _make_closed_schema(
        ["query"],
        query={"type": "string", "minLength": 1},
        top_k={"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
        quality_bias={"type": "boolean", "default": True},
    ),
    "rag_get": _make_closed_schema(["doc_id"], doc_id=DOC_ID),
    "corpus_checkpoint_get": _make_closed_schema(["query_key"], query_key={"type": "string", "minLength": 1}),
    "corpus_checkpoint_set": _make_closed_schema(
        ["query_key", "last_edat"], query_key={"type": "string"}, last_edat={"type": "string"}
    ),
}

RESPONSES: Final[dict[str, Json]] = {
    "pubmed_sync_delta": _make_closed_schema(
        ["job_id", "inserted", "updated", "skipped", "pmids_processed"],
        job_id={"type": "string"},
        inserted=COUNT,
        updated=COUNT,
        skipped=COUNT,
        pmids_processed=COUNT,
        max_edat_seen=NULLABLE_TEXT,
        warnings={"type": "array", "items": {"type": "string"}},
    ),
    "rag_search": _make_closed_schema(
        ["results"],
        results={
            "type": "array",
            "items": _make_closed_schema(
                ["doc_id", "uuid", "score"],
                doc_id=DOC_ID,
                uuid={"type": "string", "minLength": 10},
                sim=NULLABLE_NUMBER,
                bm25=NULLABLE_NUMBER,
                quality=NULLABLE_NUMBER,
                score={"type": "number"},
            ),
        },
    ),
    "rag_get": _make_closed_schema(
        ["doc_id", "title", "journal", "pub_types", "quality", "version"],
        doc_id={"type": "string"},
        title=NULLABLE_TEXT,
        abstract=NULLABLE_TEXT,
        journal=NULLABLE_TEXT,
        pub_types={"type": "array", "items": {"type": "string"}},
        pdat=NULLABLE_TEXT,
        edat=NULLABLE_TEXT,
        lr=NULLABLE_TEXT,
        pmcid=NULLABLE_TEXT,
        quality=QUALITY,
        version={"type": "integer", "minimum": 1},
    ),
    "corpus_checkpoint_get": _make_closed_schema(["query_key"], query_key={"type": "string"}, last_edat=NULLABLE_TEXT),
    "corpus_checkpoint_set": _make_closed_schema(["ok"], ok={"type": "boolean"}),
}

ENVELOPE: Final = _make_closed_schema(
    ["error"],
    error=_make_closed_schema(
        ["code", "message"],
        code={
            "type": "string",
            "enum": [
                *("RATE_LIMIT", "UPSTREAM", "VALIDATION", "NOT_FOUND", "INVARIANT_FAILURE", "STORE", "EMBEDDINGS"),
                *("WEAVIATE", "ENTREZ", "UNKNOWN"),
            ],
        },
        message={"type": "string"},
        details={"type": ["object", "array", "string", "null"]},
    ),
)

ALIASES: Final = {
    "pubmed_sync_delta": "pubmed.sync_delta",
    "rag_search": "rag.search",
    "rag_get": "rag.get",
    "corpus_checkpoint_get": "corpus.checkpoint.get",
    "corpus_checkpoint_set": "corpus.checkpoint.set",
}

EXAMPLE_REQUESTS: Final[dict[str, Json]] = {
    "pubmed_sync_delta": {
        "query_key": "glp1_obesity_v1",
        "term": "(GLP-1 receptor agonist) AND obesity",
        "overlap_days": 5,
    },
    "rag_search": {"query": "phase 2 weight loss vs placebo", "top_k": 10, "quality_bias": True},
    "rag_get": {"doc_id": "pmid:384001"},
}
EXAMPLE_RESPONSES: Final[dict[str, Json]] = {
    "pubmed_sync_delta": {
        "job_id": "sync_2025-08-17T16:02:10Z",
        "inserted": 37,
        "updated": 12,
        "skipped": 441,
        "pmids_processed": 490,
        "max_edat_seen": "2025-08-17T15:59:02Z",
        "warnings": [],
    },
    "rag_search": {
        "results": [
            {
                "doc_id": "pmid:384001",
                "uuid": "7d5c0000-0000-5000-8000-000000000001",
                "sim": 0.72,
                "bm25": 14.2,
                "quality": 9,
                "score": 1.37,
            },
            {
                "doc_id": "pmid:383912",
                "uuid": "a1b20000-0000-5000-8000-000000000002",
                "sim": 0.69,
                "bm25": 13.1,
                "quality": 8,
                "score": 1.25,
            },
        ]
    },
    "rag_get": {
        "doc_id": "pmid:384001",
        "title": "Once-weekly XYZ shows weight reduction vs placebo...",
        "abstract": "Background: ... Methods: ... Results: ...",
        "journal": "The New England Journal of Medicine",
        "pub_types": ["Randomized Controlled Trial"],
        "pdat": "2024-05-11",
        "edat": "2024-06-02T00:00:00Z",
        "lr": "2024-06-15T00:00:00Z",
        "pmcid": "PMC1234567",
        "quality": {"design": 2, "recency": 2, "journal": 2, "human": 2, "total": 8},
        "version": 2,
    },
}
"""As published; the two abbreviated uuids are complete, because the schema requires ten characters."""


def check_conforms(document: Any, schema: Json) -> None:
    """Check a document against a schema of the contract."""
    jsonschema.validate(document, schema, cls=jsonschema.Draft202012Validator)

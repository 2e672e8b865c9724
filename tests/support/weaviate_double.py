"""A simulated Weaviate server on loopback: REST for the schema, gRPC for data, as much as the tests need.

Tests choose its failures, and read the requests that it received. The tests in ``test_weaviate`` also run with a real
server, if there is one.
"""

import json
import math
import re
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler
from typing import Any
from uuid import UUID

import grpc
import pytest
from project_paths import DATA
from weaviate.proto.v1 import (
    aggregate_pb2,
    base_pb2,
    batch_delete_pb2,
    batch_pb2,
    properties_pb2,
    search_get_pb2,
    weaviate_pb2_grpc,
)

from entrez_kit.local.eutils.listener import LoopbackServer

VERSION = "1.35.2"
MAX_RESULTS = 10_000
USUAL_RESULTS = 25
_ONE_VECTOR = base_pb2.Vectors.VECTOR_TYPE_SINGLE_FP32


@dataclass
class StoredObject:
    """One object."""

    properties: dict[str, Any]
    vector: list[float] | None


@dataclass
class Collection:
    """One collection: the schema that the server returns, and its objects by uuid."""

    schema: dict[str, Any]
    objects: dict[str, StoredObject] = field(default_factory=dict)
    dim: int | None = None

    def kind(self, name: str) -> str:
        """Return the data type of a property."""
        return next((str(p["dataType"][0]) for p in self.schema["properties"] if p["name"] == name), "text")


class WeaviateDouble:
    """The server. Attributes beginning with ``fail`` make it misbehave.

    Args:
        key: the only accepted key; None accepts every caller.
    """

    def __init__(self, key: str | None = None) -> None:
        self.key = key
        self.collections: dict[str, Collection] = {}
        self.requests: list[tuple[str, Any]] = []
        self.version = VERSION
        self.fail_status: int | None = None
        self.fail_body: str | None = None
        self.fail_objects: Callable[[str], str | None] = lambda uuid: None
        self.fail_call: Callable[[str], tuple[grpc.StatusCode, str] | None] = lambda name: None
        self.fail_slow = 0.0
        self._lock = threading.RLock()
        self._patch = pytest.MonkeyPatch()

    def __enter__(self) -> "WeaviateDouble":
        self._http = LoopbackServer(_make_handler(self))
        self._http.start()
        self.port = self._http.server_port
        self.start_grpc()
        # The library reads all certificates for each client, although this server uses none: one is enough.
        self._patch.setattr("certifi.where", lambda: str(DATA / "certificates" / "loopback.pem"))
        return self

    def __exit__(self, *exc: object) -> None:
        self._patch.undo()
        self.stop_grpc()
        self._http.end()

    @property
    def url(self) -> str:
        """Address of the REST side."""
        return f"http://127.0.0.1:{self.port}"

    def start_grpc(self) -> None:
        """Listen for gRPC on a separate port."""
        self._workers = ThreadPoolExecutor(4)
        self._grpc = grpc.server(self._workers)
        weaviate_pb2_grpc.add_WeaviateServicer_to_server(_Servicer(self), self._grpc)  # type: ignore[no-untyped-call]
        self._grpc.add_generic_rpc_handlers((_HEALTH,))
        self.grpc_port = self._grpc.add_insecure_port("127.0.0.1:0")
        self._grpc.start()

    def stop_grpc(self) -> None:
        """Stop listening for gRPC."""
        self._grpc.stop(None).wait()
        self._workers.shutdown()

    def sent(self, name: str) -> list[Any]:
        """Return the requests of one kind, unchanged."""
        return [request for kind, request in self.requests if kind == name]

    # REST

    def answer(self, method: str, path: str, body: Any, authorization: str | None) -> tuple[int, Any]:
        """Return status and document for a REST request."""
        self.requests.append((f"{method} {path}", body))
        if self.fail_slow:
            time.sleep(self.fail_slow)
        if self.key is not None and authorization != f"Bearer {self.key}":
            return 401, {"code": 401, "message": f"unauthorized: invalid api key {authorization}"}
        if self.fail_status is not None:
            return self.fail_status, {"error": [{"message": "asked to fail"}]}
        if (method, path) == ("GET", "/v1/meta"):
            return 200, {"hostname": self.url, "version": self.version, "grpcMaxMessageSize": 104858000, "modules": {}}
        if (method, path) == ("POST", "/v1/schema"):
            made = _complete_schema(body)
            self.collections[made["class"]] = Collection(made)
            return 200, made
        name = path.removeprefix("/v1/schema/")
        if method == "GET" and name in self.collections:
            return 200, self.collections[name].schema
        if method == "DELETE" and path.startswith("/v1/schema/"):
            self.collections.pop(name, None)
            return 200, None
        return 404, None

    # gRPC

    def receive(self, name: str, request: Any, context: grpc.ServicerContext) -> Collection:
        """Record a call, fail if requested, and return its collection."""
        self.requests.append((name, request))
        if self.fail_slow:
            time.sleep(self.fail_slow)
        if self.key is not None and ("authorization", f"Bearer {self.key}") not in context.invocation_metadata():
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "unauthorized: invalid api key")
        failure = self.fail_call(name)
        if failure is not None:
            context.abort(*failure)
        wanted = request.objects[0].collection if name == "BatchObjects" else request.collection
        if wanted not in self.collections:
            context.abort(grpc.StatusCode.UNKNOWN, f"could not find class {wanted} in schema")
        return self.collections[wanted]

    def insert(self, collection: Collection, item: Any) -> str | None:
        """Write an object; return the reason if it cannot be written."""
        with self._lock:
            requested = self.fail_objects(item.uuid)
            if requested is not None:
                return requested
            properties = dict(item.properties.non_ref_properties.items())
            for several in item.properties.text_array_properties:
                properties[several.prop_name] = list(several.values)
            for name, value in properties.items():
                if collection.kind(name) == "date" and not _is_moment(value):
                    return f"invalid date property {name!r}: requires a string with a RFC3339 formatted date"
            vector = _unpack(item.vectors[0].vector_bytes) if item.vectors else None
            if vector is not None:
                collection.dim = collection.dim or len(vector)
                if len(vector) != collection.dim:
                    return (
                        f"new node has a vector with length {len(vector)}. Existing nodes have vectors with length "
                        f"{collection.dim}: vector dimensions do not match the index dimensions"
                    )
            collection.objects[item.uuid] = StoredObject(properties, vector)
            return None

    def search(self, collection: Collection, request: Any) -> Iterator[tuple[str, StoredObject, dict[str, float]]]:
        """Yield the results of a search, best first, with their numbers."""
        limit = request.limit or USUAL_RESULTS
        with self._lock:
            among = {uuid: item for uuid, item in collection.objects.items() if _is_match(request, uuid, item)}
            if request.HasField("bm25_search"):
                scores = _compute_bm25(request.bm25_search.query, collection.objects)
                found = sorted((-scores[uuid], uuid) for uuid in among if uuid in scores)
                for score, uuid in found[:limit]:
                    yield uuid, among[uuid], {"score": -score}
            elif request.HasField("near_vector"):
                vector = _unpack(request.near_vector.vectors[0].vector_bytes)
                near = sorted(
                    (_compute_distance(vector, item.vector), uuid) for uuid, item in among.items() if item.vector
                )
                for distance, uuid in near[:limit]:
                    yield uuid, among[uuid], {"distance": distance}
            else:
                for uuid in sorted(uuid for uuid in among if uuid > request.after)[:limit]:
                    yield uuid, among[uuid], {}


class _Servicer(weaviate_pb2_grpc.WeaviateServicer):
    def __init__(self, double: WeaviateDouble) -> None:
        self.double = double

    def Search(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802 - named by the protocol
        collection = self.double.receive("Search", request, context)
        if request.limit > MAX_RESULTS:
            context.abort(grpc.StatusCode.UNKNOWN, "invalid pagination params: query maximum results exceeded")
        if request.HasField("near_vector") and collection.dim:
            given = len(_unpack(request.near_vector.vectors[0].vector_bytes))
            if given != collection.dim:
                context.abort(
                    grpc.StatusCode.UNKNOWN,
                    f"distance between entrypoint and query node: {collection.dim} vs {given}: vector lengths don't "
                    "match",
                )
        reply = search_get_pb2.SearchReply()
        for uuid, item, numbers in self.double.search(collection, request):
            result = reply.results.add()
            result.metadata.id = uuid
            result.metadata.id_as_bytes = UUID(uuid).bytes
            for name, number in numbers.items():
                setattr(result.metadata, name, number)
                setattr(result.metadata, f"{name}_present", True)
            if request.metadata.vector and item.vector is not None:
                result.metadata.vectors.add(name="default", vector_bytes=_pack(item.vector), type=_ONE_VECTOR)
            for name in request.properties.non_ref_properties:
                value = _get_value(collection.kind(name), item.properties.get(name))
                result.properties.non_ref_props.fields[name].CopyFrom(value)
        return reply

    def BatchObjects(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        collection = self.double.receive("BatchObjects", request, context)
        reply = batch_pb2.BatchObjectsReply()
        for place, item in enumerate(request.objects):
            why = self.double.insert(collection, item)
            if why is not None:
                reply.errors.add(index=place, error=why)
        return reply

    def BatchDelete(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        collection = self.double.receive("BatchDelete", request, context)
        reply = batch_delete_pb2.BatchDeleteReply()
        for uuid, item in list(collection.objects.items()):
            if _is_match(request, uuid, item):
                why = self.double.fail_objects(uuid)
                reply.objects.add(uuid=UUID(uuid).bytes, successful=why is None, error=why or "")
                reply.matches += 1
                if why is None:
                    del collection.objects[uuid]
                    reply.successful += 1
        return reply

    def Aggregate(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        collection = self.double.receive("Aggregate", request, context)
        reply = aggregate_pb2.AggregateReply()
        reply.single_result.objects_count = len(collection.objects)
        return reply


def _report_health(request: bytes, context: grpc.ServicerContext) -> bytes:
    return b"\x08\x01"  # status: SERVING


_HEALTH = grpc.method_handlers_generic_handler(
    "grpc.health.v1.Health", {"Check": grpc.unary_unary_rpc_method_handler(_report_health)}
)


def _make_handler(double: WeaviateDouble) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, document = double.answer(
                self.command, self.path, json.loads(body) if body else None, self.headers.get("Authorization")
            )
            content = b"" if document is None else json.dumps(document).encode()
            if double.fail_body is not None:
                content = double.fail_body.encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = _serve  # noqa: N815 - named by http.server

        def log_message(self, format: str, *args: Any) -> None:
            """Print nothing."""

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:  # a client that no longer waits
                self.close_connection = True

    return Handler


# How it thinks -------------------------------------------------------------------------------------------------------


def _complete_schema(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with the defaults of the server."""
    properties = [
        {
            "indexFilterable": True,
            "indexRangeFilters": False,
            "indexSearchable": item["dataType"][0].startswith("text"),
            **item,
        }
        for item in given["properties"]
    ]
    vectors = {
        name: {
            **how,
            "vectorIndexConfig": {
                "cleanupIntervalSeconds": 300,
                "distance": "cosine",
                "dynamicEfFactor": 8,
                "dynamicEfMax": 500,
                "dynamicEfMin": 100,
                "ef": -1,
                "efConstruction": 128,
                "filterStrategy": "acorn",
                "flatSearchCutoff": 40000,
                "maxConnections": 32,
                "skip": False,
                "vectorCacheMaxObjects": 1000000000000,
                "pq": {"enabled": False},
                "bq": {"enabled": False},
                "sq": {"enabled": False},
                **how["vectorIndexConfig"],
            },
        }
        for name, how in given["vectorConfig"].items()
    }
    return {
        "description": "",
        "invertedIndexConfig": {
            "bm25": {"b": 0.75, "k1": 1.2},
            "cleanupIntervalSeconds": 60,
            "stopwords": {"additions": None, "preset": "en", "removals": None},
        },
        "multiTenancyConfig": {"autoTenantActivation": False, "autoTenantCreation": False, "enabled": False},
        "replicationConfig": {"asyncEnabled": False, "deletionStrategy": "NoAutomatedResolution", "factor": 1},
        "shardingConfig": {
            "actualCount": 1,
            "actualVirtualCount": 128,
            "desiredCount": 1,
            "desiredVirtualCount": 128,
            "function": "murmur3",
            "key": "_id",
            "strategy": "hash",
            "virtualPerPhysical": 128,
        },
        **given,
        "properties": properties,
        "vectorConfig": vectors,
    }


def _is_match(request: Any, uuid: str, item: StoredObject) -> bool:
    if not request.HasField("filters"):
        return True
    wanted = request.filters
    assert wanted.operator == wanted.OPERATOR_CONTAINS_ANY, "the double knows no other filter"
    name = wanted.target.property
    return (uuid if name == "_id" else item.properties.get(name)) in wanted.value_text_array.values


def _get_value(kind: str, value: Any) -> properties_pb2.Value:
    if value is None:
        return properties_pb2.Value(null_value="NULL_VALUE")
    if kind == "int":
        return properties_pb2.Value(int_value=int(value))
    return properties_pb2.Value(text_value=value)


def _compute_bm25(query: str, objects: Mapping[str, StoredObject]) -> dict[str, float]:
    requested = set(_list_words(query))
    texts = {uuid: Counter(_list_words(str(item.properties.get("text", "")))) for uuid, item in objects.items()}
    mean = sum(map(Counter.total, texts.values())) / max(1, len(texts))
    scores: dict[str, float] = {}
    for word in requested:
        having = [uuid for uuid, words in texts.items() if word in words]
        idf = math.log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        for uuid in having:
            often = texts[uuid][word]
            part = often / (often + 1.2 * (0.25 + 0.75 * texts[uuid].total() / mean))
            scores[uuid] = scores.get(uuid, 0.0) + idf * part
    return scores


def _list_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _unpack(raw: bytes) -> list[float]:
    return list(struct.unpack(f"<{len(raw) // 4}f", raw))


def _pack(vector: list[float]) -> bytes:
    return struct.pack(f"<{len(vector)}f", *vector)


def _compute_distance(one: list[float], other: list[float] | None) -> float:
    assert other is not None
    lengths = math.hypot(*one) * math.hypot(*other)
    return 1 - sum(a * b for a, b in zip(one, other, strict=True)) / lengths


def _is_moment(value: Any) -> bool:
    try:
        datetime.fromisoformat(value)
    except (ValueError, TypeError):
        return False
    return "T" in value

"""WeaviateIndex: the passages of a corpus in one collection of a Weaviate server.

Every passage is one object with its uuid from the corpus, so that writing it twice has no effect. The corpus supplies
the vectors; the collection has no vectorizer. A hybrid search sends one query by words and one by vector, because the
server's own hybrid search returns only a combined score: ``bm25`` is its BM25 over the passages, ``sim`` the cosine
similarity.

The description of the collection names the model of its vectors. A collection without such a description belongs to
another program; it is neither written to nor dropped.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NotRequired, TypedDict

from entrez_kit.base.errors import LocalIndexError
from entrez_kit.base.frontend_text import FrontendText, Text
from entrez_kit.base.redaction import Redactor
from entrez_kit.base.settings import Settings
from entrez_kit.corpus.chunking import chunk_uuid
from entrez_kit.corpus.search.ranking import Candidate, score_relevance
from entrez_kit.corpus.weaviate.client import REBUILD, ask, connect, read_server, to_class_name
from entrez_kit.corpus.weaviate.passages import PROPERTIES, VECTOR, VectorSource, build_schema, read_vector

if TYPE_CHECKING:
    from weaviate import WeaviateClient
    from weaviate.collections import Collection

    from entrez_kit.corpus.embeddings import Embedder

BATCH: Final = 200
"""Objects per request."""
MAX_HITS: Final = 10_000
"""The maximum number of results of a server (its QUERY_MAXIMUM_RESULTS)."""


@dataclass(slots=True)
class BatchResult:
    """The outcomes of passages: the uuids stored, and the reasons for the others."""

    done: list[str] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)


class SearchHit(TypedDict):
    """A passage that a hybrid search found.

    ``bm25`` is absent if the words did not match, ``sim`` in an index without vectors. ``quality`` is the quality of
    the record when the passage was delivered.
    """

    uuid: str
    pmid: str
    sim: NotRequired[float]
    bm25: NotRequired[float]
    quality: NotRequired[int]


class WeaviateIndex:
    """One collection of a Weaviate server. It connects when first used; close it, or use it as a context manager.

    Every method that sends a request raises ``VectorIndexError`` if the server does not answer or refuses, and
    ``LocalIndexError`` if it cannot be used with these settings.

    Args:
        settings: server, key, collection and timeout.
        embedder: embeds queries; None for an index of words only.
        dim: the dimension of its vectors, if known.

    Raises:
        NotConfigured: no server is configured, or a setting is invalid.
    """

    def __init__(self, settings: Settings, embedder: "Embedder | None" = None, *, dim: int | None = None) -> None:
        self.name = to_class_name(settings)
        self.server = read_server(settings)
        self._settings = settings
        self._redactor = Redactor(settings.secrets)
        self._embedder = embedder
        self._dim = dim
        self._client: WeaviateClient | None = None
        self._embedded: dict[str, list[float]] = {}

    def __enter__(self) -> "WeaviateIndex":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; a later use opens it again."""
        client, self._client = self._client, None
        self.__dict__.pop("_collection", None)
        if client is not None:
            client.close()

    # the collection

    @cached_property
    def vectors(self) -> VectorSource:
        """The model and dimension of this index's vectors."""
        if self._embedder is None:
            return VectorSource(None, None)
        return VectorSource(self._embedder.name, self._dim if self._dim is not None else self._embedder.dim)

    def exists(self) -> bool:
        """Return whether the collection exists."""
        return bool(self._send(lambda: self._connection.collections.exists(self.name)))

    def ensure_schema(self) -> None:
        """Create the collection, or check that the existing one can be used for this corpus.

        Raises:
            LocalIndexError: another program created it, it lacks properties, or it has vectors of a different model.
        """
        if not self.exists():
            schema = build_schema(self.name, self.vectors)
            self._send(lambda: self._connection.collections.create_from_dict(schema))
            return
        self.check(writing=True)

    def check(self, *, writing: bool = False) -> None:
        """Check that the collection exists and can be searched or written.

        Raises:
            LocalIndexError: it does not exist, another program created it, or it has vectors of a different model.
        """
        stored_vectors = self.read_vector_source()
        if stored_vectors == self.vectors or (self._embedder is None and not writing):
            return
        raise self._collection_error(
            f"has vectors of {stored_vectors.name}, not of {self.vectors.name}",
            "model_changed",
            FrontendText(REBUILD, ", or set ENTREZ_KIT_EMBEDDINGS to its former value."),
            model=self.vectors.model,
            held=stored_vectors.model,
        )

    def read_vector_source(self) -> VectorSource:
        """Return the model and dimension of the collection's vectors.

        Raises:
            LocalIndexError: it does not exist, entrez-kit did not create it, or it lacks properties.
        """
        if not self.exists():
            raise self._collection_error("does not exist", "no_collection", FrontendText(REBUILD, "."))
        config = self._send(lambda: self._collection.config.get(simple=True))
        stored_vectors = VectorSource.parse(config.description)
        if stored_vectors is None:
            raise self._collection_error(
                "was not created by entrez-kit, so it was not changed",
                "foreign_collection",
                "Choose another name with WEAVIATE_CLASS.",
            )
        kinds = {item.name: item.data_type.value for item in config.properties}
        missing = [name for name, how in PROPERTIES.items() if kinds.get(name) != how["dataType"][0]]
        if missing:
            raise self._collection_error(
                f"lacks properties that this version of entrez-kit needs ({', '.join(missing)})",
                "schema_differs",
                FrontendText(REBUILD, "."),
                properties=missing,
            )
        return stored_vectors

    def drop(self) -> None:
        """Delete the collection and its content.

        Raises:
            LocalIndexError: entrez-kit did not create it.
        """
        try:
            self.read_vector_source()
        except LocalIndexError as exc:
            if exc.reason == "no_collection":
                return
            if exc.reason != "schema_differs":
                raise
        self._send(lambda: self._connection.collections.delete(self.name))

    def count(self) -> int:
        """Return the number of passages in the collection."""
        return int(self._send(lambda: self._collection.aggregate.over_all(total_count=True)).total_count or 0)

    def yield_uuids(self) -> Iterator[str]:
        """Yield the uuid of every passage in the collection."""
        objects = self._send(lambda: iter(self._collection.iterator(return_properties=[], cache_size=1_000)))
        while (item := self._send(lambda: next(objects, None))) is not None:
            yield str(item.uuid)

    # writing

    def upsert_chunks(self, chunks: Iterable[Mapping[str, Any]]) -> BatchResult:
        """Write passages under their uuids; existing ones are replaced.

        Args:
            chunks: ``pmid``, ``chunk_id``, ``text``, ``vector`` (unless the index is of words only), and any other of
                ``PROPERTIES``.
        """
        from weaviate.classes.data import DataObject

        result, objects = BatchResult(), []
        for chunk in chunks:
            uuid = chunk_uuid(chunk.get("pmid", ""), chunk.get("chunk_id", ""))
            try:
                vector = read_vector(chunk, self.vectors.dim)
            except ValueError as exc:
                result.errors[uuid] = str(exc)
                continue
            properties = {name: chunk[name] for name in PROPERTIES if chunk.get(name) is not None}
            properties["pmid"] = str(chunk["pmid"])
            objects.append(
                DataObject(uuid=uuid, properties=properties, vector=None if vector is None else {VECTOR: vector})
            )
            if len(objects) == BATCH:
                self._insert_objects(objects, result)
                objects = []
        self._insert_objects(objects, result)
        return result

    def _insert_objects(self, objects: Sequence[Any], result: BatchResult) -> None:
        if not objects:
            return
        from weaviate.exceptions import WeaviateInsertManyAllFailedError

        def insert() -> dict[int, str]:
            try:
                answer = self._collection.data.insert_many(objects)
            except WeaviateInsertManyAllFailedError as exc:
                why = exc.message.partition("Here is the set of all errors:")[2] or exc.message
                return dict.fromkeys(range(len(objects)), why)
            return {place: error.message for place, error in answer.errors.items()}

        refused = self._send(insert)
        for place, item in enumerate(objects):
            if place in refused:
                result.errors[str(item.uuid)] = self._redactor.quote_text(refused[place])
            else:
                result.done.append(str(item.uuid))

    def delete(self, uuids: Sequence[str]) -> BatchResult:
        """Delete passages; missing ones count as deleted."""
        from weaviate.classes.query import Filter

        result = BatchResult()
        for start in range(0, len(uuids), BATCH):
            batch = list(uuids[start : start + BATCH])

            def remove(batch: list[str] = batch) -> dict[str, str]:
                answer = self._collection.data.delete_many(where=Filter.by_id().contains_any(batch), verbose=True)
                return {str(item.uuid): item.error or "not deleted" for item in answer.objects if not item.successful}

            refused = self._send(remove)
            result.errors |= {uuid: self._redactor.quote_text(why) for uuid, why in refused.items()}
            result.done += [uuid for uuid in batch if uuid not in refused]
        return result

    # searching

    def search(self, query: str, limit: int, pmids: Sequence[int] | None = None) -> list[SearchHit]:
        """Return the passages that match a query by words and, with an embedder, by meaning; best first.

        A record found only by words also gets a similarity.

        Args:
            query: question or words.
            limit: the maximum number of passages.
            pmids: search only the passages of these records.

        Raises:
            EmbeddingsError: the query could not be embedded.
        """
        hits = {hit.uuid: hit for hit in self.search_by_words(query, limit, pmids)}
        if self._embedder is not None:
            if query not in self._embedded:
                self._embedded = {query: self._embedder.embed([query])[0]}
            vector = self._embedded[query]
            near = self.search_by_meaning(vector, limit, pmids)
            if by_words_alone := sorted({hit.pmid for hit in hits.values()} - {hit.pmid for hit in near}):
                near += self.search_by_meaning(vector, MAX_HITS, by_words_alone)
            for hit in near:
                hits.setdefault(hit.uuid, hit).sim = hit.sim
        best = max((hit.bm25 for hit in hits.values() if hit.bm25), default=0.0)
        hybrid = self._embedder is not None
        ordered = sorted(hits.values(), key=lambda hit: -score_relevance(hit, best, hybrid=hybrid))
        return [_to_hit(candidate) for candidate in ordered[:limit]]

    def search_by_words(self, query: str, limit: int, pmids: Sequence[int] | None = None) -> list[Candidate]:
        """Return the passages with the highest BM25; only of ``pmids`` if given."""
        from weaviate.classes.query import MetadataQuery

        requested = {"query_properties": ["text"], "return_metadata": MetadataQuery(score=True)}
        items = self._run_search(lambda: self._collection.query.bm25, query, limit, pmids, requested)
        return [_to_candidate(item, bm25=item.metadata.score) for item in items]

    def search_by_meaning(
        self, vector: Sequence[float], limit: int, pmids: Sequence[int] | None = None
    ) -> list[Candidate]:
        """Return the nearest passages to a vector; only of ``pmids`` if given."""
        from weaviate.classes.query import MetadataQuery

        requested = {"return_metadata": MetadataQuery(distance=True)}
        items = self._run_search(lambda: self._collection.query.near_vector, list(vector), limit, pmids, requested)
        return [_to_candidate(item, sim=1 - (item.metadata.distance or 0.0)) for item in items]

    def _run_search(
        self, search: Callable[[], Any], target: Any, limit: int, pmids: Sequence[int] | None, options: dict[str, Any]
    ) -> Any:
        from weaviate.classes.query import Filter

        options |= {"limit": min(limit, MAX_HITS), "return_properties": ["pmid", "quality_total"]}
        if pmids is not None:
            options["filters"] = Filter.by_property("pmid").contains_any([str(pmid) for pmid in pmids])
        return self._send(lambda: search()(target, **options)).objects

    # helpers

    @property
    def _connection(self) -> "WeaviateClient":
        if self._client is None:
            self._client = connect(self._settings)
        return self._client

    @cached_property
    def _collection(self) -> "Collection[Any, Any]":
        return self._connection.collections.get(self.name)

    def _send(self, question: "Callable[[], Any]") -> Any:
        return ask(self._settings, question)

    def _collection_error(self, problem: str, reason: str, hint: Text, **details: object) -> LocalIndexError:
        return LocalIndexError(
            f"The collection {self.name} of {self.server.name} {problem}.",
            recovery_hint=hint,
            details={"reason": reason, "collection": self.name, **details},
        )


def _to_hit(candidate: Candidate) -> SearchHit:
    hit = SearchHit(uuid=candidate.uuid or "", pmid=str(candidate.pmid))
    if candidate.sim is not None:
        hit["sim"] = candidate.sim
    if candidate.bm25 is not None:
        hit["bm25"] = candidate.bm25
    if candidate.quality is not None:
        hit["quality"] = candidate.quality
    return hit


def _to_candidate(item: Any, **numbers: float) -> Candidate:
    quality = item.properties.get("quality_total")
    quality = None if quality is None else int(quality)
    return Candidate(int(item.properties["pmid"]), str(item.uuid), quality=quality, **numbers)

"""The schema of the collection: the properties and the vector of a passage, and the model that created the vectors."""

import math
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from entrez_kit.base.frontend_text import format_count

VECTOR: Final = "default"
"""Weaviate's name for the only vector of an object."""

_TEXT: Final = {"dataType": ["text"], "tokenization": "field", "indexSearchable": False}
_SHOWN: Final = {"indexFilterable": False}
PROPERTIES: Final[Mapping[str, Mapping[str, Any]]] = {
    "pmid": _TEXT,
    "chunk_id": {**_TEXT, **_SHOWN},
    "text": {"dataType": ["text"], "tokenization": "word", "indexSearchable": True, "indexFilterable": False},
    "journal": _TEXT,
    "pub_types": {**_TEXT, "dataType": ["text[]"]},
    "year": {"dataType": ["int"]},
    "quality_total": {"dataType": ["int"]},
    "edat": {"dataType": ["date"]},
    "lr": {"dataType": ["date"]},
    "source_url": {**_TEXT, **_SHOWN},
}
REQUIRED: Final = ("pmid", "chunk_id", "text")

_DESCRIPTION: Final = "Passages of an entrez-kit corpus; vectors: "
_DESCRIBED: Final = re.compile(re.escape(_DESCRIPTION) + r"(?:none|(?P<model>.+) \((?P<dim>[0-9]+) dimensions\))")


class VectorSource(NamedTuple):
    """The model that created the vectors of a collection, and their dimension; None for a collection without them."""

    model: str | None
    dim: int | None

    @property
    def name(self) -> str:
        """The model; "none" for a collection without vectors."""
        return self.model or "none"

    def describe(self) -> str:
        """Return the description of a collection with these vectors."""
        return f"{_DESCRIPTION}none" if self.model is None else f"{_DESCRIPTION}{self.model} ({self.dim} dimensions)"

    @classmethod
    def parse(cls, description: str | None) -> "VectorSource | None":
        """Return the vectors that a description names; None if another program wrote it."""
        described = _DESCRIBED.fullmatch(description or "")
        if described is None:
            return None
        return cls(described["model"], int(described["dim"]) if described["dim"] else None)


def build_schema(name: str, vectors: VectorSource) -> dict[str, Any]:
    """Return the schema of a new collection."""
    return {
        "class": name,
        "description": vectors.describe(),
        "vectorConfig": {
            VECTOR: {
                "vectorizer": {"none": {}},
                "vectorIndexType": "hnsw",
                "vectorIndexConfig": {"distance": "cosine"},
            }
        },
        "properties": [{"name": name, **settings} for name, settings in PROPERTIES.items()],
    }


def read_vector(chunk: Mapping[str, Any], dim: int | None) -> list[float] | None:
    """Return the normalized vector of a passage; None for a collection without vectors.

    Raises:
        ValueError: the passage cannot be written; the message has the reason.
    """
    missing = [name for name in REQUIRED if not chunk.get(name)]
    if missing:
        raise ValueError(f"it has no {', '.join(missing)}")
    if dim is None:
        return None
    vector = chunk.get("vector")
    if vector is None:
        raise ValueError("it has no vector")
    numbers = [float(number) for number in vector]
    if len(numbers) != dim:
        raise ValueError(f"its vector has {format_count(len(numbers), 'dimension')} (expected {dim})")
    length = math.sqrt(math.fsum(number * number for number in numbers))
    if not math.isfinite(length) or length == 0:
        raise ValueError("its vector has no direction")
    return numbers if abs(length - 1) < 1e-6 else [number / length for number in numbers]

"""RO-Crate 1.3: describe files, and the runs that wrote them, as JSON-LD.

The specification is https://w3id.org/ro/crate/1.3, with the profile Process Run Crate 0.6 for the runs.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

CRATE: Final = "ro-crate-metadata.json"
"""The name of the file with the description."""
_SPECIFICATION: Final = "https://w3id.org/ro/crate/1.3"
_PROFILE: Final = "https://w3id.org/ro/wfrun/process/0.6"
_MEDIA_TYPES: Final[Mapping[str, str]] = {
    "bin": "application/octet-stream",
    "csv": "text/csv",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "html": "text/html",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "md": "text/markdown",
    "pdf": "application/pdf",
    "ris": "application/x-research-info-systems",
    "svg": "image/svg+xml",
    "toml": "application/toml",
    "txt": "text/plain",
    "xml": "application/xml",
}

Entity = dict[str, Any]


def build_crate(root: Mapping[str, Any], entities: Iterable[Entity]) -> Entity:
    """Return the document that describes a folder or an archive.

    Args:
        root: the members of the data set as a whole: name, description, parts, runs.
        entities: the files, runs, programs and people.
    """
    graph = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": {"@id": _SPECIFICATION},
        },
        {"@id": "./", "@type": "Dataset", "conformsTo": {"@id": _PROFILE}, **root},
        {"@id": _PROFILE, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.6"},
        *entities,
    ]
    return {"@context": f"{_SPECIFICATION}/context", "@graph": graph}


def describe_file(path: str, size: int, sha256: str, **more: Any) -> Entity:
    """Return the description of a file, whose media type follows from the suffix of its name."""
    return {
        "@id": quote(path),
        "@type": "File",
        "encodingFormat": _MEDIA_TYPES.get(path.rpartition(".")[2].lower(), "text/plain"),
        "contentSize": str(size),
        "sha256": sha256,
        **more,
    }


def describe_program(version: str) -> Entity:
    """Return the description of this program in a version."""
    identifier = f"#entrez-kit-{version}"
    return {"@id": identifier, "@type": "SoftwareApplication", "name": "entrez-kit", "softwareVersion": version}


def refer(entities: Sequence[Entity]) -> list[Entity]:
    """Return references to entities."""
    return [{"@id": entity["@id"]} for entity in entities]

"""The index of the demo's articles, which is part of the package so that the demo starts fast."""

from typing import Final

from packaging_files import ROOT

from entrez_kit.local.records.collection import ParsedCollection, split_records

DEMO_INDEX: Final = ROOT / "fixtures" / "generated" / "demo.seg"


def encode_demo_index() -> bytes:
    """Return the index of the articles in ``fixtures/pubmed``."""
    files = sorted((ROOT / "fixtures" / "pubmed").glob("*.xml"))
    records = ParsedCollection(record for file in files for record in split_records([file.read_bytes()]))
    (content,) = records.encode_index()
    return content

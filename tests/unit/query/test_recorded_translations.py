"""Recorded replies of PubMed's present engine, and published searches, against the language of this package."""

import json
import re
import xml.etree.ElementTree as ElementTree
from datetime import date
from pathlib import Path

import pytest

from entrez_kit.query.index import MemoryIndex, RecordTerms
from entrez_kit.query.mapping import map_phrase
from entrez_kit.query.mesh import Heading, Journal, Substance, Vocabulary
from entrez_kit.query.search import DateLimit, Found, search
from entrez_kit.sandbox.corpus import ParsedCorpus
from entrez_kit.sandbox.mesh import read_demo_vocabulary

VOCABULARY = Vocabulary(
    headings=[
        Heading("Breast Neoplasms", ("C04.588.180",), ("Breast Cancer", "Cancer, Breast")),
        Heading("Cell Proliferation", ("G04.161.750",)),
        Heading("Cell Division", ("G04.144.220",)),
        Heading("DNA Replication", ("G02.111.225",), ("DNA Synthesis",)),
        Heading("Diethylhexyl Phthalate", ("D02.241.223",), ("DEHP",)),
        Heading("Hepatomegaly", ("C23.300.775",)),
        Heading("Mice", ("B01.050.150.900.649.313.992.635.505.500",), ("Mus musculus",)),
        Heading("Rats", ("B01.050.150.900.649.313.992.635.505.700",), ("Rat", "Rattus")),
    ],
    substances=[
        Substance("methylphosphite", ("meoph",)),
        Substance("2-methyl-5,6-cyclopentapyrimidine", ("MeCPP",)),
        Substance("mono-(2-ethylhexyl)phthalate", ("MEHP",)),
        Substance("mono-5-methylhexylphthalate", ("MMHP",)),
        Substance("2-ethylhexanol"),
        Substance("phthalic acid"),
    ],
    journals=[
        Journal("0404511", "Science", "Science (New York, N.Y.)"),
        Journal("8000640", "Science (1979)", "Science", other_titles=("Science 80",)),
    ],
)
MESH_ONLY = (
    *("meoph", "mecpp", "mehp", "mmhp", "dehp", "2-ethylhexanol", "phthalic acid", "cell proliferation"),
    *("dna replication", "dna synthesis", "cell division", "hepatomegaly", "Mus musculus", "Rattus", "rat"),
)
"""Phrases of the recorded query whose translation needs no word variants, which NLM does not publish."""


def _read(real_data: Path, name: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the QueryTranslation and the TranslationSet of a recorded reply."""
    path = real_data / "esearch" / name
    if path.suffix == ".json":
        result = json.loads(path.read_text(encoding="utf-8"))["esearchresult"]
        return result["querytranslation"], [(one["from"], one["to"]) for one in result["translationset"]]
    root = ElementTree.fromstring(path.read_bytes())
    assert root.find("TranslationStack") is None  # such a reply is from PubMed's former engine
    mappings = [(one.findtext("From") or "", one.findtext("To") or "") for one in root.iterfind(".//Translation")]
    return root.findtext("QueryTranslation") or "", mappings


def _index() -> MemoryIndex:
    """Return an index of one record with these words and values."""
    terms = RecordTerms()
    for word in ("PTEN", "D326N", "MLH1", "G67E"):
        terms.add_text("title", word)
    terms.add_text("abstract", "biopython")
    terms.add_number("pdat", 20080601)
    terms.add_number("pdat_single", 20080601)
    terms.add_names("author", [("Hart RK", "Hart, Rk")])
    terms.add_value("journal", "0404511", "8000640")
    terms.add_value("mesh", "Breast Neoplasms")
    return MemoryIndex(1, lambda number: terms)


@pytest.mark.parametrize(
    ("name", "term"),
    [
        ("biomcp__2ebc125ce85e958951e46ab078cf6ff28d34e7db4ea65482745eb2822de16ebc.json", "PTEN[tiab] AND D326N[tiab]"),
        (
            "biomcp__a7c2c7880e6d99a892dc8beb6531cbaa26d71bda98bbce01a64d46b34a9e11a8.json",
            '"MLH1"[tiab] AND G67E[tiab]',
        ),
        ("biopython__esearch1.xml", "biopython"),
        ("eutils__test_esearchresult.1aca62.xml", "hart rk[author]"),
        (
            "hawc__TestPubMedSearch.test_changes_from_previous_search.132512.xml",
            "science[journal] AND breast cancer AND 2008[pdat]",
        ),
        ("hawc__TestPubMedSearch.test_multiquery.8575ff.xml", "science[journal] AND breast cancer AND 2008[pdat]"),
    ],
)
def test_a_translation_equals_the_recorded_one(real_data: Path, name: str, term: str) -> None:
    found = search(term, _index(), VOCABULARY, lenient=True)

    assert (found.translation, found.resolved.translations) == _read(real_data, name)


def test_mappings_to_mesh_equal_the_recorded_ones(real_data: Path) -> None:
    _, recorded = _read(real_data, "hawc__TestPubmed.test_search.e2ecfb.xml")
    known = dict(recorded)

    for phrase in MESH_ONLY:
        mapping = map_phrase(phrase, _index(), VOCABULARY)
        assert mapping is not None
        assert mapping.text == known[phrase], phrase


def test_the_date_parameters_are_printed_as_recorded(real_data: Path) -> None:
    recorded, _ = _read(real_data, "biopython__esearch2.xml")
    limit = DateLimit("edat", 20250927, 20251126)

    found = search("biopython OR neoplasms[mh]", _index(), VOCABULARY, limit=limit, lenient=True)

    assert found.translation.rpartition(" AND ")[2] == recorded.rpartition(" AND ")[2]
    assert found.translation.startswith("(")


def _strategies(real_data: Path) -> list[dict[str, str]]:
    lines = (real_data / "strategies" / "pubmed.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _run(query: str, corpus: ParsedCorpus) -> Found:
    return search(query, corpus.index, read_demo_vocabulary(), today=date(2024, 5, 1))


def test_published_searches_are_read_evaluated_and_printed(real_data: Path) -> None:
    corpus = ParsedCorpus.demo()
    strategies = _strategies(real_data)

    for strategy in strategies:
        found, edited = _run(strategy["query"], corpus), _run(strategy["edited_search"], corpus)
        assert found.records == edited.records, strategy["id"]
        assert found.translation == edited.translation, strategy["id"]
        quotes = re.search("[“”]", strategy["query"]) is not None
        assert ("typographic_quotes" in {repair.code for repair in found.repairs}) == quotes, strategy["id"]
        assert found.resolved.fields_not_found == []
        # What is printed is a query again, and it means the same.
        again = _run(found.translation, corpus)
        assert again.records == found.records, strategy["id"]
    assert len(strategies) == 15

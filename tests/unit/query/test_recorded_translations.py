"""PubMed's recorded translations, and published searches, compared with the language of this package."""

import json
import random
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from terms_index import index_terms

from entrez_kit.query.mapping import map_phrase
from entrez_kit.query.mesh import Heading, Journal, Substance, Vocabulary
from entrez_kit.query.printing import print_query
from entrez_kit.query.record_terms import RecordTerms
from entrez_kit.query.search import DateLimit, QueryMatches, search
from entrez_kit.query.segments.search_index import SearchIndex

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
    mappings = [
        (element.findtext("From") or "", element.findtext("To") or "") for element in root.iterfind(".//Translation")
    ]
    return root.findtext("QueryTranslation") or "", mappings


def _index() -> SearchIndex:
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
    return index_terms([terms])


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
        assert print_query(mapping) == known[phrase], phrase


def test_the_date_parameters_are_printed_like_the_recorded_ones(real_data: Path) -> None:
    recorded, _ = _read(real_data, "biopython__esearch2.xml")
    limit = DateLimit("edat", 20250927, 20251126)

    found = search("biopython OR neoplasms[mh]", _index(), VOCABULARY, limit=limit, lenient=True)

    assert found.translation.rpartition(" AND ")[2] == recorded.rpartition(" AND ")[2]
    assert found.translation.startswith("(")


_PART = re.compile(r'"[^"]*"(?:\s*\[[^\]]*\])?|[()]|\b(?:AND|OR|NOT|and|or|not)\b|[^\s()"\[\]]+|\[[^\]]*\]')


def _split(query: str) -> list[str]:
    """Return the parentheses, operators and operands of a query."""
    parts: list[str] = []
    run: list[str] = []
    for part in [*_PART.findall(query), ""]:
        if part == "/":
            continue  # one query has a stray slash
        is_sign = part == "" or part in "()" or part.upper() in ("AND", "OR", "NOT")
        if part.startswith("["):
            run[-1] += part
        elif not is_sign and not part.startswith('"') and run and not run[-1].endswith(("]", '"')):
            run[-1] += f" {part}"
        elif not is_sign:
            run.append(part)
        else:
            parts += [one for place, word in enumerate(run) for one in (["AND"] if place else []) + [word]]
            run = []
            if part:
                parts.append(part.upper())
    return parts


def _combine(parts: list[str], find: Callable[[str], set[int]], everything: set[int]) -> set[int]:
    """Evaluate the parts of a query from left to right, up to the end or a closing parenthesis."""
    found: set[int] | None = None
    operator = "AND"
    while parts and (part := parts.pop(0)) != ")":
        if part in ("AND", "OR", "NOT"):
            operator = part
            continue
        right = _combine(parts, find, everything) if part == "(" else find(part)
        if found is None:
            found = right if operator != "NOT" else everything - right
        else:
            found = {"AND": found & right, "OR": found | right, "NOT": found - right}[operator]
        operator = "AND"
    return found or set()


def _invent(operands: list[str], count: int) -> SearchIndex:
    """Return an index of records that each match some of the operands of a query."""
    pick = random.Random(5)
    records = []
    for _ in range(count):
        terms = RecordTerms()
        share = pick.choice((0.05, 0.1, 0.3, 0.6))
        for operand in operands:
            phrase, _, tag = operand.rstrip("] ").partition("[")
            if pick.random() > share:
                continue
            source = {"me": "mesh", "pt": "ptype", "sh": "subheading"}.get(tag.strip().lower()[:2], "")
            if source:
                terms.add_value(source, phrase)
            else:
                terms.add_text("abstract", phrase)
        records.append(terms)
    return index_terms(records)


def test_published_searches_are_read_evaluated_and_printed(real_data: Path) -> None:
    lines = (real_data / "strategies" / "pubmed.jsonl").read_text(encoding="utf-8").splitlines()
    with_results = 0
    for line in lines:
        strategy = json.loads(line)
        query, edited = strategy["query"], strategy["edited_search"]
        operands = [part for part in _split(edited) if part not in ("(", ")", "AND", "OR", "NOT")]
        index = _invent(operands, 120)

        def find(term: str, index: SearchIndex = index) -> QueryMatches:
            return search(term, index, today=date(2024, 5, 1))

        found = find(query)
        expected = _combine(_split(edited), lambda term: set(find(term).records), set(range(index.size)))
        assert set(found.records) == expected, strategy["id"]
        assert len(expected) < index.size, strategy["id"]
        with_results += bool(expected)
        # What is printed is a query again, and it means the same; repaired quotation marks are reported.
        assert find(found.translation).records == found.records, strategy["id"]
        assert found.translation == find(edited).translation, strategy["id"]
        quotes = re.search("[“”]", query) is not None
        assert ("typographic_quotes" in {repair.code for repair in found.repairs}) == quotes, strategy["id"]
        assert found.resolved.fields_not_found == []
    assert len(lines) == 15
    assert with_results >= 12

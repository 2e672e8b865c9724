"""Searches give the same records as the brute-force matcher, which knows no index and none of the engine's code."""

import gzip
import random
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path

import brute_force as brute
import pytest
from brute_force import Article, Tree
from pyroaring import BitMap
from query_writer import QueryWriter
from sandbox_records import FOUR_RECORDS

from entrez_kit.local.records.collection import ParsedCollection, read_terms, split_records
from entrez_kit.local.records.document import Document
from entrez_kit.query.mesh import Heading, Vocabulary
from entrez_kit.query.record_terms import RecordTerms, SortKeys
from entrez_kit.query.search import search
from entrez_kit.query.segments.merge import merge_segments
from entrez_kit.query.segments.search_index import SearchIndex
from entrez_kit.query.segments.writer import SegmentWriter
from entrez_kit.sandbox.generate import GeneratedCollection


@dataclass(frozen=True)
class Bench:
    """Records, an invented MeSH for their headings, and both ways to search them."""

    corpus: ParsedCollection
    files: SearchIndex | None = None

    @cached_property
    def articles(self) -> list[Article]:
        return [Article(ElementTree.fromstring(self.corpus.read_raw(number))) for number in range(self.corpus.size)]

    @cached_property
    def tree(self) -> Tree:
        names = {name for article in self.articles for name, _ in article.headings}
        return _invent_tree(
            {*names, "Zz parent of nothing"}, {name for article in self.articles for name in article.types}
        )

    @cached_property
    def subheadings(self) -> Tree:
        return _invent_tree({sub for article in self.articles for _, marks in article.headings for sub, _ in marks})

    @cached_property
    def vocabulary(self) -> Vocabulary:
        terms: dict[str, list[str]] = {}
        for term, name in self.tree.entry_terms.items():
            terms.setdefault(name, []).append(term)
        headings = [Heading(name, trees, tuple(terms.get(name, ()))) for name, trees in self.tree.places.items()]
        subheadings = [Heading(name, trees) for name, trees in self.subheadings.places.items()]
        return Vocabulary(headings, subheadings, actions=self.actions)

    @cached_property
    def actions(self) -> dict[str, list[str]]:
        """Invented pharmacological actions of headings and substances."""
        names = sorted(self.tree.places)[::7]
        substances = sorted({name for article in self.articles for name in article.list_texts(".//NameOfSubstance")})
        return {f"Invented action {place}": [*names[place::3], *substances[place::3]] for place in range(3)}

    def writer(self, seed: int) -> QueryWriter:
        return QueryWriter(seed, self.articles, self.tree, self.subheadings, self.actions)

    def find(self, query: str) -> set[int]:
        found = search(query, self.files or self.corpus.index, self.vocabulary)
        return {int(self.corpus.get_pmid(number)) for number in found.records}


@dataclass(frozen=True)
class InFiles(Bench):
    """The same records in segment files, with other numbers."""

    numbers: tuple[int, ...] = ()

    def find(self, query: str) -> set[int]:
        assert self.files is not None
        found = search(query, self.files, self.vocabulary)
        assert len(self.files.read_pmids(list(found.records))) == len(found.records)
        return {int(self.corpus.get_pmid(self.numbers[number])) for number in found.records}


def _is_plain(raw: bytes) -> bool:
    """Return whether a record is an article without formulas; the text of formulas is a matter of the XML reader."""
    return raw.startswith(b"<PubmedArticle") and b"<mml:" not in raw


def _invent_tree(names: set[str], types: set[str] = frozenset()) -> Tree:  # type: ignore[assignment]
    """Give each heading one or two places below random other ones; publication types have a branch of their own."""
    pick = random.Random(7)
    places: dict[str, tuple[str, ...]] = {}
    for branch, some in (("C", sorted(names)), ("V", sorted(types - names))):
        above = [f"{branch}{number:02}" for number in range(1, 4)]
        for number, name in enumerate(some):
            found = tuple(f"{tree}.{number:03}" for tree in pick.sample(above, min(len(above), pick.choice((1, 1, 2)))))
            above += found
            places[name] = found
    return Tree(places, {f"quux {brute.squeeze_blanks(name)}": name for name in sorted(names)[::5]})


@pytest.fixture(scope="module")
def invented() -> Bench:
    folder = Path(__file__).parents[3] / "fixtures" / "pubmed"
    generated = GeneratedCollection(140, seed=11)
    records = [
        record
        for file in sorted(folder.glob("*.xml"))
        for record in split_records([file.read_bytes()])
        if _is_plain(record[1])
    ]
    records += [(generated.get_pmid(number), generated.read_raw(number)) for number in range(generated.size)]
    return Bench(ParsedCollection([*records, *split_records([FOUR_RECORDS.encode()])]))


@pytest.fixture(scope="module")
def in_files(invented: Bench, tmp_path_factory: pytest.TempPathFactory) -> InFiles:
    """The same records in three segments, one of them merged, between records that were removed."""
    folder = tmp_path_factory.mktemp("segments")
    old = GeneratedCollection(30, seed=3)
    records: list[tuple[int, tuple[RecordTerms, SortKeys]]] = []
    removed = BitMap()
    for number in range(invented.corpus.size):
        if number % 9 == 4:
            removed.add(len(records))
            records.append((-1, read_terms(Document(old.read_raw(number % old.size)))))
        records.append((number, read_terms(invented.corpus.read_document(number))))
    bounds = (0, 60, 61, 150, len(records))
    segments = []
    for first, last in pairwise(bounds):
        with SegmentWriter(folder / f"{first}.seg", limit=8_000) as writer:
            for _, (terms, keys) in records[first:last]:
                writer.add(terms, keys)
            segments.append(writer.finish().path)
    merged = merge_segments(
        segments[1:3], folder / "merged.seg", BitMap(one - 60 for one in removed if 60 <= one < 150)
    )
    return InFiles(
        invented.corpus,
        SearchIndex([segments[0], merged.path, segments[3]], removed),
        tuple(number for number, _ in records),
    )


def _compare(bench: Bench, seed: int, count: int) -> Counter[str]:
    writer = bench.writer(seed)
    seen: Counter[str] = Counter()
    for _ in range(count):
        written = writer.query()
        expected = brute.search(written.check, bench.articles)
        assert bench.find(written.text) == expected, written.text
        seen.update(written.fields)
        seen["with results"] += bool(expected)
    return seen


@pytest.mark.long
def test_each_kind_of_term_agrees_with_the_brute_force_matcher(invented: Bench) -> None:
    writer = invented.writer(1)
    for kind in writer.kinds:
        written = islice((one for _ in range(300) if (one := getattr(writer, kind)())[0]), 25)
        found = 0
        for text, check in written:
            expected = brute.search(check, invented.articles)
            found += bool(expected)
            assert invented.find(text) == expected, text
        assert found, kind


@pytest.mark.long
def test_four_hundred_queries_agree_with_the_brute_force_matcher(invented: Bench) -> None:
    seen = _compare(invented, seed=2, count=400)

    assert seen["with results"] > 200
    assert len(seen) > 25


@pytest.mark.long
def test_four_hundred_queries_on_segment_files_agree_with_the_brute_force_matcher(in_files: InFiles) -> None:
    seen = _compare(in_files, seed=5, count=400)

    assert seen["with results"] > 200
    assert len(seen) > 25


@pytest.mark.long
def test_queries_on_segment_files_agree_with_the_brute_force_matcher(in_files: InFiles) -> None:
    assert _compare(in_files, seed=4, count=60)["with results"] > 20


@pytest.mark.long
def test_queries_on_recorded_records_agree_with_the_brute_force_matcher(real_data: Path) -> None:
    files = sorted((real_data / "baseline").glob("*.xml.gz"))
    records = [
        record
        for file in files
        for record in split_records([gzip.decompress(file.read_bytes())])
        if _is_plain(record[1])
    ]
    bench = Bench(ParsedCollection([record for record in records if _is_plain(record[1])]))

    seen = _compare(bench, seed=3, count=120)

    assert bench.corpus.size >= 200
    assert seen["with results"] > 40

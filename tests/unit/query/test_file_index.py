"""The search index has the results of its specification, for any segments, merged ones and removed records."""

import random
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from pyroaring import BitMap
from terms_index import TermsIndex

from entrez_kit.local.records.collection import ParsedCollection, read_terms
from entrez_kit.query.record_terms import RecordTerms, SortKeys
from entrez_kit.query.segments import merge, relevance
from entrez_kit.query.segments.merge import merge_segments
from entrez_kit.query.segments.search_index import SearchIndex
from entrez_kit.query.segments.writer import SegmentWriter
from entrez_kit.sandbox.generate import GeneratedCollection

Records = list[tuple[RecordTerms, SortKeys]]
GONE = BitMap((3, 50, 51, 60, 100, 130))


@cache
def read_records() -> Records:
    """Return the terms of the demo records and of some generated ones."""
    demo, generated = ParsedCollection.demo(), GeneratedCollection(60, seed=5)
    collection = ParsedCollection(
        (one.get_pmid(number), one.read_raw(number)) for one in (demo, generated) for number in range(one.size)
    )
    return [read_terms(collection.read_document(number)) for number in range(collection.size)]


def write_segment(path: Path, records: Records, limit: int = 2_500_000) -> Path:
    """Write one segment."""
    with SegmentWriter(path, limit=limit) as segment:
        for terms, keys in records:
            segment.add(terms, keys)
        return segment.finish().path


@pytest.fixture(scope="module")
def segments(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Segments of unequal length; the writer of the longest one had to write several parts."""
    folder, records = tmp_path_factory.mktemp("segments"), read_records()
    bounds = (0, 50, 51, len(records))
    return [
        write_segment(folder / f"{first}.seg", records[first:last], limit=5_000) for first, last in pairwise(bounds)
    ]


@cache
def build_specification(removed: bool) -> TermsIndex:
    """Return the specification of the index; a removed record has no terms."""
    records = [
        (RecordTerms(), keys) if removed and number in GONE else (terms, keys)
        for number, (terms, keys) in enumerate(read_records())
    ]
    return TermsIndex(records)


def _pick_runs(chance: random.Random, records: Records, source: str) -> Iterator[list[str]]:
    for terms, _ in chance.sample(records, 10):
        for piece in terms.texts.get(source, [])[:2]:
            begin = chance.randrange(len(piece))
            yield piece[begin : begin + chance.randint(1, 4)]


def compare(records: Records, expected: TermsIndex, index: SearchIndex, removed: BitMap) -> None:
    """Compare all methods of two indexes."""
    chance = random.Random(3)
    live = [number for number in range(len(records)) if number not in removed]
    for source in {source for terms, _ in records for source in terms.texts}:
        words = sorted(expected.list_words(source))
        assert sorted(index.list_words(source)) == words
        assert all(index.find_word(source, word) == expected.find_word(source, word) for word in words[::7])
        assert index.find_any_word(source, [*words[::3], "absent"]) == expected.find_any_word(source, words[::3])
        for run in _pick_runs(chance, records, source):
            prefix, other = chance.choice(words)[:2], chance.choice(words)
            assert sorted(index.list_words(source, prefix)) == sorted(expected.list_words(source, prefix))
            for slots in ([[word] for word in run], [[word, other] for word in run]):
                assert index.find_phrase(source, slots) == expected.find_phrase(source, slots), (source, slots)
            for distance in (0, 1, 5, 1_000):
                assert index.find_window(source, run, distance) == expected.find_window(source, run, distance)
        some = chance.choices(words, k=3)
        found = [
            (number, list(map(list, places))) for number, places in expected.read_positions(source, some, BitMap(live))
        ]
        assert list(index.read_positions(source, some, BitMap(range(len(records))))) == found
    for source in {source for terms, _ in records for source in terms.values}:
        values = sorted(expected.list_values(source))
        assert sorted(index.list_values(source)) == values
        assert all(index.find_value(source, value) == expected.find_value(source, value) for value in values[::7])
        assert not index.has_value(source, "absent")
        for value in values[::7]:
            first, *more = value.split()
            for prefix in (value, value[:2], f"{first} ", " ".join((first, *more[:1])), f"{first} absent"):
                assert sorted(index.list_values(source, prefix)) == [one for one in values if one.startswith(prefix)]
                assert index.has_value(source, prefix) == bool(expected.find_value(source, prefix))
        assert index.find_any_value(source, values[::2]) == expected.find_any_value(source, values[::2])
    for column in {column for terms, _ in records for column in terms.numbers}:
        known = [number for terms, _ in records for number in terms.numbers.get(column, ())]
        for _ in range(20):
            low, high = chance.choice(known), chance.choice(known)
            assert index.find_range(column, low, high) == expected.find_range(column, low, high)
    for order in ("author", "journal", "pub_date", "newest"):
        numbers = chance.sample(live, len(live))
        assert index.rank(numbers, order) == expected.rank(numbers, order)
    assert index.list_records() == BitMap(live)
    for absent in (index.find_word("title", "absent"), index.find_word("absent", "x"), index.find_word("title", "")):
        assert not absent


@pytest.mark.long
@pytest.mark.parametrize("first_words", [2, 10_000])
def test_segments_give_the_results_of_the_specification(
    segments: list[Path], monkeypatch: pytest.MonkeyPatch, first_words: int
) -> None:
    monkeypatch.setattr("entrez_kit.query.segments.search_index._MAX_FIRST_WORDS", first_words)
    compare(read_records(), build_specification(False), SearchIndex(segments), BitMap())


@pytest.mark.parametrize("removed", [BitMap(), GONE], ids=["all", "without removed ones"])
def test_the_best_records_are_the_same_if_few_scores_are_computed(
    segments: list[Path], monkeypatch: pytest.MonkeyPatch, removed: BitMap
) -> None:
    chance = random.Random(4)
    index = SearchIndex(segments, removed)
    records = index.list_records()
    counted = index.count_records("abstract").most_common()
    words = [word for word, _ in (*counted[:15], *counted[::20])]
    for _ in range(40):
        asked = chance.choices(words, k=chance.randint(1, 5))
        among = records if chance.random() < 0.5 else BitMap(chance.sample(list(records), 60))
        relevance._kept.clear()  # the scores of the last search
        expected = index.rank_by_relevance(asked, among, 5)
        with monkeypatch.context() as patch:
            patch.setattr(relevance, "COSTLY", 2)
            patch.setattr(relevance, "_SPARSE", 1)  # so that a small collection takes both ways
            relevance._kept.clear()
            assert index.rank_by_relevance(asked, among, 5) == expected
            assert index.rank_by_relevance(asked, among, 5) == expected, "the words are used again"
    relevance._kept.clear()


@pytest.mark.long
def test_removed_records_are_found_by_nothing(segments: list[Path]) -> None:
    compare(read_records(), build_specification(True), SearchIndex(segments, GONE), GONE)


@pytest.mark.long
def test_a_merged_segment_without_removed_records_gives_the_same(segments: list[Path], tmp_path: Path) -> None:
    merged = merge_segments(segments, tmp_path / "merged.seg", GONE).path

    compare(read_records(), build_specification(True), SearchIndex([merged], GONE), GONE)
    assert merged.stat().st_size < sum(path.stat().st_size for path in segments)


@pytest.mark.long
def test_recorded_records_are_found_as_in_memory(real_data: Path, tmp_path: Path) -> None:
    files = sorted((real_data / "baseline").glob("*.xml.gz"))
    collection = ParsedCollection.from_paths(files)
    records = [read_terms(collection.read_document(number)) for number in range(collection.size)]
    bounds = (0, 40, len(records))
    paths = [write_segment(tmp_path / f"{first}.seg", records[first:last]) for first, last in pairwise(bounds)]

    compare(records, TermsIndex(records), SearchIndex(paths), BitMap())
    compare(records, TermsIndex(records), SearchIndex([merge_segments(paths, tmp_path / "all.seg").path]), BitMap())


def test_the_bytes_of_a_segment_do_not_depend_on_the_memory_of_its_writer(tmp_path: Path) -> None:
    records = read_records()[:40]
    whole = write_segment(tmp_path / "whole.seg", records)
    parts = write_segment(tmp_path / "parts.seg", records, limit=1_500)

    assert whole.read_bytes() == parts.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"whole.seg", "parts.seg"}


@pytest.mark.long
def test_a_merge_in_small_chunks_writes_the_same_bytes(
    segments: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for removed in (BitMap(), GONE, BitMap(range(0, 150, 2))):
        whole = merge_segments(segments, tmp_path / "whole.seg", removed).path.read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(merge, "_CHUNK_BYTES", 60)  # so that a small merge has many chunks
            patch.setattr(merge, "_CHUNK_TERMS", 40)
            assert merge_segments(segments, tmp_path / "chunks.seg", removed).path.read_bytes() == whole


def test_a_later_word_of_a_phrase_may_begin_a_text(tmp_path: Path) -> None:
    texts = [["b", "a", "a"], ["a", "b"], ["a"], ["a", "a", "b"]]
    keys = [keys for _, keys in read_records()]
    records = [(RecordTerms(texts={"title": [text]}), keys[number]) for number, text in enumerate(texts)]
    index, expected = SearchIndex([write_segment(tmp_path / "a.seg", records)]), TermsIndex(records)

    for slots in ([["a"], ["b"]], [["b"], ["b"]], [["b"], ["a"], ["b"]], [["a"], ["a"], ["b"]], [["a", "b"], ["b"]]):
        assert index.find_phrase("title", slots) == expected.find_phrase("title", slots), slots

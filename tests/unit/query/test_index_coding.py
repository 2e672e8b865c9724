"""Postings are decoded as they were encoded; damaged data cause an error, never a crash or a wrong size."""

import random
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap
from terms_index import is_within

from entrez_kit.base.errors import StoreError
from entrez_kit.base.markup import flatten_scripts
from entrez_kit.query import unsettled
from entrez_kit.query.record_terms import RecordTerms, SortKeys
from entrez_kit.query.segments import coding, sort_terms
from entrez_kit.query.segments.merge import merge_segments
from entrez_kit.query.segments.positions import find_windows
from entrez_kit.query.segments.search_index import SearchIndex
from entrez_kit.query.segments.segment import TRAILER, Segment
from entrez_kit.query.segments.writer import SegmentWriter
from entrez_kit.query.words import STOP_WORDS, fold, split_words

NUMBERS = st.one_of(st.integers(0, 300), st.integers(0, 2**32 - 1))
POSITIONS = st.lists(st.one_of(st.integers(0, 600), st.integers(0, 2**26)), min_size=1, max_size=300, unique=True)
WORDS = st.dictionaries(
    st.text("abcé𝒳\udc80~", min_size=1, max_size=12),
    st.dictionaries(st.integers(0, 2**26), POSITIONS, min_size=1, max_size=5),
    min_size=1,
    max_size=6,
)


@given(st.lists(NUMBERS))
def test_varints_are_decoded_to_the_encoded_values(numbers: list[int]) -> None:
    encoded, lengths = coding.encode_varints(np.array(numbers, np.int64))

    assert coding.decode_varints(encoded).tolist() == numbers
    assert int(lengths.sum()) == len(encoded)


@given(st.binary(max_size=60))
def test_any_bytes_are_varints_or_an_error(data: bytes) -> None:
    encoded = np.frombuffer(data, np.uint8)
    whole = not data or (data[-1] < 128 and b"\x80" * 5 not in bytes(one & 128 for one in data))

    if whole:
        assert len(coding.decode_varints(encoded)) == sum(one < 128 for one in data)
    else:
        with pytest.raises(ValueError, match="number"):
            coding.decode_varints(encoded)


@pytest.mark.long
@settings(max_examples=30)
@given(WORDS, st.data())
def test_words_are_decoded_to_the_encoded_words(words: dict[str, dict[int, list[int]]], data: st.DataObject) -> None:
    postings = [(record, sorted(places)) for found in words.values() for record, places in sorted(found.items())]
    block = coding.build_postings(
        np.array([len(found) for found in words.values()]),
        np.array([record for record, _ in postings], np.uint32),
        np.array([len(places) for _, places in postings]),
        np.array([place for _, places in postings for place in places]),
    )
    streams = coding.encode_words(block)

    decoded = coding.WordPostings(lambda stream: streams[stream][0], streams[0][1], 2**26 + 1)

    assert decoded.sizes.tolist() == [len(found) for found in words.values()]
    expected = [(record << 32) | place for record, places in postings for place in places]
    assert decoded.read_postings().find_keys().tolist() == expected
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(postings), max_size=len(postings))), np.bool_)
    some = [
        (record << 32) | place
        for (record, places), keep in zip(postings, kept, strict=True)
        if keep
        for place in places
    ]
    assert decoded.read_postings().select(kept).find_keys().tolist() == some


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), st.integers(0, 6), st.data())
def test_windows_are_those_of_the_rule(words: list[str], distance: int, data: st.DataObject) -> None:
    needed = {word: words.count(word) for word in words}
    taken = data.draw(st.lists(st.sampled_from([*needed, "", "", ""]), max_size=30))
    places = {word: [place for place, one in enumerate(taken) if one == word] for word in needed}

    keys = [np.array(places[word], np.int64) for word in needed]
    found = find_windows(keys, list(needed.values()), unsettled.measure_window(words, distance))

    assert bool(len(found)) == is_within([places[word] for word in words], words, distance)


@pytest.mark.long
def test_words_are_split_according_to_their_definition() -> None:
    """The fast way: the folded form of each character, as bytes. The definition: fold, then find words."""
    for first in [*range(0, 0xD800, 64), *range(0xE000, 0x1FC00, 64)]:
        text = "a".join(map(chr, range(first, first + 64)))
        expected = re.findall(r"[^\W_]+", fold(flatten_scripts(text)))
        assert split_words(text) == expected, hex(first)
    assert split_words("10^6 H_(2)O Ca²⁺ Straße ΣΑΣ \x1f x\x00y") == [
        "106",
        "h2o",
        "ca2",
        "strasse",
        "sigmaalphasigma",
        "x",
        "y",
    ]


def _write(path: Path, texts: list[str]) -> Path:
    with SegmentWriter(path, limit=4_000) as index:
        for number, text in enumerate(texts):
            terms = RecordTerms()
            terms.add_text("title", text, text[::-1])
            terms.add_value("mesh", text[:5], text[5:])
            terms.add_number("edat", 20200101 + number % 3)
            index.add(terms, SortKeys(number, number % 5, {"author": text[:3], "journal": text[3:6]}))
        return index.finish().path


@pytest.fixture(scope="module")
def segment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chance = random.Random(1)
    stop_words = sorted(STOP_WORDS)
    texts = [" ".join(chance.choices(stop_words, k=chance.randint(0, 400))) for _ in range(40)]
    return _write(tmp_path_factory.mktemp("index") / "one.seg", texts)


def _use(path: Path) -> None:
    """Read everything from a segment."""
    index = SearchIndex([path], BitMap([3]))
    for word in index.list_words("title"):
        index.find_word("title", word)
    index.find_phrase("title", [["in"], ["the", "most"]])
    index.find_window("title", ["the", "most", "the"], 9)
    index.find_any_value("mesh", index.list_values("mesh"))
    index.find_range("edat", 0, 30000000)
    index.rank_by_relevance(["the", "of"], index.list_records(), 5)
    for order in ("author", "pub_date"):
        index.rank(range(0, index.size, 3), order)
    list(index.read_positions("title", ["the"], index.list_records()))


def test_a_cut_segment_is_refused(segment: Path, tmp_path: Path) -> None:
    data = segment.read_bytes()
    for length in (0, 5, TRAILER.size, len(data) // 2, len(data) - 1):
        path = tmp_path / "cut.seg"
        path.write_bytes(data[:length])
        with pytest.raises(StoreError) as refused:
            Segment(path)
        assert refused.value.details["reason"] == "damaged_index"


def test_a_missing_segment_is_a_store_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as missing:
        Segment(tmp_path / "absent.seg")

    assert missing.value.details["reason"] == "unreadable_index"


@pytest.mark.long
def test_a_changed_byte_is_found_by_its_checksum_and_causes_no_crash(segment: Path, tmp_path: Path) -> None:
    data = bytearray(segment.read_bytes())
    Segment(segment).verify()
    path = tmp_path / "changed.seg"
    chance = random.Random(2)
    errors = 0
    for _ in range(50):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 1, 30))):
            changed[chance.randrange(8, len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        with pytest.raises(StoreError) as found:
            Segment(path).verify()
        assert found.value.details["reason"] == "damaged_index"
        with suppress(StoreError):
            _use(path)
            continue
        errors += 1
    assert errors > 8


def test_terms_with_the_same_hash_are_separate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashes: Callable[..., np.ndarray[tuple[int], np.dtype[np.uint64]]] = sort_terms._compute_hashes
    # Full hashes do not collide.
    monkeypatch.setattr(sort_terms, "_compute_hashes", lambda *args: hashes(*args) << np.uint64(24))
    texts = [" ".join(sorted(STOP_WORDS)[number:]) for number in range(30)]
    index = SearchIndex([_write(tmp_path / "collisions.seg", texts)])

    for word in sorted(STOP_WORDS):
        expected = [number for number, text in enumerate(texts) if word in text.split() or word in text[::-1].split()]
        assert list(index.find_word("title", word)) == expected


def test_texts_that_contain_the_separator_are_in_no_list(tmp_path: Path) -> None:
    records = [RecordTerms(values={"aid": ["a\0b", "x"]}), RecordTerms(values={"aid": ["y\0"]}), RecordTerms()]
    with SegmentWriter(tmp_path / "one.seg") as index:
        for number, terms in enumerate(records):
            index.add(terms, SortKeys(number, 0, {"journal": "j"}))
        path = index.finish().path

    assert list(SearchIndex([path]).list_values("aid")) == ["x"]
    assert SearchIndex([merge_segments([path, path], tmp_path / "two.seg").path]).rank(range(6), "author") == [
        2,
        5,
        1,
        4,
        0,
        3,
    ]


def test_an_unfinished_writer_leaves_no_files(tmp_path: Path) -> None:
    with SegmentWriter(tmp_path / "one.seg", limit=10) as index:
        for number in range(5):
            index.add(RecordTerms(texts={"title": [["a"] * 20]}), SortKeys(number))
        assert list(tmp_path.iterdir())

    assert not list(tmp_path.iterdir())

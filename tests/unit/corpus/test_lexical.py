"""The full-text index: its content, its scores, and any query."""

import math
import random
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from indexed_corpus import delete, index, join, open_corpus, put, read_index

from entrez_kit.corpus.search import index as lexical
from entrez_kit.corpus.search import words
from entrez_kit.corpus.search.score import DEFAULT, Profile
from entrez_kit.corpus.search.terms import IndexRow
from entrez_kit.query.segments import relevance

PLAIN = replace(DEFAULT, feedback_weight=0.0)
WORDS = [
    "zebrafish", "retina", "retinal", "kinase", "kinases", "binding", "bound", "insulin", "asthma", "asthmatic",
    "liver", "hepatic", "cornea", "corneal", "lesion", "lesions", "stroke", "strokes", "aspirin", "placebo", "cohort",
    "cohorts",
]  # fmt: skip


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    made = open_corpus()
    yield made
    made.close()


def add(connection: sqlite3.Connection, rows: Iterable[IndexRow]) -> None:
    put(connection, rows)
    index(connection)


def remove(connection: sqlite3.Connection, pmids: Iterable[int]) -> None:
    delete(connection, pmids)
    index(connection)


def make_row(pmid: int, title: str = "", abstract: str = "", terms: str = "") -> IndexRow:
    return IndexRow(pmid, title, abstract, terms)


def invent_rows(count: int, seed: int, first: int = 1) -> list[IndexRow]:
    chooser = random.Random(seed)

    def text(most: int) -> str:
        return " ".join(chooser.choices(WORDS, k=chooser.randrange(1, most)))

    return [make_row(first + 7 * place, text(8), text(60), text(5)) for place in range(count)]


def find_pmids(connection: sqlite3.Connection, query: str, limit: int = 10, corpus: str | None = None) -> list[int]:
    return [hit.pmid for hit in words.search_words(connection, query, limit, corpus=corpus)]


# Scores --------------------------------------------------------------------------------------------------------------


def score_by_hand(rows: Sequence[IndexRow], query: str, profile: Profile) -> list[tuple[int, float]]:
    """Score every record by the book; the stems are SQLite's, not ours."""
    stems = stem_with_sqlite({word for row in rows for field in row[1:] for word in field.split()} | set(query.split()))
    fields = {row.pmid: [[stems[word] for word in field.split()] for field in row[1:]] for row in rows}
    lengths = {pmid: len(title) + len(abstract) for pmid, (title, abstract, _) in fields.items()}
    mean = sum(lengths.values()) / len(rows)
    scores: Counter[int] = Counter()
    for word in dict.fromkeys(stems[word] for word in query.split()):
        having = [pmid for pmid, parts in fields.items() if any(word in part for part in parts)]
        idf = math.log(1 + (len(rows) - len(having) + 0.5) / (len(having) + 0.5))
        for pmid in having:
            title, abstract, terms = (part.count(word) for part in fields[pmid])
            frequency = profile.title * title + abstract + profile.terms * terms
            norm = profile.k1 * (1 - profile.b + profile.b * lengths[pmid] / mean)
            scores[pmid] += idf * frequency * (profile.k1 + 1) / (frequency + norm)  # type: ignore[assignment]
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def stem_with_sqlite(words: set[str]) -> dict[str, str]:
    ordered = sorted(words)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(word, tokenize='porter ascii')")
    connection.executemany("INSERT INTO words (rowid, word) VALUES (?, ?)", enumerate(ordered))
    connection.execute("CREATE VIRTUAL TABLE seen USING fts5vocab(words, instance)")
    stems = {ordered[place]: term for term, place in connection.execute("SELECT term, doc FROM seen")}
    connection.close()
    return stems


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_scores_are_those_of_bm25_computed_by_hand(connection: sqlite3.Connection, seed: int) -> None:
    rows = invent_rows(120, seed)
    add(connection, rows)
    chooser = random.Random(seed)
    for _ in range(20):
        query = " ".join(chooser.choices(WORDS, k=chooser.randrange(1, 6)))
        hits = words.search_words(connection, query, 500, profile=PLAIN)
        expected = score_by_hand(rows, query, PLAIN)

        assert [hit.bm25 for hit in hits] == pytest.approx([value for _, value in expected])
        assert [hit.pmid for hit in hits] == [
            hit.pmid for hit in sorted(hits, key=lambda hit: (-(hit.bm25 or 0), hit.pmid))
        ]
        assert {hit.pmid for hit in hits} == {pmid for pmid, _ in expected}


@pytest.mark.parametrize("seed", range(3))
def test_feedback_changes_the_order_but_neither_what_is_found_nor_that_scores_are_positive(
    connection: sqlite3.Connection, seed: int
) -> None:
    add(connection, invent_rows(80, seed))
    plain = words.search_words(connection, "retina insulin", 500, profile=PLAIN)
    fed_back = words.search_words(connection, "retina insulin", 500)

    assert {hit.pmid for hit in fed_back} == {hit.pmid for hit in plain}
    scores = [hit.bm25 or 0 for hit in fed_back]
    assert min(scores) > 0
    assert scores == sorted(scores, reverse=True)


def test_feedback_prefers_records_similar_to_the_best(connection: sqlite3.Connection) -> None:
    best = [make_row(pmid, "Zebrafish retina", "zebrafish retina photoreceptor opsin cone") for pmid in range(1, 6)]
    twins = [make_row(50, "", "retina opsin photoreceptor cone"), make_row(40, "", "retina budget parliament tax")]
    add(connection, [*best, *twins, *(make_row(pmid, "", f"other{pmid} words") for pmid in range(100, 130))])

    ranked = find_pmids(connection, "zebrafish retina")

    assert ranked.index(50) < ranked.index(40)
    plain = words.search_words(connection, "zebrafish retina", 10, profile=PLAIN)
    assert [hit.pmid for hit in plain].index(40) < [hit.pmid for hit in plain].index(50)


def test_a_word_in_the_title_counts_for_more(connection: sqlite3.Connection) -> None:
    add(connection, [make_row(1, "Cornea", "zebrafish heart"), make_row(2, "Zebrafish", "cornea heart")])

    assert find_pmids(connection, "zebrafish") == [2, 1]


def test_records_with_equal_scores_are_sorted_by_pmid(connection: sqlite3.Connection) -> None:
    add(connection, [make_row(pmid, "Same title", "same words") for pmid in (30, 4, 200, 17)])

    assert find_pmids(connection, "same words") == [4, 17, 30, 200]
    assert find_pmids(connection, "same words", 2) == [4, 17]


def test_a_longer_list_begins_with_the_shorter_one(connection: sqlite3.Connection) -> None:
    add(connection, invent_rows(200, 9))

    assert find_pmids(connection, "stroke aspirin cohort", 100)[:5] == find_pmids(
        connection, "stroke aspirin cohort", 5
    )


# What is in it -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at_once", [7, 30, 10_000])
@pytest.mark.long
def test_a_changed_index_equals_one_built_at_once(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(lexical, "AT_ONCE", at_once)
    chooser = random.Random(3)
    kept: dict[int, IndexRow] = {}
    for seed in range(12):
        batch = invent_rows(30, seed, first=chooser.randrange(1, 40))
        put(connection, batch)
        kept |= {one.pmid: one for one in batch}
        members = chooser.sample(sorted(kept), 15)
        gone = chooser.sample(sorted(kept), 12)
        if seed % 2:
            join(connection, "mine", members)
            delete(connection, [*gone, 999_999, *gone[:3]])
            index(connection)
        else:
            index(connection)
            join(connection, "mine", members)
            delete(connection, [*gone, 999_999, *gone[:3]])
            unwritten = words.search_words(connection, "retina insulin", 500)
            index(connection)
            assert words.search_words(connection, "retina insulin", 500) == unwritten
        for pmid in gone:
            del kept[pmid]
    anew = open_corpus()
    put(anew, kept.values())
    found = connection.execute("SELECT pmid FROM membership JOIN documents USING (pmid) WHERE status = 'current'")
    join(anew, "mine", [row[0] for row in found])
    index(anew)

    assert read_index(connection) == read_index(anew)
    for query in ("retina insulin", "stroke", "aspirin placebo cohort liver", '"binding kinase"'):
        for corpus in (None, "mine"):
            hits = words.search_words(connection, query, 500, corpus=corpus)
            assert hits == words.search_words(anew, query, 500, corpus=corpus)
            assert hits
    sizes = [row[0] for row in connection.execute("SELECT records FROM lexical_segments")]
    assert len(kept) <= sum(sizes)
    assert len(sizes) <= 12
    anew.close()


def test_deleted_records_do_not_use_space_for_long(connection: sqlite3.Connection) -> None:
    add(connection, invent_rows(100, 1))
    remove(connection, [one.pmid for one in invent_rows(100, 1)[:60]])

    assert connection.execute("SELECT first, records FROM lexical_segments").fetchall() == [(0, 40)]


def test_of_more_words_than_the_index_can_count_it_has_the_maximum(connection: sqlite3.Connection) -> None:
    long = make_row(1, "zebrafish " * 3_000, "retina " * 60_000 + "cornea", "liver " * 9_000)
    add(connection, [long, make_row(2, "Zebrafish")])

    assert set(find_pmids(connection, "zebrafish")) == {1, 2}
    assert find_pmids(connection, "retina liver") == [1]
    assert find_pmids(connection, '"zebrafish retina"') == [1, 2]  # no phrase, for it runs from one field into the next
    assert find_pmids(connection, '"retina retina"') == [1]


def test_the_text_of_a_record_that_is_added_again_replaces_the_old_one(connection: sqlite3.Connection) -> None:
    add(connection, [make_row(1, "Zebrafish"), make_row(2, "Retina")])
    add(connection, [make_row(1, "Cornea"), make_row(1, "Liver"), make_row(3, "Asthma")])

    assert find_pmids(connection, "zebrafish") == []
    assert find_pmids(connection, "cornea") == []
    assert find_pmids(connection, "liver") == [1]
    assert find_pmids(connection, "retina") == [2]


def test_removing_everything_leaves_nothing(connection: sqlite3.Connection) -> None:
    add(connection, [*invent_rows(64, 1), make_row(5_000, "Ménière β-cell \0 日本", "a\nb", "ﬁbrosis")])
    remove(connection, (one[0] for one in connection.execute("SELECT pmid FROM documents").fetchall()))

    assert not any(read_index(connection).values())
    assert find_pmids(connection, "zebrafish") == []


def test_a_transaction_that_is_rolled_back_changes_nothing(connection: sqlite3.Connection) -> None:
    add(connection, invent_rows(40, 1))
    before = read_index(connection)
    connection.execute("BEGIN IMMEDIATE")
    remove(connection, [1, 8, 15])
    add(connection, invent_rows(40, 2, first=3))
    connection.execute("ROLLBACK")

    assert read_index(connection) == before


def test_the_index_can_be_closed_and_opened(tmp_path: Path) -> None:
    first = open_corpus(str(tmp_path / "corpus.db"))
    add(first, invent_rows(50, 4))
    put(first, invent_rows(20, 5, first=4_000))
    hits = words.search_words(first, "liver lesion", 10)
    first.close()
    second = sqlite3.connect(f"file:{tmp_path / 'corpus.db'}?mode=ro", uri=True)

    assert words.search_words(second, "liver lesion", 10) == hits
    second.close()


def test_an_index_without_its_files_is_rebuilt_from_the_records(tmp_path: Path) -> None:
    connection = open_corpus(str(tmp_path / "corpus.db"))
    add(connection, invent_rows(30, 4))
    join(connection, "mine", [1, 8])
    hits = words.search_words(connection, "liver lesion", 10)
    before = read_index(connection)
    for path in tmp_path.glob("*.words-*"):
        path.unlink()

    assert words.search_words(connection, "liver lesion", 10) == hits
    assert lexical.count_queued(connection) == 30
    index(connection)
    assert read_index(connection) == before
    assert words.search_words(connection, "liver lesion", 10) == hits
    connection.close()


# Queries -------------------------------------------------------------------------------------------------------------

HOSTILE = [
    "", " ", "\0", "\n\t", '"', '""', '"""', "'", "';--", "*", "zebrafish*", "^zebrafish", "title:zebrafish",
    "{title}:x", "-text : zebrafish", "NEAR(zebrafish retina)", "NEAR", "AND", "OR NOT AND", "NOT zebrafish",
    "zebrafish AND", "(zebrafish", "zebrafish)", "((((", "+zebrafish", "zebrafish\0retina", '"zebrafish',
    '"zebrafish" "', "a" * 30_000, "zebrafish " * 5_000, " ".join(f"word{n}" for n in range(3_000)), "x-" * 2_000,
    "\ud800 zebrafish", "💊💉", "%s %d {}", "the of and", "?", "0", "12", "2019", "β", "日本語", "ﬁ", "x\u0301\u0302",
    "lexical_index", "rank", "bm25(1)", "'; DROP TABLE lexical_records; --", "zebrafish\\", "a:b:c", "<script>",
    "rowid", "'" * 99, "- - -", "5'-AMP", "‐‑–",
]  # fmt: skip


@pytest.fixture(scope="module")
def zebrafish_index() -> Iterator[sqlite3.Connection]:
    """An index for tests that do not change it."""
    with closing(open_corpus()) as made:
        add(made, [*invent_rows(30, 1), make_row(7_000, "Zebrafish text", "the of and 2019 rank near or not")])
        yield made


@pytest.mark.long
@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_any_query_is_accepted(zebrafish_index: sqlite3.Connection, query: str) -> None:
    before = read_index(zebrafish_index)
    hits = words.search_words(zebrafish_index, query, 10)

    assert len(hits) <= 10
    assert read_index(zebrafish_index) == before
    if "zebrafish" in query and "a" * 100 not in query:
        assert hits


def test_an_empty_index_finds_nothing(connection: sqlite3.Connection) -> None:
    assert find_pmids(connection, "zebrafish") == []


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_finds_nothing(connection: sqlite3.Connection, limit: int) -> None:
    add(connection, invent_rows(5, 1))

    assert find_pmids(connection, WORDS[0], limit) == []


def test_a_query_of_stop_words_only_searches_them(connection: sqlite3.Connection) -> None:
    add(connection, [make_row(1, "To be or not to be"), make_row(2, "Zebrafish")])

    assert find_pmids(connection, "to be or not to be") == [1]


def test_operators_are_words(connection: sqlite3.Connection) -> None:
    add(connection, [make_row(1, "Zebrafish heart"), make_row(2, "Retina"), make_row(3, "Liver")])

    assert sorted(find_pmids(connection, "zebrafish AND retina")) == [1, 2]
    assert 1 in find_pmids(connection, "liver NOT zebrafish")


SAME = [
    ("COVID-19", "covid19", "covid 19", "COVID‑19"),
    ("IL-6", "IL6", "interleukin IL 6", "il‐6"),
    ("p53", "p-53", "P53"),
    ("TNF-α", "TNF alpha", "TNFα", "tnf-alpha"),
    ("β-cell", "beta cell", "beta-cell"),
    ("tumour", "tumor", "tumors"),
    ("anaemia", "anemia"),
    ("randomised", "randomized"),
    ("preeclampsia", "pre-eclampsia", "pre eclampsia"),
    ("Ménière", "Meniere"),
    ("Sjögren's", "Sjogren"),
    ("hepatitis B", "hepatitis-B"),
    ("T₃", "T3"),
]


@pytest.mark.parametrize("spellings", SAME, ids=[spellings[0] for spellings in SAME])
def test_another_spelling_finds_the_same(connection: sqlite3.Connection, spellings: tuple[str, ...]) -> None:
    add(connection, [make_row(place, f"On {spelling} here") for place, spelling in enumerate(spellings, 1)])
    add(connection, [make_row(100 + place, f"Something else {place}") for place in range(40)])
    for query in spellings:
        assert set(find_pmids(connection, query)) >= set(range(1, len(spellings) + 1)), query


def test_a_letter_or_number_belongs_to_the_word_before_it(connection: sqlite3.Connection) -> None:
    add(
        connection,
        [
            make_row(1, "Hepatitis B", "c and a"),
            make_row(2, "Hepatitis C", "b or a"),
            make_row(3, "Vitamin A"),
            make_row(4, "A vitamin"),
        ],
    )

    assert find_pmids(connection, "hepatitis C")[0] == 2
    assert find_pmids(connection, "hepatitis B")[0] == 1
    assert find_pmids(connection, "vitamin A")[0] == 3


def test_a_quoted_phrase_must_be_in_the_record(connection: sqlite3.Connection) -> None:
    add(
        connection,
        [
            make_row(1, "Quality of life after stroke"),
            make_row(2, "Life quality of stroke"),
            make_row(3, "Stroke stroke stroke"),
        ],
    )

    assert find_pmids(connection, '"quality of life" stroke') == [1]
    assert find_pmids(connection, "“quality of life” stroke") == [1]
    assert set(find_pmids(connection, "quality of life stroke")) == {1, 2, 3}


def test_a_phrase_that_no_record_has_is_read_as_words(connection: sqlite3.Connection) -> None:
    add(connection, [make_row(1, "Zebrafish heart"), make_row(2, "Heart")])

    assert find_pmids(connection, '"heart zebrafish"') == [1, 2]


def test_a_rare_word_does_not_prevent_a_full_list(connection: sqlite3.Connection) -> None:
    add(connection, [make_row(1, "Zebrafish"), *(make_row(pmid, "Patients") for pmid in range(2, 60))])

    assert len(find_pmids(connection, "zebrafish patients", 20)) == 20
    assert find_pmids(connection, "zebrafish patients", 20)[0] == 1


# Corpora -------------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("size", [0, 40, 300])
@pytest.mark.parametrize("sparse", [1, 1_000], ids=["few looked up", "all scored"])
@pytest.mark.parametrize("written", [True, False])
def test_a_search_in_a_corpus_is_the_whole_search_without_other_records(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, size: int, sparse: int, written: bool
) -> None:
    monkeypatch.setattr(relevance, "_SPARSE", sparse)  # so that a small corpus takes both ways
    monkeypatch.setattr(relevance, "COSTLY", 60)
    monkeypatch.setattr(lexical, "AT_ONCE", 90)
    rows = invent_rows(300, 5)
    put(connection, rows)
    if written:
        index(connection)
    chooser = random.Random(size)
    members = {one.pmid for one in chooser.sample(rows, size)}
    join(connection, "mine", members)
    join(connection, "other", [row.pmid for row in rows[:50]])
    for _ in range(4):
        query = " ".join(chooser.choices(WORDS, k=3))
        whole = words.search_words(connection, query, 500, profile=PLAIN)
        inside = words.search_words(connection, query, 10, corpus="mine", profile=PLAIN)

        assert inside == [hit for hit in whole if hit.pmid in members][:10]
        assert {hit.pmid for hit in words.search_words(connection, query, 10, corpus="mine")} <= members


def test_records_that_a_query_no_longer_finds_are_not_found(connection: sqlite3.Connection) -> None:
    add(connection, [make_row(1, "Zebrafish"), make_row(2, "Zebrafish")])
    join(connection, "mine", [2])

    assert find_pmids(connection, "zebrafish", corpus="mine") == [2]
    assert find_pmids(connection, '"zebrafish"', corpus="mine") == [2]
    assert find_pmids(connection, "zebrafish", corpus="unknown") == []
    join(connection, "mine", [1, 2])
    assert find_pmids(connection, "zebrafish", corpus="mine") == [1, 2]
    connection.execute("DELETE FROM lexical_members WHERE query_key = 'mine'")
    assert find_pmids(connection, "zebrafish", corpus="mine") == []


# Passages ------------------------------------------------------------------------------------------------------------

PASSAGES = [
    "[Title] Aspirin and bleeding\n[Section] Background\n[Text] Stroke is common.",
    "[Section] Methods\n[Text] Patients took aspirin.",
    "[Section] Results\n[Text] Bleeding was more frequent with aspirin (IL-6 rose).",
]


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("does aspirin cause bleeding?", 2),
        ("stroke", 0),
        ("who took aspirin", 1),
        ("IL6", 2),
        ("zebrafish", 0),
        ("", 0),
        ('"', 0),
    ],
)
def test_the_shown_passage_is_the_one_that_matches(query: str, place: int) -> None:
    assert words.find_best_chunk(query, PASSAGES) == place


def test_without_a_matching_passage_the_first_is_shown() -> None:
    assert words.find_best_chunk("aspirin", []) == 0
    assert words.find_best_chunk("aspirin", ["[Title] Aspirin"]) == 0


@pytest.mark.parametrize(
    ("written", "query"),
    [
        ("at 10⁶ cells", "10⁶"),
        ("at 10⁶ cells", "106"),
        ("at 10⁶ cells", "10^6"),
        ("in H₂O", "H2O"),
        ("in H2O", "H₂O"),
        ("CD4⁺ T cells", "CD4+"),
        ("CD4+ T cells", "CD4⁺"),
        ("T_(H)17 cells", "TH17"),
        ("PM_(2.5) in air", "PM2.5"),
        ("Transport ᵃ of", "transport"),
    ],
)
def test_superscripts_are_found_in_any_typed_form(connection: sqlite3.Connection, written: str, query: str) -> None:
    add(connection, [make_row(1, "other words"), make_row(2, written), make_row(3, "and more", "none of it")])

    assert find_pmids(connection, query) == [2]

    remove(connection, [1, 2, 3])
    assert find_pmids(connection, query) == []


def test_records_without_a_word_are_indexed_and_found_by_none(connection: sqlite3.Connection) -> None:
    add(connection, [make_row(1, "…"), make_row(2)])
    assert (find_pmids(connection, "zebrafish"), lexical.count_queued(connection)) == ([], 0)

    add(connection, [make_row(3, "Zebrafish")])
    assert find_pmids(connection, "zebrafish") == [3]

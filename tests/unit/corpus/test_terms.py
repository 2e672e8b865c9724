"""Words and stems are those of SQLite's tokenizer."""

import random
import sqlite3
from collections import defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from entrez_kit.base.errors import NotConfigured
from entrez_kit.corpus.search import terms
from entrez_kit.corpus.search.terms import normalize_words, stem_words

ENDINGS = """
    ational tional enci anci izer logi bli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti
    iviti biliti icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent ion ou ism ate
    iti ous ive ize s es ed ing eed ies sses y e ll at bl iz yy us
""".split()  # noqa: SIM905
WORDS = """
    caresses ponies ties caress cats feed agreed plastered bled motoring sing conflated troubled sized hopping tanned
    falling hissing fizzed failing filing happy sky relational conditional rational valenci hesitanci digitizer
    conformabli radicalli differentli vileli analogousli vietnamization predication operator feudalism decisiveness
    hopefulness callousness formaliti sensitiviti sensibiliti triplicate formative formalize electriciti electrical
    hopeful goodness revival allowance inference airliner gyroscopic adjustable defensible irritant replacement
    adjustment dependent adoption homologou communism activate angulariti homologous effective bowdlerize probate rate
    cease controll roll p53 il 6 as by yyed eed eeds aing generalizations oscillators naïve русский 日本 éed
""".split()  # noqa: SIM905


def read_sqlite_words(texts: Sequence[str]) -> list[list[str]]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text, content='', columnsize=0, tokenize='porter ascii')")
    connection.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(texts))
    connection.execute("CREATE VIRTUAL TABLE seen USING fts5vocab(texts, instance)")
    places: dict[int, dict[int, str]] = defaultdict(dict)
    for term, text, offset in connection.execute("SELECT term, doc, offset FROM seen"):
        places[text][offset] = term
    connection.close()
    return [[places[text][offset] for offset in sorted(places[text])] for text in range(len(texts))]


def test_stems_are_those_of_sqlite() -> None:
    chooser = random.Random(1)
    starts = ["".join(chooser.choices("aeiouybcdlstwxz1", k=chooser.randrange(5))) for _ in range(6_000)]
    words = [*WORDS, "a" * 70, "x" * 63 + "s", *(start + chooser.choice(ENDINGS) for start in starts)]
    words = sorted({word for text in words for word in normalize_words(text)})

    assert read_sqlite_words(words) == [[stem] for stem in stem_words(words)]


@given(st.text(), st.sampled_from(ENDINGS))
@example("a\u4000", "ing")
@example("a" * 40_000 + "\u4000\u4000", "ed")
def test_each_word_of_any_script_has_a_stem(text: str, ending: str) -> None:
    words = normalize_words(text + ending)

    assert len(stem_words(words)) == len(words)
    assert stem_words(["running"]) == ["run"]


def test_a_sqlite_without_full_text_search_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not a damaged corpus."""
    opened = sqlite3.connect(":memory:")
    opened.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_CREATE_VTABLE else 0)
    terms._stemmer.cache_clear()  # a stemmer lives as long as the process
    monkeypatch.setattr(sqlite3, "connect", lambda *_, **__: opened)
    try:
        with pytest.raises(NotConfigured, match="SQLite") as caught:
            stem_words(["running"])
    finally:
        opened.close()

    assert caught.value.reason == "no_fts5"


def test_stems_share_their_beginning_with_the_word() -> None:
    """Scoring relies on it to skip most words."""
    chooser = random.Random(2)
    words = [
        "".join(chooser.choices("aeiouybcdlst", k=chooser.randrange(1, 6))) + chooser.choice(ENDINGS)
        for _ in range(20_000)
    ]
    for word, stemmed in zip(words, stem_words(words), strict=True):
        same = min(3, max(1, len(stemmed) - 1))

        assert stemmed[:same] == word[:same], word


@pytest.mark.long
def test_words_are_those_of_sqlite_in_any_script() -> None:
    chooser = random.Random(3)
    ranges = ((1, 128), (128, 0x300), (0x300, 0x3000), (0x3000, 0xD7FF), (0xE000, 0x10FFFF))
    texts = [
        "".join(chr(chooser.randrange(*chooser.choice(ranges))) for _ in range(chooser.randrange(80)))
        for _ in range(1_500)
    ]
    texts += ["a\0b", "\ud800 x", "_x_", "x" * 5_000, "İstanbul ½ ① Ⅳ ªº", "हिन्दी", ""]

    split = [normalize_words(text) for text in texts]
    assert read_sqlite_words([" ".join(words) for words in split]) == [stem_words(words) for words in split]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("TNF-α, NF-κB", "tnf alpha nf kappa b"),
        ("Ångström’s naïve Ménière", "angstrom s naive meniere"),
        ("5 µg/mL × T₃", "5 mu g ml t3"),
        ("IL‐6 and COVID–19", "il 6 and covid 19"),
        ("e\u0301te\u0301 ﬁbrosis œdema Straße", "ete fibrosis oedema strasse"),
        ("10⁶, min⁻¹, H₂O, Ca²⁺, xₘₐₓ", "106 min 1 h2o ca2 xmax"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"),
        ("TNFα ΔF508 17β-estradiol", "tnf alpha delta f508 17 beta estradiol"),
        ("T_(H)17 PM_(2.5) IFNAR^(-/-) 10^6 CFU α_(max)", "th17 pm2 5 ifnar 106 cfu alpha max"),
        ("¶ § †", ""),
    ],
)
def test_letters_lose_their_accents_and_greek_ones_are_named(text: str, words: str) -> None:
    assert normalize_words(text) == words.split()
    assert normalize_words(" ".join(normalize_words(text))) == words.split()

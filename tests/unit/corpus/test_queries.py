"""The interpretation of queries."""

import pytest

from entrez_kit.corpus.search.query import (
    MAX_CONCEPTS,
    PART_WEIGHT,
    REQUEST_WEIGHT,
    parse,
    to_concept,
    yield_other_spellings,
)
from entrez_kit.corpus.search.terms import stem_words
from entrez_kit.query.segments.relevance import WordSequence


def has_no_phrase(phrase: WordSequence) -> bool:
    return False


def has_any_phrase(phrase: WordSequence) -> bool:
    return True


def list_phrases(query: str) -> list[str]:
    """Return the stems of each concept, which has one spelling if the index has no other."""
    return [" ".join(phrase) for concept in parse(query, has_no_phrase) for phrase in concept.phrases]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What is the effect of aspirin on stroke?", ["effect", "aspirin", "stroke"]),
        ("aspirin Aspirin aspirins", ["aspirin"]),
        ("type 2 diabetes", ["type", "type 2", "diabetes"]),
        ("hepatitis B virus", ["hepatitis", "hepatitis b", "virus"]),
        ("phase III trial", ["phase", "phase iii", "trial"]),
        ("trials in 2019", ["trials", "2019"]),
        ("patient's T-cell count", ["patient", "t cell", "cell", "count"]),
        ("IL-6", ["il 6"]),
        ("insulin-dependent", ["insulin", "dependent"]),
        ("anti-inflammatory", ["anti inflammatory", "inflammatory"]),
        ("and/or cancer", ["cancer"]),
        ("WHO guidelines", ["who", "guidelines"]),
        ("who has guidelines", ["guidelines"]),
        ("a b c", ["a", "b", "c"]),
        ("the of and", ["the", "of", "and"]),
        ("5", ["5"]),
        ("", []),
        ('""', []),
        ("***", []),
    ],
)
def test_a_query_is_read_as_these_concepts(query: str, expected: list[str]) -> None:
    assert list_phrases(query) == [" ".join(stem_words(phrase.split())) for phrase in expected]


def test_other_spellings_are_searched_if_the_index_has_them() -> None:
    [concept] = parse("haemoglobin", lambda phrase: phrase == ("hemoglobin",))

    assert concept.phrases == (("haemoglobin",), ("hemoglobin",))


def test_every_way_to_join_a_hyphenated_name_is_searched() -> None:
    concept = parse("COVID-19", has_any_phrase)[0]

    assert set(concept.phrases) == {("covid", "19"), ("covid19",)}


def test_words_of_requests_and_parts_of_names_count_for_less() -> None:
    weights = {group.phrases[0]: group.weight for group in parse("studies of COVID-19", has_no_phrase)}

    assert weights == {("studi",): REQUEST_WEIGHT, ("covid", "19"): 1.0, ("covid",): PART_WEIGHT}


def test_only_a_quoted_phrase_that_exists_is_required() -> None:
    assert to_concept([("heart", "attack")], required=True) in parse('"heart attack" risk', has_any_phrase)
    assert not any(group.required for group in parse('"heart attack" risk', has_no_phrase))
    assert not any(group.required for group in parse('"heart" risk', has_any_phrase))


def test_a_long_query_is_cut() -> None:
    assert len(parse(" ".join(f"word{number}" for number in range(500)), has_no_phrase)) == MAX_CONCEPTS


def test_text_for_sqlite_has_only_letters_digits_and_our_own_quotes() -> None:
    for group in parse("x\"y 'z' (a) b* NEAR/2 -c: {d} \0 e", has_any_phrase):
        for phrase in group.phrases:
            assert set("".join(phrase)) <= set("abcdefghijklmnopqrstuvwxyz0123456789"), phrase


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tumour", "tumor"),
        ("leukaemia", "leukemia"),
        ("oestrogen", "estrogen"),
        ("paediatric", "pediatric"),
        ("randomised", "randomized"),
        ("analyse", "analyze"),
        ("diarrhoea", "diarrhea"),
        ("fibre", "fiber"),
        ("sulphate", "sulfate"),
    ],
)
def test_british_and_american_spellings_are_equal(one: str, other: str) -> None:
    assert other in yield_other_spellings(one)
    assert one in yield_other_spellings(other)

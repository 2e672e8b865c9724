"""Quotations that their sentence denies or questions are distinguished from stated ones."""

from collections.abc import Sequence

import pytest
from denied_quotations import (
    BARE_PREDICATES,
    CLAUSES,
    DENY_BARE_PREDICATE,
    DENY_CLAUSE,
    DENY_NOUN,
    DENY_PREDICATE,
    KEEP_CLAUSE,
    KEEP_PREDICATE,
    NEGATED,
    NOUNS,
    PREDICATES,
    write_sentence,
)

from entrez_kit.references.claims.context import find_denial
from entrez_kit.references.claims.passages import FoldedClaim, FoldedText


def find_words(text: str, *quotations: str) -> str | None:
    """Return the words that deny a quotation in the middle of a text."""
    folded = FoldedText(f"Mice lived in cages. {text} The end was near.")
    spans = [next(FoldedClaim(quotation).find_all(folded)) for quotation in quotations]
    return find_denial(folded, spans, is_question=quotations[-1].endswith("?"))


def list_pairs(templates: Sequence[str], quotations: Sequence[str]) -> list[tuple[str, str]]:
    return [(write_sentence(template, quotation), quotation) for template in templates for quotation in quotations]


@pytest.mark.parametrize(
    ("templates", "quotations"),
    [
        pytest.param(DENY_CLAUSE, CLAUSES, id="clauses"),
        pytest.param(DENY_NOUN, NOUNS, id="nouns"),
        pytest.param(DENY_PREDICATE, PREDICATES, id="predicates"),
        pytest.param(DENY_BARE_PREDICATE, BARE_PREDICATES, id="bare predicates"),
        pytest.param(("It is not true that {}.", "There is no evidence that {}."), NEGATED, id="negations"),
    ],
)
def test_a_denied_or_questioned_quotation_has_the_words_that_deny_it(
    templates: Sequence[str], quotations: Sequence[str]
) -> None:
    assert [text for text, one in list_pairs(templates, quotations) if not find_words(text, one)] == []


@pytest.mark.parametrize(
    ("templates", "quotations"),
    [
        pytest.param(KEEP_CLAUSE, CLAUSES, id="clauses"),
        pytest.param(KEEP_PREDICATE, PREDICATES, id="predicates"),
        pytest.param(("{S}.", "We found that {}.", "Fever did not fall, but {}."), NEGATED, id="negations inside"),
    ],
)
def test_a_negation_of_another_clause_or_inside_the_quotation_denies_nothing(
    templates: Sequence[str], quotations: Sequence[str]
) -> None:
    assert [(text, words) for text, one in list_pairs(templates, quotations) if (words := find_words(text, one))] == []


def test_a_question_that_is_quoted_completely_is_in_its_context() -> None:
    assert find_words("Does mucus move at 5 mm per minute?", "Does mucus move at 5 mm per minute?") is None
    assert find_words("Does mucus move at 5 mm per minute?", "mucus move at 5 mm per minute")


def test_the_words_of_the_denial_are_quoted() -> None:
    assert find_words("There is no evidence that mucus moves at all.", "mucus moves at all") == "no evidence that"
    assert find_words("That mucus moves at all has not been shown.", "mucus moves at all") == "has not"


@pytest.mark.parametrize(
    ("text", "pieces", "is_denied"),
    [
        ("Mucus in old mice is moved by cilia at 5 mm.", ("Mucus", "is moved by cilia at 5 mm"), False),
        ("Mucus in mice is not moved by cilia.", ("Mucus in mice is", "moved by cilia"), True),
        ("Drug A cut pain but not in any trial mortality in men.", ("Drug A cut", "mortality in men"), True),
        ("Drug A cut pain, while drug B raised mortality in men.", ("Drug A cut", "mortality in men"), True),
        ("Mucus did not move. In mice, cilia beat at 12 Hz.", ("Mucus did not move", "cilia beat at 12 Hz"), False),
        ("Mucus did not move in mice, or so it seemed.", ("Mucus did not", "in mice"), False),
    ],
)
def test_words_omitted_by_an_ellipsis_count(text: str, pieces: Sequence[str], is_denied: bool) -> None:
    assert bool(find_words(text, *pieces)) is is_denied

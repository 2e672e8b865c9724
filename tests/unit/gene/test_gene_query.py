"""From what a user types to searches of NCBI Gene."""

import pytest

from entrez_kit.gene.query import GeneQuery


def test_a_symbol_becomes_three_searches_without_overlap() -> None:
    query = GeneQuery.of("TP53", taxid=9606)
    rest = query.rest(after_symbol=True, after_alias=True)

    where = " AND alive[prop] AND txid9606[Organism]"
    assert query.first().term == '"TP53"[Preferred Symbol]' + where
    assert query.alias(after_symbol=True).term == '("TP53"[Gene Name] NOT "TP53"[Preferred Symbol])' + where
    assert rest is not None
    assert rest.term == '((TP53) NOT ("TP53"[Preferred Symbol] OR "TP53"[Gene Name]))' + where
    assert not query.is_single


def test_what_nothing_has_is_not_subtracted_since_ncbi_might_drop_it() -> None:
    query = GeneQuery.of("tumor  suppressor", current_only=False)
    rest = query.rest(after_symbol=False, after_alias=False)

    assert query.alias(after_symbol=False).term == '"tumor suppressor"[Gene Name]'
    assert rest is not None
    assert rest.term == "(tumor suppressor)"


@pytest.mark.parametrize("text", ["BRCA1[sym]", 'TP53 AND "breast cancer"', "apo*", "p53 NOT mouse", '"p53"'])
def test_entrez_syntax_passes_through_as_one_search(text: str) -> None:
    query = GeneQuery.of(text)

    assert query.is_single
    assert query.first().term == f"({text}) AND alive[prop]"
    assert query.first().kind is None


@pytest.mark.parametrize("text", ["NOT", "AND", "NOT1", "or", "rock and roll", "Su(H)", "p53 (human)", "HLA-DRB1"])
def test_words_that_only_look_like_operators_are_words(text: str) -> None:
    assert not GeneQuery.of(text).is_single


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Su(H)", "Su H"),
        ("p53)", "p53"),
        ("NOT", '"NOT"'),
        ("HGNC:11998", "HGNC 11998"),
        ("#1 a|b & c", "1 a b c"),
        ("(((", ""),
    ],
)
def test_plain_words_cannot_break_out_of_their_search(text: str, words: str) -> None:
    assert GeneQuery.of(text).words == words


def test_an_id_is_searched_as_an_id() -> None:
    query = GeneQuery.of("NCBIGene:7157", current_only=False)

    assert query.is_single
    assert query.first().term == "7157[uid]"


def test_without_words_there_is_no_search_of_the_rest() -> None:
    assert GeneQuery.of("(((").rest(after_symbol=False, after_alias=False) is None

"""Queries of a user as searches of NCBI Gene."""

import pytest

from entrez_kit.databases.gene.gene_query import GeneQuery


def test_a_symbol_becomes_three_searches_without_overlap() -> None:
    query = GeneQuery.of("TP53", taxid=9606)
    symbol, alias, rest = query.tiers

    where = " AND alive[prop] AND txid9606[Organism]"
    assert query.build_term(symbol) == '"TP53"[Preferred Symbol]' + where
    assert query.build_term(alias, [symbol]) == '("TP53"[Gene Name] NOT "TP53"[Preferred Symbol])' + where
    before = '("TP53"[Preferred Symbol] OR "TP53"[Gene Name])'
    assert query.build_term(rest, [symbol, alias]) == f"((TP53) NOT {before})" + where


def test_a_part_that_no_record_has_is_not_excluded_because_ncbi_could_drop_it() -> None:
    query = GeneQuery.of("tumor  suppressor", current_only=False)
    _, alias, rest = query.tiers

    assert query.build_term(alias) == '"tumor suppressor"[Gene Name]'
    assert query.build_term(rest) == "(tumor suppressor)"


@pytest.mark.parametrize("text", ["BRCA1[sym]", 'TP53 AND "breast cancer"', "apo*", "p53 NOT mouse", '"p53"'])
def test_entrez_syntax_is_sent_as_one_search(text: str) -> None:
    query = GeneQuery.of(text)
    (tier,) = query.tiers

    assert query.build_term(tier) == f"({text}) AND alive[prop]"
    assert tier.kind is None


@pytest.mark.parametrize("text", ["NOT", "AND", "NOT1", "or", "rock and roll", "Su(H)", "p53 (human)", "HLA-DRB1"])
def test_words_that_only_look_like_operators_are_words(text: str) -> None:
    assert len(GeneQuery.of(text).tiers) == 3


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
def test_plain_words_cannot_leave_their_search(text: str, words: str) -> None:
    assert GeneQuery.of(text).words == words


def test_an_id_is_searched_as_an_id() -> None:
    query = GeneQuery.of("NCBIGene:7157", current_only=False)

    assert [query.build_term(tier) for tier in query.tiers] == ["7157[uid]"]

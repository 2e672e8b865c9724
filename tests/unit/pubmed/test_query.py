"""PubMed terms built from a query and filters that cannot change each other's meaning."""

import pytest

from entrez_kit.base.errors import InvalidInput
from entrez_kit.core.query_input import check_balance, normalize_date
from entrez_kit.pubmed.search import SEARCH_ARTICLES
from entrez_kit.pubmed.search_models import SearchRequest


def test_a_query_without_filters_is_sent_unchanged() -> None:
    assert SearchRequest(query_term="asthma OR copd").term() == "asthma OR copd"


def test_the_query_is_parenthesised_before_filters_are_added() -> None:
    request = SearchRequest(
        query_term="asthma OR copd",
        filter_by_publication_types=["Review", "Clinical Trial"],
        author="Doe J",
        journal="J Invent",
        mesh_terms=["Humans", "Databases, Protein"],
        language="french",
        species="humans",
        has_abstract=True,
        free_full_text=True,
    )

    assert request.term() == (
        '(asthma OR copd) AND ("Review"[Publication Type] OR "Clinical Trial"[Publication Type]) AND "Doe J"[Author] '
        'AND "J Invent"[Journal] AND "Humans"[MeSH Terms] AND "Databases, Protein"[MeSH Terms] AND "french"[Language] '
        "AND humans[MeSH Terms] AND hasabstract AND free full text[Filter]"
    )


@pytest.mark.parametrize("value", ['x" OR "y', "x[ti]", "x]", "a\x00b", "  "])
def test_a_filter_value_that_could_add_a_clause_is_rejected(value: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        SearchRequest(query_term="asthma", author=value).term()

    assert caught.value.invalid_input == f"author={value}"


@pytest.mark.parametrize(
    ("query", "place", "what"),
    [
        ('"base editing', 1, "quotation mark"),
        ('a "b" "c', 7, "quotation mark"),
        ("(a OR b", 1, "opening parenthesis"),
        ("((a) OR b", 1, "opening parenthesis"),
        ("a) OR b", 2, "closing parenthesis"),
        ("crispr[ti", 7, "square bracket"),
        ('"a [b" AND c[[ti]', 13, "square bracket"),
    ],
)
def test_an_unbalanced_query_is_rejected_with_the_position(query: str, place: int, what: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_balance(query, brackets=True)

    assert f"{what} at character {place}" in caught.value.message
    assert caught.value.details["position"] == place


@pytest.mark.parametrize("query", ['"a (b" AND ")" AND (c)', '"a [b" AND c[ti]', "[[18F]FDG]", "a] OR b"])
def test_a_balanced_query_is_accepted_and_characters_in_quotes_are_ignored(query: str) -> None:
    check_balance(query, brackets=True)


@pytest.mark.parametrize(
    ("given", "normal"),
    [("2024", "2024"), ("2024/6", "2024/06"), ("2024-06-01", "2024/06/01"), ("2024.6.1", "2024/06/01")],
)
def test_dates_are_sent_in_the_form_that_ncbi_accepts(given: str, normal: str) -> None:
    assert normalize_date(given) == normal


@pytest.mark.parametrize("given", ["2024/02/30", "2024/13", "24", "yesterday", "2024/", "2024/06/01/02", "２０２４"])
def test_a_date_that_does_not_exist_is_rejected(given: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        SEARCH_ARTICLES.build({"query_term": "asthma", "date_range": {"min_date": given}})

    assert caught.value.invalid_input == f"date_range.min_date={given}"


def test_both_date_bounds_and_the_date_type_are_always_sent() -> None:
    only_min = SearchRequest.model_validate({"query_term": "asthma", "date_range": {"min_date": "2020"}})
    only_max = SearchRequest.model_validate(
        {"queryTerm": "asthma", "dateRange": {"maxDate": "2020/05", "dateType": "edat"}}
    )

    assert only_min.date_parameters() == {"datetype": "pdat", "mindate": "2020", "maxdate": "3000"}
    assert only_max.date_parameters() == {"datetype": "edat", "mindate": "0001", "maxdate": "2020/05"}
    assert only_max.effective_term() == '(asthma) AND ("0001"[edat] : "2020/05"[edat])'


def test_dates_in_the_wrong_order_are_rejected_but_overlapping_periods_are_not() -> None:
    with pytest.raises(InvalidInput):
        SEARCH_ARTICLES.build({"query_term": "asthma", "date_range": {"min_date": "2024", "max_date": "2020"}})
    SEARCH_ARTICLES.build({"query_term": "asthma", "date_range": {"min_date": "2024/06", "max_date": "2024"}})


def test_empty_optional_arguments_count_as_absent() -> None:
    request = SEARCH_ARTICLES.build(
        {
            "query_term": "asthma",
            "author": "",
            "journal": None,
            "mesh_terms": [],
            "date_range": {"min_date": "", "max_date": ""},
            "sort_by": "",
        }
    )

    assert request == SearchRequest(query_term="asthma")


def test_unknown_arguments_are_rejected_by_name() -> None:
    with pytest.raises(InvalidInput) as caught:
        SEARCH_ARTICLES.build({"query_term": "asthma", "retmax": 5})

    assert caught.value.invalid_input == "retmax=5"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("query_term", "ab"),
        ("query_term", "   a  "),
        ("max_results", 0),
        ("max_results", 10_000),
        ("offset", -1),
        ("offset", 9_999),
        ("fetch_brief_summaries", -1),
        ("sort_by", "newest"),
        ("species", "plants"),
    ],
)
def test_values_out_of_bounds_are_rejected_with_the_field(field: str, value: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        SEARCH_ARTICLES.build({"query_term": "asthma", field: value})

    assert (caught.value.invalid_input or "").startswith(f"{field}=")


def test_a_request_for_more_than_pubmeds_maximum_names_the_way_to_all_results() -> None:
    with pytest.raises(InvalidInput, match="from 1 to 9999") as caught:
        SEARCH_ARTICLES.build({"query_term": "asthma", "max_results": 10_000})
    assert "kit.search_all" in caught.value.recovery_hint


def test_the_short_name_of_a_sort_order_is_accepted() -> None:
    assert SEARCH_ARTICLES.build({"query_term": "asthma", "sort_by": "journal"}).sort_by == "journal_name"

"""The sandbox's PubMed query language, one line per rule."""

from pathlib import Path

import pytest
from sandbox_records import Client, serve, write_article, write_article_set, write_records


@pytest.mark.parametrize(
    ("term", "pmids"),
    [
        # words, phrases, truncation
        ("asthma", "101 103 104"),
        ("ASTHMA children", "101 104"),
        ('"heart attack"', "103"),
        ("heart attack", "103 104"),
        ('"heart attack"[ti]', "103"),
        ('"attack heart"[ti:~3]', "103 104"),
        ('"attack heart"[ti:~0]', "103"),
        ("immun*", "101 102"),
        ("immun*[ti]", "102"),
        ('"airway immun*"[tiab]', "101"),
        ("imm*", ""),
        ("covid-19", "102"),
        ("mus musculus", "102"),
        ("muller", "101"),
        ("MÜLLER", "101"),
        ("o'brien", "102"),
        ("of the asthma", "101 103 104"),
        # operators go from left to right
        ("mice OR asthma AND review[pt]", "101"),
        ("mice OR (asthma AND review[pt])", "101 102"),
        ("asthma NOT children", "103"),
        ("heart OR mice NOT asthma", "102"),
        ("asthma and children", "101 104"),
        ("((asthma) AND (heart))", "103 104"),
        ("NOT asthma", "102"),
        ("asthma heart OR mice", "102 103 104"),
        # fields
        ("asthma[ti]", "101 103"),
        ("asthma[Title]", "101 103"),
        ("asthma[tiab]", "101 103 104"),
        ("asthma[Title/Abstract]", "101 103 104"),
        ("children[tiab]", "101 104"),
        ("steroids[ot]", "101"),
        ("steroids[tw]", "101"),
        ("wheezing[ad]", "103"),
        ("wheezing[all]", "101 103"),
        ("wheezing[All Fields]", "101 103"),
        ("HL777[gr]", "103"),
        ("smith[au]", "101 102"),
        ("smith j[au]", "101 102"),
        ("smith ja[Author]", "101"),
        ('"smith j"[au]', "102"),
        ("smith john a[au]", "101"),
        ("smith ja", "101"),
        ("smith[1au]", "101 102"),
        ("smith[lastau]", ""),
        ("Consortium for Testing[cn]", "104"),
        ("Consortium for Testing[au]", "104"),
        ("J Tests[ta]", "101 103 104"),
        ("Journal of tests[journal]", "101 103 104"),
        ('"Ann Mice"[jour]', "102"),
        ("1234-5678[ta]", "101 102 103 104"),
        ("9000002[ta]", "102"),
        ("humans[mh]", "101 103 104"),
        ("humans[MeSH Terms:noexp]", "101 103 104"),
        ("asthma[majr]", "101"),
        ("child[majr]", ""),
        ("rheumatoid arthritis[mh]", "103"),
        ('"arthritis, rheumatoid"[mesh]', "103"),
        ("rheumatoid arthritis", "103"),
        ("randomized controlled trial[pt]", "103"),
        ("review[Publication Type] OR rct[pt]", "101 103"),
        ("french[la]", "103"),
        ("fre[lang]", "103"),
        ("eng[language] AND heart", "104"),
        ("101[pmid]", "101"),
        ("101,103[uid]", "101 103"),
        ("101:103[uid]", "101 102 103"),
        ("104", "104"),
        ("10.1000/one[doi]", "101"),
        ("10.1000/FOUR[aid]", "104"),
        ("https://doi.org/10.1000/two[doi]", "102"),
        ("10.1000/two", "102"),
        ("S1[aid]", "101"),
        ("PMC504[pmc]", "104"),
        ("8[vi] AND 100[pg]", "104"),
        # dates
        ("2019[dp]", "101"),
        ("2019:2020[dp]", "101 102"),
        ("2021[dp]", "103 104"),
        ("2022[dp]", "104"),
        ("2021/01[pdat]", "103"),
        ("2020/06/15[dp]", "102"),
        ('"2020/01/01"[edat] : "2021/06"[edat]', "102 103"),
        ("2020/01/01:3000[edat]", "102 103 104"),
        ('("2021"[Date - Entry] : "3000"[Date - Entry])', "103 104"),
        ("2021[crdt]", "103 104"),
        ("2021/01/02[mdat]", "101 102 103 104"),
        ("2021/01/02[lr]", "101 102 103 104"),
        ("2021[epdat]", "104"),
        ("asthma 2021:2022[dp]", "103 104"),
        # filters
        ("hasabstract", "101 102 104"),
        ("hasabstract[text]", "101 102 104"),
        ("heart AND hasabstract[sb]", "104"),
        ("free full text[filter]", "101 104"),
        ('"free full text"[sb]', "101 104"),
        ("full text[sb]", "101 102 104"),
        ("humans[filter]", "101 103 104"),
        ("medline[sb]", "101 102 103 104"),
        ("all[sb]", "101 102 103 104"),
        # what does not add up is forgiven
        ("((asthma", "101 103 104"),
        ("asthma)", "101 103 104"),
        ('asthma "heart', "103 104"),
        ("asthma AND", "101 103 104"),
        ("AND OR asthma", "101 103 104"),
        ("asthma[", "101 103 104"),
        ("[ti] asthma", "101 103 104"),
    ],
)
def test_a_query_finds_the_records_that_pubmed_would_find(small_client: Client, term: str, pmids: str) -> None:
    assert small_client.pmids(term) == set(pmids.split())


@pytest.mark.parametrize(
    ("term", "translation"),
    [
        ("wheezing", '"wheezing"[All Fields]'),
        ("wheezing registries", '"wheezing"[All Fields] AND "registries"[All Fields]'),
        ("asthma", '"asthma"[MeSH Terms] OR "asthma"[All Fields]'),
        ("asthma heart", '("asthma"[MeSH Terms] OR "asthma"[All Fields]) AND "heart"[All Fields]'),
        ("wheezing[tiab] AND immun*[ti]", '"wheezing"[Title/Abstract] AND "immun*"[Title]'),
        (
            "heart OR mice[tiab] AND review[pt]",
            '("heart"[All Fields] OR "mice"[Title/Abstract]) AND "review"[Publication Type]',
        ),
        (
            "heart OR (mice[tiab] AND review[pt])",
            '"heart"[All Fields] OR ("mice"[Title/Abstract] AND "review"[Publication Type])',
        ),
        ("heart NOT mice[tiab]", '"heart"[All Fields] NOT "mice"[Title/Abstract]'),
        ("2020:2024[dp]", "2020/01/01:2024/12/31[Date - Publication]"),
        ("2024/02[edat]", "2024/02/01:2024/02/29[Date - Entry]"),
        ('"2020/01/01"[crdt] : "3000"[crdt]', "2020/01/01:3000/12/31[Date - Create]"),
        ("smith j[au]", "smith j[Author]"),
        ('"smith ja"[au]', '"smith ja"[Author]'),
        ("hasabstract", "hasabstract[All Fields]"),
        ("free full text[filter]", '"free full text"[Filter]'),
        ("101[pmid]", "101[UID]"),
    ],
)
def test_the_translation_has_pubmeds_form(small_client: Client, term: str, translation: str) -> None:
    assert small_client.search(term)["querytranslation"] == translation


def test_mapped_terms_are_listed_with_their_translation(small_client: Client) -> None:
    found = small_client.search("rheumatoid arthritis")

    assert [entry["from"] for entry in found["translationset"]] == ["rheumatoid arthritis"]
    assert found["translationset"][0]["to"] == found["querytranslation"]


def test_an_unknown_field_is_reported_and_all_fields_are_searched(small_client: Client) -> None:
    found = small_client.search("asthma[NoSuchField]")

    assert found["errorlist"]["fieldsnotfound"] == ["NoSuchField"]
    assert found["idlist"] == small_client.search("asthma[all]")["idlist"]
    assert found["querytranslation"] == small_client.search("asthma")["querytranslation"]


@pytest.mark.parametrize("term", ["medical genetics[sb]", "asthma AND loprovhighwire[filter]"])
def test_a_filter_that_needs_other_data_is_an_error(small_client: Client, term: str) -> None:
    assert "ERROR" in small_client.search(term)


def test_a_heading_includes_narrower_ones_and_noexp_does_not(tmp_path: Path) -> None:
    text = write_article_set(
        write_article(1, "One", mesh=("Depressive Disorder",)),
        write_article(2, "Two", mesh=("Depressive Disorder, Major",)),
    )
    with serve(corpus=[write_records(tmp_path, text)]) as client:
        assert client.pmids("depressive disorder[mh]") == {"1", "2"}
        assert client.pmids("depressive disorder[mh:noexp]") == {"1"}
        assert client.pmids("depressive disorder") == {"1", "2"}


def test_an_unknown_word_is_dropped_and_reported(small_client: Client) -> None:
    found = small_client.search("asthma qqzzxx")

    assert found["errorlist"]["phrasesnotfound"] == ["qqzzxx"]
    assert set(found["idlist"]) == small_client.pmids("asthma")


@pytest.mark.parametrize(
    "term", ["qqzzxx", "qqzzxx yyqqzz", "qqzzxx[ti] AND asthma", '"no such heading"[mh] AND asthma']
)
def test_a_query_of_only_unknown_words_finds_nothing(small_client: Client, term: str) -> None:
    found = small_client.search(term)

    assert found["count"] == "0"
    assert found["idlist"] == []
    assert "No items found." in found["warninglist"]["outputmessages"]


def test_an_unknown_quoted_phrase_is_reported_and_its_words_are_searched(small_client: Client) -> None:
    found = small_client.search('"children asthma"')

    assert found["warninglist"]["quotedphrasesnotfound"] == ['"children asthma"']
    assert set(found["idlist"]) == {"101", "104"}


def test_an_unknown_tagged_phrase_is_reported_with_its_tag(small_client: Client) -> None:
    assert small_client.search('"asthma children"[tiab]')["warninglist"]["quotedphrasesnotfound"] == [
        '"asthma children"[tiab]'
    ]
    assert small_client.search('"no such heading"[mh]')["warninglist"]["quotedphrasesnotfound"] == [
        '"no such heading"[mh]'
    ]
    assert small_client.search("qqzzxx[ti]")["errorlist"]["phrasesnotfound"] == ["qqzzxx[ti]"]


def test_a_stop_word_alone_is_ignored_and_reported(small_client: Client) -> None:
    found = small_client.search("with")

    assert found["count"] == "0"
    assert found["warninglist"]["phrasesignored"] == ["with"]


def test_unbalanced_quotes_and_parentheses_cause_a_warning(small_client: Client) -> None:
    assert small_client.search('asthma "')["warninglist"]["outputmessages"] == ["Unmatched double quote ignored."]
    assert small_client.search("(asthma")["warninglist"]["outputmessages"] == ["Unmatched parenthesis ignored."]


def test_a_valid_query_has_no_lists_of_errors(small_client: Client) -> None:
    found = small_client.search("asthma AND humans[mh]")

    assert "errorlist" not in found
    assert "warninglist" not in found


def test_the_field_parameter_limits_untagged_words_only(small_client: Client) -> None:
    assert small_client.pmids("asthma", field="title") == {"101", "103"}
    assert small_client.pmids("asthma AND left[tiab]", field="tiab") == {"104"}
    assert small_client.pmids("smith ja", field="author") == {"101"}
    assert small_client.search("asthma", field="nonsense")["errorlist"]["fieldsnotfound"] == ["nonsense"]


@pytest.mark.long
@pytest.mark.parametrize(
    "term", ["(" * 5000 + "asthma" + ")" * 5000, "asthma " * 5000, "(((" * 300, "]]]", "\x00\x01", '"']
)
def test_unusual_queries_are_answered(small_client: Client, term: str) -> None:
    assert int(small_client.search(term)["count"]) in (0, 3)

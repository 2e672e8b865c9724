"""A strategy is the same however its lines are printed: with numbers, counts, titles, and wrapped at any place."""

from collections.abc import Iterator

import pytest

from entrez_kit.base.errors import InvalidInput
from entrez_kit.strategies.printed_lines import find_second_list, read_strategy_lines
from entrez_kit.strategies.printed_rows import PrintedLine
from entrez_kit.strategies.strategy import read_strategy
from entrez_kit.strategies.translate_strategy import find_refused_error

LISTS = {
    "ovid": [
        "exp Lung Diseases, Obstructive/ or bronch*.tw.",
        "((heart or cardiac) adj3 (failure or insufficien*)).ti,ab.",
        "randomized controlled trial.pt. or random*.tw.",
        "cough.tw. or exp Cough/",
        "1 or 2 or 3 or 4",
        "limit 5 to english language",
        "cough",
        'limit 6 to yr="2000 -Current"',
        "or/5-8",
    ],
    "embase": [
        "'heart failure'/exp OR 'cardiac arrest'/de",
        "(heart NEAR/3 fail*):ti,ab,kw",
        "cardiac rehabilitation",
        "#1 OR #2 OR #3",
        "#4 AND [english]/lim",
    ],
    "cochrane": [
        "MeSH descriptor: [Heart Failure] explode all trees",
        "(heart near/3 failure):ti,ab,kw",
        "aerobic exercise",
        "{or #1-#3}",
    ],
    "ebsco": ['(MH "Asthma+") OR (MM "Cough")', "TI asthma* OR AB asthma*", "asthma", "S1 OR S2 OR S3"],
    "pubmed": [
        '"Heart Failure"[Mesh] OR heart failure[tiab]',
        "(child[tiab] OR children[tiab])",
        "knee pain",
        "#1 AND #2 AND #3",
    ],
    "wos": ["TS=(heart NEAR/3 failure)", "TI=(telehealth OR tele$monitor*)", "#1 AND #2"],
}
SIGNS = {"ovid": "{}. ", "embase": "#{} ", "cochrane": "#{} ", "ebsco": "S{} ", "pubmed": "#{} ", "wos": "#{} "}
COUNTS = ("{} 1234", "{}    98765", "{}\t1,234", "{} (4321)", "{} 12,345,678")


def list_expressions(text: str) -> list[PrintedLine]:
    return [line for line in read_strategy_lines(text) if line.role == "expression"]


def number_lines(service: str) -> list[str]:
    return [SIGNS[service].format(number) + line for number, line in enumerate(LISTS[service], start=1)]


def list_wrapped(service: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield each way to divide one line at a blank: its index, the first row, the second row, and the whole text."""
    numbered = number_lines(service)
    for index, line in enumerate(numbered):
        for position in range(len(SIGNS[service]) + 2, len(line)):
            if line[position] == " ":
                rows = [*numbered[:index], line[:position], line[position + 1 :], *numbered[index + 1 :]]
                yield index, line[:position], line[position + 1 :], "\n".join(rows) + "\n"


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("service", LISTS)
def test_counts_after_the_lines_are_not_part_of_the_search(service: str, count: str) -> None:
    text = "\n".join(count.format(line) for line in number_lines(service))

    lines = list_expressions(text + "\n")

    assert [line.text for line in lines] == LISTS[service]
    assert all(line.printed_count is not None for line in lines)


@pytest.mark.parametrize("service", LISTS)
def test_lines_without_counts_keep_their_numbers(service: str) -> None:
    lines = list_expressions("\n".join(number_lines(service)) + "\n")

    assert [line.text for line in lines] == LISTS[service]
    assert {line.printed_count for line in lines} == {None}


@pytest.mark.parametrize("service", LISTS)
def test_a_wrapped_line_is_read_as_one_line_or_the_row_is_named(service: str) -> None:
    tried = 0
    for index, first, second, text in list_wrapped(service):
        lines = list_expressions(text)
        texts = [line.text for line in lines]
        named = any(repr(second) in note.text for note in lines[index].notes)

        assert texts == LISTS[service] or named, (first, second, texts)
        tried += 1
    assert tried > len(LISTS[service])


@pytest.mark.parametrize("service", ["ovid", "ebsco"])
def test_a_wrapped_line_is_never_divided_between_fields(service: str) -> None:
    """Every term of these lists has a field, so no row can be a title."""
    fielded = [line for line in LISTS[service] if line not in ("cough", "asthma") and "limit" not in line]
    for index, line in enumerate(fielded):
        for position, sign in enumerate(line):
            if sign == " ":
                rows = [f"{number}. {other}" for number, other in enumerate(fielded, start=1)]
                rows[index : index + 1] = [f"{index + 1}. {line[:position]}", line[position + 1 :]]

                assert [found.text for found in list_expressions("\n".join(rows))] == fielded


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("(can-\ncer$ or neoplas$).tw.", "(cancer$ or neoplas$).tw."),
        ("(breast or letro-\nzole).tw.", "(breast or letrozole).tw."),
        ("(non-\ninvasive or self-\ncare).tw.", "(non-invasive or self-care).tw."),
        ("(letro\u00ad\nzole or breast).tw.", "(letrozole or breast).tw."),
    ],
)
def test_a_divided_word_is_joined_and_named(rows: str, expected: str) -> None:
    line = list_expressions(f"1. exp Asthma/\n2. {rows}\n3. 1 or 2\n")[1]

    assert line.text == expected
    assert "\u00ad" in rows or any("divided" in note.text for note in line.notes)


@pytest.mark.parametrize("row", [0, 1])
def test_the_count_of_a_wrapped_line_may_be_beside_either_row(row: int) -> None:
    rows = ["2 exp Lung", "Diseases/"]
    rows[row] += " 200"

    line = list_expressions("\n".join(["1 exp Asthma/ 131245", *rows, "3 1 or 2 190000"]))[1]

    assert (line.text, line.printed_count) == ("exp Lung Diseases/", 200)


def test_histories_of_pubmed_have_no_label_time_or_order() -> None:
    text = (
        "#3\tSearch (#1 AND #2)\t234\t08:12:33\n"
        '#2\tSearch "cognitive therapy"[MeSH Terms]\t20000\t08:11:11\n'
        "#1\tSearch depression[tiab]\t300000\t08:09:09\n"
    )

    assert {line.number: (line.text, line.printed_count) for line in list_expressions(text)} == {
        3: ("(#1 AND #2)", 234),
        2: ('"cognitive therapy"[MeSH Terms]', 20_000),
        1: ("depression[tiab]", 300_000),
    }
    assert list_expressions("Search: (asthma[mh]) AND x[ti] Sort by: Most Recent")[0].text == "(asthma[mh]) AND x[ti]"
    assert list_expressions("search engine[ti] OR browser[ti]")[0].text == "search engine[ti] OR browser[ti]"


@pytest.mark.parametrize(
    ("filters", "query"),
    [
        ("Filters: English, Humans", "(a[ti]) AND english[la] AND humans[mh]"),
        ("Filters: Clinical Trial, Review; French", "(a[ti]) AND (clinical trial[pt] OR review[pt]) AND french[la]"),
        ("Limits: Humans, from 2010 - 2020", "(a[ti]) AND humans[mh] AND 2010:2020[dp]"),
        ("Filters: Publication date from 2010/01/01 to 2020/12/31", "(a[ti]) AND 2010/01/01:2020/12/31[dp]"),
    ],
)
def test_filters_of_the_website_of_pubmed_are_terms(filters: str, query: str) -> None:
    assert read_strategy(f"a[ti] {filters}").lines[0].pubmed == query


def test_an_unknown_filter_of_the_website_is_refused() -> None:
    line = read_strategy("a[ti] Filters: English, Dental journals").lines[0]

    assert line.kind == "refused"
    assert "'Dental journals'" in str(line.refusal)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (
            'TOPIC: ("heart failure")\nTimespan: 2000-2020. Indexes: SCI-EXPANDED, SSCI.\n',
            '"heart failure"[tiab] AND 2000:2020[dp]',
        ),
        ("TS=(elder*)\nIndexes=SCI-EXPANDED, SSCI Timespan=All years\n", "elder*[tiab]"),
        ("# 1\t45,678\tTS=(exercis*)\n", "exercis*[tiab]"),
        ("TITLE: (nurse*) AND LANGUAGE: (English)\n", "nurse*[ti] AND english[la]"),
    ],
)
def test_searches_as_web_of_science_prints_them(text: str, query: str) -> None:
    strategy = read_strategy(text)

    assert strategy.final is not None
    assert (strategy.dialect, strategy.final.pubmed) == ("wos", query)


@pytest.mark.parametrize("text", ["1, 2 or 3", "1+2", "(1 or 2) and3", "Line 1 or line 2", "#1-#2", "1 / 2", "or/2-1"])
def test_numbers_of_lines_in_an_unknown_form_are_refused(text: str) -> None:
    line = read_strategy(f"1. asthma.tw.\n2. cough.tw.\n3. {text}\n").lines[2]

    assert line.refusal is not None
    assert line.refusal.code == "syntax-error"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("or/1 - 3", [1, 2, 3]), ("or/1-2, 3", [1, 2, 3]), ("1 or 2-3", [1, 2, 3]), ("#1 OR #2-#3", [1, 2, 3])],
)
def test_ranges_of_lines_may_have_blanks_and_signs(text: str, numbers: list[int]) -> None:
    strategy = read_strategy(f"1. asthma.tw.\n2. cough.tw.\n3. wheeze.tw.\n4. {text}\n")

    assert strategy.lines[3].depends_on == numbers


@pytest.mark.parametrize("text", ["or/1-2 asthma", "or/1-2 adj3 asthma", "asthma adj3 (1 or 2)"])
def test_numbers_of_lines_inside_a_phrase_are_refused(text: str) -> None:
    line = read_strategy(f"1. asthma.tw.\n2. cough.tw.\n3. {text}\n").lines[2]

    assert line.kind == "refused" or line.pubmed


def test_several_strategies_in_one_text_are_refused() -> None:
    text = "MEDLINE\n1. exp Asthma/\n2. asthma.tw.\n3. 1 or 2\n\nEmbase\n1. exp asthma/\n2. wheeze.tw.\n3. 1 or 2\n"

    with pytest.raises(InvalidInput) as refused:
        read_strategy(text)

    assert refused.value.details == {"reason": "several_strategies", "row": 7}
    assert find_second_list(text.partition("Embase")[0]) is None


def test_a_query_that_is_too_long_in_any_line_has_no_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entrez_kit.strategies.strategy.MAX_QUERY", 60)
    strategy = read_strategy(
        "#1 asthma[ti]\n#2 wheezing[ti]\n#3 #1 OR #2 OR bronchitis[ti] OR cough[ti]\n#4 #3 AND x[ti]\n"
    )

    assert [strategy.expand(line) for line in strategy.lines] == ["asthma[ti]", "wheezing[ti]", None, None]
    error = find_refused_error(strategy, strategy.to_result())
    assert error is not None
    assert error.details["reason"] == "query_too_long"


def list_queries(text: str) -> dict[int, str]:
    return {number: line.pubmed for number, line in read_strategy(text).numbered.items()}


def test_numbers_in_parentheses_are_numbers() -> None:
    text = "(1) exp Asthma/\n(2) wheez$.ti.\n(3) 1 or 2\n"

    assert list_queries(text) == {1: '"Asthma"[mh]', 2: "wheez*[ti]", 3: "#1 OR #2"}


def test_counts_before_the_queries_of_web_of_science_are_not_words() -> None:
    text = (
        "# 3 234 #2 AND #1\nRefined by: DOCUMENT TYPES: ( REVIEW ) AND [excluding] RESEARCH AREAS: ( SURGERY )\n"
        "Timespan=2000-2020\n# 2 1,234 TS=(rehab*)\nTimespan=2000-2020\n# 1 45,678 TI=(stroke*)\nTimespan=2000-2020\n"
    )

    assert list_queries(text) == {
        3: '#2 AND #1 AND "review"[pt] AND 2000:2020[dp]',
        2: "rehab*[tiab] AND 2000:2020[dp]",
        1: "stroke*[ti] AND 2000:2020[dp]",
    }
    assert [line.printed_count for line in read_strategy_lines(text)] == [234, 1234, 45678]


def test_filters_below_a_query_of_pubmed_are_terms() -> None:
    query = "(asthma[ti] OR wheez*[ti])\nAND\nchild*[ti]\nFilters: Humans; Female; Adult: 19+ years\n"

    assert list_queries(query) == {
        1: "((asthma[ti] OR wheez*[ti]) AND child*[ti]) AND humans[mh] AND female[mh] AND adult[mh]"
    }


def test_filters_of_a_history_file_are_terms() -> None:
    text = (
        "Search number,Query,Sort By,Filters,Search Details,Results,Time\n"
        '2,#1 AND wheez*[ti],,"English, from 2010 - 2020","(...)",345,05:12:11\n1,asthma[ti],,,"(...)",25678,05:10:01\n'
    )

    assert list_queries(text)[2] == "(#1 AND wheez*[ti]) AND english[la] AND 2010:2020[dp]"


def test_a_heading_of_cochrane_may_be_divided_before_its_last_word() -> None:
    text = (
        "#1 MeSH descriptor: [Asthma] explode all\ntrees\n#2 MeSH descriptor: [Child] this term\nonly\n#3 #1 and #2\n"
    )

    assert list_queries(text) == {1: '"Asthma"[mh]', 2: '"Child"[mh:noexp]', 3: "#1 AND #2"}


def test_a_count_in_groups_does_not_take_the_number_of_a_line() -> None:
    text = "1 exp Asthma/ 312 456\n2 wheez$.ti. 401 234\n3 1 or 2 450 001\n4 limit 3 to humans 12 001\n"

    assert list_queries(text)[3] == "#1 OR #2"
    assert [line.printed_count for line in read_strategy_lines(text)] == [312456, 401234, 450001, 12001]


def test_a_count_after_a_limiter_of_ebsco_is_not_a_part_of_it() -> None:
    text = "S1\tTI asthma\t120\nS2\tS1\tLimiters - Publication Type: Randomized Controlled Trial\t87\n"

    assert list_queries(text)[2] == '#1 AND "randomized controlled trial"[pt]'


@pytest.mark.parametrize("sign", ["–", "—", "-"])
def test_a_dash_after_a_number_is_not_a_part_of_the_line(sign: str) -> None:
    text = f"1 {sign} exp Asthma/\n2 {sign} wheez$.ti.\n3 {sign} 1 or 2\n"

    assert list_queries(text) == {1: '"Asthma"[mh]', 2: "wheez*[ti]", 3: "#1 OR #2"}


@pytest.mark.parametrize("sign", ["-", "•"])
def test_a_bullet_is_not_a_part_of_the_line(sign: str) -> None:
    text = f"{sign} exp Asthma/\n{sign} wheez$.ti.\n{sign} 1 or 2\n"

    assert list_queries(text) == {1: '"Asthma"[mh]', 2: "wheez*[ti]", 3: "#1 OR #2"}


def test_the_first_column_of_a_table_may_have_the_concepts() -> None:
    text = (
        "Concept\t#\tQuery\tHits\nPopulation\t1\texp Asthma/\t50321\n\t2\twheez$.ti.\t61234\n\t3\t1 or 2\t80123\n"
        "Combined\t4\t3 and exp Child/\t543\n"
    )

    assert list_queries(text) == {1: '"Asthma"[mh]', 2: "wheez*[ti]", 3: "#1 OR #2", 4: '#3 AND "Child"[mh]'}
    assert [line.printed_count for line in read_strategy_lines(text)[1:]] == [50321, 61234, 80123, 543]

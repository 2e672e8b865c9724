"""Planted defects of strategies are found by code and line."""

from typing import get_args

import pytest
import strategy_files

from entrez_kit.guides import read_guide
from entrez_kit.query.dialects.notes import RefusalCode
from entrez_kit.strategies.findings import CODES
from entrez_kit.strategies.lint_strategy import fix_strategy
from entrez_kit.strategies.rules import find_problems
from entrez_kit.strategies.strategy import read_strategy


def list_codes(text: str) -> set[tuple[str, int | None]]:
    return {(problem.code, problem.line) for problem in find_problems(read_strategy(text))}


CLEAN = """1. exp Asthma/
2. asthma$.ti,ab.
3. 1 or 2
4. exp Telemedicine/
5. (telemedicine or ehealth).ti,ab.
6. 4 or 5
7. 3 and 6
"""


def test_a_strategy_without_defects_has_no_findings() -> None:
    assert list_codes(CLEAN) == set()


@pytest.mark.parametrize(
    ("quotes", "message"),
    [("““", "“ was read as a plain character."), ("“”", "“ ” were read as plain characters.")],
)
def test_a_message_about_characters_agrees_with_their_number(quotes: str, message: str) -> None:
    text = CLEAN.replace("asthma$.ti,ab.", f"{quotes[0]}asthma{quotes[1]}.ti,ab.")

    assert message in [problem.message for problem in find_problems(read_strategy(text))]


PLANTED: list[tuple[str, str, str, int]] = [
    ("asthma$.ti,ab.", "asthma$.ti,zz.", "unknown-field", 2),
    ("asthma$.ti,ab.", "(asthma$.ti,ab.", "syntax-error", 2),
    ("asthma$.ti,ab.", "(asthma$ or ast$).ti,ab.", "short-truncation", 2),
    ("asthma$.ti,ab.", "(asthma$ or asthmatic).ti,ab.", "redundant-term", 2),
    ("asthma$.ti,ab.", "wheeze or asthma$.ti,ab.", "suffix-binds-last", 2),
    ("asthma$.ti,ab.", "“asthma”.ti,ab.", "typographic-characters", 2),
    ("asthma$.ti,ab.", "asthma.jw.", "not-in-pubmed", 2),
    ("asthma$.ti,ab.", "*asthma.ti,ab.", "wildcard-trap", 2),
    ("exp Asthma/", "exp Decubitus Ulcer/", "heading-renamed", 1),
    ("exp Telemedicine/", "exp Robotics/", "heading-without-text", 4),
    ("3. 1 or 2", "3. 1 or 9", "missing-reference", 3),
    ("3. 1 or 2", "3. 1 or 2 or 6", "forward-reference", 3),
    ("3. 1 or 2", "3. 1 or 3", "circular-reference", 3),
    ("3. 1 or 2", "3. 1 or 1", "unused-line", 2),
    ("7. 3 and 6", "7. 3 and 6 or 1", "implicit-precedence", 7),
    ("7. 3 and 6", '7. 3 and 6\n8. limit 7 to yr="-2010"', "half-open-date", 8),
    ("7. 3 and 6", "7. 3 and 6\n8. limit 7 to humans", "limit-drops-unindexed", 8),
    ("7. 3 and 6", "7. 3 and 6\n8. limit 7 to english language", "language-limit", 8),
    ("5. (tele", "5. exp Asthma/\n6. (tele", "duplicate-line", 5),
    ("3. 1 or 2", "3. 1 or 2\n4. or/1-3", "range-over-combination", 4),
    ("exp Telemedicine/", '"Telemedicine"[mh] OR telehealth[tiab]', "other-dialect", 4),
    ("5. (tele", "(tele", "missing-number", 5),
    ("4. exp", "5. exp", "number-gap", 5),
    ("telemedicine or ehealth", '"telemedicine or ehealth', "unbalanced-quotes", 5),
    ("asthma$.ti,ab.", "asthma$.ti,ab. or 2010*.ed.", "date-limit-inside", 2),
    ("3. 1 or 2", "3. 1 or #2", "reference-style", 3),
    ("7. 3 and 6", "7. 3 and 6\n8. 7 use oemezd", "not-in-pubmed", 8),
]


@pytest.mark.parametrize(("old", "new", "code", "line"), PLANTED)
def test_a_planted_defect_is_found_by_code_and_line(old: str, new: str, code: str, line: int) -> None:
    assert old in CLEAN

    assert (code, line) in list_codes(CLEAN.replace(old, new, 1))


PUBMED: list[tuple[str, str]] = [
    ("asthma[tiab] OR wheeze[xx]", "unknown-field"),
    ("asthma[tiab] AND 2010:[dp]", "half-open-date"),
    ("asthma[tiab] AND :2010[dp]", "half-open-date"),
    ("asthma[tiab] OR wheeze[tiab] AND child[tiab]", "implicit-precedence"),
    ("asthma[tiab] or wheeze[tiab]", "lowercase-operator"),
    ("asthma*[tiab] OR asthmatic[tiab]", "redundant-term"),
    ("ast*[tiab] OR wheeze[tiab]", "short-truncation"),
    ('asthma[tiab] OR "lung function"', "phrase-not-mapped"),
    ("asthma[tiab] OR wheeze", "untagged-term"),
    ("randomi?ed[tiab] OR asthma[tiab]", "wildcard-trap"),
    ('"lung funct*"[tiab:~2] OR asthma[tiab]', "proximity-ignored"),
    ('"lung function"[tw:~2] OR asthma[tiab]', "proximity-ignored"),
    ('"Decubitus Ulcer"[mh] OR asthma[tiab]', "heading-renamed"),
    ("asthma[tiab] AND humans[mh]", "limit-drops-unindexed"),
    ("(exp Child [mesh] OR child[tiab])", "foreign-explode"),
    ('asthma[tiab] OR wheeze"[tiab]', "unbalanced-quotes"),
]


@pytest.mark.parametrize(("query", "code"), PUBMED)
def test_a_defect_of_a_query_of_pubmed_is_found(query: str, code: str) -> None:
    text = f"1. child[tiab] OR infant[tiab]\n2. {query}\n3. #1 AND #2\n"

    assert (code, 2) in list_codes(text)
    assert not {place for name, place in list_codes(text) if name == code} - {2}


REFUSALS = set(get_args(RefusalCode))
OWN_WORDS: list[tuple[str, str]] = [
    ("#1 use unknown field", "not-in-pubmed"),
    ("#1 use characters before the wildcard", "not-in-pubmed"),
    ("#1 use a line that begins with a wildcard", "not-in-pubmed"),
    ('"characters before the wildcard".jw.', "not-in-pubmed"),
    ('"begins with a wildcard".jw.', "not-in-pubmed"),
    ('"a term with 729 spellings".jw.', "not-in-pubmed"),
    ('"unknown field".jw.', "not-in-pubmed"),
    ('"missing-reference: a line".jw.', "not-in-pubmed"),
    ('("record".ti,ab.', "syntax-error"),
    ('("unknown field".ti,ab.', "syntax-error"),
    ('"record".zz.', "unknown-field"),
    ('"characters before the wildcard".zz.', "unknown-field"),
    ("record adj3 (unknown and field).ti.", "syntax-error"),
    ("*record.ti.", "wildcard-trap"),
    ("(re* adj unknown adj field).ti.", "short-truncation"),
    ("limit 1 to the limit drops", "not-in-pubmed"),
    ("limit 1 to circular-reference: humans", "not-in-pubmed"),
    ("exp Record/ or 9", "missing-reference"),
]


@pytest.mark.parametrize(("line", "code"), OWN_WORDS)
def test_the_words_of_a_refused_line_do_not_change_its_code(line: str, code: str) -> None:
    text = f"1. exp Asthma/\n2. {line}\n3. asthma.tw.\n"

    assert {name for name, place in list_codes(text) if place == 2} & REFUSALS == {code}


@pytest.mark.parametrize("words", ["the limit drops", "missing-number: a line", "other-dialect: ovid"])
def test_the_words_of_a_line_are_no_note_about_it(words: str) -> None:
    codes = list_codes(f'1. exp Asthma/\n2. "{words}".ti,ab.\n3. 1 or 2\n')

    assert not {name for name, place in codes if place == 2}


def test_a_limit_to_humans_has_a_correction_and_another_limit_has_none() -> None:
    problems = find_problems(read_strategy("1. exp Asthma/\n2. limit 1 to humans\n3. limit 2 to female\n"))

    fixes = {problem.line: problem.fix for problem in problems if problem.code == "limit-drops-unindexed"}
    assert fixes == {2: "NOT (animals[mh] NOT humans[mh])", 3: ""}


LATER = {"count-mismatch", "filter-for-central"}
"""Codes with a separate test below."""
ONLINE = {"not-mesh", "no-hits", "dropped-phrase", "explosion-of-hits", "not-removes-known"}
"""Codes that need records; the tests of the commands find them by line."""


def test_every_code_has_a_planted_defect() -> None:
    assert {code for _, _, code, _ in PLANTED} | {code for _, code in PUBMED} | LATER | ONLINE == set(CODES)


TEN = """Database: Ovid MEDLINE(R) ALL
1. exp Decubitus Ulcer/
2. (pressure adj ulc*.ti,ab.
3. ("bed sore" or bedsore$).ti,zz.
4. (sore$ or sores).ti,ab.
5. or/1-9
6. (ul$ or bedsore).tw.
7. wound or ulcer.ti.
8. 6 and 7 or 4
9. limit 8 to yr="2010 -"
10. limit 9 to humans
"""


def test_ten_planted_defects_are_found_by_code_and_line() -> None:
    planted = {
        *(("heading-renamed", 1), ("syntax-error", 2), ("unknown-field", 3), ("redundant-term", 4)),
        *(("circular-reference", 5), ("short-truncation", 6), ("suffix-binds-last", 7), ("implicit-precedence", 8)),
        *(("half-open-date", 9), ("limit-drops-unindexed", 10)),
    }

    assert planted <= list_codes(TEN)


def test_counts_beside_lines_are_compared() -> None:
    text = "1. exp Asthma/ (100)\n2. asthma.tw. (200)\n3. 1 or 2 (150)\n4. 1 and 2 (120)\n5. 3 not 4 (151)\n"

    assert {line for code, line in list_codes(text) if code == "count-mismatch"} == {3, 4, 5}


def test_a_filter_for_trials_in_central_is_reported() -> None:
    text = '#1 [mh "Asthma"]\n#2 asthma:ti,ab,kw\n#3 (randomised or placebo):ti,ab,kw\n#4 {or #1-#2} and #3\n'

    assert ("filter-for-central", 3) in list_codes(text)


def test_a_range_over_a_combination_is_found() -> None:
    text = "1. exp Asthma/\n2. asthma.tw.\n3. 1 or 2\n4. wheez$.tw.\n5. or/1-4\n"

    assert ("range-over-combination", 5) in list_codes(text)


def test_a_range_that_goes_too_far_has_a_proposed_correction() -> None:
    problems = find_problems(read_strategy("1. exp Asthma/\n2. asthma.tw.\n3. or/1-22\n"))

    assert [problem.fix for problem in problems if problem.code == "circular-reference"] == ["or/1-2"]


def test_corrections_do_not_change_other_characters() -> None:
    text = "1. “Asthma”[mh] or asthma*[tiab]  \r\n2. 1 AND 2010:[dp]\r\n3. exp Decubitus Ulcer/\r\n"

    assert fix_strategy(read_strategy(text)) == (
        '1. "Asthma"[mh] OR asthma*[tiab]  \r\n2. 1 AND 2010:3000[dp]\r\n3. exp Pressure Ulcer/\r\n'
    )


@pytest.mark.parametrize("name", [name for name, text in strategy_files.ALL.items() if "“" not in text])
def test_a_strategy_without_mechanical_defects_is_not_changed(name: str) -> None:
    text = strategy_files.ALL[name]

    assert fix_strategy(read_strategy(text)) == text


def test_the_guide_explains_every_code() -> None:
    page = read_guide("lint")

    assert [line[4:] for line in page.text.splitlines() if line.startswith("### ")] == list(CODES)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("1. exp Asthma/\n2. asthma.tw.\n3. or/1-3", "or/1-2"),
        ("1. or/1-3\n2. asthma.tw.\n3. wheez$.tw.", ""),
        ("1. exp Asthma/\n2. or/5-9", ""),
    ],
)
def test_a_suggested_range_ends_before_its_line(text: str, fix: str) -> None:
    problems = [
        problem for problem in find_problems(read_strategy(text)) if "/" in problem.fix or "reference" in problem.code
    ]

    assert [problem.fix for problem in problems] == [fix]

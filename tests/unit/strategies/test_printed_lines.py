"""Printed strategies read as lines; the joined originals are the file."""

import pytest
import strategy_files

from entrez_kit.base.errors import InvalidInput
from entrez_kit.strategies.printed_lines import read_strategy_lines
from entrez_kit.strategies.printed_rows import PrintedLine, repair
from entrez_kit.strategies.strategy_text import read_strategy_text


def list_expressions(text: str) -> list[PrintedLine]:
    return [line for line in read_strategy_lines(text) if line.role == "expression"]


@pytest.mark.parametrize("name", strategy_files.ALL)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_joined_originals_are_the_file(name: str, newline: str) -> None:
    text = strategy_files.ALL[name].replace("\n", newline)

    assert "".join(line.original for line in read_strategy_lines(text)) == text
    assert "".join(line.original for line in read_strategy_lines(f"\n\n{text.strip()}")) == f"\n\n{text.strip()}"


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("OVID", 15),
        ("OVID_UNNUMBERED", 8),
        ("OVID_WRAPPED", 3),
        ("OVID_COLUMN", 3),
        ("PUBMED", 3),
        ("PUBMED_BLOCKS", 3),
        ("EMBASE", 3),
        ("EBSCO", 4),
        ("WOS", 3),
        ("SCOPUS", 3),
        ("COCHRANE", 4),
        ("TABLE", 3),
    ],
)
def test_the_searches_are_numbered_as_printed(name: str, count: int) -> None:
    assert [line.number for line in list_expressions(strategy_files.ALL[name])] == [*range(1, count + 1)]


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("EMBASE_FALLING", {4: 123, 3: 200, 2: 10_000, 1: 5_000}),
        ("EBSCO_FALLING", {5: 23, 4: 100, 3: 300, 2: 50, 1: 200}),
        ("OVID_PRINTED", {1: 150_234, 2: 300_000, 3: 350_000}),
        ("PUBMED_HISTORY", {3: 12, 2: 1_100, 1: 50}),
        ("PUBMED_LINES", {1: None}),
    ],
)
def test_exports_of_services_have_their_numbers_and_counts(name: str, counts: dict[int, int | None]) -> None:
    lines = list_expressions(strategy_files.ALL[name])

    assert {line.number: line.printed_count for line in lines} == counts


def test_counts_next_to_lines_are_not_part_of_the_search() -> None:
    lines = list_expressions(strategy_files.OVID)

    assert [line.printed_count for line in lines[:4]] == [1234, 2345, 87, 3000]
    assert lines[0].text == "exp Heart Failure/"
    assert lines[3].text == "or/1-3"
    assert [line.printed_count for line in list_expressions(strategy_files.OVID_COLUMN)] == [1234, 99, None]
    assert [line.printed_count for line in list_expressions(strategy_files.TABLE)] == [1234, 99, 1300]


@pytest.mark.parametrize(
    "text", ["1 and (2)", "or/1-9", "1 or 2 or 11", "trisomy 21", "(trisomy 21).ti.", '"apolipoprotein e4"']
)
def test_a_number_in_a_search_is_not_a_count(text: str) -> None:
    assert list_expressions(f"1. exp Asthma/\n2. {text}\n")[1].text == text


def test_wrapped_lines_are_joined() -> None:
    lines = list_expressions(strategy_files.OVID_WRAPPED)

    assert lines[0].text == "exp Diabetes Mellitus, Type 2/"
    assert lines[1].text == "(non insulin dependent adj2 diabet*).ti, ab."


def test_a_year_and_a_count_are_not_line_numbers() -> None:
    lines = read_strategy_lines(strategy_files.OVID_WRAPPED)

    assert [line.role for line in lines if line.original.startswith("2010")] == ["header"]


def test_headers_and_comments_are_lines() -> None:
    roles = [line.role for line in read_strategy_lines(strategy_files.OVID)]

    assert roles == ["header", "header", "comment", *["expression"] * 15, "comment"]
    assert [line.role for line in read_strategy_lines(strategy_files.EBSCO)][3] == "comment"


def test_a_title_above_an_expression_is_a_header() -> None:
    lines = read_strategy_lines(strategy_files.PUBMED_BLOCKS)

    assert [line.role for line in lines].count("header") == 3
    assert [line.text for line in lines if line.number == 1] == ['"Asthma"[mh] OR asthma*[tiab] OR wheez*[tiab]']
    assert [line.text for line in lines if line.number == 3] == ["1 AND 2"]


def test_a_gap_in_the_numbers_is_noted() -> None:
    lines = list_expressions("1. exp Asthma/\n2. wheez$.tw.\n4. 1 or 2\n")

    assert [line.number for line in lines] == [1, 2, 4]
    assert [note.code for note in lines[2].notes] == ["number-gap"]


def test_characters_of_word_processors_are_repaired() -> None:
    assert repair("“heart\u00a0failure”[tiab] – ‘x’ ﬁ\u00ad &amp; …") == "\"heart failure\"[tiab] - 'x' fi & ..."


def test_an_open_parenthesis_does_not_include_the_next_numbers() -> None:
    lines = list_expressions("1. (asthma or wheeze.tw.\n2. exp Asthma/\n3. 1 or 2\n")

    assert [line.number for line in lines] == [1, 2, 3]


def test_a_pdf_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="this is not a text file, but a PDF"):
        read_strategy_text(b"%PDF-1.7\n1 0 obj", "search.pdf")

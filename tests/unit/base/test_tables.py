"""Tables with quotation marks and delimiters in unusual places: a row is read as written or is an error."""

import csv
import io
import random

import pytest

from entrez_kit.base.tables import TableError, read_table

CELLS = ("plain", "", 'a "word"', '"all"', "x, y", "x; y", "a\tb", "two\nlines", "two\r\nlines", '"', "é ü 中")
NAMES = ["title", "authors", "year"]


def read(text: str) -> list[list[str]]:
    """Return the cells of the rows below the header."""
    columns, rows = read_table(text)
    assert columns == NAMES
    return [list(row.values()) for _, row in rows]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
def test_written_cells_are_read_again(delimiter: str, quoting: int) -> None:
    chance = random.Random(5)
    for end in ("\n", "\r\n"):
        rows = [["x", *chance.choices(CELLS, k=2)] for _ in range(200)]
        target = io.StringIO(newline="")
        writer = csv.writer(target, delimiter=delimiter, quoting=quoting, lineterminator=end)  # type: ignore[arg-type]
        writer.writerows([NAMES, *rows])

        assert read(target.getvalue()) == rows


def test_a_table_with_tabs_can_have_quotation_marks_that_are_not_closed() -> None:
    text = 'title\tauthors\tyear\n"Just breathe\tDoe J\t2020\nA 5" tube\tRoe R\t2021\nx\t"Big" Al\t2022\n'

    assert read(text) == [['"Just breathe', "Doe J", "2020"], ['A 5" tube', "Roe R", "2021"], ["x", '"Big" Al', "2022"]]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ('"Just breathe,Doe,2020', "quotation mark"),
        ('"Just breathe,"Doe, J",2020', "quotation mark"),
        ('"A 5" tube, in children","Doe, J",2020', "quotation mark"),
        ("A tube, in children,Doe,2020", "4 cells"),
        ('"A \\"good\\" tube","Doe, J",2020', "quotation mark"),
    ],
)
@pytest.mark.parametrize("before", [0, 1, 5])
@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_row_that_cannot_be_read_is_named(row: str, problem: str, before: int, after: int) -> None:
    rows = [f'"Title, {number}","Doe{number}, A",2020' for number in range(before + after)]
    text = "\n".join([",".join(NAMES), *rows[:before], row, *rows[before:], ""])

    with pytest.raises(TableError, match=problem) as caught:
        read(text)

    assert caught.value.line == before + 2


def test_a_file_that_ends_in_a_quoted_cell_is_refused() -> None:
    text = 'title,authors,year\n"One, a","Doe, J",2020\n"Two, b","Roe, R",2021\n'
    for length in range(len(text) - 30, len(text)):
        part = text[:length]
        if part.count('"') % 2:
            with pytest.raises(TableError):
                read(part)


def test_the_first_filled_cell_of_columns_with_one_name_is_kept() -> None:
    _, rows = read_table("title,notes,notes\na,,x\nb,y,z\nc,w,\n")

    assert [row for _, row in rows] == [
        {"title": "a", "notes": "x"},
        {"title": "b", "notes": "y"},
        {"title": "c", "notes": "w"},
    ]


def test_all_rows_or_none_can_end_with_a_delimiter() -> None:
    assert read("title,authors,year\nx,y,1,\na\na,b,2,\n") == [["x", "y", "1"], ["a", "", ""], ["a", "b", "2"]]
    for rows, line in (("x,y,\na, c,b,\n", 3), ("a, c,b,\nx,y,\n", 2), ("x,y,,,\n", 2), ("x\na, c,b,\nx,y,\n", 3)):
        with pytest.raises(TableError, match=r"[45] cells") as caught:
            read(f"title,authors,year\n{rows}")
        assert caught.value.line == line


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_open_quotation_mark_in_the_last_column_of_a_table_with_tabs_is_a_character(end: str) -> None:
    text = end.join(["title\tauthors\tyear", 'x\ty\t"open', 'a\tb\t"two', 'lines"', "c\td\t2", ""])

    assert read(text) == [["x", "y", '"open'], ["a", "b", f"two{end}lines"], ["c", "d", "2"]]
    with pytest.raises(TableError, match="quotation mark"):
        read('title\tauthors\tyear\nx\ty\t"incomplete')

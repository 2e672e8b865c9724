"""Where references begin: a list for each layout, with lines that begin a reference and lines that do not."""

import textwrap
from collections.abc import Sequence

import pytest

from entrez_kit.references.check.pasted.first_lines import find_first_lines
from entrez_kit.references.check.pasted.list_layout import ListLine, read_layout

LINES = [
    f"{name} J, Walden {letter}. Effects of moonlight on {number} white mice and on their sleep. J Inv Res. "
    f"{1999 + number};{number}:{101 + number}-{109 + number}."
    for number, (name, letter) in enumerate(zip(("Doe", "Roe", "Poe", "Low", "Fay", "Gray"), "ABCDEF", strict=True))
]


def wrap(text: str, indent: str = "") -> str:
    return "\n".join(textwrap.wrap(text, 60, subsequent_indent=indent, break_on_hyphens=False))


WRAPPED = [wrap(line) for line in LINES]
HANGING = [wrap(line, "    ") for line in LINES]
NUMBERED = [f"{number}. {line}" for number, line in enumerate(LINES, start=1)]
DASHES = [f"- {wrap(line)}" for line in LINES]


def find_starts(text: str, after_page: Sequence[int] = ()) -> list[int]:
    """Return the numbers of the lines with which references begin."""
    lines: list[ListLine] = []
    after_blank = False
    for number, row in enumerate(text.split("\n"), start=1):
        if row.strip():
            indent = len(row) - len(row.lstrip())
            lines.append(ListLine(number, row.strip(), indent, after_blank, number in after_page))
        after_blank = not row.strip()
    return [line.number for line, first in zip(lines, find_first_lines(read_layout(lines)), strict=True) if first]


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("\n".join([*NUMBERED[:2], LINES[5], *NUMBERED[2:]]), [1, 2, 3, 4, 5, 6, 7]),
        ("\n".join([*NUMBERED[:2], "Walden X. A line of 2001.", *NUMBERED[2:]]), [1, 2, 4, 5, 6, 7]),
    ],
    ids=["a reference without a number", "a short line"],
)
def test_a_whole_reference_between_two_numbers_begins_without_a_number(text: str, starts: list[int]) -> None:
    assert find_starts(text) == starts


def test_an_indent_of_first_lines_begins_a_reference() -> None:
    rows = [f"    {one}" for one in WRAPPED]

    assert find_starts("\n".join(rows)) == [1, 3, 5, 7, 9, 11]


@pytest.mark.parametrize(
    ("moved", "is_first"),
    [(HANGING[2], True), (f"  {HANGING[2]}", True), (f"    Moonlight Press. {HANGING[2]}", False)],
    ids=["without an indent", "with a smaller indent", "with an indent"],
)
def test_a_hanging_indent_continues_a_reference(moved: str, is_first: bool) -> None:
    assert (5 in find_starts("\n".join([*HANGING[:2], moved, *HANGING[3:]]))) == is_first


@pytest.mark.parametrize("mark", ["- ", ""])
def test_a_line_below_a_full_line_begins_a_reference_if_names_follow_pages(mark: str) -> None:
    full = "Poe J, Roe R. Moonlight and the mice. J Inv. 2019;3:10-12345."
    rows = [f"{mark}{one}" for one in (*WRAPPED[:2], full)]

    assert find_starts("\n".join([*rows, WRAPPED[3], *(f"{mark}{one}" for one in WRAPPED[4:])])) == [1, 3, 5, 6, 8, 10]


@pytest.mark.parametrize(
    ("line", "is_first"),
    [
        ("50 mice in moonlight. Doe J. J Inv Res. 2001;3:4.", True),
        ("in moonlight, a study. Doe J. J Inv Res. 2001;3:4.", False),
    ],
)
def test_any_line_of_a_list_with_one_reference_per_line_begins_one_unless_it_continues_a_sentence(
    line: str, is_first: bool
) -> None:
    rows = [*LINES, LINES[2].rstrip(".") + " and", line, *LINES]

    assert (8 in find_starts("\n".join(rows))) == is_first


@pytest.mark.parametrize(
    ("line", "is_first"), [(WRAPPED[2], True), ("Invented Press of the Moon.", False)], ids=["reference", "publisher"]
)
def test_a_whole_reference_in_a_wrapped_list_with_marks_begins_without_a_mark(line: str, is_first: bool) -> None:
    rows = [*DASHES[:2], line, *DASHES[3:]]

    assert (5 in find_starts("\n".join(rows))) == is_first


SHORT = [f"{name} J. Mice of the moon. J Inv. 2007;3:4." for name in ("Hay", "Kay")]


@pytest.mark.parametrize(
    ("line", "after_page", "is_first"),
    [
        (WRAPPED[2], (), True),
        ("Moonlight Press. 2003;1:2.", (), False),
        ("Moonlight Press. 2003;1:2.", (3,), True),
        ("with more mice. 2003;1:2.", (3,), False),
    ],
)
def test_a_reference_begins_inside_a_block_with_names_or_on_another_page(
    line: str, after_page: Sequence[int], is_first: bool
) -> None:
    text = "\n\n".join([f"{WRAPPED[1]}\n{line}", WRAPPED[4], *SHORT])

    assert (3 in find_starts(text, after_page)) == is_first


def test_empty_lines_separate_references_unless_a_full_line_goes_on() -> None:
    cut = WRAPPED[2].replace("\n", "\n\n", 1)

    assert find_starts("\n\n".join(WRAPPED)) == [1, 4, 7, 10, 13, 16]
    assert find_starts("\n\n".join([*WRAPPED[:2], cut, *WRAPPED[3:]])) == [1, 4, 7, 11, 14, 17]


def test_a_short_line_that_ends_a_reference_is_above_the_next_one() -> None:
    short = ["Doe J. Effects of moonlight on mice. J Pers Assess\n(2001).", *WRAPPED[1:]]

    assert find_starts("\n".join(short)) == [1, 3, 5, 7, 9, 11]


@pytest.mark.parametrize(
    ("line", "is_first"),
    [
        ("3. Poe E. Mice. J Inv Res. 2003;3:4.", True),
        ("44. In that year, mice. J Inv Res. 2003;3:4.", True),
        ("2003. in that year, mice slept. J Inv Res.", False),
    ],
)
def test_a_number_begins_a_reference_unless_it_is_a_year(line: str, is_first: bool) -> None:
    assert (3 in find_starts("\n".join([*NUMBERED[:2], line, *NUMBERED[3:]]))) == is_first


def test_a_dash_below_a_full_line_is_a_part_of_a_range() -> None:
    divided = "- Doe J, Roe R. Moonlight and mice of the moon. J Inv. 2001;3:101\n- 109 and more pages of it."

    assert find_starts("\n".join([*DASHES[:2], divided, *DASHES[3:]])) == [1, 3, 5, 7, 9, 11]


def test_the_address_of_a_page_is_a_reference_if_the_line_above_has_one_too() -> None:
    page = "https://www.inventions.invalid/reports/index.html."

    assert 2 in find_starts("\n".join([f"{LINES[0]} {page}", page, *LINES[1:]]))
    assert 2 not in find_starts("\n".join(f"{line}\n{page}" for line in LINES))

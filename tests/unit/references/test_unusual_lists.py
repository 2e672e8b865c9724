"""Lists with unusual marks, frames, headings and columns: one row for each reference, and no word lost."""

import re
import textwrap
from collections.abc import Callable, Sequence
from time import process_time

import pytest
from list_layouts import join_letters

from entrez_kit.references.check.pasted.pasted_lists import build_reference, read_list

JOURNALS = ("J Inv Res", "Ann Invented Med", "Journal of Invention", "Inventions")
ENGLISH = [
    f"{('Doe', 'Roe', 'Poe', 'Low')[n % 4]} J, Walden{'abcdefghijklmnop'[n]} R. Effects of moonlight on the "
    f"memory of {100 + 7 * n} white mice and on their sleep. {JOURNALS[n % 4]}. {1999 + n};{n + 3}:{101 + n}-{109 + n}."
    for n in range(16)
]
TITLES_FIRST = [
    f"Memory of {100 + 7 * n} mice in moonlight. Doe J, Roe R. {JOURNALS[n % 4]}. {1999 + n};{n + 3}:{101 + n}."
    for n in range(16)
]
CHINESE = [
    f"李{'明华国强'[n % 4]}, 王芳, 等. 月光对{n}只小鼠记忆的影响[J]. 发明杂志, {1999 + n}, 3({n}): {101 + n}-{9 + n}."
    for n in range(16)
]
RUSSIAN = [
    f"Иванов А.Б., Сидорова В.{'АБВГДЕЖЗИКЛМНОПРСТ'[n]}. Влияние лунного света на память {n} мышей // Вестник. – "
    f"{1999 + n}. – Т. {n + 3}. – С. {101 + n}-{109 + n}."
    for n in range(16)
]
GERMAN = [
    f"Müller Ü, von Groß K: Einfluss des Mondlichts auf {n} Mäuse. Erfinder {1999 + n}; {n + 3}: A {101 + n}–{9 + n}."
    for n in range(16)
]
LISTS = {"en": ENGLISH, "titles first": TITLES_FIRST, "zh": CHINESE, "ru": RUSSIAN, "de": GERMAN}
every_list = pytest.mark.parametrize("references", LISTS.values(), ids=LISTS)


def to_roman(number: int) -> str:
    return "x" * (number // 10) + ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"][number % 10]


MARKS: dict[str, Callable[[int], str]] = {
    **{
        form: form.format
        for form in (
            *("{}- ", "{} - ", "{}.) ", "({}.) ", "{}/ ", "No. {} ", "№{} ", "№ {} ", "Ref {}: ", "Ref. {}. ", "#{} "),
            *("{{{}}} ", "<{}> ", "{}> ", "{}° ", "R{}. ", "S{:02}. ", "{}\\. ", "**{}.** ", "**{}** ", "{}] ", "{}、"),
            *(
                "【{}】",
                "〔{}〕",
                "[^{}]: ",
                "- [{}] ",
                "* {}. ",
                "> {}. ",
                "{};",
                "{}.\u00a0\u00a0",
                "{}.\t\t",
                "{:03}. ",
            ),
        )
    },
    **{
        sign: (sign + " ").format
        for sign in ("o", "§", "➢", "►", "‣", "→", "—", "■", "□", "✓", "+", "^", "↵", "\\item")
    },
    **{f"{sign} without a space": sign.format for sign in ("●", "■", "↵")},
    "\uf0b7 of Word": lambda _: "\uf0b7\t",
    "i.": lambda n: f"{to_roman(n)}. ",
    "(iv)": lambda n: f"({to_roman(n)}) ",
    "IV.": lambda n: f"{to_roman(n).upper()}. ",
    "a)": lambda n: f"{'abcdefghijklmnopqrstuvwxyz'[n - 1]}) ",
    "raised": lambda n: str(n).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")),
    "wide": lambda n: str(n).translate(str.maketrans("0123456789", "０１２３４５６７８９")) + "．",
    "in a circle": lambda n: chr(0x2460 + n - 1) + " " if n < 21 else chr(0x3251 + n - 21) + " ",
    **{form: form.format for form in ("[Ref{}] ", "R-{}. ", "Footnote {}. ", "Note {}: ", "[fn{}] ")},
    "of four kinds": lambda n: ("{}. ", "{}) ", "[{}] ", "({}) ")[n * 4 // 17].format(n),
    "of four kinds in turn": lambda n: ("{}. ", "{}) ", "[{}] ", "{} ")[n % 4].format(n),
    "with damaged numbers": lambda n: (
        f"{str(n).replace('1', 'l') if n > 9 and n % 5 == 1 else n}{',' if n % 9 == 0 else '.'} "
    ),
}


def check_rows(text: str, references: Sequence[str], codes: Sequence[str] = ()) -> None:
    """Assert that each row has the words of its reference, and perhaps the mark before these."""
    pasted = read_list(text)
    rows = [join_letters(reference.text or "") for reference in pasted.references]
    assert [row[-len(join_letters(reference)) :] for row, reference in zip(rows, references, strict=True)] == [
        join_letters(reference) for reference in references
    ]
    assert all(len(row) - len(join_letters(reference)) < 9 for row, reference in zip(rows, references, strict=True))
    assert [warning.code for warning in pasted.warnings] == list(codes)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("mark", ["R{}. ", "[Ref{}] ", "Ref. {}: ", "Note {}. ", "S-{}) "])
def test_a_label_with_a_number_is_not_part_of_a_reference_in_a_short_list(mark: str, count: int) -> None:
    rows = read_list("\n".join(mark.format(n + 1) + ENGLISH[n] for n in range(count))).references

    assert [(row.number, row.text) for row in rows] == [(str(n + 1), ENGLISH[n]) for n in range(count)]


@pytest.mark.parametrize("label", ["R7. ", "[Ref12] ", "Note 4: ", "Ref. 3: "])
def test_a_label_with_a_number_is_the_number_of_a_single_reference(label: str) -> None:
    reference = build_reference(label + ENGLISH[0], 1)

    assert (reference.number, reference.text) == ("".join(filter(str.isdigit, label)), ENGLISH[0])


@pytest.mark.parametrize(
    "text",
    [
        "B12. Vitamins in mice. J Inv. 2001;3:4.",
        "S3 Doe J. Moonlight. J Inv. 2001;3:4.",
        "B1 cells in mice. Doe J. J Inv Res. 2001;3:4.",
        "T2. No name follows here. J Inv Res. 2001;3:4.",
    ],
)
def test_a_title_that_begins_with_a_letter_and_a_number_is_whole(text: str) -> None:
    (row,) = read_list(text).references

    assert (row.number, row.text) == (None, text)


@pytest.mark.parametrize(
    "footnote",
    [
        "* Corresponding author. E-mail: jane@example.org (J. Doe).",
        "† These authors contributed equally to this work.",
        "E-mail address: jane@example.org",
        "§ Present address: Institute of Invention, Walden.",
    ],
)
def test_a_footnote_about_the_authors_is_omitted_and_named(footnote: str) -> None:
    numbered = [f"{n}. {reference}" for n, reference in enumerate(ENGLISH, start=1)]
    inside = [numbered[0][:60], footnote, numbered[0][60:]]

    check_rows("\n".join([*numbered[:3], footnote, *numbered[3:]]), ENGLISH, ["headings_left_out"])
    check_rows("\n".join([*inside, *numbered[1:]]), ENGLISH, ["headings_left_out"])
    check_rows("\n\n".join([*ENGLISH[:3], footnote, *ENGLISH[3:]]), ENGLISH, ["headings_left_out"])


def wrap_lines(text: str, width: int = 76) -> str:
    return "\n".join(textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False))


every_mark = pytest.mark.parametrize(
    "mark",
    [pytest.param(MARKS[name], id=name, marks=pytest.mark.long if n % 2 else ()) for n, name in enumerate(MARKS)],
)


@every_mark
def test_any_mark_that_counts_or_repeats_begins_a_reference(mark: Callable[[int], str]) -> None:
    for references in LISTS.values():
        marked = [mark(n) + reference for n, reference in enumerate(references, start=1)]
        check_rows("\n".join(marked), references)
        check_rows("References\n\n" + "\n\n".join(marked), references)


@every_mark
def test_any_mark_begins_a_reference_of_several_lines(mark: Callable[[int], str]) -> None:
    for references in (ENGLISH, TITLES_FIRST):
        check_rows(
            "\n".join(wrap_lines(mark(n) + reference) for n, reference in enumerate(references, start=1)), references
        )


@every_list
@pytest.mark.parametrize("mark", ["[{}] ", "{}. ", "{}) "])
def test_a_list_without_line_breaks_is_split_at_its_numbers(references: list[str], mark: str) -> None:
    text = " ".join(mark.format(n) + reference for n, reference in enumerate(references, start=1))

    check_rows(text, references)
    check_rows(f"References\n{wrap_lines(text)}", references)


def test_a_number_inside_a_title_splits_no_reference() -> None:
    references = [
        "Doe J. 1. Moonlight and mice. 2. Sunlight and mice. 3. No light. J Inv Res. 2001;3:4.",
        "Roe R. Parts [1] and [2] and [3] of an invention that goes on for long. J Inv Res. 2002;3:4.",
        "Poe E. The third. J Inv Res. 2003;3:4.",
    ]

    check_rows("\n".join(f"{n}. {reference}" for n, reference in enumerate(references, start=1)), references)
    check_rows("\n".join(references), references)


def test_rows_that_may_be_several_references_have_a_warning() -> None:
    text = "".join(one.rstrip(".") for one in ENGLISH[:9])

    assert [warning.code for warning in read_list(text).warnings] == ["uncertain_split"]


HEADINGS = {
    "of kinds": ("Books", "Journal articles", "Internet sources"),
    "in capitals": ("CLINICAL TRIALS", "REVIEWS AND GUIDELINES", "OTHER"),
    "of letters": ("A", "B", "C"),
    "of Markdown": ("### Included studies", "### Excluded studies", "### Other"),
}


@every_list
@pytest.mark.parametrize("names", HEADINGS.values(), ids=HEADINGS)
@pytest.mark.parametrize("mark", ["", "{}. "])
@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_headings_inside_a_list_are_omitted_and_named(
    references: list[str], names: tuple[str, ...], mark: str, between: str
) -> None:
    parts = [
        f"{name}\n\n" + between.join(mark.format(n) + reference for n, reference in enumerate(references[first::3], 1))
        for first, name in enumerate(names)
    ]
    text = "## References\n\n" + "\n\n".join(parts)
    expected = [reference for n in range(3) for reference in references[n::3]]

    check_rows(text, expected, ["headings_left_out"])
    assert [term.split(": ", 1)[1] for term in read_list(text).warnings[0].terms] == list(names)


def test_a_heading_of_markdown_above_the_level_of_the_list_ends_it() -> None:
    text = "## References\n\n- " + "\n- ".join(ENGLISH) + "\n\n## Appendix\n\nMore text of 2019.\n"

    check_rows(text, ENGLISH)


@pytest.mark.parametrize("before", ["The following works are cited here:", "Hi Anna,\n\nhere are the references:"])
def test_sentences_before_and_after_a_list_are_omitted_and_named(before: str) -> None:
    listed = "\n".join(f"{n}. {one}" for n, one in enumerate(ENGLISH, start=1))

    check_rows(f"{before}\n\n{listed}\n\nLet me know if you need more!\n", ENGLISH, ["headings_left_out"])
    check_rows(f"{listed}\n\nWord count: 3456\n", [*ENGLISH[:-1], ENGLISH[-1]], ["headings_left_out"])


def test_a_short_reference_without_a_year_is_a_row() -> None:
    references = [
        *ENGLISH[:4],
        "Smith J. Personal communication.",
        "Statins. Wikipedia.",
        "Moonlight for beginners.",
        *ENGLISH[4:],
    ]

    check_rows("\n\n".join(references), references)
    check_rows("\n".join(f"{n}. {reference}" for n, reference in enumerate(references, start=1)), references)


@every_list
def test_a_table_has_a_row_for_each_reference(references: list[str]) -> None:
    numbered = list(enumerate(references, start=1))

    check_rows("No\tReference\n" + "".join(f"{n}\t{one}\n" for n, one in numbered), references, ["headings_left_out"])
    check_rows(
        "| No. | Reference |\n|-----|:----------|\n" + "".join(f"| {n} | {one} |\n" for n, one in numbered),
        references,
        ["headings_left_out"],
    )
    quoted = "".join(f'{n};"{one}"\n' for n, one in numbered)
    check_rows(f"id;reference\n{quoted}", references, ["headings_left_out"])


@every_list
def test_web_pages_and_e_mails_are_read_without_their_marks(references: list[str]) -> None:
    numbered = list(enumerate(references, start=1))

    check_rows(
        "<h2>References</h2><ol>"
        + "".join(f"<li>{reference.replace('mice', '<i>mice</i>')}</li>" for reference in references)
        + "</ol>",
        references,
    )
    check_rows("".join(f"<p>{n}. {one}</p>" for n, one in numbered), references)
    check_rows("\n".join(f"> {n}. {one}" for n, one in numbered), references)
    check_rows(
        "\n>\n".join("\n".join(f"> {line}" for line in wrap_lines(reference).split("\n")) for reference in references),
        references,
    )
    links = (
        "OpenUrlCrossRefPubMedWeb of Science",
        "View Article PubMed/NCBI Google Scholar",
        "View in ScopusGoogle Scholar",
    )
    text = "".join(f"{n}.\n{one}\n{links[n % 3]}\n" for n, one in numbered)
    assert [
        join_letters(reference.text or "").partition("OpenUrl")[0].partition("View")[0]
        for reference in read_list(text).references
    ] == [join_letters(reference) for reference in references]


@pytest.mark.parametrize("mark", ["{}. ", ""])
@pytest.mark.parametrize("gap", [2, 5])
def test_two_columns_next_to_each_other_are_read_one_after_the_other(mark: str, gap: int) -> None:
    lines = [
        line
        for n, one in enumerate(ENGLISH, start=1)
        for line in textwrap.wrap(mark.format(n) + one, 50, subsequent_indent="" if mark else "   ")
    ]
    rows = (len(lines) + 3) // 4
    columns = [lines[start : start + rows] for start in range(0, len(lines), rows)]
    columns[-1] += [""] * (rows - len(columns[-1]))
    pages = [
        "\n".join(
            f"{left:<{50 + gap}}{right}".rstrip() for left, right in zip(*columns[place : place + 2], strict=True)
        )
        for place in (0, 2)
    ]

    check_rows("\n\f".join(pages), ENGLISH)


def test_a_right_column_that_moves_with_the_left_one_is_read_by_its_indents() -> None:
    moved = [f"{line}\n" for one in ENGLISH for line in textwrap.wrap(one, 60, subsequent_indent="  ")]
    starts = [n for n, line in enumerate(moved) if line[0] != " "]
    for n in starts[3::4]:
        moved[n - 1], moved[n] = f"  {moved[n - 1]}", f" {moved[n]}"

    check_rows("".join(moved), ENGLISH)


def test_the_fields_of_a_reference_can_have_separate_lines_between_empty_lines() -> None:
    references = [
        f"Doe J, Roe R, Poe E, et al.\nMoonlight and {n} mice.\nJournal of Inventions, {1999 + n}, 3(2): {n}-9."
        for n in range(1, 9)
    ]

    check_rows("References\n\n" + "\n\n".join(references), references)


@pytest.mark.parametrize("mark", ["", "{}. "])
def test_a_dash_between_the_fields_of_a_reference_is_not_a_mark(mark: str) -> None:
    references = [
        f"Doe J, et coll.\n— Moonlight and {n} mice.\nInvention, {1999 + n}, vol.\n3, p.\n{n}-9." for n in range(1, 12)
    ]
    marked = [mark.format(n) + reference for n, reference in enumerate(references, start=1)]

    check_rows("References\n\n" + "\n\n".join(marked), references)


def test_the_fields_of_a_numbered_reference_can_have_separate_lines() -> None:
    references = [
        f"Doe J, Roe R.\nMoonlight and {n} mice [Online].\nURL: http://inventions.invalid/{n} ({1999 + n})."
        for n in range(1, 9)
    ]
    listed = [reference.replace("URL: http://inventions.invalid", "Inventions 2001") if n % 2 else reference
              for n, reference in enumerate(references)]  # fmt: skip

    check_rows("\n".join(f"{n}. {one}" for n, one in enumerate(listed, start=1)), listed)


@pytest.mark.parametrize("end", ["\\", "  "])
def test_the_line_breaks_of_markdown_are_not_part_of_a_reference(end: str) -> None:
    marked = [f"{n}. d'{one}" for n, one in enumerate(ENGLISH, start=1)]

    check_rows(
        "\n".join(wrap_lines(one).replace("\n", f"{end}\n") + end for one in marked), [f"d'{one}" for one in ENGLISH]
    )


def test_short_last_lines_are_not_the_first_lines_of_references_with_an_indent() -> None:
    references = [
        f"Doe J, Roe R. A study of the mice number {n:02} under the moon. Rev\nInvented. {1999 + n};{n}:3."
        for n in range(1, 12)
    ]

    check_rows("References\n" + "\n".join(f"     {reference}" for reference in references), references)


def test_a_line_below_the_first_part_of_a_doi_continues_it() -> None:
    references = [f"{one} doi: 10.5555/\nNEJMoa1203421. PMID: 22663011." for one in ENGLISH]

    check_rows("\n".join(f"{n}. {reference}" for n, reference in enumerate(references, start=1)), references)


DIVIDED = "Doe J, Roe R.\nMoonlight and mice. J Inv Res. 2001;3:4."
JOINED = f"{ENGLISH[1]} {ENGLISH[2]}"


@pytest.mark.parametrize(
    ("listed", "line"),
    [
        ([*ENGLISH[:5], DIVIDED, *ENGLISH[6:]], 6),
        ([f"{n}. {one}" for n, one in enumerate(ENGLISH, start=1) if n != 6], 5),
        ([f"{n}. {one}" if n != 6 else one for n, one in enumerate([*ENGLISH[:6], *ENGLISH], start=1)][:5]
         + [ENGLISH[7]] + [f"{n}. {one}" for n, one in enumerate(ENGLISH[8:], start=6)], 6),
        ([f"• {one}" if n != 6 else one for n, one in enumerate(ENGLISH, start=1)], 6),
        ([JOINED.replace(f" {ENGLISH[2][:9]}", f"\n   {ENGLISH[2][:9]}")] + [
            wrap_lines(one, 60).replace("\n", "\n   ") for one in ENGLISH[4:]], 1),
    ],
    ids=["a field alone", "a number that is missing", "a row without a number", "a row without a bullet", "joined"],
)  # fmt: skip
def test_a_warning_names_the_line_where_a_split_is_uncertain(listed: list[str], line: int) -> None:
    (warning,) = read_list("\n".join(listed)).warnings

    assert warning.code == "uncertain_split"
    assert [term.split(":")[0] for term in warning.terms] == [str(line)]


def test_a_left_column_that_is_too_long_moves_the_right_one() -> None:
    lines = [line for one in TITLES_FIRST for line in textwrap.wrap(one, 40, subsequent_indent="  ")]
    half = (len(lines) + 1) // 2
    left = [f"{line}{'-' * (n % 3)}" if line.startswith("  ") else line for n, line in enumerate(lines[:half])]
    columns = zip(left, [*lines[half:], *[""] * half], strict=False)

    pasted = read_list("\n".join(f"{one:<40}     {other}".rstrip() for one, other in columns))

    assert len(pasted.references) == len(TITLES_FIRST)
    assert not pasted.warnings


EDITIONS = [
    f"Doe J, Roe R (Ed.): Light and {n} mice.\n{5 * n % 8 + 1}. Aufl.\nBerlin: Inventor, {1999 + n}, S. {n}–{9 + n}."
    if n % 3 == 0
    else one
    for n, one in enumerate(ENGLISH)
]


def test_the_number_of_an_edition_is_not_a_mark() -> None:
    whole = [edition.replace("\n", " ") for edition in EDITIONS]

    check_rows("References\n\n" + "\n\n".join(EDITIONS), whole)
    check_rows("1. " + "\n".join(whole), whole)


def test_a_row_of_a_table_is_a_reference_with_any_text_in_its_last_cell() -> None:
    rows = [f"| {n} | d'{one} | {('no', 'yes', '')[n % 3]} |" for n, one in enumerate(ENGLISH, start=1)]

    assert len(read_list("| # | Reference | Notes |\n|:-:|:----|----|\n" + "\n".join(rows)).references) == len(ENGLISH)


@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_a_title_with_a_colon_at_the_end_of_a_line_is_not_an_introduction(between: str) -> None:
    first = "Learning of all kinds of mice under the moon:\n  a study of sleep. Doe J. J Inv Res. 2001;3:4."

    check_rows(between.join([first, *TITLES_FIRST]), [first, *TITLES_FIRST])


def test_names_and_a_year_can_be_a_line_of_a_reference_between_empty_lines() -> None:
    references = [
        f"Doe, J., & Roe, R. ({1999 + n}).\nMoonlight and mice of kind {'abcdefghi'[n]}.\n"
        f"Inventions of Light, {n}(3), 4-9. https://doi.org/10.5555/mice.{n}"
        for n in range(9)
    ]
    references[3] = (
        "Doe, J., & Roe, R. (2002).\nMoonlight And Mice. Inventions, 4(3), 4-9. https://doi.org/10.5555/mice.3"
    )

    check_rows("References\n\n" + "\n\n".join(references), references)


def test_the_same_number_before_every_reference_is_a_mark() -> None:
    references = [
        *ENGLISH[:5],
        "Garrity G. Manual of moonlight. New York: Inventor; 2010. p.",
        "2 moons. 2001.",
        *ENGLISH[6:],
    ]

    check_rows("\n".join(f"1. {reference}" for reference in references), references)


def test_a_number_inside_a_line_begins_a_reference_if_the_number_is_missing_otherwise() -> None:
    marked = [f"{n}. {one}" for n, one in enumerate(ENGLISH, start=1)]

    check_rows("\n".join(marked[:-2]) + "\n" + " ".join(marked[-2:]), ENGLISH)
    titled = [one.replace("Effects", "3. Effects") for one in ENGLISH]
    check_rows("\n".join(f"{n}. {one}" for n, one in enumerate(titled, start=1)), titled)


BLOCKS = [f"Doe J, Roe R. Moonlight and mice {n}.\nJ Inv Res. {1999 + n};3:4." for n in range(12)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\n\n".join([*BLOCKS[:6], f"{BLOCKS[6]}\n{BLOCKS[7]}", *BLOCKS[8:]]), 19),
        ("\n".join(f"{n}. {one}" for n, one in enumerate(
            [*ENGLISH[:5], "Doe J. Mice of group\n6. Moon. 2001;3:4", *ENGLISH[6:]], start=1)), 6),
        ("\n".join(f"[{n}] {one}" for n, one in [*enumerate(ENGLISH[:5], start=9), (14, "Mice at night"),
            (2, "and day. 2001;3:4"), *enumerate(ENGLISH[6:], start=15)]), 6),
    ],
    ids=["an empty line that is missing", "a number that is repeated inside a sentence", "a mark inside a row"],
)  # fmt: skip
def test_a_row_that_contradicts_the_marks_of_a_list_has_a_warning(text: str, line: int) -> None:
    (warning,) = read_list(text).warnings

    assert warning.code == "uncertain_split"
    assert str(line) in [term.split(":")[0] for term in warning.terms]


def test_a_dash_represents_the_authors_of_the_reference_above() -> None:
    references = [one if n % 3 else re.sub(r"^.*? R\. ", "———. ", one) for n, one in enumerate(ENGLISH, start=1)]

    check_rows("\n".join(references), references)


@pytest.mark.long
@pytest.mark.parametrize(
    "unit",
    [
        "1. ",
        "[1] ",
        "> ",
        "| a | b |\n",
        "<p>",
        "№ 1 ",
        "i. ",
        "a  b",
        "➢ a\n",
        "Books\n\n",
        "2. Doe J. 2019. ",
        " " * 9 + "a",
    ],
)
def test_the_time_grows_in_proportion_to_the_length_of_an_unusual_list(unit: str) -> None:
    def measure_seconds(size: int) -> float:
        begin = process_time()
        read_list(unit * (size // len(unit)))
        return process_time() - begin

    assert measure_seconds(60_000) < 25 * max(measure_seconds(6_000), 0.02)


NUMBERS_FIRST = [
    one
    if n % 5
    else f"{20 + n}-week study of moonlight and mice. Doe J. {JOURNALS[n % 4]}. {1999 + n};{n + 3}:{101 + n}."
    for n, one in enumerate(ENGLISH, start=1)
]
PAGES_OF_THE_WEB = [
    one if n % 6 != 3 else f"https://www.inventions.invalid/reports/{n}/index.html."
    for n, one in enumerate(ENGLISH, start=1)
]


@pytest.mark.parametrize("mark", ["{}. ", "[{}] ", "{}] ", "{}、", "【{}】", "({}.) ", "№{} ", "{}° ", "{{{}}} ", "* "])
def test_a_reference_with_a_mark_can_begin_with_a_digit(mark: str) -> None:
    marked = [mark.format(n) + one for n, one in enumerate(NUMBERS_FIRST, start=1)]

    check_rows("\n".join(marked), NUMBERS_FIRST)
    check_rows("\n".join(map(wrap_lines, marked)), NUMBERS_FIRST)


def test_numbers_that_count_down_are_marks_before_a_digit_too() -> None:
    marked = [f"{len(NUMBERS_FIRST) - n}. {one}" for n, one in enumerate(NUMBERS_FIRST)]

    check_rows("\n".join(map(wrap_lines, marked)), NUMBERS_FIRST)


@pytest.mark.parametrize("references", [PAGES_OF_THE_WEB, NUMBERS_FIRST], ids=["pages", "digits"])
@pytest.mark.parametrize("layout", ["lines", "empty lines", "wrapped, empty lines", "hanging", "numbered, wrapped"])
def test_the_address_of_a_page_can_be_a_reference(references: list[str], layout: str) -> None:
    texts = {
        "lines": "\n".join(references),
        "empty lines": "\n\n".join(references),
        "wrapped, empty lines": "\n\n".join(map(wrap_lines, references)),
        "hanging": "\n".join(wrap_lines(reference).replace("\n", "\n    ") for reference in references),
        "numbered, wrapped": "\n".join(
            wrap_lines(f"({n}) {reference}") for n, reference in enumerate(references, start=1)
        ),
    }

    check_rows(texts[layout], references)


def test_an_address_below_each_reference_is_a_part_of_it() -> None:
    references = [f"{one} https://www.inventions.invalid/{n}" for n, one in enumerate(ENGLISH)]

    check_rows("\n".join(reference.replace(" https", "\nhttps") for reference in references), references)
    check_rows("\n\n".join(reference.replace(" https", "\nhttps") for reference in references), references)


@pytest.mark.parametrize("end", [".", ""])
@pytest.mark.parametrize("space", ["", " "])
def test_numbers_split_a_list_without_line_breaks_and_spaces(end: str, space: str) -> None:
    references = [one.rstrip(".") + end for one in ENGLISH]

    check_rows("".join(f"{n}.{space}{reference}" for n, reference in enumerate(references, start=1)), references)


def test_a_reference_in_such_a_list_can_begin_with_a_digit() -> None:
    check_rows("".join(f"{n}.{one}" for n, one in enumerate(NUMBERS_FIRST, start=1)), NUMBERS_FIRST)


def test_a_text_with_few_numbers_is_not_split() -> None:
    text = "1.Doe J. Moonlight, part 2.Sunlight, part 3.Starlight. J Inv Res. 2001;3:4."

    assert len(read_list(text).references) == 1


@every_list
def test_lists_of_mediawiki_have_a_number_sign_before_each_reference(references: list[str]) -> None:
    without_a_year = [*references[:3], "ClinicalTrials Registry.", *references[3:]]
    check_rows(
        "== References ==\n" + "".join(f"# {one}\n" for one in without_a_year), without_a_year, ["uncertain_split"]
    )


@pytest.mark.parametrize("mark", ["[{}] ", "1. "])
def test_a_name_can_begin_with_a_particle_and_a_space_without_a_break(mark: str) -> None:
    references = [one if n % 3 else f"von\u00a0{one}" for n, one in enumerate(ENGLISH)]
    numbers = [7 * n % 17 for n in range(1, 17)]

    check_rows(
        "\n".join(wrap_lines(mark.format(n) + reference) for n, reference in zip(numbers, references, strict=True)),
        references,
    )


def test_a_cell_in_quotation_marks_can_begin_with_a_title_in_quotation_marks() -> None:
    references = [one if n % 5 != 4 else f'"Moonlight." {one}' for n, one in enumerate(ENGLISH)]
    quoted = "".join(f'{n};"{reference}"\n' for n, reference in enumerate(references, start=1))

    check_rows(f"id;reference\n{quoted}", references, ["headings_left_out"])


def test_rows_of_one_length_are_not_wrapped_lines() -> None:
    references = [
        f"Doe {'ABCDEFGHIJKLMNOP'[n]}. {10 + n} mice in moonlight. J Inv Res {2001 + n};3:{101 + n}." for n in range(16)
    ]
    rows = "".join(
        f"| {n} | {reference} | {('yes', 'no', '')[n % 3]} |\n" for n, reference in enumerate(references, start=1)
    )
    pasted = read_list("| # | Reference | Notes |\n|:-:|:----|----|\n" + rows)
    linked = read_list(
        "\n\n".join(f"{reference}\n\nView Article PubMed/NCBI Google Scholar" for reference in references)
    )

    for found in (pasted, linked):
        assert [join_letters(reference.text or "")[:20] for reference in found.references] == [
            join_letters(reference)[:20] for reference in references
        ]

"""The selected part of an article: by title, by number, by characters; and the report of what was cut."""

import time

import pytest

from entrez_kit.fulltext.fulltext_articles import OverflowMode, Section
from entrez_kit.fulltext.selection import (
    count_section_characters,
    select,
    select_markdown,
    select_pdf_text,
    truncate_text,
)

STATISTICS = Section(title="Statistical Analysis", text="s" * 40)
CELLS = Section(title="Cells", label="2.1", text="c" * 200, subsections=[STATISTICS])
ARTICLE = [
    Section(title="Introduction", label="1", text="i" * 100),
    Section(
        title="Methods",
        label="2",
        text="m" * 50,
        subsections=[CELLS, Section(title="Ethics", label="2.2", text="")],
    ),
    Section(text="u" * 10),
    Section(title="Results", label="3", text="r" * 300),
]


def list_titles(wanted: tuple[str, ...]) -> list[str | None]:
    return [section.title for section in select(ARTICLE, titles=wanted).sections]


# By title


def test_without_a_selection_everything_is_returned_and_nothing_is_cut() -> None:
    selected = select(ARTICLE)

    assert [section.title for section in selected.sections] == ["Introduction", "Methods", None, "Results"]
    assert (
        selected.original_characters
        == selected.returned_characters
        == sum(map(count_section_characters, selected.sections))
    )
    assert not selected.is_cut


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (("METHOD",), ["Methods"]),
        (("intro", "result"), ["Introduction", "Results"]),
        (("statistical",), ["Methods"]),
        (("2.1",), ["Methods"]),
        (("nothing",), []),
        (("straße",), []),
    ],
)
def test_titles_are_compared_without_regard_to_case_and_at_any_depth(wanted: tuple[str, ...], found: list[str]) -> None:
    assert list_titles(wanted) == found


def test_sections_around_a_selected_subsection_have_only_their_headings() -> None:
    (section,) = select(ARTICLE, titles=("statistical",)).sections

    assert (section.title, section.text) == ("Methods", "")
    (cells,) = section.subsections
    assert (cells.title, cells.text) == ("Cells", "")
    assert [(sub.title, sub.text) for sub in cells.subsections] == [("Statistical Analysis", "s" * 40)]


def test_text_that_was_not_selected_is_not_reported_as_cut() -> None:
    selected = select(ARTICLE, titles=("results",))

    assert (selected.is_cut, selected.missed, selected.original_characters) == (False, False, 300)
    assert select(ARTICLE, titles=("nothing",)).missed


# By number and by characters


def test_sections_beyond_the_limit_are_named() -> None:
    selected = select(ARTICLE, max_sections=2)

    assert [section.title for section in selected.sections] == ["Introduction", "Methods"]
    assert selected.omitted_sections == 2
    assert [(part.title, part.returned_characters) for part in selected.cuts] == [(None, 0), ("Results", 0)]


def test_truncate_returns_the_first_sections_and_omits_the_others() -> None:
    selected = select(ARTICLE, max_characters=160)

    assert [(section.title, count_section_characters(section)) for section in selected.sections] == [
        ("Introduction", 100),
        ("Methods", 60),
    ]
    assert selected.returned_characters == 160
    assert selected.omitted_sections == 2


def test_outline_gives_every_part_a_share_and_the_remainder_to_the_long_ones() -> None:
    selected = select(ARTICLE, max_characters=160, overflow_mode="outline")

    assert [section.title for section in selected.sections] == ["Introduction", "Methods", None, "Results"]
    assert selected.sections[2].text == "u" * 10
    assert 155 <= selected.returned_characters <= 160
    assert selected.omitted_sections == 0
    assert all(section.text for section in selected.sections)


@pytest.mark.parametrize("mode", ["truncate", "outline"])
@pytest.mark.parametrize("limit", [1, 2, 3, 10, 49, 150, 359, 360, 701, 10_000])
def test_the_limit_is_never_exceeded_and_the_counts_are_correct(mode: OverflowMode, limit: int) -> None:
    selected = select(ARTICLE, max_characters=limit, overflow_mode=mode)

    assert selected.returned_characters == sum(map(count_section_characters, selected.sections)) <= limit
    assert selected.is_cut is (selected.returned_characters < selected.original_characters)
    assert selected.omitted_sections == 4 - len(selected.sections)
    assert sum(part.original_characters - part.returned_characters for part in selected.cuts) == (
        selected.original_characters - selected.returned_characters
    )


def test_all_limits_work_together() -> None:
    selected = select(ARTICLE, titles=("s",), max_sections=1, max_characters=60)

    assert [(section.title, count_section_characters(section)) for section in selected.sections] == [("Methods", 60)]
    assert selected.omitted_sections == 1


def test_a_limit_applies_to_subsections_at_every_depth() -> None:
    in_order = select(ARTICLE, titles=("methods",), max_characters=270).sections[0]
    shared = select(ARTICLE, titles=("methods",), max_characters=60, overflow_mode="outline").sections[0]

    assert [len(text) for text in (in_order.text, in_order.subsections[0].text)] == [50, 200]
    assert len(in_order.subsections[0].subsections[0].text) == 20
    assert [len(text) for text in (shared.text, shared.subsections[0].text)] == [20, 20]
    assert len(shared.subsections[0].subsections[0].text) == 20
    none_left = select(ARTICLE, titles=("methods",), max_characters=250).sections[0]
    assert none_left.subsections[0].subsections == []


@pytest.mark.long
def test_an_article_of_very_many_parts_is_cut_in_proportion() -> None:
    deeper = [Section(title="Deeper", text="w" * 20) for _ in range(40)]
    many = [Section(title="Part", text="w" * 20, subsections=deeper)] * 3_000
    for mode in ("truncate", "outline"):
        started = time.process_time()
        selected = select(many, max_characters=600_000, overflow_mode=mode)
        assert selected.returned_characters <= 600_000
        assert time.process_time() - started < 10


# Where a text is cut


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("short", 5, "short"),
        ("one two three", 9, "one two…"),
        ("one two three", 8, "one two…"),
        ("unbreakable", 5, "unbr…"),
        ("line\nbreak", 7, "line…"),
        ("ab", 1, ""),
        ("", 0, ""),
    ],
)
def test_a_cut_is_at_the_end_of_a_word_and_marked(text: str, limit: int, expected: str) -> None:
    assert truncate_text(text, limit) == expected


@pytest.mark.parametrize(
    "piece",
    ["e\u0301", "👩‍🔬", "👍🏽", "🇫🇷", "क्षि", "\u1100\u1161\u11a8", "🏴\U000e0067\U000e0062\U000e007f", "a\ufe0f"],
)
def test_a_combined_character_is_never_split(piece: str) -> None:
    text = piece * 30
    for limit in range(len(text)):
        kept = truncate_text(text, limit).removesuffix("…")
        assert len(kept) % len(piece) == 0, (limit, kept)
        assert len(kept) < limit or not kept
        kept.encode("utf-8")


@pytest.mark.parametrize(
    ("titles", "kept"),
    [
        (["METHODS"], "## Methods\nm\n### Cells\nc"),
        (["cells"], "### Cells\nc"),
        (["cells", "results"], "### Cells\nc\n## Results\nr"),
        (["no such"], ""),
        ([" "], ""),
    ],
)
def test_sections_of_markdown_are_selected_by_their_headings(titles: list[str], kept: str) -> None:
    text = "# Title\nt\n## Methods\nm\n### Cells\nc\n## Results\nr\n#no heading"

    assert select_markdown(text, titles).removesuffix("\n#no heading") == kept


PDF = """A title
J Imaginary Res
Abstract
We asked. Methods: we looked.
1. Introduction
See section 2 and Table 1.
J Imaginary Res
2 Materials and Methods
2.1 Cells
1 Control 5.0
2 Treated 6.1
RESULTS were read twice.
2.2 Statistical methods
A test.
J Imaginary Res
3. RESULTS
Many.
Methods
Again, at the end of a letter.
Discussion:
Short.
J Imaginary Res
J Imaginary Res
References
1. Doe J, Methods of doing, 2020."""


@pytest.mark.parametrize(
    ("titles", "first", "last"),
    [
        (["introduction"], "1. Introduction", "J Imaginary Res"),
        (["cells"], "2.1 Cells", "RESULTS were read twice."),
        (["results"], "3. RESULTS", "Many."),
        (["DISCUSS"], "Discussion:", "J Imaginary Res"),
        (["abstract"], "Abstract", "We asked. Methods: we looked."),
        (["a title"], "A title", "J Imaginary Res"),
    ],
)
def test_a_section_of_a_pdf_ends_at_the_next_heading(titles: list[str], first: str, last: str) -> None:
    lines = select_pdf_text(PDF, titles).splitlines()

    assert (lines[0], lines[-1]) == (first, last)
    assert "\n".join(lines) in PDF


def test_all_sections_of_a_pdf_with_a_word_are_selected_with_their_subsections() -> None:
    kept = select_pdf_text(PDF, ["methods"])

    for line in (
        "2 Materials and Methods",
        "2.1 Cells",
        "2 Treated 6.1",
        "2.2 Statistical methods",
        "A test.",
        "Methods",
    ):
        assert line in kept.splitlines()
    for line in ("1. Introduction", "3. RESULTS", "Discussion:", "1. Doe J, Methods of doing, 2020."):
        assert line not in kept.splitlines()


@pytest.mark.parametrize("titles", [["nowhere"], ["doe j"], [""], ["imaginary"]])
def test_a_pdf_without_such_a_heading_has_no_such_section(titles: list[str]) -> None:
    assert select_pdf_text(PDF, titles) == ""


def test_a_long_text_without_headings_takes_linear_time() -> None:
    assert select_pdf_text("1.1.1.1 " * 200_000 + "\n" + "a\n" * 200_000, ["methods"]) == ""

"""Pasted lists in any layout: one row for each reference, in order, with its words."""

import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from time import process_time

import pytest
from demo_articles import read_demo_articles
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from list_layouts import BLANKS, HEADS, MARKS, NUMBERS, PAGES, Layout, insert_pages, join_letters, number_lines

from entrez_kit.citations.format_citations import format_articles
from entrez_kit.fulltext.jats.reference_list import read_reference_list
from entrez_kit.fulltext.jats.tree import get_local_name, iter_descendants, parse_jats_document
from entrez_kit.pubmed.models import Article, Author, JournalInfo, PublicationDate
from entrez_kit.references.check.comparison.compare_text import compare_text
from entrez_kit.references.check.pasted.find_lists import HEADINGS
from entrez_kit.references.check.pasted.pasted_lists import read_list, split_references

STYLES = ("apa", "mla", "vancouver", "ama", "chicago", "nature")


@cache
def write_citations(style: str) -> list[str]:
    return [" ".join(texts[style].split()) for texts in format_articles(list(read_demo_articles()), [style])]


def split_rows(text: str) -> list[str]:
    return [join_letters(reference.text or "") for reference in split_references(text)]


@cache  # the same references are in many lists
def read_alone(reference: str) -> str:
    # A note about the standing of a work is not part of the reference.
    return join_letters(split_references(reference)[0].text or "")


def split_separately(references: Sequence[str]) -> list[str]:
    return list(map(read_alone, references))


@pytest.mark.process
@pytest.mark.parametrize("style", STYLES)
def test_a_citation_of_any_record_agrees_with_it_also_for_books_and_chapters(style: str) -> None:
    for article, text in zip(read_demo_articles(), write_citations(style), strict=True):
        agreement = compare_text(split_references(text)[0], article)
        assert (agreement.same, agreement.differences, agreement.left) == (True, [], []), text


layouts = st.builds(
    Layout,
    mark=st.sampled_from(list(MARKS)),
    width=st.sampled_from([0, 60, 72, 80, 100]),
    indent=st.sampled_from(["", "    ", "\t"]),
    blank=st.sampled_from(BLANKS),
    numbers=st.sampled_from(NUMBERS),
    unmarked=st.one_of(st.just(frozenset()), st.frozensets(st.integers(1, 30), max_size=8)),
    heading=st.sampled_from(["", *HEADINGS]),
    newline=st.sampled_from(["\n", "\r\n"]),
)


@pytest.mark.long
@pytest.mark.process
@settings(max_examples=150, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    style=st.sampled_from(STYLES),
    first=st.integers(0, 50),
    size=st.integers(4, 23),
    layout=layouts.filter(lambda x: x.shows_every_reference),
)
def test_a_list_in_any_layout_has_as_many_rows_as_references(style: str, first: int, size: int, layout: Layout) -> None:
    references = write_citations(style)[first : first + size]

    assert split_rows(layout.written(references)) == split_separately(references)


@pytest.mark.long
@pytest.mark.process
@settings(max_examples=150, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    style=st.sampled_from(STYLES),
    first=st.integers(0, 30),
    layout=layouts.filter(lambda x: x.shows_every_reference and x.blank != "some"),
    page=st.sampled_from([page for page in PAGES if page != "form feed, head"]),
    size=st.integers(20, 50),
    empty=st.integers(0, 1),
)
def test_page_headers_and_footers_are_not_read_as_references(
    style: str, first: int, layout: Layout, page: str, size: int, empty: int
) -> None:
    references = write_citations(style)[first : first + 40]
    text = layout.written(references)

    assert split_rows(insert_pages(text, page, size, empty=empty)) == split_separately(references)


@pytest.mark.long
@pytest.mark.process
@pytest.mark.parametrize("heads", [2, 3, 6])
@pytest.mark.parametrize("head", list(HEADS))
@pytest.mark.parametrize("style", STYLES)
def test_page_headers_that_differ_only_in_their_page_numbers_are_left_out(style: str, head: str, heads: int) -> None:
    # Of two different headers, each is on one page only.
    pages = heads + 2 * (head == "authors or title")
    references = write_citations(style)[: max(40, 8 * pages)]
    for layout in (Layout(mark="1.", width=60), Layout(mark="[1]", width=80, blank="between"), Layout(mark="1.")):
        text = layout.written(references)
        size = -(-len(text.splitlines()) // (pages + 1))
        assert len(text) > 1_000 * pages
        assert split_rows(insert_pages(text, head, size)) == split_separately(references), layout


@pytest.mark.parametrize("line", ["Springer, 20{}", "12-{}", "(in German), {}.", "mice and {}", "{} mice"])
def test_the_last_lines_of_two_references_are_kept_although_only_their_numbers_differ(line: str) -> None:
    listed = [f"{n}. {LONG.format('grey', n)}" for n in range(1, 40)]
    listed[9] += f"\n{line.format(12)}"
    listed[19] += f"\n{line.format(13)}"

    assert "".join(split_rows("\n".join(listed))) == "".join(join_letters(one.split(". ", 1)[1]) for one in listed)


def test_a_line_with_a_number_sign_is_not_a_page_header() -> None:
    listed = [ONE, "# Effects of moonlight", TWO, "12 Effects of moonlight", THREE]

    assert "Effectsofmoonlight" in "".join(split_rows("\n".join(listed)))


@pytest.mark.long
@pytest.mark.process
@settings(max_examples=40, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    style=st.sampled_from(STYLES),
    layout=layouts.filter(lambda x: x.shows_every_reference and x.width and x.mark != "line"),
    step=st.sampled_from([1, 5]),
    first=st.sampled_from([1, 411]),
)
def test_line_numbers_of_a_manuscript_are_not_read_as_references(
    style: str, layout: Layout, step: int, first: int
) -> None:
    references = write_citations(style)[:25]

    assert split_rows(number_lines(layout.written(references), step, first=first)) == split_separately(references)


LONG = "Doe J, Roe R. Effects of moonlight on the memory of {} mice and\non their sleep. J Inv Res. 2019;{}:150-163."
ONE, TWO, THREE = (LONG.format(name, n) for n, name in enumerate(("white", "brown", "black"), start=1))


@pytest.mark.parametrize(
    ("between", "left_out"),
    [
        ("\f", 0),
        ("12", 1),
        ("12\n\f", 1),
        ("- 12 -", 1),
        ("Page 12 of 15", 1),
        ("12 / 15", 1),
        ("PLOS ONE | https://doi.org/10.5555/journal.inv.0212345 May 3, 2019 12 / 15", 1),
        ("INVENTIONS ONE | www.example.org 9 December 2013 | Volume 8 | Issue 12 | e81648", 1),
        ("Author Manuscript\nAuthor Manuscript", 2),
        ("J Inv Biol. Author manuscript; available in PMC 2014 May 1.\nPage 12", 2),
        ("Smith et al. / Journal of X 12 (2019) 3-14", 1),
        ("12\nSmith et al. / Journal of X 12 (2019) 3-14", 2),
        ("Smith et al.", 1),
        ("12 J. Smith and R. Roe", 1),
        ("Downloaded from https://example.org/a by a guest on 3 May 2019", 1),
        ("This article is protected by copyright. All rights reserved.", 1),
        ("\n12\n\nInvented Medicine\n", 2),
    ],
)
def test_page_headers_and_footers_are_left_out_inside_and_between_references(between: str, left_out: int) -> None:
    inside = ONE.replace("\n", f"\n{between}\n")
    for text in (
        f"{inside}\n{TWO}\n{THREE}\n",
        f"{ONE}\n{between}\n{TWO}\n{THREE}\n",
        f"1. {inside}\n2. {TWO}\n3. {THREE}\n",
        f"1. {ONE}\n{between}\n2. {TWO}\n3. {THREE}\n",
        f"{inside}\n\n{TWO}\n\n{THREE}\n",
        f"{ONE}\n\n{between}\n\n{TWO}\n\n{THREE}\n",
    ):
        pasted = read_list(text)
        assert [join_letters(reference.text or "") for reference in pasted.references] == [
            join_letters(one) for one in (ONE, TWO, THREE)
        ], text
        named = [term for warning in pasted.warnings for term in warning.terms]
        lines = [line.strip() for line in between.splitlines() if line.strip()]
        assert [term.split(": ", 1)[1] for term in named] == (lines if left_out else []), text
        codes = [warning.code for warning in pasted.warnings if warning.code != "uncertain_split"]
        assert codes == ["page_lines_left_out"] * bool(left_out)


def test_a_number_on_its_own_line_can_be_the_number_of_the_next_reference() -> None:
    text = "".join(f"{n}\n{one}\n" for n, one in enumerate((ONE, TWO, THREE), start=1))
    pasted = read_list(text)

    assert [reference.number for reference in pasted.references] == ["1", "2", "3"]
    assert pasted.warnings == []


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize(
    "line",
    [
        *("between May and August 2011", "2 diabetes patients and mice", "Memory of Mice", "(in press)."),
        *("Aug. 2021.", "Accessed 3 February 2012.", "1989;246:358-363.", "J Inv Biol 12"),
    ],
)
def test_a_repeated_line_is_kept_if_its_distances_are_irregular(line: str, inside: bool) -> None:
    listed = [f"{n}. {LONG.format('grey', n)}" for n in range(1, 40)]
    for n in (3, 17, 36):
        listed[n] = listed[n].replace("and\non", f"and\n{line}\non") if inside else f"{listed[n]}\n{line}"
    pasted = read_list("\n".join(listed))

    assert "".join(split_rows("\n".join(listed))) == "".join(
        join_letters(re.sub(r"^[0-9]+\. ", "", one)) for one in listed
    )
    assert pasted.warnings == []


@pytest.mark.parametrize("mark", ["", "{}. "])
def test_a_repeated_reference_is_kept(mark: str) -> None:
    short = "Roe et al. J Inv Res 7 (2019) 15"
    listed = [
        ONE.replace("\n", " "),
        short,
        *(LONG.format("grey", n).replace("\n", " ") for n in range(20)),
        short,
        ONE,
    ]
    text = "\n".join(mark.format(n) + one for n, one in enumerate(listed, start=1))

    assert len(split_references(text)) == len(listed)
    assert len(split_references(insert_pages(text, "number", 9))) == len(listed)


def test_a_heading_on_each_page_does_not_begin_another_list() -> None:
    pages = (f"References\n{one}\n" for one in (ONE, TWO, THREE))

    assert split_rows("A text that ends.\n" + "\f".join(pages)) == [join_letters(one) for one in (ONE, TWO, THREE)]


def test_a_form_feed_is_not_a_line() -> None:
    assert [reference.line for reference in split_references(f"{ONE}\n12\n\f{TWO}\n{THREE}\n")] == [1, 4, 6]


def test_a_short_line_ends_a_reference_of_an_unmarked_list_and_a_warning_reports_the_uncertainty() -> None:
    references = [
        "Cervigon F (1993) The fishes of the sea near Venezuela, second volume. Caracas: Fundacion Los Roques. 497 p",
        "Doe J, Roe R. Effects of the moonlight on the memory of white mice and on their long sleep. J Pers Assess",
        "Poe E (2004) Fishes of the coral reefs, and how their memory changes from year to year. Inv Biol 7: 12-19.",
        "Van Walden D, Roe R. A survey of bees, of their memory in the years of the war. J Inv Res. 2012;51:100-114.",
    ]
    pasted = read_list(Layout(width=60, heading="").written(references))

    assert [reference.text for reference in pasted.references] == references
    assert [warning.code for warning in pasted.warnings] == ["uncertain_split"]
    assert read_list(Layout(width=60, blank="between").written(references)).warnings == []


RECORDED = {
    "numbered": Layout(mark="1."),
    "numbered and wrapped": Layout(mark="[1]", width=80),
    "numbered, wrapped and indented": Layout(mark="1)", width=90, indent="    ", blank="between"),
    "of Windows": Layout(mark="(1)", width=100, newline="\r\n"),
    "empty lines between": Layout(blank="between"),
    "wrapped, empty lines between": Layout(width=80, blank="between"),
    "one per line": Layout(),
    "hanging": Layout(width=80, indent="    "),
    "without some numbers": Layout(mark="1.", unmarked=frozenset({3, 8, 21})),
}
UNCERTAIN = {width: Layout(width=width) for width in (60, 90, 120)}
"""Wrapped lists without numbers, indents and empty lines."""


@cache
def read_recorded_lists(real_data: Path) -> dict[str, list[str]]:
    """Return the reference lists of every third recorded article, or of all."""
    lists: dict[str, list[str]] = {}
    for path in sorted((*real_data.glob("jats/*.xml"), *real_data.glob("efetch_pmc/*.xml"))):
        root = parse_jats_document(path.read_bytes())
        articles = (
            [root]
            if get_local_name(root) == "article"
            else list(iter_descendants(root, "article", outside=("article",)))
        )
        for number, article in enumerate(articles):
            texts = [" ".join(one.citation.split()) for one in read_reference_list(article) if one.citation]
            if texts:
                lists[f"{path.name} {number}"] = texts
    return lists if os.environ.get("ENTREZ_KIT_ALL_LISTS") else dict(list(lists.items())[::3])


@pytest.mark.long
def test_no_reference_of_the_lists_of_recorded_articles_is_lost(
    real_data: Path, record_property: Callable[[str, object], None]
) -> None:
    lists = read_recorded_lists(real_data)
    wrong: dict[str, list[tuple[str, int, int]]] = {name: [] for name in RECORDED}
    for name, layout in RECORDED.items():
        for of, references in lists.items():
            pasted = read_list(layout.written(references))
            assert {warning.code for warning in pasted.warnings} <= {"uncertain_split"}, (name, of, pasted.warnings)
            if len(pasted.references) != len(references):
                wrong[name].append((of, len(references), len(pasted.references)))

    total = sum(map(len, lists.values()))
    for name, found_wrong in wrong.items():
        off = sum(abs(wanted - found) for _, wanted, found in found_wrong)
        record_property(name, f"{len(lists) - len(found_wrong)} of {len(lists)} lists, {off} of {total} rows off")
        assert len(found_wrong) <= 0.05 * len(lists), (name, found_wrong)
        assert off <= 0.003 * total, (name, found_wrong)


@pytest.mark.long
@pytest.mark.parametrize("head", list(HEADS))
def test_of_recorded_lists_with_pages_only_the_page_headers_are_left_out(
    head: str, real_data: Path, record_property: Callable[[str, object], None]
) -> None:
    total = kept = 0
    for references in read_recorded_lists(real_data).values():
        for layout, size in ((Layout(mark="1.", width=60), 50), (Layout(width=80, indent="    "), 48)):
            text = layout.written(references)
            if len(text.splitlines()) < 3 * size:
                continue
            text = insert_pages(text, head, size)
            heads = {HEADS[head](page) for page in range(11, 100)} & set(text.splitlines())
            removed = [
                term.split(": ", 1)[1]
                for warning in read_list(text).warnings
                for term in warning.terms
                if "page_" in warning.code
            ]
            assert set(removed) <= heads
            total += len(heads)
            kept += len(heads) - len(removed)

    record_property("kept", f"{kept} of {total} page headers")
    assert kept <= 0.05 * total, (kept, total)


@pytest.mark.long
@pytest.mark.parametrize("width", list(UNCERTAIN))
def test_a_wrapped_recorded_list_without_marks_is_mostly_split_correctly_with_a_warning(
    width: int, real_data: Path, record_property: Callable[[str, object], None]
) -> None:
    lists = read_recorded_lists(real_data)
    wrong = off = 0
    for of, references in lists.items():
        pasted = read_list(UNCERTAIN[width].written(references))
        codes = [warning.code for warning in pasted.warnings]
        difference = abs(len(pasted.references) - len(references))
        assert codes in ([], ["uncertain_split"]), (of, codes)
        assert codes or not difference, (of, len(references), len(pasted.references))
        wrong += difference > 0
        off += difference

    total = sum(map(len, lists.values()))
    record_property("wrong", f"{wrong} of {len(lists)} lists, {off} of {total} rows off")
    assert wrong <= 0.22 * len(lists)
    assert off <= 0.012 * total


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("References\n\nDoe J. A b. J. 2019.\nRoe R. C d. J. 2020.\nPoe E. E f. J. 2021.\n", [3, 4, 5]),
        ("1. Doe J. A b. J. 2019.\nRoe R. C d. J. 2020.\n3. Poe E. E f. J. 2021.\n", [1, 2, 3]),
        ("1.\nDoe J. A b. J. 2019.\n2.\nRoe R. C d. J. 2020.\n", [1, 3]),
        ("1 Doe J. A b. J. 2019.\n2 Roe R. C d. J. 2020.\n", [1, 2]),
        ("[Doe19] Doe J. A b. J. 2019.\n[Roe20] Roe R. C d. J. 2020.\n", [1, 2]),
        ("1: Doe J. A b. J. 2019.\n2: Roe R. C d. J. 2020.\n", [1, 2]),
        (
            "Doe J, Roe R.\nA b c.\nJ Inv. 2019;1:2.\n\nRoe R.\nC d e.\nJ Inv. 2020;2:3.\n\n"
            "Poe E.\nE f.\nJ. 2021;3:4.\n",
            [1, 5, 9],
        ),
        (
            "1. Doe J. A b. J. 2019.\n[PubMed] [Google Scholar]\n2. Roe R. C d. J. 2020.\n[PubMed] [CrossRef]\n",
            [1, 3],
        ),
        ("Список литературы\n1. Иванов И. А б. Ж. 2019.\n2. Петров П. В г. Ж. 2020.\n", [2, 3]),
        ("1. Doe J. A b. J. 2019;7.\n2. Roe R. C d. J. 2020;8:\nSupplement 1.\n3. Poe E. E f. J. 2021;9.\n", [1, 2, 4]),
    ],
)
def test_each_mark_of_a_layout_separates_references(text: str, starts: list[int]) -> None:
    assert [reference.line for reference in split_references(text)] == starts


ARTICLE = Article(
    pmid="1",
    url="https://pubmed.ncbi.nlm.nih.gov/1/",
    title="Mutation of five efflux transporters in long-term T-cell therapy",
    authors=[Author(last_name="Thistlewood", initials="WA"), Author(last_name="Fenwick-Achebe", initials="I")],
    journal_info=JournalInfo(
        title="Journal of Invented Medicine",
        iso_abbreviation="J Inv Med",
        publication_date=PublicationDate(year=2019),
        volume="3",
        pages="101-12",
    ),
)
PASTED = "Thistlewood WA, Fenwick-Achebe I. {}. J Inv Med. 2019;3:101-12."


@pytest.mark.parametrize(
    "text",
    [
        PASTED.format("Muta-\ntion of five efflux trans-\n    porters in long-\nterm T-\ncell therapy"),
        PASTED.format("Muta\u00ad\ntion of five efflux trans\u2010\nporters in long-term T-cell ther\u00adapy"),
        PASTED.format("Muta- tion of five efflux transporters in long-term T-cell therapy"),
        PASTED.format("Mutation of \ufb01ve e\ufb04ux trans\u200bporters in long\u2011term T\u2013cell therapy"),
        PASTED.format(ARTICLE.title).replace(" ", "\u00a0").replace("101-12", "101\u201312"),
        PASTED.format(ARTICLE.title).replace("Thistlewood", "Thistle-\nwood").replace("Achebe", "\nAchebe"),
        "\ufeff" + PASTED.format(ARTICLE.title),
    ],
)
def test_hyphens_and_characters_of_a_page_layout_are_not_differences(text: str) -> None:
    (reference,) = split_references(text)
    agreement = compare_text(reference, ARTICLE)

    assert (agreement.same, agreement.differences, agreement.left) == (True, [], [])


@pytest.mark.parametrize(
    "text",
    [
        "Thistlewood WA, Fenwick-Achebe I. {}[J/OL]. J Inv Med, 2019, 3: 101-12[2024-05-06]. https://example.org/a",
        "Thistlewood WA, et al. {}[J]. J Inv Med, 2019, 3: 101.",
        "Thistlewood WA, Fenwick-Achebe I. {}[EB/OL]. J Inv Med, (2019-02-03)[2024-05-06]. https://example.org/a",
        "Thistlewood, W. A. u. a.: {}. In: J Inv Med Bd. 3 (2019), S. 101-112",
        "Thistlewood WA, et coll. — {}. J Inv Med, 2019, vol. 3, pp. 101-112.",
        "Thistlewood W. A., Fenwick-Achebe I. {} // J Inv Med. – 2019. – Т. 3. – С. 101-112.",
    ],
)
def test_the_words_of_a_national_style_are_ignored(text: str) -> None:
    (reference,) = split_references(text.format(ARTICLE.title))
    agreement = compare_text(reference, ARTICLE)

    assert (agreement.same, agreement.differences, agreement.left) == (True, [], [])


@pytest.mark.parametrize(("number", "text"), [("2", "Nr. 2"), ("2", "n° 2"), ("2", "№ 2"), ("2", "no. 2")])
def test_every_label_of_an_issue_is_ignored(number: str, text: str) -> None:
    journal = ARTICLE.journal_info
    assert journal is not None
    article = ARTICLE.model_copy(update={"journal_info": journal.model_copy(update={"issue": number})})
    (reference,) = split_references(
        f"Thistlewood WA, Fenwick-Achebe I. {ARTICLE.title}. J Inv Med, 2019, vol. 3, {text}, p. 101-12."
    )

    assert compare_text(reference, article).differences == []


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("W. A. Thistlewood, I. Fenwick-Achebe, J Inv Med 3, 101 (2019)", None),
        ("J Inv Med 3, 101 (2019)", None),
        ("W. A. Thistlewood, I. Fenwick-Achebe, J Inv Med 4, 101 (2019)", "volume"),
        ("W. A. Thistlewood, I. Fenwick-Achebe, J Inv Med 3, 201 (2019)", "pages"),
        ("W. A. Thistlewood, I. Fenwick-Achebe, J Inv Med 3, 101 (2009)", "year"),
        ("W. A. Thistlewood, Q. Nobodyson, J Inv Med 3, 101 (2019)", "authors"),
        ("W. A. Thistlewood, I. Fenwick-Achebe, Q. Nobodyson, J Inv Med 3, 101 (2019)", "authors"),
        ("I. Fenwick-Achebe et al., J Inv Med 3, 101 (2019)", "authors"),
    ],
)
def test_one_wrong_part_of_a_reference_without_title_is_only_a_difference_of_its_field(
    text: str, field: str | None
) -> None:
    (reference,) = split_references(text)
    agreement = compare_text(reference, ARTICLE)

    assert (agreement.same, agreement.left) == (True, [])
    assert [difference.field for difference in agreement.differences] == ([field] if field else [])


@pytest.mark.parametrize(
    ("names", "wrong"),
    [
        *((names, ()) for names in ("Thistlewood W, Fenwick-Achebe I", "W. A. Thistlewood, I. Fenwick-Achebe")),
        *((names, ()) for names in ("Thistlewood, Fenwick-Achebe", "Thistlewood & Fenwick-Achebe")),
        ("Thistlewood y Fenwick-Achebe", ()),
        ("Thistlewood WA, Fenwick-Achebe Q", ("Q",)),
        ("Thistlewood, W. A., & Fenwick-Achebe, Q.", ("Q",)),
        ("W. A. Thistlewood, Q. Fenwick-Achebe", ("Q",)),
        ("Thistlewood X, Fenwick-Achebe I", ("X",)),
    ],
)
def test_a_wrong_initial_is_a_difference_of_the_authors(names: str, wrong: tuple[str, ...]) -> None:
    (reference,) = split_references(PASTED.replace("Thistlewood WA, Fenwick-Achebe I", names).format(ARTICLE.title))
    agreement = compare_text(reference, ARTICLE)

    assert (agreement.same, agreement.left) == (True, [])
    assert [difference.field for difference in agreement.differences] == ["authors"] * bool(wrong)
    assert all(f"{letter} (" in (difference.detail or "") for letter in wrong for difference in agreement.differences)


@pytest.mark.parametrize(
    "text",
    [
        "J Inv Med 4, 101 (2019)",
        "Q. Nobodyson, J Inv Med 3, 101 (2019)",
        "Q. Nobodyson, J Inv Med 4, 101 (2019)",
        "W. A. Thistlewood, I. Fenwick-Achebe, J Inv Med 4, 201 (2019)",
    ],
)
def test_a_reference_without_title_and_with_few_equal_parts_is_another_work(text: str) -> None:
    (reference,) = split_references(text)

    assert not compare_text(reference, ARTICLE).same


@pytest.mark.parametrize(
    ("author", "text"),
    [
        (Author(last_name="The", initials="B"), "The B"),
        (Author(collective_name="The XYZ Group"), "The XYZ Group"),
        (Author(collective_name="XYZ Group"), "The XYZ Group"),
    ],
)
def test_an_author_with_the_in_the_name_is_an_author(author: Author, text: str) -> None:
    article = ARTICLE.model_copy(update={"authors": [author]})
    (reference,) = split_references(PASTED.replace("Thistlewood WA, Fenwick-Achebe I", text).format(ARTICLE.title))
    agreement = compare_text(reference, article)

    assert (agreement.differences, agreement.left, agreement.has_authors) == ([], [], True)


def test_an_omitted_author_named_the_who_is_missing() -> None:
    article = ARTICLE.model_copy(update={"authors": [Author(last_name="The", initials="B"), *ARTICLE.authors]})
    (reference,) = split_references(PASTED.format(ARTICLE.title))

    assert [difference.field for difference in compare_text(reference, article).differences] == ["authors"]


@pytest.mark.long
def test_the_time_grows_in_proportion_to_the_length_of_a_list() -> None:
    def measure_seconds(size: int) -> float:
        begin = process_time()
        split_references("a line without a year\n" * size)
        return process_time() - begin

    assert measure_seconds(10_000) < 20 * max(measure_seconds(1_000), 0.02)

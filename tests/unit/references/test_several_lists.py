"""A document with several lists of references: no list is lost, and no other text is read as a reference."""

from typing import Final

import pytest
from word_documents import write_heading, write_paragraph, write_word

from entrez_kit.references.check.pasted.pasted_lists import read_list
from entrez_kit.references.manuscripts.read_manuscript import read_manuscript

TITLES: Final = (
    "Growth of imaginary cells in silent rooms",
    "A randomised trial of moonlight",
    "Sleep and the price of lanterns",
    "Invented enzymes of the deep sea",
    "Paper boats and their cargo",
    "Rain in the upper corridor",
    "Three maps of one island",
    "The weight of small numbers",
)
REFERENCES: Final = [
    f"Pennyfeather A{letter}, Umbracht V. {title}. J Invent Res. {2001 + n};{n + 3}({n + 1}):{n + 11}0-{n + 12}0."
    for n, (letter, title) in enumerate(zip("BCDEFGHJ", TITLES, strict=True))
]
PROSE: Final = (
    "Chapter 2. Methods of the study\n\nWe studied 45 patients in 2012 and compared them with earlier cohorts (Roe"
    " 2010).\nThey were treated for ten weeks, and nobody was lost.\n\nResults were good in 2013.\n"
)
LEGENDS: Final = (
    "Figure legends\n\nFigure 1. Curves of survival. A total of 67 patients were treated in 2012.\n\nFigure 2. The same"
    " in 2013.\n\nAppendix A. Supplementary data\n\nData to this article are at https://doi.org/10.5555/ekit.data.\n"
)
BETWEEN: Final = (
    "Supplementary references",
    "Supplemental references",
    "Additional references",
    "Further references",
    "Appendix",
    "Supplementary Material",
    "Bibliography",
    "Literature cited",
    "Further reading",
    f"{PROSE}\nReferences",
    f"{PROSE}\nBibliography",
)


def write_list(start: int, end: int, *, numbered: bool, apart: bool) -> str:
    marks = [f"{n - start + 1}. " if numbered else "" for n in range(start, end)]
    rows = [mark + text for mark, text in zip(marks, REFERENCES[start:end], strict=True)]
    return ("\n\n" if apart else "\n").join(rows)


def name_titles(texts: list[str | None]) -> list[str]:
    return [next((title for title in TITLES if title in (text or "")), text or "") for text in texts]


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("between", BETWEEN, ids=range(len(BETWEEN)))
@pytest.mark.parametrize("head", ["Some text [1] of 2012.\n\nReferences", "Some text.\n\nBibliography"])
def test_both_lists_of_a_text_are_read(head: str, between: str, *, numbered: bool, apart: bool) -> None:
    first = write_list(0, 4, numbered=numbered, apart=apart)
    second = write_list(4, 8, numbered=numbered, apart=apart)

    pasted = read_list(f"{head}\n\n{first}\n\n{between}\n\n{second}\n\n{LEGENDS}")

    texts = [reference.text for reference in pasted.references]
    assert name_titles(texts) == [*TITLES]
    assert all((text or "").endswith("0.") for text in texts), "a reference has other text"


@pytest.mark.parametrize("numbered", [True, False])
def test_a_list_before_the_first_heading_is_read(*, numbered: bool) -> None:
    first = write_list(0, 4, numbered=numbered, apart=True)
    second = write_list(4, 8, numbered=numbered, apart=True)

    pasted = read_list(f"{first}\n\nSupplementary references\n\n{second}\n")

    assert name_titles([reference.text for reference in pasted.references]) == [*TITLES]


@pytest.mark.parametrize("numbered", [True, False])
def test_the_text_below_a_table_of_contents_is_not_a_list(*, numbered: bool) -> None:
    text = f"Contents\nIntroduction\nReferences\nAppendix\n\n{PROSE}\nReferences\n\n"

    pasted = read_list(
        text + write_list(0, 4, numbered=numbered, apart=True) + f"\n\nAppendix A\n\n{PROSE}\n\n{LEGENDS}"
    )

    assert name_titles([reference.text for reference in pasted.references]) == [*TITLES[:4]]


@pytest.mark.parametrize("numbered", [True, False])
def test_the_lists_of_all_chapters_of_a_markdown_file_are_read(*, numbered: bool) -> None:
    lists = [write_list(n, n + 2, numbered=numbered, apart=True) for n in (0, 2, 4, 6)]
    text = "".join(f"# Chapter\n\nSome text of 2012.\n\n## References\n\n{listed}\n\n" for listed in lists[:3])

    manuscript = read_manuscript(f"{text}# Supplement\n\n{lists[3]}\n".encode(), "book.md", ".md")

    assert name_titles([reference.text for reference in manuscript.references]) == [*TITLES]
    assert not [line.text for line in manuscript.text if "Pennyfeather" in line.text]


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("line_break", ["<w:r><w:br/></w:r>", "<w:r><w:cr/></w:r>"])
@pytest.mark.parametrize("size", [1, 2, 8])
def test_references_that_share_a_paragraph_of_a_word_document_are_read(
    line_break: str, size: int, *, numbered: bool
) -> None:
    rows = [f"{n}. {text}" if numbered else text for n, text in enumerate(REFERENCES, start=1)]
    groups = [rows[n : n + size] for n in range(0, len(rows), size)]
    body = [write_paragraph(*[piece for row in group for piece in (row, line_break)][:-1]) for group in groups]

    manuscript = read_manuscript(write_word(write_heading("References"), *body), "a.docx", ".docx")

    assert name_titles([reference.text for reference in manuscript.references]) == [*TITLES]
    if numbered:
        assert [reference.number for reference in manuscript.references] == [str(n) for n in range(1, 9)]


def test_a_line_break_inside_of_a_reference_of_a_word_document_does_not_divide_it() -> None:
    pieces = [text.partition(". ") for text in REFERENCES]
    body = [write_paragraph(f"{names}.", "<w:r><w:br/></w:r>", rest) for names, _, rest in pieces]

    manuscript = read_manuscript(write_word(write_heading("References"), *body), "a.docx", ".docx")

    assert [reference.text for reference in manuscript.references] == REFERENCES


@pytest.mark.parametrize("between", ["Supplementary references", "Appendix", "Bibliography", "References", "Chapter 2"])
@pytest.mark.parametrize("numbered", [True, False])
def test_both_lists_of_a_word_document_are_read(between: str, *, numbered: bool) -> None:
    rows = [f"{n % 4 + 1}. {text}" if numbered else text for n, text in enumerate(REFERENCES)]
    first, second = ([write_paragraph(row) for row in part] for part in (rows[:4], rows[4:]))
    prose = [write_heading("Methods"), write_paragraph("We studied 45 patients in 2012."), write_heading("References")]
    middle = prose if between == "Chapter 2" else [write_heading(between)]
    document = write_word(write_paragraph("So [1]."), write_heading("References"), *first, *middle, *second)

    manuscript = read_manuscript(document, "a.docx", ".docx")

    assert name_titles([reference.text for reference in manuscript.references]) == [*TITLES]


SHORT: Final = [
    f"Pennyfeather, A. {letter}.; Umbracht, V. J. Invent. Res. {2001 + n}, {n + 3}, {n + 11}0."
    for n, letter in enumerate("BCDEFG")
]


@pytest.mark.parametrize("sign", ["({})", "{})"])
@pytest.mark.parametrize("end", [".", ";"])
def test_references_with_letters_in_one_entry_are_divided(sign: str, end: str) -> None:
    letters = [sign.format(letter) for letter in "abcd"]
    parts = [f"{letter} {text.rstrip('.')}{end}" for letter, text in zip(letters, SHORT, strict=False)]
    entry = " ".join(parts)

    pasted = read_list(f"References\n\n(1) {entry}\n(2) {SHORT[4]}\n(3) {SHORT[5]}\n")

    found = [(reference.number, (reference.text or "").rstrip(".;")) for reference in pasted.references]
    assert found == list(zip("111123", [text.rstrip(".") for text in SHORT], strict=True))
    assert len({reference.key for reference in pasted.references}) == len(SHORT)
    assert not pasted.warnings


@pytest.mark.parametrize("between", ["; ", ". ", "; see also "])
def test_an_entry_with_two_references_has_a_warning(between: str) -> None:
    rows = [f"{n}. {text}" for n, text in enumerate(REFERENCES[:4], start=1)]
    two = f"{rows[1].rstrip('.')}{between}{REFERENCES[6]}"

    right, wrong = (read_list("References\n\n" + "\n".join(listed)) for listed in (rows, [rows[0], two, *rows[2:]]))

    assert not right.warnings
    assert [(one.code, [term[:4] for term in one.terms]) for one in wrong.warnings] == [("uncertain_split", ["4: 2"])]


@pytest.mark.parametrize("missing", [1, 2, 3])
@pytest.mark.parametrize("size", [4, 5, 8])
@pytest.mark.parametrize("is_empty", [True, False])
def test_a_missing_number_has_a_warning(missing: int, size: int, *, is_empty: bool) -> None:
    rows = [f"{n}. {text}" for n, text in enumerate(REFERENCES[:size], start=1)]
    rows[missing : missing + 1] = [f"{missing + 1}."] * is_empty

    warnings = read_list("References\n\n" + "\n".join(rows)).warnings

    assert [one.code for one in warnings] == ([] if missing + 1 == size and not is_empty else ["uncertain_split"])

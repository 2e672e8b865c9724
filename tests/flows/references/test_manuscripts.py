"""Manuscripts of every kind, through the real command: their references, and the citations in their text."""

import io
import json
import time
import zipfile
from collections.abc import Callable, Sequence
from itertools import combinations, permutations
from typing import Any

import pytest
from command_line import Cli, RunResult
from manuscript_files import BBL, ENDNOTE, INVENTED, ITEM, OTHER, RETRACTED, TRUE
from word_documents import (
    write_bibliography,
    write_endnote,
    write_endnote_record,
    write_field,
    write_heading,
    write_mendeley,
    write_package,
    write_paragraph,
    write_run,
    write_word,
    write_zotero,
)

from entrez_kit.base.errors import InvalidInput
from entrez_kit.references.check.pasted.find_lists import HEADING, HEADINGS
from entrez_kit.references.manuscripts.articles import read_article_xml
from entrez_kit.references.manuscripts.calls import check_calls
from entrez_kit.references.manuscripts.document import Manuscript
from entrez_kit.references.manuscripts.read_manuscript import read_manuscript


def read_rows(done: RunResult) -> list[tuple[str, str, str | None]]:
    found = json.loads(done.out)["references"]
    return [(one["key"], one["status"], one.get("pmid")) for one in found]


def test_the_cited_entries_of_a_manuscript_are_read_from_the_files_that_it_names(
    cli: Cli, file: Callable[..., str]
) -> None:
    file(
        "refs.bib",
        "@article{moon, pmid={99000050}}\n@article{other, pmid={99000001}}\n@article{never, pmid={99000002}}\n",
    )
    tex = file("p.tex", "\\cite[p.~3]{moon} and \\citep{other,lost} % \\cite{never}\n\\bibliography{refs}\n")
    md = file("p.md", "---\ntitle: T\nbibliography: refs.bib\n---\n\nSo [@moon; see @other].\n")
    outside = file("q.tex", "\\cite{moon}\\addbibresource{../refs.bib}\n")

    for manuscript in (tex, md):
        assert [key for key, _, _ in read_rows(cli("check", manuscript, "--sources", "pubmed", "--json"))] == [
            "moon",
            "other",
        ]
    refused = cli("check", outside, "--json")
    assert refused.status == 2
    assert "no list of references" in refused.err


@pytest.mark.parametrize(("option", "found"), [("", ["moon"]), ("[overwrite]", ["other"])])
def test_a_file_embedded_in_the_text_is_read(cli: Cli, file: Callable[..., str], option: str, found: list[str]) -> None:
    inside = "@article{other, pmid={99000001}}\n@article{never, pmid={99000002}}\n"
    paths = []
    for name in ("alone/p.tex", "beside/p.tex"):
        head = f"\\begin{{filecontents*}}{option}{{refs.bib}}\n{inside}\\end{{filecontents*}}\n"
        paths.append(file(name, f"{head}\\begin{{document}}\n\\cite{{other}}\\cite{{moon}}\\bibliography{{refs}}\n"))
    file("beside/refs.bib", "@article{moon, pmid={99000050}}\n")

    checked = [[key for key, _, _ in read_rows(cli("check", path, "--sources", "pubmed", "--json"))] for path in paths]

    assert checked == [["other"], found]


def test_the_parts_of_a_document_are_read_only_from_its_folder(cli: Cli, file: Callable[..., str]) -> None:
    refs = "@article{moon, pmid={99000050}}\n@article{other, pmid={99000001}}\n@article{never, pmid={99000002}}\n"
    file("paper/bib/refs.bib", refs)
    file("paper/parts/one.tex", "So.\n\\citep{other,lost} \\input{main} \\input{parts/two.def}\n")
    file("paper/parts/two.def", "\\cite{moon}")
    file("out.tex", "\\cite{never}")
    head = "\\addbibresource[datatype=bibtex]{bib/refs.bib}\n"
    body = "\\input{../out} \\input parts/one\n\\include{gone}% \\input{x}\n\\printbibliography"
    main = file("paper/main.tex", head + body)

    done = cli("check", main, "--sources", "pubmed", "--in-text", "--json")

    result = json.loads(done.out)
    assert [key for key, _, _ in read_rows(done)] == ["moon", "other"]
    said = [one["message"].partition(" ")[0] for one in result["warnings"] if one["code"] == "file_missing"]
    assert said == ["../out.tex", "gone.tex"]
    (call,) = result["in_text"]
    assert (call["kind"], call["call"], call["line"]) == ("no_entry", "lost", 2)
    assert call["text"].startswith("parts/one.tex: ")


def test_entries_missing_from_the_generated_list_are_read_from_its_source_files(
    cli: Cli, file: Callable[..., str]
) -> None:
    file("refs.bib", "@article{moon, pmid={99000050}}\n@article{made, pmid={99000001}}\n")
    file("p.bbl", "\\begin{thebibliography}{1}\\bibitem{made} Doe J. PMID: 99000001\\end{thebibliography}")
    paper = file("p.tex", "\\cite{made,moon}\\nocite{*}\\bibliography{refs}")

    assert [key for key, _, _ in read_rows(cli("check", paper, "--sources", "pubmed", "--json"))] == ["made", "moon"]


def test_the_bibliography_of_a_project_applies_to_its_texts(cli: Cli, file: Callable[..., str]) -> None:
    file("refs.bib", "@article{moon, pmid={99000050}}\n@article{other, pmid={99000001}}\n")
    file("_quarto.yml", "project:\n  type: book\nbibliography:\n  - refs.bib\n")
    text = file("p.qmd", "---\ntitle: T\n---\n\nSo [@moon].\n")

    assert [key for key, _, _ in read_rows(cli("check", text, "--sources", "pubmed", "--json"))] == ["moon"]


PROSE = "# A draft\n\nSleep of [1] and of others [2, 3].\n\n## Methods\n\nWe slept.\n"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        pytest.param(
            "draft.md", PROSE, ["References, Bibliography, Works cited", "without an entry: 1, 2, 3"], id="numbers"
        ),
        pytest.param("draft.md", "# T\n\nSo [@key].\n", ["Bibliography", "without an entry: key"], id="keys"),
        pytest.param(
            "draft.qmd",
            "---\nbibliography: gone.bib\n---\n\nSo [@key].\n",
            ["gone.bib is not in the folder", "without an entry: key"],
            id="a bibliography that is missing",
        ),
        pytest.param(
            "draft.docx",
            write_word(write_heading("T"), write_paragraph("So [1].")),
            ["References, Bibliography, Works cited", "without an entry: 1"],
            id="Word",
        ),
        pytest.param(
            "p.tex",
            "\\cite{a}\\bibliography{gone,here}",
            [
                "no \\bibitem",
                "p.bbl is missing",
                "here.bib: no cited entry",
                "gone.bib is not in the folder",
                "without an entry: a",
            ],
            id="LaTeX with files",
        ),
        pytest.param("p.xml", "<article><body><p>So.</p></body></article>", ["it has no <ref>"], id="JATS"),
        pytest.param("p.tex", "\\cite{a}", ["no \\bibliography or"], id="LaTeX without files"),
        pytest.param(
            "p.tex", "So.\\bibliography{here}", ["here.bib: the text does not cite any entry"], id="LaTeX without calls"
        ),
    ],
)
def test_a_manuscript_without_a_list_is_reported_with_its_citations(
    alone: Cli, file: Callable[..., str], name: str, content: str | bytes, told: list[str]
) -> None:
    file("here.bib", "@article{never, pmid={99000050}}\n")
    paper = file(name, content)

    for options in ((),) if name.endswith(".xml") else ((), ("--in-text",)):
        done = alone("check", paper, *options, "-f", "table")
        assert done.status == 2
        said = " ".join(done.err.split())
        assert [one for one in ["no list of references was found", *told, "Hint:"] if one not in said] == []


def test_a_pdf_without_the_heading_of_a_list_has_no_list(alone: Cli, file: Callable[..., str]) -> None:
    from pdf_files import write_pdf, write_prose

    done = alone("check", file("paper.pdf", write_pdf(["A title", *write_prose(120)])), "-f", "table")

    assert done.status == 2
    assert "no list of references was found" in " ".join(done.err.split())


def test_a_markdown_file_with_only_a_list_needs_no_heading(cli: Cli, file: Callable[..., str]) -> None:
    for text in (f"{TRUE}\n\n{RETRACTED}\n", f"# To read\n\n1. {TRUE}\n2. {RETRACTED}\n"):
        statuses = [
            one for _, one, _ in read_rows(cli("check", file("list.md", text), "--sources", "pubmed", "--json"))
        ]
        assert statuses[-2:] == ["verified", "retracted"]


def test_the_list_in_a_manuscript_is_read_if_the_named_file_is_missing(cli: Cli, file: Callable[..., str]) -> None:
    text = f"---\nbibliography: gone.bib\n---\n\nSo [1].\n\n# References\n\n1. {TRUE}\n"

    done = cli("check", file("p.md", text), "--sources", "pubmed", "--in-text", "--json")

    assert [one for _, one, _ in read_rows(done)] == ["verified"]
    assert json.loads(done.out)["warnings"][0]["code"] == "file_missing"
    assert "in_text" not in json.loads(done.out)


def test_every_heading_in_the_guide_is_recognised() -> None:
    assert [heading for heading in HEADINGS if not HEADING.fullmatch(heading)] == []


def test_the_list_of_an_article_is_checked_by_its_pmcid_or_pmid(cli: Cli) -> None:
    by_pmcid = read_rows(cli("check", "PMC99000001", "--sources", "pubmed", "--json"))
    by_pmid = read_rows(cli("check", "99000010", "--sources", "pubmed", "--json"))

    assert ("reference 1", "verified", "99000007") in by_pmcid
    assert len(by_pmcid) == 4
    assert by_pmid
    assert cli("check", "PMC1", "--json").status in (3, 4)


def test_the_list_of_a_pdf_begins_at_its_heading(cli: Cli, file: Callable[..., str]) -> None:
    from pdf_files import write_pdf, write_prose

    first, _, second = TRUE.partition(" spelling ")
    listed = ["References", f"1. {first}", f"spelling {second}", f"2. {INVENTED}"]
    lines = ["A title", *write_prose(120), "Some text of 2019 [1].", *listed]
    done = cli("check", file("paper.pdf", write_pdf(lines)), "--sources", "pubmed", "--json")

    assert [(status, pmid) for _, status, pmid in read_rows(done)] == [("verified", "99000040"), ("not_found", None)]


def test_page_headers_are_not_rows_and_a_warning_lists_them(cli: Cli, file: Callable[..., str]) -> None:
    first, _, second = TRUE.partition(" spelling ")
    text = f"{first}\n12\n\fSmith et al. / Journal of X 12 (2019) 3-14\nspelling {second}\n{INVENTED}\n"
    document = json.loads(cli("check", file("list.txt", text.encode()), "--sources", "pubmed", "--json").out)
    (warning,) = [one for one in document["warnings"] if one["code"] == "page_lines_left_out"]

    assert [one["status"] for one in document["references"]] == ["verified", "not_found"]
    assert warning["terms"] == ["2: 12", "3: Smith et al. / Journal of X 12 (2019) 3-14"]


def test_a_manuscript_is_read_from_standard_input(cli: Cli, file: Callable[..., str]) -> None:
    content = write_word(write_heading("References"), write_paragraph(TRUE))

    done = cli("check", "-", "--sources", "pubmed", "--json", stdin=content)

    assert read_rows(done) == [("paragraph 2", "verified", "99000040")]


# Word files as editorial offices receive them


def write_tracked_change(kind: str, text: str) -> str:
    inner = (
        write_run(text).replace("<w:t ", "<w:delText ").replace("</w:t>", "</w:delText>")
        if kind == "del"
        else write_run(text)
    )
    return f'<w:{kind} w:id="1" w:author="E">{inner}</w:{kind}>'


def write_table(*rows: Sequence[str]) -> str:
    cells = ("".join(f"<w:tc>{write_paragraph(text)}</w:tc>" for text in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


NOTES = (
    '<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    '<w:footnote w:id="-1" w:type="separator"><w:p/></w:footnote>'
    f'<w:footnote w:id="2">{write_paragraph(TRUE)}</w:footnote>'
    f'<w:footnote w:id="3">{write_paragraph(RETRACTED)}</w:footnote>'
    "</w:footnotes>"
)
BOX = (
    '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
    f"<mc:Choice>{write_run(TRUE[:20])}</mc:Choice><mc:Fallback>{write_run(TRUE[:20])}</mc:Fallback></mc:AlternateContent>"
)
OF_LIST = (write_heading("References"),)
BOTH = [("1", "verified"), ("2", "retracted")]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        pytest.param(
            write_word(
                *OF_LIST,
                write_paragraph(*(write_run(TRUE[n : n + 7]) for n in range(0, len(TRUE), 7)), numbered=True),
                write_paragraph(
                    write_run("Mondschein S, "),
                    write_tracked_change("del", "Umbracht W"),
                    write_tracked_change("ins", RETRACTED[14:]),
                    numbered=True,
                ),
            ),
            BOTH,
            id="split runs and tracked changes",
        ),
        pytest.param(
            write_word(
                *OF_LIST,
                write_paragraph(TRUE, numbered=True),
                write_paragraph(write_tracked_change("del", INVENTED), numbered=True).replace(
                    "</w:numPr>", "</w:numPr><w:rPr><w:del/></w:rPr>"
                ),
                write_paragraph(write_tracked_change("moveFrom", INVENTED)),
                write_paragraph(RETRACTED, numbered=True),
            ),
            BOTH,
            id="an entry that was deleted and one that was moved away",
        ),
        pytest.param(
            write_word(
                *OF_LIST,
                write_paragraph(
                    TRUE.rpartition("-")[0], "<w:r><w:noBreakHyphen/></w:r>", TRUE.rpartition("-")[2], numbered=True
                ),
                write_paragraph(
                    RETRACTED,
                    f'<w:hyperlink w:anchor="x">{write_run(" https://doi.org/" + ITEM["DOI"])}</w:hyperlink>',
                    numbered=True,
                ),
            ),
            BOTH,
            id="hyphens that do not break and hyperlinks",
        ),
        pytest.param(
            write_word(*OF_LIST, write_table(("1", TRUE), ("[2]", RETRACTED))), BOTH, id="a table with numbers"
        ),
        pytest.param(
            write_word(*OF_LIST, f"<w:p>{BOX}{write_run(TRUE[20:])}</w:p>"), [(None, "verified")], id="a text box"
        ),
        pytest.param(
            write_word(write_heading("Text"), write_paragraph("So it is."), footnotes=NOTES), BOTH, id="footnotes alone"
        ),
        pytest.param(
            write_word(write_paragraph("So."), *OF_LIST, write_paragraph(TRUE, numbered=True), footnotes=NOTES),
            BOTH[:1],
            id="a list and notes",
        ),
        pytest.param(
            write_word(
                write_paragraph("So ", write_zotero([ITEM], "[1]"), " and [2]."),
                *OF_LIST,
                write_bibliography(f"1. {RETRACTED}"),
                write_paragraph(f"2. {RETRACTED.replace('150-63', '150-69')}"),
            ),
            [(None, "retracted"), ("2", "retracted")],
            id="an entry typed behind what a reference manager made",
        ),
    ],
)
def test_a_word_file_has_every_entry_once(
    cli: Cli, file: Callable[..., str], content: bytes, found: list[tuple[str | None, str]]
) -> None:
    done = cli("check", file("paper.docx", content), "--sources", "pubmed", "--json")

    listed = json.loads(done.out)["references"]
    assert [(one.get("number"), one["status"]) for one in listed] == found


def test_a_place_in_a_word_file_is_a_paragraph(cli: Cli, file: Callable[..., str]) -> None:
    paper = file("paper.docx", write_word(write_paragraph("So [1], and [9]."), *OF_LIST, write_paragraph(f"1. {TRUE}")))

    result = json.loads(cli("check", paper, "--sources", "pubmed", "--in-text", "--json").out)
    table = cli("check", paper, "--sources", "pubmed", "--in-text", "-f", "table").out

    assert [(one["line"], one["counts"]) for one in result["in_text"]] == [(1, "paragraph")]
    assert "cites 9 (paragraph 1)" in table


def test_different_numbers_are_reported_with_their_field(cli: Cli, file: Callable[..., str]) -> None:
    texts = "\n\n".join(
        (TRUE.replace("22-31", "22-39"), TRUE.replace("14(1)", "XIV(1)"), TRUE.replace("14(1)", "1(14)"))
    )

    wrong, roman, swapped = json.loads(cli("check", file("list.txt", texts), "--sources", "pubmed", "--json").out)[
        "references"
    ]

    def list_differences(row: dict[str, Any]) -> list[tuple[str, str, str]]:
        found = [one for one in row["findings"] if one["code"] == "mismatch"]
        return [(one["field"], one["given"], one["recorded"]) for one in found]

    assert list_differences(wrong) == [("pages", "39", "22-31")]
    assert roman["status"] == "duplicate"
    assert list_differences(swapped) == [("volume", "1", "XIV"), ("issue", "14", "1")]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (
            "paper.docx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
            "(.doc, .xls), or one with a password",
        ),
        (
            "paper.doc",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
            "(.doc, .xls), or one with a password",
        ),
        ("paper.rtf", b"{\\rtf1 References}", "rich text"),
        (
            "paper.odt",
            b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument.text",
            "OpenDocument",
        ),
        ("paper.html", b"<!DOCTYPE html><html><body>References</body></html>", "a web page"),
        ("paper.docx", b"", "is empty"),
    ],
)
def test_a_file_of_another_program_is_rejected_with_its_name(
    alone: Cli, file: Callable[..., str], name: str, content: bytes, told: str
) -> None:
    done = alone("check", file(name, content), "-f", "table")

    assert done.status == 2
    assert told in done.err
    assert "Hint:" in done.err


# Hostile files


def write_zip_bomb(size: int = 300 * 1024 * 1024) -> bytes:
    head = b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>'
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed, packed.open("word/document.xml", "w") as part:
        part.write(head)
        for _ in range(size // (1024 * 1024)):
            part.write(b" " * 1024 * 1024)
    return made.getvalue()


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{("&" + chr(97 + n) + ";") * 10}">' for n in range(9))
    + '<!ENTITY f SYSTEM "file:///etc/hostname">]>'
)
DOCUMENT = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>&{};</w:t></w:r></w:p></w:body></w:document>'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("bomb.docx", write_zip_bomb, marks=pytest.mark.long),
        ("laughs.docx", lambda: write_package({"word/document.xml": LAUGHS + DOCUMENT.format("j")})),
        ("outside.docx", lambda: write_package({"word/document.xml": LAUGHS + DOCUMENT.format("f")})),
        ("many.docx", lambda: write_package({f"x{n}": "" for n in range(20_001)})),
        ("empty.docx", lambda: write_package({})),
        ("cut.docx", lambda: write_word(write_paragraph(TRUE))[:300]),
        ("broken.docx", lambda: write_package({"word/document.xml": "<w:document"})),
        ("laughs.xml", lambda: (LAUGHS + "<article><back>&j;</back></article>").encode()),
        ("endnote.xml", lambda: (LAUGHS + "<xml><records><record>&j;</record></records></xml>").encode()),
        ("deep.xml", lambda: b"<article>" + b"<p>" * 100_000),
        ("empty.pdf", lambda: b"%PDF-1.4\n"),
        ("none.md", lambda: b"\x00\x01"),
    ],
)
def test_a_hostile_file_is_rejected_quickly_with_the_reason(name: str, content: Callable[[], bytes]) -> None:
    made = content()
    begin = time.process_time()

    with pytest.raises(InvalidInput) as refused:
        read_manuscript(made, name, f".{name.rpartition('.')[2]}")

    assert time.process_time() - begin < 10
    assert "ha" * 20 not in refused.value.message
    assert name in refused.value.message


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "References\n" + "Doe J. " * 50_000,
        "References\n" + "[" * 25_000 + "\n" + "(" * 25_000,
        "References\n" + "“" * 12_500 + "a",
        "References\n" + "A, " * 12_500,
        "a" * 125_000,
        "(" + "Doe, " * 25_000,
        "Van der " * 12_500,
        "References\n" + ("1" * 5_000 + " ") * 5,
        "@" * 50_000,
        "\\cite[" * 12_500,
        "\\bibitem[" + "{" * 12_500,
        "¹²" * 25_000,
        "Ab" * 25_000,
        "A-AB" * 12_500,
        "[1,2," * 12_500,
        "accessed " * 5_000,
    ],
    ids=lambda text: text[:24].replace("\n", " "),
)
@pytest.mark.parametrize("suffix", [".md", ".tex", ".docx"])
def test_a_hostile_text_is_read_quickly(text: str, suffix: str) -> None:
    lines = text.splitlines()
    content = write_word(*(write_paragraph(line) for line in lines)) if suffix == ".docx" else text.encode()
    begin = time.process_time()
    try:
        made = read_manuscript(content, f"a{suffix}", suffix)
        check_calls(made)
    except InvalidInput:
        pass

    assert time.process_time() - begin < 2


def write_zotero_paper(size: int) -> bytes:
    titles = [f"Moonlight on the memory of worker {n}" for n in range(size)]
    items = [{**ITEM, "DOI": f"10.5555/many.{n}", "title": title} for n, title in enumerate(titles)]
    texts = [f"{n}. Doe J. Sleep by day and by night, part {n}. J Inv. 2019;7:{n}." for n in range(size)]
    return write_word(
        *(write_paragraph(write_zotero([item], "[1]")) for item in items),
        write_heading("References"),
        write_bibliography(*texts),
    )


def write_nested_fields(size: int) -> bytes:
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> QUOTE </w:instrText></w:r>'
    opened = f'{begin}<w:r><w:fldChar w:fldCharType="separate"/></w:r>{write_run("a")}' * size
    closed = '<w:r><w:fldChar w:fldCharType="end"/></w:r>' * size
    return write_word(write_paragraph(opened + closed), *OF_LIST, write_paragraph(TRUE))


def write_open_endnotes(size: int) -> bytes:
    code = " ADDIN EN.CITE " + "<EndNote>" * size
    return write_word(write_paragraph(write_field(code, "x")), *OF_LIST, write_paragraph(TRUE))


@pytest.mark.long
@pytest.mark.parametrize(
    ("suffix", "content", "size"),
    [
        pytest.param(".docx", write_zotero_paper, 40, id="records of Zotero"),
        pytest.param(".docx", write_nested_fields, 200, id="nested fields"),
        pytest.param(".docx", write_open_endnotes, 2_000, id="EndNote that does not end"),
        pytest.param(".tex", lambda n: b"\\cite{a}\n" * n + b"\\bibitem{a} Doe J. 2019.\n", 3_000, id="cite"),
        pytest.param(".tex", lambda n: b"\\bibitem{a} Doe J.\n\n" * n, 700, id="bibitem"),
        pytest.param(".md", lambda n: b"So [@a].\n" * n + b"\n# References\n\nDoe J. 2019.\n", 2_500, id="keys"),
        pytest.param(".md", lambda n: b"[^a]: Doe J. 2019.\n" * n, 120, id="footnotes"),
    ],
)
def test_the_time_grows_in_proportion_to_the_length_of_a_manuscript(
    suffix: str, content: Callable[[int], bytes], size: int
) -> None:
    def measure_seconds(times: int) -> float:
        made = content(size * times)
        begin = time.process_time()
        assert read_manuscript(made, f"paper{suffix}", suffix).references
        return time.process_time() - begin

    assert measure_seconds(10) < 20 * max(measure_seconds(1), 0.02)


def test_a_reference_that_is_too_long_is_a_row(cli: Cli, file: Callable[..., str]) -> None:
    done = cli(
        "check",
        file(
            "a.docx", write_word(write_heading("References"), write_paragraph("Doe J. " * 2_000), write_paragraph(TRUE))
        ),
        "--json",
    )

    assert [status for _, status, _ in read_rows(done)] == ["unreadable", "verified"]
    assert "too long" in json.loads(done.out)["references"][0]["detail"]


# Citations in the text


def list_findings(manuscript: Manuscript) -> set[tuple[str, str]]:
    return {(one.kind, one.call) for one in check_calls(manuscript)}


NUMBERED = [f"{n}. Doe{chr(96 + n)} J. A title of number {n}. J Inv. 20{10 + n};{n}:1." for n in range(1, 7)]

ORDERED = [
    f"{n}. {name} A. A title of {name}. J. 2019;7:{n}."
    for n, name in enumerate(("Zo", "Ya", "Xu", "Wa", "Vo", "Un"), start=1)
]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("So [1], [2,3] and [4-6].", set()),
        ("So [1, 3–5] in [2019], [7].", {("never_called", "2"), ("never_called", "6"), ("no_entry", "7")}),
        ("So (1), (2, 3) and (4-6) of (12) patients.", {("no_entry", "12")}),
        ("So.¹ And²,³ too⁴⁻⁶ in 10⁶ cells, m², and CO₂.", set()),
        ("Nothing.", {("never_called", str(n)) for n in range(1, 7)}),
    ],
)
def test_citations_by_number_are_compared_with_the_list(text: str, wrong: set[tuple[str, str]]) -> None:
    content = f"# T\n\n{text}\n\n# References\n\n" + "\n".join(NUMBERED)

    assert list_findings(read_manuscript(content.encode(), "a.md", ".md")) == wrong


def find_out_of_order(text: str, references: Sequence[str]) -> list[int]:
    content = f"# T\n\n{text}\n\n# References\n\n" + "\n".join(references)
    found = check_calls(read_manuscript(content.encode(), "a.md", ".md"))
    return [int(one.call) for one in found if one.kind == "out_of_order"]


@pytest.mark.parametrize("order", [*permutations(range(1, 5)), (6, 1, 2, 1, 3, 6, 4, 5), (2, 3, 4, 5, 6, 1)])
def test_the_fewest_numbers_that_break_the_order_are_reported(order: tuple[int, ...]) -> None:
    first = list(dict.fromkeys(order))

    moved = find_out_of_order(
        " ".join(f"Words that differ {n} here [{number}]." for n, number in enumerate(order)), ORDERED
    )

    assert [one for one in first if one not in moved] == sorted(set(first) - set(moved))
    fewest = next(
        size
        for size in range(len(first))
        for left in combinations(first, size)
        if (rest := [one for one in first if one not in left]) == sorted(rest)
    )
    assert len(moved) == fewest


@pytest.mark.parametrize("text", ["So [1, 2], and [4, 3], then [5-6] and [1].", "So.¹ And⁴,²,³ too⁵⁻⁶."])
def test_numbers_at_the_same_place_have_no_order(text: str) -> None:
    assert find_out_of_order(text, ORDERED) == []


def test_an_alphabetical_list_has_no_order_of_citations() -> None:
    assert find_out_of_order("So [3], then [1], then [2, 4-6].", NUMBERED) == []


def test_superscript_numbers_in_a_word_file_are_citations() -> None:
    content = write_word(
        write_paragraph(
            "So",
            write_run("1,3–5", raised=True),
            " it is",
            write_run("8", raised=True),
            ", and x",
            write_run("th", raised=True),
            ".",
        ),
        write_heading("References"),
        *(write_paragraph(text.partition(" ")[2], numbered=True) for text in NUMBERED),
    )

    wrong = list_findings(read_manuscript(content, "a.docx", ".docx"))

    assert wrong == {("no_entry", "8"), ("never_called", "2"), ("never_called", "6")}


NAMED = [
    "Doe J, Roe R. A title of one. J Inv. 2019;7:1.",
    "van der Berg, W. (2020). A title of two. Journal, 8, 1–2.",
    "O’Neil A, Poe E, Quoe F. A title of three. J. 2021;9:3.",
    "García-Márquez, G. 2018. “A title of four.” J 6: 4.",
    "World Health Organization. A report of five. 2017.",
    "Never C. A title of six. J. 2016;1:1.",
]


def test_citations_by_name_and_year_are_compared_with_the_list() -> None:
    text = (
        "Doe and Roe (2019) say so (van der Berg, 2020; O'Neil et al., 2021a). García-Márquez's (2018) view (see Doe & "
        "Roe, 2019, p. 4), as the World Health Organization (2017) knows. Lost et al. (2015) do not, nor (Doe, 2011)."
    )
    content = write_word(write_paragraph(text), write_heading("References"), *(write_paragraph(one) for one in NAMED))

    wrong = list_findings(read_manuscript(content, "a.docx", ".docx"))

    assert wrong == {("no_entry", "Lost et al. 2015"), ("no_entry", "Doe 2011"), ("never_called", "Never 2016")}


@pytest.mark.parametrize(
    "sentence",
    [
        "Also Doe and Roe (2019) say so.",
        "See Doe (2019).",
        "As Doe et al. (2019) say.",
        "However, Doe (2019) did.",
        "Both Doe and Roe (2019) agree.",
        "Unlike Doe (2019), we.",
        "Physicist Doe (2019) said.",
        "It is so (Also Doe, 2019).",
        "It is so (but see Doe, 2019).",
        "It is so (As shown by Doe et al., 2019; since January 2020).",
    ],
)
def test_a_word_before_a_name_is_not_part_of_it(sentence: str) -> None:
    content = write_word(
        write_paragraph(sentence), write_heading("References"), write_paragraph(NAMED[0]), write_paragraph(NAMED[-1])
    )

    assert list_findings(read_manuscript(content, "a.docx", ".docx")) == {("never_called", "Never 2016")}


@pytest.mark.parametrize("call", ["See Lost et al. (2015).", "It is so (as in Lost et al., 2015)."])
def test_a_citation_without_an_entry_is_reported_without_the_word_before_it(call: str) -> None:
    content = write_word(write_paragraph(f"{call} Doe (2019)."), write_heading("References"), write_paragraph(NAMED[0]))

    assert list_findings(read_manuscript(content, "a.docx", ".docx")) == {("no_entry", "Lost et al. 2015")}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (write_zotero([ITEM], "[1]"), write_zotero([OTHER], "[2]")),
        (write_mendeley([ITEM], "[1]"), write_mendeley([OTHER], "[2]")),
        (
            write_endnote(
                write_endnote_record(
                    1, title="A title", authors=["Doe, J."], journal="J", year="2019", doi="10.5555/a"
                ),
                "[1]",
            ),
            write_endnote(
                write_endnote_record(
                    2, title="Another title", authors=["Roe, R."], journal="J", year="2020", doi="10.5555/b"
                ),
                "[2]",
            ),
        ),
    ],
)
def test_typed_citations_next_to_those_of_a_reference_manager_are_read(first: str, second: str) -> None:
    content = write_word(
        write_paragraph("So ", first, ", and ", second, ", and [2,9] by hand."),
        write_paragraph("Lost et al. (2015) and (Gone and Away, 2014) were typed, too."),
    )

    wrong = list_findings(read_manuscript(content, "a.docx", ".docx"))

    assert wrong == {("no_entry", "9"), ("no_entry", "Lost et al. 2015"), ("no_entry", "Gone and Away 2014")}


def test_uncited_entries_are_reported_in_one_line(cli: Cli, file: Callable[..., str]) -> None:
    listed = (f"{number}. Doe J. A title of {number}. J Inv. 2019;7:{number}." for number in range(1, 17))
    paper = file(
        "p.docx",
        write_word(write_paragraph("So [1] and [2]."), write_heading("References"), *map(write_paragraph, listed)),
    )

    table = cli("check", paper, "--in-text", "--sources", "pubmed", "-f", "table").out
    csv = cli("check", paper, "--in-text", "--sources", "pubmed", "-f", "csv").err
    report = cli("check", paper, "--in-text", "--sources", "pubmed", "-f", "md").out
    rows = json.loads(cli("check", paper, "--in-text", "--sources", "pubmed", "--json").out)["in_text"]

    assert len(rows) == 14
    for text in (table, csv, report):
        assert text.count("never cited") == 1
        assert "14 entries are never cited in the text: 3" in " ".join(text.split())


def test_citations_by_key_are_compared_with_the_list(cli: Cli, file: Callable[..., str]) -> None:
    tex = file("p.tex", "So \\citet{moon,lost}.\n\n" + BBL)

    done = cli("check", tex, "--in-text", "--sources", "pubmed", "--json")

    found = json.loads(done.out)["in_text"]
    assert [(one["kind"], one["call"], one["line"]) for one in found] == [
        ("no_entry", "lost", 1),
        ("never_called", "made", 8),
    ]


def test_in_text_is_rejected_for_files_without_a_text(cli: Cli, file: Callable[..., str]) -> None:
    for path in (file("a.bib", "@article{a, pmid={1}}"), file("a.txt", TRUE), file("l.xml", ENDNOTE)):
        done = cli("check", path, "--in-text", "--json")
        assert done.status == 2
        assert "--in-text" in done.err


def test_findings_in_the_text_are_in_every_format_and_end_with_status_4(cli: Cli, file: Callable[..., str]) -> None:
    paper = file(
        "p.docx",
        write_word(write_paragraph("So [1] and [3]."), write_heading("References"), write_paragraph(f"1. {TRUE}")),
    )

    table = cli("check", paper, "--in-text", "--sources", "pubmed", "-f", "table")
    lines = cli("check", paper, "--in-text", "--sources", "pubmed", "-f", "csv")
    report = cli("check", paper, "--in-text", "--sources", "pubmed", "-f", "md")

    assert report.out.startswith("# References: 1 of 1 verified\n\n1 verified.\n\n## In the text\n\n- The text cites 3")
    for done in (table, lines, report):
        assert done.status == 4
        assert "cites 3" in done.out + done.err
    assert cli("check", paper, "--sources", "pubmed", "--json").status == 0


# Fields of word processors


def test_a_damaged_field_does_not_affect_the_others() -> None:
    content = write_word(
        write_paragraph("a", write_field("ADDIN ZOTERO_ITEM CSL_CITATION {broken", "[1]")),
        write_paragraph(
            "b",
            write_field(
                'ADDIN ZOTERO_ITEM CSL_CITATION {"citationItems": [{"id": 3}, 7, {"itemData": {"id": 1}}]}', "[2]"
            ),
        ),
        write_paragraph('<w:r><w:fldChar w:fldCharType="end"/></w:r>', "c"),
        write_heading("References"),
        write_paragraph(TRUE),
    )

    made = read_manuscript(content, "a.docx", ".docx")

    assert TRUE in [reference.text for reference in made.references]


def test_an_export_of_endnote_has_all_its_fields() -> None:
    (reference,) = read_manuscript(ENDNOTE.encode(), "x.xml", ".xml").references

    assert (reference.title, reference.journal, reference.year, reference.doi) == (
        ITEM["title"],
        "Journal of Invented Results (Demo)",
        "2019",
        ITEM["DOI"],
    )
    assert [author.text for author in reference.authors] == ["Mondschein, S.", "Umbracht, V."]


def test_the_suffix_of_a_person_in_jats_is_read() -> None:
    name = "<name><surname>Doe</surname><given-names>JA</given-names><suffix>Jr</suffix><!-- a note --></name>"
    ref = f"<ref id='r1'><element-citation>{name}<article-title>Moonlight</article-title></element-citation></ref>"
    article = f"<article><back><ref-list>{ref}</ref-list></back></article>"

    (reference,) = read_article_xml(article.encode(), "a.xml").references

    assert [(one.family, one.given, one.suffix) for one in reference.authors] == [("Doe", "JA", "Jr")]

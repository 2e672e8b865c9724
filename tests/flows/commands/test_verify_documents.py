"""`entrez-kit verify` reads the documents that `check` reads, and finds the sources of each sentence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli
from word_documents import (
    write_bibliography,
    write_endnote,
    write_endnote_record,
    write_heading,
    write_mendeley_cite,
    write_paragraph,
    write_run,
    write_word,
    write_zotero,
)

FOUND = "Airway mucus is moved by cilia at about 5 mm per minute"
ALTERED = "Airway mucus is moved by cilia at about 6 mm per minute"
OTHER = "Moonlight doubles memory in all of us"
FIRST = "Doe J. A title. Journal. 2019. PMID: 99000001."
SECOND = "Roe R, Poe P. Another title. Journal. 2020. doi:10.5555/ekit.2019.0050."
ITEM = {
    **{"id": 1, "type": "article-journal", "title": "A title", "PMID": "99000001"},
    **{"author": [{"family": "Doe", "given": "J"}], "issued": {"date-parts": [[2019]]}},
}
NEXT = {"id": 2, "type": "article-journal", "title": "Another title", "DOI": "10.5555/ekit.2019.0050"}
EXPECTED = [("found", ["99000001"]), ("altered", ["99000001"]), ("not_in_text", ["10.5555/ekit.2019.0050"])]
LIST = (write_heading("References"), write_paragraph(f"1. {FIRST}"), write_paragraph(f"2. {SECOND}"))

WORD = {
    "brackets": write_word(
        write_paragraph(f"{FOUND} [1]. {ALTERED} [1]."), write_paragraph(f"Nothing is cited here. {OTHER} [2]."), *LIST
    ),
    "raised": write_word(
        write_paragraph(
            f"{FOUND}.", write_run("1", raised=True), f" {ALTERED}", write_run("1", raised=True), ". And more."
        ),
        write_paragraph(f"{OTHER}.", write_run("2", raised=True)),
        *LIST,
    ),
    "names": write_word(
        write_paragraph(f"{FOUND} (Doe, 2019). {ALTERED} (see Doe, 2019)."),
        write_paragraph(f"{OTHER} (Roe and Poe 2020)."),
        *LIST,
    ),
    "zotero": write_word(
        write_paragraph(f"{FOUND} ", write_zotero([ITEM], "[1]"), f". {ALTERED} ", write_zotero([ITEM], "[1]"), "."),
        write_paragraph(f"{OTHER} ", write_zotero([NEXT], "[2]"), "."),
        write_heading("References"),
        write_bibliography(FIRST, SECOND),
    ),
    "zotero raised": write_word(
        write_paragraph(f"{FOUND}.", write_zotero([ITEM], "1"), f" {ALTERED}.", write_zotero([ITEM], "1")),
        write_paragraph(f"{OTHER}.", write_zotero([NEXT], "2")),
    ),
    "mendeley": write_word(
        write_paragraph(
            f"{FOUND} ",
            write_mendeley_cite([ITEM], "(Doe, 2019)"),
            f". {ALTERED} ",
            write_zotero([ITEM], "(Doe, 2019)"),
            ".",
        ),
        write_paragraph(f"{OTHER} ", write_zotero([NEXT], "(Roe and Poe, 2020)"), "."),
    ),
}
LATEX = r"""\documentclass{article}
\begin{document}
\section{Introduction}
%% Not printed: \cite{doe}.
Nothing is cited here. %s~\cite{doe}. %s \citep[see][p.~5]{doe}.

\begin{itemize}
\item %s~\cite{roe}.
\end{itemize}
%s
\end{document}
"""
THEBIB = rf"\begin{{thebibliography}}{{9}}\bibitem{{doe}} {FIRST}\bibitem{{roe}} {SECOND}\end{{thebibliography}}"
BIB = "@article{doe, title={A}, pmid={99000001}}\n@article{roe, title={B}, doi={10.5555/ekit.2019.0050}}\n"
JATS = f"""<?xml version="1.0"?>
<article><front><article-meta><title-group><article-title>T</article-title></title-group>
<abstract><p>Nothing is cited.</p></abstract></article-meta></front><body><sec><title>S</title>
<p>{FOUND} [<xref ref-type="bibr" rid="R1">1</xref>]. {ALTERED}.<sup><xref ref-type="bibr" rid="R1">1</xref></sup></p>
<p>{OTHER} (<xref ref-type="bibr" rid="R2">Roe and Poe, 2020</xref>).</p></sec></body><back><ref-list>
<ref id="R1"><mixed-citation>{FIRST}</mixed-citation></ref>
<ref id="R2"><mixed-citation>{SECOND}</mixed-citation></ref></ref-list></back></article>"""


def read_outcomes(cli: Cli, path: str, *more: str) -> list[tuple[str, list[str]]]:
    claims: list[dict[str, Any]] = json.loads(cli("verify", path, *more).out)["claims"]
    assert [claim["claim"].rstrip(".") for claim in claims] == [FOUND, ALTERED, OTHER]
    return [(claim["status"].replace("no_text_available", "not_in_text"), claim["ids"]) for claim in claims]


@pytest.mark.parametrize("kind", WORD)
def test_a_word_document_is_read_with_any_heading_of_its_references(
    cli: Cli, file: Callable[[str, bytes | str], str], kind: str
) -> None:
    assert read_outcomes(cli, file("paper.docx", WORD[kind])) == EXPECTED


def test_a_word_document_of_endnote_is_read(cli: Cli, file: Callable[[str, bytes | str], str]) -> None:
    record = write_endnote_record(
        7, title="A", authors=["Roe, R."], journal="J", year="2020", doi="10.5555/ekit.2019.0050"
    )

    path = file("paper.docx", write_word(write_paragraph(f"{OTHER} ", write_endnote(record, "(Roe 2020)"), ".")))

    (claim,) = json.loads(cli("verify", path).out)["claims"]
    assert claim["claim"].rstrip(".") == OTHER
    assert claim["ids"] == ["10.5555/ekit.2019.0050"]
    assert claim["standing"]["status"] == "retracted"


@pytest.mark.parametrize("listed", [THEBIB, r"\bibliography{refs}", ""], ids=["list", "named", "given"])
def test_a_latex_document_is_read_with_its_list_or_its_bibliography(
    cli: Cli, file: Callable[[str, bytes | str], str], listed: str
) -> None:
    bib = file("refs.bib", BIB)

    path = file("paper.tex", LATEX % (FOUND, ALTERED, OTHER, listed))

    assert read_outcomes(cli, path, *([] if listed else ["--bibliography", bib])) == EXPECTED


def test_a_part_of_a_latex_document_is_read_and_its_quotations_are_claims(
    cli: Cli, file: Callable[[str, bytes | str], str]
) -> None:
    file("refs.bib", BIB)
    file("parts/one.tex", rf"They say \enquote{{{FOUND}}} and no more \parencite{{doe}}.")
    main = r"\documentclass{a}\begin{document}\input{parts/one}\bibliography{refs}\end{document}"

    (claim,) = json.loads(cli("verify", file("paper.tex", main)).out)["claims"]

    assert (claim["claim"], claim["status"], claim.get("line")) == (FOUND, "found", None)


@pytest.mark.parametrize("name", ["paper.xml", "paper.nxml", "paper.jats"])
def test_an_article_in_jats_is_read(cli: Cli, file: Callable[[str, bytes | str], str], name: str) -> None:
    assert read_outcomes(cli, file(name, JATS)) == EXPECTED


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("paper.docx", write_word(write_paragraph("Nothing is cited here.")), "no sentence of this document cites"),
        ("paper.tex", r"\begin{document}Nothing.\end{document}", "no sentence of this document cites"),
        ("paper.doc", b"\xd0\xcf\x11\xe0 old", "of the old format"),
        ("paper.docx", b"PK\x03\x04 broken", "cannot be opened"),
        ("paper.xml", "<article", "its XML is not well-formed"),
    ],
)
def test_a_document_without_claims_is_rejected_with_the_reason(
    cli: Cli, file: Callable[[str, bytes | str], str], name: str, content: bytes | str, said: str
) -> None:
    done = cli("verify", file(name, content))

    assert done.status == 2
    assert said in done.err


def test_a_number_without_an_id_is_reported(cli: Cli, file: Callable[[str, bytes | str], str], tmp_path: Path) -> None:
    body = (
        write_paragraph(f"{FOUND} [1]. {OTHER} [2]."),
        write_heading("References"),
        write_paragraph(f"1. {FIRST}"),
        write_paragraph("2. Roe R."),
    )

    done = cli("verify", file("paper.docx", write_word(*body)))

    assert [claim["ids"] for claim in json.loads(done.out)["claims"]] == [["99000001"]]
    assert "No PMID, PMCID or DOI is known for these citations: 2." in done.err

r"""Entries of \bibitem as the styles of publishers write them are read without the commands and the names of fields."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest
from reference_parts import ARTICLES, Parts, read_parts

from entrez_kit.references.check.comparison.compare_text import compare_text
from entrez_kit.references.manuscripts.read_manuscript import read_manuscript

NAMES: Final[Mapping[str, str]] = {
    "elsarticle": r"\bibinfo{author}{%I~%F}",
    "naturemag": r"%F, %I",
    "revtex": r"\bibinfo {author} {\bibfnamefont {%I}~\bibnamefont {%F}}",
    "acm": r"\bibinfo{person}{%I %F}",
}
ENTRIES: Final[Mapping[str, str]] = {
    "elsarticle": r"%A, \bibinfo{title}{%T}, \bibinfo{journal}{%J} \bibinfo{volume}{%V}~(\bibinfo{number}{%N})"
    r" (\bibinfo{year}{%Y}) \bibinfo{pages}{%P}. \newblock \href {https://doi.org/10.5555/x} {\path{doi:10.5555/x}}.",
    "naturemag": r"%A. \newblock \bibinfo{title}{%T}. \newblock {\emph{\bibinfo{journal}{%J}}}"
    r" \textbf{\bibinfo{volume}{%V}}, \bibinfo{pages}{%P} (\bibinfo{year}{%Y}).",
    "revtex": r"\BibitemOpen \bibfield  {author} {%A,\ }\bibfield  {title} {\bibinfo {title} {%T},\ }"
    r"\href {https://doi.org/10.5555/x} {\bibfield  {journal} {\bibinfo  {journal} {%J}\ }\textbf {"
    r"\bibinfo {volume} {%V}},\ \bibinfo {pages} {%P} (\bibinfo {year} {%Y})}\BibitemShut {NoStop}",
    "acm": r"{%A.} \bibinfo{year}{%Y}\natexlab{}. \newblock \showarticletitle{%T}. \newblock"
    r" \bibinfo{journal}{\emph{%J}} \bibinfo{volume}{%V}, \bibinfo{number}{%N} (\bibinfo{year}{%Y}),"
    r" \bibinfo{pages}{%P}.",
}


def write_item(style: str, key: str, parts: Parts) -> str:
    names = [
        NAMES[style].replace("%F", family).replace("%I", ".~".join(initials) + ".")
        for family, initials in parts.authors
    ]
    text = ENTRIES[style].replace("%A", ", ".join(names)).replace("%T", parts.title).replace("%J", parts.journal)
    for sign, value in (("%V", parts.volume), ("%N", parts.issue), ("%Y", parts.year), ("%P", parts.pages)):
        text = text.replace(sign, value)
    return f"\\bibitem{{{key}}}\n{text}\n"


@pytest.mark.parametrize("style", ENTRIES)
def test_a_true_entry_agrees_with_its_record_and_a_changed_one_does_not(style: str) -> None:
    for article in ARTICLES:
        parts = read_parts(article)
        changed = [
            replace(parts, volume="987"),
            replace(parts, title="Deep learning sees imaginary tumours from low orbit"),
            replace(parts, authors=(*parts.authors, ("Nobodyson", "Q"))),
        ]
        items = "\n".join(write_item(style, f"k{n}", one) for n, one in enumerate([parts, *changed]))
        text = f"\\begin{{thebibliography}}{{9}}\n{items}\\end{{thebibliography}}\n"

        found = read_manuscript(text.encode(), "a.tex", ".tex").references

        without_doi = [one.model_copy(update={"doi": None, "other_identifiers": []}) for one in found]
        agreements = [compare_text(one, article) for one in without_doi]
        agree = [one.same and not (one.differences or one.left) for one in agreements]
        assert agree == [True, False, False, False], found[0].text

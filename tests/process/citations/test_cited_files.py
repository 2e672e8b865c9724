"""A record is cited from each file that ``fetch -o``, ``convert`` and ``merge`` write as it is cited by its PMID."""

from functools import cache
from itertools import product

import pytest
from demo_articles import read_demo_articles
from demo_files import list_demo_files
from sampled_cases import take_sample

from entrez_kit.citations.csl import build_style_item
from entrez_kit.citations.style.format_entries import STYLES, format_styled_entries
from entrez_kit.citations.write_files import write_file_text
from entrez_kit.local.eutils.medline import render_medline
from entrez_kit.local.records.collection import split_records
from entrez_kit.local.records.document import Document
from entrez_kit.references.merge.convert_records import build_item, convert_records, read_record_files
from entrez_kit.references.merge.files_to_merge import read_files
from entrez_kit.references.merge.merge_documents import FileToMerge
from entrez_kit.references.merge.merge_references import merge_entries
from entrez_kit.references.merge.works import FILES, MergedWork

SUFFIXES = {"ris": "ris", "bibtex": "bib", "csl": "json", "nbib": "nbib"}
"""The suffix of a file in each format."""
NOT_MEDLINE = ("ris", "bibtex", "csl")
LOSSES = {
    # No format has the italics of a title, which show the name of an invented species.
    "99000014": (tuple(SUFFIXES), ("mla", "chicago")),
    # The field of the language has one language.
    "99000063": (NOT_MEDLINE, ("vancouver",)),
    # MEDLINE text does not show that PubMed shortened a list of authors.
    "99000033": (("nbib",), tuple(STYLES)),
    # The MEDLINE text of the demo has no tag for this notice.
    "99000055": (("nbib",), tuple(STYLES)),
    # MEDLINE text names the authors of a book as editors, and has no volume, edition and number of a report.
    **dict.fromkeys(("99000070", "99000071", "99000072"), (("nbib",), tuple(STYLES))),
}
"""The formats and styles in which a citation differs, with the reason."""


@cache
def read_medline() -> str:
    """Return the demo as MEDLINE text."""
    records = {pmid: raw for file in list_demo_files() for pmid, raw in split_records([file.read_bytes()])}
    return "\n".join(render_medline(Document(records[article.pmid])) for article in read_demo_articles())


@cache
def write_file(form: str) -> str:
    """Return the demo as a file."""
    return read_medline() if form == "nbib" else write_file_text(form, read_demo_articles())


@cache
def cite_articles(style: str) -> dict[str, str]:
    """Return the citations of the demo by PMID."""
    articles = read_demo_articles()
    texts = format_styled_entries(map(build_style_item, articles), style)
    return {article.pmid: text for article, text in zip(articles, texts, strict=True)}


def cite_file(text: str, form: str, style: str) -> dict[str, str]:
    """Return the citations of a file by PMID."""
    entries, _ = read_record_files([FileToMerge(file=f"refs.{SUFFIXES[form]}", text=text)])
    texts = format_styled_entries([build_item(entry, for_style=True) for entry in entries], style)
    return {entry.keys["pmid"]: text for entry, text in zip(entries, texts, strict=True)}


def find_losses(form: str, style: str) -> set[str]:
    return {pmid for pmid, (forms, styles) in LOSSES.items() if form in forms and style in styles}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("form", SUFFIXES)
def test_a_record_of_a_file_is_cited_like_the_record_of_its_pmid(form: str, style: str) -> None:
    expected, cited = cite_articles(style), cite_file(write_file(form), form, style)

    assert list(cited) == list(expected)
    losses = find_losses(form, style)
    assert {pmid: text for pmid, text in cited.items() if pmid not in losses} == {
        pmid: text for pmid, text in expected.items() if pmid not in losses
    }
    assert losses == {pmid for pmid in losses if cited[pmid] != expected[pmid]}, "remove what is not lost from LOSSES"


CONVERTED = tuple((source, target) for source in SUFFIXES for target in SUFFIXES if source != target)


@pytest.mark.long
@pytest.mark.parametrize("style", ["apa", "vancouver"])
@pytest.mark.parametrize(("source", "target"), CONVERTED)
def test_a_record_of_a_converted_file_is_cited_like_the_record_of_its_pmid(
    source: str, target: str, style: str
) -> None:
    entries, _ = read_record_files([FileToMerge(file=f"refs.{SUFFIXES[source]}", text=write_file(source))])
    cited = cite_file("".join(convert_records(entries, target)), target, style)

    expected = cite_articles(style)
    losses = find_losses(source, style) | find_losses(target, style)
    assert {pmid: text for pmid, text in cited.items() if pmid not in losses} == {
        pmid: text for pmid, text in expected.items() if pmid not in losses
    }


MERGED = (("ris",), ("bibtex",), ("csl",), ("nbib",), ("ris", "nbib"), ("nbib", "bibtex"), ("csl", "ris"))
"""The formats of the files of a merge."""


@cache
def merge_files(forms: tuple[str, ...]) -> tuple[MergedWork, ...]:
    """Return the works of files, each of which has the whole demo."""
    files = [FileToMerge(file=f"refs{n}.{SUFFIXES[form]}", text=write_file(form)) for n, form in enumerate(forms)]
    entries, names, _ = read_files(files)
    return tuple(merge_entries(entries, names).works)


@pytest.mark.long
@pytest.mark.parametrize(
    ("sources", "target", "style"), take_sample(product(MERGED, SUFFIXES, ["apa", "vancouver"]), 0.3)
)
def test_a_record_of_a_merged_file_is_cited_like_the_record_of_its_pmid(
    sources: tuple[str, ...], target: str, style: str
) -> None:
    works = merge_files(sources)

    cited = cite_file(FILES[target].format_text(works), target, style)

    expected = cite_articles(style)
    losses = find_losses(target, style).union(*(find_losses(source, style) for source in sources))
    assert set(cited) == set(expected)
    assert {pmid: text for pmid, text in cited.items() if pmid not in losses} == {
        pmid: text for pmid, text in expected.items() if pmid not in losses
    }

"""Recorded records in six styles, checked by rules that do not depend on the code of citations."""

import html
import re
import unicodedata
from functools import cache
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from sampled_cases import take_sample
from used_recordings import read_recording

from entrez_kit.citations.csl import Item, build_style_item
from entrez_kit.citations.style.format_entries import STYLES, format_styled_entries
from entrez_kit.pubmed.xml.records import iter_records

AUTHORS = {"apa": 20, "mla": 2, "vancouver": 6, "ama": 6, "chicago": 6, "nature": 5}
"""The number of authors that a style names before it shortens the list."""


@cache
def cite_recorded(folder: Path) -> dict[str, tuple[Element, dict[str, str]]]:
    """Return every recorded article as another parser reads it, and its citations, by PMID."""
    elements: dict[str, Element] = {}
    items: dict[str, Item] = {}
    for path in (path for name in ("efetch_pubmed", "baseline") for path in sorted((folder / name).iterdir())):
        content = read_recording(path)
        try:
            root = ElementTree.fromstring(content)
        except ElementTree.ParseError:
            continue
        for element in root.iter("PubmedArticle"):
            elements.setdefault(element.findtext("MedlineCitation/PMID") or "", element)
        if elements.keys() - items.keys():
            items |= {
                record.pmid: build_style_item(record.article())
                for record in iter_records(content)
                if record.kind == "article" and record.pmid not in items
            }
    wanted = sorted(elements.keys() & items.keys())
    assert len(wanted) > 500
    wanted = take_sample(wanted, 0.4)
    texts: dict[str, dict[str, str]] = {pmid: {} for pmid in wanted}
    for style in STYLES:
        for pmid, text in zip(wanted, format_styled_entries([items[pmid] for pmid in wanted], style), strict=True):
            texts[pmid][style] = text
    return {pmid: (elements[pmid], texts[pmid]) for pmid in wanted}


def to_bare(text: str) -> str:
    """Return letters and digits only, in lower case and without accents."""
    return "".join(
        letter for letter in unicodedata.normalize("NFKD", html.unescape(text)).casefold() if letter.isalnum()
    )


def read_text(element: Element, path: str) -> str:
    """Return the text of a place in a record."""
    found = element.find(f"MedlineCitation/Article/{path}")
    return "" if found is None else "".join(found.itertext()).strip()


@pytest.mark.parametrize("style", STYLES)
def test_the_citation_of_every_record_has_its_authors_year_title_place_and_doi(real_data: Path, style: str) -> None:
    wrong = []
    for pmid, (element, texts) in cite_recorded(real_data).items():
        text = texts[style]
        wanted = [
            read_text(element, "Journal/JournalIssue/PubDate/Year"),
            read_text(element, "Journal/JournalIssue/Volume"),
        ]
        wanted = [re.sub(r"(?i)[ (]*suppl.*", "", part) for part in wanted if not re.fullmatch("[IVXLC]+", part)]
        people = element.findall("MedlineCitation/Article/AuthorList/Author")
        names = [person.findtext("LastName") or person.findtext("CollectiveName") or "" for person in people]
        if style == "chicago":  # small particles follow the given name: "Berg, Willem van der"
            names = [re.sub(r"^(?:[a-z'’]+ )+(?=[A-Z])", "", name) for name in names]
        wanted += names if len(names) <= AUTHORS[style] else names[:1]
        pages = read_text(element, "Pagination/MedlinePgn") or read_text(element, "Pagination/StartPage")
        number = (
            read_text(element, "ELocationID[@EIdType='pii']")
            if read_text(element, "Journal/JournalIssue/Volume")
            else ""
        )
        if first := re.match(r"[A-Za-z]{0,3}[0-9]+", pages or ("" if "(" in number else number)):
            wanted.append(first[0])
        doi = read_text(element, "ELocationID[@EIdType='doi'][@ValidYN='Y']")
        if style != "nature":  # which has it only for articles without a volume
            wanted.append(doi)
        title = read_text(element, "ArticleTitle")
        if read_text(element, "Language") == "eng" and "<" not in title and not title.startswith("["):
            wanted.append(re.sub(r"(?i)^(?:the|an?) ", "", title) if title.isascii() else "")
        wrong += [(pmid, part, text) for part in wanted if part and to_bare(part) not in to_bare(text)]

    assert wrong == []


@pytest.mark.parametrize("style", STYLES)
def test_no_citation_of_a_record_has_doubled_punctuation_missing_words_or_open_quotes(
    real_data: Path, style: str
) -> None:
    wrong = []
    for pmid, (element, texts) in cite_recorded(real_data).items():
        title = read_text(element, "ArticleTitle")
        text = re.sub(r"(?:https?://|doi: ?)\S+", "", texts[style])
        marks = re.search(r"(?<!\.)\.\.(?!\.)|,,|;;|::|,\.|\( | \)|\(\)|\[\]| ,| ;|[?!]\.(?!\.)|\.”\.", text)
        if marks and marks[0] not in title:
            wrong.append((pmid, f"marks {marks[0]!r}", text))
        if re.search(r"\bothers\b|\bNone\b|\bnull\b", text) and not re.search(r"others|None|null", title):
            wrong.append((pmid, "a word of the program", text))
        if text.count("“") != text.count("”") or '"' in text or "'" in text or re.search("[\u2060-\u2064]", text):
            wrong.append((pmid, "quotation marks", text))
        for pair in ("()", "[]"):
            if text.count(pair[0]) != text.count(pair[1]) and title.count(pair[0]) == title.count(pair[1]):
                wrong.append((pmid, f"brackets {pair}", text))

    assert wrong == []

"""Recorded articles of many publishers: every word of every body is in the result, in order, as in ElementTree."""

import os
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
from jats_words import (
    WITHIN_WORDS,
    count_raised_digits,
    count_superscript_digits,
    find_topmost,
    get_local_name,
    list_lines,
    list_words,
    read_text,
)
from lxml import etree
from math_tokens import MATHML, find_lost_characters, find_lost_numbers
from sampled_cases import take_sample

from entrez_kit.base.formulas import read_formula
from entrez_kit.fulltext.fulltext_articles import Section
from entrez_kit.fulltext.jats.article import JatsArticle, iter_jats

pytestmark = pytest.mark.recorded

DATA = Path(os.environ.get("ENTREZ_KIT_REAL_DATA") or "nowhere")
FILES: list[Path | None] = [
    *take_sample(
        sorted(path for name in ("jats", "efetch_pmc") for path in (DATA / name).glob("*") if path.is_file()), 0.5
    )
] or [None]
SHARE = 0.999
FLOATS = frozenset(("fig", "fig-group", "table-wrap", "boxed-text", "fn", "p", "supplementary-material", "media"))
"""Elements that are only anchored at their place, and paragraphs themselves."""


IN_A_SENTENCE = WITHIN_WORDS - {"inline-formula"} | {"p"}


@dataclass(frozen=True)
class Recording:
    """A recorded document, as read by the library and by ElementTree."""

    articles: list[JatsArticle]
    root: ET.Element
    content: bytes

    @cached_property
    def words(self) -> list[str]:
        return list_words("\n".join(line for article in self.articles for line in list_lines(article.sections)))

    @cached_property
    def found(self) -> Counter[str]:
        return Counter(self.words)

    @cached_property
    def wanted(self) -> list[str]:
        """The words of all bodies, as read by ElementTree."""
        return [word for body in self.bodies for word in list_words(read_text(body))]

    @cached_property
    def bodies(self) -> list[ET.Element]:
        return [node for node in self.root.iter() if get_local_name(node) in ("body", "floats-group")]

    @cached_property
    def elements(self) -> list[ET.Element]:
        return (
            [self.root]
            if get_local_name(self.root) == "article"
            else [one for one in self.root if get_local_name(one) == "article"]
        )

    def share(self, wanted: list[str]) -> float:
        """Return the share of these words that are in the result."""
        lost = Counter(wanted) - self.found
        return 1 - lost.total() / len(wanted) if wanted else 1.0


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.name if path else "none")
def recording(request: pytest.FixtureRequest) -> Recording:
    if request.param is None:
        pytest.skip("ENTREZ_KIT_REAL_DATA names no folder of recorded replies")
    content = request.param.read_bytes()
    articles = [item for item in iter_jats(content) if isinstance(item, JatsArticle)]
    return Recording(articles, ET.fromstring(content), content)


def test_the_words_of_every_body_are_in_the_result(recording: Recording) -> None:
    prose = [word for body in recording.bodies for word in list_words(read_text(body, without_math=True))]

    assert recording.share(prose) == 1
    # Formulas are written on one line: some words of ElementTree ("ifX") are two words there.
    assert recording.share(recording.wanted) >= SHARE


def test_each_kind_of_element_is_in_the_result(recording: Recording) -> None:
    for kind in ("p", "title", "td", "th", "entry", "caption", "list-item", "label", "def", "attrib", "fn"):
        nodes = [node for body in recording.bodies for node in find_topmost(body, frozenset([kind]))]
        words = [word for node in nodes for word in list_words(read_text(node, without_math=True))]
        assert recording.share(words) >= SHARE, kind


def test_every_digit_of_a_superscript_is_raised_in_the_result(recording: Recording) -> None:
    wanted = sum((count_superscript_digits(body) for body in recording.bodies), Counter[str]())
    text = "\n".join(line for article in recording.articles for line in list_lines(article.sections))

    assert wanted - count_raised_digits(text) == Counter()


def test_no_token_of_a_formula_is_lost_and_no_number_becomes_another(recording: Recording) -> None:
    formulas = list(recording.root.iter(f"{MATHML}math"))
    lines = [read_formula(element) for element in etree.fromstring(recording.content).iter(f"{MATHML}math")]

    for element, line in zip(formulas, lines, strict=True):
        assert not find_lost_characters(element, line), line
        assert not find_lost_numbers(element, line), line


def test_paragraphs_are_in_the_order_of_the_document(recording: Recording) -> None:
    """The words of every paragraph of plain text follow those of the previous one."""
    stream = " ".join(recording.words)
    place = checked = 0
    for article in recording.elements:
        for body in (node for node in article if get_local_name(node) == "body"):
            for paragraph in list_flow(body):
                if all(
                    get_local_name(node) in WITHIN_WORDS - {"inline-formula"}
                    for node in paragraph.iter()
                    if node != paragraph
                ):
                    words = " ".join(list_words(read_text(paragraph)))
                    at = stream.find(words, place)
                    assert at >= 0, f"not after the previous one: {words[:200]}"
                    place = at + len(words)
                    checked += 1
    assert checked or not any(article.has_body for article in recording.articles)


def list_flow(element: ET.Element) -> list[ET.Element]:
    found: list[ET.Element] = []
    for node in element:
        if get_local_name(node) == "p":
            found.append(node)
        elif get_local_name(node) not in FLOATS:
            found += list_flow(node)
    return found


def test_headings_are_titles_and_not_text(recording: Recording) -> None:
    for article, element in zip(recording.articles, recording.elements, strict=True):
        body = next((node for node in element if get_local_name(node) == "body"), None)
        tops = (
            list_headings([node for node in body if get_local_name(node) in ("sec", "boxed-text")], 1)
            if body is not None
            else []
        )
        wanted = [title for depth, title in tops if depth == 1]
        titles = [" ".join(list_words(section.title)) for section in article.sections if section.title]
        assert titles[: len([text for text in wanted if text])] == [text for text in wanted if text]
        for section in article.sections:
            assert not re.search(r"\n{3,}|[ \n]$|^[ \n]", section.text)
            assert "\n" not in (section.title or "")


def test_every_heading_has_its_depth(recording: Recording) -> None:
    for article, element in zip(recording.articles, recording.elements, strict=True):
        wanted = [pair for body in element if get_local_name(body) == "body" for pair in list_headings(body, 1)]
        assert list_titles(article.sections, 1)[: len(wanted)] == wanted


def list_headings(element: Iterable[ET.Element], depth: int) -> list[tuple[int, str]]:
    """Return the titles of sections and boxes with their depth, as read by ElementTree."""
    found: list[tuple[int, str]] = []
    for section in (node for node in element if get_local_name(node) in ("sec", "boxed-text")):
        own = [node for node in section if get_local_name(node) == "title"]
        captions = (
            [node for node in section if get_local_name(node) == "caption"]
            if get_local_name(section) == "boxed-text"
            else []
        )
        inside = own or [node for caption in captions for node in caption if get_local_name(node) == "title"]
        titles = [" ".join(list_words(read_text(node))) for node in inside]
        found += [(depth, title) for title in titles if title]
        found += list_headings(section, depth + 1)
    return found


def list_titles(sections: list[Section], depth: int) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for section in sections:
        if title := " ".join(list_words(section.title or "")):
            found.append((depth, title))
        found += list_titles(section.subsections, depth + 1)
    return found


def test_every_abstract_is_read_also_translated_ones(recording: Recording) -> None:
    for article, element in zip(recording.articles, recording.elements, strict=True):
        texts = [article.front.abstract or "", *(other.text for other in article.front.other_abstracts)]
        found = set(list_words("\n".join([*texts, *list_lines(article.sections)])))
        for abstract in (node for node in element.iter() if get_local_name(node) in ("abstract", "trans-abstract")):
            words = [word for word in list_words(read_text(abstract, without_math=True)) if word not in found]
            assert len(words) <= 3, words  # "Abstract" and similar words as its heading


def test_front_matter_is_complete(recording: Recording) -> None:
    for article in recording.articles:
        front = article.front
        assert front.title
        assert front.doi or front.pmcid
        assert front.authors
        assert front.journal is not None
        assert front.journal.title
        assert front.publication_date is not None
        assert front.publication_date.year
        for author in front.authors:
            assert author.collective_name or author.last_name or author.given_names


def test_every_reference_is_read_with_its_words(recording: Recording) -> None:
    for article, element in zip(recording.articles, recording.elements, strict=True):
        listed = [node for node in fetch_references(element) if "".join(node.itertext()).strip()]
        assert len(article.references) == len(listed)
        for reference, node in zip(article.references, listed, strict=True):
            words = set(list_words(f"{reference.label or ''} {reference.citation}"))
            citations = [child for child in node if get_local_name(child) != "citation-alternatives"] or list(node)[-1:]
            wanted = [word for child in citations for word in list_words(read_text(child, frozenset(), names=True))]
            lost = [word for word in wanted if word not in words and not word.isdigit()]
            assert len(lost) <= 0.1 * len(wanted) + 1, (lost, reference)


def fetch_references(element: ET.Element) -> list[ET.Element]:
    found: list[ET.Element] = []
    for node in element:
        if get_local_name(node) == "ref":
            found.append(node)
        elif get_local_name(node) not in ("sub-article", "response", "front"):
            found += fetch_references(node)
    return found


def test_an_article_with_a_body_has_sections(recording: Recording) -> None:
    assert any(article.has_body for article in recording.articles) is (len(recording.wanted) > 0)

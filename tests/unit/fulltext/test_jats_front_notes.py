"""The text in the front matter of JATS: notes about the authors, statements and funding, with lxml as the judge."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jats_words import list_lines
from lxml import etree
from one_jats_article import parse_jats
from used_recordings import list_recordings, read_recording, require_recordings

from entrez_kit.fulltext.jats.article import JatsArticle, iter_jats

METADATA = frozenset(
    (
        *("article-id", "journal-meta", "article-categories", "kwd-group", "pub-date", "history", "pub-history"),
        *("volume", "issue", "issue-id", "fpage", "lpage", "elocation-id", "self-uri", "related-article"),
        *("permissions", "alt-title", "corresp", "email", "uri", "address", "contrib-id", "institution-id", "counts"),
        *("aff", "copyright-statement", "xref", "custom-meta"),
    )
)
"""Parts of the front matter whose text is not part of the text of the article."""
EDITORS = ("editor", "reviewer", "referee")


def write_article(front: str, body: str = "<p>Text.</p>", back: str = "", after: str = "") -> JatsArticle:
    content = f"<article><front>{front}</front><body>{body}</body><back>{back}</back>{after}</article>"
    return parse_jats(content.encode())


def list_titles(article: JatsArticle) -> list[tuple[str | None, str]]:
    return [(section.title, section.text) for section in article.sections]


NOTES = (
    "<article-meta><title-group><article-title>T</article-title><trans-title-group><trans-title>Título</trans-title>"
    "</trans-title-group></title-group><contrib-group><contrib contrib-type='author'><name><surname>Doe</surname>"
    "<given-names>Jane</given-names></name><role>Writing – review &amp; editing</role><role>Software</role>"
    "<bio><p>Jane Doe studies mice.</p></bio></contrib><contrib contrib-type='editor'><name>"
    "<surname>Ed</surname></name>"
    "<role>Academic Editor</role></contrib></contrib-group><author-notes><corresp>* jane@example.org</corresp>"
    "<fn fn-type='conflict'><p>No competing interests exist.</p></fn><fn fn-type='con'><p>Wrote it: JD.</p></fn>"
    "<fn fn-type='deceased'><label>†</label><p>Deceased.</p></fn><fn fn-type='COI-statement'><p>Also none.</p></fn>"
    "</author-notes><funding-group><award-group><funding-source>Mouse Fund</funding-source><award-id>M-1</award-id>"
    "</award-group><award-group><funding-source>Cat Fund</funding-source><award-id>C-2</award-id></award-group>"
    "<funding-statement>Mouse Fund paid (M-1).</funding-statement></funding-group><custom-meta-group><custom-meta>"
    "<meta-name>Data Availability</meta-name><meta-value>All data are in the paper.</meta-value></custom-meta>"
    "<custom-meta><meta-name>pmc-status-live</meta-name><meta-value>yes</meta-value></custom-meta></custom-meta-group>"
    "</article-meta><notes><sec><title>Changes</title><p>We changed a figure.</p></sec></notes>"
)


def test_notes_and_statements_of_the_front_matter_are_sections_after_the_text() -> None:
    assert list_titles(write_article(NOTES)) == [
        (None, "Text."),
        ("Titles in other languages", "Título"),
        ("Competing interests", "No competing interests exist.\n\nAlso none."),
        ("Author contributions", "Wrote it: JD.\n\nJane Doe: Writing – review & editing, Software"),
        ("Author notes", "† Deceased."),
        ("About the authors", "Jane Doe studies mice."),
        ("Funding", "Mouse Fund paid (M-1).\n\nCat Fund: C-2"),
        ("Data Availability", "All data are in the paper."),
        ("Changes", "We changed a figure."),
    ]


def test_a_statement_that_the_back_matter_repeats_is_read_once() -> None:
    back = "<sec><title>Funding</title><p>Mouse Fund paid (M-1).</p></sec>"
    front = "<article-meta><funding-group><funding-statement>Mouse Fund paid (M-1).</funding-statement></funding-group>"
    assert list_titles(write_article(f"{front}</article-meta>", back=back)) == [
        (None, "Text."),
        ("Funding", "Mouse Fund paid (M-1)."),
    ]


def test_notes_of_a_review_are_in_its_section_and_do_not_make_a_text() -> None:
    review = (
        "<sub-article article-type='reviewer-report'><front-stub><author-notes><fn fn-type='conflict'><p>I know them."
        "</p></fn></author-notes></front-stub><body><p>Good.</p></body></sub-article>"
    )
    *_, section = write_article("<article-meta/>", after=review).sections
    assert [(part.title, part.text) for part in section.subsections] == [("Competing interests", "I know them.")]
    assert not write_article(NOTES, body="").has_body


def _reduce(text: str) -> str:
    return "".join(re.findall(r"[^\W_]", unicodedata.normalize("NFKD", text).lower()))


def _yield_lost(front: Any, found: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each element of a front matter whose text is not in the result."""
    for element in front.iter(etree.Element):
        for text in (element.text, *(node.tail for node in element)):
            if (reduced := _reduce(text or "")) and reduced not in found:
                above = [element, *element.iterancestors()]
                path = [etree.QName(node).localname for node in above[: above.index(front)]]
                yield "/".join(reversed(path)), text or ""


@pytest.mark.recorded
@pytest.mark.parametrize("folder", ["jats", "efetch_pmc"])
def test_only_metadata_of_the_front_matter_are_missing_from_recorded_articles(real_data: Path, folder: str) -> None:
    compared: Counter[str] = Counter()
    for path in list_recordings(real_data / folder):
        content = read_recording(path)
        articles = [item for item in iter_jats(content) if isinstance(item, JatsArticle)]
        if not articles:
            continue
        values = [article.front.model_copy(update={"sections": article.sections}) for article in articles]
        found = _reduce(" ".join(value.model_dump_json() for value in values).replace("\\n", " ").replace('\\"', '"'))
        for front in etree.fromstring(content).iter("{*}front", "{*}front-stub"):
            for person in [*front.iter("{*}contrib"), *front.iter("{*}fn")]:
                kind = f"{person.get('contrib-type') or ''} {person.get('fn-type') or ''}".lower()
                role = " ".join("".join(node.itertext()) for node in person.iter("{*}role")).lower()
                is_editor = etree.QName(person).localname == "contrib" and any(
                    word in f"{kind} {role}" for word in EDITORS
                )
                for node in list(person) if is_editor or "corresp" in kind else ():
                    person.remove(node)
            lost = [item for item in _yield_lost(front, found) if not METADATA.intersection(item[0].split("/"))]
            assert not lost, (path.name, json.dumps(lost[:5], ensure_ascii=False))
            compared.update(etree.QName(node).localname for node in front.iter("{*}fn", "{*}funding-statement"))
    require_recordings(compared["fn"])


@pytest.mark.recorded
def test_statements_of_recorded_articles_have_the_words_of_the_xml(real_data: Path) -> None:
    checked = 0
    for path in list_recordings(real_data / "jats"):
        content = read_recording(path)
        articles = [item for item in iter_jats(content) if isinstance(item, JatsArticle)]
        text = _reduce(" ".join(line for article in articles for line in list_lines(article.sections)))
        meta = etree.fromstring(content).find(".//{*}front/{*}article-meta")
        notes = [
            node
            for node in meta.iterfind("{*}author-notes/{*}fn/{*}p")
            if "corresp" not in (node.getparent().get("fn-type") or "")
        ]
        custom = meta.iterfind(".//{*}custom-meta")
        values = [node[1] for node in custom if node[0].text in ("Data Availability", "Author impact statement")]
        for node in (*notes, *values, *meta.iterfind("{*}funding-group/{*}funding-statement")):
            assert _reduce("".join(node.itertext())) in text, path.name
            checked += 1
    require_recordings(checked)

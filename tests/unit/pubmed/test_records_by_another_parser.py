"""Every recorded PubMed document, compared with another parser that has its own rules.

The other parser is ElementTree over expat. It shares no code with the product: it walks the document, collects words,
names and ids by its own short rules, and must agree on every record.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from superscript_policy import find_badly_written, mark_scripts, to_canonical
from used_recordings import read_recording

from entrez_kit.base.errors import UpstreamError
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.records import Record, iter_records

RECORDS = ("PubmedArticle", "PubmedBookArticle")


def _list_files(real_data: Path) -> list[Path]:
    files = [path for name in ("efetch_pubmed", "baseline") for path in sorted((real_data / name).iterdir())]
    assert len(files) > 200
    return files


def _read_with_other_parser(content: bytes) -> tuple[list[Element], list[str]]:
    """Return the records and the deleted PMIDs of a document as another parser sees them."""
    root = ElementTree.fromstring(content)
    records = [root] if root.tag in RECORDS else [element for element in root if element.tag in RECORDS]
    if root.tag == "MedlineCitationSet":
        records = list(root)
    deleted = [(pmid.text or "").strip() for group in root.iter("DeleteCitation") for pmid in group.iter("PMID")]
    return records, deleted


def _list_words(*texts: str | None) -> list[str]:
    return re.findall(r"\w+", " ".join(text or "" for text in texts))


def _to_letters(*texts: str | None) -> str:
    """Return letters and digits only, so that the spaces in formulas do not matter."""
    return "".join(re.findall(r"\w", unicodedata.normalize("NFKC", " ".join(text or "" for text in texts))))


@dataclass(frozen=True)
class _Judgement:
    pmid: str
    title: str
    abstract: str
    formulas: bool
    authors: int
    mesh: int
    dois: set[str]
    pmcids: set[str]
    ids: set[str]


def _judge(record: Element) -> _Judgement:
    book = record.find("BookDocument")
    body = book if book is not None else record.find("MedlineCitation")
    if body is None:
        body = record
    article = body if book is not None else body.find("Article")
    assert article is not None
    title = article.find("ArticleTitle")
    if book is not None and not mark_scripts(title).strip():
        title = article.find("Book/BookTitle")
    whole_book = book is not None and article.find("ArticleTitle") is None
    people = article.findall("Book/AuthorList" if whole_book else "AuthorList")
    authors = [author for group in people if group.get("Type") != "editors" for author in group]
    own_lists = [*record.findall("PubmedData/ArticleIdList"), *record.findall("PubmedBookData/ArticleIdList")]
    own_lists += body.findall("ArticleIdList")
    ids = [item for group in own_lists for item in group.findall("ArticleId") if (item.text or "").strip()]
    locations = [item for item in article.findall("ELocationID") if item.get("EIdType") == "doi"]
    return _Judgement(
        pmid=(body.findtext("PMID") or "").strip(),
        title=mark_scripts(title),
        abstract=" ".join(mark_scripts(part) for part in article.findall("Abstract/AbstractText")),
        formulas=any(str(element.tag).endswith("}math") for element in article.iter()),
        authors=len(authors),
        mesh=len(body.findall("MeshHeadingList/MeshHeading")),
        dois={
            _remove_markup(item.text)
            for item in [*ids, *locations]
            if "doi" in (item.get("IdType"), item.get("EIdType"))
        },
        pmcids={re.sub(r"\D*([0-9]+).*", r"PMC\1", item.text or "") for item in ids if item.get("IdType") == "pmc"},
        ids={(item.text or "").strip() for item in ids},
    )


def _remove_markup(text: str | None) -> str:
    return re.sub(r"^(https?://(dx\.)?doi\.org/|doi:\s*)", "", (text or "").strip(), flags=re.IGNORECASE)


def _find_disagreements(record: Record, judgement: _Judgement) -> Iterator[str]:
    article: Article = record.article()
    if article.pmid != judgement.pmid:
        yield f"pmid {article.pmid} != {judgement.pmid}"
    read = _to_letters if judgement.formulas else to_canonical
    own = " ".join(section.text for section in article.abstract_sections)
    for name, text, wanted in (("title", article.title, judgement.title), ("abstract", own, judgement.abstract)):
        if read(text) != read(wanted):
            yield f"{name} {text!r} != {wanted!r}"
        if not judgement.formulas and (bad := find_badly_written(text)):
            yield f"{name}: {bad} have characters in Unicode"
    lost = set(_list_words(to_canonical(judgement.abstract))) - set(
        _list_words(to_canonical(article.abstract_text or ""))
    )
    if not judgement.formulas and lost:
        yield f"words lost from abstract_text: {sorted(lost)[:5]}"
    if len(article.authors) != judgement.authors:
        yield f"{len(article.authors)} authors, not {judgement.authors}"
    if len(article.mesh_terms) != judgement.mesh:
        yield f"{len(article.mesh_terms)} MeSH terms, not {judgement.mesh}"
    if bool(article.doi) != bool(judgement.dois) or (article.doi and article.doi not in judgement.dois):
        yield f"doi {article.doi} not in {judgement.dois}"
    if bool(article.pmcid) != bool(judgement.pmcids) or (article.pmcid and article.pmcid not in judgement.pmcids):
        yield f"pmcid {article.pmcid} not in {judgement.pmcids}"
    values = "\n".join(article.article_ids.values())
    for identifier in judgement.ids:
        if _remove_markup(identifier) not in values and identifier.removeprefix("PMC") not in values:
            yield f"article id {identifier} is lost"


@pytest.mark.long
def test_every_recorded_record_agrees_with_an_independent_reading(real_data: Path) -> None:
    seen = 0
    problems: list[str] = []
    for path in _list_files(real_data):
        content = read_recording(path)
        elements, deleted = _read_with_other_parser(content)
        if not elements and not deleted:
            continue
        records = list(iter_records(content))
        assert [record.pmid for record in records if record.kind == "deleted"] == deleted, path.name
        found = [record for record in iter_records(content) if record.kind != "deleted"]
        assert len(found) == len(elements), path.name
        for record, element in zip(iter_records(content), [*elements], strict=False):
            if record.kind == "deleted":
                continue
            seen += 1
            problems += [f"{path.name} {record.pmid}: {text}" for text in _find_disagreements(record, _judge(element))]

    assert problems == []
    assert seen > 700


@pytest.mark.long
def test_documents_without_records_are_empty_sets_or_typed_errors(real_data: Path) -> None:
    for path in _list_files(real_data):
        content = read_recording(path)
        elements, deleted = _read_with_other_parser(content)
        if elements or deleted:
            continue
        root = ElementTree.fromstring(content)
        if root.tag in ("PubmedArticleSet", "PubmedBookArticleSet"):
            assert list(iter_records(content)) == []
        else:
            with pytest.raises(UpstreamError):
                list(iter_records(content))


@pytest.mark.long
def test_a_record_has_its_unchanged_bytes(real_data: Path) -> None:
    for path in _list_files(real_data):
        content = read_recording(path)
        if any(_read_with_other_parser(content)):
            for record in iter_records(content):
                if record.kind != "deleted":
                    assert record.raw in content, path.name

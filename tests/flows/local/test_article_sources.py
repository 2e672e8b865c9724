"""Copies built from files of other formats: our jsonl and MEDLINE text."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from Bio import Medline
from pubmed_files import make_home_settings, read_titles, write_set
from used_recordings import read_recording

from entrez_kit.base.errors import EntrezKitError, InvalidInput
from entrez_kit.local.article_to_xml import write_article
from entrez_kit.local.copies import open_copy
from entrez_kit.local.eutils.medline import render_medline
from entrez_kit.local.importing import import_files
from entrez_kit.local.read_nbib import read_nbib
from entrez_kit.local.records.collection import ParsedCollection
from entrez_kit.local.records.document import Document
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.xml.records import iter_records
from entrez_kit.sandbox.generate import GeneratedCollection


def _read_articles(content: bytes) -> Iterator[Article]:
    for found in iter_records(content):
        if found.kind != "deleted":
            yield found.article()


def _assert_same(article: Article) -> None:
    (again,) = _read_articles(write_article(article))
    assert again.model_dump() == article.model_dump()


@pytest.mark.long
def test_a_written_article_is_parsed_to_the_same_article() -> None:
    demo, generated = ParsedCollection.demo(), GeneratedCollection(300)
    raws = [demo.read_raw(number) for number in range(demo.size)]
    raws += [generated.read_raw(number) for number in range(generated.size)]
    articles = [article for raw in raws for article in _read_articles(raw)]

    assert {article.record_type for article in articles} >= {"article", "book", "chapter"}
    for article in articles:
        _assert_same(article)


def test_recorded_articles_are_parsed_to_the_same_articles(real_data: Path) -> None:
    count = 0
    for path in sorted([*(real_data / "efetch_pubmed").glob("*.xml"), *(real_data / "baseline").glob("*.gz")]):
        content = read_recording(path)
        try:
            articles = list(_read_articles(content))
        except EntrezKitError:  # a recording of an error
            continue
        for article in articles:
            _assert_same(article)
            count += 1

    assert count > 500


def test_medline_text_has_its_fields_after_an_import() -> None:
    demo = ParsedCollection.demo()
    compared = 0
    for number in range(demo.size):
        document = demo.read_document(number)
        if document.is_book:
            continue
        text = render_medline(document)
        (event,) = read_nbib([text.encode()], Path("x.nbib"))
        before = Medline.read(io.StringIO(text))  # type: ignore[no-untyped-call]
        after = Medline.read(io.StringIO(render_medline(Document(event.raw))))  # type: ignore[no-untyped-call]
        for name in ("SO", "OTO", "AUID", "LID"):  # they depend on what the text has not
            before.pop(name, None)
            after.pop(name, None)
        assert after == before
        compared += 1

    assert compared > 10


def test_a_copy_from_jsonl_finds_the_same_articles_as_one_from_xml(tmp_path: Path) -> None:
    kit = make_home_settings(tmp_path)
    demo = ParsedCollection.demo()
    raws = [demo.read_raw(number) for number in range(demo.size)]
    lines = [article.model_dump_json(exclude_none=True) for raw in raws for article in _read_articles(raw)]
    lines.insert(1, '{"input": "5", "status": "not_found", "error": {"code": "ENTITY_NOT_FOUND", "message": "no"}}')
    (tmp_path / "demo.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    import_files(kit, "lines", [tmp_path / "demo.jsonl"])
    import_files(kit, "xml", [write_set(tmp_path, "demo.xml", *(raw.decode() for raw in raws))])

    assert read_titles(kit, "lines") == read_titles(kit, "xml")
    lines_index, xml_index = (open_copy(kit, name).collection.index for name in ("lines", "xml"))
    for source in ("title", "abstract", "author", "keyword", "affiliation", "mesh"):
        # NLM labels some sections UNLABELLED, which an Article omits.
        assert set(lines_index.list_words(source)) == set(xml_index.list_words(source)) - {"unlabelled"}, source
    for source in ("mesh", "majr_pair", "ptype", "language", "author", "jid"):
        assert set(lines_index.list_values(source)) == set(xml_index.list_values(source)), source


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.jsonl", '{"pmid": "1", "url": "u"}\n{"pmid": "2", \n', "bad_record"),
        ("a.jsonl", '{"pmid": "1", "url": "u"}\n{"pmid": "x", "url": "u"}\n', "bad_record"),
        ("a.jsonl", '{"pmid": "1", "url": "u"}\n[1]\n', "bad_record"),
        ("a.jsonl", '{"pmid": "1", "url": "u", "other": 3}\n', "bad_record"),
        ("a.nbib", "PMID- 1\nTI  - A\n\nPMID- \nTI  - B\n", "bad_record"),
        ("a.nbib", "PMID- 1\nTI  - A\nnothing\n", "bad_record"),
    ],
)
def test_a_defect_in_one_line_rejects_the_file(tmp_path: Path, name: str, content: str, reason: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")

    with pytest.raises(InvalidInput) as refused:
        import_files(make_home_settings(tmp_path), "c", [tmp_path / name])

    assert refused.value.details["reason"] == reason
    assert refused.value.details["line"] >= 1


def test_nbib_of_several_records_is_read_with_or_without_blank_lines(tmp_path: Path) -> None:
    kit = make_home_settings(tmp_path)
    (tmp_path / "a.nbib").write_bytes(b"PMID- 1\r\nTI  - One\r\n      more\r\nPMID- 2\r\nTI  - Two\r\n\r\nPMID- 3\r\n")

    import_files(kit, "c", [tmp_path / "a.nbib"])

    assert read_titles(kit, "c") == {"1": "One more", "2": "Two", "3": ""}

"""Electronic articles have a number in place of pages; every style and every export shows it."""

from pathlib import Path
from xml.etree import ElementTree

from used_recordings import read_recording

from entrez_kit.citations.csl import build_csl_item
from entrez_kit.citations.style.format_entries import STYLES, format_styled_entries
from entrez_kit.citations.write_files import FILES, write_file_text
from entrez_kit.pubmed.models import Article
from entrez_kit.pubmed.summaries import parse_summaries
from entrez_kit.pubmed.xml.records import iter_records
from entrez_kit.services.esummary_reply import parse_esummary

RECORD = (
    "<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article><Journal><JournalIssue><Volume>8</Volume><Issue>2"
    "</Issue><PubDate><Year>2019</Year></PubDate></JournalIssue><Title>Journal of tea</Title></Journal>"
    "<ArticleTitle>Tea.</ArticleTitle>{inner}</Article></MedlineCitation><PubmedData><ArticleIdList>"
    '<ArticleId IdType="pii">7663763</ArticleId></ArticleIdList></PubmedData></PubmedArticle>'
)


def make_located(value: str, *, valid: str = "Y", rest: str = "", volume: bool = True) -> Article:
    """Return a record with an electronic location of the type pii."""
    inner = f'{rest}<ELocationID EIdType="pii" ValidYN="{valid}">{value}</ELocationID>'
    text = RECORD.format(pmid="99000001", inner=inner)
    if not volume:
        text = text.replace("<Volume>8</Volume><Issue>2</Issue>", "")
    (record,) = iter_records(f"<PubmedArticleSet>{text}</PubmedArticleSet>".encode())
    return record.article()


def test_the_electronic_location_is_the_number_of_the_article() -> None:
    numbers = ("9966", "e01408-19", "E874", "RP88808", "euae122", "021003", "17", "mbio.01408-19", "e47969")
    articles = [make_located(number) for number in numbers]
    items = [build_csl_item(article) for article in articles]

    assert [article.journal_info and article.journal_info.article_number for article in articles] == list(numbers)
    assert [item["number"] for item in items] == list(numbers)
    written = {style: format_styled_entries(items, style) for style in STYLES}
    written |= {name: [write_file_text(name, [article]) for article in articles] for name in FILES}
    for name, texts in written.items():
        assert [number for number, text in zip(numbers, texts, strict=True) if number not in text] == [], name


def test_a_publishers_code_is_not_an_article_number() -> None:
    codes = (
        "S0949-2658(19)30200-3", "S0004-28032013000100035", "S0022202X15366783", "1471-2105-7-10", "10.5555/12.3", "."
    )  # fmt: skip
    articles = [make_located(code) for code in codes]
    items = [build_csl_item(article) for article in articles]

    assert [article.journal_info and article.journal_info.article_number for article in articles] == [None] * len(codes)
    assert not [item for item in items if "number" in item]
    # 7663763 is a number of the record, not of the article
    assert not [text for text in format_styled_entries(items, "apa") if "7663763" in text]


def test_a_number_that_nlm_marks_as_invalid_is_ignored() -> None:
    assert "number" not in build_csl_item(make_located("e12", valid="N"))


def test_pages_have_precedence_over_the_number_and_pages_equal_to_the_number_are_ignored() -> None:
    both = make_located("ciac769", rest="<Pagination><MedlinePgn>342-5</MedlinePgn></Pagination>")
    same = make_located("487", rest="<Pagination><MedlinePgn>487</MedlinePgn></Pagination>")

    assert build_csl_item(both)["page"] == "342-345"
    assert both.journal_info is not None
    assert both.journal_info.article_number == "ciac769"
    assert build_csl_item(same)["number"] == "487"
    assert "Article 487" in format_styled_entries([build_csl_item(same)], "apa")[0]


def test_an_article_without_a_volume_is_ahead_of_print_and_has_no_number() -> None:
    item = build_csl_item(make_located("ciac769", volume=False))

    assert "number" not in item


def test_a_summary_without_pages_has_the_number() -> None:
    summary = {"uid": "1", "source": "J Tea", "volume": "8", "issue": "2", "pubdate": "2019", "title": "Tea"}
    place = "pii: e47969. doi: 10.5555/tea.1."

    (without,), _ = parse_summaries(parse_esummary(_make_json({**summary, "elocationid": place})))
    (with_pages,), _ = parse_summaries(parse_esummary(_make_json({**summary, "elocationid": place, "pages": "1-4"})))

    assert without.source == "J Tea. 2019;8(2):e47969"
    assert with_pages.source == "J Tea. 2019;8(2):1-4"


def _make_json(summary: dict[str, str]) -> bytes:
    import json

    return json.dumps({"result": {"uids": [summary["uid"]], summary["uid"]: summary}}).encode()


def test_every_recorded_article_with_a_number_and_no_pages_shows_it(real_data: Path) -> None:
    """The recordings are read with other code."""
    wanted: dict[str, str] = {}
    articles: dict[str, Article] = {}
    for path in (path for name in ("efetch_pubmed", "baseline") for path in sorted((real_data / name).iterdir())):
        content = read_recording(path)
        if b'EIdType="pii"' not in content:
            continue
        for element in ElementTree.fromstring(content).iter("PubmedArticle"):
            article = element.find("MedlineCitation/Article")
            assert article is not None
            number = article.findtext("ELocationID[@EIdType='pii']")
            if number and article.findtext("Journal/JournalIssue/Volume") and article.find("Pagination") is None:
                wanted[element.findtext("MedlineCitation/PMID") or ""] = number
        articles |= {record.pmid: record.article() for record in iter_records(content) if record.pmid in wanted}

    assert len(wanted) >= 9
    items = {pmid: build_csl_item(articles[pmid]) for pmid in wanted}
    assert {pmid: item.get("number") for pmid, item in items.items()} == wanted
    for style in STYLES:
        for (pmid, number), text in zip(wanted.items(), format_styled_entries(items.values(), style), strict=True):
            assert number in text, (pmid, style, text)
    for name in FILES:
        for pmid, number in wanted.items():
            assert number in write_file_text(name, [articles[pmid]]), (pmid, name)

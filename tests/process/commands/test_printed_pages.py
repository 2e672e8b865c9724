"""Web pages and Word documents: the content of the Markdown, retractions first, and no scripts or external files."""

import io
import re
import zipfile
from pathlib import Path

import pytest
from command_line import Cli
from lxml import html

from entrez_kit.citations.pandoc import convert_markdown

RETRACTED = "99000050"
REFERENCES = f"TY  - JOUR\nAN  - {RETRACTED}\nER  - \nTY  - JOUR\nAN  - 99000001\nER  - \n"
CALLS = {
    "show": ("show", RETRACTED),
    "fetch": ("fetch", RETRACTED, "99000001"),
    "search": ("search", "moonlight"),
    "cite": ("cite", RETRACTED),
    "fulltext": ("fulltext", "PMC99000001"),
    "check": ("check", "references.ris"),
}
MOONLIGHT = "Moonlight exposure doubles overnight memory in shift workers"
TITLES = {
    "show": f"{MOONLIGHT}.",
    "fetch": f"{MOONLIGHT} and 1 more",
    "search": "moonlight - PubMed",
    "cite": "References",
    "fulltext": "Base editing of a cryptic splice site restores mucus transport in human airway cells.",
    "check": "The references of references.ris",
}
commands = pytest.mark.parametrize("command", CALLS)


@pytest.fixture(autouse=True)
def _references(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("references.ris").write_text(REFERENCES, encoding="utf-8")


@commands
def test_a_page_has_the_words_of_the_markdown(cli: Cli, command: str) -> None:
    markdown = cli(*CALLS[command], *(("-f", "md") if command != "check" else ("--json",)))
    done = cli(*CALLS[command], "-o", "page.html")

    assert done.status == markdown.status, done.err
    page = html.fromstring(Path("page.html").read_bytes())
    text = " ".join(page.text_content().split())
    assert " ".join((page.findtext(".//title") or "").split()) == TITLES[command]
    assert not page.xpath("//script | //img | //iframe | //link[@rel='stylesheet']")
    assert all(link.startswith("http") or link.startswith("#") for link in page.xpath("//a/@href"))
    if command != "fulltext":
        assert "Moonlight exposure doubles overnight memory" in text
        assert "RETRACT" in text.upper()
    if command in ("show", "fetch", "check"):
        assert "RETRACTED" in page.xpath("string(//blockquote[1])")
    if command == "fetch":
        assert len(page.xpath("//h1")) == 2
    if command == "fulltext":
        assert page.xpath("//h2")


@commands
def test_a_word_document_can_be_opened_and_has_the_words(cli: Cli, command: str) -> None:
    done = cli(*CALLS[command], "-o", "page.docx")

    assert done.status in (0, 4), done.err
    with zipfile.ZipFile("page.docx") as archive:
        assert archive.testzip() is None
        words = html.fromstring(archive.read("word/document.xml")).text_content()
    assert ("Moonlight exposure" if command != "fulltext" else "99000001") in words


def test_a_page_executes_and_loads_nothing() -> None:
    text = (
        "a <script>alert(1)</script> <img src=http://x.org/y.png> b\n\n<iframe src='http://x.org'></iframe>\n\n"
        "[click](javascript:alert(1)) ![picture](http://x.org/y.png) [fine](https://x.org)\n\n| a |\n|---|\n| 1 |\n"
    )
    page = html.fromstring(convert_markdown(text, "html", "<script>alert(1)</script>"))

    assert not page.xpath("//script | //img | //iframe")
    assert page.xpath("//a/@href") == ["https://x.org"]
    assert page.xpath("string(//td)") == "1"
    assert "click" in page.text_content()


def test_a_document_is_written_to_a_pipe_without_a_file_name(cli: Cli) -> None:
    assert cli("show", RETRACTED, "-f", "html").out.startswith("<!DOCTYPE html>")


def test_a_missing_pandoc_is_reported_with_the_command_that_installs_it_before_any_request(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    from entrez_kit.citations import pandoc

    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    monkeypatch.setattr("shutil.which", lambda name: None)
    pandoc.find_pandoc.cache_clear()
    done = cli("show", RETRACTED, "-o", "page.docx")
    pandoc.find_pandoc.cache_clear()

    assert done.status == 8
    assert "entrez-kit[cite]" in done.err
    assert not Path("page.docx").exists()


def test_a_table_of_a_web_page_is_text_for_a_spreadsheet() -> None:
    page = convert_markdown("| a |\n| --- |\n| \\=HYPERLINK(1) |\n", "html", "Title").decode()

    assert "<td>=HYPERLINK(1)</td>" in page
    assert re.search(r'<style>[^<]*\* \{ mso-number-format: "\\@"; \}', page)


def test_a_column_of_a_word_document_is_wide_enough_for_its_text() -> None:
    rows = "".join(f"| {n} | {'a long line of a strategy ' * 3} | 1,204 |\n" for n in range(3))
    document = convert_markdown(f"| # | Search | Results |\n|---:|:---|---:|\n{rows}", "docx", "T")

    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        text = archive.read("word/document.xml").decode()
    first, middle, last = map(int, re.findall(r'<w:gridCol w:w="(\d+)"', text))
    assert middle > 4 * max(first, last)

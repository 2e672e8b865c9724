"""Web pages of articles as Markdown: recorded articles, and pages that are not articles."""

import re
import time
import unicodedata
from pathlib import Path

import pytest
from lxml import etree
from pdf_files import write_prose
from used_recordings import require_recordings

from entrez_kit.base.errors import UpstreamError
from entrez_kit.fulltext import html as module
from entrez_kit.fulltext.html import WebPage, convert_html_to_markdown

URL = "https://publisher.example/articles/1"
PARAGRAPH = "The gut of the imaginary mouse was studied for forty nights without interruption. "


def write_article(*, head: str = "", body: str = "", paragraphs: int = 12) -> bytes:
    """Return a page with menus and an article of this number of paragraphs."""
    text = "".join(f"<p>{number}. {PARAGRAPH * 3}</p>" for number in range(paragraphs))
    return (
        f"<!DOCTYPE html><html><head><meta charset='utf-8'><title>T | Journal</title>{head}</head><body>"
        "<nav><ul><li><a href='/'>Home</a></li><li><a href='/j'>All journals of ours</a></li></ul></nav>"
        f"<article><h1>An imaginary mouse</h1><h2>Introduction</h2>{text}{body}</article>"
        "<footer><p>Imprint and cookie settings</p></footer></body></html>"
    ).encode()


def read(content: bytes, charset: str | None = None) -> WebPage:
    """Read a page."""
    return convert_html_to_markdown(content, URL, charset)


def get_refusal(content: bytes) -> str:
    """Return the reason why a page is not an article."""
    with pytest.raises(UpstreamError) as caught:
        read(content)
    assert caught.value.reason == "parse_failed"
    return str(caught.value.details["what"])


def test_the_article_is_read_without_the_text_around_it() -> None:
    found = read(write_article())

    assert found.markdown.count("forty nights") == 36
    assert "## Introduction" in found.markdown
    assert "All journals" not in found.markdown
    assert "cookie" not in found.markdown


FIGURES = {
    "PMC": (
        '<figure class="fig" id="F1"><h4 class="obj_head">Figure 1.</h4><p><img src="f1.jpg" alt="Figure 1"></p>'
        '<div class="p"><a href="f1/">Open in a new tab</a></div><figcaption><p>A, a ribbon of H<sub>2</sub>O. '
        'See <a href="#R1">ref. 13</a>.</p><p>B, the second panel.</p></figcaption></figure>',
        ["Figure 1.", "A, a ribbon of H₂O. See ref. 13.", "B, the second panel."],
    ),
    "plain": (
        '<figure><a href="f1.jpg"><img src="f1.jpg"></a><figcaption>Fig. 2: Weights of <i>mice</i>.'
        "</figcaption></figure>",
        ["Fig. 2: Weights of *mice*."],
    ),
    "description": (
        "<figure><figcaption><b>Fig. 3: Sleep.</b></figcaption><div><p>a Nights without sleep in June.</p></div>"
        '<div><a href="full">Full size image</a></div></figure>',
        ["Fig. 3: Sleep.", "a Nights without sleep in June."],
    ),
    "linked": (
        '<figure><figcaption><a href="f4.jpg">Fig. 4: A linked caption.</a></figcaption></figure>',
        ["Fig. 4: A linked caption."],
    ),
    "table": (
        "<figure><figcaption>Table 4. Doses.</figcaption><table><tr><th>Mouse</th><th>Dose</th></tr><tr><td>first</td>"
        "<td>20 g</td></tr></table></figure>",
        ["Table 4. Doses.", "first", "20 g"],
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_headings_and_captions_of_figures_are_read_without_links_to_the_picture(name: str) -> None:
    figure, wanted = FIGURES[name]
    markdown = read(write_article(body=f"{figure}<p>The end of the imaginary article.</p>")).markdown

    places = [markdown.find(text) for text in (*wanted, "The end of the imaginary article")]
    assert -1 not in places, markdown[-400:]
    assert places == sorted(places)
    assert "new tab" not in markdown
    assert "Full size" not in markdown


def test_every_caption_of_recorded_pages_is_read(real_data: Path) -> None:
    captions = 0
    for path in sorted((real_data / "html").glob("*.html")):
        root = etree.HTML(path.read_bytes())
        nodes = [*root.iter("figcaption"), *root.iterfind(".//figure/h4")]
        if not nodes:
            continue
        found = "".join(re.findall(r"[^\W_]", unicodedata.normalize("NFKD", read(path.read_bytes()).markdown)))
        for node in nodes:
            assert "".join(re.findall(r"[^\W_]", unicodedata.normalize("NFKD", "".join(node.itertext())))) in found
            captions += 1
    require_recordings(captions)


def test_headings_lists_and_tables_have_their_structure() -> None:
    body = (
        "<h3>Materials</h3><p>We used the following:</p><ul><li>a first mouse</li><li>a second mouse</li></ul>"
        "<ol><li>fed</li><li>weighed</li></ol>"
        "<table><caption>Table 1. Weights.</caption><thead><tr><th>Mouse</th><th>Weight</th></tr></thead>"
        "<tbody><tr><td>first</td><td>20 g</td></tr><tr><td>second</td><td>&lt;5 g</td></tr></tbody></table>"
        "<p>x<sub>2</sub> and P&lt;0.001 and <i>Mus imaginarius</i>.</p>"
    )
    text = read(write_article(body=body)).markdown

    assert "### Materials" in text
    assert "- a first mouse\n- a second mouse" in text
    assert "Table 1. Weights.\n\n| Mouse | Weight |\n|---|---|\n| first | 20 g |\n| second | <5 g |" in text
    assert "P<0.001" in text
    assert "*Mus imaginarius*" in text


@pytest.mark.parametrize(
    ("shown", "written"),
    [
        ("as shown before [1, 2-4]. It", "as shown before [1, 2-4]. It"),
        ("the file my_file_name here", "the file my_file_name here"),
        ("about ~20 of them", "about ~20 of them"),
        ("p &lt; 0.05 and P&lt;.001 and &lt;1%", "p < 0.05 and P<.001 and <1%"),
        ("5 * 3 and *** p", "5 \\* 3 and \\*\\*\\* p"),
        ("an &lt;img src=x&gt; in it", "an \\<img src=x> in it"),
        ("see [here](http://x.example)", "see \\[here\\](http://x.example)"),
    ],
)
def test_characters_are_escaped_only_if_markdown_could_misread_them(shown: str, written: str) -> None:
    assert f"We saw {written}, yes." in read(write_article(body=f"<p>We saw {shown}, yes.</p>")).markdown


def test_a_recorded_article_has_its_paragraphs_and_headings(real_data: Path) -> None:
    found = read((real_data / "html" / "biomcp__pmc3040717.html").read_bytes())
    source = etree.parse(str(real_data / "jats" / "biomcp__pmc3040717.1.xml"))
    paragraphs = [_list_words("".join(node.itertext())) for node in source.xpath("//body//p | //abstract//p")]
    titles = [_list_words("".join(node.itertext())) for node in source.xpath("//body/sec/title | //body/sec/sec/title")]
    text = " ".join(_list_words(found.markdown))
    pieces = [" ".join(words[at : at + 6]) for words in paragraphs for at in range(0, len(words) - 5, 6)]
    kept = sum(piece in text for piece in pieces)

    assert kept >= 0.97 * len(pieces) > 500
    assert all(" ".join(title) in text for title in titles)
    assert found.title == (
        "Comprehensive Analysis of Missense Variations in the BRCT Domain of BRCA1 by Structural and Functional Assays"
    )
    assert found.word_count > 7000
    assert not found.is_landing_page


def _list_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_all_recorded_articles_are_read(real_data: Path) -> None:
    files = [file for file in sorted((real_data / "html").glob("*.html")) if file.stat().st_size > 100_000]
    require_recordings(files)
    for file in files:
        found = read(file.read_bytes())
        assert found.word_count > 4000, file.name
        assert len(re.findall(r"(?m)^#+ ", found.markdown)) >= 8, file.name
        assert found.title, file.name
        assert not re.search(r"</?(div|span|script|a|p)\b", found.markdown), file.name


def test_a_recorded_page_that_blocks_programs_is_not_an_article(real_data: Path) -> None:
    content = (real_data / "html" / "biomcp__pmc3040717-supplementary-tables-pow.html").read_bytes()

    assert get_refusal(content) == "is a page that refuses programs, not the article"


@pytest.mark.parametrize(
    "text",
    [
        "Just a moment... Checking your browser before accessing.",
        "Please enable JavaScript and cookies to continue.",
        "Verify you are human by completing the action below.",
        "Access denied. Your request was blocked by our security service.",
        "Log in to access the full text of this article.",
    ],
)
def test_pages_with_a_login_or_a_paywall_are_not_articles(text: str) -> None:
    page = f"<html><head><title>Publisher</title></head><body><h1>Hello</h1><p>{text} {'Words of it. ' * 40}</p></body>"

    assert "refuses programs" in get_refusal(page.encode())


def test_an_article_about_paywalls_is_an_article() -> None:
    body = "<p>We asked participants to verify that you are human by solving a captcha.</p>"

    assert "captcha" in read(write_article(body=body, paragraphs=30)).markdown


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<html></html>", "almost no text"),
        (b"<html><body><p>Too few words.</p></body></html>", "almost no text"),
        (b"<", "almost no text"),
        (b"<html><body><script>x</script>", "almost no text"),
        (b"", "can be parsed"),
    ],
)
def test_a_page_with_very_little_text_is_not_an_article(content: bytes, reason: str) -> None:
    assert reason in get_refusal(content)


def test_a_page_about_an_article_names_the_pdf_and_is_recognised() -> None:
    head = '<meta name="citation_pdf_url" content="/articles/1.pdf">'
    abstract = f"<html><head>{head}</head><body><article><h1>T</h1><h2>Abstract</h2><p>{PARAGRAPH * 9}</p></article>"
    found = read(abstract.encode())

    assert found.is_landing_page
    assert found.pdf_url == "https://publisher.example/articles/1.pdf"
    assert not read(write_article(head=head, paragraphs=3)).is_landing_page  # short, but it has an introduction
    assert not read(write_article(head=head, paragraphs=30)).is_landing_page


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ('<meta name="citation_title" content="Of  mice">', "Of mice"),
        ('<meta property="og:title" content="Of mice &amp; men">', "Of mice & men"),
        ("", "An imaginary mouse"),
    ],
)
def test_the_title_is_that_of_the_article_and_not_of_the_window(head: str, title: str) -> None:
    assert read(write_article(head=head)).title == title


@pytest.mark.parametrize(
    ("encoding", "named", "charset"),
    [
        ("utf-8", "", None),
        ("utf-8", "iso-8859-1", "iso-8859-1"),
        ("iso-8859-1", "iso-8859-1", None),
        ("windows-1252", "", None),
        ("iso-8859-2", "", "ISO-8859-2"),
        ("utf-16", "", None),
        ("shift_jis", "Shift_JIS", None),
        ("windows-1252", "no-such-encoding", "nor-this"),
    ],
)
def test_letters_are_read_in_any_encoding(encoding: str, named: str, charset: str | None) -> None:
    word = "細胞" if encoding == "shift_jis" else "Škoda" if encoding == "iso-8859-2" else "naïveté"
    text = write_article(body=f"<p>The word {word} stands here for all of them.</p>").decode()
    text = text.replace("<meta charset='utf-8'>", f"<meta charset='{named}'>" if named else "")

    assert word in read(text.encode(encoding), charset).markdown


def test_text_hidden_in_scripts_and_comments_is_not_read() -> None:
    body = "<script>var a = 'secretscript';</script><!-- secretcomment --><style>.secretstyle{}</style>"

    assert "secret" not in read(write_article(body=body)).markdown


def test_a_page_of_too_many_elements_is_refused_quickly() -> None:
    started = time.process_time()

    assert "elements" in get_refusal(b"<html><body>" + b"<p>word</p>" * 100_000)
    assert time.process_time() - started < 5


def test_deep_nesting_ends_in_a_refusal() -> None:
    started = time.process_time()

    assert get_refusal(b"<html><body>" + b"<div>" * 50_000 + b"x")
    assert time.process_time() - started < 5


def test_a_page_of_too_many_bytes_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_HTML_BYTES", 100)

    assert "the limit is 100" in get_refusal(write_article())


def test_entities_of_a_page_read_nothing(tmp_path: Path) -> None:
    file = tmp_path / "secret.txt"
    file.write_text("secret words", encoding="utf-8")
    doctype = f'<!DOCTYPE html [<!ENTITY x SYSTEM "file://{file}">]>'

    assert (
        "secret words"
        not in read(write_article(body="<p>&x;</p>").replace(b"<!DOCTYPE html>", doctype.encode())).markdown
    )


@pytest.mark.long
@pytest.mark.parametrize("attribute", ["a{}=x", "a{}", "a{}='x>'", 'a{}=">"', "/a{}", "a{}=<b"])
def test_a_page_with_very_many_attributes_is_refused_quickly(attribute: str) -> None:
    many = " ".join(attribute.format(number) for number in range(100_000))
    started = time.process_time()

    assert "attributes" in get_refusal(write_article(body=f"<p {many}>x</p>"))
    assert time.process_time() - started < 3


def test_an_inline_image_is_one_attribute() -> None:
    picture = f"""<img src="data:image/svg+xml,{"<g/> " * 20_000}" alt='{"a=b " * 20_000}'>"""

    assert "forty nights" in read(write_article(body=picture)).markdown


@pytest.mark.parametrize("heading", ["." * 200_000, "1." * 100_000, "# " * 100_000, "." * 100 + "\n# ." * 20_000])
def test_headings_of_dots_are_read_quickly(heading: str) -> None:
    page = WebPage(None, f"# {heading}", 10, "https://x.invalid/a.pdf")
    started = time.process_time()
    assert page.is_landing_page
    assert time.process_time() - started < 5
    assert not WebPage(None, f"{page.markdown}\n## 2.1 Discussion\n", 10, "https://x.invalid/a.pdf").is_landing_page


def test_superscripts_of_a_page_are_raised_and_labels_separated() -> None:
    words = " ".join(f"word{number}" for number in range(200))
    html = (
        f"<html><body><article><h1>On 10<sup>6</sup> cells</h1><p>{words}</p><p>10<sup>5</sup> cells in "
        "H<sub>2</sub>O with Ca<sup>2+</sup>, Transport<sup>a</sup></p><table><tr><td>10<sup>6</sup></td>"
        "<td>b</td></tr></table><p><b>Figure 1.</b>Score plot</p></article></body></html>"
    )
    page = convert_html_to_markdown(html.encode(), "https://x.invalid/")

    assert page.title == "On 10⁶ cells"
    assert "10⁵ cells in H₂O with Ca²⁺, Transport ᵃ" in page.markdown
    assert "| 10⁶ |" in page.markdown
    assert "**Figure 1.** Score plot" in page.markdown


@pytest.mark.parametrize("hidden", ["\x1b", "\x07", "\x01", "\x0c", "\ufffe", "&#27;", "&#xFFFF;", "&#0;"])
def test_a_character_that_xml_does_not_allow_does_not_lose_the_page(hidden: str) -> None:
    words = "".join(f"<p>{' '.join(write_prose(60, 60 * number))}.</p>" for number in range(10))
    page = f"<html><body><article><h2>Introduction</h2>{words}<p>one{hidden}word</p></article></body></html>"

    text = convert_html_to_markdown(page.encode(), "https://example.org/").markdown

    assert "word599x" in text
    assert not {"\x1b", "\x07", "\x01", "\ufffe", "\uffff", "\x00"} & set(text)

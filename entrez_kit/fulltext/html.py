"""Convert a publisher's HTML page to Markdown: the article with headings, lists and tables, without menus."""

import logging
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urljoin

from entrez_kit.base.errors import UpstreamError
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.markup import END, SUBSCRIPT, SUPERSCRIPT, XML_ENCODING, write_scripts

MAX_HTML_BYTES: Final = 20_000_000
MAX_ELEMENTS: Final = 30_000
"""Parsing time grows faster than the number of elements: some seconds for this many. Articles have some thousands."""

MAX_ATTRIBUTES: Final = 5000
"""The library compares each attribute of an element with every other one."""

MIN_WORDS: Final = 50
"""A page with fewer words is not an article."""

WALL_WORDS: Final = 400
"""A page with fewer words about robots, scripts or cookies is an access check, not the article."""

LANDING_WORDS: Final = 600
"""A page with fewer words, a link to the PDF and no sections of an article shows only the abstract."""

_WALL: Final = re.compile(
    r"\b(captcha|recaptcha|are you (a )?(human|robot)|not a robot|verif(y|ying) (that )?you(r browser)?\b"
    r"|just a moment|checking your browser|attention required|security (check|verification)|unusual (traffic|activity)"
    r"|enable (javascript|cookies)|javascript (is|must be|and cookies)|cookies (are|must be|to be) (disabled|enabled)"
    r"|access (to this page )?(is |has been )?denied|preparing to download|request (was )?blocked|ddos protection"
    r"|automated (access|requests|queries)|cloudflare|incapsula|log ?in to (access|continue|view)|institutional login"
    r"|page not found|404 error|purchase (access|this article)|get access to the full)",
    re.IGNORECASE,
)
_SECTION: Final = re.compile(
    r"^#{1,6}(?>(?:[^\w\n]|[0-9_]){0,60})(introduction|discussion|references|acknowledge?ments?|main text)\b",
    re.IGNORECASE | re.MULTILINE,
)
_ATTRIBUTE: Final = r"[^\s/>=]++(?>(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+))?)"
_TAG: Final = re.compile(rf"<[a-zA-Z][^\s/>]*+((?>(?:[\s/=]++|{_ATTRIBUTE})*))")
_META_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*+=\s*+[\"']?\s*+([A-Za-z0-9._:-]{2,40})", re.IGNORECASE)
_RULE: Final = r"\|(?:-+\|)+\n"
_CAPTION_ROW: Final = re.compile(rf"^\|([^|\n]*+)\|(?>(?: *\|)+)\n{_RULE}(\|[^\n]*\n{_RULE})", re.MULTILINE)
_NEEDLESS: Final = (
    (re.compile(r"(?<!\\)\\\[([^\[\]\\\n]{0,300})\\\](?![(:\[])"), r"[\1]"),
    (re.compile(r"(?<!\\)\\<(?![A-Za-z/!?])"), "<"),
    (re.compile(r"(?<=[^\W_])\\_(?=[^\W_])"), "_"),
    (re.compile(r"(?<![\\~])\\~(?![\\~])"), "~"),
)
_GLUED_LABEL: Final = re.compile(r"(?m)^(\*\*(?:Table|Figure|Fig\.|Scheme|Box) [^*\n]{1,20}[.:]\*\*)(?=\w)")
_BLOCKS: Final = ("p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol")
_SUPERSCRIPT, _SUBSCRIPT, _END = "\ua9c1", "\ua9c2", "\u169c"
_MARKS: Final = {ord(_SUPERSCRIPT): SUPERSCRIPT, ord(_SUBSCRIPT): SUBSCRIPT, ord(_END): END}
"""Rare letters that replace the script marks in the tree, which cannot hold the marks themselves."""
_REMOVED: Final = dict.fromkeys((*_MARKS, *range(9), 0xB, 0xC, *range(0xE, 0x20), 0xFFFE, 0xFFFF))
"""The marks, and the characters that XML forbids: the library returns no text for a page with one of them."""
_CHARACTER_REFERENCE: Final = re.compile(r"&#(?:[xX]([0-9a-fA-F]{1,20})|([0-9]{1,20}));?")
_WORD: Final = re.compile(r"\w+(?:['’.-]\w+)*")


@dataclass(frozen=True, slots=True)
class WebPage:
    """An article read from a page; ``pdf_url`` is the page's own link to the PDF."""

    title: str | None
    markdown: str
    word_count: int
    pdf_url: str | None = None

    @property
    def is_landing_page(self) -> bool:
        """Whether the page describes an article instead of showing it."""
        has_sections = bool(_SECTION.search(self.markdown))
        return self.word_count < LANDING_WORDS and self.pdf_url is not None and not has_sections


def convert_html_to_markdown(content: bytes, url: str, charset: str | None = None) -> WebPage:
    """Read the article out of a page.

    Args:
        content: the page.
        url: its address.
        charset: the encoding in the server's header.

    Raises:
        UpstreamError: the page has no article; reason parse_failed.
    """
    if len(content) > MAX_HTML_BYTES:
        raise unreadable_error(f"is a page of {format_count(len(content), 'byte')} (the limit is {MAX_HTML_BYTES:,})")
    import trafilatura

    silence("trafilatura", "justext", "courlan", "htmldate")  # their warnings about odd pages do not help users
    root = _parse_html(_decode(content, charset))
    title, pdf_url = _find_title(root), _find_pdf_url(root, url)
    _keep_figures(root)
    markdown: str = (
        trafilatura.extract(
            root,
            output_format="markdown",
            include_comments=False,
            include_formatting=True,
            include_images=False,
            include_links=False,
            include_tables=True,
            favor_recall=True,
            with_metadata=False,
        )
        or ""
    )
    markdown = _tidy(markdown)
    word_count = count_words(markdown)
    if word_count < WALL_WORDS and _WALL.search(f"{title or ''}\n{markdown}"):
        raise unreadable_error("is a page that refuses programs, not the article", words=word_count, pdf_url=pdf_url)
    if word_count < MIN_WORDS:
        problem = f"is a page with almost no text ({format_count(word_count, 'word')})"
        raise unreadable_error(problem, words=word_count, pdf_url=pdf_url)
    return WebPage(title, markdown, word_count, pdf_url)


def count_words(text: str) -> int:
    """Count words and numbers; punctuation and table marks do not count."""
    return sum(1 for _ in _WORD.finditer(text))


def silence(*names: str) -> None:
    """Set loggers of libraries to CRITICAL, unless their level is already set."""
    for name in names:
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.CRITICAL)


def _decode(content: bytes, charset: str | None) -> str:
    """Decode a page: as UTF-8 if valid, otherwise by the server's header, the page's declaration, or windows-1252."""
    for mark, encoding in ((BOM_UTF8, "utf-8-sig"), (BOM_UTF16_LE, "utf-16"), (BOM_UTF16_BE, "utf-16")):
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    with suppress(UnicodeDecodeError):
        return content.decode("utf-8")
    head = content[:4096]
    named = _META_CHARSET.search(head) or XML_ENCODING.match(head.lstrip())
    for name in (charset, named[1].decode("ascii") if named else None, "windows-1252"):
        if name and name.lower() not in ("utf-8", "utf8"):
            with suppress(LookupError, ValueError):
                return content.decode(name, "replace")
    return content.decode("utf-8", "replace")


def _parse_html(text: str) -> Any:
    from lxml import etree, html

    # Remove the XML declaration, because the text is already decoded.
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text).translate(_REMOVED)
    text = _CHARACTER_REFERENCE.sub(_remove_reference, text)
    long = (tag[1] for tag in _TAG.finditer(text) if len(tag[1]) > 2 * MAX_ATTRIBUTES)
    if any(sum(1 for _ in re.finditer(_ATTRIBUTE, tag)) > MAX_ATTRIBUTES for tag in long):
        raise unreadable_error(f"is a page with more than {MAX_ATTRIBUTES:,} attributes on one element")
    parser = html.HTMLParser(remove_comments=True, remove_pis=True, no_network=True)
    try:
        root = html.document_fromstring(text, parser=parser)
    except (etree.LxmlError, ValueError, RecursionError):
        root = None
    if root is None:
        raise unreadable_error("is not a page that can be parsed")
    _mark_scripts(root)
    etree.strip_elements(root, "script", "style", "svg", "noscript", "template", with_tail=False)
    elements = sum(1 for _ in root.iter())
    if elements > MAX_ELEMENTS:
        raise unreadable_error(f"is a page of {format_count(elements, 'element')} (the limit is {MAX_ELEMENTS:,})")
    return root


def _remove_reference(match: re.Match[str]) -> str:
    """Return a character reference, or nothing if XML forbids its character."""
    number = int(match[1], 16) if match[1] else int(match[2])
    return "" if number in _REMOVED else match[0]


def _mark_scripts(root: Any) -> None:
    """Replace the tags of superscripts and subscripts by marks."""
    from lxml import etree

    for element in root.iter("sup", "sub"):
        mark = _SUPERSCRIPT if element.tag == "sup" else _SUBSCRIPT
        element.text = f"{mark}{element.text or ''}"
        element.tail = f"{_END}{element.tail or ''}"
    etree.strip_tags(root, "sup", "sub")


def _keep_figures(root: Any) -> None:
    """Rename figures, because the library removes them with their headings and captions.

    Links to the picture are removed, and links in captions become text: the library removes a short part with links.
    """
    for figure in list(root.iter("figure")):
        for link in list(figure.iter("a")):
            text, block = _squeeze(link), link.getparent()
            is_caption = any(node.tag == "figcaption" for node in (block, *block.iterancestors()))
            if not text or (text == _squeeze(block) and not is_caption):
                link.drop_tree()
            else:
                link.drop_tag()
        figure.tag = "div"
    for caption in list(root.iter("figcaption")):
        caption.tag = "div" if len(caption) and caption[0].tag in _BLOCKS else "p"


def _squeeze(element: Any) -> str:
    return "".join(element.text_content().split())


def _convert_scripts(text: str) -> str:
    """Convert the marked superscripts and subscripts of a text, line by line."""
    return "\n".join(write_scripts(line.translate(_MARKS)) for line in text.split("\n"))


def _find_meta(root: Any, *names: str) -> str | None:
    for wanted in names:
        for element in root.iter("meta"):
            name = element.get("name") or element.get("property") or ""
            content = " ".join((element.get("content") or "").split())
            if name.lower() == wanted and content:
                return content
    return None


def _find_title(root: Any) -> str | None:
    title = _find_meta(root, "citation_title", "dc.title", "og:title")
    for name in ("h1", "title"):
        for element in root.iter(name) if title is None else ():
            title = " ".join(element.text_content().split()) or None
            if title:
                break
    return _convert_scripts(title[:1000]) if title else None


def _find_pdf_url(root: Any, url: str) -> str | None:
    address = _find_meta(root, "citation_pdf_url")
    try:
        return urljoin(url, address) if address else None
    except ValueError:
        return None


def _tidy(markdown: str) -> str:
    """Normalize white space, move captions before their tables, and remove needless backslashes.

    The library escapes every character that may be Markdown. Many need no escape: a reference such as [12] without an
    address, P<0.001, or an underscore within a word.
    """
    lines = [line.rstrip() for line in markdown.replace("\r\n", "\n").split("\n")]
    lines = _convert_scripts("\n".join(lines)).split("\n")
    text = _CAPTION_ROW.sub(lambda row: f"{row[1].strip()}\n\n{row[2]}", "\n".join(lines))
    for pattern, plain in _NEEDLESS:
        text = pattern.sub(plain, text)
    text = _GLUED_LABEL.sub(r"\1 ", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def unreadable_error(problem: str, **details: object) -> UpstreamError:
    """Return the error for a page or PDF that was fetched but has no usable text.

    Args:
        problem: the problem, in words that follow "it".
        details: more details.
    """
    return UpstreamError(
        f"The copy cannot be used: it {problem}",
        recovery_hint="Open the address in a browser.",
        details={"reason": "parse_failed", "what": problem, **details},
    )

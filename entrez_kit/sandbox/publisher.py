"""A publisher of invented articles: PDFs, pages with menus and banners around the text, and a page that blocks scripts.

Addresses: ``/publisher/{pmid}`` redirects to the page ``/publisher/{pmid}.html``; ``/publisher/{pmid}.pdf`` is the PDF;
``/publisher/{pmid}/download`` has the content type of a PDF but is a page that requires a browser.
"""

import re
from functools import cache
from string import Template
from textwrap import wrap
from typing import Final

from entrez_kit.base.markup import flatten_scripts
from entrez_kit.local.eutils.replies import HTML, LocalReply, answer_text
from entrez_kit.local.eutils.requesting import LocalRequest, LocalState
from entrez_kit.local.records.document import Document
from entrez_kit.local.records.fixture_files import read_fixtures
from entrez_kit.local.records.text import escape_attribute, escape_xml
from entrez_kit.sandbox.invented import LIST, NOTE, TABLE, invent_sections, render_sections

PATH: Final = "/publisher"
_WANTED: Final = re.compile(r"([0-9]{1,10})(|\.html|\.pdf|/download)")
_LINE: Final = 92
_LINES: Final = 52


def answer_publisher(request: LocalRequest, state: LocalState) -> LocalReply:
    """Answer a request for an article of the corpus."""
    match = _WANTED.fullmatch(request.rest)
    articles = state.pubmed.collection
    number = articles.find_number(match[1]) if match else None
    if match is None or number is None:
        return answer_text("404 Not Found\n", 404)
    if not match[2]:
        return LocalReply(b"", HTML, 302, (("Location", f"{match[1]}.html"),))
    if match[2] == "/download":
        return LocalReply(_read_page("wall.html").template.encode("utf-8"), "application/pdf")
    document = articles.read_document(number)
    if not choose_copies(document) or (match[2] == ".pdf" and not has_pdf(document)):
        return answer_text("404 Not Found\n", 404)
    if match[2] == ".pdf":
        return LocalReply(render_pdf(document), "application/pdf")
    return LocalReply(render_page(document).encode("utf-8"), HTML)


def choose_copies(document: Document) -> int:
    """Return the available copies: 0 none, 1 PDF and page, 2 page, 3 a blocked PDF and one in a repository."""
    return 1 if document.pmcid else int(document.pmid) % 4


def has_pdf(document: Document) -> bool:
    """Return whether the publisher has a PDF of an article."""
    return choose_copies(document) in (1, 3)


def render_page(document: Document) -> str:
    """Return an article as an HTML page."""
    title = escape_xml(document.title)
    text = render_sections(document, "section", "h2").replace("</section>", "</section>\n")
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in TABLE[1:])
    head = "".join(f"<th>{cell}</th>" for cell in TABLE[0])
    abstract = "".join(f"<p>{escape_xml(part)}</p>" for _, part in document.abstract)
    pdf_meta = f'<meta name="citation_pdf_url" content="{document.pmid}.pdf">' if has_pdf(document) else ""
    return _read_page("page.html").substitute(
        title=title,
        quoted=escape_attribute(document.title),
        doi=escape_attribute(document.doi),
        pdf_meta=pdf_meta,
        abstract=abstract,
        text=text,
        items="".join(f"<li>{item}</li>" for item in LIST),
        head=head,
        rows=rows,
    )


@cache
def _read_page(name: str) -> Template:
    return Template(read_fixtures("publisher", name)[0].decode())


def render_pdf(document: Document) -> bytes:
    """Return an article as a PDF with one column of text."""
    lines = [*_wrap(document.title), "", *_wrap(NOTE), ""]
    for name, text in (("Abstract", tuple(part for _, part in document.abstract)), *invent_sections(document)):
        if text:
            lines += [
                name,
                *(line for paragraph in text for line in _wrap(paragraph)),
                "",
            ]
    pages = [lines[at : at + _LINES] for at in range(0, len(lines), _LINES)]
    first = 4
    kids = " ".join(f"{first + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for at, shown in enumerate(pages):
        stream = b"BT /F1 10 Tf 14 TL 50 780 Td\n" + b"".join(_draw(line) for line in shown) + b"ET"
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
            b"/Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % (first + 2 * at + 1)
        )
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream))
    objects.append(b"<< /Title (%b) >>" % _escape(document.title))
    return _build_file(objects)


def _build_file(objects: list[bytes]) -> bytes:
    """Return a PDF file with these objects and their cross-reference table; the last object contains the title."""
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size, info = len(objects) + 1, len(objects)
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, info, table)
    return bytes(out)


def _draw(line: str) -> bytes:
    return b"(%b) Tj T*\n" % _escape(line)


def _escape(text: str) -> bytes:
    """Escape a text for a PDF string; characters outside the encoding of the font become question marks."""
    plain_text = (
        flatten_scripts(text).replace("≥", ">=").replace("≤", "<=").replace("−", "-").encode("cp1252", "replace")
    )
    return plain_text.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)").replace(b"\n", b" ")


def _wrap(text: str) -> list[str]:
    return wrap(text, _LINE, break_long_words=False, break_on_hyphens=False) or [""]

"""Valid and invalid PDFs for tests."""

import zlib
from collections.abc import Sequence
from io import BytesIO

from pypdf import PdfReader, PdfWriter

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"


def write_pdf(*pages: Sequence[str], title: str = "") -> bytes:
    """Return a PDF with these lines on its pages."""
    streams = [
        b"BT /F1 10 Tf 14 TL 50 780 Td " + b"".join(b"(%b) Tj T*\n" % _escape_text(line) for line in lines) + b"ET"
        for lines in pages
    ]
    return draw_pdf(*streams, title=title)


def draw_pdf(*streams: bytes, title: str = "", packed: bool = False) -> bytes:
    """Return a PDF whose pages have these drawing operations."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * at) for at in range(len(streams)))
    objects = [CATALOG, b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, len(streams)), FONT]
    for at, stream in enumerate(streams):
        body = zlib.compress(stream) if packed else stream
        how = b"/Filter /FlateDecode" if packed else b""
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
            b"/Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % (5 + 2 * at)
        )
        objects.append(b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(body), how, body))
    objects.append(b"<< /Title (%b) >>" % _escape_text(title))
    return assemble_pdf(objects, b"/Root 1 0 R /Info %d 0 R" % len(objects))


def assemble_pdf(objects: Sequence[bytes], trailer: bytes = b"/Root 1 0 R") -> bytes:
    """Return numbered objects as a file."""
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table, size = len(out), len(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size + b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d %b >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, table)
    return bytes(out)


def encrypt_pdf(content: bytes, *, user: str, algorithm: str) -> bytes:
    """Return a PDF locked with passwords."""
    writer = PdfWriter()
    writer.append_pages_from_reader(PdfReader(BytesIO(content)))
    writer.encrypt(user, owner_password="owner", algorithm=algorithm)
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def write_prose(words: int, start: int = 0) -> list[str]:
    """Return lines of ten words, no word twice."""
    return [
        " ".join(f"word{n}x" for n in range(at, min(at + 10, start + words))) for at in range(start, start + words, 10)
    ]


def _escape_text(text: str) -> bytes:
    return text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")

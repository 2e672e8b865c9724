"""Files that are not text are named, by their beginning and their suffix."""

import pytest

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.file_kinds import detect_file_kind
from entrez_kit.references.files.reference_files import decode_file
from entrez_kit.strategies.strategy_text import read_strategy_text

KINDS = [
    (b"%PDF-1.4\n", "x.pdf", "a PDF"),
    (b"%PDF-1.4\n", "x.bib", "a PDF"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1", "x.docx", "old format"),
    (b"PK\x03\x04junk", "x.xlsx", "an Excel workbook"),
    (b"PK\x03\x04junk", "x.zip", "a ZIP archive"),
    (b"PK\x03\x04junk", "x.ris", "a ZIP archive or an Office document"),
    (b"\x1f\x8b\x08", "x.nbib.gz", "a gzip archive"),
    (b"\x89PNG\r\n\x1a\n", "x.png", "an image"),
    (b"\xff\xd8\xff\xe0", "x.txt", "an image"),
    (b"{\\rtf1 text}", "x.rtf", "rich text"),
    (b"\n<!DOCTYPE html><html>", "x.txt", "a web page"),
]


@pytest.mark.parametrize(("content", "name", "kind"), KINDS)
def test_a_file_that_is_not_text_is_named(content: bytes, name: str, kind: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        decode_file(content, name)

    assert caught.value.message.startswith(f"{name}: this is not a text file, but ")
    assert kind in caught.value.message


@pytest.mark.parametrize("text", ["TY  - JOUR", "<PubmedArticleSet>", "@article{a}", "PK is short", "GIF is a format"])
def test_text_is_not_a_file_of_another_kind(text: str) -> None:
    assert detect_file_kind(text.encode(), "x.docx") is None
    assert decode_file(text.encode(), "x.docx").text == text


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"PK\x03\x04junk", "x.docx", "this Word document cannot be opened: the file is damaged"),
        (bytes(range(256)), "x.docx", "neither a text file nor a Word document; the file may be damaged"),
        (bytes(range(256)), "x.pdf", "neither a text file nor a PDF; the file may be damaged"),
        (b"%PDF-1.4", "x.pdf", "this is not a text file, but a PDF"),
        (b"PK\x03\x04junk", "x.xlsx", "this is not a text file, but an Excel workbook"),
        (b"PK\x03\x04junk", "x.zip", "this is not a text file, but a ZIP archive"),
        (b"\xd0\xcf\x11\xe0", "x.doc", "Word or Excel file of the old format"),
    ],
)
def test_a_damaged_file_of_a_strategy_is_named_with_its_kind(content: bytes, name: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_strategy_text(content, name)

"""The text of PDFs: recorded ones, and invented ones that are damaged, locked, empty or hostile."""

import time
import zlib
from pathlib import Path

import pytest
from pdf_files import CATALOG, assemble_pdf, draw_pdf, encrypt_pdf, write_pdf, write_prose
from used_recordings import require_recordings

from entrez_kit.base.errors import UpstreamError
from entrez_kit.fulltext import pdf as module
from entrez_kit.fulltext.pdf import join_hyphenated, read_pdf


def get_refusal(content: bytes, seconds: float = 10) -> str:
    """Return the reason why a file cannot be read."""
    with pytest.raises(UpstreamError) as caught:
        read_pdf(content, seconds=seconds)
    assert caught.value.reason == "parse_failed"
    assert not caught.value.retryable
    return str(caught.value.details["what"])


def test_every_word_of_a_pdf_is_read_in_order() -> None:
    found = read_pdf(write_pdf(write_prose(120), write_prose(60, 120), title="A small (but real) PDF"))

    assert found.text.split() == [f"word{n}x" for n in range(180)]
    assert (found.total_pages, found.word_count, found.title) == (2, 180, "A small (but real) PDF")


@pytest.mark.long
def test_the_words_of_recorded_articles_are_read(real_data: Path) -> None:
    files = sorted((real_data / "pdf").glob("*.pdf"))
    require_recordings(files)
    for file in files:
        found = read_pdf(file.read_bytes())
        assert found.total_pages >= 5, file.name
        assert found.word_count > 4000, file.name
        assert found.title, file.name
        assert "Abstract" in found.text, file.name
        assert "References" in found.text, file.name
        assert not any(line != line.strip() for line in found.text.split("\n")), file.name


def test_words_split_at_the_end_of_a_line_are_joined() -> None:
    lines = ["Smokers among the un-", "employed were re-", "cruited from well-", "known and well-known", "practices."]
    found = read_pdf(write_pdf([*write_prose(60), *lines]))

    assert "the unemployed were recruited from well-known and well-known\npractices." in found.text


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("contribut-\ning factors", "contributing factors"),
        ("the self-\nreport was a self-report", "the self-report was a self-report"),
        ("a soft\u00ad\nhyphen", "a softhyphen"),
        ("Smith-\nJones", "Smith-Jones"),
        ("IL-\nTwo", "IL-\nTwo"),
        ("ranges 10-\n20", "ranges 10-\n20"),
        ("COVID-\n19", "COVID-\n19"),
        ("a dash -\nand more", "a dash -\nand more"),
        ("p-\nvalue", "p-\nvalue"),
    ],
)
def test_hyphens_of_a_word_stay(text: str, joined: str) -> None:
    assert join_hyphenated(text) == joined


def test_joining_takes_linear_time_for_a_text_without_spaces() -> None:
    started = time.process_time()
    join_hyphenated("ACGT" * 500_000)

    assert time.process_time() - started < 2


def test_ligatures_and_unusual_spaces_become_plain_letters() -> None:
    # The font of draw_pdf does not have these characters.
    assert module._clean("\ufb01nal\u00a0 e\ufb03cacy\x00 \ud800\n\n\n\nend") == "final efficacy \ufffd\n\nend"


@pytest.mark.parametrize(
    ("title", "shown"),
    [("A trial of sleep", "A trial of sleep"), ("Microsoft Word - draft7.docx", None), ("untitled", None), ("", None)],
)
def test_an_invalid_title_is_omitted(title: str, shown: str | None) -> None:
    assert read_pdf(write_pdf(write_prose(80), title=title)).title == shown


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_pdf_with_a_password_is_reported_as_locked(algorithm: str) -> None:
    assert (
        get_refusal(encrypt_pdf(write_pdf(write_prose(80)), user="secret", algorithm=algorithm))
        == "is an encrypted PDF"
    )


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_pdf_with_an_empty_password_is_read(algorithm: str) -> None:
    assert read_pdf(encrypt_pdf(write_pdf(write_prose(80)), user="", algorithm=algorithm)).word_count == 80


def test_a_scanned_pdf_has_no_text() -> None:
    picture = b"q 500 0 0 700 40 40 cm 0.5 g 0 0 1 1 re f Q"

    assert "most likely it was scanned" in get_refusal(draw_pdf(picture, picture))
    cover = b"BT /F1 10 Tf 50 780 Td " + b"(This article was scanned by a library.) Tj T* " * 20 + b"ET"
    assert get_refusal(draw_pdf(cover, *[picture] * 9)).startswith("is a PDF with 9 pages of 10 without text")


def test_an_unreadable_page_is_marked_in_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    # With this limit, a small figure is too large.
    monkeypatch.setitem(module._LIMITS, "stream_parsing_work_maximum_count", 5_000)
    figure = b"0 0 m 1 1 l S " * 2_000
    text = [b"BT /F1 10 Tf 50 780 Td (" + " ".join(write_prose(60)).encode() + b") Tj ET"] * 5

    found = read_pdf(draw_pdf(*text[:3], figure, *text[3:]))
    assert "[Page 4 of this PDF could not be read.]" in found.text
    assert (found.total_pages, found.word_count) == (6, 300)
    assert get_refusal(draw_pdf(text[0], figure)) == "is a PDF with 1 unreadable page of 2"


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
def test_an_incomplete_pdf_is_refused(share: float) -> None:
    whole = write_pdf(write_prose(200), write_prose(200))

    assert get_refusal(whole[: int(len(whole) * share)]) == "is a damaged PDF"


@pytest.mark.parametrize("content", [b"", b"<html>not a PDF</html>", b'{"error": "no PDF"}', b"x" * 3000 + b"%PDF-1.4"])
def test_a_file_that_is_not_a_pdf_is_reported_as_one(content: bytes) -> None:
    assert get_refusal(content) == "is not a PDF"


def test_bytes_before_a_pdf_are_ignored() -> None:
    assert read_pdf(b"junk\r\n" * 20 + write_pdf(write_prose(80))).word_count == 80


HOSTILE = {
    "a stream that unpacks to thirty megabytes": draw_pdf(b"0 " * 15_000_000, packed=True),
    "operations without end": draw_pdf(b"BT /F1 1 Tf " + b"(a) Tj " * 600_000 + b"ET", packed=True),
    "arrays in arrays": draw_pdf(b"[" * 100_000),
    "dictionaries in dictionaries": assemble_pdf([CATALOG, b"<< /A " * 50_000]),
    "pages that contain themselves": assemble_pdf([CATALOG, b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"]),
    "a count of pages that are not there": assemble_pdf([CATALOG, b"<< /Type /Pages /Kids [] /Count 2000000000 >>"]),
    "one page a hundred thousand times": assemble_pdf(
        [CATALOG, b"<< /Type /Pages /Kids [%b] /Count 100000 >>" % (b"3 0 R " * 100_000), b"<< /Type /Page >>"]
    ),
    "a table that leads back to itself": assemble_pdf([CATALOG, b"<< /Type /Pages >>"], b"/Root 1 0 R /Prev 9"),
    "no root": assemble_pdf([b"<<>>"], b""),
    "noise": b"%PDF-1.4\n" + zlib.compress(bytes(range(256)) * 4000) * 20,
    "objects without end": b"%PDF-1.4\n" + b"1 0 obj\n<<>>\nendobj\n" * 100_000 + b"trailer<</Root 1 0 R>>\n%%EOF",
}


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_pdf_is_refused_quickly(name: str) -> None:
    started = time.process_time()
    get_refusal(HOSTILE[name])

    assert time.process_time() - started < 8


@pytest.mark.long
def test_reading_ends_at_its_time_limit() -> None:
    started = time.monotonic()
    busy = draw_pdf(*[b"BT /F1 1 Tf " + b"(a) Tj " * 40_000 + b"ET"] * 30, packed=True)

    assert get_refusal(busy, seconds=0.5) == "is a PDF that takes longer than 0.5 s to read"
    assert time.monotonic() - started < 5


def test_a_pdf_of_too_many_pages_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PAGES", 3)

    assert get_refusal(write_pdf(*[write_prose(60)] * 4)) == "is a PDF of 4 pages (the limit is 3)"

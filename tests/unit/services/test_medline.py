"""MEDLINE text split into records."""

from pathlib import Path

import pytest
from Bio import Medline
from used_recordings import list_recordings

from entrez_kit.services.flat_files import read_medline

ONE = b"PMID- 99000001\nOWN - NLM\nTI  - Invented\n      PMID- 5 is only text here\nAB  - One.\nSO  - J. 2024.\n"
TWO = b"PMID- 99000002\nSTAT- Publisher\nPT  - Book\nSO  - K. 2024.\n"


@pytest.mark.parametrize("before", [b"", b"\n", b"\r\n\r\n"])
@pytest.mark.parametrize("between", [b"\n", b"\n\n"])
def test_records_have_their_unchanged_bytes(before: bytes, between: bytes) -> None:
    assert read_medline(before + ONE + between + TWO) == [("99000001", ONE), ("99000002", TWO)]


def test_windows_line_ends_stay() -> None:
    text = (ONE + b"\n" + TWO).replace(b"\n", b"\r\n")

    assert read_medline(text) == [
        ("99000001", ONE.replace(b"\n", b"\r\n")),
        ("99000002", TWO.replace(b"\n", b"\r\n")),
    ]


def test_a_remark_about_an_unknown_id_belongs_to_no_record() -> None:
    remark = b"\n2. id: 99999999 Error occurred: The following PMID is not available: 99999999\n"

    assert read_medline(b"\n" + ONE + remark + b"\n" + TWO) == [("99000001", ONE), ("99000002", TWO)]
    assert read_medline(remark) == []


def test_an_empty_reply_has_no_records() -> None:
    assert read_medline(b"") == []
    assert read_medline(b"\n\n") == []


def test_recorded_text_has_the_records_another_reader_finds(real_data: Path) -> None:
    for path in list_recordings(real_data / "efetch_medline"):
        content = path.read_bytes()
        with path.open(encoding="utf-8") as file:
            judged = [record["PMID"] for record in Medline.parse(file)]  # type: ignore[no-untyped-call]  # Bio has no annotations

        records = read_medline(content)

        assert [pmid for pmid, _ in records] == judged, path.name
        assert all(text.rstrip() in content for _, text in records)
        lost = content
        for _, text in records:
            lost = lost.replace(text.rstrip(), b"", 1)
        assert lost.strip() == b"", path.name

"""Text formats of records: complete and incomplete replies."""

from collections.abc import Callable

import pytest

from entrez_kit.base.errors import UpstreamError
from entrez_kit.services.flat_files import read_fasta, read_genbank, read_medline

MEDLINE = b"\nPMID- 99000001\nTI  - One\nSO  - J. 2024.\n\nPMID- 99000002\nTI  - Two \xce\xb1\nSO  - K. 2024.\n"
FASTA = b">ZZ900001.1 one\nACGT\nAC\n\n>ZZ900002.1 two\nACGT\n\n"
GENBANK = b"LOCUS       ZZ900001  6 bp\nORIGIN\n        1 acgtac\n//\n\nLOCUS       ZZ900002  4 bp\nORIGIN\n//\n\n"
FORMATS = [(read_medline, MEDLINE), (read_fasta, FASTA), (read_genbank, GENBANK)]


@pytest.mark.parametrize(("check", "text"), FORMATS)
def test_complete_texts_are_accepted(check: Callable[[bytes], object], text: bytes) -> None:
    check(text)


@pytest.mark.parametrize(("check", "text"), FORMATS)
def test_a_text_cut_inside_its_last_line_or_record_is_refused(check: Callable[[bytes], object], text: bytes) -> None:
    kept = text.rstrip()
    for cut in (kept[:-1], kept[: kept.rindex(b"\n") + 2], kept[: len(kept) // 4]):
        with pytest.raises(UpstreamError):
            check(cut)


@pytest.mark.parametrize(("check", "text"), FORMATS)
def test_a_repeated_or_damaged_text_is_refused(check: Callable[[bytes], object], text: bytes) -> None:
    middle = len(text) // 2
    for bad in (text + text, text[:middle] + b"\xff\xfe" + text[middle:], text[:middle] + b"\x00" + text[middle:]):
        with pytest.raises(UpstreamError):
            check(bad)


def test_a_remark_about_an_unknown_pmid_is_not_a_damaged_record() -> None:
    read_medline(b"id: 99999999 Error occurred: The following PMID is not available: 99999999\n")
    with pytest.raises(UpstreamError):
        read_medline(b"TI  - A title without a PMID\n")

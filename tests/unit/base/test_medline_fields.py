"""The lines of MEDLINE text, for `check` and for local copies."""

from pathlib import Path

import pytest

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.medline_fields import MedlineLineError, read_fields, split_records
from entrez_kit.local import read_nbib as local_reader
from entrez_kit.pubmed.xml.records import read_records
from entrez_kit.references.files.read_nbib import read_nbib

CONTINUED = [
    "PMID- 1\nTI  - One\n    two\n",
    "PMID- 1\nTI  - One\n      two\n",
    "PMID- 1\nTI  -\n      One\n      two\n",
    "PMID-1\nTI-One two\n",
    "PMID- 1\nTI  - One\n\n      two\n",
    "\n \nPMID- 1\nTI  - One two\n\n\n",
]
WRONG = [
    ("PMID- 1\n   TI  - One\n", 2),
    ("PMID- 1\nT1  - One\n", 2),
    ("PMID- 1\nTI  - One\n\ntwo\n", 4),
    ("      One\nPMID- 1\n", 1),
]


def test_fields_have_their_values_and_lines() -> None:
    text = "PMID- 1\nTI  - One\n      two\n\n\nPMID- 2\nCOIS-  None.\n"

    assert list(read_fields(text.split("\n"))) == [
        ("PMID", "1", 1),
        ("TI", "One two", 2),
        ("", "", 4),
        ("PMID", "2", 6),
        ("COIS", "None.", 7),
    ]


@pytest.mark.parametrize("text", CONTINUED)
def test_both_readers_read_the_same_title(text: str) -> None:
    (reference,) = read_nbib(text, "a.nbib").references
    (event,) = local_reader.read_nbib([text.encode()], Path("a.nbib"))

    assert (reference.pmid, reference.title) == ("1", "One two")
    assert event.raw is not None
    (record,) = read_records(b"<PubmedArticleSet>" + event.raw + b"</PubmedArticleSet>")
    assert record.article().title == "One two"


@pytest.mark.parametrize(("text", "line"), WRONG)
def test_both_readers_refuse_the_same_line(text: str, line: int) -> None:
    with pytest.raises(MedlineLineError) as found:
        list(read_fields(text.splitlines()))
    with pytest.raises(InvalidInput) as checked:
        read_nbib(text, "a.nbib")
    with pytest.raises(InvalidInput) as imported:
        list(local_reader.read_nbib([text.encode()], Path("a.nbib")))

    assert found.value.line == checked.value.details["line"] == imported.value.details["line"] == line


RECORDS = [
    ("PMID- 1\nTI  - One\nPMID- 2\nTI  - Two\n", [1, 3]),
    ("PMID- 1\nTI  - One\n\nPMID- 2\nTI  - Two\n", [1, 4]),
    ("PMID- 1\nTI  - One\n\nDP  - 2019\nJT  - J\n", [1]),
    ("PMID- 1\nTI  - One\n\nTI  - Two\n", [1, 4]),
    ("\nTI  - One\n\nAB  - Text\n\nTI  - Two\n", [2, 6]),
    ("PMID- 1\nTI  - One\nTI  - Two\n", [1]),
    ("", []),
]


@pytest.mark.parametrize(("text", "lines"), RECORDS)
def test_records_begin_at_a_pmid_or_below_an_empty_line_at_a_repeated_tag(text: str, lines: list[int]) -> None:
    found = list(split_records(text.splitlines()))

    assert [record.line for record in found] == lines
    assert [field for record in found for field in record.fields] == [
        (field.tag, field.value) for field in read_fields(text.splitlines()) if field.tag
    ]


def test_a_record_without_a_pmid_is_refused_by_a_local_copy_and_not_added_to_the_record_above() -> None:
    text = "PMID- 1\nTI  - One\nDP  - 2019\n\nTI  - Two\nDP  - 2020\n"

    assert len(read_nbib(text, "x.nbib").references) == 2
    with pytest.raises(InvalidInput, match=r"x\.nbib.*5"):
        list(local_reader.read_nbib([text.encode()], Path("x.nbib")))

"""Identifiers in every form in which people store them."""

import io
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.identifiers import read_identifier
from entrez_kit.commands import _id_lists

SICI = "10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2"


def read_ids(content: bytes | str) -> list[str]:
    raw = content.encode() if isinstance(content, str) else content
    return list(_id_lists.read_identifiers(io.BytesIO(raw), "the test"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("99000001", ["99000001"]),
        ("1,2, 3\t4;5", ["1", "2", "3", "4", "5"]),
        ("PMID: 12 pmid:13 PMC123.1", ["PMID:12", "pmid:13", "PMC123.1"]),
        ("PMID 12 PMCID PMC13 doi 10.1000/x", ["PMID:12", "PMCID:PMC13", "doi:10.1000/x"]),
        ("doi: 10.1000/xyz", ["doi:10.1000/xyz"]),
        (SICI, [SICI]),
        (f"{SICI},99000001", [SICI, "99000001"]),
        ("10.1000/a,b;c,99000001,PMC12", ["10.1000/a,b;c", "99000001", "PMC12"]),
        ("10.1000/x,10.1000/y", ["10.1000/x", "10.1000/y"]),
        ("10.1000/x;doi:10.1000/y;https://doi.org/10.1/z", ["10.1000/x", "doi:10.1000/y", "https://doi.org/10.1/z"]),
        ("https://pubmed.ncbi.nlm.nih.gov/123/#abstract", ["https://pubmed.ncbi.nlm.nih.gov/123/#abstract"]),
        ('"123","456"', ["123", "456"]),
        ("# nothing here", []),
        ("12 # the first", ["12"]),
        ("  ", []),
    ],
)
def test_identifiers_of_a_line_are_separated(text: str, expected: list[str]) -> None:
    assert _id_lists.split_ids(text) == expected


PROSE = (
    "1. Doe J, Roe R. An invented trial of sleep. J Invent Results. 2021;12(3):201-12.",
    "Doe, J., & Roe, R. (2022). An invented trial of sleep. Journal of Invented Results, 12(3), 201-212.",
    "[3] J. Doe, Sleep, 2021, 12, 33",
    "1. 99000001",
    "(1) 99000001 99000002",
    "Sleep 2021",
    "2021;12:33-4",
    "Doe,2021",
    "PMID: 99000001 Doe J. Sleep",
    "see also 99000001",
    "99000001 nonsense",
    "=5 :6",
)
"""Lines with numbers that are not lists of identifiers."""


@pytest.mark.parametrize("prose", PROSE)
@pytest.mark.parametrize("before", ["", "99000001\n", "# mine\n\n99000001 PMC99000002\n"])
def test_text_is_rejected_with_its_line_and_no_number_in_it_is_an_identifier(prose: str, before: str) -> None:
    with pytest.raises(InvalidInput, match=f"the test, line {before.count(chr(10)) + 1}: .* is not an id") as caught:
        read_ids(f"{before}{prose}\n99000002\n")

    assert caught.value.details == {"reason": "not_identifiers", "line": before.count("\n") + 1}


@pytest.mark.parametrize("prose", PROSE)
def test_text_in_an_argument_a_cell_or_json_is_rejected_too(prose: str) -> None:
    cell = prose.replace('"', "")
    for content in (
        json.dumps([prose]),
        json.dumps({"pmid": prose}),
        json.dumps({"pmids": ["99000001", prose]}, indent=1),
        f'title\tpmid\nx\t"{cell}"\n',
    ):
        with pytest.raises(InvalidInput, match="is not an id"):
            read_ids(content)
    with pytest.raises(InvalidInput, match=r"The arguments: .* is not an id"):
        _id_lists.read_ids(["99000001", prose])


WORDS = ("99000001", "2021", "Doe", "J.", "12(3):201-12", "Sleep", "PMID:7", "1.")


def test_a_line_is_a_list_only_if_each_of_its_words_is_an_identifier() -> None:
    @given(st.lists(st.sampled_from(WORDS), min_size=2))
    @settings(max_examples=60, deadline=None)
    def check(words: list[str]) -> None:
        if set(words) <= {"99000001", "2021", "PMID:7"}:
            assert read_ids(" ".join(words)) == words
        else:
            with pytest.raises(InvalidInput):
                read_ids(" ".join(words))

    check()


def test_a_single_word_that_is_not_an_identifier_is_one_outcome() -> None:
    assert read_ids("99000001\nnonsense\n99000002\n") == ["99000001", "nonsense", "99000002"]


def test_the_name_of_a_reference_without_a_record_is_not_an_identifier() -> None:
    lines = [{"pmid": "5", "key": "1"}, {"input": "2", "key": "2", "status": "not_found", "error": {}}]

    assert read_ids("\n".join(json.dumps(line) for line in lines)) == ["5", "reference 2"]


def test_identifiers_of_csl_json_items_are_read_and_their_names_are_not() -> None:
    items = [{"id": "7", "type": "article", "author": [], "PMID": "99000001"}, {"id": 8, "DOI": "10.1000/x"}]

    assert read_ids(json.dumps(items)) == ["99000001", "10.1000/x"]
    with pytest.raises(InvalidInput, match="no PMID, PMCID or DOI"):
        read_ids(json.dumps([{"id": "7", "type": "book", "author": [{"family": "Doe"}]}]))


@pytest.mark.parametrize("value", [True, False, [True], {"pmid": True}, {"pmid": False, "id": 5}, {"pmids": [True]}])
def test_a_boolean_is_not_an_identifier(value: Any) -> None:
    with pytest.raises(InvalidInput, match="is not an identifier"):
        read_ids(json.dumps(value if isinstance(value, dict | list) else [value]))


@pytest.mark.parametrize(
    "content",
    [
        "#" * 100_000 + "\n99000001",
        ("#" * 500 + "\n") * 200 + "99000001",
        "pmid" + " " * 100_000 + "x",
        "pmid " * 20_000 + "x",
        "10.1000" * 20_000,
        "10.1000.1" * 20_000 + "/",
        "10.1000/a," * 20_000 + "b",
        "[" * 100_000,
        '{"pmid":' * 100_000,
        "1" * 200_000,
        '"' * 200_000,
        "pmid" + " " * 100_000 + "x\n1",
        "pmc" + " " * 100_000 + "x",
        "doi" + " " * 100_000 + "x",
        "[" + "1" * 100_000 + "]",
        "pubmed.ncbi.nlm.nih.gov/" + "/" * 100_000,
    ],
)
def test_hostile_lists_are_read_or_rejected_quickly(content: str) -> None:
    started = time.process_time()

    try:
        found = read_ids(content)
        assert all(len(_id_lists.split_ids(word)) <= 2 for word in found[:5])
        [read_identifier(word) for word in found[:5]]
    except InvalidInput:
        pass

    assert time.process_time() - started < 2


def test_order_and_duplicates_are_unchanged() -> None:
    assert read_ids("3\n1\n3\n2\n") == ["3", "1", "3", "2"]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_every_line_ending_is_accepted(ending: str) -> None:
    assert read_ids(ending.join(["1", "2", "", "3"])) == ["1", "2", "3"]


def test_byte_order_marks_are_not_part_of_an_identifier() -> None:
    assert read_ids(b"\xef\xbb\xbf1\n2") == ["1", "2"]
    assert read_ids("1\r\n2".encode("utf-16")) == ["1", "2"]


def test_bytes_that_are_not_text_are_rejected_with_their_line() -> None:
    with pytest.raises(InvalidInput, match="Line 2 of the test is not UTF-8") as caught:
        read_ids(b"1\n\xff\xfe\n")

    assert caught.value.details["reason"] == "not_text"
    with pytest.raises(InvalidInput, match="Line 1"):
        read_ids(b"\x00\x01")


def test_json_lines_give_their_pmid_and_failures_their_input() -> None:
    lines = [
        {"pmid": "1", "title": "A"},
        {"input": "10.1000/x", "status": "error", "error": {"code": "UPSTREAM_ERROR", "message": "..."}},
        {"pmid": 3},
    ]

    assert read_ids("\n".join(json.dumps(line) for line in lines)) == ["1", "10.1000/x", "3"]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"pmids": ["1", "2"]}, ["1", "2"]),
        ({"pmids": []}, []),
        ({"articles": [{"pmid": "1"}, {"pmid": "2"}], "requested_pmids": ["1", "9", "2"]}, ["1", "9", "2"]),
        ({"articles": [{"pmid": "1"}]}, ["1"]),
        (
            {
                "requested_pmids": ["1", "9"],
                "articles": [{"pmid": "1"}],
                "outcomes": [{"input": "1", "status": "found"}, {"input": "9"}, {"input": "10.1000/x"}],
            },
            ["1", "9", "10.1000/x"],
        ),
        ({"query": "x", "items": [{"id": "NCBIGene:1"}, {"id": "NCBIGene:2"}]}, ["NCBIGene:1", "NCBIGene:2"]),
        ({"genes": [{"id": "NCBIGene:1"}]}, ["NCBIGene:1"]),
        (["1", 2, {"pmid": "3"}], ["1", "2", "3"]),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_whole_documents_are_read(document: Any, expected: list[str], indent: int | None) -> None:
    assert read_ids(json.dumps(document, indent=indent)) == expected


@pytest.mark.parametrize("text", ['{"title": "no id"}', "[1, null]", '{"pmid": "1"}\nnot json', "{broken", "[1.5]"])
def test_json_without_identifiers_is_an_error_and_not_an_empty_list(text: str) -> None:
    with pytest.raises(InvalidInput, match="starts like JSON"):
        read_ids(text)


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_the_pmid_column_of_a_table_is_read(delimiter: str) -> None:
    rows = [["title", "PMID", "x"], ['"A, ""b""\n; c\t"', "1", ""], ["B", "2", "99"]]

    assert read_ids("\n".join(delimiter.join(row) for row in rows)) == ["1", "2"]


def test_a_header_alone_is_not_an_identifier() -> None:
    assert read_ids("pmid\n1\n2\n") == ["1", "2"]


def test_arguments_standard_input_and_files_are_joined_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = tmp_path / "ids.txt"
    listed.write_text("5 6\n", encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"2\n3\n"), encoding="utf-8"))

    assert _id_lists.read_ids(["1", "-", "4"], [listed]) == ["1", "2", "3", "4", "5", "6"]


def test_a_file_that_is_unreadable_or_empty_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("# later\n", encoding="utf-8")

    with pytest.raises(InvalidInput, match=r"missing\.txt does not exist"):
        _id_lists.read_ids([], [tmp_path / "missing.txt"])
    with pytest.raises(InvalidInput, match=r"empty\.txt contains no ids"):
        _id_lists.read_ids([], [empty])


def test_identifiers_are_read_line_by_line() -> None:
    """The first identifier of a pipe without an end is read."""

    class Endless(io.RawIOBase):
        def readline(self, size: int | None = -1, /) -> bytes:
            return b"1\n"

        def __next__(self) -> bytes:
            return b"1\n"

    found = _id_lists.read_identifiers(Endless(), "endless")

    assert [next(found) for _ in range(3)] == ["1", "1", "1"]


@pytest.mark.parametrize("line", ['{"title": "no id"}', "[null]", "not json", '{"pmid": 1.5}'])
def test_a_line_without_an_identifier_is_named(line: str) -> None:
    with pytest.raises(InvalidInput, match="line 3"):
        read_ids(f'{{"pmid": "1"}}\n{{"pmid": "2"}}\n{line}\n{{"pmid": "4"}}')

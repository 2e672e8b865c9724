"""Identifiers in every form people keep them."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from terminal import Module, module_fixture

from entrez_kit.errors import InvalidInput

FIXTURES = (module_fixture,)
SICI = "10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2"


def ids(module: Module, content: bytes | str) -> list[str]:
    raw = content.encode() if isinstance(content, str) else content
    return list(module("_input").ids_in(io.BytesIO(raw), "the test"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("99000001", ["99000001"]),
        ("1,2, 3\t4;5", ["1", "2", "3", "4", "5"]),
        ("PMID: 12 pmid:13 PMC123.1", ["PMID:12", "pmid:13", "PMC123.1"]),
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
def test_identifiers_of_a_line_are_told_apart(module: Module, text: str, expected: list[str]) -> None:
    assert module("_input").split_ids(text) == expected


def test_order_and_duplicates_are_kept(module: Module) -> None:
    assert ids(module, "3\n1\n3\n2\n") == ["3", "1", "3", "2"]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_every_line_ending_is_understood(module: Module, ending: str) -> None:
    assert ids(module, ending.join(["1", "2", "", "3"])) == ["1", "2", "3"]


def test_byte_order_marks_are_no_part_of_an_identifier(module: Module) -> None:
    assert ids(module, b"\xef\xbb\xbf1\n2") == ["1", "2"]
    assert ids(module, "1\r\n2".encode("utf-16")) == ["1", "2"]


def test_bytes_that_are_no_text_are_refused_with_their_line(module: Module) -> None:
    with pytest.raises(InvalidInput, match="Line 2 of the test is not UTF-8") as caught:
        ids(module, b"1\n\xff\xfe\n")

    assert caught.value.details["reason"] == "not_text"
    with pytest.raises(InvalidInput, match="Line 1"):
        ids(module, b"\x1f\x8b\x00\x01")


def test_json_lines_give_their_pmid_and_failures_their_input(module: Module) -> None:
    lines = [
        {"pmid": "1", "title": "A"},
        {"input": "10.1000/x", "status": "error", "error": {"code": "UPSTREAM_ERROR", "message": "..."}},
        {"pmid": 3},
    ]

    assert ids(module, "\n".join(json.dumps(line) for line in lines)) == ["1", "10.1000/x", "3"]


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
def test_whole_documents_are_read(module: Module, document: Any, expected: list[str], indent: int | None) -> None:
    assert ids(module, json.dumps(document, indent=indent)) == expected


@pytest.mark.parametrize("text", ['{"title": "no id"}', "[1, null]", '{"pmid": "1"}\nnot json', "{broken", "[1.5]"])
def test_json_without_identifiers_is_an_error_and_not_an_empty_list(module: Module, text: str) -> None:
    with pytest.raises(InvalidInput, match="begins like JSON"):
        ids(module, text)


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_a_table_gives_its_pmid_column(module: Module, delimiter: str) -> None:
    rows = [["title", "PMID", "x"], ['"A, ""b""\n; c\t"', "1", ""], ["B", "2", "99"]]

    assert ids(module, "\n".join(delimiter.join(row) for row in rows)) == ["1", "2"]


def test_a_header_alone_is_no_identifier(module: Module) -> None:
    assert ids(module, "pmid\n1\n2\n") == ["1", "2"]


def test_arguments_standard_input_and_files_are_joined_in_order(
    module: Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = tmp_path / "ids.txt"
    listed.write_text("5 6\n", encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"2\n3\n"), encoding="utf-8"))

    assert module("_input").read_ids(["1", "-", "4"], [listed]) == ["1", "2", "3", "4", "5", "6"]


def test_a_file_that_cannot_be_read_or_is_empty_is_named(module: Module, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("# later\n", encoding="utf-8")

    with pytest.raises(InvalidInput, match=r"missing\.txt cannot be read: No such file"):
        module("_input").read_ids([], [tmp_path / "missing.txt"])
    with pytest.raises(InvalidInput, match=r"empty\.txt holds no identifiers"):
        module("_input").read_ids([], [empty])


def test_identifiers_are_read_line_by_line(module: Module) -> None:
    """A pipe that never ends must still give its first identifier."""

    class Endless(io.RawIOBase):
        def readline(self, size: int | None = -1, /) -> bytes:
            return b"1\n"

        def __next__(self) -> bytes:
            return b"1\n"

    found = module("_input").ids_in(Endless(), "endless")

    assert [next(found) for _ in range(3)] == ["1", "1", "1"]


@pytest.mark.parametrize("line", ['{"title": "no id"}', "[null]", "not json", '{"pmid": 1.5}'])
def test_a_line_without_an_identifier_is_named(module: Module, line: str) -> None:
    with pytest.raises(InvalidInput, match="line 3"):
        ids(module, f'{{"pmid": "1"}}\n{{"pmid": "2"}}\n{line}\n{{"pmid": "4"}}')

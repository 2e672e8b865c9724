"""Inputs of a user are read up to a limit, and no module reads them in another way."""

import ast
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from project_paths import ROOT
from syntax_trees import read_nodes

from entrez_kit.base import input_files
from entrez_kit.base.errors import InvalidInput
from entrez_kit.base.input_files import read_input, read_lines

OTHERS = (
    *("entrez_kit/base/input_files.py", "entrez_kit/base/private_files.py", "commands/_formats/__init__.py"),
    *("commands/_report.py", "commands/search.py", "entrez_kit/corpus/", "entrez_kit/sandbox/", "entrez_kit/guides/"),
    *("entrez_kit/local/", "entrez_kit/services/transport/download/files.py", "entrez_kit/base/atomic_files.py"),
    *("entrez_kit/query/segments/", "entrez_kit/services/recordings/", "entrez_kit/query/words.py"),
    *("entrez_kit/query/fields.py", "entrez_kit/query/filters.py"),
    *(
        "entrez_kit/citations/style/",
        "entrez_kit/server/",
        "entrez_kit/references/manuscripts/read_docx.py",
        "commands/config.py",
        "entrez_kit/base/toml_files.py",
    ),
)
"""Modules that read files of this project, files that they wrote, members of a package, or a limited stream."""


def test_a_file_up_to_the_limit_is_read_and_a_larger_one_rejected(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")

    assert read_input(file, "it", limit=5) == b"12345"
    assert read_input(io.BytesIO(b"12345"), "it", limit=5) == b"12345"
    for source in (file, io.BytesIO(b"12345")):
        with pytest.raises(InvalidInput, match="it has more than 4 bytes") as caught:
            read_input(source, "it", limit=4)
        assert caught.value.details == {"reason": "input_too_large", "limit_bytes": 4}


def test_a_large_stream_is_not_read_beyond_the_limit() -> None:
    stream = io.BytesIO(b"x" * 10_000_000)

    with pytest.raises(InvalidInput):
        read_input(stream, "it", limit=2_000_000)

    assert stream.tell() <= 2_000_001


def test_lines_have_a_maximum_length_and_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_files, "MAX_LINE_BYTES", 4)
    monkeypatch.setattr(input_files, "MAX_LINES", 2)

    assert list(read_lines(io.BytesIO(b"a\nbc"), "it")) == [b"a\n", b"bc"]
    with pytest.raises(InvalidInput, match="Line 2 of it has more than 4 bytes"):
        list(read_lines(io.BytesIO(b"a\nbcdef\n"), "it"))
    with pytest.raises(InvalidInput, match="it has more than 2 lines"):
        list(read_lines(io.BytesIO(b"a\nb\nc\n"), "it"))


READS = ("open", "read", "read_bytes", "read_text")


def list_unbounded_reads(path: Path) -> Iterator[int]:
    """Yield the lines of a module that open or read a file."""
    for node in read_nodes(path):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READS:
            text = ast.unparse(node)
            opens = node.func.attr == "open" and "os." not in text and ("'r" in text or not node.args)
            if opens or node.func.attr in ("read_bytes", "read_text") or "stdin.buffer.read(" in text:
                yield node.lineno


def test_no_other_module_opens_or_reads_an_input() -> None:
    modules = [path for folder in ("entrez_kit", "commands") for path in sorted((ROOT / folder).rglob("*.py"))]
    names = ((path, path.relative_to(ROOT).as_posix()) for path in modules)
    found = [
        f"{name}:{line}" for path, name in names if not name.startswith(OTHERS) for line in list_unbounded_reads(path)
    ]

    assert found == [], "read it with entrez_kit.base.input_files"

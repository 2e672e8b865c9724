"""What is listed of the tools: the same from the file as from the catalogue, whatever became of the file."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from entrez_kit.catalogue import OPERATIONS
from entrez_kit.server import tool_facts
from entrez_kit.server.tool_facts import FILE_NAME, ToolFacts, facts_of_catalogue


@pytest.fixture(scope="module")
def facts() -> list[ToolFacts]:
    """Return the facts as the catalogue has them."""
    return [ToolFacts.of(operation) for operation in OPERATIONS]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, facts: list[ToolFacts]) -> list[str]:
    """Return a list that grows with every operation whose facts are made, and make that quick."""
    names: list[str] = []
    known = {one.name: one for one in facts}

    def make(operation: object) -> ToolFacts:
        names.append(operation.name)  # type: ignore[attr-defined]
        return known[operation.name]  # type: ignore[attr-defined]

    monkeypatch.setattr(ToolFacts, "of", make)
    return names


def test_the_facts_come_from_the_file_once_they_are_kept(
    tmp_path: Path, made: list[str], facts: list[ToolFacts]
) -> None:
    assert facts_of_catalogue(tmp_path) == facts
    assert len(made) == len(OPERATIONS)
    assert facts_of_catalogue(tmp_path) == facts
    assert len(made) == len(OPERATIONS)
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600


def _flip(content: bytes) -> bytes:
    at = content.index(b"PubMed")
    return content[:at] + b"PubXed" + content[at + 6 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content + b" ",
        lambda content: b"\xff" * 100,
        lambda content: b"[]",
        lambda content: content.partition(b"\n")[0] + b"\n[]",
        _flip,
    ],
)
def test_a_damaged_file_is_made_anew(
    damage: Callable[[bytes], bytes], tmp_path: Path, made: list[str], facts: list[ToolFacts]
) -> None:
    facts_of_catalogue(tmp_path)
    path = tmp_path / FILE_NAME
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    made.clear()

    assert facts_of_catalogue(tmp_path) == facts
    assert len(made) == len(OPERATIONS)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("changed", ["version", "sources"])
def test_a_file_of_another_version_or_of_other_sources_is_stale(
    changed: str, tmp_path: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    (package / "below").mkdir(parents=True)
    module = package / "below" / "module.py"
    module.write_text("1", encoding="utf-8")
    monkeypatch.setattr(tool_facts, "PACKAGE", package)
    facts_of_catalogue(tmp_path / "cache")
    made.clear()
    facts_of_catalogue(tmp_path / "cache")
    assert made == []

    if changed == "version":
        monkeypatch.setattr(tool_facts, "__version__", "99.0")
    else:
        module.write_text("12", encoding="utf-8")
    facts_of_catalogue(tmp_path / "cache")
    assert len(made) == len(OPERATIONS)


def test_a_folder_that_cannot_be_used_costs_no_start(tmp_path: Path, made: list[str], facts: list[ToolFacts]) -> None:
    blocker = tmp_path / "a file"
    blocker.write_text("no folder", encoding="utf-8")

    assert facts_of_catalogue(blocker / "cache") == facts


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_in_place_of_the_file_is_not_followed(tmp_path: Path, made: list[str], facts: list[ToolFacts]) -> None:
    facts_of_catalogue(tmp_path / "theirs")
    (tmp_path / "ours").mkdir(mode=0o700)
    (tmp_path / "ours" / FILE_NAME).symlink_to(tmp_path / "theirs" / FILE_NAME)
    made.clear()

    assert facts_of_catalogue(tmp_path / "ours") == facts
    assert len(made) == len(OPERATIONS)

"""Generated files are up to date, and no name that users rely on is removed."""

from collections.abc import Iterator

import public_surface
import pytest
from generate import COMMAND, generated_files, removed_names, stale_files, write_public_names
from packaging_files import FOLDER, GENERATED

SAVED = public_surface.SAVED.read_text(encoding="utf-8")


def test_generated_files_are_up_to_date() -> None:
    assert stale_files() == [], f"run `{COMMAND}`"


def test_every_public_name_still_exists() -> None:
    assert len(SAVED.splitlines()) > 300, "the saved names are gone"
    assert removed_names() == [], "users rely on these names"


def test_a_generated_file_states_it_or_is_in_the_generated_folder() -> None:
    """In documents, only a table or a list is generated."""
    for path, text in generated_files().items():
        if path.suffix != ".md" or path.is_relative_to(FOLDER):
            assert path.is_relative_to(FOLDER) or GENERATED in "".join(text.splitlines()[:2]), path


def _list_first_lines() -> Iterator[str]:
    """Yield one saved line of each kind of public name."""
    kinds = ("argument", "command", "error", "exit status", "formats", "result", "setting", "tool", "EUtils")
    for kind in kinds:
        yield next(line for line in SAVED.splitlines() if line.startswith(kind))


@pytest.mark.parametrize("line", list(_list_first_lines()), ids=lambda line: line.partition(":")[0])
def test_a_removed_name_is_reported_and_stays_saved(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (*_, lost) = sorted(public_surface.read_facts(line))
    facts = public_surface.list_facts() - {lost}
    monkeypatch.setattr(public_surface, "list_facts", lambda: facts)

    assert removed_names() == [": ".join(lost)]
    assert lost in public_surface.read_facts(write_public_names())


def test_a_new_name_makes_the_saved_names_outdated(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = public_surface.list_facts() | {("formats", "parquet")}
    monkeypatch.setattr(public_surface, "list_facts", lambda: facts)

    assert stale_files() == ["tests/data/public_surface.txt"]

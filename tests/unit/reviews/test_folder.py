"""The folder of a review: damaged and hostile files, and commands that are killed between two files."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from entrez_kit.base.errors import EntrezKitError, InvalidInput, StoreError
from entrez_kit.base.settings import load_settings
from entrez_kit.reviews import folder as folder_module
from entrez_kit.reviews.decisions import read_decisions, write_decisions
from entrez_kit.reviews.folder import (
    find_inside,
    finish_commit,
    load,
    lock_review,
    open_review,
    replace_files,
    save_review,
)
from entrez_kit.reviews.init_review import InitRequest, init_review
from entrez_kit.reviews.records import ReviewRecord
from entrez_kit.services import Services


@pytest.fixture
def review(tmp_path: Path) -> Path:
    """Return the folder of a review with two records."""
    place = tmp_path / "review"
    settings = load_settings(environ={"HOME": str(tmp_path)}, working_dir=tmp_path)
    init_review(Services(settings), InitRequest(folder=str(place), strategy="1. asthma.ti.\n"))
    with open_review(place) as opened:
        opened.records += [
            ReviewRecord(id=f"ek-pubmed-{number}", source="PubMed", added=1, fields=[("TI", "A\u2028b \x85 c")])
            for number in (1, 2)
        ]
        save_review(opened, None)
    return place


def test_a_record_is_read_back_with_every_character(review: Path) -> None:
    assert [record.title for record in load(review).records] == ["A\u2028b \x85 c"] * 2


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("records.jsonl", '{"id":"ek-a-1","source":"A","added":1,"fields":[]}\n{"id":', 2),
        ("records.jsonl", '\n{"id":"ek-a-1","source":"A","added":1,"fields":[],"more":1}\n', 2),
        ("records.jsonl", '{"id":"../a","source":"A","added":1,"fields":[]}\n', 1),
        ("records.jsonl", '{"id":"ek-a-1","source":"A","added":1,"fields":[["T\\nER","x"]]}\n', 1),
        ("records.jsonl", '{"id":"ek-a-1","source":"A","added":1,"fields":[],"work":"ek-a-2"}\n', 1),
        ("records.jsonl", '{"id":"ek-a-1","source":"A","added":1,"fields":[]}\n' * 2, 2),
        ("records.jsonl", b"\n\n\xff\n", 3),
        ("records.jsonl", "[" * 100_000, 1),
        ("runs.jsonl", '{"number": 2}\n', 1),
        ("screening.csv", "id,stage\n", 1),
        ("screening.csv", "id,stage,decision\nek-a-1,full_text,include\nek-a-1,full_text,maybe\n", 3),
        ("screening.csv", "id,stage,decision\n=cmd,full_text,include\n", 2),
        ("screening.csv", "id,stage,decision\nek-a-1,before_screening,include\n", 2),
        ("review.toml", "format = 1\n[pubmed]\noverlap_days = -1\n", 3),
        ("review.toml", "format = 1\nunknown = 2\n", 2),
    ],
)
def test_a_damaged_file_is_named_with_its_line(review: Path, name: str, text: str | bytes, line: int) -> None:
    (review / name).write_bytes(text.encode() if isinstance(text, str) else text)

    with pytest.raises(InvalidInput) as caught:
        load(review)

    assert caught.value.invalid_input == name
    assert caught.value.details["line"] == line


def test_a_manual_change_of_the_records_is_reported(review: Path) -> None:
    with open_review(review) as opened:
        save_review(opened, opened.runs[0].model_copy(update={"number": 2}))
    assert load(review).warnings == []
    (review / "records.jsonl").write_bytes((review / "records.jsonl").read_bytes().replace(b" c", b" d"))

    assert [warning.code for warning in load(review).warnings] == ["records_changed"]


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/../../secret", "link", "a\x00b", "."])
def test_a_path_outside_of_the_folder_is_rejected(review: Path, name: str) -> None:
    (review.parent / "secret").write_text("x", encoding="utf-8")
    (review / "link").symlink_to(review.parent / "secret")

    with pytest.raises(InvalidInput) as caught:
        find_inside(review, name)

    assert caught.value.details["reason"] == "outside_of_folder"


def test_a_kill_at_any_file_operation_leaves_all_old_or_all_new_files(
    review: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = {"records.jsonl": b"", "screening.csv": b"id,stage,decision\n", "duplicates.csv": b"new\n"}
    old = {name: (review / name).read_bytes() if (review / name).exists() else None for name in new}
    outcomes = set()
    for killed_at in range(1, 80):
        place = tmp_path / f"copy{killed_at}"
        shutil.copytree(review, place)
        left = killed_at

        def count_calls(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **more: Any) -> Any:
                nonlocal left
                left -= 1
                if left == 0:
                    raise KeyboardInterrupt
                return real(*args, **more)

            return call

        with monkeypatch.context() as patch:
            for kind in ("replace", "unlink", "rmdir", "mkdir", "open"):
                patch.setattr(Path, kind, count_calls(getattr(Path, kind)))
            try:
                replace_files(place, new)
            except KeyboardInterrupt:
                pass
            else:
                assert killed_at > 8
                break
        finish_commit(place)
        found = {name: (place / name).read_bytes() if (place / name).exists() else None for name in new}
        assert found in (old, new)
        assert not (place / ".staged").exists()
        outcomes.add(found == new)
    assert outcomes == {True, False}


def test_a_hostile_commit_writes_no_other_file(review: Path) -> None:
    staged = review / ".staged"
    staged.mkdir()
    (staged / "commit.json").write_text(json.dumps({"../x": hashlib.sha256(b"").hexdigest()}), encoding="utf-8")

    with pytest.raises(InvalidInput):
        finish_commit(review)

    assert not (review.parent / "x").exists()


def test_a_second_writer_waits_and_is_refused(review: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "LOCK_SECONDS", 0)

    with open_review(review), pytest.raises(StoreError) as caught, lock_review(review):
        pass

    assert caught.value.details["reason"] == "locked"


def test_a_folder_with_other_files_does_not_become_a_review(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("x", encoding="utf-8")
    settings = load_settings(environ={"HOME": str(tmp_path)}, working_dir=tmp_path)

    with pytest.raises(EntrezKitError) as caught:
        init_review(Services(settings), InitRequest(folder=str(tmp_path), strategy="asthma"))

    assert caught.value.details["reason"] == "folder_in_use"
    assert caught.value.message.endswith("it already contains letter.txt.")


def test_a_long_note_of_a_decision_is_read_and_written_whole() -> None:
    note = "why " * 10_000
    (decision,) = read_decisions(
        f"id,stage,decision,note\nek-pubmed-1,title_abstract,exclude,{note}\n", "screening.csv"
    )

    assert decision.note == note.strip()
    assert read_decisions(write_decisions([decision], []), "screening.csv")[0].note == note.strip()

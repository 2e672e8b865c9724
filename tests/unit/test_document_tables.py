"""The README and the guides ``output`` and ``settings`` get a line for each new command, format and setting."""

import re
from pathlib import Path

import document_tables
import pytest

from entrez_kit.base.output_formats import FORMATS
from entrez_kit.base.settings import SETTINGS
from entrez_kit.commands import _app

ENTRY = re.compile(r"^- .*\(`(\w+)`\)", re.MULTILINE)


def test_the_readme_has_one_row_for_each_command() -> None:
    rows = re.findall(r"^\| `(\w+)[^`]*` \| .+\. \|$", document_tables.write_readme(), re.MULTILINE)

    assert rows == list(_app.COMMANDS)


def test_the_guide_has_every_format_once_with_its_suffixes() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| .+ \|$", document_tables.write_output_guide(), re.MULTILINE)

    assert [(name, re.findall(r"`(.+?)`", files)) for name, files in rows] == [
        (one.name, list(one.suffixes)) for one in FORMATS
    ]


def test_the_guide_has_every_setting_once_with_its_values() -> None:
    text = document_tables.write_settings_guide()

    assert sorted(ENTRY.findall(text)) == sorted(setting.name for setting in SETTINGS)
    assert all(str(setting.high) in text for setting in SETTINGS if setting.high is not None)
    assert all(variable in text for setting in SETTINGS for variable in setting.variables)


@pytest.mark.parametrize("lost", [("ncbi_max_retries",), ("embeddings", "embeddings_model"), ("format",)])
def test_a_setting_missing_in_the_guide_follows_the_setting_before_it(
    lost: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete = document_tables.write_settings_guide()
    copy = tmp_path / "settings.md"
    keep = document_tables.ENTRY.sub(lambda match: "" if match[1] in lost else match[0], complete)
    copy.write_text(keep, encoding="utf-8")
    monkeypatch.setattr(document_tables, "SETTINGS_GUIDE", copy)

    names = ENTRY.findall(document_tables.write_settings_guide())

    order = [setting.name for setting in SETTINGS]
    assert sorted(names) == sorted(order)
    for name in lost:
        assert names[names.index(name) - 1] == order[order.index(name) - 1]


def test_a_setting_that_no_longer_exists_leaves_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    complete = document_tables.write_settings_guide()
    copy = tmp_path / "settings.md"
    copy.write_text(complete + "- `OLD` (`old`): A former setting.\n", encoding="utf-8")
    monkeypatch.setattr(document_tables, "SETTINGS_GUIDE", copy)

    assert document_tables.write_settings_guide() == complete


def test_a_second_run_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = document_tables.write_settings_guide()
    copy = tmp_path / "settings.md"
    copy.write_text(text, encoding="utf-8")
    monkeypatch.setattr(document_tables, "SETTINGS_GUIDE", copy)

    assert document_tables.write_settings_guide() == text


def test_the_guide_names_the_settings_of_a_project_file_with_their_ranges() -> None:
    text = " ".join(document_tables.write_settings_guide().partition("## Project file")[2].partition("##")[0].split())
    named = dict(re.findall(r"`([a-z_]+)`(?: \(([0-9]+ to [0-9]+)\))?", text))

    assert named == {
        setting.name: "{} to {}".format(*setting.project_range) if setting.project_range else ""
        for setting in SETTINGS
        if setting.in_project_file
    }

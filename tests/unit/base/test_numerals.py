"""Numbers in text agree with their nouns and verbs."""

import re
from pathlib import Path

import pytest

import commands
import entrez_kit
from entrez_kit.base.numerals import format_count

pytestmark = pytest.mark.fast


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, "record"), "0 records"),
        ((1, "record"), "1 record"),
        ((1234, "record"), "1,234 records"),
        ((1, "record takes", "records take"), "1 record takes"),
        ((2, "record takes", "records take"), "2 records take"),
        ((-1, "degree"), "-1 degrees"),
    ],
)
def test_the_text_after_a_number_agrees_with_it(arguments: tuple[int, str], text: str) -> None:
    assert format_count(*arguments) == text


def test_no_module_chooses_between_singular_and_plural_after_a_number_itself() -> None:
    choice = re.compile(r":,\} \{'[^']+' if .{1,40} == 1 else '[^']+s'|f?\"1 \w+\" if .{1,40} == 1 else ")
    sources = [path for package in (entrez_kit, commands) for path in Path(*package.__path__).rglob("*.py")]
    found = [f"{path}: {match[0]}" for path in sources for match in choice.finditer(path.read_text("utf-8"))]

    assert len(sources) > 100
    assert not found

"""Numbers in text agree with their nouns and verbs."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import commands
import entrez_kit
from entrez_kit.base.frontend_text import format_count
from entrez_kit.base.numerals import read_roman, to_roman

pytestmark = pytest.mark.fast

SOURCES = [path for package in (entrez_kit, commands) for path in Path(*package.__path__).rglob("*.py")]
NOUNS = (
    "articles|attempts|authors|bytes|calls|cells|changes|characters|claims|columns|combinations|databases|decisions"
    "|deletions|duplicates|elements|entries|families|files|findings|genes|hits|ids|lines|link sets|minutes|pages|pairs"
    "|passages|PMIDs|problems|reasons|records|references|replies|requests|residues|resources|results|rows|runs|seconds"
    "|sections|slices|summaries|symbols|texts|times|tokens|tools|UIDs|vectors|words|works"
)
"""What messages count, in the plural."""
BEFORE_NOUN = re.compile(rf" (?:(?!has|of|returns|without)[a-z]+ )?(?:{NOUNS})\b(?![/'])")
OTHER_VALUE = re.compile(r"(?:\w+\.)*[A-Z_]+(?:\[.*\])?|(?:.*[._])?(?:name|id|folder|target)")
"""A constant, which is not 1, or a name."""


def yield_plurals(source: str) -> Iterator[str]:
    """Yield the parts of f-strings in which a variable number is before a plural noun."""
    for text in ast.walk(ast.parse(source)):
        for number, after in pairwise(text.values if isinstance(text, ast.JoinedStr) else ()):
            if isinstance(number, ast.FormattedValue) and isinstance(after, ast.Constant):
                noun = BEFORE_NOUN.match(str(after.value))
                has_decimals = number.format_spec is not None and ast.unparse(number.format_spec) != "f','"
                if noun and not has_decimals and not OTHER_VALUE.fullmatch(ast.unparse(number.value)):
                    yield f"line {number.lineno}: {ast.unparse(number.value)}{noun[0]}"


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
    choice = re.compile(
        r":,\} \{'[^']+' if .{1,40} == 1 else '[^']+s'|f?\"1 \w+\" if .{1,40} == 1 else |\} [\w{}]+\{'s' if "
    )
    found = [f"{path}: {match[0]}" for path in SOURCES for match in choice.finditer(path.read_text("utf-8"))]

    assert len(SOURCES) > 100
    assert not found


@pytest.mark.long
def test_no_module_writes_a_number_before_a_plural_noun_itself() -> None:
    found = [f"{path}: {place}" for path in SOURCES for place in yield_plurals(path.read_text("utf-8"))]

    assert not found


@pytest.mark.parametrize(
    ("source", "number"),
    [
        ('f"{missing} PMIDs are missing"', 1),
        ('f"{len(ids):,} other ids, and {total} results"', 2),
        ('f"at most {MAX_IDS:,} ids"', 0),
        ('f"{file.name} has records"', 0),
        ("f\"{format_count(missing, 'PMID')}\"", 0),
    ],
)
def test_a_number_before_a_plural_noun_is_found(source: str, number: int) -> None:
    assert len(list(yield_plurals(source))) == number


def test_a_roman_number_is_read_as_the_number_that_was_written() -> None:
    assert [read_roman(to_roman(number)) for number in range(300)] == list(range(300))


@pytest.mark.parametrize("text", ["", " ", "iiii", "iix", "vx", "abc", "X"])
def test_a_text_that_is_not_a_roman_number_is_0(text: str) -> None:
    assert read_roman(text) == 0

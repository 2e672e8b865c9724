"""Invisible characters: unchanged in data, and removed from text for people."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrez_kit.base.invisible import escape_json, remove_invisible, strip_marks


@pytest.mark.parametrize(
    "mark", [chr(code) for code in (0x00, 0x07, 0x1B, 0x7F, 0x9B, 0xAD, 0x200B, 0x200E, 0x202E, 0x2060, 0x2066, 0xFEFF)]
)
def test_invisible_characters_are_removed_for_people(mark: str) -> None:
    assert remove_invisible(f"a{mark}b") == "ab"


@pytest.mark.parametrize("text", ["می\u200cخواهم", "क्\u200dष", "line\nline\tcell", "α→β ⁶₂ é 日本 👩"])
def test_visible_characters_and_needed_joiners_stay(text: str) -> None:
    assert remove_invisible(text) == text


def test_joiners_between_latin_letters_are_removed() -> None:
    assert remove_invisible("pay\u200dpal\u200c.com") == "paypal.com"


@given(st.text())
def test_no_control_or_format_character_of_unicode_is_left_but_joiners(text: str) -> None:
    left = {character for character in remove_invisible(text) if unicodedata.category(character) in ("Cc", "Zl", "Zp")}

    assert left <= {"\n", "\t"}
    assert not set(remove_invisible(text)) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\ufeff")


@given(st.text())
def test_escaped_json_has_the_same_data_and_no_hidden_characters(text: str) -> None:
    escaped = escape_json(json.dumps(text, ensure_ascii=False))

    assert json.loads(escaped) == text
    assert remove_invisible(escaped) == escaped


def test_formatted_text_keeps_the_escape_sequences_of_the_program() -> None:
    assert strip_marks("\x1b[31mred\u202e\x1b[0m") == "\x1b[31mred\x1b[0m"

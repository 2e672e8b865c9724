"""The form of superscripts and subscripts: one policy, tested by examples and by properties of any text."""

import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrez_kit.base.markup import (
    CALLOUT,
    END,
    SUBSCRIPT,
    SUPERSCRIPT,
    flatten_scripts,
    format_subscript,
    format_superscript,
    write_scripts,
)

MARKS = {"<sup>": SUPERSCRIPT, "<sub>": SUBSCRIPT, "<callout>": CALLOUT}


def mark_tags(text: str) -> str:
    return re.sub(r"</?\w+>", lambda tag: MARKS.get(tag[0], END), text)


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("10<sup>6</sup> cells", "10⁶ cells"),
        ("10<sup>-3</sup>, 10<sup>−3</sup>, 10<sup>–3</sup>", "10⁻³, 10⁻³, 10⁻³"),
        ("min<sup>-1</sup> and m<sup>2</sup>", "min⁻¹ and m²"),
        ("H<sub>2</sub>O, Ca<sup>2+</sup>, CN<sup>-</sup>", "H₂O, Ca²⁺, CN⁻"),
        ("SO<sub>4</sub><sup>2-</sup>", "SO₄²⁻"),
        ("Ca<sup>2</sup><sup>+</sup>", "Ca²⁺"),
        ("<sup>14</sup>C and CD4<sup>+</sup>", "¹⁴C and CD4⁺"),
        ("log<sub>2</sub>5", "log₂5"),
        ("x<sup>n</sup>, x<sub>i-1</sub>, x<sub>max</sub>", "xⁿ, xᵢ₋₁, xₘₐₓ"),
        ("T<sub>H</sub>17, p<sub>adj</sub>, PM<sub>2.5</sub>", "T_(H)17, p_(adj), PM_(2.5)"),
        ("x<sup>n/2</sup>, IFN<sup>(-/-)</sup>", "x^(n/2), IFN^(-/-)"),
        ("AUC<sub>0-120</sub>", "AUC_(0-120)"),
        ("2<sup>-C<sub>T</sub></sup>", "2^(-C_(T))"),
        ("R<sup>2 </sup>= 1", "R² = 1"),
        ("brand<sup>®</sup>, brand<sup>TM</sup>, 65<sup>°</sup>, word<sup>†</sup>", "brand®, brand™, 65°, word†"),
        ("20<sup>th</sup> and 1<sup>st</sup>", "20th and 1st"),
        ("carriers <sub>-</sub> to", "carriers - to"),
        ("[<sup>18</sup>F]F, 6-<sup>2</sup>H", "[¹⁸F]F, 6-²H"),
        ("a<sup></sup>b<sup> </sup>c", "ab c"),
    ],
)
def test_a_superscript_is_written_in_unicode_or_else_in_marked_brackets(source: str, written: str) -> None:
    assert write_scripts(mark_tags(source)) == written


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("Transport<sup>a</sup> and", "Transport ᵃ and"),
        ("ND<sup>b</sup>", "ND ᵇ"),
        ("Transport<sup>a,b</sup>", "Transport ^(a,b)"),
        ("cells.<sup>12,13</sup> Then", "cells. ^(12,13) Then"),
        ("cells.<sup>4</sup> Then", "cells. ⁴ Then"),
        ("in 2010.<sup>2</sup> Then", "in 2010. ² Then"),
        ("cells,<sup>2–4</sup> which", "cells, ^(2–4) which"),
        ("problem<sup>5</sup>", "problem ⁵"),
        ("problem<sup>16</sup><sup>,</sup><sup>17</sup>.", "problem ^(16,17)."),
        ("height<sup>2</sup>", "height²"),
        ("PrP<sup>c</sup>, I-A<sup>b</sup>, XIX<sup>e</sup>", "PrPᶜ, I-Aᵇ, XIXᵉ"),
        ("cells <sup>4</sup>", "cells ⁴"),
        ("DNA<callout>4</callout>", "DNA ⁴"),
    ],
)
def test_a_note_mark_is_separated_from_its_word(source: str, written: str) -> None:
    assert write_scripts(mark_tags(source)) == written


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("10<sup>6</sup><sup>2</sup>", "10⁶ ²"),
        ("10<sup>6</sup><sup>2,3</sup>", "10⁶ ^(2,3)"),
        ("10<sup>6</sup><callout>2</callout>", "10⁶ ²"),
        ("x<sub>1</sub><sub>2</sub>", "x₁ ₂"),
        ("10<sup>6</sup><sup>a</sup>", "10⁶ᵃ"),
    ],
)
def test_two_superscripts_in_a_row_never_make_one_number(source: str, written: str) -> None:
    assert write_scripts(mark_tags(source)) == written


def test_formulas_have_their_own_superscripts() -> None:
    assert "10" + format_superscript("5") == "10⁵"
    assert "x" + format_subscript("i,j") == "x_(i,j)"
    assert format_superscript("2" + format_superscript("n")) == "^(2ⁿ)"
    assert format_superscript(format_superscript("2")) == "²"


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("10⁶", "106"),
        ("H₂O", "H2O"),
        ("CD4⁺", "CD4+"),
        ("min⁻¹", "min-1"),
        ("T_(H)17", "TH17"),
        ("10^6", "106"),
        ("x^(a_(b))", "xab"),
    ],
)
def test_superscripts_are_found_in_the_forms_that_people_type(written: str, typed: str) -> None:
    assert flatten_scripts(written) == typed


words = st.text("abcTH0126 .,+-()−", max_size=8)
pieces = st.recursive(
    words, lambda inner: st.builds(lambda tag, text: f"{tag}{text}{END}", st.sampled_from(list(MARKS.values())), inner)
)


@given(st.lists(pieces, max_size=8).map("".join))
def test_no_character_is_lost_and_no_digit_of_a_superscript_is_among_ordinary_digits(source: str) -> None:
    written = write_scripts(source)

    plain = re.sub("[\x0e-\x11]", "", source)
    letters = re.sub(r"[\s()^_]", "", unicodedata.normalize("NFKC", written))
    assert letters.replace("−", "-") == re.sub(r"[\s()]", "", plain).replace("−", "-")
    ordinary = re.sub("\x0e[^\x0e-\x11]*\x11|\x0f[^\x0e-\x11]*\x11|\x10[^\x0e-\x11]*\x11", "|", source)
    if not re.search("[\x0e-\x11]", ordinary):  # nothing nested
        outside = re.sub(r"[\^_]\([^()]*\)|[\^_]\([^()]*\([^()]*\)[^()]*\)", "|", written)
        assert [*re.findall("[0-9]+", outside)] == [*re.findall("[0-9]+", re.sub("[()]", "", ordinary))] or re.search(
            "[()]", plain
        )


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_text_without_marks_is_unchanged(text: str) -> None:
    plain = re.sub("[\x0e-\x11]", "", text)
    assert write_scripts(plain) == plain


@pytest.mark.long
@pytest.mark.parametrize(
    "hostile",
    [
        SUPERSCRIPT * 200_000,
        (SUPERSCRIPT + "," + END) * 100_000,
        (SUPERSCRIPT + "1") * 100_000 + END * 100_000,
        END * 200_000,
        ("a" * 50_000 + SUPERSCRIPT + "1," * 50_000 + END) * 2,
        "^(" * 100_000 + ")" * 100_000,
    ],
)
def test_hostile_text_is_read_in_linear_time(hostile: str) -> None:
    start = time.process_time()
    flatten_scripts(write_scripts(hostile))
    assert time.process_time() - start < 3

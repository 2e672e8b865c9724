"""Invisible characters in files of references, which come from copied text, change no value."""

from typing import Any

import pytest

from entrez_kit.references.files.reference_files import READERS, find_kind
from entrez_kit.references.files.references import FieldUpdate
from entrez_kit.references.merge.convert_records import build_item, read_record_files
from entrez_kit.references.merge.merge_documents import FileToMerge

MARKS = ("\u200e", "\u202b", "\u202c", "\u200b", "\u00ad", "\ufeff", "\u2060", "\x02")
FILES = {
    "ris": """
TY  - ^JOUR^
AU  - ^Doe^, Jane A^
AU  - ^The Demo^ Group^,
TI  - ^Effects of in^vented sleep^
T2  - ^J Inv^ Res^
PY  - ^2019^
VL  - ^3^
IS  - ^2^
SP  - ^101^
EP  - ^112^
DO  - ^10.5555/a.b^
AN  - ^12345678^
DB  - ^PubMed^
KW  - ^sleep^
LA  - ^en^
N1  - ^A note^
ER  -
""",
    "bib": """
@article{k1,
  author = {^Doe^, Jane A and {^The Demo^ Group^}},
  title = {^Effects of in^vented sleep^},
  journal = {^J Inv^ Res^},
  year = {^2019^}, volume = {^3^}, number = {^2^}, pages = {^101--112^}, month = ^dec,
  doi = {^10.5555/a.b^}, pmid = {^12345678^},
  keywords = {^sleep^}, note = {^A note^}
}
""",
    "nbib": """
PMID- ^12345678^
TI  - ^Effects of in^vented sleep^
FAU - ^Doe^, Jane A^
AU  - ^Doe JA^
CN  - ^The Demo^ Group^
JT  - ^Journal of Inv^ented Results^
TA  - ^J Inv Res^
DP  - ^2019 Dec^
VI  - ^3^
IP  - ^2^
PG  - ^101-12^
LID - ^10.5555/a.b^ [doi]^
MH  - ^*Sleep^
LA  - ^eng^
""",
    "json": """
[{"id": "^k1^", "type": "article-journal", "title": "^Effects of in^vented sleep^",
  "author": [{"family": "^Doe^", "given": "^Jane^ A"}, {"literal": "^The Demo^ Group^"}],
  "container-title": "^J Inv^ Res^", "issued": {"date-parts": [["^2019^", "^12^"]]},
  "volume": "^3^", "issue": "^2^", "page": "^7^", "custom": {"article-number": "^7^"},
  "DOI": "^10.5555/a.b^", "PMID": "^12345678^", "note": "^A note^"}]
""",
    "csv": """title,authors,journal,year,volume,issue,pages,doi,pmid
^Effects of in^vented sleep^,"^Doe^, Jane A.",^J Inv^ Res^,^2019^,^3^,^2^,^101-112^,^10.5555/a.b^,^12345678^
""",
    "ciw": """FN Clarivate
VR 1.0
PT ^J^
AU ^Doe^, JA
TI ^Effects of in^vented sleep^
SO ^J Inv^ Res^
PY ^2019^
VL ^3^
IS ^2^
BP ^101^
EP ^112^
DI ^10.5555/a.b^
PM ^12345678^
ER

EF
""",
}
"""A file in each format; ^ is the place of an invisible character."""


def read_values(suffix: str, text: str) -> list[tuple[Any, ...]]:
    """Return the values of each record, as `merge` and `cite` read them."""
    entries, _ = read_record_files([FileToMerge(file=f"refs.{suffix}", text=text)])
    return [
        (entry.keys, entry.reference, entry.original.fields, build_item(entry, for_style=True)) for entry in entries
    ]


@pytest.mark.parametrize("mark", MARKS, ids=lambda mark: f"{ord(mark):04x}")
@pytest.mark.parametrize("suffix", FILES)
def test_a_file_with_invisible_characters_is_read_like_one_without(suffix: str, mark: str) -> None:
    expected = read_values(suffix, FILES[suffix].replace("^", ""))
    if suffix == "json" and mark == "\x02":
        mark = "\\u0002"  # JSON does not allow a control character

    assert len(expected) == 1
    assert read_values(suffix, FILES[suffix].replace("^", mark)) == expected


@pytest.mark.parametrize("suffix", ["ris", "bib", "json"])
def test_a_correction_keeps_the_characters_of_other_fields(suffix: str) -> None:
    text = FILES[suffix].replace("^", "\u200e")
    kind = find_kind(text) or ""

    corrected = READERS[kind](text, f"refs.{suffix}").correct({0: FieldUpdate(fields={"volume": "4"})})

    assert corrected != text
    assert corrected.replace("4", "3", 1).count("\u200e") >= text.count("\u200e") - 2
    assert "in\u200evented" in corrected


def test_joiners_of_other_scripts_stay() -> None:
    title = "می\u200cخواهم"

    ((_, reference, _, item),) = read_values("ris", FILES["ris"].replace("^", "").replace("Effects", title))

    assert title in reference.title
    assert title in item["title"]

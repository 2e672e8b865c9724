"""Compare references with records despite different spellings: letters, titles, years, volumes and pages."""

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from entrez_kit.pubmed.pages import expand_ranges

if TYPE_CHECKING:
    from entrez_kit.pubmed.models import Article

MIN_PART: Final = 4
"""The fewest words of a shortened title."""
MAX_WORDS: Final = 120
"""The most words that are compared; the cost grows faster than the product of the two lengths."""
MAX_LETTERS: Final = 200
"""The most letters of a title that are compared; the time grows with their square."""
ALIKE: Final = 0.75
"""The smallest share of letters that a misspelt word has in common with the correct one."""
_SMALL: Final = frozenset(("a", "an", "the", "of", "in", "on", "and", "for", "to", "with", "by"))
_GREEK: Final = {
    chr(code): unicodedata.name(chr(code)).split()[-1].lower() for code in (*range(0x3B1, 0x3C2), *range(0x3C3, 0x3CA))
}
_LETTERS: Final = {
    "ø": "o",
    "æ": "ae",
    "œ": "oe",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "ı": "i",
    "ħ": "h",
    "&": " and ",
}
_EXPANDED: Final = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae"}
_LEADING: Final = re.compile(r"^(?:vol(?:ume)?|no|nr|issue|number|pp?|pages?|suppl)\.?\s*(?=[0-9])", re.IGNORECASE)
_VALUES: Final = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_ROMAN: Final = re.compile(r"(?ai)(?=.)m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_LABELS: Final = frozenset(("vol", "volume", "no", "nr", "issue", "number", "p", "pp", "page", "pages", "pt", "suppl"))


# Text


def fold_text(text: str, *, expand: bool = False) -> str:
    """Reduce a text to words of letters and digits: in lower case, without accents, Greek letters by name."""
    small = text.casefold()
    if small.isascii():
        return " ".join(re.sub(r"[\W_]+", " ", small.replace("&", " and ")).split())
    if expand:
        small = "".join(_EXPANDED.get(letter, letter) for letter in unicodedata.normalize("NFC", small))
    small = "".join(_LETTERS.get(letter, letter) for letter in small)
    decomposed = unicodedata.normalize("NFKD", small)
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    plain = "".join(f"{_GREEK[letter]}" if letter in _GREEK else letter for letter in plain.casefold())
    return " ".join(re.sub(r"[\W_]+", " ", plain).split())


def begins(one: str, other: str) -> bool:
    """Return whether one of two folded titles is the beginning of the other, as if a subtitle was omitted."""
    smaller, larger = sorted((one, other), key=len)
    return len(smaller.split()) >= MIN_PART and f"{larger} ".startswith(f"{smaller} ")


def are_titles_alike(one: str, other: str) -> bool:
    """Return whether two folded titles are the same, except for an omitted end or words that are misspelt or split.

    Titles with a different word are different titles: phase 2 and phase 3, lung and breast.
    """
    if one.replace(" ", "") == other.replace(" ", "") or begins(one, other):
        return True
    first, second = one.split()[:MAX_WORDS], other.split()[:MAX_WORDS]
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    ends = [(0, 0), *((block.a + block.size, block.b + block.size) for block in blocks)]
    starts = [*((block.a, block.b) for block in blocks), (len(first), len(second))]
    gaps = [(first[a:c], second[b:d]) for (a, b), (c, d) in zip(ends, starts, strict=True)]
    changed = sum(max(len(mine), len(theirs)) for mine, theirs in gaps)
    return changed * 2 < max(len(first), len(second), 1) and all(_are_misspelt(mine, theirs) for mine, theirs in gaps)


def _are_misspelt(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether some words are misspellings of others."""
    one, other = ("".join(word for word in words if word not in _SMALL) for words in (mine, theirs))
    if one == other:
        return True
    if not one or not other or one.isdigit() or other.isdigit():
        return False
    one, other = one[:MAX_WORDS], other[:MAX_WORDS]
    return bound_likeness(one, other) >= ALIKE and measure_key_likeness(one, other) >= ALIKE


_CONFUSED: Final = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "8": "b"})
"""Characters that text recognition confuses, each with the letter of its group."""


def make_confusable_key(text: str) -> str:
    """Replace characters that text recognition confuses in a folded text, so that "lmpact" equals "impact"."""
    return text.translate(_CONFUSED).replace("rn", "m").replace("vv", "w")


def read_digits(text: str) -> str:
    """Convert a number that text recognition misread to digits: "l2O" is "120"; return other texts unchanged."""
    digits = text.translate(str.maketrans("lIiOo|", "111001"))
    return digits if digits.isdigit() else text


def measure_text_likeness(one: str, other: str, least: float | None = None) -> float:
    """Return the similarity of two folded texts, 0 to 1; confusable characters count as equal.

    Args:
        one: a folded text.
        other: another.
        least: the smallest similarity that matters: below it, the result may be 0.
    """
    first, second = make_likeness_key(one), make_likeness_key(other)
    if least is not None:
        return measure_key_likeness(first, second) if bound_likeness(first, second) >= least else 0.0
    if first == second:
        return 1.0
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() >= 0.5 and matcher.quick_ratio() >= 0.5 else 0.0


def make_likeness_key(text: str) -> str:
    """Return the letters of a folded text that are compared."""
    return make_confusable_key(text.replace(" ", ""))[:MAX_LETTERS]


def measure_key_likeness(first: str, second: str) -> float:
    """Return the similarity of two keys, 0 to 1."""
    return 1.0 if first == second else SequenceMatcher(None, first, second, autojunk=False).ratio()


def bound_likeness(first: str, second: str) -> float:
    """Return a similarity that the one of two keys does not exceed, in a small part of its time.

    The blocks that SequenceMatcher finds are in the same order in both, so that they have at most as many letters as
    the longest common subsequence. This is counted with the bits of one number (Hyyrö 2004).
    """
    total = len(first) + len(second)
    if first == second or not total:
        return 1.0
    if 4 * min(len(first), len(second)) < total:  # at most 0.5
        return 2.0 * min(len(first), len(second)) / total
    positions: dict[str, int] = {}
    for position, letter in enumerate(first):
        positions[letter] = positions.get(letter, 0) | 1 << position
    every = (1 << len(first)) - 1
    row = every
    for letter in second:
        if same := row & positions.get(letter, 0):
            row = ((row + same) | (row - same)) & every
    return 2.0 * (len(first) - row.bit_count()) / total


def is_one_edit(one: str, other: str) -> bool:
    """Return whether two words differ in one letter that is wrong, missing, added or swapped with the next."""
    first, second = sorted((make_confusable_key(one), make_confusable_key(other)), key=len)
    if len(second) - len(first) > 1:
        return False
    same = next((n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), len(first))
    if len(first) < len(second):
        return first[same:] == second[same + 1 :]
    swapped = first[same : same + 2] == second[same : same + 2][::-1] and first[same + 2 :] == second[same + 2 :]
    return first[same + 1 :] == second[same + 1 :] or swapped


# Place


def list_years(article: "Article") -> list[str]:
    """Return the years that a reference may name: of the issue first, then of the electronic publication.

    For a chapter, the latest year is first, because chapters may be added to a published book.
    """
    issue = article.journal_info.publication_date if article.journal_info is not None else None
    years = [str(date.year) for date in article.article_dates if date.year]
    if issue is not None:
        years = [str(issue.year or ""), *re.findall(r"(?:1[5-9]|2[01])[0-9]{2}", issue.medline_date or ""), *years]
    if article.record_type == "chapter":
        years.sort(reverse=True)
    return [year for year in dict.fromkeys(years) if year]


def strip_place(text: str) -> str:
    """Reduce a volume, an issue or a page for comparison: without labels, leading zeros and punctuation."""
    plain = re.sub(r"\b0+(?=[0-9])", "", fold_text(_LEADING.sub("", text.strip())))
    return "".join(word for word in plain.split() if word not in _LABELS)


def convert_roman(numeral: str) -> str:
    """Convert a Roman numeral to Arabic digits, as some styles do; return other texts unchanged."""
    if not _ROMAN.fullmatch(numeral):
        return numeral
    values = [_VALUES[letter] for letter in numeral.lower()]
    return str(sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True)))


def is_same_volume(mine: str, theirs: str) -> bool:
    """Return whether two volumes are the same, in digits or as Roman numerals."""
    return convert_roman(strip_place(mine)) == convert_roman(strip_place(theirs))


def is_same_pages(mine: str, theirs: str) -> bool:
    """Return whether pages are the same: the first page and, if both have one, the last; or the article number."""
    first, second = page_ends(mine), page_ends(theirs)
    if first[0] != second[0]:
        return False
    return not first[1] or not second[1] or first[1] == second[1]


def page_ends(pages: str) -> tuple[str, str]:
    """Return the first and the last page of a range in the form for comparison; the last page of 201-12 is 212."""
    pages = " ".join(pages.split())
    text = expand_ranges(re.sub(r"(?<!\s)\s*+[-\u2010-\u2015\u2212]++\s*+", "-", _LEADING.sub("", pages.strip())))
    head = re.split(r"[,;]", text)[0]
    first, _, last = head.partition("-")
    return strip_place(first).removeprefix("e"), strip_place(last).removeprefix("e")

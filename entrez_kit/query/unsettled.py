"""Rules that no documentation and no recorded reply of PubMed settles; each is one function, so that one recording can
change it.

Each docstring names the source of the choice. In doubt, a function chooses the narrower result.
"""

import calendar
from collections.abc import Sequence
from datetime import date
from typing import Final

from entrez_kit.query.lexer import QueryToken, Repair

SHORTEST_STEM: Final = 4
"""Characters before the first ``*`` of a wildcard (PubMed User Guide). With fewer, PubMed drops the ``*``."""
MAX_DISTANCE: Final = 1_000
"""Largest N of ``[field:~N]``. The User Guide has examples up to 1,000 and names no limit."""
_PLAIN: Final = frozenset(("word", "history"))


def read_lowercase_operators(tokens: Sequence[QueryToken], repairs: list[Repair]) -> list[QueryToken]:
    """Read ``or`` and ``not`` as operators beside a parenthesis, a tag or a quoted phrase, and omit them elsewhere.

    The User Guide demands capitals, and neither word is a stopword. A recorded reply to ``Mus musculus or Rattus``
    mapped two terms and reported no unknown word, so ``or`` was an operator or was dropped. Between plain words it is
    omitted here, which gives AND, the narrower result. ``and`` is a stopword; both readings are the same.
    """
    kept: list[QueryToken] = []
    for index, token in enumerate(tokens):
        name = token.text.lower()
        if token.kind != "word" or name not in ("and", "or", "not") or index in (0, len(tokens) - 1):
            kept.append(token)
            continue
        before, after = tokens[index - 1].kind, tokens[index + 1].kind
        if before in ("open", "operator") or after in ("close", "operator", "tag", "colon"):
            kept.append(token)
        elif before in _PLAIN and after in _PLAIN:
            if name == "and":
                kept.append(token)
                continue
            repairs.append(Repair("lowercase_operator", f"{token.text!r} was ignored as a word.", token.start))
        else:
            repairs.append(Repair("lowercase_operator", f"{token.text!r} was read as {name.upper()}.", token.start))
            kept.append(QueryToken("operator", name.upper(), token.start, token.end))
    return kept


def excludes_from_all_records() -> bool:
    """Return whether NOT after ignored words excludes from all records: ``from[tiab] NOT risk[tiab]``.

    The User Guide says that PubMed ignores stopwords and words without records. No recorded reply shows such words
    before NOT. Nearly all records would be a wider result than any of the words has, so NOT excludes from no records.
    A query that begins with NOT excludes from all records.
    """
    return False


def find_tags_after_parentheses(tokens: Sequence[QueryToken], repairs: list[Repair]) -> dict[int, str]:
    """Return the tag of each term in parentheses that a tag follows, by position: ``(a OR b)[tiab]``.

    The grammar has no such tag, and PubMed's reaction is not recorded. Searching the terms without the tag would be
    wider than the query, so the tag applies to each term that has none.
    """
    spans: list[tuple[int, int, str]] = []
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind == "open":
            opened.append(index)
        elif token.kind == "close" and opened:
            start = opened.pop()
            if index + 1 < len(tokens) and tokens[index + 1].kind == "tag":
                spans.append((start, index, tokens[index + 1].text))
    tags: dict[int, str] = {}
    for start, end, tag in spans:  # inner parentheses come first
        message = f"The tag [{tag}] after parentheses applies to each term in them."
        repairs.append(Repair("tag_after_parentheses", message, tokens[end + 1].start))
        for index in range(start, end):
            tags.setdefault(index, tag)
    return tags


def can_truncate(before: str) -> bool:
    """Return whether PubMed truncates a term, by the text before the first ``*`` of the word or of the whole phrase.

    The User Guide demands four characters before the first ``*`` of a term, and a phrase is one term: ``"heart a*"``
    is truncated. Whether spaces and punctuation count is not documented; only letters and digits are counted here. With
    fewer, PubMed searches the bare word, and every ``*`` of the term is dropped here.
    """
    return sum(map(str.isalnum, before)) >= SHORTEST_STEM


def measure_window(words: Sequence[str], distance: int) -> int:
    """Return the length of a window that has all words and at most ``distance`` other words.

    The User Guide counts the words "between your search terms", which is ambiguous for three or more. Lucene, on which
    PubMed runs, counts all other words of the window. A word that is given twice must occur twice.
    """
    return len(words) + distance


def allows_proximity(field_allows: bool, words: Sequence[str], distance: int, quoted: bool) -> bool:
    """Return whether ``[field:~N]`` is a proximity search; otherwise PubMed's reaction is not documented.

    An invalid one is searched as a phrase in the field, which never finds more.
    """
    return field_allows and quoted and len(words) > 1 and distance <= MAX_DISTANCE


def subtract_months(amount: int, unit: str, today: date) -> int:
    """Return the first day (yyyymmdd) of the last months or years: the same day of an earlier month.

    The User Guide gives "last 5 years" and no day. A month without that day ends earlier.
    """
    months = today.year * 12 + today.month - 1 - amount * (12 if unit == "year" else 1)
    if months < 12:
        return 101
    year, month = divmod(months, 12)
    day = min(today.day, calendar.monthrange(year, month + 1)[1])
    return year * 10000 + (month + 1) * 100 + day


def choose_date_column(column: str, *, is_range: bool) -> str:
    """Return the column of dates that a search uses.

    The User Guide: ``2008[dp]`` matches the print date, or the electronic date unless it is later; a range matches
    either date. A recorded reply prints ``2008[pdat]`` as a range, so the difference may no longer exist.
    """
    return "pdat_single" if column == "pdat" and not is_range else column


def is_major_pair(heading_major: bool, pair_major: bool) -> bool:
    """Return whether a heading with a subheading is a major topic: the subheading or the heading is marked.

    The User Guide mentions both "major heading" and "major heading/subheading" and no combination of them.
    """
    return heading_major or pair_major


def allows_any_initials(key: str, *, quoted: bool) -> bool:
    """Return whether a name without initials matches all initials.

    According to the User Guide, quotation marks turn off truncation of ``"smith j"[au]``. It does not mention surnames
    alone. No author has only a surname, so quotation marks around one are ignored.
    """
    return not quoted or " " not in key


def combine_number_words(words: Sequence[str]) -> bool:
    """Return whether words without a tag are PMIDs: all of them are numbers of up to nine digits.

    The User Guide searches PMIDs without a tag and combines several with OR. A number among other words is a word.
    """
    return all(word.isascii() and word.isdigit() and len(word) < 10 for word in words)

"""The words of a reference as text: positions of words, and the names and numbers of a record that they can have."""

from collections.abc import Collection, Sequence
from typing import Final

from entrez_kit.citations.csl import Item
from entrez_kit.citations.names import Name
from entrez_kit.citations.titles import abbreviates
from entrez_kit.pubmed.comparison import fold_text
from entrez_kit.pubmed.models import Article, JournalInfo

_SUPERFLUOUS_WORDS: Final = (
    "a an and the of in on for to at from et al others doi pmid pmcid vol volume no nr number issue p pp pg pages "
    "article art epub ahead print online available published posted preprint pubmed central suppl supp supplement pt "
    "part nos vols advance publication press french german spanish chinese japanese russian italian portuguese dutch "
    "polish english abstract internet"
)
SUPERFLUOUS: Final = frozenset(_SUPERFLUOUS_WORDS.split())
"""Words that do not help to identify a work."""
GENERATIONS: Final = frozenset(("jr", "sr", "ii", "iii", "iv", "2nd", "3rd", "4th"))
"""Words after the names of persons."""
_PARTICLES: Final = ("non-dropping-particle", "dropping-particle")
MAX_INITIALS: Final = 3
MIN_GIVEN: Final = 4
"""Minimum letters of a given name; shorter words can be initials."""


def find_words(wanted: Sequence[str], words: Sequence[str]) -> int | None:
    """Return the position of consecutive words in other words."""
    if not wanted:
        return None
    size = len(wanted)
    return next((n for n in range(len(words) - size + 1) if list(words[n : n + size]) == list(wanted)), None)


def find_first_number(words: Sequence[str]) -> int:
    """Return the position of the first number in words, or else their length."""
    return next((n for n, word in enumerate(words) if word.isdigit()), len(words))


# Numbers


def list_volume_and_page(item: Item) -> tuple[list[str], list[str]]:
    """Return the words of the volume and of the first page of a record."""
    page = str(item.get("page") or item.get("number") or "").partition("-")[0]
    return fold_text(str(item.get("volume") or "")).split(), fold_text(page).split()


# Journal


def list_journal_names(article: Article, item: Item) -> list[str]:
    """Return the names of the journal of a record, or of the publisher of a book."""
    journal = article.journal_info or JournalInfo()
    names = [journal.title, journal.iso_abbreviation]
    names += [str(item[key]) for key in ("container-title", "container-title-short", "publisher") if item.get(key)]
    return [name for name in names if name]


def has_journal(words: Sequence[str], article: Article, item: Item) -> bool:
    """Return whether words contain a whole name of the journal of a record."""
    return any(find_words(fold_text(name).split(), words) is not None for name in list_journal_names(article, item))


def find_journal(words: Sequence[str], article: Article, item: Item) -> int | None:
    """Return the position of the journal in a text. An abbreviated name ends before the first number."""
    names = sorted((fold_text(name).split() for name in list_journal_names(article, item)), key=len, reverse=True)
    whole = next((start for name in names if (start := find_words(name, words)) is not None), None)
    if whole is not None:
        return whole
    end = start = find_first_number(words)
    known = [word for name in names for word in name]
    while start and any(abbreviates(words[start - 1], word) for word in known):
        start -= 1
    return start if start < end else None


# Names


def split_family(name: Name) -> list[str]:
    """Return the words of a family name, or of the name of a group without its article."""
    family = fold_text(str(name.get("literal") or name.get("family") or "")).split()
    return family[1:] if family[:1] == ["the"] and len(family) > 1 else family


def list_given_forms(name: Name) -> set[str]:
    """Return the forms of a given name: the name, its parts, and its initials with and without spaces."""
    words = fold_text(str(name.get("given") or "")).split()
    particles = fold_text(" ".join(str(name.get(part) or "") for part in _PARTICLES)).split()
    initials = "".join(word[0] for word in words)
    letters = {letter for word in words if len(word) <= MAX_INITIALS for letter in word}
    suffixes = GENERATIONS if name.get("suffix") else frozenset[str]()
    printed = fold_text(name.get("initials", ""))  # PubMed may have fewer initials than given names
    return {*words, *particles, *initials, initials, initials[:1], printed, "".join(words), *letters} - {""} | suffixes


def list_initials(name: Name) -> str:
    """Return the initials of a name whose given names are not known; empty if they are."""
    words = fold_text(str(name.get("given") or "")).split()
    return "".join(words) if all(len(word) == 1 for word in words) else ""


def take_given_names(words: Sequence[str], known: Collection[str], initials: tuple[str, str]) -> str | None:
    """Return the initials that are left for the second of two neighbours; None if a word is not a given name.

    Args:
        words: the words between the family names of the neighbours.
        known: words that need no initial.
        initials: the initials of the neighbours. Each one can be that of one given name.
    """
    before, after = initials
    for word in words:
        if word in known or (len(word) >= MIN_GIVEN and word[0] in before):
            before = before.replace(word[0], "", 1)
        elif len(word) >= MIN_GIVEN and word[0] in after:
            after = after.replace(word[0], "", 1)
        else:
            return None
    return after

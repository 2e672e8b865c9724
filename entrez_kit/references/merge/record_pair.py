"""Measure how two records agree: in title, authors, place (journal, volume, pages), abstract and kind."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum, IntEnum, auto
from functools import cached_property
from typing import Final, Literal

from entrez_kit.citations.titles import abbreviates
from entrez_kit.pubmed.comparison import are_titles_alike, is_one_edit
from entrez_kit.references.merge.signatures import Signature

MIN_WORDS: Final = 4
"""A title with fewer words identifies a work only together with its volume or page."""
NEAR_RATIO: Final = 92
LOOSE_RATIO: Final = 75
LONG_TITLE_WORDS: Final = 6
"""From this number of words, a title is not the title of a column that each issue has."""
LONG_TITLE: Final = 40
"""From this number of letters, a title that is a part of another one can be the same title."""
LONG_WORD: Final = 5
"""From this number of letters, a word with one other letter is a misspelling, not another word."""
MAX_REPLACED: Final = 2
"""Titles in which at most this number of places have other words are of two works: mortality and readmission."""
MIN_SHARED: Final = 0.5
SIMILAR_NAME: Final = 80
MAX_NAMES: Final = 12
"""Maximum authors of a record whose names are compared with mistakes."""
SAME_ABSTRACT: Final = 92
OTHER_ABSTRACT: Final = 55
ABSTRACT_LETTERS: Final = 600
MIN_ABSTRACT: Final = 200
_SMALL: Final = frozenset(("a", "an", "the", "of", "in", "on", "and", "for", "to", "by"))
"""Words that are not compared: databases omit or replace them."""
_INITIALS: Final = frozenset("abcdefghijklmnopqrstuvwxyz") | frozenset(
    ("de", "la", "van", "der", "von", "el", "al", "le")
)
_GENERIC: Final = re.compile(
    r"(?:the )?(?:editorials?|introduction|preface|foreword|abstracts?|letters?|case reports?|news|books?|obituary"
    r"|reviews?|comments?|discussion|conclusions?|summary|report|reports|announcements?|questions?|images?"
    r"|posters?|oral presentations?|from|to|the|editors?|in|of|this|issue|book|and|general|guest|message|welcome"
    r"|contents|corrections?|retraction|concern)"
    r"(?: (?:editorials?|letters?|case|reports?|news|books?|reviews?|comments?|in|of|this|issue|the|to|from|editors?"
    r"|and|abstracts?|clinical|medicine|images?|presentations?|introduction|general|discussion))*"
)
"""Titles that many articles share."""
Kind = Literal["is_erratum", "is_reply", "is_protocol", "is_preprint", "is_registration"]


class TitleLevel(IntEnum):
    """How well two titles agree; a larger value is a better agreement."""

    DIFFERENT = 0
    LOOSE = 1
    NEAR = 2
    EXACT = 3


class AuthorAgreement(Enum):
    """Whether the authors of two records agree. They are unknown if a record has none."""

    DIFFERENT = auto()
    UNKNOWN = auto()
    SAME = auto()


class RecordPair:
    """Two records, and how they agree. Each comparison is made when it is first needed, and once."""

    def __init__(self, first: Signature, second: Signature) -> None:
        self.first = first
        self.second = second

    @cached_property
    def titles(self) -> "TitleAgreement":
        """The agreement of the titles."""
        return compare_titles(self.first, self.second)

    @cached_property
    def has_other_word(self) -> bool:
        """Whether the titles agree, except for one or two words: mortality and readmission."""
        return self.titles.level < TitleLevel.NEAR and _has_other_word(self.first, self.second)

    @cached_property
    def authors(self) -> AuthorAgreement:
        """The agreement of the authors."""
        return compare_authors(self.first, self.second)

    @cached_property
    def place(self) -> "PlaceAgreement":
        """The agreement of the places."""
        return compare_places(self.first, self.second)

    @cached_property
    def has_same_abstract(self) -> bool | None:
        """Whether the abstracts are equal; None if a record has none or they are only similar."""
        return compare_abstracts(self.first, self.second)

    @property
    def has_same_doi(self) -> bool:
        """Whether both records have the same DOI."""
        return bool(self.first.doi and self.first.doi == self.second.doi)

    @property
    def has_other_accessions(self) -> bool:
        """Whether a database has two numbers of one form for the records, and no number is common."""
        return have_other_accessions(self.first, self.second)

    @property
    def has_common_identifier(self) -> bool:
        """Whether the DOI, the PMCID, a registration, or a number in a database is the same."""
        first, second = self.first, self.second
        has_pmcid = bool(first.pmcid and first.pmcid == second.pmcid)
        return (
            self.has_same_doi or has_pmcid or bool(first.ids & second.ids or first.registrations & second.registrations)
        )

    @property
    def is_translated(self) -> bool:
        """Whether one title can be the translation of the other one, by their languages."""
        return self.first.language != self.second.language

    @property
    def has_other_type(self) -> bool:
        """Whether one record is a letter or an editorial by its type, and the other one an article."""
        first, second = self.first, self.second
        return first.is_letter != second.is_letter and first.is_article != second.is_article

    @property
    def has_other_registrations(self) -> bool:
        """Whether both records are of trial registers, with different numbers."""
        mine, theirs = self.first.registrations, self.second.registrations
        return bool(mine and theirs and not mine & theirs)

    @property
    def has_other_pmids(self) -> bool:
        """Whether both records have a PMID, and they differ."""
        return bool(self.first.pmid and self.second.pmid and self.first.pmid != self.second.pmid)

    @property
    def has_same_pmid(self) -> bool:
        """Whether both records have the same PMID."""
        return bool(self.first.pmid and self.first.pmid == self.second.pmid)

    @property
    def has_other_parts(self) -> bool:
        """Whether the titles name different parts of a series."""
        return bool(self.first.part and self.second.part and self.first.part != self.second.part)

    @property
    def has_same_authors(self) -> bool:
        """Whether both records have authors, and they agree."""
        return self.authors == AuthorAgreement.SAME

    @property
    def has_other_authors(self) -> bool:
        """Whether both records have authors, and they differ."""
        return self.authors == AuthorAgreement.DIFFERENT

    @property
    def has_same_title(self) -> bool:
        """Whether the titles are equal."""
        return self.titles.level == TitleLevel.EXACT

    @property
    def has_similar_core(self) -> bool:
        """Whether the titles agree without the words of their kinds, or one of them contains the other."""
        return self.titles.cores >= NEAR_RATIO or _is_core_inside(self.first, self.second)

    @property
    def has_identifying_title(self) -> bool:
        """Whether the titles identify a work: they are long, or belong to a volume or a page."""
        if _GENERIC.fullmatch(self.first.title):
            return False
        words = min(len(self.first.title.split()), len(self.second.title.split()))
        return words >= MIN_WORDS or bool(self.place.volume or self.place.page)

    @property
    def has_specific_title(self) -> bool:
        """Whether the titles have enough words, and are not titles of columns such as "From the editor"."""
        words = min(len(self.first.title.split()), len(self.second.title.split()))
        return words >= MIN_WORDS and not _GENERIC.fullmatch(self.first.title)

    @property
    def has_other_issue(self) -> bool:
        """Whether the issues differ, and cannot be a mistake in records of one long title at one range of pages."""
        is_mistake = self.place.is_certain and self.has_same_title and self.has_same_authors
        is_mistake = is_mistake and len(self.first.title.split()) >= LONG_TITLE_WORDS
        return self.place.issue is False and not is_mistake

    @property
    def is_title_at_page(self) -> bool:
        """Whether a title that identifies a work is at one page of a volume in both records."""
        return self.has_same_title and self.has_specific_title and self.place.is_whole

    @property
    def is_in_collection(self) -> bool:
        """Whether a record may be one of several abstracts on its page or with its DOI."""
        return self.first.may_be_abstract or self.second.may_be_abstract

    @property
    def differs_in_conference(self) -> bool:
        """Whether only one record is of a conference; the proceedings of one journal name do not count."""
        first, second = self.first, self.second
        if self.place.journal:
            return first.is_conference != second.is_conference
        return (first.is_conference or first.is_proceedings) != (second.is_conference or second.is_proceedings)

    @property
    def has_same_pages(self) -> bool:
        """Whether the first pages are equal, and the volumes do not differ."""
        first, second = self.first, self.second
        other_volumes = first.volume and second.volume and first.volume != second.volume
        return bool(first.first_page and first.first_page == second.first_page and not other_volumes)

    @property
    def has_other_pages(self) -> bool:
        """Whether the first pages differ."""
        first, second = self.first, self.second
        return bool(first.first_page and second.first_page and first.first_page != second.first_page)

    @property
    def is_near_in_time(self) -> bool:
        """Whether the years differ by one at most, or a record has none."""
        return self.place.years is None or self.place.years <= 1

    def differs_in(self, kind: Kind) -> bool:
        """Return whether one of the records is of this kind, and the other is not."""
        return bool(getattr(self.first, kind) != getattr(self.second, kind))


# Titles


@dataclass(frozen=True, slots=True)
class TitleAgreement:
    """The agreement of two titles.

    Args:
        level: the best agreement of two of their titles.
        ratio: the ratio of equal letters in percent.
        cores: the same ratio without the words of their kinds ("part", "protocol", "erratum").
        is_part: whether one title is the beginning or the end of the other one.
        is_alike: whether the titles agree, except for words that are similar: men and women.
    """

    level: TitleLevel = TitleLevel.DIFFERENT
    ratio: float = 0.0
    cores: float = 0.0
    is_part: bool = False
    is_alike: bool = False


def compare_titles(first: Signature, second: Signature) -> TitleAgreement:
    """Compare all titles of two records, and the cores of the titles."""
    from rapidfuzz.fuzz import ratio

    if not first.title or not second.title:
        return TitleAgreement()
    level, best, cores = TitleLevel.DIFFERENT, 0.0, 0.0
    if _is_beginning(first, second) or _is_beginning(second, first):
        level = TitleLevel.NEAR
    for mine in first.titles:
        for theirs in second.titles:
            likeness = ratio(mine, theirs)
            best = max(best, likeness)
            level = max(level, _rate_titles(mine, theirs, likeness))
    if first.core and second.core:
        is_whole = first.core == first.title and second.core == second.title
        cores = best if is_whole else ratio(first.core, second.core)
    if level == TitleLevel.EXACT:
        return TitleAgreement(level, best, cores, is_alike=True)
    has_numbers = first.numbers == second.numbers or _is_extended(first, second)
    level = level if has_numbers else min(level, TitleLevel.LOOSE)
    is_alike = has_numbers and best >= NEAR_RATIO and are_titles_alike(first.title, second.title)
    return TitleAgreement(
        level,
        best,
        cores,
        is_part=level == TitleLevel.NEAR
        and not (first.is_cut or second.is_cut)
        and _is_part(first.title, second.title),
        is_alike=is_alike or level == TitleLevel.NEAR,
    )


def _is_beginning(first: Signature, second: Signature) -> bool:
    """Return whether a title that ends with "..." is the beginning of the other one."""
    if not first.is_cut:
        return False
    mine, theirs = first.title.replace(" ", ""), second.title.replace(" ", "")
    return len(mine) >= LONG_TITLE and theirs.startswith(mine)


def _is_part(first: str, second: str) -> bool:
    """Return whether one title is the beginning or the end of the other one, as if a subtitle was omitted."""
    smaller, larger = sorted((first, second), key=len)
    return len(smaller) >= LONG_TITLE and (larger.startswith(f"{smaller} ") or larger.endswith(f" {smaller}"))


def _rate_titles(mine: str, theirs: str, ratio: float) -> TitleLevel:
    """Return the level of agreement of two folded titles with this ratio of equal letters."""
    if ratio == 100 or mine.replace(" ", "") == theirs.replace(" ", ""):
        return TitleLevel.EXACT
    if _is_part(mine, theirs) or (ratio >= NEAR_RATIO and _is_misspelt(mine, theirs)):
        return TitleLevel.NEAR
    return TitleLevel.LOOSE if ratio >= LOOSE_RATIO else TitleLevel.DIFFERENT


def _list_changes(mine: str, theirs: str) -> list[tuple[list[str], list[str]]]:
    """Return the places at which two titles have other words, and the words of each one."""
    words, others = mine.split(), theirs.split()
    codes = SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    changes = [(words[a:b], others[c:d]) for code, a, b, c, d in codes if code != "equal"]
    important = [(first, second) for first, second in changes if not _SMALL.issuperset((*first, *second))]
    changes = [(_omit_small_words(first), _omit_small_words(second)) for first, second in important]
    return [(first, second) for first, second in changes if "".join(first) != "".join(second)]


def _omit_small_words(words: list[str]) -> list[str]:
    """Return the words without small ones; all words if they are all small: "a" and "b" are different."""
    return [word for word in words if word not in _SMALL] or words


def _is_edit(first: str, second: str) -> bool:
    """Return whether one of two words is long, and differs in one letter from the other one."""
    is_word = first.isalpha() and second.isalpha()
    return is_word and max(len(first), len(second)) >= LONG_WORD and is_one_edit(first, second)


def _is_misspelt(mine: str, theirs: str) -> bool:
    """Return whether two titles differ in misspelt words only: in one letter of a long word, after its beginning.

    Opposites differ at their beginning: abduction and adduction, afferent and efferent, typical and atypical.
    """
    for change in _list_changes(mine, theirs):
        first, second = map("".join, change)
        # A missing letter makes no other word, except for the first letter.
        letters = 2 if len(first) == len(second) else 1
        if first[:letters] != second[:letters] or not _is_edit(first, second):
            return False
    return True


def _has_other_word(first: Signature, second: Signature) -> bool:
    """Return whether two titles have the same words, except for one or two places with other words.

    A word in addition, or one with another letter, is not another word. Two translations can have other words.
    """
    if first.language or second.language:
        return False
    changes = _list_changes(first.title, second.title)
    return 0 < len(changes) <= MAX_REPLACED and not any(_is_addition(*change) for change in changes)


def _is_addition(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether some words are others with words in addition, or with one missing or other letter."""
    shorter, longer = sorted((mine, theirs), key=len)
    beginnings = ("".join(longer[:size]) for size in range(len(longer) + 1))
    first, second = "".join(shorter), "".join(longer)
    are_words = min(len(first), len(second)) > 2 and (first + second).isalpha()
    has_missing_letter = are_words and len(first) != len(second) and is_one_edit(first, second)
    return first in beginnings or has_missing_letter or _is_edit(first, second)


def _is_extended(first: Signature, second: Signature) -> bool:
    """Return whether one title continues where the other ends, so that it can have more numbers."""
    smaller, larger = sorted((first.title, second.title), key=len)
    return len(smaller) >= LONG_TITLE and larger.startswith(f"{smaller} ")


def _is_core_inside(first: Signature, second: Signature) -> bool:
    """Return whether the core of one title contains that of the other one."""
    smaller, larger = sorted((first.core, second.core), key=len)
    return (
        len(smaller) >= LONG_TITLE and smaller in larger and (first.core != first.title or second.core != second.title)
    )


# Authors


def compare_authors(first: Signature, second: Signature) -> AuthorAgreement:
    """Compare the authors of two records."""
    if not first.families or not second.families:
        return _compare_groups(first, second)
    if len(first.families) == 1:
        agrees = _has_author(first, second)
    elif len(second.families) == 1:
        agrees = _has_author(second, first)
    else:
        agrees = (
            _share_names(first, second) or _share_swapped_names(first, second) or _share_similar_names(first, second)
        )
    return AuthorAgreement.SAME if agrees else AuthorAgreement.DIFFERENT


def _compare_groups(first: Signature, second: Signature) -> AuthorAgreement:
    """Compare the groups of two records; the persons of other groups are unknown."""
    is_same = any(_is_similar(mine, theirs) for mine in first.groups for theirs in second.groups)
    return AuthorAgreement.SAME if is_same else AuthorAgreement.UNKNOWN


def _has_author(lone: Signature, second: Signature) -> bool:
    """Return whether the only author of a record is an author of the other record."""
    author = lone.families[0]
    return bool(
        lone.names & second.names - _INITIALS
        or set(author.split()) & _list_name_words(second)
        or _is_similar(author, second.families[0])
    )


def _share_names(first: Signature, second: Signature) -> bool:
    """Return whether enough family names are equal; if the first authors agree, fewer are enough."""
    mine, theirs = _list_name_words(first), _list_name_words(second)
    fewest = min(len(mine), len(theirs))
    shared = len(mine & theirs) / fewest
    if shared >= MIN_SHARED or (first.names & second.names - _INITIALS and shared > 0.2):
        return True
    return _is_similar(first.families[0], second.families[0]) and (shared > 0.2 or fewest <= 3)


def _share_swapped_names(first: Signature, second: Signature) -> bool:
    """Return whether enough names are equal if given and family names are swapped."""
    fewest = min(len(first.everyone), len(second.everyone))
    return len(first.everyone & second.everyone) >= max(2, MIN_SHARED * fewest)


def _share_similar_names(first: Signature, second: Signature) -> bool:
    """Return whether enough family names are similar."""
    mine, theirs = first.families[:MAX_NAMES], second.families[:MAX_NAMES]
    similar = sum(any(_is_similar(name, another) for another in theirs) for name in mine)
    return similar / min(len(mine), len(theirs)) >= MIN_SHARED


def _list_name_words(record: Signature) -> set[str]:
    return {word for name in record.families for word in name.split() if len(word) > 1 and word not in _INITIALS}


def _is_similar(first: str, second: str) -> bool:
    from rapidfuzz.fuzz import ratio

    return ratio(first.replace(" ", ""), second.replace(" ", "")) >= SIMILAR_NAME


# Places


@dataclass(frozen=True, slots=True)
class PlaceAgreement:
    """The agreement of two places; None if a record lacks the part.

    Args:
        years: the difference of the years.
        long: whether both records have a range of at least three pages.
    """

    journal: bool | None
    volume: bool | None
    issue: bool | None
    page: bool | None
    last: bool | None
    years: int | None
    long: bool

    @property
    def is_certain(self) -> bool:
        """Whether no other article of the issue has this place: a range of at least three pages in a volume."""
        return bool(self.volume and self.page and self.last and self.long)

    @property
    def is_whole(self) -> bool:
        """Whether journal, volume and first page agree."""
        return bool(self.journal and self.volume and self.page)

    def list_differing(self) -> list[str]:
        """Return the names of the parts that differ."""
        parts = (("journal", self.journal), ("volume", self.volume), ("first page", self.page))
        return [name for name, is_same in parts if is_same is False]


def compare_places(first: Signature, second: Signature) -> PlaceAgreement:
    """Compare journal, volume, issue, pages and year of two records."""
    return PlaceAgreement(
        journal=_is_same_journal(first, second),
        volume=_is_equal(first.volume, second.volume),
        issue=_is_same_issue(first, second),
        page=_is_same_first_page(first, second),
        last=_is_equal(first.last_page, second.last_page),
        years=abs(first.year - second.year) if first.year and second.year else None,
        long=first.pages_length > 2 and second.pages_length > 2,
    )


def _is_equal(mine: str, theirs: str) -> bool | None:
    """Return whether two values are equal; None if one is missing."""
    return mine == theirs if mine and theirs else None


def _is_same_issue(first: Signature, second: Signature) -> bool | None:
    """Return whether two issues have a number in common; else whether two supplements have the same number."""
    if first.issues and second.issues:
        return bool(first.issues & second.issues)
    return _is_equal(first.supplement.removeprefix("s"), second.supplement.removeprefix("s"))


def have_other_accessions(first: Signature, second: Signature) -> bool:
    """Return whether a database has two numbers of one form for the records, and no number is common."""
    if first.ids & second.ids:
        return False
    return bool(_list_forms(first) & _list_forms(second))


def _list_forms(record: Signature) -> set[tuple[str, str]]:
    """Return the forms of the accession numbers of each database: a database can have two kinds of numbers."""
    return {(database, re.sub("[0-9]", "0", number)) for database, number in record.ids if database != "PubMed"}


def _is_same_first_page(first: Signature, second: Signature) -> bool | None:
    """Return whether two first pages are equal: also "811a" and "811", "viii108" and "108"."""
    is_same = _is_equal(first.first_page, second.first_page)
    if is_same is False:
        return bool(first.starts & second.starts) or _keep_digits(first.first_page) == _keep_digits(second.first_page)
    return is_same


def _keep_digits(text: str) -> str:
    return "".join(letter for letter in text if letter.isdigit()) or text


def _is_same_journal(first: Signature, second: Signature) -> bool | None:
    """Return whether two names are one journal; None if a record has none."""
    if not first.journal or not second.journal:
        return None
    if first.journal == second.journal:
        return True
    return any(_is_same_name(mine, theirs) for mine in first.journals for theirs in second.journals)


def _is_same_name(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Return whether two names are equal, one abbreviates the words of the other, or has their initials."""
    if mine == theirs:
        return True
    if len(mine) == len(theirs) and len(mine) > 1:
        return all(abbreviates(*sorted(pair, key=len)) for pair in zip(mine, theirs, strict=True))
    smaller, larger = sorted((mine, theirs), key=len)
    if len(smaller) == 1 and len(larger) > 2:
        word = smaller[0]
        if word == "".join(part[0] for part in larger):
            return True
        return len(word) > 7 and _is_squeezed(word, larger)
    if len(smaller) > 2 and larger[: len(smaller)] == smaller:
        return True
    from rapidfuzz.fuzz import ratio

    return ratio(" ".join(mine), " ".join(theirs)) >= 90 and len(smaller) > 1


def _is_squeezed(word: str, parts: tuple[str, ...]) -> bool:
    """Return whether a word consists of the beginnings of words: "revargentcardiol"."""
    if not parts:
        return not word
    first = parts[0]
    for size in range(min(len(word), len(first)), 0, -1):
        if word[:size] == first[:size] and _is_squeezed(word[size:], parts[1:]):
            return True
    return False


# Abstracts


def compare_abstracts(first: Signature, second: Signature) -> bool | None:
    """Return true for the same abstract, false for two different ones, and None if that is not clear."""
    if min(len(first.abstract), len(second.abstract)) < MIN_ABSTRACT:
        return None
    from rapidfuzz.fuzz import ratio

    mine, theirs = (" ".join(text[:ABSTRACT_LETTERS].casefold().split()) for text in (first.abstract, second.abstract))
    likeness = ratio(mine, theirs)
    if likeness >= SAME_ABSTRACT:
        return True
    return False if likeness < OTHER_ABSTRACT else None

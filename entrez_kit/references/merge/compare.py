"""Decide whether two records are the same work, publications of one family, or a pair that a person must decide.

A merge needs agreement of the title, the authors and the place (journal, volume, pages), or of an identifier. Two
PMIDs, two DOIs, the parts of a series, and the kinds of publications keep records apart whatever else agrees.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from entrez_kit.citations.titles import abbreviates
from entrez_kit.pubmed.comparison import are_titles_alike
from entrez_kit.references.merge.signatures import Signature, find_version

Relation = Literal["preprint", "part", "protocol", "conference", "version", "erratum", "reply", "another_publication"]
"""How the members of a family are related."""

EXACT: Final = 3
NEAR: Final = 2
LOOSE: Final = 1
MIN_WORDS: Final = 4
"""A title with fewer words identifies a work only together with its volume or page."""
NEAR_RATIO: Final = 92
LOOSE_RATIO: Final = 75
CANDIDATE_RATIO: Final = 60
SAME_ABSTRACT: Final = 92
OTHER_ABSTRACT: Final = 55
ABSTRACT_LETTERS: Final = 600
MIN_ABSTRACT: Final = 200
MIN_SHARED: Final = 0.5
MIN_CONTENT: Final = 4
"""The fewest fields of identical records."""
_COCHRANE_NUMBER: Final = re.compile(r"(?:cd|mr)[0-9]{6}")
_GENERIC: Final = re.compile(
    r"(?:the )?(?:editorials?|introduction|preface|foreword|abstracts?|letters?|case reports?|news|books?|obituary"
    r"|reviews?|comments?|discussion|conclusions?|summary|report|reports|announcements?|questions?|images?"
    r"|posters?|oral presentations?|from|to|the|editors?|in|of|this|issue|book|and|general|guest|message|welcome"
    r"|contents)"
    r"(?: (?:editorials?|letters?|case|reports?|news|books?|reviews?|comments?|in|of|this|issue|the|to|from|editors?"
    r"|and|abstracts?|clinical|medicine|images?|presentations?|introduction|general|discussion))*"
)
"""Titles that many articles share."""


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The result of comparing two records.

    Args:
        kind: ``same`` to merge them, ``family`` to link them, ``undecided`` for a person to decide.
        why: the reason in words.
        strength: larger values are more certain; certain pairs are merged first.
        relation: how the members of a family are related.
    """

    kind: Literal["same", "family", "undecided"]
    why: str
    strength: int = 0
    relation: Relation | None = None


def find_conflict(one: Signature, other: Signature) -> str | None:
    """Return why two records are never merged automatically: identifiers, parts or kinds that differ; else None."""
    if one.pmid and other.pmid:
        return None if one.pmid == other.pmid else f"different PMIDs: {one.pmid} and {other.pmid}"
    if one.doi and other.doi and one.doi != other.doi:
        return f"different DOIs: {one.doi} and {other.doi}"
    if one.part and other.part and one.part != other.part:
        return f"different parts: {one.part} and {other.part}"
    for name, text in _KINDS:
        if getattr(one, name) != getattr(other, name) and not (one.doi and one.doi == other.doi):
            return f"only one is {text}"
    return None


_KINDS: Final = (
    ("is_erratum", "a correction"),
    ("is_reply", "a letter, comment or reply"),
    ("is_preprint", "a preprint"),
)


def compare(one: Signature, other: Signature) -> PairVerdict | None:
    """Compare two records; None if they are different works."""
    if one.pmid and one.pmid == other.pmid:
        return PairVerdict("same", f"same PMID {one.pmid}", 100)
    if one.content == other.content and sum(map(bool, one.content)) >= MIN_CONTENT:
        return PairVerdict("same", "identical records", 99)
    if shared := one.ids & other.ids:
        database, number = min(shared)
        if not (one.pmid and other.pmid):
            return _compare_by_identifier(one, other, f"same {database} number {number}", 95)
    titles = _Titles(one, other)
    if one.doi and one.doi == other.doi:
        return _compare_by_identifier(one, other, f"same DOI {one.doi}", 90, titles)
    if one.pmcid and one.pmcid == other.pmcid:
        return _compare_by_identifier(one, other, f"same PMCID {one.pmcid}", 90, titles)
    if family := _compare_families(one, other, titles):
        return family
    return _compare_by_text(one, other, titles)


def _compare_by_identifier(
    one: Signature, other: Signature, why: str, strength: int, titles: "_Titles | None" = None
) -> PairVerdict:
    """Decide on two records with the same identifier: databases also give one DOI to all abstracts of a meeting."""
    if one.pmid and other.pmid:
        return PairVerdict("undecided", f"{why}, but different PMIDs: {one.pmid} and {other.pmid}")
    titles = titles or _Titles(one, other)
    if not one.title or not other.title or titles.ratio >= LOOSE_RATIO or titles.level:
        if one.part != other.part and one.part and other.part:
            return PairVerdict("undecided", f"{why}, but different parts: {one.part} and {other.part}")
        if one.is_erratum != other.is_erratum or (one.is_reply != other.is_reply and titles.level < EXACT):
            return PairVerdict("undecided", f"{why}, but only one is a correction, comment or reply")
        return PairVerdict("same", why, strength)
    if _is_at_same_pages(one, other) or (_rate_authors(one, other) == 2 and titles.ratio >= CANDIDATE_RATIO):
        return PairVerdict("same", f"{why}, same authors or pages", strength - 5)
    if _rate_authors(one, other) == 2 and not _have_other_pages(one, other):  # a translated title
        return PairVerdict("same", f"{why}, same authors", strength - 5)
    return PairVerdict("undecided", f"{why}, but different titles")


class _Titles:
    """The agreement of two titles: its level, and the ratio of equal letters in percent."""

    __slots__ = ("cores", "level", "ratio")

    def __init__(self, one: Signature, other: Signature) -> None:
        from rapidfuzz.fuzz import ratio

        self.level, self.ratio = 0, 0.0
        self.cores = 0.0
        if not one.title or not other.title:
            return
        for mine in one.titles:
            for theirs in other.titles:
                self.ratio = max(self.ratio, ratio(mine, theirs))
                self.level = max(self.level, _rate_titles(mine, theirs, self.ratio))
        if one.core and other.core:
            if one.core == one.title and other.core == other.title:
                self.cores = self.ratio
            else:
                self.cores = ratio(one.core, other.core)
        if self.level < EXACT and one.numbers != other.numbers and not _is_extended(one, other):
            self.level = min(self.level, LOOSE)


def _rate_titles(mine: str, theirs: str, ratio: float) -> int:
    if ratio == 100 or mine.replace(" ", "") == theirs.replace(" ", ""):
        return EXACT
    smaller, larger = sorted((mine, theirs), key=len)
    if len(smaller) >= 40 and (larger.startswith(f"{smaller} ") or larger.endswith(f" {smaller}")):
        return NEAR
    if ratio >= NEAR_RATIO and are_titles_alike(mine, theirs):
        return NEAR
    return LOOSE if ratio >= LOOSE_RATIO else 0


def _is_extended(one: Signature, other: Signature) -> bool:
    """Return whether one title continues where the other ends, so that it can have more numbers."""
    smaller, larger = sorted((one.title, other.title), key=len)
    return len(smaller) >= 40 and larger.startswith(f"{smaller} ")


# Authors


def _rate_authors(one: Signature, other: Signature) -> int:
    """Return 2 if the authors agree, 1 if a record has none, 0 if they differ."""
    if not one.families or not other.families:
        return 1
    mine, theirs = _name_words(one), _name_words(other)
    if len(one.families) == 1 or len(other.families) == 1:
        lone, all_words = (one, theirs) if len(one.families) == 1 else (other, mine)
        first = other if lone is one else one
        if lone.names & first.names - _INITIALS:
            return 2
        if set(lone.families[0].split()) & all_words:
            return 2
        return 2 if _is_similar(lone.families[0], first.families[0]) else 0
    shared = len(mine & theirs) / min(len(mine), len(theirs))
    if shared >= MIN_SHARED:
        return 2
    if one.names & other.names - _INITIALS and shared > 0.2:
        return 2
    if _is_similar(one.families[0], other.families[0]) and (shared > 0.2 or min(len(mine), len(theirs)) <= 3):
        return 2
    if len(one.everyone & other.everyone) >= max(2, MIN_SHARED * min(len(one.everyone), len(other.everyone))):
        return 2  # given and family names are swapped
    alike = sum(any(_is_similar(name, another) for another in other.families[:12]) for name in one.families[:12])
    return 2 if alike / min(len(one.families), len(other.families), 12) >= MIN_SHARED else 0


_INITIALS: Final = frozenset("abcdefghijklmnopqrstuvwxyz") | frozenset(
    ("de", "la", "van", "der", "von", "el", "al", "le")
)


def _name_words(record: Signature) -> set[str]:
    return {word for name in record.families for word in name.split() if len(word) > 1 and word not in _INITIALS}


def _is_similar(one: str, other: str) -> bool:
    from rapidfuzz.fuzz import ratio

    return ratio(one.replace(" ", ""), other.replace(" ", "")) >= 80


# Place


def _is_same_journal(one: Signature, other: Signature) -> bool | None:
    """Return whether two names are one journal; None if a record has none."""
    if not one.journal or not other.journal:
        return None
    if one.journal == other.journal:
        return True
    return any(_is_same_name(mine, theirs) for mine in one.journals for theirs in other.journals)


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


def _is_at_same_pages(one: Signature, other: Signature) -> bool:
    return bool(one.first_page and one.first_page == other.first_page and not _have_other_volumes(one, other))


def _have_other_volumes(one: Signature, other: Signature) -> bool:
    return bool(one.volume and other.volume and one.volume != other.volume)


def _have_other_pages(one: Signature, other: Signature) -> bool:
    return bool(one.first_page and other.first_page and one.first_page != other.first_page)


@dataclass(frozen=True, slots=True)
class _Place:
    """The agreement of two places; None if a record lacks the part."""

    journal: bool | None
    volume: bool | None
    issue: bool | None
    page: bool | None
    last: bool | None
    years: int | None
    long: bool

    @property
    def is_certain(self) -> bool:
        """Whether no other article can have this place: a range of at least three pages in a volume."""
        return bool(self.volume and self.page and self.last and self.long)


def _compare_places(one: Signature, other: Signature) -> _Place:
    def agree(mine: str, theirs: str) -> bool | None:
        return mine == theirs if mine and theirs else None

    first = agree(one.first_page, other.first_page)
    if first is False and one.starts & other.starts:
        first = True
    if first is False and _keep_digits(one.first_page) == _keep_digits(
        other.first_page
    ):  # "811a" and "811", "viii108" and "108"
        first = True
    return _Place(
        journal=_is_same_journal(one, other),
        volume=agree(one.volume, other.volume),
        issue=agree(one.issue, other.issue),
        page=first,
        last=agree(one.last_page, other.last_page),
        years=abs(one.year - other.year) if one.year and other.year else None,
        long=one.pages_length > 2 and other.pages_length > 2,
    )


def _keep_digits(text: str) -> str:
    return "".join(letter for letter in text if letter.isdigit()) or text


# Families


def _compare_families(one: Signature, other: Signature, titles: _Titles) -> PairVerdict | None:
    """Return how two records with the same core of their titles are related; None if they are not a family."""
    if one.doi and other.doi and (first := find_version(one.doi)) and (second := find_version(other.doi)):
        numbers = sorted((first[1], second[1]))
        if first[0] == second[0] and first[1] != second[1]:
            return PairVerdict("family", f"versions {' and '.join(numbers)} of one work", 60, "version")
    if version := _compare_cochrane_versions(one, other):
        return version
    if titles.cores < NEAR_RATIO and titles.ratio < LOOSE_RATIO and not _is_core_inside(one, other):
        return None
    authors = _rate_authors(one, other)
    if one.is_erratum != other.is_erratum:
        if titles.cores >= NEAR_RATIO or _is_core_inside(one, other):
            return PairVerdict("family", "a correction and its article", 60, "erratum")
        return None
    if one.is_reply != other.is_reply:
        if titles.level == EXACT or not (titles.cores >= NEAR_RATIO or _is_core_inside(one, other)):
            return None
        return PairVerdict("family", "an article and a letter, comment or reply", 60, "reply")
    if authors == 0:
        return None
    if one.part and other.part and one.part != other.part and titles.cores >= LOOSE_RATIO:
        return PairVerdict("family", f"parts {min(one.part, other.part)} and {max(one.part, other.part)}", 60, "part")
    if (
        one.part != other.part
        and titles.level < EXACT
        and titles.cores >= NEAR_RATIO
        and not _is_same_place(one, other)
    ):
        return PairVerdict("family", "one title names a part", 60, "part")
    if one.is_preprint != other.is_preprint and authors == 2 and (titles.level >= LOOSE or titles.cores >= NEAR_RATIO):
        return PairVerdict("family", "a preprint and its article", 60, "preprint")
    if one.is_protocol != other.is_protocol and authors == 2 and titles.level < EXACT and titles.cores >= 85:
        return PairVerdict("family", "a protocol and its report", 60, "protocol")
    return None


def _compare_cochrane_versions(one: Signature, other: Signature) -> PairVerdict | None:
    """Return a verdict on two versions of a Cochrane review, which share its number and differ in year or title."""
    if not (one.first_page == other.first_page and _COCHRANE_NUMBER.fullmatch(one.first_page)):
        return None
    if one.year and other.year and (one.year != other.year or one.title != other.title):
        return PairVerdict("family", f"versions of the Cochrane review {one.first_page.upper()}", 60, "version")
    return None


def _is_core_inside(one: Signature, other: Signature) -> bool:
    smaller, larger = sorted((one.core, other.core), key=len)
    return len(smaller) >= 40 and smaller in larger and (one.core != one.title or other.core != other.title)


def _is_same_place(one: Signature, other: Signature) -> bool:
    place = _compare_places(one, other)
    return place.is_certain or bool(place.volume and place.page and place.journal)


# Titles, authors and places together


def _compare_by_text(one: Signature, other: Signature, titles: _Titles) -> PairVerdict | None:
    level = titles.level
    if level == 0 and not _is_at_same_pages(one, other):
        return None
    place = _compare_places(one, other)
    if level == 0 and not place.is_certain:
        return None
    authors = _rate_authors(one, other)
    verdict = _compare_texts(one, other, titles, authors, place)
    if verdict is None:
        return None
    if verdict.kind == "same" and (conflict := find_conflict(one, other)):
        return PairVerdict("undecided", f"{verdict.why}; {conflict}")
    if verdict.kind == "same" and level < EXACT and one.supplement != other.supplement and not place.is_certain:
        return PairVerdict("undecided", f"{verdict.why}; only one is in a supplement")
    return verdict


def _compare_texts(
    one: Signature, other: Signature, titles: _Titles, authors: int, place: _Place
) -> PairVerdict | None:
    """Compare two records that have no identifier in common."""
    level = titles.level
    long_title = len(one.title.split()) >= MIN_WORDS and len(other.title.split()) >= MIN_WORDS
    agreed = _describe_agreement(place)
    if place.is_certain and authors:
        # The same pages of the same volume: the title may be translated or rewritten.
        is_translated = authors == 2 and place.journal and (place.years or 0) <= 1
        if is_translated or (level and (authors == 2 or level >= NEAR or place.journal)):
            return PairVerdict(
                "same", f"{_describe_titles(level)}{_describe_authors(authors)}{agreed}", 50 + 10 * level
            )
        return None
    if authors == 0 or level == 0:
        return None
    near_year = place.years is None or place.years <= 1
    if (
        place.journal is not False
        and place.volume
        and place.page
        and near_year
        and (
            level >= NEAR
            or (
                level == LOOSE
                and authors == 2
                and place.journal
                and titles.ratio >= 85
                and one.numbers == other.numbers
            )
        )
        and (authors == 2 or place.journal)
    ):
        return PairVerdict("same", f"{_describe_titles(level)}{_describe_authors(authors)}{agreed}", 40 + 10 * level)
    if level < NEAR or _GENERIC.fullmatch(one.title) or not (long_title or place.volume or place.page):
        return None
    if place.journal is False and place.volume and place.page and near_year and authors == 2 and level == EXACT:
        return PairVerdict("same", f"{_describe_titles(level)}{_describe_authors(authors)}{agreed}", 45)
    return _compare_without_place(one, other, level, authors, place)


def _compare_without_place(
    one: Signature, other: Signature, level: int, authors: int, place: _Place
) -> PairVerdict | None:
    """Decide on two records with the same title and authors whose places are incomplete or differ."""
    words = f"{_describe_titles(level)}{_describe_authors(authors)}{_describe_agreement(place)}"
    differing = [
        name
        for name, is_same in (("journal", place.journal), ("volume", place.volume), ("first page", place.page))
        if is_same is False
    ]
    near_year = place.years is None or place.years <= 1
    other_text = _rate_abstracts(one, other) == 0
    if not differing and place.journal and near_year and not other_text:
        is_near = place.years == 0 or bool(place.volume or place.page) or _rate_abstracts(one, other) == 2
        if (level == EXACT and is_near and authors == 2) or (
            level == NEAR and authors == 2 and (place.volume or place.page)
        ):
            return PairVerdict("same", words, 30 + 10 * level)
        if level == EXACT and place.page and place.years == 0:
            return PairVerdict("same", words, 30)
    if level == EXACT and authors == 2 and place.journal and place.volume and place.issue and place.years == 0:
        return PairVerdict("same", f"{words} and issue", 35)  # the pages of one record are wrong
    if _rate_abstracts(one, other) == 2 and authors == 2 and level == EXACT and near_year and not differing:
        return PairVerdict("same", f"{words}, same abstract", 30)
    if authors == 2 and one.is_conference != other.is_conference and differing and not (place.journal and place.volume):
        return PairVerdict("family", "a conference contribution and an article", 50, "conference")
    if authors == 2 and (len(differing) > 1 or (differing and not near_year) or (place.years or 0) > 1):
        if level == EXACT or _rate_abstracts(one, other) == 2:
            return PairVerdict(
                "family", f"{words}, other {_join_names(differing) or 'year'}", 50, "another_publication"
            )
        return None
    if authors == 2 and (level == EXACT or _rate_abstracts(one, other) == 2):
        other_place = f", other {_join_names(differing)}" if differing else ""
        return PairVerdict("undecided", f"{words}{other_place}")
    if authors == 1 and level == EXACT and not differing and near_year:
        return PairVerdict("undecided", words)
    if authors == 2 and not differing and near_year:
        return PairVerdict("undecided", words)
    return None


def _rate_abstracts(one: Signature, other: Signature) -> int:
    """Return 2 for the same abstract, 0 for two different ones, 1 otherwise."""
    if min(len(one.abstract), len(other.abstract)) < MIN_ABSTRACT:
        return 1
    from rapidfuzz.fuzz import ratio

    mine, theirs = (" ".join(text[:ABSTRACT_LETTERS].casefold().split()) for text in (one.abstract, other.abstract))
    likeness = ratio(mine, theirs)
    return 2 if likeness >= SAME_ABSTRACT else 0 if likeness < OTHER_ABSTRACT else 1


# Reasons


def _describe_titles(level: int) -> str:
    return {EXACT: "same title", NEAR: "nearly the same title", LOOSE: "similar title", 0: "other title"}[level]


def _describe_authors(authors: int) -> str:
    return ", same authors" if authors == 2 else ", authors missing"


def _describe_agreement(place: _Place) -> str:
    named = {"journal": place.journal, "year": place.years == 0, "volume": place.volume, "pages": place.page}
    parts = [name for name, is_same in named.items() if is_same]
    return f", same {_join_names(parts)}" if parts else ""


def _join_names(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)

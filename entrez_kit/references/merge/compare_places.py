"""Compare the places of two records: journal, volume, issue, pages and year."""

from dataclasses import dataclass

from entrez_kit.citations.titles import abbreviates
from entrez_kit.references.merge.signatures import Signature


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

    @property
    def is_near_in_time(self) -> bool:
        """Whether the years differ by one at most, or a record has none."""
        return self.years is None or self.years <= 1

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

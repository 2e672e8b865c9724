"""Decide whether the authors of two records agree."""

from enum import Enum, auto
from typing import Final

from entrez_kit.references.merge.signatures import Signature

MIN_SHARED: Final = 0.5
SIMILAR_NAME: Final = 80
MAX_NAMES: Final = 12
"""Maximum authors of a record whose names are compared with mistakes."""
_INITIALS: Final = frozenset("abcdefghijklmnopqrstuvwxyz") | frozenset(
    ("de", "la", "van", "der", "von", "el", "al", "le")
)


class AuthorAgreement(Enum):
    """Whether the authors of two records agree. They are unknown if a record has none."""

    DIFFERENT = auto()
    UNKNOWN = auto()
    SAME = auto()


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

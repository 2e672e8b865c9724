"""People in searches: PubMed truncates initials, and finds full names in both orders."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from entrez_kit.query import unsettled
from entrez_kit.query.mesh import rotate
from entrez_kit.query.record_terms import FULL
from entrez_kit.query.words import normalize

if TYPE_CHECKING:
    from entrez_kit.query.segments.search_index import SearchIndex


@dataclass(frozen=True, slots=True)
class Names:
    """The values of a list of names that a search matches: short names (smith ja) and full names (smith john a)."""

    short: tuple[str, ...]
    full: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """All values."""
        return (*self.short, *self.full)


def find_names(index: "SearchIndex", source: str, text: str, *, quoted: bool) -> Names:
    """Return the names that match a text.

    "smith j" matches smith j, smith ja and smith jb jr; in quotes it matches smith j only. "smith" matches all
    initials. A comma marks the end of the surname; without it, a full name is tried in both orders.
    """
    key = normalize(text)
    if not key:
        return Names((), ())
    short = tuple(name for name in index.list_values(source, key) if _is_short_match(key, name, quoted))
    forms = [key] if "," in text else [key, *rotate(key)]
    full = tuple(
        name
        for form in dict.fromkeys(forms)
        for name in index.list_values(source, FULL + form)
        if _is_full_match(form, name.removeprefix(FULL), quoted)
    )
    return Names(short, tuple(dict.fromkeys(full)))


def _is_short_match(key: str, name: str, quoted: bool) -> bool:
    if name.startswith(FULL):
        return False
    if name == key:
        return True
    if name.startswith(key + " "):
        return unsettled.allows_any_initials(key, quoted=quoted)
    surname, _, initials = key.rpartition(" ")
    return not quoted and bool(surname) and len(initials) <= 2 and initials.isalpha() and name.startswith(key)


def _is_full_match(key: str, name: str, quoted: bool) -> bool:
    return name == key or (not quoted and " " in key and name.startswith(key + " "))

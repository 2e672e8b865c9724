"""Convert names of persons and groups to CSL-JSON."""

import re
from collections.abc import Iterable
from typing import Final

from entrez_kit.pubmed.models import Author

Name = dict[str, str]

OTHERS: Final = "others"
"""The literal name after which a citation processor writes "et al."; in BibTeX it is the same word."""

ONE_NAME: Final = re.compile(r"[^\W\d_a-z]['’\w-]*[a-z]['’\w-]*")
"""A person with one name, such as Suryati; a word in capitals is a group."""

_SUFFIXES: Final = {
    "jr": "Jr.",
    "jnr": "Jr.",
    "junior": "Jr.",
    "sr": "Sr.",
    "snr": "Sr.",
    "senior": "Sr.",
    "1st": "I",
    "2nd": "II",
    "3rd": "III",
    "4th": "IV",
    "5th": "V",
    "6th": "VI",
}
"""NLM writes III as 3rd and omits full stops; every other style needs the form in the article."""
_NLM_SUFFIXES: Final = {form: suffix for suffix, form in _SUFFIXES.items() if suffix[0].isdigit()}
_DIGRAPH: Final = re.compile(r"[A-Z][a-z]")
"""An initial of two letters: Iu, Ya, Kh, Sh."""


def convert_to_csl_names(authors: Iterable[Author], *, with_initials: bool = False) -> list[Name]:
    """Return persons and groups in order; entries without a name are omitted.

    Args:
        authors: PubMed's authors.
        with_initials: whether to add PubMed's initials, for styles that print them.
    """
    names = [(author, name) for author in authors if (name := convert_to_csl_name(author))]
    for author, name in names if with_initials else ():
        if author.initials and "family" in name:
            name["initials"] = author.initials
    return [name for _, name in names]


def convert_to_csl_name(author: Author) -> Name | None:
    """Convert one person (family, given, particle, suffix) or group (literal)."""
    if author.collective_name and author.collective_name.strip():
        return {"literal": " ".join(author.collective_name.split()).rstrip(".") or author.collective_name}
    family = " ".join((author.last_name or "").split())
    given = format_given_name(author)
    if not family:
        return {"literal": given} if given else None
    particle, family = split_particle(family)
    name: Name = {"family": family}
    if given:
        name["given"] = given
    if particle:
        name["non-dropping-particle"] = particle
    if author.suffix and (suffix := author.suffix.strip()):
        name["suffix"] = format_suffix(suffix)
    return name


def format_suffix(suffix: str) -> str:
    """Return a suffix in the form of an article: "3rd" is III, "Jr" is Jr."""
    return _SUFFIXES.get(suffix.rstrip(".").lower(), suffix)


def format_nlm_suffix(suffix: str) -> str:
    """Return a suffix as NLM writes it: III is "3rd", "Jr." is Jr."""
    return _NLM_SUFFIXES.get(suffix, suffix.rstrip("."))


def format_family_name(name: Name) -> str:
    """Return a family name with its particle."""
    return " ".join(part for part in (name.get("non-dropping-particle"), name.get("family")) if part)


def format_name(name: Name) -> str:
    """Return a name as one text: "Doe, Jane"."""
    return name.get("literal") or ", ".join(part for part in (format_family_name(name), name.get("given")) if part)


def split_particle(family: str) -> tuple[str, str]:
    """Split a family name into its particle and the rest: "van der Berg", "de la Cruz".

    Returns:
        The particle in lower case ("" without one), and the rest.
    """
    words = family.split(" ")
    count = 0
    while count < len(words) - 1 and words[count] == words[count].lower() and any(map(str.isalpha, words[count])):
        count += 1
    if not any(map(str.isupper, "".join(words[count:]))):  # a script or name without capitals
        return "", family
    return " ".join(words[:count]), " ".join(words[count:])


def format_given_name(author: Author) -> str:
    """Return given names; adjacent initials are separated, so that they are not read as one name."""
    first = " ".join((author.first_name or "").split())
    initials = "".join((author.initials or "").split())
    if any(map(str.islower, initials)):  # transliterated initials such as Iu, which is not a name
        first = " ".join(
            f"{word}." if _DIGRAPH.fullmatch(word) and word in initials else word for word in first.split()
        )
    if not first:
        first = initials
    elif first != initials:
        return first
    if re.fullmatch(r"[^\W\d_a-z]{2,5}", first) and first.upper() == first and first.lower() != first:
        return " ".join(first)
    return first


def space_initials(author_given: str) -> str:
    """Return NLM's initials of given names: "Jean-Pierre A" is "J P A"."""
    words = re.findall(r"[^\W_]+(?:['’][^\W_]+)?\.?", author_given)
    return " ".join(word if word.endswith(".") and _DIGRAPH.fullmatch(word[:-1]) else word[0].upper() for word in words)


def split_initials(initials: str) -> str:
    """Separate adjacent initials, with a full stop after those of several letters: "IuA" is "Iu. A"."""
    groups: list[str] = []
    for letter in initials:
        if groups and letter.islower():
            groups[-1] += letter
        elif letter.isalpha():
            groups.append(letter)
    return " ".join(group if len(group) == 1 else f"{group}." for group in groups)

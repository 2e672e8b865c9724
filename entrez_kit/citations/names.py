"""Names of persons and groups as CSL-JSON has them."""

import re
from collections.abc import Iterable
from typing import Final

from entrez_kit.pubmed.models import Author

Name = dict[str, str]

_SUFFIXES: Final = {
    "jr": "Jr.",
    "jnr": "Jr.",
    "junior": "Jr.",
    "sr": "Sr.",
    "snr": "Sr.",
    "1st": "I",
    "2nd": "II",
    "3rd": "III",
    "4th": "IV",
    "5th": "V",
    "6th": "VI",
}
"""NLM writes III as 3rd and leaves out full stops; every style but NLM's own wants what stands in the article."""
_DIGRAPH: Final = re.compile(r"[A-Z][a-z]")
"""An initial of two letters: Iu, Ya, Kh, Sh."""


def csl_names(authors: Iterable[Author], *, with_initials: bool = False) -> list[Name]:
    """Return persons and groups in their order; entries without any name are left out.

    Args:
        authors: as PubMed has them.
        with_initials: whether persons have the initials that PubMed gives them, for the styles that print these.
    """
    names = [(author, name) for author in authors if (name := csl_name(author))]
    for author, name in names if with_initials else ():
        if author.initials and "family" in name:
            name["initials"] = author.initials
    return [name for _, name in names]


def csl_name(author: Author) -> Name | None:
    """Return one person (family, given, particle, suffix) or group (literal)."""
    if author.collective_name and author.collective_name.strip():
        return {"literal": " ".join(author.collective_name.split()).rstrip(".") or author.collective_name}
    family = " ".join((author.last_name or "").split())
    given = given_name(author)
    if not family:
        return {"literal": given} if given else None
    particle, family = split_particle(family)
    name: Name = {"family": family}
    if given:
        name["given"] = given
    if particle:
        name["non-dropping-particle"] = particle
    if author.suffix and (suffix := author.suffix.strip()):
        name["suffix"] = _SUFFIXES.get(suffix.rstrip(".").lower(), suffix)
    return name


def family_of(name: Name) -> str:
    """Return a family name with its particle."""
    return " ".join(part for part in (name.get("non-dropping-particle"), name.get("family")) if part)


def csl_text_of(name: Name) -> str:
    """Return a name as one text: "Doe, Jane"."""
    return name.get("literal") or ", ".join(part for part in (family_of(name), name.get("given")) if part)


def split_particle(family: str) -> tuple[str, str]:
    """Divide a family name into its particle and the rest: "van der Berg", "de la Cruz"; capitals are part of the name.

    Returns:
        The particle, empty where there is none, and the rest.
    """
    words = family.split(" ")
    count = 0
    while count < len(words) - 1 and words[count] == words[count].lower() and any(map(str.isalpha, words[count])):
        count += 1
    if not any(map(str.isupper, "".join(words[count:]))):  # a script without capitals, or a name that has none
        return "", family
    return " ".join(words[:count]), " ".join(words[count:])


def given_name(author: Author) -> str:
    """Return given names; initials that stand together are set apart, or they would be taken for one name."""
    first = " ".join((author.first_name or "").split())
    initials = "".join((author.initials or "").split())
    if any(map(str.islower, initials)):  # of other alphabets: Iu A, which is no name "Iu"
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


def spaced_initials(author_given: str) -> str:
    """Return initials, as NLM takes them, of given names: "Jean-Pierre A" is "J P A"."""
    words = re.findall(r"[^\W_]+(?:['’][^\W_]+)?\.?", author_given)
    return " ".join(word if word.endswith(".") and _DIGRAPH.fullmatch(word[:-1]) else word[0].upper() for word in words)


def split_initials(initials: str) -> str:
    """Return initials that stand together apart, those of several letters with a full stop: "IuA" is "Iu. A"."""
    groups: list[str] = []
    for letter in initials:
        if groups and letter.islower():
            groups[-1] += letter
        elif letter.isalpha():
            groups.append(letter)
    return " ".join(group if len(group) == 1 else f"{group}." for group in groups)

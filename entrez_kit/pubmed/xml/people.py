"""Read lists of authors, editors and investigators."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

from entrez_kit.base.identifiers import normalize_orcid
from entrez_kit.base.mixed_content import INLINE, collapse_white_space, read_text
from entrez_kit.pubmed.xml.common_parts import Fields

Read = Callable[[Any], str | None]

plain: Final[Read] = attrgetter("text")
"""Return the text of an element without children. ``read_text`` reads any element, but takes several times longer."""

_NAME_PARTS: Final = {
    "LastName": "last_name",
    "ForeName": "first_name",
    "FirstName": "first_name",
    "Initials": "initials",
    "Suffix": "suffix",
}


def read_people(container: Any, read: Read = plain) -> list[Fields]:
    """Read the authors, editors or investigators in a list; omit names that NLM marks as invalid, unless all are."""
    valid: list[Fields] = []
    invalid: list[Fields] = []
    person: Fields = {}
    name_of = _NAME_PARTS.get
    for element in container.iterdescendants():
        tag = element.tag
        name = name_of(tag)
        if name:
            text = read(element)
            if text:
                person[name] = collapse_white_space(text)
        elif tag == "AffiliationInfo":
            continue
        elif tag == "Affiliation":
            affiliation = read_text(element)
            if affiliation:
                if "affiliations" in person:
                    person["affiliations"].append(affiliation)
                else:
                    person["affiliations"] = [affiliation]
        elif tag == "Author" or tag == "Investigator":
            person = {}
            if element.get("EqualContrib") == "Y":
                person["equal_contribution"] = True
            if element.get("ValidYN") == "N":
                invalid.append(person)
            else:
                valid.append(person)
        elif tag == "Identifier":
            if element.get("Source") == "ORCID" and element.getparent().tag != "AffiliationInfo":
                orcid = normalize_orcid(element.text)
                if orcid:
                    person["orcid"] = orcid
        elif tag == "CollectiveName":
            person["collective_name"] = read_text(element)
        elif read is plain and (tag in INLINE or not isinstance(tag, str)):
            return read_people(container, read_text)  # names with markup are rare: read the list again, slowly
    return [person for person in valid or invalid if person]


def read_authors(element: Any, fields: Fields) -> None:
    """Add authors; mark the list as incomplete if NLM does."""
    fields.setdefault("authors", []).extend(read_people(element))
    if element.get("CompleteYN") == "N":
        fields["authors_complete"] = False


def read_investigators(element: Any, fields: Fields) -> None:
    """Add investigators, the members of groups among the authors."""
    fields.setdefault("investigators", []).extend(read_people(element))

"""Read the authors of Europe PMC's records: a list of persons and groups, or a line of names."""

import re
from collections.abc import Mapping
from typing import Final

from entrez_kit.base.identifiers import normalize_orcid
from entrez_kit.pubmed.encoded_markup import convert_to_plain_text
from entrez_kit.pubmed.europepmc.europepmc_json import (
    Fields,
    Raw,
    find_first_text,
    list_mappings,
    rename_fields,
    to_text,
    unwrap_list,
)

_NAMES: Final = {"last_name": "lastName", "first_name": "firstName", "initials": "initials", "suffix": "suffix"}
_NAME: Final = re.compile(
    r"(?P<last>\S.*?) (?P<initials>(?:[^\W\d_a-zà-öø-ÿ]\.?-?){1,6}|[a-z]{1,2})"
    r"(?: (?P<suffix>Jr|Sr|1st|2nd|3rd|[4-9]th|II|III|IV))?"
)
_GROUP: Final = re.compile(
    r"\b(group|consortium|committee|network|society|association|team|investigators?|collaborat\w+|study|office|council"
    r"|program(?:me)?|project|trial|initiative|alliance|institute|university|federation|organi[sz]ation|working)\b",
    re.IGNORECASE,
)


def read_authors(raw: Raw) -> list[Fields]:
    """Read the authors of a record; those of a record without a list are in its line of names."""
    authors = [person for item in list_mappings(raw, "authorList", "author") if (person := _read_author(item))]
    if authors:
        first = find_first_text(raw.get("affiliation"))
        if first and not any("affiliations" in person for person in authors):
            authors[0]["affiliations"] = [first]
        return authors
    return split_names(to_text(raw.get("authorString")))


def _read_author(raw: Raw) -> Fields:
    person = rename_fields(raw, {"collective_name": "collectiveName"}) or rename_fields(raw, _NAMES)
    if not person.keys() & {"collective_name", "last_name"} and (full := find_first_text(raw.get("fullName"))):
        person |= split_names(full)[0]
    for mapping in list_mappings(raw, "authorId"):
        if to_text(mapping.get("type")).upper() == "ORCID" and (
            orcid := normalize_orcid(to_text(mapping.get("value")))
        ):
            person["orcid"] = orcid
    places = [
        find_first_text(item.get("affiliation") if isinstance(item, Mapping) else item)
        for item in unwrap_list(raw, "authorAffiliationDetailsList", "authorAffiliation")
    ]
    affiliations = [place for place in (places or [find_first_text(raw.get("affiliation"))]) if place]
    if person and affiliations:
        person["affiliations"] = list(dict.fromkeys(affiliations))
    return person


def split_names(names: str) -> list[Fields]:
    """Read a line of names ("Lee MS, Glover JN.") of a record without a list of authors.

    A name without initials is a group if it has several words or a word such as "consortium"; else it is a surname.
    """
    people: list[Fields] = []
    line = convert_to_plain_text(names)
    for name in (line[:-1] if line.endswith(".") else line).split(", "):
        name = name.strip(" ,;")
        if not name:
            continue
        is_group = bool(_GROUP.search(name)) and name.count(" ") != 1
        person = None if is_group else _NAME.fullmatch(name)
        if person:
            parts = {"last_name": person["last"], "initials": person["initials"], "suffix": person["suffix"]}
            people.append({part: value for part, value in parts.items() if value})
        elif " " in name or _GROUP.search(name):
            people.append({"collective_name": name})
        else:
            people.append({"last_name": name})
    return people

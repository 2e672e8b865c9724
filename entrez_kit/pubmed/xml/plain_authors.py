"""Read the authors of a record from its bytes, without a tree: a quarter of all elements are in these lists.

A list that is not in NLM's usual form, such as one with markup, is left to ``article.read_people``.
"""

import re
from typing import Any, Final

from entrez_kit.base.identifiers import normalize_orcid
from entrez_kit.base.mixed_content import collapse_white_space

AUTHORS: Final = b"<AuthorList"
_END: Final = b"</AuthorList>"
_BEGIN: Final = re.compile(r'<AuthorList(?: CompleteYN="([YN])")?>\s*+')
_TEXT: Final = r"([^<>&\x00-\x1f\ufff0-\uffff]*+)"
"""Text without tags, entities, line breaks, and characters that XML does not allow."""
_PLACE: Final = r"([^<>&\x00-\x1f\ufff0-\uffff]*+(?>(?:&amp;[^<>&\x00-\x1f\ufff0-\uffff]*+)*))"
_AUTHOR: Final = re.compile(
    r'<Author(?: ValidYN="([YN])")?(?: EqualContrib="([YN])")?>\s*+'
    + "".join(
        rf"(?:<{tag}>{_TEXT}</{tag}>\s*+)?" for tag in ("LastName", "ForeName", "Initials", "Suffix", "CollectiveName")
    )
    + rf'(?:<Identifier Source="ORCID">{_TEXT}</Identifier>\s*+)?'
    rf"((?>(?:<AffiliationInfo>\s*+<Affiliation>{_PLACE}</Affiliation>\s*+</AffiliationInfo>\s*+)*))</Author>\s*+"
)
_AFFILIATION: Final = re.compile(r"<Affiliation>([^<]*+)")
_NAMES: Final = ("last_name", "first_name", "initials", "suffix", "collective_name")


def read_plain_authors(data: bytes, start: int, end: int) -> tuple[dict[str, Any], int] | None:
    """Read a list of authors; None if it is not in NLM's usual form.

    Args:
        data: the bytes of the document.
        start: the beginning of the list.
        end: the end of the record.

    Returns:
        the fields of the record, and the end of the list.
    """
    stop = data.find(_END, start, end)
    try:
        text = data[start:stop].decode() if stop >= 0 else ""
    except UnicodeDecodeError:
        return None
    opening = _BEGIN.match(text)
    if opening is None:
        return None
    valid: list[dict[str, Any]] = []
    invalid: list[dict[str, Any]] = []
    place = opening.end()
    while author := _AUTHOR.match(text, place):
        is_valid, is_equal, *names, orcid, affiliations, _ = author.groups()
        person: dict[str, Any] = {
            name: collapse_white_space(value) for name, value in zip(_NAMES, names, strict=True) if value
        }
        if affiliations:
            texts = [collapse_white_space(value).replace("&amp;", "&") for value in _AFFILIATION.findall(affiliations)]
            if places := [value for value in texts if value]:
                person["affiliations"] = places
        if orcid and (known := normalize_orcid(orcid)):
            person["orcid"] = known
        if is_equal == "Y":
            person["equal_contribution"] = True
        (invalid if is_valid == "N" else valid).append(person)
        place = author.end()
    if place != len(text):
        return None
    fields: dict[str, Any] = {"authors": [person for person in valid or invalid if person]}
    if opening[1] == "N":
        fields["authors_complete"] = False
    return fields, stop + len(_END)

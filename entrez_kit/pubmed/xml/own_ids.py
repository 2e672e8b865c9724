"""The ids of a PubMed record itself, and the number an electronic article has in place of pages."""

import re
from collections.abc import Iterable
from typing import Final

from entrez_kit.identifiers import bare_doi

_NUMBER: Final = re.compile(r"(?=[^0-9]*[0-9])[\w.-]{1,30}")
_PUBLISHER_CODE: Final = re.compile(r"(?:S[0-9]{4}-?|[0-9]{4}-)[0-9]{3}[0-9X]")
"""An ISSN and what follows it, the code by which publishers know a manuscript: S0949-2658(19)30200-3."""


def article_number(located: Iterable[tuple[str, str, bool]]) -> str | None:
    """Return the number that an electronic article has in place of pages: e47969, 2564, RP88808.

    NLM gives it as an electronic location of the type pii, where some publishers write a code that no reader sees.

    Args:
        located: type, id and whether NLM calls it valid, from a record's electronic locations.
    """
    numbers = (value for kind, value, valid in located if kind == "pii" and valid)
    return next((text for text in numbers if _NUMBER.fullmatch(text) and not _PUBLISHER_CODE.match(text)), None)


def own_ids(listed: list[tuple[str, str]], located: list[tuple[str, str, bool]]) -> tuple[dict[str, str], str | None]:
    """Put together a record's own ids, losing none, and choose its DOI.

    A second id of the same type is numbered ("mid_2"); the chosen DOI is always the one called "doi".

    Args:
        listed: type and id, from the record's list of ids.
        located: type, id and whether NLM calls it valid, from its electronic locations.
    """
    ids = dict(listed)
    if len(ids) == len(listed):  # one id of each type, and the locations say the same: nearly always
        for kind, value, valid in located:
            if not valid or ids.setdefault(kind, value) != value:
                break
        else:
            doi = ids.get("doi")
            if doi is None or doi.startswith("10."):
                return ids, doi
    return _reconciled(listed, located)


def _reconciled(
    listed: list[tuple[str, str]], located: list[tuple[str, str, bool]]
) -> tuple[dict[str, str], str | None]:
    dois = [value for kind, value, valid in located if kind == "doi" and valid]
    dois += [value for kind, value in listed if kind == "doi"]
    dois += [value for kind, value, valid in located if kind == "doi" and not valid]
    dois = [doi for doi in map(bare_doi, dois) if doi]
    doi = next((doi for doi in dois if doi.startswith("10.")), dois[0] if dois else None)
    pairs = [*listed, *((kind, value) for kind, value, valid in located if valid)]
    if doi:
        pairs.insert(next((i for i, (kind, _) in enumerate(pairs) if kind == "doi"), len(pairs)), ("doi", doi))
    ids: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    for kind, value in pairs:
        value = bare_doi(value) if kind == "doi" else value
        if value and (kind, value.lower()) not in seen:
            seen.add((kind, value.lower()))
            ids[_free_key(kind, ids)] = value
    return ids, doi


def _free_key(kind: str, ids: dict[str, str]) -> str:
    key, count = kind, 1
    while key in ids:
        count += 1
        key = f"{kind}_{count}"
    return key

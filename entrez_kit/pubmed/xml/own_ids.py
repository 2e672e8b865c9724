"""The ids of a record: read them from its lists and its electronic locations, and choose its DOI."""

from typing import Any

from entrez_kit.base.identifiers import normalize_doi
from entrez_kit.base.mixed_content import read_text
from entrez_kit.pubmed.xml.common_parts import Fields


def read_listed_ids(container: Any, fields: Fields) -> None:
    """Collect the record's own ids. Ids of cited works are in other lists, inside ReferenceList."""
    ids: list[tuple[str, str]] = fields.setdefault("_listed", [])
    for element in container:
        text = element.text
        if text and (value := text.strip()):
            ids.append((element.get("IdType") or "pubmed", value))


def read_located_id(element: Any, fields: Fields) -> None:
    """Collect an electronic location: a DOI or a publisher's number."""
    value = read_text(element)
    if value:
        valid = element.get("ValidYN") != "N"
        fields.setdefault("_located", []).append((element.get("EIdType") or "pii", value, valid))


def merge_own_ids(
    list_ids: list[tuple[str, str]], located: list[tuple[str, str, bool]]
) -> tuple[dict[str, str], str | None]:
    """Merge all ids of a record by type, and choose its DOI, which has the key "doi".

    A second id of the same type is numbered ("mid_2").

    Args:
        list_ids: type and id, from the record's list of ids.
        located: the type, the id and NLM's mark "valid" of each electronic location.
    """
    ids = dict(list_ids)
    if len(ids) == len(list_ids):  # the usual case: one id of each type, and the locations agree
        for kind, value, valid in located:
            if not valid or ids.setdefault(kind, value) != value:
                break
        else:
            doi = ids.get("doi")
            if doi is None or doi.startswith("10."):
                return ids, doi
    return _merge_all_ids(list_ids, located)


def _merge_all_ids(
    list_ids: list[tuple[str, str]], located: list[tuple[str, str, bool]]
) -> tuple[dict[str, str], str | None]:
    dois = [value for kind, value, valid in located if kind == "doi" and valid]
    dois += [value for kind, value in list_ids if kind == "doi"]
    dois += [value for kind, value, valid in located if kind == "doi" and not valid]
    dois = [doi for doi in map(normalize_doi, dois) if doi]
    doi = next((doi for doi in dois if doi.startswith("10.")), dois[0] if dois else None)
    pairs = [*list_ids, *((kind, value) for kind, value, valid in located if valid)]
    if doi:
        pairs.insert(next((i for i, (kind, _) in enumerate(pairs) if kind == "doi"), len(pairs)), ("doi", doi))
    ids: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    for kind, value in pairs:
        value = normalize_doi(value) if kind == "doi" else value
        if value and (kind, value.lower()) not in seen:
            seen.add((kind, value.lower()))
            ids[_find_free_key(kind, ids)] = value
    return ids, doi


def _find_free_key(kind: str, ids: dict[str, str]) -> str:
    key, count = kind, 1
    while key in ids:
        count += 1
        key = f"{kind}_{count}"
    return key

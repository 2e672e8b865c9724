"""Normalize an agent's arguments: aliases of names, single values for lists, and empty choices."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from pydantic import Field

from entrez_kit.base.errors import InvalidInput
from entrez_kit.core.model import Request

ANY: Final = "any"
"""An enum value that means "not given", for hosts that require every argument."""

SYNONYMS: Final = tuple(
    frozenset(names.split())
    for names in (
        "query query_term term q search_query search_term search",
        "max_results max_related_results page_size limit top_k top retmax count num_results n max size",
        "facets facet by fields group_by",
        "query tree_number mesh_id ui heading",
        "offset retstart start skip",
        "cursor next_cursor page_token",
        "pmids pmid ids id pubmed_ids pubmed_id article_ids",
        "pmcids pmcid pmc_ids pmc_id ids id",
        "dois doi ids id",
        "ids id uids uid pmids pmid",
        "source_pmid pmid id pmids",
        "entrez_id gene_id id ncbi_gene_id",
        "entrez_ids gene_ids ids ncbi_gene_ids",
        "doc_id id document_id pmid",
        "db database source_db",
        "source dbfrom from_db source_db",
        "target dbto to_db target_db",
        "sort_by sort order_by order",
        "organism species taxon taxid tax_id",
        "species organism",
        "citation_styles citation_style styles style formats format",
        "relationship_type relationship relation type link_type",
        "filter_by_publication_types publication_types publication_type article_types article_type",
        "mesh_terms mesh mesh_term",
        "detail_level detail details",
        "author authors author_name first_author",
        "author_name author authors first_author",
        "first_page page pages start_page",
        "query_key corpus corpus_key key",
        "corpus query_key corpus_key",
        "min_date mindate from since start_date date_from",
        "max_date maxdate to until end_date date_to",
        "overflow_mode overflow",
        "fetch_brief_summaries summaries brief_summaries",
        "citations references refs",
    )
)
"""Names for one idea; the first of each line is the tool's. An alias is accepted if the tool's own argument is absent,
and if the alias matches only one argument."""

MAX_NAMES: Final = 50
"""The maximum number of names in one object of a call; the largest tool has fewer than 20."""
_ID: Final = r"(?:PMC)?[0-9]++"
_IDS: Final = re.compile(rf"\s*+{_ID}(?>(?:(?:\s*+[,;]\s*+|\s++){_ID})+)\s*+", re.IGNORECASE)


class ArgumentNames(Request):
    """The names in one object of a call, with their maximum number."""

    arguments: list[str] = Field(max_length=MAX_NAMES)


def check_names(arguments: Mapping[str, Any]) -> None:
    """Refuse a call with too many names in one object, before names are compared.

    Raises:
        ValidationError: an object has too many names.
    """
    waiting: list[Any] = [arguments]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            if len(value) > MAX_NAMES:
                ArgumentNames(arguments=[name[:MAX_NAMES] for name in islice(value, MAX_NAMES + 1)])
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def read_arguments(
    arguments: Mapping[str, Any], schema: Mapping[str, Any], *, exact_types: bool = False
) -> dict[str, Any]:
    """Return the arguments in the form of the operation; unclear ones stay unchanged for the validation.

    Args:
        exact_types: whether values keep their JSON type.
    """
    properties = schema["properties"]
    required = schema.get("required", ())
    read: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = {}
    snake_names = {name: re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower() for name in arguments}
    present = set(snake_names.values())
    for name, value in arguments.items():
        meant = snake_names[name] if snake_names[name] in properties else None
        if meant is None:
            place, meant = _find_argument(snake_names[name], value, properties, present | read.keys())
            if place is not None and meant is not None:
                nested.setdefault(place, {})[meant] = value
                continue
        if meant is None:
            read[name] = value
            continue
        fitting = value if exact_types else _fit(value, properties[meant])
        if meant != snake_names[name] and properties[meant].get("pattern", "").startswith("^pmid:"):
            fitting = re.sub(r"^(?=[0-9]+$)", "pmid:", str(fitting))  # the argument was called a PMID
        if meant in required or not _is_neutral(fitting, properties[meant]):
            read[meant] = fitting
    for place, inner in nested.items():
        existing = read.get(place)
        read[place] = {**inner, **(existing if isinstance(existing, dict) else {})}
    return read


def _find_argument(
    name: str, value: Any, properties: Mapping[str, Any], present: set[str]
) -> tuple[str | None, str | None]:
    """Return the argument for a name, and the nested object that it belongs to, if any."""
    for place, part in properties.items():
        if part.get("type") == "object" and place not in present:
            inner = part.get("properties", {})
            if name in inner or (found := _find_synonym(name, value, inner, present)) is not None:
                return place, name if name in inner else found
    return None, _find_synonym(name, value, properties, present)


def _find_synonym(name: str, value: Any, properties: Mapping[str, Any], present: set[str]) -> str | None:
    found = [
        other
        for other in properties
        if other not in present and any(name in names and other in names for names in SYNONYMS)
    ]
    if {"pmids", "pmcids", "dois"} >= set(found) and len(found) > 1:
        first = str(value[0] if isinstance(value, list) and value else value)
        found = ["pmcids" if "PMC" in first.upper() else "dois" if "/" in first else "pmids"]
    return found[0] if len(found) == 1 else None


def _fit(value: Any, part: Mapping[str, Any]) -> Any:
    """Convert a value to the type of the schema: JSON in a string to a list or object, one value to a list.

    Values of an enumeration may differ in case, and in spaces or hyphens for underscores.
    """
    kind = part.get("type")
    if isinstance(value, str) and kind in ("array", "object"):
        value = _unpack(value, list if kind == "array" else dict)
    if kind == "array":
        if isinstance(value, str):
            value = re.split(r"[,;\s]+", value.strip()) if _IDS.fullmatch(value) else [value]
        elif isinstance(value, dict) or (isinstance(value, int | float) and not isinstance(value, bool)):
            value = [value]
        inner = part.get("items", {})
        if isinstance(value, list) and inner.get("type") == "object":
            return [read_arguments(item, inner) if isinstance(item, dict) else item for item in value]
        if isinstance(value, list) and "enum" in inner:
            return [_find_choice(item, inner["enum"]) for item in value]
    elif kind == "object" and isinstance(value, dict):
        return read_arguments(value, part)
    elif kind in ("string", "integer") and isinstance(value, list) and len(value) == 1:
        value = value[0]
    return _find_choice(value, part.get("enum", ()))


def _find_choice(value: Any, choices: Sequence[Any]) -> Any:
    """Return the choice that a text means, or the text unchanged."""
    if not isinstance(value, str) or value in choices:
        return value
    folded = re.sub(r"[ -]", "_", value.strip()).casefold()
    return next((choice for choice in choices if isinstance(choice, str) and choice.casefold() == folded), value)


def _unpack(text: str, kind: type) -> Any:
    if not text.lstrip().startswith("[" if kind is list else "{"):
        return text
    try:
        unpacked = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return unpacked if isinstance(unpacked, kind) else text


def _is_neutral(value: Any, part: Mapping[str, Any]) -> bool:
    """Return whether an optional value is the neutral value that ``add_neutral_value`` offers."""
    if isinstance(value, dict):
        inner = part.get("properties", {})
        return all(
            member in ("", []) or member == inner.get(name, {}).get("default", ...) for name, member in value.items()
        )
    if "default" in part:
        return part.get("type") == "integer" and type(value) is int and value == part["default"]
    return (value == ANY and ANY in part.get("enum", ())) or (
        value == 0 and type(value) is int and part.get("type") == "integer" and not part.get("minimum")
    )


def add_neutral_value(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an optional argument with a value that means "not given".

    Strict modes of hosts require every argument, and some do not support null. Strings, lists and objects may be empty.
    A number keeps its bounds: its default, 0 or its maximum has no effect.
    """
    neutral = dict(part)
    if "default" in part:
        return neutral
    if "enum" in part:
        neutral["enum"] = [ANY, *part["enum"]]
    if "pattern" in part:
        neutral["pattern"] = f"^({part['pattern'].removeprefix('^').removesuffix('$')})?$"
    for name in ("minLength", "minItems"):
        neutral.pop(name, None)
    return neutral


def list_arguments(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the argument names of a schema; names in nested objects follow a dot."""
    for name, part in schema["properties"].items():
        yield name
        if part.get("type") == "object":
            yield from (f"{name}.{inner}" for inner in list_arguments(part))


def wrong_argument_error(
    name: str,
    value: object,
    problem: str,
    *,
    hint: str = "Correct the named argument and call again; the schema lists the accepted arguments.",
) -> InvalidInput:
    """Return the error for an invalid argument, of a call or of a prompt; ``problem`` is a predicate of its name."""
    return InvalidInput(
        f"{name} {problem}",
        invalid_input=f"{name}={str(value)[:200]}",
        recovery_hint=hint,
        details={"reason": "invalid_arguments", "errors": [{"field": name, "message": problem}]},
    )

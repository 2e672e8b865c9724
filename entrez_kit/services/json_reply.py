"""Check the types of values in a JSON reply, so that a reader gets only types that it supports."""

from typing import Any

from entrez_kit.services.known_shapes import FieldShapes, compare_values
from entrez_kit.services.small_replies import malformed_error


def refuse_other_types(name: str, document: Any, fields: FieldShapes) -> None:
    """Raise if one of the fields in a JSON document has a value of another type; null counts as absent.

    Args:
        name: the name of the document in the message.
        document: the parsed JSON.
        fields: the fields to check, with their types.

    Raises:
        UpstreamError: a field has another type.
    """
    if not isinstance(document, dict):
        raise malformed_error(name, "not a JSON object")
    found = next(
        (difference for difference in compare_values(document, fields, "") if difference.kind == "other_type"), None
    )
    if found is not None:
        raise malformed_error(name, found.what)
